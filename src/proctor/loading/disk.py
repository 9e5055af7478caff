"""Asking what stands at a path that somebody wrote: an answer in every case, never an exception."""

from __future__ import annotations

from pathlib import Path


def is_folder(path: Path) -> bool:
    """True when there is a folder, or a link to one."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_file(path: Path) -> bool:
    """True when there is a regular file, or a link to one."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_there(path: Path) -> bool:
    """True when there is anything, a link that leads nowhere included."""
    try:
        return path.exists() or path.is_symlink()
    except (OSError, ValueError):
        return False


def real(path: Path) -> Path:
    """The path without links; itself where they lead in a circle or cannot be followed."""
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        return path


def is_within(path: Path, folder: Path) -> bool:
    """True when a path, its links followed, is the folder or lies below it."""
    return real(path).is_relative_to(real(folder))


def names_in(folder: Path) -> list[str]:
    """The names in a folder, sorted; none when it cannot be read."""
    try:
        return sorted(entry.name for entry in folder.iterdir())
    except (OSError, ValueError):
        return []
