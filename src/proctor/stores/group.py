"""A group on disk: the folder that one `proctor run` writes its run directories into."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from proctor.core.redaction import Redactor
from proctor.errors import StoreError, UsageError
from proctor.host.durable import sync
from proctor.host.seed import SeedPlan, seed
from proctor.host.tree import remove_tree
from proctor.ports import Place
from proctor.records.json_value import digest_of_bytes, storable
from proctor.records.run import GROUP_SCHEMA, AttemptRow, GradersRef, GroupPlan, RunFacts
from proctor.stores import rows
from proctor.stores.assembly import KeptTree, assemble
from proctor.stores.locks import locked
from proctor.stores.rundir import FACTS, RunDir

PLAN: Final = "group.json"
ATTEMPTS: Final = "attempts.jsonl"
STAGING: Final = ".staging"
STORE: Final = ".store"

_MAKE_ROOM: Final = "Make room on the disk, or make the group folder writable."

_read_plan: Final = msgspec.json.Decoder(GroupPlan)
_read_attempt: Final = msgspec.json.Decoder(AttemptRow)


class GroupDir:
    """A group folder. Run directories appear in it whole, by a rename out of `.staging`.

    Args:
        path: the folder.
        writer: name of this process among those that write into the group together; it has a folder of its own in
            `.staging`. Empty for the only one.

    Attributes:
        warnings: what a killed process had left behind, a sentence each.
    """

    def __init__(self, path: Path, *, writer: str = "") -> None:
        self.path = path
        self.warnings: list[str] = []
        self._staging = path / STAGING / writer
        self._held: list[int] = []
        self._attempts_lock = threading.Lock()

    @classmethod
    def create(cls, path: Path) -> GroupDir:
        """A new group; the folder may exist as long as no run is in it. It is ours until `finish`.

        Raises:
            UsageError: it holds runs or a plan already, or it cannot be made.
            StoreError: another process is writing into it.
        """
        try:
            taken = path.exists() and ((path / PLAN).exists() or any(True for _ in run_dirs(path)))
            if taken:
                raise UsageError(
                    f"the group {str(path)!r} already holds runs",
                    fix="Name another folder with --out, or go on with this one by --resume; runs that are "
                    "finished are never written over.",
                )
            (path / STAGING).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"the group {str(path)!r} cannot be made: {error.strerror}",
                fix="Name another folder with --out.",
            ) from error
        group = cls(path)
        group.claim()
        return group

    @classmethod
    def reopen(cls, path: Path) -> GroupDir:
        """A group that an earlier run has begun, to go on with. It is ours until `finish`.

        What a killed process had not put together is taken away: it never was a run. A run that it had, and could
        not note the end of, gets its row.

        Raises:
            UsageError: there is no such folder.
            StoreError: another process is writing into it, or it cannot be written.
        """
        if not path.is_dir():
            raise UsageError(
                f"there is no group {str(path)!r} to resume",
                fix="Name the folder that an earlier run wrote, with --out.",
            )
        group = cls(path)
        group.claim()
        try:
            with group._writing("the group cannot be gone on with"):
                remove_tree(path / STAGING)
                (path / STAGING).mkdir()
            group._note_ends()
        except BaseException:
            group._release()
            raise
        return group

    @classmethod
    def join(cls, path: Path, plan: GroupPlan, *, writer: str) -> GroupDir:
        """A new group that several processes write into together; each has it until its own `finish`.

        Whoever comes first writes the plan, which all of them have made in the same way. What they leave in
        `.staging` is taken away by whoever opens the group again.

        Raises:
            UsageError: it holds runs, or another plan, or it cannot be made.
            StoreError: a process that is none of them is writing into it.
        """
        group = cls(path, writer=writer)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"the group {str(path)!r} cannot be made: {error.strerror}",
                fix="Name another folder for it.",
            ) from error
        group.claim(is_shared=True)
        try:
            there = group.plan()
            if there != plan and (there is not None or any(True for _ in run_dirs(path))):
                raise UsageError(
                    f"the group {str(path)!r} already holds runs",
                    fix="Name another folder for it; runs that are finished are never written over.",
                )
            with group._writing("the group cannot be written"):
                group._staging.mkdir(parents=True, exist_ok=True)
                # Several have the group at once, and so may those who only read it; by this it is known who writes.
                group._held.append(locked(group._staging, fcntl.LOCK_EX))
            if there is None:
                group.write_plan(plan)
        except BaseException:
            group._release()
            raise
        return group

    def claim(self, *, is_shared: bool = False) -> None:
        """Take the group's lock, which dies with this process.

        is_shared: others that say so too may have it at the same time.

        Raises:
            StoreError: another process holds it, or the folder cannot be opened.
        """
        with self._writing("the group cannot be opened"):
            self._held.append(locked(self.path, fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX))

    def _release(self) -> None:
        while self._held:
            os.close(self._held.pop())

    def write_plan(self, plan: GroupPlan) -> None:
        """Write `group.json`, before the first agent starts.

        Raises:
            StoreError: it cannot be written.
        """
        temporary = self._staging / PLAN
        with self._writing("the plan of the group cannot be written"):
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
        """Keep grading code once for all runs of the group; each run gets a hard link to it.

        Raises:
            StoreError: it cannot be written.
        """
        if digest_of_bytes(archive) != ref.digest:
            raise ValueError("the archive does not have the digest that it is to be kept under")
        kept = self.path / STORE / ref.archive_name
        temporary = self._staging / ref.archive_name
        with self._writing("the graders cannot be kept"):
            kept.parent.mkdir(exist_ok=True)
            temporary.write_bytes(archive)
            temporary.replace(kept)

    def keep_tree(self, plan: SeedPlan) -> None:
        """Keep a folder of files once for all runs of the group; each run gets hard links to them.

        Raises:
            SuiteError: a file is no longer what it was when the folder was planned.
            StoreError: it cannot be written.
        """
        kept = self._kept(plan)
        if kept.exists():
            return
        temporary = self._staging / kept.name
        with self._writing("the files of a test cannot be kept"):
            kept.parent.mkdir(exist_ok=True)
            temporary.mkdir()
            seed(msgspec.structs.replace(plan, git=False), temporary)
            for entry in plan.entries:
                if entry.digest is not None:
                    # They are shared: whoever writes to one would write to those of all runs.
                    (temporary / entry.path).chmod(0o555 if entry.is_executable else 0o444)
            try:
                temporary.rename(kept)
            except OSError:
                # Another process that writes into the group was faster; its copy has the same digest.
                if not kept.exists():
                    raise
                remove_tree(temporary)

    def _kept(self, plan: SeedPlan) -> Path:
        return self.path / STORE / plan.digest.removeprefix("sha256:")

    def log_attempt(self, row: AttemptRow) -> None:
        """Append one row to `attempts.jsonl`.

        Raises:
            StoreError: it cannot be written.
        """
        with self._attempts_lock:
            torn = rows.append(os.fspath(self.path / ATTEMPTS), msgspec.json.encode(row) + b"\n")
        if torn:
            self.warnings.append(
                f"{storable(str(self.path))}: a row that was never finished ({len(torn)} bytes) "
                f"is set aside in {ATTEMPTS}.torn"
            )

    def attempts(self) -> Iterator[AttemptRow]:
        """The rows of `attempts.jsonl`; those that cannot be read are left out.

        Raises:
            StoreError: the file cannot be read.
        """
        for line in rows.lines(os.fspath(self.path / ATTEMPTS)):
            with suppress(msgspec.DecodeError):
                yield _read_attempt.decode(line)

    def publish(
        self,
        run_dir: str,
        facts: RunFacts,
        place: Place | None,
        *,
        redactor: Redactor,
        inputs: Mapping[str, SeedPlan] | None = None,
        more: Mapping[str, Path] | None = None,
        seeded: Sequence[SeedPlan] | None = None,
    ) -> str:
        """Make a finished run appear: its files are put together in `.staging`, then renamed into the group.

        Args:
            run_dir: name of the run directory.
            facts: of the run.
            place: what the agent left; None for nothing.
            redactor: takes secrets out of what was printed.
            inputs: the kept folders that the run gets links to, by the name that they have in `inputs`.
            more: further files that are kept whole and without secrets, by the name that they get.
            seeded: what the workdir started with, to say what was changed in it; None where nobody knows.

        Returns:
            The digest of its `run.json`.

        Raises:
            StoreError: it cannot be written, or a run of that name is there.
        """
        staged = self._staging / run_dir
        final = self.path / run_dir
        try:
            remove_tree(staged)
            content = assemble(
                staged,
                facts,
                place,
                redactor,
                graders=self.path / STORE / facts.graders.archive_name if facts.graders else None,
                inputs={name: KeptTree(self._kept(plan), plan) for name, plan in (inputs or {}).items()},
                more=more,
                seeded=seeded,
            )
            if final.exists():
                raise StoreError(
                    f"a run named {run_dir!r} is there already", where=str(final), fix="Use a new group."
                )
            staged.rename(final)
        except OSError as error:
            # On a full disk, the others need the room that this one has taken.
            remove_tree(staged)
            raise StoreError(
                f"the run cannot be recorded: {error.strerror or error}",
                where=str(final),
                fix=_MAKE_ROOM,
            ) from error
        return digest_of_bytes(content)

    def _note_ends(self) -> None:
        """Append the row that is missing when a process was killed between a run's appearance and its row."""
        started: dict[str, AttemptRow] = {}
        for row in self.attempts():
            if row.event == "started":
                started[row.run_dir] = row
            else:
                started.pop(row.run_dir, None)
        for name, row in started.items():
            with suppress(StoreError, OSError):
                run = RunDir(self.path / name)
                facts, content = run.facts(), (run.path / FACTS).read_bytes()
                self.log_attempt(
                    msgspec.structs.replace(
                        row,
                        event="ended",
                        at=facts.ended_at,
                        ending=facts.ending,
                        facts=digest_of_bytes(content),
                    )
                )

    @contextmanager
    def _writing(self, what: str) -> Generator[None]:
        """Say `what` when the system refuses."""
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"{what}: {error.strerror or error}", where=str(self.path), fix=_MAKE_ROOM
            ) from error

    def finish(self, *, is_kept: bool = True) -> None:
        """Take the staging folder away, have everything on the disk, and give the group free.

        is_kept: False for a group that will be taken away at once; it need not reach the disk.

        Raises:
            StoreError: the system could not write it.
        """
        try:
            remove_tree(self._staging)
            if is_kept:
                sync(self.path)
        finally:
            self._release()

    def runs(self) -> Iterator[RunDir]:
        """The run directories of the group, by name."""
        return run_dirs(self.path)


def run_dirs(group: Path) -> Iterator[RunDir]:
    """The run directories directly in a folder, by name."""
    with os.scandir(group) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir() and not entry.name.startswith("."))
    for name in names:
        if os.path.isfile(f"{group}/{name}/{FACTS}"):  # noqa: PTH113
            yield RunDir(f"{group}/{name}")
