"""What `claude --output-format stream-json` says: one record a line, the last one of the type `result`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from proctor.agents.hosts.lines import Record, amount, items, mapping, plain, read_records, text, whole
from proctor.agents.hosts.skills import skills_read
from proctor.agents.hosts.told import Event, ModelCall, Told, ToolUse, Trouble, refusal, shared_out
from proctor.core.evidence import MCP_PREFIX, SKILL_TOOL
from proctor.records.evidence import Channel
from proctor.records.run import Ending

_SYNTHETIC: Final = "<synthetic>"
_ERRORS: Final = {
    "authentication_failed": "auth",
    "billing_error": "out_of_credit",
    "model_not_found": "not_found",
    "overloaded": "unavailable",
    "rate_limit": "rate_limit",
    "server_error": "unavailable",
}
"""What the host calls the errors of its provider, and what the table of faults calls them."""
_ENDED: Final = frozenset({"failed", "killed", "stopped"})
_NEAR: Final = 1.01
# What tokens of each kind cost in relation to each other: sent, from the cache, into the cache, written.
_WEIGHTS: Final = (20, 2, 25, 100)


def read_stream(path: Path, *, skills: Sequence[str] = (), named: str | None = None) -> Told:
    """What the stream says.

    Args:
        path: the file that holds it.
        skills: names of the artifact's skills, without its own name.
        named: the skill that the prompt named; the host puts it in without a call of a tool.

    Raises:
        OSError: it cannot be read.
    """
    reader = _Reader(skills)
    lines = read_records(path, reader.take)
    return reader.told(is_torn=lines.is_torn, broken=lines.why_broken, is_empty=not lines.count, named=named)


class _Call(msgspec.Struct, kw_only=True):
    """A reply of a model, of which each block comes in a record of its own."""

    place: int
    model: str
    sent: int = 0
    cached: int = 0
    written: int = 0
    said: list[str] = []
    characters: int = 0
    finish: str | None = None


class _Reader:
    def __init__(self, skills: Sequence[str]) -> None:
        self._skills = skills
        self._events: list[Event | None] = []
        self._calls: dict[str, _Call] = {}
        self._tools: dict[str, int] = {}
        self._servers: dict[str, str] = {}
        self._listed: frozenset[str] = frozenset()
        self._plugins: tuple[str, ...] | None = None
        self._tasks: dict[str, str] = {}
        self._result: Record | None = None
        self._error = ""
        self._last_text = ""
        self._waiting: Trouble | None = None
        self._notes: dict[str, None] = {}

    def take(self, record: Record) -> None:
        kind = record.get("type")
        if kind == "system":
            self._system(record)
            return
        self._waiting = None
        if kind == "assistant":
            self._assistant(record)
        elif kind == "user":
            self._user(record)
        elif kind == "result":
            self._result = record

    def _system(self, record: Record) -> None:
        kind = record.get("subtype")
        if kind == "init":
            self._init(record)
        elif kind == "api_retry":
            status = whole(record.get("error_status"))
            message = (
                f"The provider did not take a request ({status or text(record.get('error')) or 'no answer'})."
            )
            self._waiting = refusal(status, message) or _unavailable(message)
        elif kind == "task_started":
            self._tasks[text(record.get("task_id"))] = text(record.get("description"))
        elif kind in ("task_updated", "task_notification"):
            status = text(mapping(record.get("patch")).get("status")) or text(record.get("status"))
            task = text(record.get("task_id"))
            if status in _ENDED and task in self._tasks:
                what = self._tasks.pop(task)
                how = "failed" if status == "failed" else "was ended before it had finished"
                self._notes[f"Background work of the agent {how}: {what or task}."] = None

    def _init(self, record: Record) -> None:
        for server in map(mapping, items(record.get("mcp_servers"))):
            name = text(server.get("name"))
            own = name.rpartition(":")[2]
            self._servers[re.sub(r"[^A-Za-z0-9_-]", "_", name)] = own
            if text(server.get("status")) == "failed":
                self._notes[f"The MCP server {own!r} could not be started."] = None
        self._listed = frozenset(
            map(text, (*items(record.get("skills")), *items(record.get("slash_commands"))))
        )
        listed = record.get("plugins")
        if isinstance(listed, list):
            self._plugins = tuple(text(mapping(plugin).get("name")) for plugin in items(listed))

    def _assistant(self, record: Record) -> None:
        message = mapping(record.get("message"))
        self._error = text(record.get("error")) or self._error
        blocks = list(map(mapping, items(message.get("content"))))
        call = self._call(message)
        for block in blocks:
            said = text(block.get("text"))
            if block.get("type") == "text" and said:
                if not record.get("parent_tool_use_id"):
                    self._last_text = said
                if call is not None:
                    call.said.append(said)
            elif block.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use"):
                self._tools[text(block.get("id"))] = len(self._events)
                self._events.append(self._tool(block))
            if call is not None:
                call.characters += len(said) + len(str(block.get("input") or block.get("thinking") or ""))

    def _call(self, message: Any) -> _Call | None:
        name, model = text(message.get("id")), text(message.get("model"))
        if not name or model == _SYNTHETIC:
            return None
        if name not in self._calls:
            self._calls[name] = _Call(place=len(self._events), model=model)
            self._events.append(None)
        call, usage = self._calls[name], mapping(message.get("usage"))
        call.sent = max(call.sent, whole(usage.get("input_tokens")) or 0)
        call.cached = max(call.cached, whole(usage.get("cache_read_input_tokens")) or 0)
        call.written = max(call.written, whole(usage.get("cache_creation_input_tokens")) or 0)
        call.finish = text(message.get("stop_reason")) or call.finish
        return call

    def _tool(self, block: Any) -> ToolUse:
        own = text(block.get("name"))
        name = own
        if own.startswith(MCP_PREFIX):
            found = max(
                (server for server in self._servers if own.startswith(f"{MCP_PREFIX}{server}__")),
                key=len,
                default=None,
            )
            if found is not None:
                name = f"{MCP_PREFIX}{self._servers[found]}{own.removeprefix(MCP_PREFIX + found)}"
        return ToolUse(name=name, own_name=own if own != name else None, arguments=block.get("input"))

    def _user(self, record: Record) -> None:
        for block in map(mapping, items(mapping(record.get("message")).get("content"))):
            place = self._tools.get(text(block.get("tool_use_id")))
            if place is None:
                continue
            call = self._events[place]
            if isinstance(call, ToolUse):
                result = plain(block.get("content"))
                self._events[place] = msgspec.structs.replace(
                    call,
                    result=result,
                    error=(text(result) or "error")[:2_000] if block.get("is_error") is True else None,
                    at=text(record.get("timestamp")) or None,
                )

    def told(self, *, is_torn: bool, broken: str | None, is_empty: bool, named: str | None) -> Told:
        result = self._result or {}
        events = [*self._models(result), *self._activations(named)]
        is_complete = self._result is not None and not is_torn and broken is None
        channels: list[Channel] = ["tools", "mcp"]
        if not any(isinstance(event, ToolUse) and event.evidence == "inferred" for event in events):
            channels.append("skills")
        denied = [text(mapping(one).get("tool_name")) for one in items(result.get("permission_denials"))]
        if denied:
            self._notes[f"The host did not allow {', '.join(sorted(set(denied)))}."] = None
        trouble = self._trouble(result)
        if trouble is not None and trouble.kind not in ("error_max_turns", "cost-cap"):
            status = whole(result.get("api_error_status"))
            error = str(status) if status is not None else trouble.kind
            events.append(ModelCall(error=error, message=trouble.message))
        return Told(
            events=tuple(events),
            answer=None if trouble is not None else text(result.get("result")) or self._last_text or None,
            is_complete=is_complete,
            is_empty=is_empty,
            broken=broken,
            trouble=trouble,
            waiting=self._waiting if self._result is None else None,
            observes=tuple(channels) if is_complete else (),
            plugins=self._plugins,
            notes=tuple(self._notes),
        )

    def _models(self, result: Record) -> list[Event]:
        """The events with each model call, among which what the host says of its model in all is shared out."""
        events = list(self._events)
        by_model: dict[str, list[_Call]] = {}
        for call in self._calls.values():
            by_model.setdefault(call.model, []).append(call)
        used = {model: mapping(usage) for model, usage in mapping(result.get("modelUsage")).items()}
        costs = {model: amount(usage.get("costUSD")) for model, usage in used.items()}
        for model, (usage, cost) in self._costs(result, used, costs).items():
            calls = by_model.pop(model, [])
            sums = _sums(usage)
            rest = tuple(max(0, most - sum(parts)) for most, parts in zip(sums, _parts(calls), strict=True))
            if any(rest) or not calls:
                extra = _Call(place=len(events), model=model, sent=rest[0], cached=rest[1], written=rest[2])
                events.append(None)
                calls.append(extra)
            for call, made in zip(
                calls, _priced(calls, whole(usage.get("outputTokens")) or 0, cost), strict=True
            ):
                events[call.place] = made
        for calls in by_model.values():
            for call in calls:
                events[call.place] = _made(call)
        return [event for event in events if event is not None]

    def _costs(
        self, result: Record, used: dict[str, Any], costs: dict[str, float | None]
    ) -> dict[str, tuple[Any, float | None]]:
        """What each model was used for and cost. Of two sums of the cost that differ, the larger counts."""
        total, known = (
            amount(result.get("total_cost_usd")),
            [cost for cost in costs.values() if cost is not None],
        )
        if total is None or not costs or len(known) < len(costs):
            return {model: (used[model], costs[model]) for model in used}
        summed = sum(known)
        if max(total, summed) > _NEAR * min(total, summed):
            self._notes[
                f"The host says that it cost ${total:.6g} in all, and ${summed:.6g} by model; the larger counts."
            ] = None
        factor = total / summed if total > _NEAR * summed and summed else 1.0
        return {model: (used[model], (costs[model] or 0.0) * factor) for model in used}

    def _activations(self, named: str | None) -> Iterable[ToolUse]:
        """Skills that came into play without the tool that activates them."""
        calls = [event for event in self._events if isinstance(event, ToolUse)]
        called = {
            text(mapping(call.arguments).get("skill")).rpartition(":")[2]
            for call in calls
            if call.name == SKILL_TOOL and call.error is None
        }
        found = [named] if named is not None and named in self._listed else []
        found += skills_read((call.arguments for call in calls if call.name != SKILL_TOOL), self._skills)
        for skill in dict.fromkeys(found):
            if skill.rpartition(":")[2] not in called:
                yield ToolUse(name=SKILL_TOOL, arguments={"skill": skill}, evidence="inferred")

    def _trouble(self, result: Record) -> Trouble | None:
        if result.get("is_error") is not True:
            return None
        kind = text(result.get("subtype"))
        message = text(result.get("result")) or "; ".join(map(text, items(result.get("errors")))) or kind
        if kind == "error_max_budget_usd":
            return Trouble(ending=Ending.COST_CAP, kind="cost-cap", message=message)
        if (known := _ERRORS.get(self._error)) is not None:
            return Trouble(ending=Ending.HARNESS_FAILURE, kind=known, message=message)
        refused = refusal(whole(result.get("api_error_status")), message)
        return refused or Trouble(ending=Ending.ERROR, kind=kind or "error", message=message)


def _unavailable(message: str) -> Trouble:
    return Trouble(ending=Ending.HARNESS_FAILURE, kind="unavailable", message=message)


def _sums(usage: Any) -> tuple[int, int, int]:
    names = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    sent, cached, written = (whole(usage.get(name)) or 0 for name in names)
    return sent, cached, written


def _parts(calls: Sequence[_Call]) -> tuple[list[int], list[int], list[int]]:
    return [call.sent for call in calls], [call.cached for call in calls], [call.written for call in calls]


def _priced(calls: Sequence[_Call], tokens_out: int, cost: float | None) -> list[ModelCall]:
    """The calls of one model: what was written goes by length, what it cost by tokens."""
    outs = shared_out(tokens_out, [call.characters for call in calls])
    weights = [
        sum(
            weight * tokens
            for weight, tokens in zip(_WEIGHTS, (call.sent, call.cached, call.written, out), strict=True)
        )
        for call, out in zip(calls, outs, strict=True)
    ]
    all_of_it = sum(weights)
    return [
        msgspec.structs.replace(
            _made(call),
            tokens_out=out,
            cost_usd=None if cost is None else cost * weight / all_of_it if all_of_it else cost / len(calls),
        )
        for call, out, weight in zip(calls, outs, weights, strict=True)
    ]


def _made(call: _Call) -> ModelCall:
    return ModelCall(
        model=call.model,
        tokens_in=call.sent + call.cached + call.written,
        tokens_cached=call.cached,
        tokens_written=call.written,
        said="\n".join(call.said),
        finish=call.finish,
    )
