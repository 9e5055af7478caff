"""Assertions: what is expected, how well it has to have been seen, and what follows when it was not."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.evidence import channels_of
from proctor.core.trace_sums import traced
from proctor.eval import (
    expect_exit_code,
    expect_file,
    expect_mcp_call,
    expect_no_mcp_call,
    expect_no_skill_activation,
    expect_no_tool_call,
    expect_outcome,
    expect_repository,
    expect_skill_activation,
    expect_tool_call,
    expect_workdir_unchanged,
)
from proctor.graders.assertion import Assertion
from proctor.ports import RunView
from proctor.records.changes import Changes, FileChange
from proctor.records.grade import Cause, Grade
from proctor.records.run import Ending, Record
from proctor.records.suite import Test
from proctor.records.trace import ToolCall, Trace
from proctor.testing import GraderContract, a_run

SEARCH = {"city": "Oslo", "days": 3}


def called(*names: str, evidence: Any = "observed", **arguments: Any) -> list[ToolCall]:
    return [ToolCall(name=name, arguments=arguments or SEARCH, evidence=evidence) for name in names]


def a_trace(calls: list[ToolCall], *, whole: bool = True, observes: tuple[str, ...] = ()) -> Trace:
    return msgspec.structs.replace(traced(calls, is_whole=whole), observes=observes)


def a_record(trace: Trace | None = None, **fields: Any) -> Record:
    events = trace.events if trace is not None else ()
    return Record(**{"ending": Ending.OK, "events": events, "channels": channels_of(trace), **fields})


@pytest.fixture
def finds(view: Callable[..., RunView]) -> Callable[..., Grade]:
    """What an assertion says of a run with this record."""

    def ask(assertion: Assertion, record: Record | None = None, **fields: Any) -> Grade:
        run = msgspec.structs.replace(
            view(), record=record or a_record(), environment=dict(os.environ), **fields
        )
        return assertion.grade(run)

    return ask


class TestExpectFile(GraderContract):
    grader = expect_file("out/result.json", contains="healthy", json_schema={"required": ["state"]})
    passes = a_run(files={"out/result.json": '{"state": "healthy"}'})
    fails = a_run(files={"out/result.json": '{"status": "down"}'})


class TestExpectNoFile(GraderContract):
    grader = expect_file("core", exists=False)
    passes = a_run(files={"other": ""})
    fails = a_run(files={"core": ""})


NOTHING, WHOLE, TORN = "no trace", "the agent's own trace", "the agent's own trace, torn"
OBSERVED, EMPTY, TORN_STREAM = (
    "the host's stream",
    "the host's stream, without a call",
    "the host's stream, torn",
)
CHANNELS = ("tools", "mcp", "skills")

TRACES: dict[str, Callable[[list[ToolCall]], Trace | None]] = {
    NOTHING: lambda _: None,
    TORN: lambda calls: a_trace(told_by_itself(calls), whole=False),
    WHOLE: lambda calls: a_trace(told_by_itself(calls)),
    TORN_STREAM: lambda calls: a_trace(calls, whole=False, observes=CHANNELS),
    OBSERVED: lambda calls: a_trace(calls, observes=CHANNELS),
    EMPTY: lambda _: a_trace([], observes=CHANNELS),
}


def told_by_itself(calls: list[ToolCall]) -> list[ToolCall]:
    return [msgspec.structs.replace(call, evidence="inferred") for call in calls]


CALLS = [*called("search"), *called("mcp__docs__find"), *called("Skill", skill="release:notes")]

POSITIVE: dict[str, Callable[..., Assertion]] = {
    "tool": lambda **options: expect_tool_call("search", **options),
    "mcp": lambda **options: expect_mcp_call("docs", "find", **options),
    "skill": lambda **options: expect_skill_activation("notes", **options),
}
NEGATIVE: dict[str, Callable[..., Assertion]] = {
    "no tool": lambda **options: expect_no_tool_call("search", **options),
    "no mcp": lambda **options: expect_no_mcp_call("docs", **options),
    "no skill": lambda **options: expect_no_skill_activation("notes", **options),
}
LEVELS = [
    # evidence, minimum observed: positive, negative; minimum inferred: positive, negative
    (NOTHING, "inconclusive", "inconclusive", "inconclusive", "inconclusive"),
    (TORN, "inconclusive", "inconclusive", "pass", "fail"),
    (WHOLE, "inconclusive", "inconclusive", "pass", "fail"),
    (TORN_STREAM, "inconclusive", "inconclusive", "pass", "fail"),
    (OBSERVED, "pass", "fail", "pass", "fail"),
    (EMPTY, "fail", "pass", "fail", "pass"),
]


@pytest.mark.parametrize("row", LEVELS, ids=[row[0] for row in LEVELS])
def test_evidence_below_the_minimum_is_inconclusive_whatever_was_seen(
    finds: Callable[..., Grade], row: tuple[str, ...]
) -> None:
    """The table of assertions against evidence: each of three kinds of call, expected and not, at both minima."""
    evidence, *expected = row
    record = a_record(TRACES[evidence](CALLS))
    print(f"\n{evidence:<36}{'  '.join(f'{one:<13}' for one in expected)}")
    for make in (POSITIVE, NEGATIVE):
        for name, assertion in make.items():
            observed = finds(assertion(minimum_evidence="observed"), record)
            inferred = finds(assertion(minimum_evidence="inferred"), record)
            wanted = expected[::2] if make is POSITIVE else expected[1::2]

            assert wanted == [observed.outcome, inferred.outcome], name
            for grade in (observed, inferred):
                assert (grade.cause is Cause.EVIDENCE_TOO_WEAK) is (grade.outcome == "inconclusive")


@pytest.mark.parametrize(
    "expect",
    [
        expect_tool_call("other", minimum_evidence="inferred"),
        expect_no_tool_call("other", minimum_evidence="inferred"),
    ],
)
def test_what_a_torn_trace_does_not_hold_may_have_happened(
    finds: Callable[..., Grade], expect: Assertion
) -> None:
    """Neither that a call came nor that none did can be said of it."""
    grade = finds(expect, a_record(TRACES[TORN](CALLS)))

    assert ("inconclusive", Cause.EVIDENCE_TOO_WEAK) == (grade.outcome, grade.cause)
    assert "the trace breaks off" in grade.feedback


@given(
    st.lists(st.sampled_from(["search", "mcp__docs__find", "Skill", "other"]), max_size=6),
    st.sampled_from(list(TRACES)),
)
def test_an_assertion_and_its_opposite_never_agree(names: list[str], evidence: str) -> None:
    """On the same evidence one passes where the other fails, and both are inconclusive together."""
    record = a_record(TRACES[evidence](called(*names)))
    for minimum in ("observed", "inferred"):
        view = RunView(
            output=None,
            test=Test(id="t"),
            workdir=Path(),
            record=record,
            judge=lambda **_: None,
            base=Path(),
        )
        one = expect_tool_call("search", minimum_evidence=minimum).grade(view).outcome
        other = expect_no_tool_call("search", minimum_evidence=minimum).grade(view).outcome

        assert {one, other} in ({"pass", "fail"}, {"inconclusive"})


def test_calls_are_counted(finds: Callable[..., Grade]) -> None:
    """`at_least` is a number of calls; feedback and evidence say how many there were."""
    record = a_record(TRACES[OBSERVED](called("search", "search")))

    assert ["pass", "pass", "fail"] == [
        finds(expect_tool_call("search", at_least=number), record).outcome for number in (1, 2, 3)
    ]
    grade = finds(expect_tool_call("search", at_least=3), record)
    assert "the tool 'search' was called 2 times" == grade.feedback
    assert 2 == grade.evidence["seen"]


@pytest.mark.parametrize(
    ("arguments", "outcome"),
    [
        ({}, "pass"),
        ({"city": "Oslo"}, "pass"),
        ({"days": 3.0}, "pass"),
        ({"days": True}, "fail"),
        ({"city": "Bergen"}, "fail"),
        ({"country": None}, "fail"),
    ],
)
def test_arguments_are_those_that_a_call_has_among_others(
    finds: Callable[..., Grade], arguments: dict[str, Any], outcome: str
) -> None:
    """JSON's equality; what is not named may be anything."""
    record = a_record(TRACES[OBSERVED](called("search")))

    assert outcome == finds(expect_tool_call("search", arguments=arguments), record).outcome


