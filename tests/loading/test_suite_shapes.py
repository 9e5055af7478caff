"""The shapes that a suite has on disk, and what they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from proctor.errors import UsageError
from proctor.loading import inline_suite, load_suite
from proctor.records.suite import Fixture, GradersSource, Suite

Write = Callable[[Mapping[str, Any]], Path]

ONE_SUITE: dict[str, Any] = {"inputs": [{"id": "a", "input": "x"}, {"id": "b", "input": "y"}]}


def ids(suite: Suite) -> list[str]:
    return [entry.test.id for entry in suite.tests]


def test_a_json_file_gives_its_tests_in_order(written: Write) -> None:
    """A test of a file knows its line, and the suite is named after the file."""
    base = written({"evals/refunds.json": '{"inputs": [\n {"id": "b"},\n {"id": "a",\n  "tags": ["t"]}]}'})
    suite = load_suite("evals/refunds.json", base=base)

    assert ("refunds", base / "evals", ["b", "a"]) == (suite.name, suite.root, ids(suite))
    assert [entry.where for entry in suite.tests] == ["evals/refunds.json:2", "evals/refunds.json:3"]


def test_every_field_of_a_test_arrives(written: Write) -> None:
    """What a test says is what its record holds."""
    fields = {
        "id": "a",
        "input": [{"role": "user", "content": "hi"}],
        "expected": None,
        "goal": "is kind",
        "timeout": 2.5,
        "trials": 3,
        "tags": ["t", "u"],
        "description": "d",
        "metadata": {"k": [1, {"api_key": "abc"}]},
    }
    test = load_suite("s.json", base=written({"s.json": {"inputs": [fields]}})).tests[0].test

    assert fields == {
        name: list(value) if isinstance(value := getattr(test, name), tuple) else value for name in fields
    }


def test_a_test_folder_brings_its_files_and_graders(written: Write) -> None:
    """In test folders the id is the folder's name, and `files` and `graders.py` need no mention."""
    base = written(
        {"s/einstein/test.json": {"input": "x"}, "s/einstein/files/a.txt": "1", "s/einstein/graders.py": ""}
    )
    entry = load_suite("s", base=base).tests[0]
    folder = base / "s" / "einstein"

    assert ("einstein", Fixture(path="files"), "einstein/graders.py") == (
        entry.test.id,
        entry.test.files,
        entry.test.graders,
    )
    assert folder / "files" == entry.fixture
    assert GradersSource(root=base / "s", module=folder / "graders.py", folder=folder) == entry.graders


def test_one_test_folder_is_a_suite_of_its_own(written: Write) -> None:
    """A test folder that is named itself is the root of its graders."""
    base = written({"s/einstein/test.yaml": "id: albert\ninput: x\n", "s/einstein/graders.py": ""})
    suite = load_suite("s/einstein", base=base)
    folder = base / "s" / "einstein"

    assert (suite.name, ids(suite), suite.tests[0].test.graders) == ("einstein", ["albert"], "graders.py")
    assert GradersSource(root=folder, module=folder / "graders.py", folder=folder) == suite.tests[0].graders


def test_files_of_one_test_are_named_by_their_stem(written: Write) -> None:
    """A folder of one-test files, JSON and YAML alike, is in the order of names."""
    base = written(
        {"s/b.yml": "input: x\n", "s/a.json": {"$schema": "x", "input": "y"}, "s/.hidden.json": "{"}
    )

    assert ids(load_suite("s", base=base)) == ["a", "b"]


def test_folders_without_a_test_are_passed_over(written: Write) -> None:
    """What the tests share may stand beside them in a folder of its own."""
    base = written({"s/a/test.json": {"input": "x"}, "s/shared/checks.py": "", "s/README.md": "hi"})

    assert ids(load_suite("s", base=base)) == ["a"]


