"""Writes the pages of `docs/en/reference` from the program: `python docs/reference.py`.

Nothing in them is written by hand, and a test says when they are out of date.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import proctor
import proctor.eval
import proctor.kind
import proctor.pytesting
import proctor.reports
import proctor.testing
import proctor.trace
from docs.building.command_page import commands
from docs.building.schema_pages import files, json_output
from docs.building.tables import table
from proctor.loading.setting_table import SETTINGS
from proctor.models.providers import PROVIDERS
from proctor.records import exits, variables

HERE = Path(__file__).parent / "en/reference"
NOTE = "<!-- Written by docs/reference.py; change the program instead. -->"
SHOP_WINDOWS: tuple[tuple[ModuleType, str], ...] = (
    (proctor, "Graders, and a whole evaluation from Python."),
    (proctor.eval, "Typed suites, assertions, and outcome graders."),
    (proctor.trace, "Spans from an agent that has no instrumentation of its own."),
    (proctor.kind, "What the author of a kind of agent needs."),
    (
        proctor.testing,
        "Tests to inherit, which say whether a grader or a kind of agent keeps to its contract.",
    ),
    (proctor.pytesting, "What a test function of your own is given, when pytest runs a suite."),
    (proctor.reports, "Reports as files, in the forms that `-o` writes."),
)
PARTLY_PUBLIC: dict[str, Sequence[str]] = {"proctor.reports": ("write_report",)}
"""Of a package that the program itself uses, the names that are for others as well."""


def settings() -> str:
    """The page of the settings."""
    rows = (
        (
            f"`{one.field.name}`",
            one.field.takes,
            "" if one.default is None else f"`{_toml(one.default)}`",
            f"`{one.field.name} = {one.field.example}`",
            one.field.meaning,
        )
        for one in SETTINGS
    )
    return "\n".join(
        [
            "# Settings",
            "",
            "They stand in `proctor.toml`, or in `[tool.proctor]` of `pyproject.toml`.",
            "`proctor config` shows each value and where it comes from.",
            "",
            *table(("setting", "takes", "default", "example", "meaning"), rows),
        ]
    )


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return str(value).replace("'", '"')


def environment() -> str:
    """The page of the variables of the environment."""

    def rows(listed: Iterable[variables.Variable]) -> Iterator[tuple[str, str]]:
        return ((f"`{one.name}`", one.meaning) for one in listed)

    providers = (
        (
            f"`{name}`",
            ", ".join(f"`{key}`" for key in one.keys) or "none is needed",
            ", ".join(f"`{url}`" for url in one.urls),
        )
        for name, one in PROVIDERS.items()
    )
    return "\n".join(
        [
            "# Environment",
            "",
            "## What proctor reads",
            "",
            *table(("variable", "meaning"), rows(variables.READ)),
            "## Providers of models",
            "",
            "Any other name works as well: `NAME_BASE_URL` says where an OpenAI-compatible server answers,",
            "and `NAME_API_KEY` holds its key.",
            "",
            *table(("provider", "its key", "another address"), providers),
            "## What an agent finds",
            "",
            "Beside what it is given of the user's environment:",
            "",
            *table(("variable", "meaning"), rows(variables.AGENT)),
            "## What a grading command finds",
            "",
            *table(("variable", "meaning"), rows(variables.GRADING_COMMAND)),
        ]
    )


def exit_codes() -> str:
    """The page of the exit codes."""
    said = _said_of_members(exits, "ExitCode")
    rows = ((f"`{int(code)}`", f"`{code.name}`", said[code.name]) for code in exits.ExitCode)
    return "\n".join(
        [
            "# Exit codes",
            "",
            "What a command tells the shell, and so what CI sees.",
            "",
            *table(("code", "name", "meaning"), rows),
        ]
    )


def _said_of_members(module: ModuleType, name: str) -> dict[str, str]:
    """The docstring after each member of a class."""
    tree = ast.parse(inspect.getsource(module))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    said: dict[str, str] = {}
    for node, after in itertools.pairwise(body):
        if (
            isinstance(node, ast.Assign)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
        ):
            said[ast.unparse(node.targets[0])] = str(after.value.value)
    return said


def api() -> str:
    """The page of the public names of the package; mkdocstrings fills in what each of them is."""
    lines = [
        "# Python API",
        "",
        "Every public name. What stands here and in the other pages is public; everything else is private.",
        "",
    ]
    for module, about in SHOP_WINDOWS:
        lines += [f"## {module.__name__}", "", about, ""]
        lines += [f"::: {module.__name__}.{name}\n" for name in public_names(module)]
    return "\n".join(lines)


def public_names(module: ModuleType) -> Sequence[str]:
    """The names of a module that are for others."""
    names: list[str] = module.__all__
    return PARTLY_PUBLIC.get(module.__name__, names)


PAGES: dict[str, Callable[[], str]] = {
    "commands": commands,
    "settings": settings,
    "environment": environment,
    "exit-codes": exit_codes,
    "files": files,
    "json-output": json_output,
    "api": api,
}
"""Each page by its name, and what makes its text."""


def texts() -> dict[str, str]:
    """What each page of the reference has to say, by the name of its file."""
    return {f"{name}.md": _with_note(make().strip()) for name, make in PAGES.items()}


def _with_note(text: str) -> str:
    title, _, rest = text.partition("\n")
    return f"{title}\n\n{NOTE}\n{rest}\n"


def main() -> None:
    """Write the pages, and remove those that are no longer made."""
    HERE.mkdir(parents=True, exist_ok=True)
    made = texts()
    for path in HERE.glob("*.md"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (HERE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