def test_server_and_tool_are_exact(finds: Callable[..., Grade]) -> None:
    """`docs` is not `docs__more`, and no part of a name is enough."""
    record = a_record(TRACES[OBSERVED](called("mcp__docs__find_all", "mcp__documents__find")))

    assert "fail" == finds(expect_mcp_call("docs", "find"), record).outcome
    assert "pass" == finds(expect_no_mcp_call("doc"), record).outcome
    assert "fail" == finds(expect_no_mcp_call("docs"), record).outcome


@pytest.mark.parametrize("skill", ["notes", "release:notes"])
def test_a_skill_is_known_with_its_plugin_and_without(finds: Callable[..., Grade], skill: str) -> None:
    """Hosts name it in either way; a skill of another plugin is another."""
    record = a_record(TRACES[OBSERVED](called("Skill", skill="release:notes")))

    assert "pass" == finds(expect_skill_activation(skill), record).outcome
    assert "fail" == finds(expect_skill_activation("other:notes"), record).outcome
    assert "fail" == finds(expect_no_skill_activation(), record).outcome


def test_the_agents_own_word_adds_nothing_where_proctor_saw_the_calls(finds: Callable[..., Grade]) -> None:
    """A call that only the agent tells of does not pass what has to be observed."""
    record = a_record(a_trace([*called("other"), *called("search", evidence="inferred")], observes=CHANNELS))

    assert "fail" == finds(expect_tool_call("search", minimum_evidence="inferred"), record).outcome


