"""The tables of the pages name everything that the program has, in both languages."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

import proctor
from proctor import GraderBase
from proctor.cli.main import COMMANDS, build_parser
from proctor.core.judge_file import FIELDS
from proctor.eval import EvalGraderContext
from proctor.graders.function import PARAMETERS
from proctor.loading import SETTINGS
from proctor.loading.checklists import CHECKLIST_FIELDS, QUESTION_FIELDS
from proctor.loading.fields import DEFAULT_FIELDS, FIXTURE_FIELDS, SUITE_FIELDS, TEST_FIELDS
from proctor.models.providers import PROVIDERS
from proctor.records.comparison import Facet
from proctor.records.exits import ExitCode
from proctor.records.export import TABLES
from proctor.records.run import Ending
from tests.docs.pages import page, pages

BUILT_IN = [
    name
    for name in proctor.__all__
    if isinstance(kind := getattr(proctor, name), type)
    and issubclass(kind, GraderBase)
    and kind is not GraderBase
]
JUDGE_OPTIONS = sorted(
    {field.name for field in fields(proctor.LlmJudge)} - {field.name for field in fields(GraderBase)}
)
JUDGE_CAUSES = [
    cause.value for cause in proctor.Cause if cause.value.startswith(("judge_", "no_judge", "nothing_"))
]
OPTIONS = sorted(
    {
        option
        for command in COMMANDS
        for action in build_parser(command)._actions
        for option in action.option_strings
        if option.startswith("--") and option != "--help"
    }
)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("suites", [field.name for field in (*TEST_FIELDS, *FIXTURE_FIELDS, *SUITE_FIELDS)]),
        ("running", [ending.value for ending in Ending]),
        ("graders", [*BUILT_IN, *PARAMETERS, *(field.name for field in fields(GraderBase))]),
        ("judges", [*JUDGE_OPTIONS, *FIELDS, *JUDGE_CAUSES, *PROVIDERS]),
        ("evaluations", [field.name for field in fields(EvalGraderContext)]),
        ("labelling", [field.name for field in (*CHECKLIST_FIELDS, *QUESTION_FIELDS)]),
        ("exporting", [*TABLES, *(column.name for columns in TABLES.values() for column in columns)]),
        ("comparing", [*(str(int(code)) for code in ExitCode), *(facet.value for facet in Facet)]),
    ],
)
def test_a_table_has_a_row_for_each(language: str, name: str, rows: list[str]) -> None:
    """Fields, endings, graders, parameters, options, exit codes."""
    text = page(f"docs/{language}/{name}.md").text
    first = {
        word for line in text.splitlines() if line.startswith("|") for word in _words(line.split("|")[1])
    }

    assert [] == [row for row in rows if row not in first]


def _words(cell: str) -> list[str]:
    """The names in the first cell of a row: `ExactMatch()` names ExactMatch."""
    return [*re.findall(r"`([\w$.-]+)", cell), cell.strip()]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_option_and_setting_stands_somewhere(language: str) -> None:
    """And what `defaults` may hold."""
    text = "".join(one.text for one in pages(language))
    wanted = [
        *(setting.field.name for setting in SETTINGS),
        *(field.name for field in DEFAULT_FIELDS),
        *(f"proctor {command}" for command in COMMANDS),
        *OPTIONS,
    ]

    assert [] == [name for name in wanted if name not in text]
