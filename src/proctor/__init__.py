"""proctor runs any agent over a suite of tests, keeps what happened, and grades it as often as you like.

What stands in `__all__` is public, and so are `proctor.eval` and `proctor.testing`. Everything else is private.
"""

from __future__ import annotations

from proctor.version import __version__ as __version__

# Type checkers take this name for true. To import `typing` would cost ten times what this whole file does.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from proctor.agents.options import AgentOptions
    from proctor.comparing import compare
    from proctor.errors import ProctorError
    from proctor.evaluation import grade, load_suite, pick_agent, report, run
    from proctor.frames import load
    from proctor.graders.base import GraderBase
    from proctor.graders.command import expect_command
    from proctor.graders.contains import Contains
    from proctor.graders.exact_match import ExactMatch
    from proctor.graders.files import FileContains, FileEquals, FileExists
    from proctor.graders.function import grader
    from proctor.graders.is_json import IsJson
    from proctor.graders.llm_judge import LlmJudge
    from proctor.graders.number import Number
    from proctor.graders.one_of import OneOf
    from proctor.graders.regex import Regex
    from proctor.graders.similarity import Similarity
    from proctor.ports import GraderOptions, RunView
    from proctor.records.grade import Cause, Grade, Outcome, failed, inconclusive, passed, scalar
    from proctor.records.judging import JudgeOptions
    from proctor.records.run import Record
    from proctor.records.suite import Test
    from proctor.records.trace import LlmCall, ToolCall

__all__ = [
    "AgentOptions",
    "Cause",
    "Contains",
    "ExactMatch",
    "FileContains",
    "FileEquals",
    "FileExists",
    "Grade",
    "GraderBase",
    "GraderOptions",
    "IsJson",
    "JudgeOptions",
    "LlmCall",
    "LlmJudge",
    "Number",
    "OneOf",
    "Outcome",
    "ProctorError",
    "Record",
    "Regex",
    "RunView",
    "Similarity",
    "Test",
    "ToolCall",
    "compare",
    "expect_command",
    "failed",
    "grade",
    "grader",
    "inconclusive",
    "load",
    "load_suite",
    "passed",
    "pick_agent",
    "report",
    "run",
    "scalar",
]

_HOMES = {
    "agents.options": ("AgentOptions",),
    "comparing": ("compare",),
    "errors": ("ProctorError",),
    "evaluation": ("grade", "load_suite", "pick_agent", "report", "run"),
    "frames": ("load",),
    "graders.base": ("GraderBase",),
    "graders.command": ("expect_command",),
    "graders.contains": ("Contains",),
    "graders.exact_match": ("ExactMatch",),
    "graders.function": ("grader",),
    "graders.regex": ("Regex",),
    "graders.one_of": ("OneOf",),
    "graders.number": ("Number",),
    "graders.is_json": ("IsJson",),
    "graders.files": (
        "FileContains",
        "FileEquals",
        "FileExists",
    ),
    "graders.llm_judge": ("LlmJudge",),
    "graders.similarity": ("Similarity",),
    "ports": ("GraderOptions", "RunView"),
    "records.grade": ("Cause", "Grade", "Outcome", "failed", "inconclusive", "passed", "scalar"),
    "records.judging": ("JudgeOptions",),
    "records.run": ("Record",),
    "records.suite": ("Test",),
    "records.trace": ("LlmCall", "ToolCall"),
}
_HOME_OF = {name: f"proctor.{home}" for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name from its home when it is first asked for: `import proctor` itself costs nothing."""
    import importlib

    if name not in _HOME_OF:
        raise AttributeError(f"module 'proctor' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
