"""The private folder of one trial."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from proctor.host.place import Place, input_text
from proctor.records.suite import Test

BASE = {
    "PATH": os.environ["PATH"],
    "KEEP": "1",
    "PROCTOR_SECRET": "x",
    "GIT_DIR": "/repo/.git",
    "OLDPWD": "/",
}


@pytest.fixture
def place(tmp_path):
    return Place.create(tmp_path, Test(id="the-answer-is-42", input="what?"), BASE)


def test_only_its_owner_may_enter(place):
    """The folder has mode 0700."""
    assert 0o700 == stat.S_IMODE(place.root.stat().st_mode)


def test_path_says_nothing_of_the_test(place):
    """An id may give the answer away, so that it is in no path."""
    assert "answer" not in str(place.workdir.relative_to(place.root.parent))


def test_workdir_is_empty_and_the_streams_lie_outside_it(place):
    """The agent finds nothing where it stands."""
    assert [] == list(place.workdir.iterdir())
    for path in (place.input_file, place.output_file, place.stdout, place.stderr):
        assert path.is_relative_to(place.root)
        assert not path.is_relative_to(place.workdir)


def test_environment(place):
    """It is the base less proctor's own, the repository's and the old folder, plus what the place says."""
    assert {
        "PATH": BASE["PATH"],
        "KEEP": "1",
        "PWD": str(place.workdir),
        "PROCTOR_WORKDIR": str(place.workdir),
        "PROCTOR_INPUT": str(place.input_file),
        "PROCTOR_OUTPUT": str(place.output_file),
        "GIT_CEILING_DIRECTORIES": str(place.root),
    } == place.environment


def test_no_input_no_file(tmp_path):
    """A test without input has neither an input file nor a variable that names one."""
    place = Place.create(tmp_path, Test(id="a"), BASE)

    assert (False, False) == (place.input_file.exists(), "PROCTOR_INPUT" in place.environment)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("", ""),
        ("ü\n", "ü\n"),
        ("half \ud800 pair", "half \ufffd pair"),
        ({"b": 1.0, "a": ["ü", None]}, '{"b":1.0,"a":["ü",null]}'),
        (["\udfff"], '["\ufffd"]'),
        (None, "null"),
    ],
)
def test_input_as_text(tmp_path, given, text):
    """Text is itself, anything else compact JSON in the author's order; both are UTF-8 in the file."""
    test = Test(id="a", input=given)
    place = Place.create(tmp_path, test, {})

    assert (text, text) == (input_text(test), place.input_file.read_bytes().decode())


def test_git_finds_no_repository_above(tmp_path):
    """An agent that asks git from its workdir finds no repository, wherever the work root lies."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    place = Place.create(tmp_path, Test(id="a"), dict(os.environ))
    found = subprocess.run(
        ["git", "rev-parse"], cwd=place.workdir, env=place.environment, capture_output=True, check=False
    )

    assert 128 == found.returncode


def test_default_lies_in_the_temporary_space():
    """Without a work root the folder is in the system's temporary space."""
    place = Place.create(None, Test(id="a"), {})
    place.remove()

    assert (Path(os.environ.get("TMPDIR", "/tmp")).resolve(), False) == (
        place.root.parent,
        place.root.exists(),
    )


def test_remove_follows_no_link_that_has_taken_its_place(place, tmp_path):
    """Where the agent has put a link in the folder's place, the link is removed and its target stays."""
    target = tmp_path / "target"
    target.mkdir()
    place.root.rename(tmp_path / "away")
    place.root.symlink_to(target)
    place.remove()

    assert (False, True) == (place.root.is_symlink(), target.is_dir())


def test_remove_takes_everything(place):
    """What the agent has locked is removed too, and a link's target stays."""
    outside = place.root.parent / "outside"
    outside.mkdir()
    locked = place.workdir / "locked" / "deeper"
    locked.mkdir(parents=True)
    (locked / "file").touch()
    (place.workdir / "link").symlink_to(outside)
    locked.chmod(0)
    locked.parent.chmod(0o500)
    place.remove()
    place.remove()

    assert (False, True) == (place.root.exists(), outside.exists())
