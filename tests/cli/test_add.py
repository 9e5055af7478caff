"""`proctor add`: run directories from what other programs recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Project
from tests.core.test_trace import chat, document, span
from tests.stores.test_statelog import GRADERS, SAMPLE, contents, line, objectives

ONE, TWO = "1" * 32, "2" * 32
GRADING = """
from proctor import ExactMatch, FileExists, grader

graders = [
    ExactMatch(),
    grader(lambda record: record.metrics.llm_calls == 1 and record.events[0].model == "small", name="one-call"),
    grader(lambda record: record.metrics.cost_usd_total <= 0.01, name="cheap"),
]
"""


def of(trace: str, said: dict[str, Any]) -> dict[str, Any]:
    """The span, in another trace."""
    return {**said, "traceId": trace}


def export(project: Project, name: str = "export.jsonl", *lines: str) -> Path:
    """A file of two traces: a model call in each, and a tool call in the second; or of these lines."""
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.call.arguments": "x",
    }
    lines = lines or (
        document(of(ONE, chat(1)), of(TWO, chat(2))),
        document(of(TWO, span(3, start=1, attributes=tool))),
    )
    return project.write(name, "".join(f"{line}\n" for line in lines))


def nothing_written(project: Project) -> bool:
    """There is no group, nor a part of one."""
    return not (project.root / "group").exists()


def test_each_trace_becomes_a_run(project: Project) -> None:
    """The whole output; they are listed with their cost and calls, and grading says that there are no graders."""
    export(project)
    said = project("add", "group", "--trace", "export.jsonl")
    listed = project("list", "group")
    graded = project("grade", "group", "--json")

    assert (
        0,
        "wrote    111111111111\nwrote    222222222222\nruns: group\nnext: proctor list group\n",
    ) == (said.code, said.out)
    assert (
        "RUN           TRIAL  ENDED  TIME  COST   LLM  TOOLS  OUTCOME       OBJECTIVE  ROUNDS\n"
        "111111111111  1      ok     1.0s  $0.01  1    0      inconclusive  -          0\n"
        "222222222222  1      ok     2.0s  $0.01  1    1      inconclusive  -          0\n"
    ) in listed.out
    assert (3, ["no_graders"] * 2) == (
        graded.code,
        [run["cause"] for run in graded.json["groups"][0]["runs"]],
    )
    assert not (project.root / "group" / ".staging").exists()


def test_a_run_holds_its_own_trace_alone(project: Project) -> None:
    """A span keeps its resource and scope; the file is what `add` reads again."""
    export(project)
    project("add", "group", "--trace", "export.jsonl")
    lines = (project.root / "group/222222222222/trace.jsonl").read_text().splitlines()
    (resource,) = json.loads(lines[0])["resourceSpans"]
    again = project("add", "again", "--trace", "group/222222222222/trace.jsonl")

    assert (2, {"name": "test"}) == (len(lines), resource["scopeSpans"][0]["scope"])
    assert ["service.name"] == [one["key"] for one in resource["resource"]["attributes"]]
    assert [TWO] == [one["traceId"] for one in resource["scopeSpans"][0]["spans"]]
    assert again.out.startswith("wrote    222222222222\n")
    assert lines == (project.root / "again/222222222222/trace.jsonl").read_text().splitlines()


def test_what_is_there_is_skipped(project: Project) -> None:
    """And said so; a trace that is new is written beside it, and no byte of what was there changes."""
    export(project)
    export(project, "more.jsonl", document(of("3" * 32, chat(1))))
    project("add", "group", "--trace", "export.jsonl")
    before = contents(project.root / "group")
    said = project("add", "group", "--trace", "export.jsonl", "more.jsonl", "--json")
    after = contents(project.root / "group")

    assert {
        "schema": "proctor.added/1",
        "group": "group",
        "wrote": ["333333333333"],
        "skipped": ["111111111111", "222222222222"],
    } == said.json
    assert before == {name: after[name] for name in before if name != "attempts.jsonl"} | {
        "attempts.jsonl": before["attempts.jsonl"]
    }
    assert after["attempts.jsonl"].startswith(before["attempts.jsonl"])


def test_one_document_over_many_lines_is_read(project: Project) -> None:
    """As an export from a user interface is."""
    project.write("export.json", json.dumps(json.loads(document(chat(1))), indent=2))
    said = project("add", "group", "--trace", "export.json")

    assert "wrote    5b8efff79803\n" in said.out
    assert "$0.01" in project("list", "group").out


def test_with_a_test_the_run_is_graded_as_any_other(project: Project) -> None:
    """It holds the test, its graders, the workdir and the output: `grade` needs no --suite, nor the suite."""
    folder = project.test("t", GRADING + "graders.append(FileExists(path='made.txt'))\n", expected="42")
    export(project, "one.jsonl", document(chat(1)))
    project.write("out/made.txt", "made")
    project.write("answer.txt", "42\n")
    said = project(
        "add", "group", "--trace", "one.jsonl", "--workdir", "out", "--output", "answer.txt",
        "--test", "t", "--suite", "suite", "--agent", "mine",
    )  # fmt: skip
    (folder / "graders.py").unlink()
    graded = project("grade", "group", "--json")
    shown = project("show", "group/t").out

    assert (0, "wrote    t\nruns: group\nnext: proctor grade group\n") == (said.code, said.out)
    assert (0, {"t": 1.0}) == (graded.code, objectives(graded.json))
    assert "agent      trace mine\n" in shown
    assert "trace      1 model call, 0 tool calls, 10 tokens in, 5 tokens out, $0.01, small\n" in shown
    assert "events\n  +0.0s   1.0s  llm   small  10 in  5 out  $0.01\n" in shown
    assert "no change" not in project("verify", "group").out
    assert 0 == project("verify", "group").code
    assert (project.root / "out/made.txt").exists()


def test_several_traces_of_one_test_are_its_trials(project: Project) -> None:
    """Also those that are added later; the same trace is never a second trial."""
    project.test("t", GRADING, expected="42")
    export(project)
    export(project, "more.jsonl", document(of("3" * 32, chat(1))))
    of_test = ("--test", "t", "--suite", "suite")
    first = project("add", "group", "--trace", "export.jsonl", *of_test)
    second = project("add", "group", "--trace", "export.jsonl", "more.jsonl", *of_test)

    assert "wrote    t--1\nwrote    t--2\n" in first.out
    assert "wrote    t--3\nskipped  t--1  is there already\nskipped  t--2  is there already\n" in second.out
    assert [("t", 1), ("t", 2), ("t", 3)] == [
        (run["test"], run["trial"]) for run in project("list", "group", "--json").json["groups"][0]["runs"]
    ]


def test_without_a_workdir_there_is_none(project: Project) -> None:
    """An empty folder would say that the agent left nothing."""
    export(project, "one.jsonl", document(chat(1)))
    project("add", "group", "--trace", "one.jsonl")

    assert ["run.json", "trace.jsonl"] == sorted(
        path.name for path in (project.root / "group/5b8efff79803").iterdir()
    )


def test_the_group_is_no_part_of_a_workdir_around_it(project: Project) -> None:
    """`--workdir .` is what people type; the note says what was left out."""
    export(project, "one.jsonl", document(chat(1)))
    project.write("made.txt", "made")
    said = project("add", "group", "--trace", "one.jsonl", "--workdir", ".")
    kept = project.root / "group/5b8efff79803/workdir"

    assert 0 == said.code
    assert (True, False) == ((kept / "made.txt").exists(), (kept / "group").exists())
    assert "not kept from the workdir: group (the group itself)" in project("show", "group/5b8efff79803").out


def test_a_root_span_that_failed_is_an_error(project: Project) -> None:
    """Unless --ending says otherwise."""
    failed = span(1, status={"code": 2, "message": "gave up"})
    export(project, "one.jsonl", document(failed, chat(2, parent=1)))
    project("add", "a", "--trace", "one.jsonl")
    project("add", "b", "--trace", "one.jsonl", "--ending", "timeout")
    runs = [project("list", group, "--json").json["groups"][0]["runs"][0] for group in "ab"]

    assert [("error", "gave up"), ("timeout", "gave up")] == [(run["ending"], run["reason"]) for run in runs]


def test_a_statelog_is_taken_in_line_by_line(project: Project) -> None:
    """One run a trace, called by its id; output, ending, cost and agent come from its lines."""
    text = (SAMPLE / "groups/demo/japan/statelog.jsonl").read_text()
    text += (SAMPLE / "groups/demo/france/statelog.jsonl").read_text()
    project.write("both.jsonl", text)
    project.write("suite/graders.py", GRADERS)
    said = project("add", "group", "--trace", "both.jsonl")
    listed = project("list", "group").out
    japan = SAMPLE / "groups/demo/japan/statelog.jsonl"

    assert "wrote    vgTFg4tbIZ46it3MjZLZs\nwrote    ctMOlT10" in said.out
    assert "vgTFg4tbIZ46it3MjZLZs  1      ok     0.0s  $0.00  0    0 " in listed
    assert japan.read_bytes() == (project.root / "group/vgTFg4tbIZ46it3MjZLZs/statelog.jsonl").read_bytes()
    assert "output\n  The capital of Japan is Tokyo.\n" in project("show", "group/vgTFg4tbIZ46it3MjZLZs").out


def test_a_statelog_with_its_test_gives_the_golden_value(project: Project) -> None:
    """japan 0.561 by the Python twins of its graders."""
    project.test("japan", GRADERS, input="capital of Japan", expected="Tokyo")
    added = project(
        "add",
        "group",
        "--trace",
        SAMPLE / "groups/demo/japan/statelog.jsonl",
        "--test",
        "japan",
        "--suite",
        "suite",
    )

    assert 0 == added.code
    assert {"japan": 0.561} == objectives(project("grade", "group", "--json").json)


def test_a_torn_end_stays_torn(project: Project) -> None:
    """The run is taken in, and its cost stays unknown: more may have happened."""
    export(project)
    with (project.root / "export.jsonl").open("a") as file:
        file.write(document(of(ONE, chat(9)))[:-30])
    said = project("add", "group", "--trace", "export.jsonl")
    runs = project("list", "group", "--json").json["groups"][0]["runs"]

    assert 0 == said.code
    assert [None, None] == [run["metrics"]["cost_usd_total"] for run in runs]


def test_all_faults_are_told_at_once_and_nothing_is_written(project: Project) -> None:
    """A missing file, bad lines, an empty file, a workdir and an output that are none, a test that is not there."""
    project.test("birthday", GRADING, expected="42")
    export(project)
    project.write("bad.jsonl", document(chat(1)) + "\nnot json\n" + document({"traceId": "../../x"}) + "\n")
    project.write("empty.jsonl", "")
    project.write("logs.jsonl", '{"resourceLogs": []}\n')
    said = project(
        "add", "group", "--trace", "export.jsonl", "gone.jsonl", "bad.jsonl", "empty.jsonl", "logs.jsonl",
        "--workdir", "nowhere", "--output", "nothing.txt", "--test", "birthdy", "--suite", "suite",
    )  # fmt: skip

    assert (1, "") == (said.code, said.out)
    for told in (
        "the suite 'suite' has no test 'birthdy'\n    Did you mean 'birthday'?",
        "gone.jsonl  the file cannot be read: No such file or directory",
        "bad.jsonl:2  the line is no OTLP/JSON",
        "bad.jsonl:3  the line is no OTLP/JSON: a span has the trace id '../../x', and 32 hexadecimal digits",
        "empty.jsonl  there is no trace in the file",
        "logs.jsonl  there is no trace in the file",
        "nowhere  the workdir is not a folder",
        "nothing.txt  the output cannot be read: No such file or directory",
        "nowhere  --workdir belongs to one run, and there are 2 traces",
        "nothing.txt  --output belongs to one run, and there are 2 traces",
    ):
        assert told in said.err
    assert nothing_written(project)


@pytest.mark.parametrize("words", [["--test", "t"], ["--suite", "suite"]])
def test_test_and_suite_go_together(project: Project, words: list[str]) -> None:
    """One without the other is a mistake."""
    project.test("t", GRADING, expected="42")
    export(project)
    said = project("add", "group", "--trace", "export.jsonl", *words)

    assert (1, True) == (said.code, "--test and --suite go together" in said.err)
    assert nothing_written(project)


def test_a_trace_in_two_files_must_be_the_same(project: Project) -> None:
    """Equal ones are one run; of two that differ neither is taken."""
    export(project, "one.jsonl", document(chat(1)))
    export(project, "same.jsonl", document(chat(1)))
    export(project, "other.jsonl", document(chat(2)))
    bad = project("add", "group", "--trace", "one.jsonl", "other.jsonl")
    is_clean = nothing_written(project)
    good = project("add", "group", "--trace", "one.jsonl", "same.jsonl")

    assert (1, True) == (bad.code, is_clean)
    assert "is in 'one.jsonl' too, and not the same there" in bad.err
    assert good.out.startswith("wrote    5b8efff79803\nruns:")


@pytest.mark.parametrize(
    "trace_id", ["../evil", "..", ".", "a/b", "/tmp/evil", "checklists", ".staging", "a\x00b", "é"]
)
def test_an_id_never_leaves_the_group(project: Project, trace_id: str) -> None:
    """What is no plain name is refused; nothing appears anywhere."""
    project.write("log.jsonl", json.dumps(line("agentEnd", trace=trace_id, result="x")) + "\n")
    before = contents(project.root)
    said = project("add", "group", "--trace", "log.jsonl")

    assert (1, True) == (said.code, "cannot be the name of a folder" in said.err)
    assert before == contents(project.root)


def test_a_name_that_is_taken_is_a_fault(project: Project) -> None:
    """By a run of another trace with the same beginning, or by anything else that lies there."""
    export(project, "one.jsonl", document(of("5b8efff79803" + "0" * 20, chat(1))))
    export(project, "other.jsonl", document(chat(1)))
    both = project("add", "group", "--trace", "one.jsonl", "other.jsonl")
    project("add", "group", "--trace", "one.jsonl")
    later = project("add", "group", "--trace", "other.jsonl")

    assert (1, 1) == (both.code, later.code)
    assert "would have the same name, '5b8efff79803'" in both.err
    assert "'5b8efff79803' is there already, and it is not the run of trace" in later.err


def test_secrets_do_not_enter_a_run(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The value of a credential-like variable is taken out of trace and output, which stay JSON."""
    monkeypatch.setenv("MY_API_TOKEN", "hunter2hunter2")
    tool = {"gen_ai.tool.name": "t", "gen_ai.tool.call.arguments": '{"key": "hunter2hunter2"}'}
    export(project, "one.jsonl", document(span(1, attributes=tool)))
    project.write("answer.txt", "it is hunter2hunter2")
    project("add", "group", "--trace", "one.jsonl", "--output", "answer.txt")
    written = b"".join(contents(project.root / "group").values())

    assert b"hunter2" not in written
    assert 'tool  t  {"key":"[redacted MY_API_TOKEN]"}' in project("show", "group/5b8efff79803").out


