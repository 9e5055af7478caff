"""A group on disk: the folder that one `proctor run` writes its run directories into."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from proctor.errors import StoreError, UsageError
from proctor.host.tree import move_tree
from proctor.ports import Place
from proctor.records.json_value import digest_of_bytes
from proctor.records.run import GROUP_SCHEMA, AttemptRow, GradersRef, GroupPlan, RunFacts
from proctor.stores.rundir import FACTS, GRADERS, INLINE_OUTPUT_BYTES, OUTPUT, STDERR, STDOUT, WORKDIR, RunDir

PLAN: Final = "group.json"
ATTEMPTS: Final = "attempts.jsonl"
STAGING: Final = ".staging"
STORE: Final = ".store"

_read_plan: Final = msgspec.json.Decoder(GroupPlan)


class GroupDir:
    """A group folder. Run directories appear in it whole, by a rename out of `.staging`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._attempts_lock = threading.Lock()

    @classmethod
    def create(cls, path: Path) -> GroupDir:
        """A new group; the folder may exist as long as no run is in it.

        Raises:
            UsageError: it holds runs or a plan already, or it cannot be made.
        """
        try:
            taken = path.exists() and ((path / PLAN).exists() or any(True for _ in run_dirs(path)))
            if taken:
                raise UsageError(
                    f"the group {str(path)!r} already holds runs",
                    fix="Name another folder with --out; runs that are finished are never written over.",
                )
            (path / STAGING).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"the group {str(path)!r} cannot be made: {error.strerror}",
                fix="Name another folder with --out.",
            ) from error
        return cls(path)

    def write_plan(self, plan: GroupPlan) -> None:
        """Write `group.json`, before the first agent starts."""
        temporary = self.path / STAGING / PLAN
        temporary.write_bytes(msgspec.json.format(msgspec.json.encode(plan), indent=1) + b"\n")
        temporary.replace(self.path / PLAN)

    def plan(self) -> GroupPlan | None:
        """What was set out to do; None for a folder that holds runs but was not written by `proctor run`.

        Raises:
            StoreError: `group.json` is not readable.
        """
        path = self.path / PLAN
        try:
            plan = _read_plan.decode(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            raise StoreError(
                f"the plan of the group cannot be read: {error}", where=str(path), fix="Restore the file."
            ) from error
        if plan.schema != GROUP_SCHEMA:
            raise StoreError(
                f"the plan is of format {plan.schema!r}; this proctor reads {GROUP_SCHEMA!r}",
                where=str(path),
                fix="Use the version of proctor that wrote it, or a newer one.",
            )
        return plan

    def keep_graders(self, ref: GradersRef, archive: bytes) -> None:
        """Keep grading code once for all runs of the group; each run gets a hard link to it."""
        if digest_of_bytes(archive) != ref.digest:
            raise ValueError("the archive does not have the digest that it is to be kept under")
        (self.path / STORE).mkdir(exist_ok=True)
        kept = self.path / STORE / ref.archive_name
        temporary = self.path / STAGING / ref.archive_name
        temporary.write_bytes(archive)
        temporary.replace(kept)

    def log_attempt(self, row: AttemptRow) -> None:
        """Append one row to `attempts.jsonl`."""
        line = msgspec.json.encode(row) + b"\n"
        with self._attempts_lock, (self.path / ATTEMPTS).open("ab", buffering=0) as log:
            log.write(line)

    def publish(self, run_dir: str, facts: RunFacts, place: Place) -> RunDir:
        """Make a finished run appear: its files are put together in `.staging`, then renamed into the group.

        Raises:
            StoreError: it cannot be written, or a run of that name is there.
        """
        staged = self.path / STAGING / run_dir
        final = self.path / run_dir
        try:
            shutil.rmtree(staged, ignore_errors=True)
            staged.mkdir()
            left_out = move_tree(place.workdir, staged / WORKDIR)
            if left_out:
                note = f"not kept from the workdir: {', '.join(sorted(left_out)[:20])}"
                facts = msgspec.structs.replace(facts, notes=(*facts.notes, note))
            _keep_stream(place.stdout, staged / STDOUT)
            _keep_stream(place.stderr, staged / STDERR)
            if facts.graders is not None:
                (staged / GRADERS).mkdir()
                _link_or_copy(self.path / STORE / facts.graders.archive_name, staged / GRADERS)
            facts = _with_output_aside(facts, staged)
            (staged / FACTS).write_bytes(msgspec.json.format(msgspec.json.encode(facts), indent=1) + b"\n")
            if final.exists():
                raise StoreError(
                    f"a run named {run_dir!r} is there already", where=str(final), fix="Use a new group."
                )
            staged.rename(final)
        except OSError as error:
            raise StoreError(
                f"the run cannot be recorded: {error.strerror or error}",
                where=str(final),
                fix="Make room on the disk, or make the group folder writable.",
            ) from error
        return RunDir(final)

    def finish(self) -> None:
        """Take the staging folder away when nothing is left in it."""
        shutil.rmtree(self.path / STAGING, ignore_errors=True)

    def runs(self) -> Iterator[RunDir]:
        """The run directories of the group, by name."""
        return run_dirs(self.path)


def run_dirs(group: Path) -> Iterator[RunDir]:
    """The run directories directly in a folder, by name."""
    with os.scandir(group) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir() and not entry.name.startswith("."))
    for name in names:
        if (group / name / FACTS).is_file():
            yield RunDir(group / name)


def _keep_stream(source: Path, target: Path) -> None:
    """Move what was printed into the run; a stream without a byte leaves no file."""
    try:
        found = source.lstat()
    except FileNotFoundError:
        return
    # An agent can put anything in the stream's place; only a regular file is what it printed.
    if stat.S_ISREG(found.st_mode) and found.st_size:
        try:
            source.rename(target)
        except OSError:
            shutil.copyfile(source, target, follow_symlinks=False)


def _link_or_copy(source: Path, folder: Path) -> None:
    target = folder / source.name
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _with_output_aside(facts: RunFacts, staged: Path) -> RunFacts:
    encoded = msgspec.json.encode(facts.output)
    if len(encoded) <= INLINE_OUTPUT_BYTES:
        return facts
    (staged / OUTPUT).write_bytes(encoded)
    return msgspec.structs.replace(facts, output=None, output_file=OUTPUT)
