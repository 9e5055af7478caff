"""The private folder of one trial: a workdir for the agent, and beside it what it is given and says."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from proctor.host import procfs
from proctor.host.bounds import Bounds
from proctor.host.enclosure import OUT, WORKDIR, Enclosure, Open
from proctor.host.home import HomePlan
from proctor.host.tree import remove_tree
from proctor.ports import Exceeded, Launch
from proctor.records.run import Attempt
from proctor.records.suite import Test

if TYPE_CHECKING:
    from proctor.host.gateway import Gate
    from proctor.host.receiver_tap import Tap

_LONE_SURROGATES = re.compile("[\ud800-\udfff]")

# What `git rev-parse --local-env-vars` names: a hook that started proctor must not hand its repository on.
_GIT_LOCAL = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)


def input_text(test: Test) -> str | None:
    """The input as an agent reads it: text as it is, anything else as compact JSON in the author's order.

    Half of a surrogate pair, which no file and no argument can hold, becomes U+FFFD. None when the test has
    no input.

    >>> input_text(Test(id="a", input={"year": 1879, "a": "ü"}))
    '{"year":1879,"a":"ü"}'
    """
    if test.input is UNSET:
        return None
    if isinstance(test.input, str):
        return without_lone_surrogates(test.input)
    return without_lone_surrogates(_compact(test.input))


def without_lone_surrogates(text: str) -> str:
    """The text with U+FFFD for every half of a surrogate pair."""
    return text if text.isascii() else _LONE_SURROGATES.sub("\ufffd", text)


def _compact(value: object) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        import json

        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class Place:
    """The private folder of one trial, outside any project, under a name that says nothing of the test.

    Attributes:
        root: the folder; only its owner may enter.
        workdir: where the agent stands.
        input_file: the input as a file; it does not exist when the test has none.
        output_file: where the agent may write its output; does not exist at first. The agent sees the folder that
            it is in, and may write there.
        stdout: receives the agent's standard output.
        stderr: receives the agent's standard error.
        environment: what the agent is started with, as it sees it, less its deadline.
        spool: a folder for what the agent tells of itself while it runs; made by whoever uses it.
        own_trace: takes the calls that the kind of agent itself has seen; does not exist at first.
        enclosure: what stands between the agent's programs and the machine.
        watch: says what the trial has used up by now.
        bounds: what the system itself holds its processes to.
        tap: takes what the agent tells of itself while it runs; None where nothing listens.
        gate: the way to the outside, where the agent has no other; None where it has.
    """

    root: Path
    workdir: Path
    input_file: Path
    output_file: Path
    stdout: Path
    stderr: Path
    environment: Mapping[str, str]
    spool: Path
    own_trace: Path
    enclosure: Enclosure = field(default_factory=Open)
    watch: Callable[[], Exceeded | None] = field(default=lambda: None)
    bounds: Bounds = field(default_factory=Bounds)
    tap: Tap | None = None
    gate: Gate | None = None

    @classmethod
    def create(
        cls,
        work_root: Path | None,
        test: Test,
        base_env: Mapping[str, str],
        *,
        enclosure: Enclosure | None = None,
        home: HomePlan | None = None,
    ) -> Place:
        """Make the folder, in `work_root` or in the system's temporary space, and write the input into it.

        Args:
            home: what the agent's home and its temporary folder are; those in `base_env` when None.

        Raises:
            OSError: the folder cannot be made or written.
        """
        # The real path: git compares its ceiling with where it really stands.
        root = private_folder("proctor", work_root)
        enclosure = enclosure or Open()
        workdir, input_file, output_file = root / WORKDIR, root / "input", root / OUT / "output"
        workdir.mkdir()
        output_file.parent.mkdir()
        own = {} if home is None else home.make(root, lambda path: enclosure.as_seen(root, path))
        said = own | {
            "PWD": enclosure.as_seen(root, workdir),
            "PROCTOR_WORKDIR": enclosure.as_seen(root, workdir),
            "PROCTOR_OUTPUT": enclosure.as_seen(root, output_file),
            "GIT_CEILING_DIRECTORIES": enclosure.as_seen(root, root),
        }
        text = input_text(test)
        if text is not None:
            input_file.write_bytes(text.encode())
            said["PROCTOR_INPUT"] = enclosure.as_seen(root, input_file)
        return cls(
            root=root,
            workdir=workdir,
            input_file=input_file,
            output_file=output_file,
            stdout=root / "stdout",
            stderr=root / "stderr",
            environment=_passed_on(base_env) | said,
            spool=root / "spool",
            own_trace=root / "own-trace.jsonl",
            enclosure=enclosure,
        )

    def as_seen(self, path: Path) -> str:
        """A path in this folder as the agent sees it."""
        return self.enclosure.as_seen(self.root, path)

    def launch(self, argv: Sequence[str], more: Mapping[str, str] | None = None) -> Launch:
        """How to start a program of this trial, with the agent's environment and `more`."""
        environment = {**self.environment, **(more or {})}
        return self.bounds.around(self.enclosure.launch(self.root, argv, environment, self.bounds.processes))

    def exceeded(self) -> Exceeded | None:
        """What the trial has used up by now; None while it may go on."""
        return self.watch()

    @property
    def bounds_told(self) -> dict[str, Any] | None:
        """What a process that is forked for the trial, and not launched, has to put on itself."""
        return self.bounds.told

    def settle(self, attempt: Attempt) -> Attempt:
        """The trial is over: the folder is proctor's again, and the attempt says what was used and by what it ended."""
        self.enclosure.settle(self.root)
        attempt = self.bounds.settle(attempt)
        self.bounds.remove()
        if self.gate is None:
            return attempt
        return msgspec.structs.replace(attempt, notes=(*attempt.notes, *self.gate.close()))

    def remove(self) -> None:
        """Remove the folder and all that is in it, also what the agent has made unreadable."""
        self.bounds.remove()
        if self.gate is not None:
            self.gate.close()
        remove_tree(self.root)


def private_folder(name: str, within: Path | None = None) -> Path:
    """A new folder that only its owner may enter. Its name says which proctor made it: `proctor doctor` asks that.

    Raises:
        OSError: it cannot be made.
    """
    return Path(tempfile.mkdtemp(prefix=f"{name}-{_tag(os.getpid())}-", dir=within)).resolve()


@lru_cache(maxsize=1)
def _tag(pid: int) -> str:
    del pid  # a fork has another
    return procfs.owner_tag()


def _passed_on(base_env: Mapping[str, str]) -> dict[str, str]:
    """The base less what belongs to proctor, and to the repository or folder that it was started in."""
    return {
        name: value
        for name, value in base_env.items()
        if not name.startswith("PROCTOR_") and name not in _GIT_LOCAL and name not in ("OLDPWD", "_")
    }
