"""Progress of long work, on standard error: a line that repaints on a terminal, a line a minute when piped."""

from __future__ import annotations

import shutil
import threading
import time
from typing import TextIO

from proctor.cli.output import clean, seconds, shorten

PIPED_EVERY_S = 60.0
PAINTED_EVERY_S = 0.1


class Progress:
    """Counts finished pieces of work; says nothing until there is something to say. Safe for several threads."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._lock = threading.Lock()
        self._started = self._said = time.monotonic()
        self._painted = False
        self._verb, self._total, self._done = "", 0, 0

    def begin(self, verb: str, total: int) -> None:
        """Start counting to `total`."""
        with self._lock:
            self._verb, self._total, self._done = verb, total, 0
            self._started = self._said = time.monotonic()

    def step(self, latest: str) -> None:
        """One more piece is finished; `latest` says which."""
        with self._lock:
            self._done += 1
            now = time.monotonic()
            every = PAINTED_EVERY_S if self._is_terminal else PIPED_EVERY_S
            if now - self._said < every:
                return
            self._said = now
            self._write(
                f"{self._verb} {self._done}/{self._total}  {seconds(now - self._started)}  {clean(latest)}"
            )

    def note(self, line: str) -> None:
        """A line that stays."""
        with self._lock:
            self._wipe()
            self._stream.write(line + "\n")
            self._stream.flush()

    def end(self) -> None:
        """Take the moving line away."""
        with self._lock:
            self._wipe()

    def _write(self, line: str) -> None:
        if self._is_terminal:
            width = shutil.get_terminal_size().columns
            self._stream.write("\r\x1b[2K" + shorten(line, width - 1))
            self._painted = True
        else:
            self._stream.write(line + "\n")
        self._stream.flush()

    def _wipe(self) -> None:
        if self._painted:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
            self._painted = False
