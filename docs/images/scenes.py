"""What is shown in the pictures: commands over the small suite in `receipts/`, typed into a real terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from docs.images.terminal_pictures import Screen, wrapped
from proctor.host.isolation import isolate

RECEIPTS = Path(__file__).parent / "receipts"
TERMINAL = (40, 120)
"""Lines and columns of the terminal that the commands are typed into."""
LONGEST_S = 120.0
_OLD = "proctor run clerk.py:last_amount --suite suite.yaml --out runs/old --grade"
_NEW = "proctor run clerk.py:after_total --suite suite.yaml --out runs/new --grade"
_THREE = "proctor run clerk.py:after_total --suite suite.yaml --tags three --out runs/three"


class Scene(NamedTuple):
    """A picture of a terminal.

    Attributes:
        before: commands that come before, and are not seen.
        seen: the commands that are seen.
        columns: how wide the picture is.
        is_enough: when the last of them has shown what is to be seen; None for when it has ended.
    """

    before: tuple[str, ...]
    seen: tuple[str, ...]
    columns: int
    is_enough: Callable[[list[str]], bool] | None = None


def _is_half_done(lines: list[str]) -> bool:
    found = re.search(r"^(\d+)/16 done, 4 running", "\n".join(lines), re.MULTILINE)
    return found is not None and int(found[1]) >= 6 and sum("word " in line for line in lines) == 4


SCENES: Mapping[str, Scene] = {
    "grade": Scene((_THREE,), ("proctor grade runs/three",), 92),
    "compare": Scene((_OLD, _NEW), ("proctor compare runs/old runs/new",), 120),
    "board": Scene(
        (),
        ("proctor run clerk.py:slow --suite suite.yaml --trials 2 -n 4 --out runs/slow",),
        92,
        _is_half_done,
    ),
}


def lines_of(scene: Scene, folder: Path) -> list[str]:
    """What a terminal shows: the commands that are typed, each with what it prints, in a project in `folder`."""
    shutil.copytree(RECEIPTS, folder, dirs_exist_ok=True)
    for command in scene.before:
        subprocess.run(
            command.split(), cwd=folder, env=_environment(folder), capture_output=True, check=False
        )
    lines: list[str] = []
    for command in scene.seen:
        lines += [f"$ {command}", *_printed(command, folder, scene.is_enough)]
    return wrapped(lines, scene.columns)


def _printed(command: str, folder: Path, is_enough: Callable[[list[str]], bool] | None) -> list[str]:
    """What one command shows on a terminal; it is interrupted once that is enough."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *TERMINAL, 0, 0))
    child = subprocess.Popen(
        command.split(), cwd=folder, env=_environment(folder), stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    screen, until = Screen(), time.monotonic() + LONGEST_S
    kept: list[str] | None = None
    try:
        while time.monotonic() < until:
            if not select.select([ours], [], [], 1.0)[0]:
                continue
            try:
                data = os.read(ours, 65536)
            except OSError:
                # The other side is closed.
                break
            if not data:
                break
            screen.write(data.decode("utf-8", "replace"))
            if kept is None and is_enough is not None and is_enough(screen.lines):
                kept = screen.lines
                child.send_signal(signal.SIGINT)
        child.wait(timeout=LONGEST_S)
    finally:
        child.kill()
        os.close(ours)
    if is_enough is not None and kept is None:
        raise RuntimeError(f"{command} has never shown what is wanted:\n" + "\n".join(screen.lines))
    return kept or screen.lines


def _environment(home: Path) -> dict[str, str]:
    """That of a reader without settings, whose home is the project."""
    return dict(isolate(os.environ).environment) | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "HOME": str(home),
        "TERM": "xterm",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
