"""Run directories that the Agency language's own tool made: listed, shown and graded in place."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import StoreError
from proctor.records.grade import Cause, Outcome
from proctor.records.run import Ending
from proctor.records.trace import LlmCall, Metrics, ModelUse, ToolCall
from proctor.stores.discover import discover, find_run
from proctor.stores.foreign import StatelogRun
from tests.conftest import Project

SAMPLE = Path(__file__).parents[1] / "samples" / "agency-demo"

GRADERS = """
from proctor import Contains, ExactMatch, Similarity, grader

graders = [
    ExactMatch(),
    Contains(name="has-answer", weight=2),
    Similarity(weight=0.5),
    grader(lambda output: len(str(output)) <= 20, name="concise"),
    grader(lambda record: record.metrics.cost_usd_total == 0, name="free"),
]
"""
GATE = """
from proctor import ExactMatch, grader

graders = [
    ExactMatch(must_pass=True),
    grader(lambda output: 0.25 if output is None else 1, name="spoke"),
]
"""


def sample(project: Project, group: str = "demo") -> Path:
    """A copy of one of the sample groups."""
    return shutil.copytree(SAMPLE / "groups" / group, project.root / group)


def python_suite(project: Project, name: str = "suite.json") -> Path:
    """The sample's suite with the Python twins of its graders."""
    project.write("suite/graders.py", GRADERS)
    project.write("suite/graders_gate.py", GATE)
    text = (SAMPLE / name).read_text().replace("graders.ts", "graders.py").replace("timeoutSec", "timeout")
    return project.write(f"suite/{name}", text.replace("graders-gate.ts", "graders_gate.py"))


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def objectives(report: Any) -> dict[str, float]:
    """Objective by run, from a report as JSON."""
    return {run["run"]: round(run["objective"], 3) for group in report["groups"] for run in group["runs"]}


def line(
    kind: str, *, trace: str = "T1", span: str = "s0", at: str = "00.000", **data: Any
) -> dict[str, Any]:
    """One line of a statelog."""
    data = {"type": kind, **data, "timestamp": f"2026-11-30T15:00:{at}Z"}
    return {"format_version": 1, "trace_id": trace, "span_id": span, "parent_span_id": None, "data": data}


def run_row(**said: Any) -> dict[str, Any]:
    """A run row of annotations.jsonl."""
    return {
        "v": 1,
        "id": "ann_1",
        "traceId": "T1",
        "createdAt": "2026-11-30T15:00:09.000Z",
        "annotator": {"kind": "harness", "id": "agency-eval@0.22.0"},
        "kind": "run",
        "test": {"id": "t", "input": "question", "expected": "answer"},
        "suite": None,
        "ended": "ok",
        "flags": {"parallel": 1},
        **said,
    }


def score_row(
    name: str, score: dict[str, Any], *, pass_id: str = "p1", size: int = 1, **said: Any
) -> dict[str, Any]:
    """A score row of annotations.jsonl."""
    return {
        "v": 1,
        "id": f"ann_{pass_id}_{name}",
        "traceId": "T1",
        "createdAt": "2026-11-30T15:00:10.000Z",
        "annotator": {"kind": "grader", "id": "/home/demo/graders.ts@abc"},
        "kind": "score",
        "passId": pass_id,
        "passSize": size,
        "name": name,
        "score": score,
        "weight": 1,
        "mustPass": False,
        **said,
    }


def made(folder: Path, lines: list[Any], rows: list[Any] | None = None) -> StatelogRun:
    """A run directory with these lines and rows; text is written as it is."""

    def text(entries: list[Any]) -> str:
        return "".join(one if isinstance(one, str) else json.dumps(one) + "\n" for one in entries)

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "statelog.jsonl").write_text(text(lines), encoding="utf-8", newline="")
    if rows is not None:
        (folder / "annotations.jsonl").write_text(text(rows), encoding="utf-8", newline="")
    return StatelogRun(folder)


def test_listing_gives_the_grades_of_the_original(project: Project) -> None:
    """The whole output: france 1.000, japan 0.561, light 0.448, nothing 0.000, mean 0.502."""
    sample(project)
    said = project("list", "demo")

    assert 0 == said.code
    assert (
        "RUN      TRIAL  ENDED  TIME  COST   LLM  TOOLS  OUTCOME  OBJECTIVE  ROUNDS\n"
        "france   1      ok     0.0s  $0.00  0    0      pass     1.000      2\n"
        "japan    1      ok     0.0s  $0.00  0    0      fail     0.561      2\n"
        "light    1      ok     0.0s  $0.00  0    0      fail     0.448      2\n"
        "nothing  1      ok     0.0s  $0.00  0    0      fail     0.000      2\n"
        "mean 0.502 over 4 tests, 95% from 0.126 to 0.876 (error 0.205)\n"
        "pass rate 0.250 over 4 tests, 95% from 0.046 to 0.699 (error 0.250); 1 of 4 trials passed\n"
        "planned 4 = graded 4 + inconclusive 0 + errored 0 + harness failures 0 + interrupted 0\n"
        "smoke: no test has 3 trials, so that nothing is said about reliability\n"
        "gate failed: nothing\n"
    ) == said.out


