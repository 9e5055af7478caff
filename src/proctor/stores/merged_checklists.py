"""The checklists of several groups in one: revisions, drafts of people at work, and samples that were drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from proctor.errors import UsageError
from proctor.records.checklist import Checklist
from proctor.records.label import Draft, DraftEntry
from proctor.stores.checklists import DRAFTS, IMPORTS, ChecklistStore, DraftFile


def merge_checklists(groups: Sequence[Path], target: Path) -> None:
    """Write into the group `target` what the checklists of `groups` hold.

    A revision that several have is there once, and names the one before it. What one person has not signed off in
    several groups is put together, since it is kept by run.

    Raises:
        UsageError: a revision, or what is not signed off of one run, is not the same in two of them.
        StoreError: something cannot be read or written.
    """
    stores = [store for group in groups if (store := ChecklistStore(group)).path.is_dir()]
    into = ChecklistStore(target)
    for lineage in sorted({name for store in stores for name in _lineages(store)}):
        before: int | None = None
        for version, revision in sorted(_revisions(lineage, stores).items()):
            into.publish(msgspec.structs.replace(revision, parent=before))
            before = version
        for store in stores:
            for sample in store.samples(lineage):
                into.keep_sample(sample)
    for name, drafts in _drafts(stores).items():
        DraftFile(into.path / name).write(_joined(drafts))


def _lineages(store: ChecklistStore) -> Iterator[str]:
    return (folder.name for folder in store.path.glob("cl_*") if folder.is_dir())


def _revisions(lineage: str, stores: Sequence[ChecklistStore]) -> Mapping[int, Checklist]:
    found: dict[int, tuple[Checklist, ChecklistStore]] = {}
    for store in stores:
        for revision in store.revisions(lineage):
            first, where = found.setdefault(revision.version, (revision, store))
            if first.hash != revision.hash:
                raise UsageError(
                    f"version {revision.version} of the checklist {revision.name!r} is not the same in "
                    f"{str(where.path)!r} and in {str(store.path)!r}",
                    fix="It was edited in both: take one of the versions back, and label its runs again.",
                )
    return {version: revision for version, (revision, _) in found.items()}


def _drafts(stores: Sequence[ChecklistStore]) -> Mapping[str, list[tuple[Path, Draft]]]:
    """The drafts of all groups, by the file that they are kept in."""
    found: dict[str, list[tuple[Path, Draft]]] = {}
    for store in stores:
        files = [*sorted(store.path.glob(f"*/{DRAFTS}/*.json")), store.path / f"{IMPORTS}.json"]
        for path in files:
            draft = DraftFile(path).read()
            if draft is not None:
                found.setdefault(path.relative_to(store.path).as_posix(), []).append((path, draft))
    return found


def _joined(drafts: Sequence[tuple[Path, Draft]]) -> Draft:
    entries: dict[str, tuple[DraftEntry, Path]] = {}
    for path, draft in drafts:
        for run, entry in draft.entries.items():
            first, where = entries.setdefault(run, (entry, path))
            if first != entry:
                raise _two_drafts(f"what is not signed off of the run {run}", where, path)
    staged = [(path, draft.staged) for path, draft in drafts if draft.staged]
    for path, questions in staged[1:]:
        if questions != staged[0][1]:
            raise _two_drafts("what was changed of the checklist and is not published", staged[0][0], path)
    latest = max((draft for _, draft in drafts), key=lambda draft: draft.at)
    return msgspec.structs.replace(
        latest,
        entries={run: entry for run, (entry, _) in entries.items()},
        staged=staged[0][1] if staged else (),
        pending=tuple({one.row.id: one for _, draft in drafts for one in draft.pending}.values()),
    )


def _two_drafts(what: str, one: Path, other: Path) -> UsageError:
    return UsageError(
        f"{what} is not the same in {str(one)!r} and in {str(other)!r}",
        fix="Open one of the groups with `proctor label`, and sign off what is there.",
    )
