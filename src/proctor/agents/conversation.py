"""What a test's input is to a language model: the messages of a conversation."""

from __future__ import annotations

from typing import Any, cast

from msgspec import UNSET

from proctor.errors import Fault
from proctor.host.place import input_text, without_lone_surrogates
from proctor.models.question import Message
from proctor.records.suite import Test

_ROLES = ("system", "user", "assistant")


def messages_of(test: Test, system: str | None) -> tuple[Message, ...]:
    """The messages, the system prompt first where there is one.

    A list of objects that have a `role` and a text as `content`, and nothing else, is the conversation itself;
    any other input is one message of the user, text as it is and anything else as compact JSON.
    """
    spoken = _conversation(test.input)
    if spoken is None:
        spoken = (Message(role="user", content=input_text(test) or ""),)
    first = () if system is None else (Message(role="system", content=system),)
    return first + spoken


def fault_of(test: Test) -> Fault | None:
    """What a test lacks to be given to a model: an input that says something."""
    where = f"test {test.id!r}"
    if test.input is UNSET or not input_text(test):
        return Fault("A model is asked something, and the test has no input.", where, "Give it an input.")
    spoken = _conversation(test.input)
    if spoken is not None and spoken[-1].role != "user":
        what = f"The conversation ends with the role {spoken[-1].role!r}, and the user has the last word."
        return Fault(what, where, "End it with what the user says.")
    return None


def _conversation(given: Any) -> tuple[Message, ...] | None:
    if not isinstance(given, list) or not given:
        return None
    spoken: list[Message] = []
    for entry in cast("list[Any]", given):
        if not isinstance(entry, dict) or set(cast("dict[str, Any]", entry)) != {"role", "content"}:
            return None
        said = cast("dict[str, Any]", entry)
        if said["role"] not in _ROLES or not isinstance(said["content"], str):
            return None
        spoken.append(Message(role=said["role"], content=without_lone_surrogates(said["content"])))
    return tuple(spoken)
