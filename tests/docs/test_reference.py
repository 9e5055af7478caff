"""The reference is what the program says of itself today."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.building.schema_pages import MESSAGES, OF_MESSAGES
from docs.reference import HERE, PAGES, PARTLY_PUBLIC, SHOP_WINDOWS, texts
from proctor.cli.main import COMMANDS, build_parser
from proctor.loading.setting_table import SETTINGS
from proctor.records.variables import AGENT, GRADING_COMMAND, READ
from proctor.schemas import SCHEMAS
from tests.docs.pages import ROOT, Page, broken_links

SOURCE = ROOT / "src/proctor"
MADE = texts()


@pytest.mark.parametrize("name", sorted(MADE))
def test_a_page_of_the_reference_is_up_to_date(name: str) -> None:
    """If it is not: `make reference`."""
    assert (HERE / name).read_text(encoding="utf-8") == MADE[name], (
        "run `make reference`, and look at what changed"
    )


def test_the_reference_has_no_other_page() -> None:
    """What is there is made."""
    assert sorted(MADE) == sorted(path.name for path in HERE.iterdir())
    assert set(PAGES) == {name.removesuffix(".md") for name in MADE}


def test_the_page_of_commands_has_every_option_of_every_command() -> None:
    """With what its help says, a section for each command."""
    sections = {part.partition("\n")[0]: part for part in MADE["commands.md"].split("\n### ")[1:]}

    assert {f"proctor {name}" for name in COMMANDS} == set(sections)
    for name in COMMANDS:
        wanted = {option for action in build_parser(name)._actions for option in action.option_strings}
        said = set(re.findall(r"`(--?[\w-]+)", sections[f"proctor {name}"]))

        assert set() == wanted - said - {"-h", "--help"}, name


def test_the_pages_of_settings_files_and_names_leave_out_nothing() -> None:
    """Every setting, every published schema, every public name."""
    schemas = MADE["files.md"] + MADE["json-output.md"]

    assert [] == [one.field.name for one in SETTINGS if f"| `{one.field.name}` |" not in MADE["settings.md"]]
    assert [] == [one.name for one in SCHEMAS if f"\n### {one.name}\n" not in schemas]
    for module, _ in SHOP_WINDOWS:
        names: list[str] = module.__all__
        described = set(
            re.findall(rf"^::: {re.escape(module.__name__)}\.(\w+)$", MADE["api.md"], re.MULTILINE)
        )

        assert set(PARTLY_PUBLIC.get(module.__name__, names)) == described
        assert described <= set(names)


@pytest.mark.parametrize("name", ["files.md", "json-output.md"])
def test_every_field_of_a_record_says_what_it_means(name: str) -> None:
    """Those of OpenTelemetry's messages are described by OpenTelemetry; they stand in a part of their own."""
    ours, _, theirs = MADE[name].partition(f"\n## {MESSAGES}\n")
    silent: list[str] = []
    section = ""
    for line in ours.split("\n"):
        if line.startswith("### "):
            section = line.removeprefix("### ")
        elif line.startswith("| `") and re.search(r"\|\s*\|$", line):
            silent.append(f"{section}: {line.split('`')[1]}")

    assert [] == silent, "say in the docstring of the record what these are"
    assert (name == "files.md") == (OF_MESSAGES in theirs)
    assert {"common", "resource", "trace"} >= set(re.findall(r"^### (\w+)", theirs, re.MULTILINE))


def test_every_variable_of_the_environment_is_in_the_table() -> None:
    """Each that begins with PROCTOR_ and stands anywhere in the source of the program."""
    known = {one.name for one in (*READ, *AGENT, *GRADING_COMMAND)}
    found = {
        name
        for path in SOURCE.rglob("*")
        if path.suffix in (".py", ".mjs") and path.name != "variables.py"
        for name in re.findall(r"\bPROCTOR_[A-Z_]*[A-Z]\b", path.read_text(encoding="utf-8"))
    }

    assert set() == found - known
    assert set() == {name for name in known if name.startswith("PROCTOR_")} - found


@pytest.mark.parametrize("name", sorted(MADE))
def test_every_link_in_the_reference_leads_somewhere(name: str) -> None:
    """To a file, and to a heading of it."""
    assert [] == broken_links([Page(HERE / name, MADE[name])])


@pytest.mark.parametrize("name", sorted(MADE))
def test_no_two_headings_of_a_page_have_the_same_anchor(name: str) -> None:
    """Where they had, a link would lead to the first of them alone, and the site would number them otherwise."""
    lines = [line for line in MADE[name].split("\n") if line.startswith("#")]
    slugs = [re.sub(r"[^\w -]", "", line.lstrip("# ").lower()) for line in lines]

    assert sorted(set(slugs)) == sorted(slugs)


def test_the_generator_writes_where_it_stands() -> None:
    """`python docs/reference.py`, from any folder."""
    assert Path("docs/en/reference") == HERE.relative_to(ROOT)


def test_the_generator_says_the_same_every_time() -> None:
    """Whatever the order is in which a set gives what it holds."""
    code = "import hashlib, docs.reference as made; print(hashlib.sha256(repr(made.texts()).encode()).hexdigest())"
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }

    assert 1 == len(said)
