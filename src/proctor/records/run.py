"""What ran, how it ended, and what was planned."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from proctor.records.changes import Changes
from proctor.records.evidence import Channels
from proctor.records.fault import Fault
from proctor.records.grade import Defect
from proctor.records.isolation import Isolation, Usage
from proctor.records.json_value import Json
from proctor.records.suite import Test
from proctor.records.trace import Event, Metrics

RUN_SCHEMA = "proctor.run/1"
GROUP_SCHEMA = "proctor.group/1"


class Ending(StrEnum):
    """How the execution of a trial ended."""

    OK = "ok"
    ERROR = "error"
    TIMEOUT = "timeout"
    COST_CAP = "cost-cap"
    TOKEN_CAP = "token-cap"
    OUTPUT_CAP = "output-cap"
    DISK_CAP = "disk-cap"
    KILLED = "killed"
    INTERRUPTED = "interrupted"
    HARNESS_FAILURE = "harness-failure"

    @property
    def is_evidence(self) -> bool:
        """True when the ending says something about the agent."""
        return self not in (Ending.INTERRUPTED, Ending.HARNESS_FAILURE)


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """The view of a run that graders read.

    Attributes:
        ending: how the trial ended.
        exit_code: a command's exit code; None where there was none.
        duration_s: wall-clock time of the trial.
        metrics: what the trace adds up to.
        events: the model calls and tool calls that the trace tells of, by the time of their start.
        stdout: path of what the agent printed; None when it printed nothing.
        stderr: path of what it printed to standard error; None when that is nothing.
        changes: what the agent added, changed and removed of the files that it was given; None where that was not
            recorded.
        channels: how well the calls in `events` could be seen.
    """

    ending: Ending
    exit_code: int | None = None
    duration_s: float = 0.0
    metrics: Metrics = Metrics()
    events: tuple[Event, ...] = ()
    stdout: str | None = None
    stderr: str | None = None
    changes: Changes | None = None
    channels: Channels = Channels()


class AgentIdentity(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which agent was under test.

    Attributes:
        kind: `function`, `command`, or the name of another kind.
        label: how the user named it, without the folders of this machine.
        digest: digest of the file or of the command line that it is.
        version: what the agent says of itself.
        model: the model that it was told to ask, whatever the tests pin; None where nothing was said.
    """

    kind: str
    label: str
    digest: str | None = None
    version: str | None = None
    model: str | None = None


