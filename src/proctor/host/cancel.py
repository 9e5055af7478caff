"""The operator's wish that everything ends, as a file descriptor that `poll` can wait on."""

from __future__ import annotations

import os
import sys
from contextlib import suppress


class Cancel:
    """A flag that is set once and never cleared; its descriptor is readable from then on.

    `set` may be called from any thread and from a signal handler, any number of times. Threads that wait must
    have ended before `close`.
    """

    def __init__(self) -> None:
        self._is_set = False
        if sys.platform == "linux":
            self._reader = self._writer = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        else:
            self._reader, self._writer = os.pipe()
            os.set_blocking(self._writer, False)

    def fileno(self) -> int:
        """A file descriptor that becomes readable when the flag is set, and is never read."""
        return self._reader

    @property
    def is_set(self) -> bool:
        """True once the operator has asked."""
        return self._is_set

    def set(self) -> None:
        """Ask everything to end."""
        if self._is_set:
            return
        self._is_set = True
        # A second writer that slipped past the test above may find a full counter: readable already.
        with suppress(BlockingIOError):
            os.write(self._writer, (1).to_bytes(8, sys.byteorder))

    def close(self) -> None:
        """Give the descriptor back; a second call does nothing."""
        if self._reader < 0:
            return
        reader, writer, self._reader, self._writer, self._is_set = self._reader, self._writer, -1, -1, True
        os.close(reader)
        if writer != reader:
            os.close(writer)
