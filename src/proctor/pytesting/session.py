"""What one process evaluates while pytest runs: the options that were given, and the groups that are open."""

from __future__ import annotations

import hashlib
import uuid
from contextlib import chdir, suppress
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import pytest

from proctor import evaluation, wiring
from proctor.errors import ProctorError, UsageError
from proctor.loading import find_settings
from proctor.pytesting.evaluated import Evaluated
from proctor.pytesting.open_group import Asked, OpenGroup, Place
from proctor.pytesting.plugin import shared_of
from proctor.records.suite import Suite
from proctor.stores.group import GroupDir, run_dirs

_INCONCLUSIVE: Final = ("fail", "skip")
_LONGEST_SLUG: Final = 150
"""Bytes of what a folder's name ends in: most systems take 255 in all."""


class Session:
    """The evaluations of one process.

    Args:
        config: of pytest.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._open: dict[str, OpenGroup] = {}
        self._selected: dict[str, dict[str, None]] = {}
        self._suites: dict[tuple[str | None, Path], Suite] = {}

    def load(self, source: str | None, *, base: Path) -> Suite:
        """A suite, which is read once.

        Args:
            source: its path, relative to `base`; the one of the settings when None.
            base: a folder.

        Raises:
            ProctorError: as `evaluation.load_suite` says.
        """
        if (source, base) not in self._suites:
            try:
                with self._at_home():
                    self._suites[source, base] = evaluation.load_suite(source, base=base)
            except UsageError as error:
                if source is not None or error.what != "no suite is named":
                    raise
                raise UsageError(
                    error.what,
                    fix="Name one, as in --proctor evals/einstein, or set `suite` in [tool.proctor].",
                ) from None
        return self._suites[source, base]

    @property
    def trials(self) -> int | None:
        """Attempts at each test; None where nobody said."""
        return self._count("--proctor-trials")

    @property
    def parallel(self) -> int | None:
        """Trials of a test at once; None where nobody said."""
        return self._count("--proctor-parallel")

    @property
    def timeout_s(self) -> float | None:
        """Limit of one trial, in seconds; None where nobody said."""
        return self._number("--proctor-timeout", most=None)

    @property
    def min_pass_rate(self) -> float:
        """Share of a test's trials that must pass."""
        said = self._number("--proctor-min-pass-rate", most=1.0, ini="proctor_min_pass_rate")
        return 1.0 if said is None else said

    @property
    def inconclusive(self) -> Literal["fail", "skip"]:
        """What pytest makes of a test that neither passed nor failed."""
        said = self.said("--proctor-inconclusive", "proctor_inconclusive") or "fail"
        if said not in _INCONCLUSIVE:
            raise UsageError(f"--proctor-inconclusive is {said!r}", fix="Write fail or skip.")
        return "skip" if said == "skip" else "fail"

    def said(self, option: str, ini: str | None = None) -> str | None:
        """What the command line says, else the configuration of pytest; None for nothing."""
        value: str | None = self._config.getoption(option)
        if value is None and ini is not None:
            value = str(self._config.getini(ini)) or None
        return value

    def place(self, key: str = "") -> Place:
        """Where a group is written.

        key: what tells it from other groups of the same invocation; empty for that of `--proctor`.
        """
        shared = shared_of(self._config)
        named: str | None = self._config.getoption("--proctor-out")
        if named is not None:
            path = wiring.here() / named
        else:
            folder = find_settings(wiring.here()).path("out", base=wiring.here())
            assert folder is not None
            path = folder / shared["name"]
        if key:
            path = path.with_name(f"{path.name}-{_slug(key)}")
        group = shared["id"] if not key else uuid.uuid5(uuid.UUID(shared["id"]), key).hex
        given: dict[str, Any] = getattr(self._config, "workerinput", {})
        return Place(
            path=path,
            group=group,
            created_at=shared["at"],
            writer=str(given.get("workerid", "main")),
            writers=int(given.get("workercount", 1)),
        )

    def select(self, key: str, test: str) -> None:
        """Say that a test is selected, before the first of its group is evaluated."""
        self._selected.setdefault(key, {})[test] = None

    def selected(self, key: str, suite: Suite) -> Suite:
        """The tests of a suite that are selected."""
        chosen = self._selected.get(key, {})
        tests = tuple(entry for entry in suite.tests if entry.test.id in chosen)
        return msgspec.structs.replace(suite, tests=tests)

    def check_new(self) -> None:
        """Find out before the work whether the group of `--proctor` can be written.

        Raises:
            UsageError: it holds runs already.
        """
        path = self.place().path
        if path.is_dir() and (GroupDir(path).plan() is not None or any(True for _ in run_dirs(path))):
            raise UsageError(
                f"the group {str(path)!r} already holds runs",
                fix="Name another folder with --proctor-out; runs that are finished are never written over.",
            )

    def begin(self, key: str, asked: Asked) -> None:
        """Begin the group of a key.

        Raises:
            ProctorError: what is asked for cannot be evaluated.
        """
        with self._at_home():
            self._open[key] = OpenGroup(asked, self.place(key))

    def is_open(self, key: str) -> bool:
        """True when the group of a key was begun."""
        return key in self._open

    def evaluate(self, key: str, test: str) -> Evaluated:
        """Run and grade a test of the group of a key, which was begun.

        Raises:
            ProctorError: as `OpenGroup.evaluate` says.
        """
        with self._at_home():
            return self._open[key].evaluate(test)

    def _at_home(self) -> chdir[Path]:
        """In the folder that pytest was started in: paths are relative to it, wherever a test has gone meanwhile."""
        return chdir(self._config.invocation_params.dir)

    def begun(self) -> list[str]:
        """The folders of the groups that this process has begun, or one of its workers for `--proctor`."""
        found = [str(group.path) for group in self._open.values()]
        if self._config.getoption("--proctor") is not None and "" not in self._open:
            place = self.place()
            with suppress(ProctorError):
                plan = GroupDir(place.path).plan()
                found += [str(place.path)] if plan is not None and plan.group == place.group else []
        return found

    def close(self) -> None:
        """Close every group."""
        for group in self._open.values():
            with suppress(ProctorError):  # a disk that takes nothing more has been told of by then
                group.close()

    def _count(self, option: str) -> int | None:
        said: str | None = self._config.getoption(option)
        if said is None:
            return None
        if not said.isdecimal() or not int(said):
            raise UsageError(f"{option} is {said!r}", fix="Write a whole number from 1.")
        return int(said)

    def _number(self, option: str, *, most: float | None, ini: str | None = None) -> float | None:
        said = self.said(option, ini)
        if said is None:
            return None
        try:
            value = float(said)
        except ValueError:
            value = -1.0
        if most is None and not 0 < value < float("inf"):
            raise UsageError(f"{option} is {said!r}", fix="Write a number of seconds above 0.")
        if most is not None and not 0 <= value <= most:
            raise UsageError(f"{option} is {said!r}", fix=f"Write a number from 0 to {most:g}.")
        return value