class Limits(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a trial may use.

    Attributes:
        timeout_s: wall-clock limit in seconds.
        grace_s: time between asking a process to end and ending it.
        cost_usd: what its model calls may cost, in US dollars, as far as its trace tells.
        tokens: how many tokens it may send and receive, as far as its trace tells.
        output_bytes: what it may print and answer, in bytes.
        workdir_bytes: what its workdir may hold on the disk, in bytes.
        memory_bytes: what all of its processes may use together, in bytes.
        cpu_s: processor time of a process, in seconds.
        file_bytes: the largest file that it may write, in bytes.
        processes: how many processes and threads it may have at a time.
    """

    timeout_s: float = 60.0
    grace_s: float = 5.0
    cost_usd: float | None = None
    tokens: int | None = None
    output_bytes: int | None = None
    workdir_bytes: int | None = None
    memory_bytes: int | None = None
    cpu_s: float | None = None
    file_bytes: int | None = None
    processes: int | None = None


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent made of one trial: its ending, and its output.

    Attributes:
        ending: how it ended.
        output: what it answered; None when that was nothing.
        exit_code: of a command.
        signal: name of the signal that ended it, when one did.
        defect: what went wrong.
        max_rss_kb: peak memory of the process tree's largest member, in KiB.
        usage: what it used, where its kind can tell more than that.
        notes: sentences about what was noticed on the way.
    """

    ending: Ending
    output: Json = None
    exit_code: int | None = None
    signal: str | None = None
    defect: Defect | None = None
    max_rss_kb: int | None = None
    usage: Usage | None = None
    notes: tuple[str, ...] = ()


class SuiteRef(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which suite a run belongs to.

    Attributes:
        name: what it is called; empty for a run that was added without one.
        digest: of all that its tests say, in order, `sha256:...`; None where that is not known.
        commit: the git commit that it comes from; None for one that does not come from git.
    """

    name: str
    digest: str | None = None
    commit: str | None = None


class GradersRef(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The stored grading code of a run.

    Attributes:
        digest: of the archive, `sha256:...`; the archive is `graders/<hex>.zip`.
        entry: the grading module inside the archive.
        packages: installed distributions that the code imports, with their versions when it was stored.
    """

    digest: str
    entry: str
    packages: dict[str, str] = {}

    @property
    def archive_name(self) -> str:
        """File name of the archive in the run's `graders` folder."""
        return self.digest.removeprefix("sha256:") + ".zip"

    @property
    def revision(self) -> str:
        """Name of this revision for annotators: module and digest."""
        return f"{self.entry}@{self.digest}"


class Platform(msgspec.Struct, frozen=True, kw_only=True):
    """What a run ran on. Of a run that proctor did not make itself, what is not known is empty.

    Attributes:
        proctor: version of proctor.
        python: version of Python, such as `3.12.4`.
        system: as Python names it, such as `linux`.
        machine: kind of processor, such as `x86_64`.
    """

    proctor: str
    python: str
    system: str
    machine: str


class RunFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`run.json`: the facts of one run, written once and never changed.

    Attributes:
        schema: format of the file.
        run: unique id of the run.
        test: the test as the suite said it.
        trial: 1 for the first.
        attempt: 1 for the first.
        supersedes: this attempt counts instead of an earlier one that did not end well.
        ending: how the trial ended.
        output: what the agent answered, when it is small; see `output_file`.
        output_file: file in the run directory that holds a large output, as JSON.
        trace: file in the run directory that holds the trace, where that is another than `trace.jsonl`.
        exit_code: of a command; None where a signal ended it, and for an agent that is no command.
        signal: name of the signal that ended the agent's process, ours included; None when none did.
        defect: what went wrong; None when nothing did, or when the ending says all of it.
        fault: whose fault it is, where the ending says nothing about the agent.
        notes: sentences about what was noticed on the way.
        agent: which agent was under test.
        suite: the suite that its test is from.
        graders: the grading code that is stored with it; None for a test that has none.
        test_digest: digest of everything that the test says, `sha256:...`.
        input_digest: digest of the test's input alone.
        fixture_digest: digest of the files that the workdir started with; None where the test has none.
        fixture_commit: the git commit that the test's files come from, when they do.
        holdout_digest: digest of the held-out files, which are in `inputs/holdout`.
        artifact: digest of what the agent carried to be tested, which is in `inputs/artifact`.
        limits: what the trial might use; of a run that was added they are not known.
        started_at: ISO 8601, UTC.
        ended_at: ISO 8601, UTC.
        duration_s: wall-clock time of the agent, in seconds.
        max_rss_kb: peak memory of the process tree's largest member, in KiB; None where that could not be seen.
        usage: what the trial used at its peak.
        isolation: what the agent was kept apart from; None in runs that were made before that was recorded.
        platform: what it ran on.
        workdir: True when a snapshot of the workdir is kept.
        has_changes: True when it was looked at what the agent changed of its files: `changes.json`, or none there.
        files: digests of the other files that were written with the run, by name.
        parallel: how many trials ran at once.
        has_gate: True when one of the test's graders is a gate, as found before the run.
    """

    schema: str
    run: str
    test: Test
    trial: int
    attempt: int
    supersedes: bool = False
    ending: Ending
    output: Json = None
    output_file: str | None = None
    trace: str | None = None
    exit_code: int | None = None
    signal: str | None = None
    defect: Defect | None = None
    fault: Fault | None = None
    notes: tuple[str, ...] = ()
    agent: AgentIdentity
    suite: SuiteRef
    graders: GradersRef | None = None
    test_digest: str
    input_digest: str
    fixture_digest: str | None = None
    fixture_commit: str | None = None
    holdout_digest: str | None = None
    artifact: str | None = None
    limits: Limits = Limits()
    started_at: str
    ended_at: str
    duration_s: float
    max_rss_kb: int | None = None
    usage: Usage | None = None
    isolation: Isolation | None = None
    platform: Platform
    workdir: bool = False
    has_changes: bool = False
    files: dict[str, str] = {}
    parallel: int = 1
    has_gate: bool = False


class Cell(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One planned trial, and the run directory that it will have.

    Attributes:
        test: id of the test.
        trial: 1 for the first.
        run_dir: name of the run directory, in the group.
        test_digest: digest of everything that the test said when this was planned.
    """

    test: str
    trial: int
    run_dir: str
    test_digest: str


class Shard(msgspec.Struct, frozen=True):
    """One of the parts that a plan is split into, so that several machines can run it.

    Attributes:
        number: 1 for the first.
        of: how many there are.
    """

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


class ShardPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Which part of a plan a group is, and what the whole is.

    Attributes:
        number: 1 for the first.
        of: how many parts there are.
        whole: every trial of the plan in its order, also those of the other parts.
    """

    number: int
    of: int
    whole: tuple[Cell, ...]

    @property
    def shard(self) -> Shard:
        """Its number, and how many there are."""
        return Shard(self.number, self.of)


class GroupPart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of the groups that a merged group was put together from.

    Attributes:
        group: its id.
        created_at: when its plan was written, ISO 8601, UTC.
        platform: what it ran on.
        shard: which part of the plan it was; None for a group that was no shard.
    """

    group: str
    created_at: str
    platform: Platform
    shard: Shard | None = None


class GroupPlan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`group.json`: what one `proctor run` set out to do, written before the first agent starts.

    Attributes:
        schema: format of the file.
        group: unique id of the group.
        created_at: ISO 8601, UTC.
        agent: which agent is under test.
        suite: the suite that its tests are from.
        limits: what a trial may use; a test can have another time limit, which stands in its `run.json`.
        platform: what the plan was made on.
        cells: the trials that this group is to hold.
        shard: where it is a part of a plan, which one, and what the whole is.
        parts: where it was merged from other groups, which those were.
    """

    schema: str
    group: str
    created_at: str
    agent: AgentIdentity
    suite: SuiteRef
    limits: Limits
    platform: Platform
    cells: tuple[Cell, ...]
    shard: ShardPlan | None = None
    parts: tuple[GroupPart, ...] = ()


class AttemptRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One row of `attempts.jsonl`: an attempt has started, or has ended.

    Attributes:
        v: version of the row's format.
        event: `started` or `ended`.
        run_dir: name of the run directory, in the group.
        test: id of the test.
        trial: 1 for the first.
        attempt: 1 for the first at this trial.
        at: when it started or ended, ISO 8601 in UTC.
        ending: how it ended; None when it has only started.
        facts: digest of the `run.json` that was written when it ended; None when it has only started.
    """

    v: int
    event: str
    run_dir: str
    test: str
    trial: int
    attempt: int
    at: str
    ending: Ending | None = None
    facts: str | None = None
