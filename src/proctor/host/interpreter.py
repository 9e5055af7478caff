"""The command line of a fresh Python that runs one function of this very proctor."""

from __future__ import annotations

import sys
from pathlib import Path

# The folder goes last and only if it is missing, so that it can hide nothing; `-P` keeps the current
# folder out of the way.
_START = (
    "import sys; entry, root, *sys.argv[1:] = sys.argv[1:]; "
    "root in sys.path or sys.path.append(root); "
    "from importlib import import_module; module, _, name = entry.partition(':'); "
    "getattr(import_module(module), name)(*sys.argv[1:])"
)


def python_command(entry: str, *arguments: str) -> list[str]:
    """Arguments that make a new interpreter call `entry` ("package.module:function") with `arguments`."""
    root = str(Path(__file__).resolve().parents[2])
    return [sys.executable, "-P", "-c", _START, entry, root, *arguments]
