"""Opening a checklist's file with the groups that it is for: ids, revisions, and the file kept in step."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from proctor.core.checklists import Opening, reconcile
from proctor.errors import UsageError
from proctor.loading.checklist_writing import check_can_write, write_definition
from proctor.loading.checklists import read_definition, refused
from proctor.records.checklist import Checklist
from proctor.stores.checklists import ChecklistStore

_LETTERS: Final = "0123456789abcdefghjkmnpqrstuvwxyz"


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """A checklist that was opened.

    Attributes:
        revision: the one in force.
        openings: what each group's opening came to, in the order of the groups.
    """

    revision: Checklist
    openings: tuple[Opening, ...]


def new_id(beginning: str) -> str:
    """A new id: what it begins with, and ten characters."""
    return beginning + "".join(secrets.choice(_LETTERS) for _ in range(10))


def open_checklist(
    file: Path, groups: Sequence[Path], *, now: str, make_id: Callable[[str], str] = new_id
) -> Opened:
    """Hold a checklist's file against each group, publish what is new, and keep the file in step.

    Immutable revision first, then the file: whenever the machine stops, opening again goes on.

    Raises:
        UsageError: the file is not usable, or a group refused it; nothing was changed in that one.
        StoreError: something cannot be read or written.
    """
    with exclusively(file):
        definition = read_definition(file)
        stores = [ChecklistStore(group) for group in groups]
        if definition.checklist is not None:
            # First the groups that know it: they can tell what an edit was made from.
            stores.sort(key=lambda store: not store.revisions(definition.checklist or ""))
        openings: list[Opening] = []
        revision: Checklist | None = None
        for store in stores:
            definition = read_definition(file)
            known = store.revisions(definition.checklist) if definition.checklist else ()
            found = reconcile(definition, known, now=now, new_id=make_id)
            if found.revision is None:
                raise refused(file, found.refusals)
            revision = found.revision
            if found.opening != "current":
                check_can_write(file)
            if found.opening == "publish":
                store.publish(revision)
            if found.opening != "current":
                write_definition(file, revision)
            openings.append(found.opening)
    if revision is None:
        raise UsageError("no group is named", fix="Name run directories or groups.")
    return Opened(revision=revision, openings=tuple(openings))


def publish_everywhere(file: Path, groups: Sequence[Path], revision: Checklist) -> None:
    """Publish a revision in each group, then write it into the file.

    Raises:
        StoreError: another revision took its place meanwhile, or something cannot be written.
    """
    with exclusively(file):
        for group in groups:
            ChecklistStore(group).publish(revision)
        write_definition(file, revision)


@contextmanager
def exclusively(file: Path) -> Generator[None]:
    """Nobody else opens the checklist meanwhile. The lock is on the file, which is another one once it was replaced."""
    while True:
        try:
            descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            yield  # reading the file will say so
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(descriptor), file.stat()):
                yield
                return
        finally:
            os.close(descriptor)
