"""The agents that come with a suite: its own solutions, right and wrong, and the one that does nothing."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from proctor.agents.process import run_process
from proctor.errors import AgentError, Fault
from proctor.host.place import private_folder
from proctor.ports import Cancel, Place, Surroundings
from proctor.records.json_value import digest_of, digest_of_bytes
from proctor.records.run import AgentIdentity, Attempt, Ending, Limits
from proctor.records.suite import Suite, Test

_SHELL = "/bin/sh"


class SolutionAgent:
    """Runs, for each test, a script that the suite has for it: `.py` by this Python, `.sh` by sh.

    A script is copied when the agent is prepared and runs from a copy of that, out of sight of the suite's folder. It
    stands in the workdir, has the variables that a command has, and gives its output as a command does.

    Args:
        scripts: by test id.
        label: how the agent is called.
    """

    def __init__(self, scripts: Mapping[str, Path], *, label: str = "solution") -> None:
        self._scripts = dict(scripts)
        self._label = label
        self._folder: Path | None = None
        self._copies: dict[str, Path] = {}
        self._digest: str | None = None

    @classmethod
    def of(cls, suite: Suite) -> SolutionAgent:
        """The solutions of a suite."""
        return cls({entry.test.id: entry.solution for entry in suite.tests if entry.solution is not None})

    @property
    def identity(self) -> AgentIdentity:
        """The digest is that of the scripts which were prepared."""
        return AgentIdentity(kind="solution", label=self._label, digest=self._digest)

    def prepare(self, tests: Sequence[Test], surroundings: Surroundings) -> None:
        """Copy the script of each test.

        Raises:
            AgentError: a test has none, or it cannot be read; every such test is named.
        """
        self.close()
        self._folder = private_folder("proctor-solution")
        faults: list[Fault] = []
        digests: dict[str, str] = {}
        for number, test in enumerate(tests):
            script = self._scripts.get(test.id)
            if script is None:
                what = f"test {test.id!r} has no solution"
                faults.append(
                    Fault(
                        what, "", "Put a solution.py or solution.sh beside its test.json, or select others."
                    )
                )
                continue
            try:
                content = script.read_bytes()
            except OSError as error:
                what = f"the solution of test {test.id!r} cannot be read: {error.strerror}"
                faults.append(Fault(what, str(script), "Make it readable."))
                continue
            copy = self._folder / str(number) / script.name
            copy.parent.mkdir()
            copy.write_bytes(content)
            self._copies[test.id] = copy
            digests[test.id] = digest_of_bytes(content)
        if faults:
            raise AgentError.of(faults)
        self._digest = digest_of(digests)

    def attempt(self, test: Test, place: Place, limits: Limits, cancel: Cancel) -> Attempt:
        """Run the test's script once."""
        script = self._copies[test.id]
        # Each trial has its own: in a sandbox nothing else is seen, and what one trial writes no other reads.
        own = place.output_file.with_name("solution") / script.name
        own.parent.mkdir()
        shutil.copyfile(script, own)
        program = [sys.executable, "-B"] if script.suffix == ".py" else [_SHELL]
        return run_process([*program, place.as_seen(own)], script.name, place, limits, cancel)

    def close(self) -> None:
        """Take the copies away."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder, self._copies = None, {}


class NoopAgent:
    """Does nothing: no process, no output, and the workdir stays as it was seeded."""

    @property
    def identity(self) -> AgentIdentity:
        """Always the same."""
        return AgentIdentity(kind="noop", label="noop")

    def prepare(self, tests: Sequence[Test], surroundings: Surroundings) -> None:
        """Nothing can be missing."""

    def attempt(self, test: Test, place: Place, limits: Limits, cancel: Cancel) -> Attempt:
        """End at once."""
        return Attempt(ending=Ending.OK)

    def close(self) -> None:
        """Nothing is kept ready."""
