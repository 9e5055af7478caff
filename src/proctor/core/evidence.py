"""What a trace can bear, the calls that it tells of by channel, and whose failure a trial was."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias, cast

from proctor.records.evidence import AgentCode, Channels, Failure, HarnessCode, Level, Stage
from proctor.records.grade import Cause, Outcome
from proctor.records.json_value import Json, json_equal
from proctor.records.run import Ending, Record
from proctor.records.trace import Event, ToolCall, Trace

CallChannel: TypeAlias = Literal["tools", "mcp", "skills"]

SKILL_TOOL: Final = "Skill"
"""A call of this tool activates the skill that it names."""
MCP_PREFIX: Final = "mcp__"
"""A tool of an MCP server is named `mcp__SERVER__TOOL`."""

_ALL: Final = ("tools", "mcp", "skills")


def channels_of(trace: Trace | None) -> Channels:
    """The level of each channel of a trace; without one, nothing can be seen.

    A channel is observed where proctor itself recorded it, and all of it. One that breaks off bears no more than
    what an agent says of itself.

    >>> channels_of(Trace(is_whole=True)).tools.value, channels_of(None).tools.value
    ('inferred', 'unavailable')
    """
    if trace is None:
        return Channels()
    levels = {name: _level(trace, name) for name in _ALL}
    return Channels(**levels, is_whole=trace.is_whole)


def _level(trace: Trace, channel: CallChannel) -> Level:
    if not trace.is_whole:
        return Level.INFERRED if trace.events else Level.UNAVAILABLE
    return Level.OBSERVED if _is_observed(trace.events, trace.observes, channel) else Level.INFERRED


def _is_observed(events: Iterable[Event], observes: Iterable[str], channel: CallChannel) -> bool:
    return channel in observes or any(call.evidence == "observed" for call in _of(events, channel))


def calls_on(record: Record, channel: CallChannel) -> Sequence[ToolCall]:
    """The calls of a channel. Where proctor saw them itself, what the agent says of its own adds nothing.

    `tools` has all calls of tools, those of MCP servers and of skills included.
    """
    calls = list(_of(record.events, channel))
    seen = [call for call in calls if call.evidence == "observed"]
    return seen if seen or getattr(record.channels, channel) is Level.OBSERVED else calls


def _of(events: Iterable[Event], channel: CallChannel) -> Iterable[ToolCall]:
    for event in events:
        if not isinstance(event, ToolCall):
            continue
        if (
            channel == "tools"
            or (channel == "mcp" and event.name.startswith(MCP_PREFIX))
            or (channel == "skills" and event.name == SKILL_TOOL)
        ):
            yield event


def is_mcp_call(call: ToolCall, server: str, tool: str | None) -> bool:
    """True for a call of that tool of that server, or of any of its tools.

    >>> is_mcp_call(ToolCall(name="mcp__docs__search"), "docs", "search")
    True
    """
    prefix = f"{MCP_PREFIX}{server}__"
    return call.name.startswith(prefix) if tool is None else call.name == prefix + tool


def skills_of(call: ToolCall) -> frozenset[str]:
    """The names of the skill that a call activates: as it is given, and less the plugin that it comes from.

    >>> sorted(skills_of(ToolCall(name="Skill", arguments={"skill": "release:notes"})))
    ['notes', 'release:notes']
    """
    given = call.arguments
    if not isinstance(given, dict):
        return frozenset()
    arguments = cast("dict[str, Json]", given)
    for key in ("skill", "command", "name"):
        name = arguments.get(key)
        if isinstance(name, str) and name:
            return frozenset({name, name.rpartition(":")[2]})
    return frozenset()


def holds_arguments(call: ToolCall, wanted: Json) -> bool:
    """True when the call was given these arguments, whatever others it was given beside them.

    >>> holds_arguments(ToolCall(name="t", arguments={"city": "Oslo", "days": 3}), {"city": "Oslo"})
    True
    """
    return _holds(call.arguments, wanted)


def _holds(value: Json, wanted: Json) -> bool:
    if isinstance(wanted, Mapping):
        parts = cast("Mapping[str, Json]", wanted)
        return isinstance(value, dict) and all(
            key in value and _holds(value[key], part) for key, part in parts.items()
        )
    return json_equal(value, wanted)


_BY_KIND: Final = {
    "artifact": (HarnessCode.ARTIFACT, Stage.ARTIFACT),
    "fixture": (HarnessCode.FIXTURE, Stage.FIXTURE),
    "trace": (HarnessCode.TRACE, Stage.TRACE),
}
"""By kind of fault, as `proctor.core.faults` names them."""


def failure_of(
    ending: Ending, outcome: Outcome, causes: Iterable[Cause | None], *, kind: str | None = None
) -> Failure | None:
    """Whose failure a trial was, and which: one, or None for one that passed, or says nothing for another reason.

    Args:
        ending: how it ended.
        outcome: what its grades came to.
        causes: why grades of it are inconclusive.
        kind: the kind of the fault, where the ending is nobody's evidence.
    """
    if ending is Ending.INTERRUPTED:
        return None
    if not ending.is_evidence:
        code, stage = _BY_KIND.get(kind or "", (HarnessCode.PROCESS, Stage.PREFLIGHT))
        return Failure(owner="harness", code=code, stage=stage)
    if ending is Ending.TIMEOUT:
        return Failure(owner="agent", code=AgentCode.TIMED_OUT)
    if ending is not Ending.OK:
        return Failure(owner="agent", code=AgentCode.PROCESS_FAILED)
    if outcome is Outcome.FAIL:
        return Failure(owner="agent", code=AgentCode.ASSERTION_FAILED)
    if outcome is Outcome.INCONCLUSIVE and any(cause in GRADER_CAUSES for cause in causes):
        return Failure(owner="harness", code=HarnessCode.GRADER, stage=Stage.GRADER)
    return None


GRADER_CAUSES: Final = frozenset(
    {
        Cause.EVAL_GRADER_FAILED,
        Cause.GRADER_RAISED,
        Cause.GRADER_RETURNED_NONSENSE,
        Cause.GRADER_TIMEOUT,
        Cause.GRADER_DIED,
        Cause.GRADER_CHANGED_WORKDIR,
        Cause.GRADERS_UNLOADABLE,
    }
)
"""Causes that are the grader's own fault."""
