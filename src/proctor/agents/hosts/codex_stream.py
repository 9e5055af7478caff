"""What `codex exec --json` says: one event a line, the last one `turn.completed` or `turn.failed`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from proctor.agents.hosts.lines import Record, mapping, plain, read_records, text, whole
from proctor.agents.hosts.skills import skills_read
from proctor.agents.hosts.told import Event, ModelCall, Told, ToolUse, Trouble, refusal
from proctor.core.evidence import MCP_PREFIX, SKILL_TOOL
from proctor.records.json_value import Json
from proctor.records.run import Ending

_STATUS: Final = re.compile(r"\bunexpected status (\d{3})\b")
_SENTENCES: Final = (
    ("Quota exceeded", "out_of_credit"),
    ("usage limit", "rate_limit"),
    ("high demand", "unavailable"),
    ("stream disconnected", "unavailable"),
    ("error sending request", "unreachable"),
    ("Connection failed", "unreachable"),
)
"""Sentences of the host's own about its provider, and what the table of faults calls that."""
_TOO_LONG: Final = "context window"
_SILENT: Final = frozenset({"agent_message", "reasoning", "error", "todo_list"})
"""Items that are no calls of tools."""


def read_stream(path: Path, *, skills: Sequence[str] = (), named: str | None = None) -> Told:
    """What the stream says. It does not say which model answered, nor how often one was asked.

    Args:
        path: the file that holds it.
        skills: names of the artifact's skills, without its own name.
        named: the skill that the prompt named; the host puts it in without a word.

    Raises:
        OSError: it cannot be read.
    """
    reader = _Reader()
    lines = read_records(path, reader.take)
    return reader.told(
        is_torn=lines.is_torn, broken=lines.why_broken, is_empty=not lines.count, skills=skills, named=named
    )


class _Reader:
    def __init__(self) -> None:
        self._events: list[Event] = []
        self._places: dict[str, int] = {}
        self._answer: str | None = None
        self._said: list[str] = []
        self._is_over = False
        self._trouble: Trouble | None = None
        self._waiting: Trouble | None = None
        self._has_worked = False
        self._notes: dict[str, None] = {}

    def take(self, record: Record) -> None:
        kind = text(record.get("type"))
        if kind == "error":
            self._waiting = _trouble(text(record.get("message")))
            return
        if kind.startswith("item."):
            self._item(mapping(record.get("item")), is_over=kind == "item.completed")
        elif kind == "turn.started":
            self._is_over = False
        elif kind == "turn.completed":
            self._is_over = True
            self._turn(mapping(record.get("usage")))
        elif kind == "turn.failed":
            self._is_over = True
            message = text(mapping(record.get("error")).get("message"))
            self._trouble = _trouble(message)
            # What the calls before this one took is not said.
            status = _STATUS.search(message)
            refused = status[1] if status is not None and not self._has_worked else "turn.failed"
            self._events.append(ModelCall(error=refused, message=message))
        self._waiting = None

    def _item(self, item: Any, *, is_over: bool) -> None:
        kind, name = text(item.get("type")), text(item.get("id"))
        if kind in _SILENT:
            if kind == "agent_message" and is_over:
                self._has_worked = True
                self._answer = text(item.get("text")) or self._answer
                self._said.append(text(item.get("text")))
            elif kind == "error" and is_over:
                self._notes[f"Codex says: {text(item.get('message'))}"] = None
            return
        if not kind:
            return
        self._has_worked = True
        made = _tool(kind, item, is_over=is_over)
        if name and name in self._places:
            self._events[self._places[name]] = made
        else:
            self._places[name] = len(self._events)
            self._events.append(made)

    def _turn(self, usage: Any) -> None:
        self._events.append(
            ModelCall(
                tokens_in=whole(usage.get("input_tokens")),
                tokens_cached=whole(usage.get("cached_input_tokens")),
                tokens_written=whole(usage.get("cache_write_input_tokens")),
                tokens_out=whole(usage.get("output_tokens")),
                said="\n".join(self._said),
            )
        )
        self._said = []

    def told(
        self, *, is_torn: bool, broken: str | None, is_empty: bool, skills: Sequence[str], named: str | None
    ) -> Told:
        given = [event.arguments for event in self._events if isinstance(event, ToolUse)]
        read = ([named] if named is not None and not is_empty else []) + skills_read(given, skills)
        activated = [
            ToolUse(name=SKILL_TOOL, arguments={"skill": skill}, evidence="inferred")
            for skill in dict.fromkeys(read)
        ]
        is_complete = self._is_over and not is_torn and broken is None
        return Told(
            events=(*self._events, *activated),
            answer=None if self._trouble is not None else self._answer,
            is_complete=is_complete,
            is_empty=is_empty,
            broken=broken,
            trouble=self._trouble,
            waiting=None if self._is_over else self._waiting,
            # Calls of some of its own tools are not in its stream.
            observes=("mcp",) if is_complete else (),
            notes=tuple(self._notes),
        )


def _tool(kind: str, item: Any, *, is_over: bool) -> ToolUse:
    name: str
    arguments: Json
    result: Json
    if kind == "mcp_tool_call":
        name = f"{MCP_PREFIX}{text(item.get('server'))}__{text(item.get('tool'))}"
        arguments = item.get("arguments")
        result = plain(mapping(item.get("result")).get("content"))
    else:
        name = kind
        known = ("command", "changes", "query", "prompt", "tool", "action")
        arguments = {key: item[key] for key in known if key in item}
        result = item.get("aggregated_output") if is_over else None
    return ToolUse(name=name, arguments=arguments, result=result, error=_error(item) if is_over else None)


def _error(item: Any) -> str | None:
    if text(item.get("status")) not in ("failed", "declined"):
        return None
    message = text(mapping(item.get("error")).get("message"))
    code = whole(item.get("exit_code"))
    return message or (f"exit code {code}" if code is not None else text(item.get("status")))


def _trouble(message: str) -> Trouble:
    """What the host's own message says of its provider; its stream has no other field for that."""
    found = _STATUS.search(message)
    refused = refusal(int(found[1]), message) if found is not None else None
    if refused is not None:
        return refused
    for sentence, kind in _SENTENCES:
        if sentence.casefold() in message.casefold():
            return Trouble(ending=Ending.HARNESS_FAILURE, kind=kind, message=message)
    if _TOO_LONG in message:
        return Trouble(ending=Ending.ERROR, kind="context-window", message=message)
    return Trouble(ending=Ending.HARNESS_FAILURE, kind="bad_request", message=message or "The turn failed.")