@pytest.mark.parametrize(
    ("ending", "code", "outcome"),
    [
        (Ending.OK, 3, "pass"),
        (Ending.OK, 0, "fail"),
        (Ending.ERROR, 1, "fail"),
        (Ending.TIMEOUT, None, "fail"),
        (Ending.KILLED, None, "inconclusive"),
        (Ending.OK, None, "inconclusive"),
    ],
)
def test_an_exit_code_is_compared_where_there_is_one(
    finds: Callable[..., Grade], ending: Ending, code: int | None, outcome: str
) -> None:
    """A time-out fails; what has no code cannot be told."""
    assert outcome == finds(expect_exit_code(3), a_record(ending=ending, exit_code=code)).outcome


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"contains": "b"}, ""),
        ({"contains": "x"}, 'does not contain "x"'),
        ({"matches": "^b$"}, ""),
        ({"matches": "^ab"}, 'matches "^ab"'),
        ({"equals": "a\r\nb\n"}, ""),
        ({"equals": "a"}, 'expected "a"'),
        ({"json_schema": True}, "is no JSON"),
        ({"contains": "x", "matches": "y"}, 'does not contain "x"\nnothing in'),
        ({"exists": False}, "there is a file 'f.txt'"),
    ],
)
def test_a_file_holds_all_that_is_asked(
    finds: Callable[..., Grade], tmp_path: Path, wanted: dict[str, Any], said: str
) -> None:
    """Everything that is wrong is said at once."""
    (tmp_path / "f.txt").write_text("a\nb\n")
    grade = finds(expect_file("f.txt", **wanted))

    assert ("fail" if said else "pass") == grade.outcome
    assert said in grade.feedback


