"""Labels without a terminal: a sheet goes out, is filled in, and comes back, all of it or nothing."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor.engine.desk import begin_import
from proctor.records.annotation import LabelRow
from proctor.records.label import Pending
from proctor.records.sheet import COLUMNS
from tests.conftest import Project
from tests.labelling.builders import checklist_file, make_run, rows_of

Row = dict[str, str]


@pytest.fixture
def labelled(project: Project) -> Project:
    """A project with the group of three runs and a checklist of a yes-no question and a scale."""
    for name in ("a", "b", "c"):
        make_run(project.root / "group", name, output=f'answer {name}, "quoted"\nand a line')
    checklist_file(project.root, "Is it right?", {"text": "How warm?", "kind": "scale", "points": 5})
    return project


def export(project: Project, file: str, *words: str) -> Path:
    said = project("label", "group", "--checklist", "good.json", "--export", file, *words)
    assert 0 == said.code, said.err
    return project.root / file


def take(project: Project, file: str, *words: str):
    return project(
        "label", "group", "--checklist", "good.json", "--annotator", "ada", "--import", file, *words
    )


def read(path: Path) -> list[Row]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def fill(path: Path, change: Callable[[Row], Row | None]) -> None:
    """Write a sheet again with changed rows; None leaves one out."""
    rows = [changed for row in read(path) if (changed := change(row)) is not None]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def answered(row: Row) -> Row:
    return row | {"answer": "yes" if row["text"].startswith("Is") else "4"}


def test_a_sheet_has_stable_columns_and_a_row_for_each_run_and_question(labelled: Project) -> None:
    path = export(labelled, "sheet.csv", "--annotator", "ada")
    rows = read(path)

    assert ",".join(COLUMNS) == path.read_text().splitlines()[0]
    assert (
        "run_id,path,test,trial,annotator,checklist,version,question,text,takes,answer,note,at,input,output"
        == ",".join(COLUMNS)
    )
    assert [("a", "yes, no or cannot tell"), ("a", "1 to 5 or cannot tell")] == [
        (row["test"], row["takes"]) for row in rows[:2]
    ]
    assert {("ada", "", "")} == {(row["annotator"], row["answer"], row["at"]) for row in rows}
    assert 'answer a, "quoted"\nand a line' == rows[0]["output"]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_sheet_that_is_filled_in_comes_back_as_labels(labelled: Project, ending: str) -> None:
    path = export(labelled, f"sheet.{ending}", "--annotator", "ada")
    if ending == "csv":
        fill(path, answered)
    else:
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        answers = [row | {"answer": True if row["text"].startswith("Is") else 4} for row in rows]
        path.write_text("".join(json.dumps(row) + "\n" for row in answers))
    said = take(labelled, path.name)

    assert (0, "3 labels recorded, 0 recorded before, 0 runs left empty\n") == (said.code, said.out)
    for name in "abc":
        (row,) = rows_of(labelled.root / "group" / name)
        assert ([True, 4], "ada") == (list(row["answers"].values()), row["annotator"]["id"])


def test_what_was_exported_comes_back_without_a_change(labelled: Project) -> None:
    """Notes that begin as a formula does are the same afterwards, and nothing is recorded twice."""
    path = export(labelled, "sheet.csv", "--annotator", "ada")
    fill(path, lambda row: answered(row) | {"note": "=1+1" if row["test"] == "a" else ""})
    take(labelled, "sheet.csv")
    again = export(labelled, "again.csv", "--annotator", "ada")
    assert {"'=1+1", ""} == {row["note"] for row in read(again)}
    said = take(labelled, "again.csv")

    assert "0 labels recorded, 3 recorded before, 0 runs left empty\n" == said.out
    assert "=1+1" == rows_of(labelled.root / "group/a")[0]["note"]


def test_an_agents_output_is_no_formula_in_a_spreadsheet(labelled: Project) -> None:
    make_run(labelled.root / "group", "evil", output='=HYPERLINK("http://x")')
    rows = read(export(labelled, "sheet.csv"))

    assert '\'=HYPERLINK("http://x")' == next(row["output"] for row in rows if row["test"] == "evil")


def test_runs_that_are_left_empty_are_left_alone(labelled: Project) -> None:
    path = export(labelled, "sheet.csv", "--annotator", "ada")
    fill(path, lambda row: answered(row) if row["test"] == "b" else row)

    assert "1 label recorded, 0 recorded before, 2 runs left empty\n" == take(labelled, "sheet.csv").out
    assert [0, 1, 0] == [len(rows_of(labelled.root / "group" / name)) for name in "abc"]


def test_rows_without_a_name_belong_to_who_takes_them_in(labelled: Project) -> None:
    path = export(labelled, "sheet.csv")
    assert {""} == {row["annotator"] for row in read(path)}
    fill(path, lambda row: answered(row) | {"annotator": "bo" if row["test"] == "a" else ""})
    take(labelled, "sheet.csv")

    assert ["bo", "ada", "ada"] == [
        rows_of(labelled.root / "group" / name)[0]["annotator"]["id"] for name in "abc"
    ]


def test_an_export_without_a_name_has_everybodys_labels(labelled: Project) -> None:
    path = export(labelled, "sheet.csv")
    fill(path, lambda row: answered(row) | {"annotator": "bo"} if row["test"] == "a" else None)
    take(labelled, "sheet.csv")
    rows = read(export(labelled, "all.csv"))

    assert [
        ("a", "bo", "yes"),
        ("a", "bo", "4"),
        ("b", "", ""),
        ("b", "", ""),
        ("c", "", ""),
        ("c", "", ""),
    ] == [(row["test"], row["annotator"], row["answer"]) for row in rows]


def test_a_sheet_goes_to_standard_output(labelled: Project) -> None:
    said = labelled("label", "group", "--checklist", "good.json", "--export", "-")

    assert 6 == len(list(csv.DictReader(said.out.splitlines(keepends=True))))


FAULTS: list[tuple[str, Any, str]] = [
    ("an answer that is none", lambda row: answered(row) | {"answer": "maybe"}, "'maybe' is no answer to it"),
    (
        "a point too many",
        lambda row: answered(row) | {"answer": "yes" if row["text"].startswith("Is") else "6"},
        "1 to 5",
    ),
    (
        "a question left out",
        lambda row: answered(row) if row["text"].startswith("Is") else row,
        "unanswered is not no",
    ),
    ("no such run", lambda row: answered(row) | {"run_id": "run-x"}, "There is no run 'run-x' here"),
    ("no such question", lambda row: answered(row) | {"question": "q_x"}, "There is no question 'q_x'"),
    ("another text", lambda row: answered(row) | {"text": "Is it wrong?"}, "and not this"),
    ("another checklist", lambda row: answered(row) | {"checklist": "cl_x"}, "is of the checklist 'cl_x'"),
    ("a strange column", lambda row: answered(row) | {"mark": "x"}, "There is the column 'mark'"),
    (
        "two notes",
        lambda row: answered(row) | {"note": row["question"]},
        "have two notes",
    ),
]


@pytest.mark.parametrize(("change", "said"), [pytest.param(c, s, id=name) for name, c, s in FAULTS])
def test_a_sheet_with_a_fault_records_nothing(labelled: Project, change: Any, said: str) -> None:
    """Every fault has its line, and the runs that are in order are not recorded either."""
    path = export(labelled, "sheet.csv", "--annotator", "ada")
    fill(path, lambda row: change(row) if row["test"] == "b" or "mark" in change(row) else answered(row))
    done = take(labelled, "sheet.csv")

    assert 1 == done.code
    assert said in done.err
    assert "sheet.csv:" in done.err
    assert [0, 0, 0] == [len(rows_of(labelled.root / "group" / name)) for name in "abc"]


def test_all_faults_are_named_at_once(labelled: Project) -> None:
    path = export(labelled, "sheet.csv", "--annotator", "ada")
    fill(path, lambda row: row | {"answer": "maybe"})

    assert 6 == take(labelled, "sheet.csv").err.count("is no answer to it")


def test_a_run_that_is_answered_twice_differently_is_a_fault(labelled: Project) -> None:
    path = export(labelled, "sheet.csv", "--annotator", "ada")
    fill(path, answered)
    rows = path.read_text()
    path.write_text(
        rows + next(line for line in rows.splitlines() if ",yes," in line).replace(",yes,", ",no,") + "\n"
    )
    done = take(labelled, "sheet.csv")

    assert 1 == done.code


def test_an_import_that_is_cut_short_is_finished_by_the_next_command(labelled: Project) -> None:
    """All or nothing: what was begun is in the group's folder of checklists until every row is in its run.

    Here the first row had reached its run, and the two others had not.
    """
    group = labelled.root / "group"
    fill(export(labelled, "sheet.csv", "--annotator", "ada"), answered)
    take(labelled, "sheet.csv")
    rows = [msgspec.convert(rows_of(group / name)[0] | {"kind": "label"}, LabelRow) for name in "abc"]
    for name in "bc":
        (group / name / "annotations.jsonl").unlink()
    begin_import(group, tuple(Pending(run_dir=name, row=row) for name, row in zip("abc", rows, strict=True)))
    said = take(labelled, "sheet.csv")

    assert "0 labels recorded, 3 recorded before, 0 runs left empty\n" == said.out
    assert [1, 1, 1] == [len(rows_of(labelled.root / "group" / name)) for name in "abc"]
    assert not (labelled.root / "group/checklists/imports.json").exists()


def test_a_label_that_was_withdrawn_can_be_given_again(labelled: Project) -> None:
    """`retract` takes the id of a label as it takes that of a round."""
    fill(export(labelled, "sheet.csv", "--annotator", "ada"), answered)
    take(labelled, "sheet.csv")
    (row,) = rows_of(labelled.root / "group/a")
    assert row["id"][:12] in labelled("show", "group/a").out
    assert 0 == labelled("retract", "group/a", "--round", row["id"][:12], "--why", "the wrong run").code
    assert "labels" not in labelled("show", "group/a").out
    said = take(labelled, "sheet.csv")

    assert "1 label recorded, 2 recorded before, 0 runs left empty\n" == said.out
    assert "labels" in labelled("show", "group/a").out
    assert "0 changes found" in labelled("verify", "group").out


@pytest.mark.parametrize("file", ["sheet.txt", "sheet"])
def test_another_kind_of_file_is_refused(labelled: Project, file: str) -> None:
    for option in ("--export", "--import"):
        said = labelled("label", "group", "--checklist", "good.json", option, file)

        assert 1 == said.code
        assert "neither .csv nor .jsonl" in said.err