def tell(item: pytest.Item, evaluated: Evaluated) -> None:
    """Put what came of a test on its reports, and so into junitxml and before the controller of pytest-xdist."""
    objective = evaluated.objective
    item.user_properties += [
        ("proctor_group", str(evaluated.group)),
        ("proctor_outcome", evaluated.outcome.value),
        ("proctor_objective", "" if objective is None else f"{objective:.3f}"),
    ]


def usage_error(error: ProctorError) -> pytest.UsageError:
    """What the user can mend, as pytest says it."""
    return pytest.UsageError(str(error))


def tidy(path: str) -> None:
    """Take away what a killed worker left half done in a group, and note the ends that it could not note."""
    with suppress(
        ProctorError
    ):  # a process that outlives us still writes; the next to open the group does this
        GroupDir.reopen(Path(path)).finish()


def _slug(key: str) -> str:
    """A key as a part of a folder's name: `tests/test_facts.py::test_ulm` becomes `tests-test_facts-test_ulm`.

    Of one that is too long, the beginning and a digest.
    """
    key = key.replace(".py::", "-").replace("::", "-")
    slug = "".join(char if char.isalnum() or char in "_-" else "-" for char in key).strip("-")
    if len(slug.encode()) <= _LONGEST_SLUG:
        return slug
    return f"{slug[:30]}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