@pytest.mark.parametrize("kind", ["folder", "link", "dangling", "behind a link", "missing"])
def test_only_a_regular_file_in_the_workdir_is_a_file(
    finds: Callable[..., Grade], tmp_path: Path, kind: str
) -> None:
    """What lies behind a link is not what the agent left there."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f.txt").write_text("a")
    workdir = tmp_path / "workdir"
    workdir.mkdir()
    path = "sub/f.txt" if kind == "behind a link" else "f.txt"
    if kind == "folder":
        (workdir / "f.txt").mkdir()
    elif kind == "behind a link":
        (workdir / "sub").symlink_to(outside)
    elif kind != "missing":
        (workdir / "f.txt").symlink_to(outside / ("f.txt" if kind == "link" else "none"))

    assert "fail" == finds(expect_file(path), workdir=workdir).outcome
    assert "pass" == finds(expect_file(path, exists=False), workdir=workdir).outcome


def test_json_has_each_key_once_and_is_valid(finds: Callable[..., Grade], tmp_path: Path) -> None:
    """Duplicate keys and NaN are no JSON; all that is not valid is named."""
    schema = {"properties": {"port": {"type": "integer"}}, "required": ["port"]}
    for text, said in (
        ('{"port": 1}', ""),
        ('{"port": 1, "port": 2}', "stands twice"),
        ('{"port": NaN}', "NaN is no JSON"),
        ('{"port": "1"}', "$.port: '1' is not of type 'integer'"),
    ):
        (tmp_path / "f.json").write_text(text)
        grade = finds(expect_file("f.json", json_schema=schema))

        assert ("fail" if said else "pass") == grade.outcome
        assert said in grade.feedback


def test_a_broken_schema_is_found_before_the_run() -> None:
    """It is the author's mistake, and never counts against an agent."""
    (lack,) = expect_file("f", json_schema={"type": "nonsense"}).needs(Test(id="t"))

    assert "the schema is no JSON Schema" in lack


CHANGED = Changes(
    added=(FileChange(path="new.txt"),),
    changed=(FileChange(path="src/a.py"),),
    removed=(FileChange(path="src/deep/b.py"),),
)


@pytest.mark.parametrize(
    ("except_", "left"),
    [
        ((), ['added "new.txt"', 'changed "src/a.py"', 'removed "src/deep/b.py"']),
        (("*.py",), ['added "new.txt"']),
        (("src/**",), ['added "new.txt"']),
        (("src/*", "new.txt"), ['removed "src/deep/b.py"']),
        (("new.txt", "src/**"), []),
    ],
)
def test_what_was_changed_is_named(
    finds: Callable[..., Grade], except_: tuple[str, ...], left: list[str]
) -> None:
    """Beside what may change."""
    grade = finds(expect_workdir_unchanged(except_), a_record(changes=CHANGED))

    assert ("fail" if left else "pass") == grade.outcome
    assert not left or "\n".join(left) == grade.feedback


def test_without_a_record_of_changes_nothing_is_said_of_them(finds: Callable[..., Grade]) -> None:
    """A run that was added by hand does not say what its workdir began with."""
    assert "inconclusive" == finds(expect_workdir_unchanged(), a_record(changes=None)).outcome


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A workdir with two commits."""
    workdir = tmp_path / "workdir"
    workdir.mkdir()
    for number in ("one", "two"):
        (workdir / number).write_text(number)
        git(workdir, "init", "-q")
        git(workdir, "add", ".")
        git(workdir, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", number)
    return workdir


def git(workdir: Path, *words: str) -> None:
    subprocess.run(
        ["git", *words], cwd=workdir, check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    )


def test_commits_and_the_worktree_are_looked_at(finds: Callable[..., Grade], repository: Path) -> None:
    """The commits of HEAD, and what is not committed."""

    def says(**wanted: Any) -> str:
        return finds(expect_repository(**wanted), workdir=repository).outcome

    assert ["pass", "fail"] == [says(minimum_commits=number) for number in (2, 3)]
    assert ["pass", "fail"] == [says(clean_worktree=clean) for clean in (True, False)]
    (repository / "left over").write_text("x")
    assert ["fail", "pass"] == [says(clean_worktree=clean) for clean in (True, False)]
    assert "pass" == says()
    grade = finds(expect_repository(clean_worktree=True, minimum_commits=5), workdir=repository)
    assert '2 commits, and at least 5 expected\nnot committed: "left over"' == grade.feedback


def test_a_branch_without_a_commit_has_none(finds: Callable[..., Grade], tmp_path: Path) -> None:
    """And a workdir that is no repository fails: the agent's work was seen."""
    assert "fail" == finds(expect_repository(minimum_commits=1), workdir=tmp_path).outcome
    git(tmp_path, "init", "-q")
    grade = finds(expect_repository(minimum_commits=1), workdir=tmp_path)

    assert ("fail", "0 commits, and at least 1 expected") == (grade.outcome, grade.feedback)


