"""`proctor export` and `proctor.load()`: every row, every column, the same in each format."""

from __future__ import annotations

import codecs
import csv
import json
import tracemalloc
from pathlib import Path

import pandas as pd
import pyarrow.parquet
import pytest

import proctor
from proctor.engine.export_files import write_table
from proctor.errors import UsageError
from proctor.records.export import TABLES, Record, TableName
from tests.conftest import Project

AGENT = """
from proctor.trace import llm_call, tool_call

def main(question):
    with llm_call("m") as call:
        call.usage(tokens_in=3, tokens_out=4, cost_usd=0.5)
    if question == "crash":
        raise ValueError("no")
    return question
"""
GRADERS = "from proctor import Contains, ExactMatch\n\ngraders = [ExactMatch(), Contains(weight=2)]\n"


@pytest.fixture
def recorded(project: Project) -> Project:
    """One run that passes, and one that crashes; each calls a model once."""
    project.write("agent.py", AGENT)
    project.test("good", GRADERS, input="yes", expected="yes", tags=["a", "b"])
    project.test("crash", GRADERS, input="crash", expected="yes")
    project.run("agent.py", "--grade")
    return project


def rows(project: Project, table: TableName) -> list[dict[str, object]]:
    said = project("export", "group", "--table", table, "-o", f"{table}.jsonl")
    lines = (project.root / f"{table}.jsonl").read_text().splitlines()

    assert (0, "") == (said.code, said.out)
    assert said.err == f"{len(lines)} row{'' if len(lines) == 1 else 's'} of {table}\n"
    return [json.loads(line) for line in lines]


def test_runs_have_what_the_report_says(recorded: Project) -> None:
    """A run that crashed has an objective of 0, and a number that nobody knows is null."""
    crash, good = rows(recorded, "runs")

    assert ("good", "pass", 1.0, True, "a, b", 0.5, "m") == tuple(
        good[name] for name in ("test", "outcome", "objective", "counts", "tags", "cost_usd", "model")
    )
    assert ("crash", "error", "fail", 0.0, None) == tuple(
        crash[name] for name in ("test", "ending", "outcome", "objective", "fault_owner")
    )


def test_grades_and_events_have_a_row_each(recorded: Project) -> None:
    """A run that did not end well has no grades, and what it called is there all the same."""
    assert [("good", "exact-match", 1.0, 1.0), ("good", "contains", 1.0, 2.0)] == [
        (row["test"], row["grader"], row["score"], row["weight"]) for row in rows(recorded, "grades")
    ]
    assert [("crash", 1, "llm", "m", 3), ("good", 1, "llm", "m", 3)] == [
        (row["test"], row["number"], row["kind"], row["name"], row["tokens_in"])
        for row in rows(recorded, "events")
    ]
    assert [] == rows(recorded, "labels")


@pytest.mark.parametrize("table", list(TABLES))
def test_every_format_has_the_documented_columns_and_the_same_rows(
    recorded: Project, table: TableName
) -> None:
    """CSV, JSONL, Parquet and the data frame."""
    plain = rows(recorded, table)
    for ending in ("csv", "parquet"):
        assert 0 == recorded("export", "group", "--table", table, "-o", f"t.{ending}").code
    names = [column.name for column in TABLES[table]]
    with Path("t.csv").open(encoding="utf-8", newline="") as file:
        read = csv.DictReader(file)
        cells = list(read)
    parquet = pyarrow.parquet.read_table("t.parquet")

    assert all(names == list(row) for row in plain)
    assert names == list(read.fieldnames or ()) == parquet.column_names
    assert plain == parquet.to_pylist()
    assert [
        {name: "" if value is None else str(value) for name, value in row.items()} for row in plain
    ] == cells
    frame = proctor.load("group", table=table)
    assert names == list(frame.columns)
    assert plain == json.loads(frame.to_json(orient="records", double_precision=15))