@pytest.mark.parametrize("name", ["tests.json", "tests.jsonl", "tests.csv", "tests.yaml"])
def test_a_folder_with_one_suite_file_is_that_suite(name: str, written: Write) -> None:
    """A folder may be named in place of the one file in it."""
    text = {
        "tests.json": '{"tests": [{"id": "a"}]}',
        "tests.jsonl": '{"id": "a"}\n',
        "tests.csv": "id,input\na,x\n",
        "tests.yaml": "tests: [{id: a}]",
    }[name]

    assert ids(load_suite("s", base=written({f"s/{name}": text}))) == ["a"]


def test_the_same_tests_are_the_same_in_every_format(written: Write) -> None:
    """JSON, YAML, JSONL and CSV of the same texts have one digest."""
    base = written(
        {
            "s.json": {
                "inputs": [
                    {"id": "a", "input": "x, y", "timeout": 5, "tags": ["t", "u"], "metadata": {"k": "1"}}
                ]
            },
            "s.yaml": "inputs:\n- id: a\n  input: x, y\n  timeout: 5\n  tags: [t, u]\n  metadata: {k: '1'}\n",
            "s.jsonl": '{"id": "a", "input": "x, y", "timeout": 5, "tags": ["t", "u"], "metadata": {"k": "1"}}\n',
            "s.csv": 'id,input,timeout,tags,metadata.k,goal\r\na,"x, y",5,"t, u",1,\r\n',
        }
    )

    assert (
        len({load_suite(f"s.{ending}", base=base).digest for ending in ("json", "yaml", "jsonl", "csv")}) == 1
    )


def test_an_empty_object_is_no_input(written: Write) -> None:
    """`{}` and no `input` at all say the same: the agent takes nothing."""
    suite = load_suite(
        "s.json", base=written({"s.json": {"inputs": [{"id": "a", "input": {}}, {"id": "b"}]}})
    )

    assert [entry.test.input for entry in suite.tests] == [UNSET, UNSET]


def test_a_cell_that_looks_like_json_is_text(written: Write) -> None:
    """A CSV cell is never parsed, and one with quotes may hold commas, quotes and line breaks."""
    base = written(
        {"s.csv": b'\xef\xbb\xbfid,input,expected\na,"{""q"": 1}",[1]\n\nb,"two\nlines, one cell",7\nc,,\n'}
    )
    suite = load_suite("s.csv", base=base)

    assert [entry.test.input for entry in suite.tests] == ['{"q": 1}', "two\nlines, one cell", UNSET]
    assert [entry.test.expected for entry in suite.tests] == ["[1]", "7", UNSET]
    assert [entry.where for entry in suite.tests] == ["s.csv:2", "s.csv:4", "s.csv:6"]


def test_a_byte_order_mark_is_nothing(written: Write) -> None:
    """A JSON file as Windows tools save it loads like any other."""
    assert ids(load_suite("s.json", base=written({"s.json": b'\xef\xbb\xbf{"inputs": [{"id": "a"}]}'}))) == [
        "a"
    ]


def test_yaml_merges_and_aliases_work(written: Write) -> None:
    """What YAML shares by `&name`, `*name` and `<<` reads as if it were written out."""
    base = written({"s.yaml": "inputs:\n- &a {id: a, input: x, goal: g}\n- <<: *a\n  id: b\n"})
    suite = load_suite("s.yaml", base=base)

    assert [(e.test.id, e.test.input, e.test.goal) for e in suite.tests] == [("a", "x", "g"), ("b", "x", "g")]


def test_quoted_yaml_is_text_and_plain_numbers_are_numbers(written: Write) -> None:
    """Quotes keep what would be a date, a word for a boolean or a number."""
    base = written(
        {"s.yaml": "inputs:\n- id: a\n  expected: ['2024-01-02', \"no\", '1', 1, 1.5, 1e3, true, ~, -0.5]\n"}
    )

    assert load_suite("s.yaml", base=base).tests[0].test.expected == [
        "2024-01-02",
        "no",
        "1",
        1,
        1.5,
        1000.0,
        True,
        None,
        -0.5,
    ]


