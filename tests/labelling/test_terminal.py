"""The command in a real terminal: from the first key to a sign-off, a kill, and going on."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from pathlib import Path

import pytest

from tests.labelling.builders import rows_of

PATIENCE_S = 60.0


class Terminal:
    """A terminal of 80 by 24 in which `proctor label` runs."""

    def __init__(self, root: Path, **environment: str) -> None:
        self.seen = b""
        words = [
            sys.executable,
            "-m",
            "proctor",
            "label",
            "group",
            "--checklist",
            "good.json",
            "--annotator",
            "ada",
        ]
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            os.chdir(root)
            os.execve(sys.executable, words, {**os.environ, "TERM": "xterm-256color", **environment})
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def wait_for(self, wanted: bytes) -> None:
        """Read until a text was printed since the last key."""
        until = time.monotonic() + PATIENCE_S
        while wanted not in self.seen:
            assert time.monotonic() < until, self.seen[-2000:]
            if select.select([self._master], [], [], 0.5)[0]:
                self.seen += os.read(self._master, 1 << 16)

    def press(self, keys: bytes) -> None:
        self.seen = b""
        os.write(self._master, keys)

    def end(self) -> int:
        """The exit code; what was printed until then is read, or the process waits for ever."""
        until = time.monotonic() + PATIENCE_S
        while True:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                break
            assert time.monotonic() < until
            if select.select([self._master], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self._master, 1 << 16)
                except OSError:
                    continue
        while select.select([self._master], [], [], 0)[0]:
            try:
                part = os.read(self._master, 1 << 16)
            except OSError:
                break
            if not part:
                break
            self.seen += part
        os.close(self._master)
        return os.waitstatus_to_exitcode(status)


def test_a_session_from_the_first_key_to_a_kill_to_going_on(group: Path, checklist: Path) -> None:
    first = Terminal(group.parent)
    first.wait_for(b"0/3 labelled")
    first.press(b"yn")
    first.press(b"\r")
    first.wait_for(b"1/3 labelled")
    first.press(b"y")
    first.wait_for(b"[yes]")
    os.kill(first.pid, signal.SIGKILL)
    assert -signal.SIGKILL == first.end()
    assert 1 == len(rows_of(group / "a"))
    second = Terminal(group.parent, NO_COLOR="1")
    second.wait_for(b"1/3 labelled")
    second.wait_for(b"[yes]")
    second.wait_for(b"2 of 3  b")
    second.press(b"n\r")
    second.wait_for(b"2/3 labelled")
    second.press(b"q")

    assert 0 == second.end()
    assert b"2 of 3 runs labelled by ada, 1 left" in second.seen
    assert [1, 1, 0] == [len(rows_of(group / name)) for name in "abc"]


@pytest.mark.parametrize("kind", ["dumb", "unknown"])
def test_a_terminal_that_moves_no_cursor_is_told_of_sheets(group: Path, checklist: Path, kind: str) -> None:
    terminal = Terminal(group.parent, TERM=kind)

    assert 1 == terminal.end()
    assert b"--export FILE" in terminal.seen
