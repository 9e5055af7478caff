"""What a trace can bear, and whose failure a trial was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.core.evidence import calls_on, channels_of, failure_of
from proctor.core.objective import fold
from proctor.records.annotation import Annotator, ScoreRow
from proctor.records.evidence import Channels, Level
from proctor.records.grade import Cause, Outcome
from proctor.records.run import Ending, Record
from proctor.records.trace import Trace
from proctor.stores.tracefile import read_trace


def spans(
    path: Path, *named: str, resource: dict[str, str], attributes: dict[str, str] | None = None
) -> None:
    """A line of OTLP/JSON with a call of each tool, and one span that is none with these attributes."""

    def listed(pairs: dict[str, str]) -> list[dict[str, Any]]:
        return [{"key": key, "value": {"stringValue": value}} for key, value in pairs.items()]

    calls = [{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name} for name in named]
    document = {
        "resourceSpans": [
            {
                "resource": {"attributes": listed(resource)},
                "scopeSpans": [
                    {
                        "spans": [
                            {
                                "traceId": "0" * 31 + "1",
                                "spanId": f"{number + 1:016x}",
                                "name": "session",
                                "startTimeUnixNano": str(1000 + number),
                                "endTimeUnixNano": str(2000 + number),
                                "attributes": listed(said),
                            }
                            for number, said in enumerate([attributes or {}, *calls])
                        ]
                    }
                ],
            }
        ]
    }
    with path.open("a") as file:
        file.write(json.dumps(document) + "\n")


OURS = {"proctor.evidence": "observed"}
SEES_ALL = {"proctor.observes": "tools mcp skills"}


def test_a_host_that_saw_every_call_can_say_that_there_was_none(tmp_path: Path) -> None:
    """It says so in a span that proctor records; then no call is an observation."""
    spans(tmp_path / "trace.jsonl", resource=OURS, attributes=SEES_ALL)
    trace = read_trace(str(tmp_path))

    assert ("mcp", "skills", "tools") == trace.observes
    assert Channels(
        tools=Level.OBSERVED, mcp=Level.OBSERVED, skills=Level.OBSERVED, is_whole=True
    ) == channels_of(trace)


def test_an_agent_cannot_say_of_itself_that_it_was_observed(tmp_path: Path) -> None:
    """Only a span that proctor recorded counts."""
    spans(tmp_path / "trace.jsonl", "search", resource={}, attributes=SEES_ALL)

    assert Level.INFERRED is channels_of(read_trace(str(tmp_path))).tools


def test_what_proctor_saw_of_one_channel_says_nothing_of_another(tmp_path: Path) -> None:
    """A call of a tool that was observed is no observation of skills."""
    spans(tmp_path / "trace.jsonl", "search", resource=OURS)
    channels = channels_of(read_trace(str(tmp_path)))

    assert (Level.OBSERVED, Level.INFERRED, Level.INFERRED) == (channels.tools, channels.mcp, channels.skills)


def test_the_agents_own_calls_do_not_stand_beside_those_that_were_seen(tmp_path: Path) -> None:
    """What it tells is told twice otherwise."""
    spans(tmp_path / "trace.jsonl", "search", resource=OURS)
    spans(tmp_path / "trace.jsonl", "other", "search", resource={"service.name": "agent"})
    trace = read_trace(str(tmp_path))
    record = Record(ending=Ending.OK, events=trace.events, channels=channels_of(trace))

    assert ["search"] == [call.name for call in calls_on(record, "tools")]


def test_without_a_trace_nothing_can_be_seen() -> None:
    """A trace without any call is another thing: it says that there was none."""
    assert Level.UNAVAILABLE is channels_of(None).tools
    assert Level.INFERRED is channels_of(Trace(is_whole=True)).tools
    assert Level.UNAVAILABLE is channels_of(Trace(is_whole=False)).tools


@pytest.mark.parametrize(
    ("outcomes", "outcome"),
    [("pass inconclusive", "inconclusive"), ("pass fail inconclusive", "fail"), ("pass pass", "pass")],
)
def test_assertions_fold_as_gates_do(outcomes: str, outcome: str) -> None:
    """A fail decides, then what could not be told, then a pass."""
    rows = [
        ScoreRow(
            v=1,
            run="r",
            annotator=Annotator(kind="grader", id="a"),
            round_id="x",
            round_size=3,
            name=f"{number}",
            scale="binary",
            score={"pass": 1.0, "fail": 0.0}.get(said),
            outcome=Outcome(said),
            weight=1.0,
            must_pass=True,
            threshold=0.0,
        )
        for number, said in enumerate(outcomes.split())
    ]

    assert outcome == fold(rows).outcome


@pytest.mark.parametrize(
    ("ending", "kind", "code", "stage"),
    [
        (Ending.HARNESS_FAILURE, "fixture", "EVAL_FIXTURE_UNAVAILABLE", "fixture"),
        (Ending.HARNESS_FAILURE, "artifact", "EVAL_ARTIFACT_UNAVAILABLE", "artifact"),
        (Ending.HARNESS_FAILURE, "trace", "EVAL_TRACE_UNAVAILABLE", "trace"),
        (Ending.HARNESS_FAILURE, "no-program", "EVAL_PROCESS_UNAVAILABLE", "preflight"),
        (Ending.HARNESS_FAILURE, None, "EVAL_PROCESS_UNAVAILABLE", "preflight"),
        (Ending.TIMEOUT, None, "EVAL_PLUGIN_TIMED_OUT", None),
        (Ending.ERROR, None, "EVAL_PLUGIN_PROCESS_FAILED", None),
        (Ending.KILLED, None, "EVAL_PLUGIN_PROCESS_FAILED", None),
        (Ending.COST_CAP, None, "EVAL_PLUGIN_PROCESS_FAILED", None),
        (Ending.INTERRUPTED, None, None, None),
    ],
)
@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.INCONCLUSIVE])
def test_an_ending_has_one_owner(
    ending: Ending, kind: str | None, code: str | None, stage: str | None, outcome: Outcome
) -> None:
    """Whatever its grades came to; an interruption is nobody's."""
    failure = failure_of(ending, outcome, [Cause.EVAL_GRADER_FAILED], kind=kind)

    assert (code, stage) == ((failure.code, failure.stage) if failure else (None, None))
    if failure is not None:
        assert ("harness" if stage else "agent") == failure.owner


@pytest.mark.parametrize("cause", list(Cause))
def test_only_the_graders_own_causes_are_harness_failures(cause: Cause) -> None:
    """Too little evidence, or a judge that cannot tell, is inconclusive and no failure."""
    failure = failure_of(Ending.OK, Outcome.INCONCLUSIVE, [None, cause])
    is_grader = cause.value.startswith("grader") or cause is Cause.EVAL_GRADER_FAILED

    assert ("EVAL_GRADER_FAILED" if is_grader else None) == (failure and failure.code)
