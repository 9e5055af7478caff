"""Typed suites, what they expect, and the contract of a grading script, typed end to end.

A suite is a file `*_eval.py` that defines `suite`:

    from proctor.eval import case, define_eval_suite, expect_file, expect_outcome

    suite = define_eval_suite(
        name="service",
        cases=[
            case(
                id="repair-port",
                prompt="Repair config.json.",
                fixture="fixtures/port",
                hosts={"claude": {"model": "claude-sonnet-4-5"}},
                assertions=[expect_file("result.json"), expect_outcome(script="./graders/status_result.py")],
            ),
        ],
    )

A grading script in Python is a file of its own that defines `grade`, `def` or `async def`:

    from proctor.eval import EvalGraderContext, EvalScriptOutcome

    def grade(context: EvalGraderContext) -> EvalScriptOutcome:
        if (context.fixture_path / "result.json").exists():
            return EvalScriptOutcome(outcome="pass", detail="The result is there.")
        return EvalScriptOutcome(outcome="fail", detail="There is no result.json.")

Every `expect_...` is a grader, and stands in the `graders` of a grading module as well.
"""

from __future__ import annotations

# Type checkers take this name for true. A grading script needs one small module of all this.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from proctor.eval.suite import EvalCase, EvalSuite, case, define_eval_suite, explicit
    from proctor.graders.command import expect_command
    from proctor.graders.expect_calls import (
        expect_mcp_call,
        expect_no_mcp_call,
        expect_no_skill_activation,
        expect_no_tool_call,
        expect_skill_activation,
        expect_tool_call,
    )
    from proctor.graders.expect_exit_code import expect_exit_code
    from proctor.graders.expect_file import expect_file
    from proctor.graders.expect_repository import expect_repository
    from proctor.graders.expect_unchanged import expect_workdir_unchanged
    from proctor.graders.outcome_script import expect_outcome
    from proctor.records.outcome_script import EvalGraderContext, EvalGraderFunction, EvalScriptOutcome

__all__ = [
    "EvalCase",
    "EvalGraderContext",
    "EvalGraderFunction",
    "EvalScriptOutcome",
    "EvalSuite",
    "case",
    "define_eval_suite",
    "expect_command",
    "expect_exit_code",
    "expect_file",
    "expect_mcp_call",
    "expect_no_mcp_call",
    "expect_no_skill_activation",
    "expect_no_tool_call",
    "expect_outcome",
    "expect_repository",
    "expect_skill_activation",
    "expect_tool_call",
    "expect_workdir_unchanged",
    "explicit",
]

_HOMES = {
    "eval.suite": ("EvalCase", "EvalSuite", "case", "define_eval_suite", "explicit"),
    "graders.command": ("expect_command",),
    "graders.expect_calls": (
        "expect_mcp_call",
        "expect_no_mcp_call",
        "expect_no_skill_activation",
        "expect_no_tool_call",
        "expect_skill_activation",
        "expect_tool_call",
    ),
    "graders.expect_exit_code": ("expect_exit_code",),
    "graders.expect_file": ("expect_file",),
    "graders.expect_repository": ("expect_repository",),
    "graders.expect_unchanged": ("expect_workdir_unchanged",),
    "graders.outcome_script": ("expect_outcome",),
    "records.outcome_script": ("EvalGraderContext", "EvalGraderFunction", "EvalScriptOutcome"),
}
_HOME_OF = {name: f"proctor.{home}" for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name from its home when it is first asked for."""
    import importlib

    if name not in _HOME_OF:
        raise AttributeError(f"module 'proctor.eval' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
