"""The processes that outcome scripts run in: one for each language, kept for many calls, apart from the worker.

Where the system has bubblewrap, such a process sees everything read-only, save a folder of its own for what is
temporary. Where it has not, each call is given a private copy of the workdir.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, Literal

from proctor.host import procfs
from proctor.host.interpreter import python_command
from proctor.host.limited import own_address_space
from proctor.host.readonly import read_only
from proctor.host.tree import remove_tree
from proctor.records.grade import Defect

START_S: Final = 60.0
"""How long a process may take until it is ready."""

HEAP_MIB: Final = 4096
"""What JavaScript may use: Python has the limit of its worker, which Node's way of reserving memory would break."""

LARGEST_ANSWER: Final = 1 << 20
NODE_FOLDER: Final = Path(__file__).parent / "node"

Language = Literal["python", "javascript"]


class ScriptFailure(Exception):
    """A grading script gave no outcome.

    Attributes:
        defect: what happened, for the script's author.
    """

    def __init__(self, defect: Defect) -> None:
        super().__init__(defect.message)
        self.defect = defect


class ScriptTimeout(Exception):
    """A grading script took too long, and its process was ended."""


class ScriptHost:
    """One process that calls scripts of one language.

    Args:
        language: of the scripts.
        environment: what it is started with.
        cwd: where it stands.

    Attributes:
        sees_read_only: what it is given need not be copied.
        calls: how often it was asked.

    Raises:
        ScriptFailure: it cannot be started.
    """

    def __init__(self, language: Language, environment: Mapping[str, str], cwd: Path) -> None:
        self._folder = Path(mkdtemp(prefix="proctor-script-")).resolve()
        self._buffer = bytearray()
        self.calls, self._is_over = 0, False
        self._channel, theirs = socket.socketpair()
        given = {
            **environment,
            "TMPDIR": str(self._folder),
            "TEMP": str(self._folder),
            "TMP": str(self._folder),
        }
        with theirs:
            argv = _command(language, given, theirs.fileno())
            confined = read_only(argv, given, writable=[self._folder])
            self.sees_read_only = confined is not None
            try:
                with own_address_space() if language == "javascript" else nullcontext():
                    self._process = subprocess.Popen(
                        confined or argv,
                        cwd=cwd,
                        env=given,
                        stdin=subprocess.DEVNULL,
                        pass_fds=[theirs.fileno()],
                    )
            except OSError as error:
                self._channel.close()
                remove_tree(self._folder)
                raise ScriptFailure(
                    Defect(type="NotStarted", message=f"{argv[0]} could not be started: {error.strerror}")
                ) from error
        try:
            self._answer(START_S)
        except (ScriptFailure, ScriptTimeout) as error:
            self.end()
            raise ScriptFailure(
                Defect(type="NotStarted", message=f"the process for {language} scripts did not get ready")
            ) from error

    @property
    def is_alive(self) -> bool:
        """False when it has ended."""
        return not self._is_over and self._process.poll() is None

    def call(self, question: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        """Ask, and return the answer.

        Raises:
            ScriptFailure: the script raised, broke its contract, or ended the process.
            ScriptTimeout: there is no answer within `timeout_s`; the process is ended.
        """
        self.calls += 1
        self._channel.setblocking(True)
        message = {**question, "cache": str(self._folder)}
        with suppress(OSError):  # one that is gone is found out by its silence
            self._channel.sendall(json.dumps(message).encode() + b"\n")
        answer = self._answer(timeout_s)
        if answer.get("last"):
            self.end()
        failed = answer.get("failed")
        if failed is not None:
            raise ScriptFailure(_defect(failed))
        return answer

    def end(self) -> None:
        """End the process, and whatever it started. A second call does nothing."""
        if self._is_over:
            return
        self._is_over = True
        if self._process.poll() is None:
            procfs.end_subtree(self._process.pid)
            self._process.kill()
            self._process.wait()
        self._channel.close()
        remove_tree(self._folder)

    def _answer(self, timeout_s: float) -> dict[str, Any]:
        deadline = time.monotonic() + timeout_s
        waiting = select.poll()
        waiting.register(self._channel, select.POLLIN)
        while (end := self._buffer.find(b"\n")) < 0:
            left = deadline - time.monotonic()
            if left <= 0 or not waiting.poll(left * 1000):
                self.end()
                raise ScriptTimeout
            with suppress(OSError):
                if received := self._channel.recv(1 << 16):
                    self._buffer += received
                    if len(self._buffer) <= LARGEST_ANSWER:
                        continue
            self.end()
            raise ScriptFailure(
                Defect(type="Ended", message="the script ended its own process, or was killed")
            )
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return json.loads(line)


class _Hosts:
    """The hosts of this process, each started when it is first needed."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._running: dict[tuple[Language, str], ScriptHost] = {}

    def host(self, language: Language, environment: Mapping[str, str], cwd: Path) -> ScriptHost:
        if self._process != os.getpid():  # a fork must not talk over its parent's channel
            self.__init__()
        running = self._running.get((language, str(cwd)))
        if running is None or not running.is_alive:
            if running is not None:
                running.end()
            running = self._running[language, str(cwd)] = ScriptHost(language, environment, cwd)
        return running


HOSTS: Final = _Hosts()
"""Those of this process, which scripts of one grading module share."""


def _command(language: Language, environment: Mapping[str, str], channel: int) -> Sequence[str]:
    if language == "python":
        folders = [folder for folder in sys.path if folder]
        return python_command("proctor.graders.python_scripts:serve", str(channel), json.dumps(folders))
    node = shutil.which("node", path=environment.get("PATH", os.defpath))
    if node is None:
        message = (
            "there is no program `node`, which runs grading scripts in JavaScript and TypeScript; "
            "install Node.js 18 or later, and see that it is in PATH"
        )
        raise ScriptFailure(Defect(type="NoNode", message=message))
    return [node, f"--max-old-space-size={HEAP_MIB}", str(NODE_FOLDER / "host.mjs"), str(channel)]


def _defect(failed: Mapping[str, Any]) -> Defect:
    message, missing = str(failed["message"]), str(failed.get("missing") or "")
    if missing:
        message += f"; {_how_to_get(missing)}"
    return Defect(type=str(failed["type"]), message=message, stack=str(failed.get("stack") or ""))


def _how_to_get(missing: str) -> str:
    """What to do about a module that is not there."""
    if missing.startswith((".", "/")):
        return "a file of your own is stored with the script when a static relative import names it"
    parts = missing.split("/")
    package = "/".join(parts[:2]) if missing.startswith("@") else parts[0]
    return f"install it where you grade: npm install {package}"
