"""Settings of a project, found upward, each with where it came from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import UsageError
from proctor.loading import SETTINGS, find_settings, resolve

Write = Callable[[Mapping[str, Any]], Path]


def test_the_nearest_file_upward_holds(written: Write) -> None:
    """proctor.toml comes before pyproject.toml in one folder; one without settings is passed over."""
    base = written(
        {
            "proctor.toml": "trials = 2\n",
            "pyproject.toml": "[tool.proctor]\ntrials = 3\n",
            "a/pyproject.toml": "[project]\nname = 'proctor-user'\n",
            "a/b/pyproject.toml": "[tool.other]\nx = 1\n[tool.proctor]\n\ntrials = 4\n",
            "a/b/c": None,
        }
    )

    assert find_settings(base).get("trials") == (2, "proctor.toml:1")
    assert find_settings(base / "a").get("trials").value == 2
    assert (4, f"{base}/a/b/pyproject.toml:5") == find_settings(base / "a" / "b" / "c").get("trials")


def test_without_a_file_all_are_defaults(written: Write) -> None:
    """Every setting has a row, in the order of the table, and says that it is a default."""
    rows = find_settings(written({})).explain()

    assert [(setting.field.name, setting.default, "default") for setting in SETTINGS] == [
        row[:3] for row in rows
    ]


def test_flag_then_test_then_suite_then_file_then_default(written: Write) -> None:
    """The nearer to the command line the stronger; zero is a value."""
    settings = find_settings(written({"proctor.toml": "timeout = 9\n"}))

    assert resolve("timeout", flag=0, test=1, suite=2, settings=settings) == (0, "--timeout")
    assert resolve("timeout", test=1, suite=2, settings=settings) == (1, "the test")
    assert resolve("timeout", suite=2, settings=settings) == (2, "the suite")
    assert resolve("timeout", settings=settings) == (9, "proctor.toml:1")
    assert resolve("parallel", settings=settings) == (1, "default")


def test_a_path_is_relative_to_the_file_that_names_it(written: Write) -> None:
    """A default path is relative to where one stands, a written one to its file; an absolute one is itself."""
    base = written({"pyproject.toml": '[tool.proctor]\nwork_root = "/big"\ngit_cache = "cache"\n', "a": None})
    settings = find_settings(base / "a")

    assert base / "cache" == settings.path("git_cache", base=base / "a")
    assert Path("/big") == settings.path("work_root", base=base / "a")
    assert base / "a" / "runs" == settings.path("out", base=base / "a")
    assert base == settings.folder
    with pytest.raises(KeyError):
        settings.path("suite", base=base)


def test_all_faults_of_a_file_come_at_once_with_their_lines(written: Write) -> None:
    """Unknown keys get a proposal, wrong values what they take, in one error."""
    base = written(
        {
            "pyproject.toml": "[project]\nname = 'x'\n\n[tool.proctor]\ntimout = 3\nparallel = 0\ntrials = '2'\n"
        }
    )

    with pytest.raises(UsageError) as caught:
        find_settings(base)

    assert str(caught.value) == (
        "pyproject.toml:5  timout is not a field of the settings: 3.\n"
        "    Did you mean `timeout`?\n"
        "pyproject.toml:6  parallel is 0; it takes a whole number from 1.\n"
        "    Write for example 4.\n"
        "pyproject.toml:7  trials is '2'; it takes a whole number from 1 to 100.\n"
        "    Write it without quotes: 2."
    ).replace("example 4.", "example 4, or leave it out.")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a = [1,\n", "proctor.toml:2"),
        ("a = 1\na = 2\n", "proctor.toml:2:6"),
        ("timeout = 1979-05-27\n", "proctor.toml:1"),
        ("timeout = inf\n", "proctor.toml:1"),
        ("out = 'x'\n\n[judge]\nmodel = 'x'\n", "proctor.toml:3"),
        (f"out = 'ghp_{'a1B2' * 9}'\n", "proctor.toml:1"),
        ("api_key = 'abcdefgh'\n", "proctor.toml:1"),
        (b"out = '\xe4'\n", "proctor.toml:1"),
    ],
)
def test_a_file_that_is_no_settings_says_where(text: Any, where: str, written: Write) -> None:
    """Bad TOML, values that are none of ours and secrets are refused with their place."""
    with pytest.raises(UsageError) as caught:
        find_settings(written({"proctor.toml": text}))

    assert where == caught.value.faults[0].where


def test_a_broken_file_of_somebody_else_is_no_obstacle(written: Write) -> None:
    """A pyproject.toml that does not mention proctor is not even parsed."""
    assert find_settings(written({"pyproject.toml": "not toml ["})).file is None