def test_settings_of_the_agents_repository_start_nothing(
    finds: Callable[..., Grade], repository: Path
) -> None:
    """Filters, monitors and hooks that it names are programs of the agent's."""
    planted = repository.parent / "planted"
    for name in ("filter.evil.clean", "core.fsmonitor", "core.hooksPath", "core.sshCommand", "alias.status"):
        git(repository, "config", name, f"touch {planted}; cat")
    (repository / ".gitattributes").write_text("* filter=evil\n")
    (repository / "one").write_text("changed")

    assert "fail" == finds(expect_repository(clean_worktree=True), workdir=repository).outcome
    assert not planted.exists()


def test_a_broken_repository_is_no_ones_failure(finds: Callable[..., Grade], repository: Path) -> None:
    """git says what is wrong with it; the engine records that as EVAL_GRADER_FAILED."""
    (repository / ".git/HEAD").write_text("nonsense")

    with pytest.raises(RuntimeError, match="git rev-parse"):
        finds(expect_repository(minimum_commits=1), workdir=repository)


EVERY = [
    expect_exit_code(),
    expect_file("a"),
    expect_mcp_call("s", "t"),
    expect_no_mcp_call("s"),
    expect_no_skill_activation(),
    expect_no_tool_call(),
    expect_outcome("a.py"),
    expect_repository(),
    expect_skill_activation("s"),
    expect_tool_call("t"),
    expect_workdir_unchanged(),
]


@pytest.mark.parametrize("assertion", EVERY, ids=lambda assertion: assertion.assertion_id)
def test_every_assertion_is_a_gate_with_a_minimum_and_an_id(assertion: Assertion) -> None:
    """The id is its kind and what it expects, whatever it is called."""
    kind, _, digest = assertion.assertion_id.partition(":")

    assert assertion.options.must_pass
    assert ("inferred" if kind.endswith("skill-activation") else "observed") == assertion.minimum_evidence
    assert 16 == len(digest)
    assert len(EVERY) == len({one.assertion_id for one in EVERY})


def test_an_id_says_what_is_expected_and_not_how_it_is_weighed() -> None:
    """Name, weight and gate are no part of it; the minimum is."""
    one = expect_file("a", contains="x")

    assert (
        one.assertion_id
        == expect_file("a", contains="x", name="other", must_pass=False, weight=3).assertion_id
    )
    assert one.assertion_id != expect_file("a", contains="y").assertion_id
    assert one.assertion_id != expect_file("a", contains="x", minimum_evidence="inferred").assertion_id


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: expect_tool_call("t", at_least=0), "at_least is a whole number of 1 or more"),
        (lambda: expect_mcp_call("", "t"), "server is a name"),
        (lambda: expect_exit_code(256), "from 0 to 255"),
        (lambda: expect_file("../a"), "relative to the workdir"),
        (lambda: expect_file("a", matches="("), "no regular expression"),
        (lambda: expect_file("a", exists=False, contains="x"), "holds nothing"),
        (lambda: expect_repository(minimum_commits=0), "1 or more"),
        (lambda: expect_workdir_unchanged("*.py"), "a list of globs"),
        (lambda: expect_file("a", minimum_evidence="seen"), "'observed' or 'inferred'"),
        (lambda: expect_file("a", minimum="observed"), "has no option 'minimum'"),
        (lambda: expect_outcome(""), "the path of a grading script"),
    ],
)
def test_what_is_out_of_range_is_refused_when_it_is_written(make: Callable[[], Any], said: str) -> None:
    """Before anybody pays for a run."""
    with pytest.raises(ValueError, match=said):
        make()