def test_control_characters_in_a_trace_are_shown_as_escapes(project: Project) -> None:
    """Model names, tool names and errors are data."""
    evil = "\x1b[2J\u202e"
    attributes = {"gen_ai.request.model": evil}
    export(
        project, "one.jsonl", document(chat(1, attributes=attributes, status={"code": 2, "message": evil}))
    )
    project("add", "group", "--trace", "one.jsonl", "--agent", evil)
    said = project("show", "group/5b8efff79803").out + project("list", "group").out

    assert not {"\x1b", "\u202e"} & set(said)
    assert "llm   \\x1b[2J\\u202e  10 in  5 out  $0.01  error: \\x1b[2J\\u202e\n" in said


def test_a_grader_of_files_cannot_tell_without_a_workdir(project: Project) -> None:
    """That nobody kept the files is not the agent's fault."""
    project.test("t", "from proctor import FileExists\ngraders = [FileExists(path='a', exists=False)]\n")
    export(project, "one.jsonl", document(chat(1)))
    project("add", "group", "--trace", "one.jsonl", "--test", "t", "--suite", "suite")
    (grade,) = project("grade", "group", "--json").json["groups"][0]["runs"][0]["grades"]

    assert ("inconclusive", "inputs_unusable") == (grade["outcome"], grade["cause"])
