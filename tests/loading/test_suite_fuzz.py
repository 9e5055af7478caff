"""Whatever the bytes and whatever the structure: loading gives a suite or a SuiteError, and nothing else."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.errors import ProctorError, SuiteError, UsageError
from proctor.loading import find_settings, load_suite
from proctor.loading.fields import TEST_FIELDS
from proctor.loading.json_text import parse, positions
from proctor.records.suite import Suite
from proctor.sources import git_source_of

TEXTS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["", "a", "..", "/etc", "a--b", "é", "con", "\ud800", "\0", "x" * 5000, "f", "f?ref=", "a.git", "~"]
    ),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([2**63, 2**64, 10**300, 0, -1]),
    st.floats(),
    TEXTS,
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from([field.name for field in TEST_FIELDS] + ["task", "expcted", "api_key"])
TESTS = st.one_of(VALUES, st.dictionaries(FIELDS, VALUES, max_size=6))
SUITES = st.fixed_dictionaries(
    {},
    optional={
        "inputs": st.one_of(VALUES, st.lists(TESTS, max_size=4)),
        "tests": st.lists(TESTS, max_size=2),
        "defaults": st.one_of(VALUES, st.dictionaries(FIELDS, VALUES, max_size=4)),
        "name": VALUES,
        "$schema": VALUES,
    },
)
ENDINGS = ["json", "yaml", "jsonl", "csv"]
PIECES = st.sampled_from(
    [
        *rb"""{"inputs":[ ]} {"id":"a"} , " \ id,input - : &a *a <<:*a !!x [ { ' # \ud800 1e999 NaN |""".split(),
        *(b" ", b"\n", b"\r", b"\t", b"\0", b"\xff", b"\xef\xbb\xbf"),
    ]
)


def check_sentences(error: ProctorError) -> None:
    assert all(fault.what and fault.where and fault.fix for fault in error.faults)
    str(error).encode()


def load(name: str, content: bytes) -> Suite | None:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        (base / "f").mkdir()
        (base / name).write_bytes(content)
        try:
            suite = load_suite(name, base=base, git_cache=base / "cache")
        except SuiteError as error:
            check_sentences(error)
            return None
        # What was loaded can be stored, and told apart from others.
        assert suite.digest
        msgspec.json.encode([entry.test for entry in suite.tests])
        return suite


@settings(max_examples=120, deadline=None)
@given(
    st.sampled_from(ENDINGS), st.one_of(st.binary(max_size=60), st.lists(PIECES, max_size=14).map(b"".join))
)
def test_bytes_of_any_kind_give_a_suite_or_a_suite_error(ending: str, content: bytes) -> None:
    """A file of any bytes is read or refused in sentences."""
    load(f"s.{ending}", content)


@settings(max_examples=120, deadline=None)
@given(SUITES, st.sampled_from(["json", "yaml"]))
def test_structures_of_any_kind_give_a_suite_or_a_suite_error(suite: Any, ending: str) -> None:
    """A suite of any structure is read or refused in sentences; JSON is YAML here as well."""
    load(f"s.{ending}", json.dumps(suite).encode())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(TEXTS, max_size=4), max_size=5))
def test_tables_of_any_kind_give_a_suite_or_a_suite_error(rows: list[list[str]]) -> None:
    """A table of any cells is read or refused in sentences."""
    text = "id,input,timeout,tags\n" + "\n".join(",".join(json.dumps(cell) for cell in row) for row in rows)
    load("s.csv", text.encode("utf-8", "surrogatepass"))


@settings(max_examples=60, deadline=None)
@given(
    st.one_of(
        st.binary(max_size=40),
        st.dictionaries(FIELDS, SCALARS).map(lambda v: _toml(v).encode("utf-8", "replace")),
    )
)
def test_settings_of_any_kind_give_settings_or_a_usage_error(content: bytes) -> None:
    """A settings file of any bytes is read or refused in sentences."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "proctor.toml").write_bytes(content)
        try:
            assert find_settings(Path(folder)).explain()
        except UsageError as error:
            check_sentences(error)


@settings(max_examples=80, deadline=None)
@given(VALUES, st.sampled_from([None, 0, 1, 4]))
def test_every_field_has_its_line(value: Any, indent: int | None) -> None:
    """The scanner finds each field of any JSON text at the line where its text stands."""
    text = json.dumps(value, indent=indent)
    found = positions((parse(text).value is None and "null") or text)

    assert all(1 <= line <= text.count("\n") + 1 for line in found.lines.values())
    if text != "null":
        assert set(_paths(json.loads(text))) == set(found.lines)


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=30))
def test_a_source_of_any_kind_is_a_path_or_git_or_refused(text: str) -> None:
    """No text breaks the grammar of sources."""
    try:
        source = git_source_of(text, base=Path("/nowhere"))
    except SuiteError:
        return
    assert source is None or not source.url.startswith("-")


@pytest.mark.parametrize("ending", ["json", "yaml", "jsonl"])
@pytest.mark.parametrize("depth", [90, 110, 900, 1100, 50_000])
def test_nesting_of_any_depth_is_read_or_refused(ending: str, depth: int) -> None:
    """Up to 90 levels load; from 110 on they are refused, without a traceback however many there are."""
    value = "[" * depth + "]" * depth
    record = f'{{"id": "a", "expected": {value}}}'
    text = record if ending == "jsonl" else f'{{"inputs": [{record}]}}'

    assert (load(f"s.{ending}", text.encode()) is not None) == (depth < 100)


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [path]
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, entry in steps:
        found += _paths(entry, (*path, step))
    return found


def _toml(values: dict[str, Any]) -> str:
    return "\n".join(f"{key} = {json.dumps(value)}" for key, value in values.items())
