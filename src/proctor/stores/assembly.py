"""Putting a run directory together in staging, so that it can appear whole."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import msgspec

from proctor.core.redaction import Redactor
from proctor.host.seed import SeedPlan
from proctor.host.tree import move_tree
from proctor.ports import Place
from proctor.records.json_value import digest_of_bytes, storable
from proctor.records.run import RunFacts
from proctor.stores.manifest import MANIFEST, list_workdir
from proctor.stores.rundir import FACTS, GRADERS, INLINE_OUTPUT_BYTES, INPUTS, OUTPUT, STDERR, STDOUT, WORKDIR

_PIECE: Final = 1 << 20
_MOST_NAMED: Final = 20
_LONGEST_NAME: Final = 200


class KeptTree(NamedTuple):
    """Files that many runs share: where they are kept, and which they are."""

    folder: Path
    plan: SeedPlan


def assemble(
    staged: Path,
    facts: RunFacts,
    place: Place,
    redactor: Redactor,
    *,
    graders: Path | None = None,
    inputs: Mapping[str, KeptTree] | None = None,
    more: Mapping[str, Path] | None = None,
) -> bytes:
    """Fill a new folder with a run, and return its `run.json`.

    Args:
        staged: a folder that does not exist yet.
        facts: of the run; the digests of the files that are written here are added.
        place: what the agent left; its workdir is moved, not copied, where that can be.
        redactor: takes secrets out of what was printed.
        graders: the stored grading code, which the run gets a link to.
        inputs: shared files that the run gets links to, by the name that they have in `inputs`.
        more: further files that are kept as what was printed is, by the name that they get.

    Raises:
        OSError: something cannot be written.
    """
    staged.mkdir()
    left_out = move_tree(place.workdir, staged / WORKDIR) if facts.workdir else []
    if left_out:
        note = f"not kept from the workdir: {', '.join(map(_shown, sorted(left_out)[:_MOST_NAMED]))}"
        if len(left_out) > _MOST_NAMED:
            note += f", and {len(left_out) - _MOST_NAMED} more"
        facts = msgspec.structs.replace(facts, notes=(*facts.notes, note))
    files: dict[str, str] = {}
    for name, source in {STDOUT: place.stdout, STDERR: place.stderr, **(more or {})}.items():
        digest = _keep_stream(source, staged / name, redactor)
        if digest is not None:
            files[name] = digest
    manifest = list_workdir(staged / WORKDIR) if facts.workdir else None
    if manifest is not None and manifest.entries:
        files[MANIFEST] = _write(staged / MANIFEST, msgspec.json.encode(manifest) + b"\n")
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


def _keep_stream(source: Path, target: Path, redactor: Redactor) -> str | None:
    """Keep what was printed, without secrets, and return its digest; nothing for a stream without a byte."""
    try:
        found = source.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    # An agent can put anything in the stream's place; only a regular file is what it printed.
    if not stat.S_ISREG(found.st_mode) or not found.st_size:
        return None
    digest = hashlib.sha256()
    with source.open("rb") as printed, target.open("wb") as kept:
        for piece in _pieces(printed):
            clean = redactor.content(piece)
            digest.update(clean)
            kept.write(clean)
    return f"sha256:{digest.hexdigest()}"


def _pieces(printed: BinaryIO) -> Iterator[bytes]:
    """A stream in pieces that end with a line where they can, so that no secret is cut in two."""
    while piece := printed.read(_PIECE):
        yield piece + printed.readline(_PIECE)


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
