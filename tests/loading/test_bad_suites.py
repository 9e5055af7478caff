"""Whatever is wrong with a suite is said in whole sentences, with file and line, and all at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import SuiteError
from proctor.loading import load_suite
from tests.loading.bad_suite_cases import CASES, messages

Write = Callable[[Mapping[str, Any]], Path]


@pytest.mark.parametrize(("name", "files", "source"), CASES, ids=[case[0] for case in CASES])
def test_a_bad_suite_is_told_what_to_do(
    name: str, files: dict[str, Any], source: str, written: Write
) -> None:
    """Each bad suite gives its whole message, and nothing else is raised."""
    base = written(files)

    with pytest.raises(SuiteError) as caught:
        load_suite(source, base=base, git_cache=base / "cache")

    assert messages()[name] == str(caught.value).replace(str(base), "{base}")


def test_the_table_has_no_message_without_a_suite() -> None:
    """Every message of the table belongs to a suite, and the other way round."""
    assert list(messages()) == [case[0] for case in CASES]


def test_all_faults_are_raised_at_once_from_top_to_bottom(written: Write) -> None:
    """A suite with faults in several tests is told of every one of them, in the order of the lines."""
    text = '{"inputs": [\n{"input": "x"},\n{"id": "b", "timeout": 0},\n{"id": "b", "trials": 0, "x": 1}\n]}'
    base = written({"suite.json": text})

    with pytest.raises(SuiteError) as caught:
        load_suite("suite.json", base=base)

    assert [fault.where for fault in caught.value.faults] == [
        "suite.json:2",
        "suite.json:3",
        "suite.json:4",
        "suite.json:4",
        "suite.json:4",
    ]


def test_a_fault_in_yaml_stands_at_its_line(written: Write) -> None:
    """The line of a field is found in YAML as well, in flow style and below merged keys."""
    base = written(
        {
            "s.yaml": "tests:\n  - {id: a,\n     timeout: no-time}\n  - id: b\n    tags:\n      - ok\n      - ''\n"
        }
    )

    with pytest.raises(SuiteError) as caught:
        load_suite("s.yaml", base=base)

    assert [fault.where for fault in caught.value.faults] == ["s.yaml:3", "s.yaml:7"]


def test_nothing_is_written_for_a_bad_suite(written: Write) -> None:
    """Loading leaves the folder of a suite as it was."""
    base = written({"s/a/test.json": {"task": "x"}})
    before = sorted(base.rglob("*"))

    with pytest.raises(SuiteError):
        load_suite("s", base=base, git_cache=base / "cache")

    assert before == sorted(base.rglob("*"))


def test_a_secret_is_never_quoted(written: Write) -> None:
    """Of a value that looks like a secret no message shows more than four characters, whatever its other fault."""
    secret = "ghp_" + "a1B2" * 9
    base = written(
        {"s.json": {"inputs": [{"id": secret, "timeout": secret, "zzz": [secret], "tags": secret}]}}
    )

    with pytest.raises(SuiteError) as caught:
        load_suite("s.json", base=base)

    assert secret[:12] not in str(caught.value)
    assert "ghp_" in str(caught.value)