def test_defaults_hold_where_a_test_says_nothing(written: Write) -> None:
    """A test's own timeout, trials and graders win over the suite's; tags add up, the suite's first, none twice."""
    base = written(
        {
            "s.json": {
                "defaults": {"timeout": 9, "trials": 2, "tags": ["t"], "graders": "common.py"},
                "inputs": [
                    {"id": "a"},
                    {"id": "b", "timeout": 1, "trials": 1, "tags": ["u", "t"], "graders": "own.py"},
                ],
            },
            "common.py": "",
            "own.py": "",
        }
    )
    rows = [
        (e.test.timeout, e.test.trials, e.test.tags, e.test.graders)
        for e in load_suite("s.json", base=base).tests
    ]

    assert rows == [(9, 2, ("t",), "common.py"), (1, 1, ("t", "u"), "own.py")]


def test_a_suite_file_beside_test_folders_gives_their_defaults(written: Write) -> None:
    """`suite.json` without tests says what holds for all test folders; a folder's own graders.py wins."""
    base = written(
        {
            "s/suite.yaml": "name: refunds\ndescription: Late ones\ndefaults: {graders: shared/g.py, timeout: 3}\n",
            "s/shared/g.py": "",
            "s/a/test.json": {"input": "x"},
            "s/b/test.json": {"input": "x"},
            "s/b/graders.py": "",
        }
    )
    suite = load_suite("s", base=base)

    assert (suite.name, suite.description) == ("refunds", "Late ones")
    assert [(e.test.graders, e.test.timeout) for e in suite.tests] == [
        ("shared/g.py", 3),
        ("b/graders.py", 3),
    ]
    assert suite.tests[0].graders == GradersSource(
        root=base / "s", module=base / "s/shared/g.py", folder=base / "s/a"
    )


def test_a_suite_file_beside_a_table_gives_its_defaults(written: Write) -> None:
    """What a table cannot say of all its rows, `suite.json` beside it says."""
    base = written(
        {
            "s/suite.json": {"defaults": {"graders": "g.py", "trials": 2}},
            "s/t.csv": "id,input\na,x\n",
            "s/g.py": "",
        }
    )
    test = load_suite("s", base=base).tests[0].test

    assert (test.graders, test.trials) == ("g.py", 2)


def test_graders_outside_the_suite_are_a_root_of_their_own(written: Write) -> None:
    """A module outside the suite's folder brings its own folder; the test holds no path of the machine."""
    base = written(
        {"evals/s.json": {"inputs": [{"id": "a", "graders": "../common/g.py"}]}, "common/g.py": ""}
    )
    entry = load_suite("evals/s.json", base=base).tests[0]

    assert entry.test.graders == "../common/g.py"
    assert GradersSource(root=base / "common", module=base / "common/g.py") == entry.graders


def test_files_take_patterns_and_git(written: Write) -> None:
    """`files` as an object says which files are taken, and that the workdir is a repository."""
    base = written(
        {
            "s.json": {"inputs": [{"id": "a", "files": {"path": "f/g", "include": ["*.py"], "git": True}}]},
            "f/g": None,
        }
    )
    entry = load_suite("s.json", base=base).tests[0]

    assert (Fixture(path="f/g", include=("*.py",), git=True), base / "f/g") == (
        entry.test.files,
        entry.fixture,
    )


def test_a_line_of_text_is_a_suite() -> None:
    """`--input TEXT` gives one test called `input`; an empty text is none."""
    suite = inline_suite("When?")

    assert (ids(suite), suite.tests[0].test.input, suite.tests[0].graders) == (["input"], "When?", None)
    with pytest.raises(UsageError):
        inline_suite("")


def test_ids_of_any_script_are_kept_composed(written: Write) -> None:
    """Words of every script make ids, vowel signs included, and composed and decomposed forms are one."""
    names = ["geburtstag-ä", "誕生日", "जन्मदिन", "День_1.2"]
    base = written({"s.json": {"inputs": [{"id": name} for name in [*names, "e\u0301"]]}})

    assert [*names, "\u00e9"] == ids(load_suite("s.json", base=base))
