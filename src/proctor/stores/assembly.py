"""Putting a run directory together in staging, so that it can appear whole."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from proctor.core.redaction import Redactor
from proctor.core.sizes import size_text
from proctor.host.seed import SeedPlan
from proctor.host.tree import move_tree
from proctor.ports import Place
from proctor.records.json_value import digest_of_bytes, storable
from proctor.records.run import RunFacts
from proctor.stores.changes import changes_of
from proctor.stores.manifest import MANIFEST, list_workdir
from proctor.stores.printed import keep_file, keep_printed
from proctor.stores.rundir import (
    CHANGES,
    FACTS,
    GRADERS,
    INLINE_OUTPUT_BYTES,
    INPUTS,
    OUTPUT,
    STDERR,
    STDOUT,
    WORKDIR,
)

_MOST_NAMED: Final = 20
_LONGEST_NAME: Final = 200


class KeptTree(NamedTuple):
    """Files that many runs share: where they are kept, and which they are."""

    folder: Path
    plan: SeedPlan


def assemble(
    staged: Path,
    facts: RunFacts,
    place: Place | None,
    redactor: Redactor,
    *,
    graders: Path | None = None,
    inputs: Mapping[str, KeptTree] | None = None,
    more: Mapping[str, Path] | None = None,
    seeded: Sequence[SeedPlan] | None = None,
) -> bytes:
    """Fill a new folder with a run, and return its `run.json`.

    Args:
        staged: a folder that does not exist yet.
        facts: of the run; the digests of the files that are written here are added.
        place: what the agent left; its workdir is moved, not copied, where that can be. None for nothing.
        redactor: takes secrets out of what was printed.
        graders: the stored grading code, which the run gets a link to.
        inputs: shared files that the run gets links to, by the name that they have in `inputs`.
        more: further files that are kept whole and without secrets, by the name that they get.
        seeded: what the workdir started with, to say what was changed in it; None where nobody knows.

    Raises:
        OSError: something cannot be written.
    """
    staged.mkdir()
    left_out = move_tree(place.workdir, staged / WORKDIR) if place is not None and facts.workdir else []
    if left_out:
        note = f"not kept from the workdir: {', '.join(map(_shown, sorted(left_out)[:_MOST_NAMED]))}"
        if len(left_out) > _MOST_NAMED:
            note += f", and {len(left_out) - _MOST_NAMED} more"
        facts = msgspec.structs.replace(facts, notes=(*facts.notes, note))
    files: dict[str, str] = {}
    streams = {} if place is None else {STDOUT: place.stdout, STDERR: place.stderr}
    for name, source in streams.items():
        printed = keep_printed(source, staged / name, redactor, facts.limits.output_bytes)
        if printed is None:
            continue
        files[name] = printed.digest
        if printed.left_out:
            note = (
                f"{name} holds the beginning and the end of what was printed; "
                f"{size_text(printed.left_out)} between them are left out"
            )
            facts = msgspec.structs.replace(facts, notes=(*facts.notes, note))
    for name, source in (more or {}).items():
        digest = keep_file(source, staged / name, redactor)
        if digest is not None:
            files[name] = digest
    manifest = list_workdir(staged / WORKDIR) if facts.workdir else None
    if manifest is not None and manifest.entries:
        files[MANIFEST] = _write(staged / MANIFEST, msgspec.json.encode(manifest) + b"\n")
    if manifest is not None and seeded is not None:
        changes = changes_of(manifest, seeded[0] if seeded else None, staged / WORKDIR)
        facts = msgspec.structs.replace(facts, has_changes=True)
        if changes:
            files[CHANGES] = _write(staged / CHANGES, msgspec.json.encode(changes) + b"\n")
    if graders is not None:
        (staged / GRADERS).mkdir()
        _link_or_copy(graders, staged / GRADERS)
    if inputs:
        (staged / INPUTS).mkdir()
        for name, kept in inputs.items():
            _link_tree(kept, staged / INPUTS / name)
    output = msgspec.json.encode(facts.output)
    if len(output) > INLINE_OUTPUT_BYTES:
        files[OUTPUT] = _write(staged / OUTPUT, output)
        facts = msgspec.structs.replace(facts, output=None, output_file=OUTPUT)
    content = (
        msgspec.json.format(msgspec.json.encode(msgspec.structs.replace(facts, files=files)), indent=1)
        + b"\n"
    )
    (staged / FACTS).write_bytes(content)
    return content


def _shown(left_out: str) -> str:
    text = storable(left_out)
    return text if len(text) <= _LONGEST_NAME else f"…{text[-_LONGEST_NAME:]}"


def _write(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return digest_of_bytes(content)


def _link_tree(kept: KeptTree, target: Path) -> None:
    target.mkdir()
    for entry in kept.plan.entries:
        if entry.link is not None:
            (target / entry.path).symlink_to(entry.link)
        elif entry.digest is None:
            (target / entry.path).mkdir()
        else:
            _link_or_copy(kept.folder / entry.path, (target / entry.path).parent)


def _link_or_copy(source: Path, folder: Path) -> None:
    try:
        os.link(source, folder / source.name)
    except OSError:
        shutil.copy(source, folder)
