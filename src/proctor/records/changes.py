"""What an agent did to the files that it was given."""

from __future__ import annotations

import msgspec

CHANGES_SCHEMA = "proctor.changes/1"


class FileChange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, order=True):
    """One file, link or empty folder that is not as it was.

    Attributes:
        path: relative to the workdir, with slashes.
        kind: what it is now, or was where it is gone: `file`, `link` or `folder`.
        before: digest of its content as it was, `sha256:...`; None for what is no file, or was not there.
        after: digest of its content as it is; None for what is no file, is gone, or could not be read.
        size: of the file as it is, in bytes.
        what: which of its other properties changed: `executable`, `link`, `kind`; empty where it is the content.
    """

    path: str
    kind: str = "file"
    before: str | None = None
    after: str | None = None
    size: int | None = None
    what: tuple[str, ...] = ()


class Changes(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`changes.json`: the workdir as the agent left it, against the files that it started with.

    A repository that proctor itself made of those files is no part of it.

    Attributes:
        added: what was not there.
        changed: what was there, and is another now.
        removed: what was there, and is not any more.
    """

    schema: str = CHANGES_SCHEMA
    added: tuple[FileChange, ...] = ()
    changed: tuple[FileChange, ...] = ()
    removed: tuple[FileChange, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that was added, changed or removed, sorted."""
        return tuple(sorted(change.path for change in (*self.added, *self.changed, *self.removed)))

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)
