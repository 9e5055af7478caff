"""The statelog of the Agency language's own tool: what its lines tell of each trace in it."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any, Final, cast

import msgspec
from msgspec import UNSET, UnsetType

from proctor.core.json_lines import NotJson, decoded
from proctor.core.trace_names import amount, as_value
from proctor.core.trace_sums import traced
from proctor.records.json_value import Json
from proctor.records.run import Ending
from proctor.records.trace import Event, LlmCall, ToolCall, Trace

_FORMAT: Final = 1
_MOST_BAD: Final = 3


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """What a statelog tells of one trace.

    Attributes:
        ending: how it ended, by the trace alone: `interrupted` where it breaks off.
        error: what the last error event said.
        output: the last value that was recorded as output, else the result of the last agentEnd.
        agent: the last name that the agent gave itself.
        code: `sha256:...` of the agent's code, as it was said at the start.
        started_at: ISO 8601; empty when no line says a time.
        ended_at: the same.
        duration_s: from the first line to the last.
        digest: of the lines, in order.
    """

    trace_id: str
    ending: Ending
    error: str = ""
    output: Json = None
    agent: str | None = None
    code: str | None = None
    started_at: str = ""
    ended_at: str = ""
    duration_s: float = 0.0
    digest: str = ""
    trace: Trace = Trace()


class Statelog(msgspec.Struct, frozen=True, kw_only=True):
    """A statelog file.

    Attributes:
        stories: one for each trace, in the order of their first lines.
        bad: the first lines that cannot be read, as number and reason.
        bad_count: how many there are.
        is_torn: the last line was never finished.
    """

    stories: tuple[Story, ...] = ()
    bad: tuple[tuple[int, str], ...] = ()
    bad_count: int = 0
    is_torn: bool = False


class _Line(msgspec.Struct):
    data: dict[str, Any]
    trace_id: str
    format_version: int | float = _FORMAT
    span_id: str | UnsetType | None = UNSET


_read: Final = msgspec.json.Decoder(_Line)


class StatelogReader:
    """Takes the lines of a statelog, one after another, without their ends."""

    def __init__(self) -> None:
        self._traces: dict[str, _Telling] = {}
        self._bad: list[tuple[int, str]] = []
        self._bad_count = 0

    def add(self, number: int, line: bytes, *, is_open: bool = False) -> str | None:
        """Take a line, and say to which trace it belongs; None for one that cannot be read.

        is_open: it is the last one and has no end; then it does not count as bad when it cannot be read.
        """
        try:
            said = decoded(_read, line)
            if said.format_version > _FORMAT:
                raise NotJson(f"it is of format {said.format_version:g}, and this proctor reads {_FORMAT}")
            if not isinstance(said.data.get("type"), str) or not said.trace_id:
                raise NotJson("it has no type of event, or no trace id")
        except NotJson as error:
            if not is_open:
                self._bad_count += 1
                if len(self._bad) < _MOST_BAD:
                    self._bad.append((number, str(error)))
            return None
        self._traces.setdefault(said.trace_id, _Telling()).add(said, line)
        return said.trace_id

    def finish(self, *, is_torn: bool) -> Statelog:
        """What all lines told."""
        is_whole = not is_torn and not self._bad_count
        return Statelog(
            stories=tuple(
                telling.story(trace_id, is_whole=is_whole) for trace_id, telling in self._traces.items()
            ),
            bad=tuple(self._bad),
            bad_count=self._bad_count,
            is_torn=is_torn,
        )


class _Telling:
    """What one trace has told so far."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()
        self._digest = hashlib.sha256()
        self._times: tuple[tuple[float, str], tuple[float, str]] | None = None
        self._calls: list[tuple[float, Event]] = []
        self._open: dict[str, list[tuple[float, str, Json]]] = {}
        self._has_end = self._after_failure = False
        self._result: Json = None
        self._output: Json | UnsetType = UNSET
        self._agent = self._code = None
        self._error = ""

    def add(self, line: _Line, text: bytes) -> None:
        # A byte-identical line was written twice, and happened once.
        mark = hashlib.blake2b(text, digest_size=16).digest()
        if mark in self._seen:
            return
        self._seen.add(mark)
        self._digest.update(mark)
        data, at = line.data, self._time(line.data.get("timestamp"))
        match data["type"]:
            case "agentStart":
                self._start(data)
            case "agentName":
                self._agent = _text(data.get("name")) or self._agent
            case "agentEnd":
                self._has_end, self._result = True, data.get("result")
            case "error":
                self._error = _text(data.get("message"))
                self._after_failure = self._after_failure or data.get("errorType") == "runtimeError"
            case "evalOutputRecorded":
                self._output = data.get("value")
            case "promptCompletion":
                self._prompt(data, at)
            case "toolCallStart":
                said = (at, _text(data.get("toolName")), as_value(data.get("args")))
                self._open.setdefault(_text(line.span_id), []).append(said)
            case "toolCall":
                self._tool(data, at, _text(line.span_id))
            case _:
                pass

    def story(self, trace_id: str, *, is_whole: bool) -> Story:
        first, last = self._times or ((0.0, ""), (0.0, ""))
        never_ended = [
            (at, ToolCall(name=name, arguments=arguments, error="it has no end"))
            for waiting in self._open.values()
            for at, name, arguments in waiting
        ]
        calls = sorted([*self._calls, *never_ended], key=lambda call: call[0])
        events = [
            msgspec.structs.replace(event, start_s=round(max(0.0, at - first[0]), 6)) for at, event in calls
        ]
        return Story(
            trace_id=trace_id,
            ending=self._ending(),
            error=self._error,
            output=self._result if self._output is UNSET else self._output,
            agent=self._agent,
            code=self._code,
            started_at=first[1],
            ended_at=last[1],
            duration_s=round(last[0] - first[0], 6),
            digest=self._digest.hexdigest(),
            trace=traced(events, is_whole=is_whole and self._has_end),
        )

    def _ending(self) -> Ending:
        if not self._has_end:
            return Ending.INTERRUPTED
        return Ending.ERROR if self._result is None and self._after_failure else Ending.OK

    def _start(self, data: dict[str, Any]) -> None:
        code = data.get("code")
        digest = cast("dict[str, Any]", code).get("closureHash") if isinstance(code, dict) else None
        if isinstance(digest, str) and len(digest) == 64 and digest.isalnum():
            self._code = f"sha256:{digest}"

    def _prompt(self, data: dict[str, Any], at: float) -> None:
        duration_s = _seconds(data.get("timeTaken"))
        usage, cost_usd = _part(data, "usage"), amount(_part(data, "cost").get("totalCost"))
        call = LlmCall(
            model=_text(data.get("model")) or None,
            tokens_in=_count(usage.get("inputTokens")),
            tokens_out=_count(usage.get("outputTokens")),
            cost_usd=cost_usd,
            cost_source=None if cost_usd is None else "trace",
            duration_s=duration_s,
        )
        self._calls.append((at - (duration_s or 0.0), call))

    def _tool(self, data: dict[str, Any], at: float, span: str) -> None:
        duration_s = _seconds(data.get("timeTaken"))
        start, name, arguments = at - (duration_s or 0.0), _text(data.get("toolName")), None
        if waiting := self._open.get(span):
            start, begun, arguments = waiting.pop(0)
            name = name or begun
        call = ToolCall(
            name=name, arguments=arguments, result=as_value(data.get("output")), duration_s=duration_s
        )
        self._calls.append((start, call))

    def _time(self, stamp: Any) -> float:
        """The time of a line, in seconds since 1970; that of the latest line for one that says none."""
        now = moment(stamp)
        if now is None:
            return self._times[1][0] if self._times else 0.0
        first, last = self._times or (now, now)
        self._times = min(first, now), max(last, now)
        return now[0]


def moment(stamp: Any) -> tuple[float, str] | None:
    """A time as a number and as ISO 8601 in UTC; None for what is no time."""
    try:
        if isinstance(stamp, str):
            at = datetime.fromisoformat(stamp)
            at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
        elif isinstance(stamp, int | float) and not isinstance(stamp, bool):
            at = datetime.fromtimestamp(stamp / 1000, UTC)
        else:
            return None
        return at.timestamp(), at.isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return None


def _seconds(milliseconds: Any) -> float | None:
    value = amount(milliseconds)
    return None if value is None else round(value / 1000, 6)


def _count(value: Any) -> int | None:
    number = amount(value)
    return int(number) if number is not None and number.is_integer() else None


def _part(data: dict[str, Any], name: str) -> dict[str, Any]:
    part = data.get(name)
    return cast("dict[str, Any]", part) if isinstance(part, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