def test_no_text_is_a_formula_in_a_table_for_spreadsheets(project: Project) -> None:
    """Programs that read CSV get the agent's words as they are; people who open it get text, and the right characters."""
    project.write("agent.py", "def main(question):\n    raise ValueError('=1+1 早')\n")
    project.test("sly", GRADERS, input="?", expected="yes")
    project.run("agent.py")
    reasons: list[str] = []
    for option in ([], ["--for-spreadsheet"]):
        assert 0 == project("export", "group", "-o", "runs.csv", *option).code
        with Path("runs.csv").open(encoding="utf-8-sig", newline="") as file:
            reasons += [row["reason"] for row in csv.DictReader(file)]

    assert ["=1+1 早", "'=1+1 早"] == reasons
    assert Path("runs.csv").read_bytes().startswith(codecs.BOM_UTF8)


def test_only_csv_is_for_spreadsheets(recorded: Project) -> None:
    """The other formats hold text as text."""
    said = recorded("export", "group", "-o", "runs.jsonl", "--for-spreadsheet")

    assert (1, "") == (said.code, said.out)
    assert "'runs.jsonl' is no CSV file" in said.err
    assert not Path("runs.jsonl").exists()


def test_a_retried_trial_counts_once(recorded: Project) -> None:
    """Both attempts are rows; the first stays in force."""
    recorded.run("agent.py", "--resume", "--retry", "error")
    found = [(row["test"], row["attempt"], row["counts"]) for row in rows(recorded, "runs")]

    assert [("crash", 1, True), ("crash", 2, False), ("good", 1, True)] == sorted(found)


def test_a_run_that_cannot_be_read_is_a_row_all_the_same(recorded: Project) -> None:
    """As a failure of the harness."""
    facts = recorded.root / "group" / "good" / "run.json"
    facts.chmod(0o644)
    facts.write_text("{")
    found = {row["run"]: row for row in rows(recorded, "runs")}

    assert ("harness-failure", "unreadable", None) == tuple(
        found["good"][name] for name in ("ending", "fault_kind", "objective")
    )
    assert ["crash"] == [row["test"] for row in rows(recorded, "events")]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("group", "-o", "runs.xlsx"), "ends in no known format"),
        (("group", "-o", "nowhere/runs.csv"), "cannot be written"),
        (("nowhere", "-o", "runs.csv"), "nowhere"),
        (("group", "-o", "runs.csv", "--table", "sums"), "invalid choice"),
    ],
)
def test_what_cannot_be_done_is_said_and_leaves_no_file(
    recorded: Project, words: tuple[str, ...], said: str
) -> None:
    """Exit code 1."""
    found = recorded("export", *words)

    assert 1 == found.code
    assert said in found.err
    assert [] == [*recorded.root.glob("*.csv"), *recorded.root.glob(".*.part"), *recorded.root.glob("*.xlsx")]


def test_a_frame_of_no_table_is_refused() -> None:
    """With the tables that there are."""
    with pytest.raises(UsageError, match="runs, grades, labels, events"):
        proctor.load("group", table="sums")  # pyright: ignore


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_memory_does_not_grow_with_the_rows(tmp_path: Path, ending: str) -> None:
    """Thirty times the rows take less than twice the memory of Python's own."""

    def made(count: int) -> int:
        row: Record = {column.name: None for column in TABLES["grades"]}
        tracemalloc.start()
        write_table(
            ({**row, "grader": "x" * 200, "trial": n} for n in range(count)),
            TABLES["grades"],
            tmp_path / f"t.{ending}",
        )
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    made(10)
    assert made(60_000) < 2 * made(2_000)


@pytest.mark.slow
def test_pandas_polars_and_duckdb_read_the_same(recorded: Project) -> None:
    """From Parquet, with kinds and missing values as they were."""
    import duckdb
    import polars as pl

    recorded("export", "group", "-o", "runs.parquet")
    plain = rows(recorded, "runs")
    by_pandas = pd.read_parquet("runs.parquet", dtype_backend="numpy_nullable")
    by_duckdb = duckdb.sql("select * from 'runs.parquet'")

    assert plain == pl.read_parquet("runs.parquet").to_dicts()
    assert plain == json.loads(by_pandas.to_json(orient="records", double_precision=15))
    assert plain == [dict(zip(by_duckdb.columns, row, strict=True)) for row in by_duckdb.fetchall()]
