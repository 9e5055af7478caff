"""The folder `checklists` of a group: published revisions, drafts of people at work, and the samples that were drawn.

    checklists/<lineage>/1.json, 2.json ...   revisions; never changed
    checklists/<lineage>/drafts/<key>.json    what one person has not signed off
    checklists/<lineage>/samples/<id>.json    random samples; never changed
    checklists/imports.json                   rows of an import that are on their way

Locks are the system's, and die with their process; the files that carry them mean nothing else.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from proctor.core.checklists import by_lineage
from proctor.errors import StoreError
from proctor.records.checklist import CHECKLIST_SCHEMA, Checklist
from proctor.records.json_value import digest_of
from proctor.records.label import DRAFT_SCHEMA, SAMPLE_SCHEMA, Draft, Sample

CHECKLISTS: Final = "checklists"
DRAFTS: Final = "drafts"
SAMPLES: Final = "samples"
IMPORTS: Final = "imports"

Stored = TypeVar("Stored", Checklist, Draft, Sample)

_MAKE_ROOM: Final = "Make room on the disk, or make the group folder writable; what was signed off is kept."


class ChecklistStore:
    """The checklists of one group.

    Args:
        group: the folder that holds the runs.
    """

    def __init__(self, group: Path) -> None:
        self.path = group / CHECKLISTS

    def revisions(self, checklist: str) -> tuple[Checklist, ...]:
        """The published revisions of a lineage, oldest first; none where there is no such lineage.

        Raises:
            StoreError: one of them is not what was published, or one is missing.
        """
        folder = self.path / checklist
        numbers = sorted(int(path.stem) for path in folder.glob("*.json") if path.stem.isdecimal())
        found: list[Checklist] = []
        for number in numbers:
            path = folder / f"{number}.json"
            revision = _read(path, Checklist, CHECKLIST_SCHEMA)
            assert revision is not None
            before = found[-1].version if found else None
            is_in_line = before is None or revision.parent == before
            if (revision.checklist, revision.version) != (checklist, number) or not revision.has_true_hash:
                raise _not_as_published(path, "the revision is not as it was published")
            if not is_in_line:
                raise _not_as_published(path, f"the revision before it, {revision.parent}, is missing")
            found.append(revision)
        return tuple(found)

    def current(self) -> Mapping[str, Checklist]:
        """The revision in force of every lineage; one that cannot be read is left out."""
        found: list[Checklist] = []
        with suppress(OSError):
            for folder in sorted(self.path.iterdir()):
                if folder.name.startswith("cl_") and folder.is_dir():
                    with suppress(StoreError):
                        found += self.revisions(folder.name)[-1:]
        return by_lineage(found)

    def publish(self, revision: Checklist) -> None:
        """Make a revision appear, unless it is there.

        Raises:
            StoreError: another revision took its place meanwhile, or it cannot be written.
        """
        folder = self.path / revision.checklist
        with self.locked(f"{revision.checklist}/publish"):
            there = self.revisions(revision.checklist)
            if any(one.hash == revision.hash for one in there):
                return
            if (there[-1].version if there else None) != revision.parent:
                raise StoreError(
                    f"version {there[-1].version if there else 'none'} of the checklist was published meanwhile",
                    where=str(folder),
                    fix="Open it again: what you changed is kept, and is put on top of that version.",
                )
            _write(folder / f"{revision.version}.json", revision)

    def samples(self, checklist: str) -> tuple[Sample, ...]:
        """The random samples that were drawn for a checklist, oldest first.

        Raises:
            StoreError: one of them cannot be read.
        """
        found = [
            sample
            for path in sorted((self.path / checklist / SAMPLES).glob("*.json"))
            if (sample := _read(path, Sample, SAMPLE_SCHEMA)) is not None
        ]
        return tuple(sorted(found, key=lambda sample: sample.at))

    def keep_sample(self, sample: Sample) -> None:
        """Keep a sample that was drawn.

        Raises:
            StoreError: it cannot be written.
        """
        path = self.path / sample.checklist / SAMPLES / f"{sample.id}.json"
        if not path.exists():
            _write(path, sample)

    def draft_path(self, checklist: str, annotator: str) -> Path:
        """Where one person's draft lies; names of people may hold what names of files may not."""
        key = digest_of({"checklist": checklist, "annotator": annotator}).removeprefix("sha256:")[:20]
        return self.path / checklist / DRAFTS / f"{key}.json"

    @contextmanager
    def locked(self, name: str, *, wait: bool = True, who: str = "") -> Generator[None]:
        """Hold a lock of the group.

        Args:
            name: of the lock, below the folder of checklists.
            wait: False to be refused while somebody else holds it.
            who: holds it, for the message.

        Raises:
            StoreError: it is held, or cannot be made.
        """
        path = self.path / f"{name}.lock"
        with _writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError as error:
                raise StoreError(
                    f"{who or 'another process'} is labelling with this checklist in another window",
                    where=str(path),
                    fix="Quit there first, or label under another name: --annotator NAME.",
                ) from error
            yield
        finally:
            os.close(descriptor)


class DraftFile:
    """One draft on disk.

    Args:
        path: where it lies.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Draft | None:
        """What was saved; None when nothing was.

        Raises:
            StoreError: it is there, and not readable.
        """
        return _read(self.path, Draft, DRAFT_SCHEMA)

    def write(self, draft: Draft) -> None:
        """Save it: the old one or the new one is there, whenever the machine stops.

        Raises:
            StoreError: it cannot be written.
        """
        _write(self.path, draft)

    def remove(self) -> None:
        """Take it away.

        Raises:
            StoreError: it cannot be.
        """
        with _writing(self.path):
            self.path.unlink(missing_ok=True)


def _read(path: Path, kind: type[Stored], schema: str) -> Stored | None:
    try:
        found = msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StoreError(
            f"it cannot be read: {error}", where=str(path), fix="Restore the file, or remove it."
        ) from error
    if found.schema != schema:
        raise StoreError(
            f"it is of format {found.schema!r}; this proctor reads {schema!r}",
            where=str(path),
            fix="Use the version of proctor that wrote it, or a newer one.",
        )
    return found


def _write(path: Path, record: Any) -> None:
    """Write a file that appears whole, and is on the disk when this returns."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            block = msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"
            while block:
                block = block[os.write(descriptor, block) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(path)
        folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def _writing(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"it cannot be written: {error.strerror or error}", where=str(path), fix=_MAKE_ROOM
        ) from error


def _not_as_published(path: Path, what: str) -> StoreError:
    return StoreError(
        what, where=str(path), fix="Restore the file: revisions are never changed, and labels name them."
    )