def test_looking_changes_nothing(project: Project) -> None:
    """`list`, `show` and `verify` leave every byte as it was."""
    group = sample(project)
    before = contents(group)
    codes = [project("list", "demo").code, project("show", "demo/japan").code, project("verify", "demo").code]

    assert ([0, 0, 0], before) == (codes, contents(group))


def test_the_python_twins_give_the_golden_values(project: Project) -> None:
    """france 1.000, japan 0.561, light 0.448, nothing 0.000, mean 0.502, exit 2; `list` then says the same.

    Only rows are added, to annotations.jsonl, and those of the original stay as they are.
    """
    group = sample(project)
    before = contents(group)
    said = project("grade", "demo", "--suite", python_suite(project), "--json")
    after = contents(group)
    listed = project("list", "demo", "--json")
    changed = {name for name in after if after[name] != before.get(name)}

    assert 2 == said.code
    assert {"france": 1.0, "japan": 0.561, "light": 0.448, "nothing": 0.0} == objectives(said.json)
    assert said.json["groups"] == listed.json["groups"]
    assert 0.502 == pytest.approx(said.json["mean"], abs=0.0005)
    assert {f"{run}/annotations.jsonl" for run in ("france", "japan", "light", "nothing")} == changed
    assert all(after[name].startswith(before[name]) for name in changed)
    assert [3] * 4 == [run["rounds"] for run in listed.json["groups"][0]["runs"]]


def test_stored_graders_that_are_javascript_cannot_tell(project: Project) -> None:
    """Without --suite every run is inconclusive, and the sentence says what to do; nothing is started."""
    sample(project)
    said = project("grade", "demo", "--json")
    grade = said.json["groups"][0]["runs"][0]["grades"][0]

    assert (3, "inconclusive", "graders_unloadable") == (said.code, grade["outcome"], grade["cause"])
    assert (
        "the graders of this run are JavaScript (graders.ts), which proctor does not run; write them in Python "
        "and grade with --suite SUITE, whose tests have the same ids"
    ) == grade["feedback"]


def test_the_suite_of_the_original_is_not_ours_to_load(project: Project) -> None:
    """It names JavaScript graders: a fault for each, and nothing is graded."""
    group = sample(project)
    before = contents(group)
    shutil.copy(SAMPLE / "suite.json", project.root)
    shutil.copy(SAMPLE / "graders.ts", project.root)
    shutil.copy(SAMPLE / "graders-gate.ts", project.root)
    said = project("grade", "demo", "--suite", "suite.json")

    assert (1, 4) == (said.code, said.err.count("is not a Python file"))
    assert before == contents(group)


def test_trials_one_level_deeper_are_one_group(project: Project) -> None:
    """`cmd/good/1` is the run `good/1` of the group `cmd`; `grade` and `list` say one thing."""
    sample(project, "cmd")
    before = project("list", "cmd", "--json")
    graded = project("grade", "cmd", "--suite", python_suite(project, "suite-cmd.json"), "--json")
    after = project("list", "cmd", "--json")
    group = before.json["groups"][0]

    assert {
        "exits-3/1": 0.0,
        "exits-3/2": 0.0,
        "good/1": 1.0,
        "good/2": 1.0,
        "no-log/1": 0.0,
        "no-log/2": 0.0,
        "too-slow/1": 0.0,
        "too-slow/2": 0.0,
    } == objectives(before.json)
    assert objectives(before.json) == objectives(graded.json) == objectives(after.json)
    assert (1, 0.25, 2, 6) == (len(before.json["groups"]), group["mean"], group["graded"], group["errored"])
    assert [1, 2] * 4 == [run["trial"] for run in group["runs"]]
    assert 4 == graded.code


def test_a_folder_of_groups_is_not_taken_for_trials(project: Project) -> None:
    """Both groups are found below their folder, each with its own runs."""
    shutil.copytree(SAMPLE / "groups", project.root / "all")

    assert [("cmd", 8), ("demo", 4)] == [
        (group.path.name, len(group.runs)) for group in discover([project.root / "all"])
    ]


