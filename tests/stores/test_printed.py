"""What is kept of what was printed."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.core.redaction import Redactor
from proctor.records.json_value import digest_of_bytes
from proctor.stores.printed import LEAST_KEPT, keep_file, keep_printed

PLAIN = Redactor({})


def test_what_is_within_the_limit_is_kept_to_the_byte(tmp_path: Path) -> None:
    """And everything where there is no limit."""
    content = os.urandom(3 * LEAST_KEPT)
    (tmp_path / "said").write_bytes(content)
    for number, limit in enumerate((None, len(content))):
        kept = keep_printed(tmp_path / "said", tmp_path / f"{number}", PLAIN, limit)

        assert kept == (digest_of_bytes(content), 0)
        assert content == (tmp_path / f"{number}").read_bytes()


def test_of_what_is_longer_the_beginning_and_the_end_are_kept(tmp_path: Path) -> None:
    """With a line between them that says how much is missing; cut at ends of lines."""
    lines = [b"line %07d\n" % number for number in range(400_000)]
    (tmp_path / "said").write_bytes(b"".join(lines))
    kept = keep_printed(tmp_path / "said", tmp_path / "kept", PLAIN, 2 * LEAST_KEPT)
    assert kept is not None
    content = (tmp_path / "kept").read_bytes()
    head, mark, tail = re.split(rb"\n\[proctor: ([0-9,]+) bytes are left out here\]\n", content)

    assert kept.digest == digest_of_bytes(content)
    assert kept.left_out == int(mark.replace(b",", b""))
    assert len(head) + len(tail) + kept.left_out == sum(map(len, lines))
    assert b"".join(lines).startswith(head)
    assert b"".join(lines).endswith(tail)
    assert (head[-1:], tail[:5]) == (b"\n", b"line ")
    assert 1.5 * LEAST_KEPT < len(content) < 3 * LEAST_KEPT


def test_a_terabyte_with_a_hole_takes_no_time(tmp_path: Path) -> None:
    """Its beginning and its end are read, and nothing between them."""
    with (tmp_path / "said").open("wb") as said:
        said.write(b"begin\n")
        said.truncate(1 << 40)
        said.seek(0, os.SEEK_END)
        said.write(b"\nend\n")
    kept = keep_printed(tmp_path / "said", tmp_path / "kept", PLAIN, 1 << 20)
    assert kept is not None
    content = (tmp_path / "kept").read_bytes()

    assert (b"begin\n", b"end\n") == (content[:6], content[-4:])
    assert kept.left_out > 1 << 39


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 3 * LEAST_KEPT), st.integers(0, 60))
def test_no_part_of_a_secret_is_kept_wherever_it_stands(
    tmp_path_factory: pytest.TempPathFactory, before: int, line: int
) -> None:
    """A line is never cut in two where it holds one."""
    folder = tmp_path_factory.mktemp("secret")
    filler = (b"x" * line + b"\n") * (before // (line + 1)) + b"hunter2hunter2\n"
    (folder / "said").write_bytes(filler + (b"y" * 80 + b"\n") * 40_000)
    keep_printed(folder / "said", folder / "kept", Redactor({"MY_TOKEN": "hunter2hunter2"}), 1)

    assert b"hunter" not in (folder / "kept").read_bytes()


def test_only_a_regular_file_with_something_in_it_is_kept(tmp_path: Path) -> None:
    """No link is followed, and no pipe waited for."""
    (tmp_path / "empty").touch()
    (tmp_path / "link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe")
    for name in ("empty", "link", "pipe", "missing"):
        assert keep_printed(tmp_path / name, tmp_path / "kept", PLAIN) is None
        assert keep_file(tmp_path / name, tmp_path / "kept", PLAIN) is None
    assert not (tmp_path / "kept").exists()
