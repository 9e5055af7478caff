"""One person's draft in one group, and the way of a signed-off row into its run: exactly once, whatever is killed."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import msgspec

from proctor.errors import StoreError
from proctor.host.durable import sync
from proctor.records.label import DRAFT_SCHEMA, Draft, DraftEntry, Pending
from proctor.stores.checklists import CHECKLISTS, IMPORTS, ChecklistStore, DraftFile
from proctor.stores.discover import find_run
from proctor.stores.rundir import RunDir


class Desk:
    """Where one person works on one checklist in one group. It is held until it is closed.

    Opening delivers what an earlier session had signed off and could not deliver.

    Args:
        group: the folder that holds the runs.
        checklist: id of the lineage.
        annotator: whose draft it is.

    Raises:
        StoreError: the same person has it open in another process, or it cannot be read or written.
    """

    def __init__(self, group: Path, checklist: str, annotator: str) -> None:
        store = ChecklistStore(group)
        path = store.draft_path(checklist, annotator)
        self.group = group
        self.warnings: list[str] = []
        self._stack = ExitStack()
        lock = path.relative_to(group / CHECKLISTS).with_suffix("").as_posix()
        self._stack.enter_context(store.locked(lock, wait=False, who=annotator))
        try:
            self._file = DraftFile(path)
            self.draft = self._file.read() or Draft(
                schema=DRAFT_SCHEMA, checklist=checklist, annotator=annotator
            )
            self._deliver()
        except BaseException:
            self.close()
            raise

    def entry(self, run: str) -> DraftEntry:
        """What is not signed off of a run."""
        return self.draft.entries.get(run, DraftEntry())

    def keep(self, run: str, entry: DraftEntry, *, current: str, at: str) -> None:
        """Save what is not signed off of a run, at which run the person is, and since when.

        Raises:
            StoreError: it cannot be written.
        """
        entries = {**self.draft.entries, run: entry}
        if entry == DraftEntry():
            del entries[run]
        self.save(entries=entries, current=current, at=at)

    def save(self, **changes: object) -> None:
        """Save the draft with these fields changed.

        Raises:
            StoreError: it cannot be written.
        """
        draft = msgspec.structs.replace(self.draft, **changes)
        if draft != self.draft:
            self._file.write(draft)
            self.draft = draft

    def sign(self, pending: Pending) -> None:
        """Append a row to its run: first into the draft, as one that is on its way, then where it belongs.

        Raises:
            StoreError: it cannot be written; what is in the draft is delivered when it is opened again.
        """
        entries = {run: entry for run, entry in self.draft.entries.items() if run != pending.row.run}
        self.save(pending=(*self.draft.pending, pending), entries=entries)
        self._deliver()

    def _deliver(self) -> None:
        left = deliver(self.draft.pending, self.group)
        for one in left:
            self.warnings.append(
                f"what was signed off of {one.run_dir} waits in the draft: that run is not there, or is another one"
            )
        if self.draft.pending != left:
            self.save(pending=left)

    def close(self) -> None:
        """Give it free."""
        self._stack.close()


def deliver(pending: tuple[Pending, ...], group: Path) -> tuple[Pending, ...]:
    """Append rows that are on their way to their runs, each once, and have them on the disk; those left over.

    Raises:
        StoreError: one cannot be written, or names a revision that is not there.
    """
    left: list[Pending] = []
    store = ChecklistStore(group)
    for one in pending:
        run = _run_of(group / one.run_dir, one.row.run)
        if run is None:
            left.append(one)
            continue
        row = one.row
        if not any(row.hash == revision.hash for revision in store.revisions(row.checklist)):
            raise StoreError(
                f"version {row.version} of the checklist is not in the group",
                where=str(group / CHECKLISTS / row.checklist),
                fix="Restore the file: a label names the revision that it answers.",
            )
        run.append_once(row)
        sync(run.path)
    return tuple(left)


def finish_imports(group: Path) -> bool:
    """Append what is left of an import that was killed; False when there is nothing.

    Raises:
        StoreError: it cannot be written.
    """
    store = ChecklistStore(group)
    file = DraftFile(store.path / f"{IMPORTS}.json")
    if not file.path.exists():
        return False
    with store.locked(IMPORTS):
        draft = file.read()
        if draft is None:
            return False
        left = deliver(draft.pending, group)
        if left:
            file.write(msgspec.structs.replace(draft, pending=left))
        else:
            file.remove()
        return left != draft.pending


def begin_import(group: Path, pending: tuple[Pending, ...]) -> None:
    """Keep the rows of an import, so that either none or all of them will be there.

    Raises:
        StoreError: it cannot be written.
    """
    store = ChecklistStore(group)
    with store.locked(IMPORTS):
        DraftFile(store.path / f"{IMPORTS}.json").write(
            Draft(schema=DRAFT_SCHEMA, checklist="", annotator="", pending=pending)
        )


def _run_of(path: Path, run: str) -> RunDir | None:
    """The run directory at a path when it holds this run."""
    try:
        found = find_run(path)
        return found if found.facts().run == run else None
    except StoreError:
        return None