def test_tests_that_are_called_by_numbers_are_no_trials(tmp_path: Path) -> None:
    """A group whose tests are `1` and `2` lies in a folder of groups: the row says which test a folder is."""
    for name in ("1", "2"):
        row = run_row(test={"id": name})
        made(tmp_path / "groups" / "mine" / name, [line("agentStart")], [row])

    assert [("mine", ["1", "2"])] == [
        (group.path.name, [run.name for run in group.runs]) for group in discover([tmp_path / "groups"])
    ]


def test_one_trial_can_be_named(project: Project) -> None:
    """A group says how to name one of its runs, also where they lie deeper."""
    group = sample(project, "cmd")

    assert "good" == find_run(group / "good" / "1").facts().test.id
    with pytest.raises(StoreError, match="is a group of 8 runs"):
        find_run(group)


def test_facts_hold_no_path_of_the_machine(project: Project) -> None:
    """Agent, suite and annotators keep the last part of their paths."""
    group = sample(project)
    run = find_run(group / "japan")
    facts = run.facts()
    command = find_run(sample(project, "cmd") / "exits-3" / "1").facts()

    assert ("agent.agency:main", "suite.json", "node cli.mjs {input}") == (
        facts.agent.label,
        facts.suite.name,
        command.agent.label,
    )
    assert {"graders.ts@c1528b2ce616f67161c0d5355fd1fcbeacac2e35bbe4600c90d98dba26c966e3"} == {
        row.annotator.id for row in run.annotations().scores
    }
    assert ("The capital of Japan is Tokyo.", 0.008, "2026-11-30T15:02:45.851+00:00", True) == (
        facts.output,
        facts.duration_s,
        facts.started_at,
        facts.workdir,
    )


def test_show_says_how_a_silent_run_ended(project: Project) -> None:
    """The run row's error is the reason, and there is no line of a trace."""
    sample(project, "cmd")
    said = project("show", "cmd/exits-3/1")

    assert "ended      error, after 0.0s" in said.out
    assert "reason\n  command exited with code 3\n" in said.out
    assert "\ntrace " not in said.out


def test_a_silent_run_that_says_ok_is_ok(project: Project) -> None:
    """It is graded with no output, by `grade` as by `list`."""
    run = made(project.root / "g" / "t", [], [run_row()])
    project.test(
        "t", "from proctor import ExactMatch\ngraders = [ExactMatch()]\n", input="question", expected="answer"
    )
    graded = project("grade", "g", "--suite", "suite", "--json")
    listed = project("list", "g", "--json")

    assert (Ending.OK, None, None) == (run.facts().ending, run.facts().output, run.trace(run.facts()))
    assert graded.json["groups"] == listed.json["groups"]
    assert (1, 0.0) == (listed.json["groups"][0]["graded"], listed.json["mean"])


def test_nothing_said_at_all_is_no_run_of_the_agent(tmp_path: Path) -> None:
    """An empty statelog without a row is a run that cannot be read, with a sentence."""
    run = made(tmp_path / "t", [], [])

    with pytest.raises(StoreError, match="the statelog is empty, and no row"):
        run.facts()


@pytest.mark.parametrize(
    ("ended", "ending"),
    [
        ("ok", Ending.OK),
        ("error", Ending.ERROR),
        ("timeout", Ending.TIMEOUT),
        ("cost-cap", Ending.COST_CAP),
        ("killed", Ending.INTERRUPTED),
    ],
)
def test_the_run_row_says_how_it_ended(tmp_path: Path, ended: str, ending: Ending) -> None:
    """Their `killed` is the operator's Ctrl-C."""
    assert ending == made(tmp_path / "t", [line("agentStart")], [run_row(ended=ended)]).facts().ending


def test_an_ending_that_is_not_known_is_said(tmp_path: Path) -> None:
    """Neither ok nor a fault of the agent."""
    with pytest.raises(StoreError, match="ended with 'melted'"):
        made(tmp_path / "t", [line("agentStart")], [run_row(ended="melted")]).facts()


