"""A small process that outlives a killed proctor just long enough to end what that has left running.

It holds a pipe from proctor and looks at nothing else until proctor is gone, by SIGKILL for example. The pipe
says what runs: it is read now and then, so that a trial costs no switch to another process. Whoever closes a
run normally ends the reaper, too. Linux only.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress

from proctor.host.escapees import HOUSEHOLD

_WAIT_FOR_ROOM_S = 1.0
_PIPE_BYTES = 1 << 20
_SET_PIPE_SIZE = 1031

_START = (
    "import sys; sys.path.append(sys.argv[1]); from proctor.host.reaper_process import watch; "
    "watch(int(sys.argv[2]))"
)


class Reaper:
    """The process, as proctor sees it. What it is told is lost where it does not listen; nobody waits for it.

    Raises:
        OSError: it could not be started.
    """

    def __init__(self) -> None:
        reader, self._writer = os.pipe()
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120
        try:
            os.set_blocking(self._writer, False)
            with suppress(OSError):
                import fcntl

                fcntl.fcntl(self._writer, _SET_PIPE_SIZE, _PIPE_BYTES)
            # Isolated, without site-packages and without our environment: it starts in a third of the time.
            self._pid = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", "-c", _START, root, str(os.getpid())],
                {},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, reader, 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
                setsid=True,
                setsigmask=[signal.SIGINT, signal.SIGTERM, signal.SIGHUP],
            )
        except BaseException:
            os.close(self._writer)
            raise
        finally:
            os.close(reader)
        self._listens = True

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._pid

    def begin(self, mark: str) -> None:
        """Something with this mark is about to start."""
        self._say(f"+{mark}\n")

    def started(self, mark: str, pid: int) -> None:
        """It has started, and leads a session and a process group."""
        self._say(f"={mark} {pid}\n")

    def end(self, mark: str) -> None:
        """It is gone."""
        self._say(f"-{mark}\n")

    def close(self) -> None:
        """End it: there is nothing left that it is to end."""
        self._listens = False
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)
        os.close(self._writer)

    def _say(self, line: str) -> None:
        if not self._listens:
            return
        try:
            os.write(self._writer, line.encode())
        except BlockingIOError:
            poller = select.poll()
            poller.register(self._writer, select.POLLOUT)
            if poller.poll(int(_WAIT_FOR_ROOM_S * 1000)):
                self._say(line)
            else:
                # It must not act on half of what happened.
                self._listens = False
                with suppress(ProcessLookupError):
                    os.kill(self._pid, signal.SIGKILL)
        except OSError:
            self._listens = False


@contextmanager
def reaper_watching() -> Generator[None]:
    """While this lasts, what is started here ends also when this process is killed. Nested, the first one watches."""
    reaper: Reaper | None = None
    if sys.platform == "linux" and not HOUSEHOLD.is_watched:
        with suppress(OSError):
            reaper = Reaper()
    if reaper is None:
        yield
        return
    HOUSEHOLD.spare(reaper.pid)
    HOUSEHOLD.tell(reaper)
    try:
        yield
    finally:
        HOUSEHOLD.tell(None)
        reaper.close()
