"""The difference between the files that a workdir started with and those that were found in it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from proctor.host.seed import SeedEntry, SeedPlan
from proctor.records.changes import Changes, FileChange
from proctor.records.json_value import storable
from proctor.stores.manifest import FileEntry, Manifest

_REPOSITORY: Final = ".git"


def changes_of(manifest: Manifest, plan: SeedPlan | None, workdir: Path) -> Changes:
    """What is in the manifest of a workdir and not in its fixture, the other way round, and what is not the same.

    Args:
        manifest: what the workdir holds.
        plan: what it started with; None for nothing.
        workdir: where it lies, for files that are too large for the manifest to know their content.
    """
    before = {storable(entry.path): entry for entry in plan.entries} if plan is not None else {}
    left_out = plan is not None and plan.git
    now = {
        entry.path: entry for entry in manifest.entries if not (left_out and _is_in_repository(entry.path))
    }
    added: list[FileChange] = []
    changed: list[FileChange] = []
    for path, entry in now.items():
        old = before.get(path)
        if old is None:
            added.append(FileChange(path=path, kind=entry.kind, after=entry.digest, size=entry.size))
        elif (change := _difference(old, entry, workdir, plan)) is not None:
            changed.append(change)
    return Changes(
        added=tuple(sorted(added)), changed=tuple(sorted(changed)), removed=tuple(_removed(before, now))
    )


def _difference(old: SeedEntry, new: FileEntry, workdir: Path, plan: SeedPlan | None) -> FileChange | None:
    what: list[str] = []
    after = new.digest
    if _kind(old) != new.kind:
        what.append("kind")
    elif new.kind == "link":
        if old.link != new.link:
            what.append("link")
    elif new.kind == "file":
        if after is None and plan is not None:
            after = _digest_of(workdir / new.path, plan.source / old.path)
        if old.is_executable != new.executable:
            what.append("executable")
    before = _digest(old)
    if not what and before == after:
        return None
    return FileChange(
        path=new.path, kind=new.kind, before=before, after=after, size=new.size, what=tuple(what)
    )


def _removed(before: Mapping[str, SeedEntry], now: Mapping[str, FileEntry]) -> list[FileChange]:
    # A manifest lists a folder only when it is empty: one that something lies in is there as well. And of a folder
    # that is gone with what lay in it, it is enough to name that.
    there = {*now, *(folder for path in now for folder in _folders_of(path))}
    held = {folder for path in before for folder in _folders_of(path)}
    return sorted(
        FileChange(path=path, kind=_kind(entry), before=_digest(entry))
        for path, entry in before.items()
        if path not in there and path not in held
    )


def _folders_of(path: str) -> Iterator[str]:
    """The folders that a path lies in: `a/b` and `a` for `a/b/c`."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _is_in_repository(path: str) -> bool:
    return path == _REPOSITORY or path.startswith(f"{_REPOSITORY}/")


def _kind(entry: SeedEntry) -> str:
    if entry.link is not None:
        return "link"
    return "folder" if entry.digest is None else "file"


def _digest(entry: SeedEntry) -> str | None:
    return None if entry.digest is None else f"sha256:{entry.digest}"


def _digest_of(path: Path, original: Path) -> str | None:
    """Of a file that was too large, or could not be read, for the manifest; only where it may be what it was."""
    try:
        if path.stat().st_size != original.stat().st_size:
            return None
        with path.open("rb") as content:
            return "sha256:" + hashlib.file_digest(content, "sha256").hexdigest()
    except OSError:
        return None