@pytest.mark.parametrize(
    ("lines", "ending", "output"),
    [
        ([line("agentStart")], Ending.INTERRUPTED, None),
        ([line("agentEnd", result={"a": 1})], Ending.OK, {"a": 1}),
        ([line("agentEnd", result=None)], Ending.OK, None),
        (
            [line("error", errorType="runtimeError", message="no"), line("agentEnd", result=None)],
            Ending.ERROR,
            None,
        ),
        (
            [line("error", errorType="toolError", message="no"), line("agentEnd", result=None)],
            Ending.OK,
            None,
        ),
        (
            [line("agentEnd", result="a", at="01.000"), line("agentEnd", result="b", at="02.000")],
            Ending.OK,
            "b",
        ),
        ([line("evalOutputRecorded", value=7), line("agentEnd", result="b")], Ending.OK, 7),
    ],
    ids=[
        "no end",
        "a result",
        "no result",
        "an error",
        "another error",
        "the last result",
        "what was recorded",
    ],
)
def test_without_a_run_row_the_trace_says_it(
    tmp_path: Path, lines: list[Any], ending: Ending, output: Any
) -> None:
    """How it ended, and what it answered; a trace that breaks off was interrupted."""
    facts = made(tmp_path / "T1", lines).facts()

    assert (ending, output, "T1") == (facts.ending, facts.output, facts.test.id)


def test_the_last_run_row_counts(tmp_path: Path) -> None:
    """And one of another trace does not."""
    rows = [run_row(ended="error"), run_row(ended="timeout"), run_row(ended="ok", traceId="T2")]

    assert Ending.TIMEOUT == made(tmp_path / "t", [line("agentStart")], rows).facts().ending


def test_events_and_metrics_come_from_the_statelog(tmp_path: Path) -> None:
    """cost 0.25 + 0.5 = 0.75; a tool call has its start and its end; one without an end is an event too."""
    prompt = {"model": "small", "usage": {"inputTokens": 3, "outputTokens": 2}, "timeTaken": 500}
    lines = [
        line("agentStart"),
        line("promptCompletion", at="01.000", cost={"totalCost": 0.25}, **prompt),
        line("toolCallStart", at="02.000", span="a", toolName="search", args={"q": "x"}),
        line("toolCallStart", at="02.500", span="b", toolName="wait", args={}),
        line("toolCall", at="03.000", span="a", toolName="search", output=["y"], timeTaken=1000),
        line("promptCompletion", at="04.000", cost={"totalCost": 0.5}, **prompt),
        line("agentEnd", at="05.000", result="z"),
    ]
    run = made(tmp_path / "t", lines)
    trace = run.trace(run.facts())

    assert trace is not None
    assert (
        LlmCall(
            model="small",
            tokens_in=3,
            tokens_out=2,
            cost_usd=0.25,
            cost_source="trace",
            start_s=0.5,
            duration_s=0.5,
        ),
        ToolCall(name="search", arguments={"q": "x"}, result=["y"], start_s=2.0, duration_s=1.0),
        ToolCall(name="wait", arguments={}, start_s=2.5, error="it has no end"),
        LlmCall(
            model="small",
            tokens_in=3,
            tokens_out=2,
            cost_usd=0.5,
            cost_source="trace",
            start_s=3.5,
            duration_s=0.5,
        ),
    ) == trace.events
    assert (
        Metrics(
            llm_calls=2,
            tool_calls=2,
            retries=0,
            errors=1,
            tokens_in_total=6,
            tokens_out_total=4,
            cost_usd_total=0.75,
            cost_source="trace",
            models=("small",),
            by_model=(ModelUse(model="small", calls=2, tokens_in=6, tokens_out=4, cost_usd=0.75),),
        )
        == trace.metrics
    )


@pytest.mark.parametrize(
    "lines",
    [
        [line("agentStart")],
        [line("agentEnd", result="a"), '{"format_version":1,"trace_id":"T1","da'],
        [line("agentEnd", result="a"), "garbage\n"],
        [line("agentEnd", result="a"), {**line("agentEnd"), "format_version": 2}],
        [line("agentEnd", result="a"), line("promptCompletion", model="m")],
    ],
    ids=["no end", "torn", "a bad line", "a newer line", "a call without a price"],
)
def test_a_statelog_that_breaks_off_has_no_known_cost(tmp_path: Path, lines: list[Any]) -> None:
    """None, and never 0; the run itself is read."""
    run = made(tmp_path / "t", lines)
    trace = run.trace(run.facts())

    assert trace is not None
    assert trace.metrics.cost_usd_total is None


def test_bad_lines_are_skipped_and_noted(tmp_path: Path) -> None:
    """With number and reason; lines that were written twice count once."""
    call = line("promptCompletion", cost={"totalCost": 1}, usage={})
    facts = made(tmp_path / "t", [call, call, "\n", "garbage\n", line("agentEnd", result="a")]).facts()

    assert "a" == facts.output
    assert facts.notes[0].startswith("1 lines of the statelog cannot be read; the first is line 4: ")


