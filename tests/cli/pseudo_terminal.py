"""A terminal for tests: a real pseudo-terminal with a program in it, and what would stand on its screen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from proctor.cli.board_lines import width_of

_ESCAPE = re.compile(r"\x1b\[(\??[0-9;]*)([A-Za-z])")


class PseudoTerminal:
    """A program that believes a person looks on."""

    def __init__(
        self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], *, columns: int = 80, lines: int = 24
    ) -> None:
        self._screen, theirs = pty.openpty()
        self.columns, self.lines = columns, lines
        self.resize(columns, lines)
        self.process = subprocess.Popen(
            argv, cwd=cwd, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        self.raw = ""

    def resize(self, columns: int, lines: int) -> None:
        """Another size from now on; the program is told by the system."""
        self.columns, self.lines = columns, lines
        fcntl.ioctl(self._screen, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self, seconds: float) -> None:
        """Take what is written in this time."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            ready, _, _ = select.select([self._screen], [], [], left)
            if ready:
                try:
                    content = os.read(self._screen, 65536)
                except OSError:  # the program has gone
                    return
                if not content:
                    return
                self.raw += content.decode("utf-8", "replace")

    def until(self, condition: Callable[[list[str]], bool], seconds: float = 60) -> list[str]:
        """The screen as soon as the condition holds for it."""
        until = time.monotonic() + seconds
        while not condition(shown := self.shown()):
            assert time.monotonic() < until, "\n".join(shown)
            self.read(0.1)
        return shown

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self, seconds: float = 60) -> int:
        """Wait for the end of the program, and return its exit code."""
        until = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < until, self.raw
            self.read(0.1)
        self.read(0.2)
        os.close(self._screen)
        return self.process.returncode

    def shown(self) -> list[str]:
        """What stands on an endless screen of this width, line by line; blank lines at its end left out."""
        return shown(self.raw, self.columns)


def shown(raw: str, columns: int) -> list[str]:
    """The screen that some output makes: line feeds, returns, cursor up, and clearing are understood, and no more."""
    screen: list[str] = [""]
    row = column = at = 0
    while at < len(raw):
        if found := _ESCAPE.match(raw, at):
            at = found.end()
            count = int(found[1] or 0) if found[1].isdigit() or not found[1] else 0
            if found[2] == "A":
                row = max(0, row - (count or 1))
            elif found[2] == "J":
                del screen[row + 1 :]
                screen[row] = screen[row][:column]
            elif found[2] == "K":
                screen[row] = ""
            else:
                raise AssertionError(f"a sequence that is not understood: {found[0]!r}")
            continue
        char = raw[at]
        at += 1
        if char == "\r":
            column = 0
        elif char == "\n":
            row += 1
            column = 0
        else:
            assert char.isprintable(), f"a control character: {char!r}"
            if width_of(screen[row][:column] + char) > columns:
                row, column = row + 1, 0
            while row >= len(screen):
                screen.append("")
            line = screen[row].ljust(column)
            screen[row] = line[:column] + char + line[column + 1 :]
            column += 1
        while row >= len(screen):
            screen.append("")
    while screen and not screen[-1].strip():
        screen.pop()
    return [line.rstrip() for line in screen]