def test_several_traces_are_no_run(project: Project) -> None:
    """`list` names them and says what to do; it is nobody's fault."""
    made(project.root / "g" / "t", [line("agentStart"), line("agentStart", trace="T2")])
    said = project("list", "g", "--json")

    assert "harness-failure" == said.json["groups"][0]["runs"][0]["ending"]
    assert (
        "the statelog holds 2 traces, and a run has one: 'T1', 'T2'"
        in said.json["groups"][0]["runs"][0]["reason"]
    )


def test_half_surrogates_and_odd_separators_do_not_spoil_a_line(tmp_path: Path) -> None:
    """JavaScript writes a text that it cut in the middle of a character with half of a pair."""
    end = json.dumps(line("agentEnd", result="cut \ud83d here\u0085and\u2028there"), ensure_ascii=True)
    run = made(tmp_path / "t", [end + "\n", line("agentName", name="x")])

    assert "cut \ufffd here\u0085and\u2028there" == run.facts().output


def test_a_score_that_is_none_is_inconclusive(tmp_path: Path) -> None:
    """That tool does not check the range: 1.7 is no share of anything. It records no bar: 0 passes."""
    rows = [
        run_row(),
        score_row("odd", {"kind": "scalar", "value": 1.7}, size=3),
        score_row("zero", {"kind": "scalar", "value": 0}, size=3),
        score_row("no", {"kind": "binary", "pass": False}, size=3, mustPass=True, weight=2),
    ]
    odd, zero, no = made(tmp_path / "t", [line("agentStart")], rows).annotations().scores

    assert (None, Outcome.INCONCLUSIVE, Cause.GRADER_RETURNED_NONSENSE) == (odd.score, odd.outcome, odd.cause)
    assert (0.0, Outcome.PASS, "scalar", 0.0) == (zero.score, zero.outcome, zero.scale, zero.threshold)
    assert (0.0, Outcome.FAIL, True, 2.0) == (no.score, no.outcome, no.must_pass, no.weight)


def test_the_latest_complete_round_is_in_force_as_a_whole(project: Project) -> None:
    """A round that lacks a row counts for nothing; keys of an earlier one do not live on beside a later one."""
    rows = [
        run_row(),
        score_row("a", {"kind": "binary", "pass": True}, pass_id="p1", size=2),
        score_row("b", {"kind": "binary", "pass": False}, pass_id="p1", size=2),
        score_row("a", {"kind": "binary", "pass": True}, pass_id="p2"),
        score_row("a", {"kind": "binary", "pass": False}, pass_id="p3", size=2),
        score_row("c", {"kind": "binary", "pass": True}, pass_id="p2", traceId="T2"),
        "garbage\n",
        score_row("d", {"kind": "binary"}, pass_id="p4"),
        score_row("e", {"kind": "binary", "pass": True}, pass_id="p5", weight=-1),
    ]
    made(project.root / "g" / "t", [line("agentEnd", result="a")], rows)
    (run,) = project("list", "g", "--json").json["groups"][0]["runs"]

    assert (["a"], 1.0, 2) == ([grade["grader"] for grade in run["grades"]], run["objective"], run["rounds"])


def test_control_characters_are_shown_as_escapes(project: Project) -> None:
    """Names, outputs and reasons of a file cannot steer the terminal."""
    evil = "\x1b[2J\r\u202e"
    rows = [
        run_row(test={"id": f"t{evil}"}, flags={"agent": evil}),
        score_row(evil, {"kind": "binary", "pass": True}),
    ]
    call = line("toolCall", toolName=evil, output=evil, timeTaken=1)
    made(project.root / "g" / "t", [call, line("agentName", name=evil), line("agentEnd", result=evil)], rows)
    said = [project("list", "g").out, project("show", "g/t").out, project("grade", "g").out]

    assert not [text for text in said if any(character in text for character in "\x1b\r\u202e")]
    assert "tool  \\x1b[2J\\r\\u202e  " in said[1]


def test_files_of_a_test_that_nobody_digested_are_taken_on_trust(project: Project) -> None:
    """The original records no digest of what a workdir began with: naming a suite whose test has files grades it."""
    made(project.root / "g" / "t", [line("agentEnd", result="answer")], [run_row()])
    project.test(
        "t", "from proctor import ExactMatch\ngraders = [ExactMatch()]\n", input="question", expected="answer"
    )
    project.write("suite/t/files/data.txt", "data")

    assert {"t": 1.0} == objectives(project("grade", "g", "--suite", "suite", "--json").json)
