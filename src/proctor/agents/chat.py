"""The chat protocol of OpenAI, which many servers of models and agents speak."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlsplit

import msgspec

from proctor.agents import answers
from proctor.agents.conversation import fault_of, messages_of
from proctor.agents.seen import SeenCall
from proctor.core.trace_names import amount
from proctor.errors import Fault, UsageError
from proctor.models.providers import PROVIDERS
from proctor.records.json_value import Json, digest_of
from proctor.records.run import Attempt, Ending
from proctor.records.suite import Test

PATH_END = "/chat/completions"
"""An endpoint whose path ends so is spoken to in this protocol."""

_OURS = ("messages", "model", "stream")


class ChatDialect:
    """Messages go there, and the first choice's text comes back.

    Args:
        host: whom it is asked of; named in the trace.
        model: the model that is asked for; none is named when None.
        system: the system prompt.
        params: further fields of the request, such as `temperature`.

    Raises:
        UsageError: a field of the request is ours to write.
    """

    kind = "chat"

    def __init__(
        self,
        host: str,
        *,
        model: str | None = None,
        system: str | None = None,
        params: Mapping[str, Json] | None = None,
    ) -> None:
        self._host, self._model, self._system, self._params = host, model, system, dict(params or {})
        for name in _OURS:
            if name in self._params:
                instead = "Give it as --model NAME." if name == "model" else f"Leave out --param {name}."
                raise UsageError(f"the field {name!r} of the request is written by proctor", fix=instead)

    def told(self) -> dict[str, Json]:
        """Model, system prompt by digest, and fields."""
        system = None if self._system is None else digest_of(self._system)
        return {"model": self._model, "system": system, "params": self._params}

    def needs(self, test: Test) -> Fault | None:
        """An input."""
        return fault_of(test)

    def body(self, test: Test) -> bytes:
        """The request."""
        asked: dict[str, Json] = {} if self._model is None else {"model": self._model}
        asked["messages"] = messages_of(test, self._system)
        return msgspec.json.encode(asked | self._params)

    def read(self, status: int, body: bytes, headers: Mapping[str, str]) -> Attempt:
        """The text of the first choice; words in which the model refuses are an answer like any other."""
        try:
            reply = answers.json_of(body)
            choice = _choice(reply)
        except answers.NotReadable as err:
            text = answers.text_of_body(body, headers) or None
            return answers.error("not-chat", f"The answer is no chat completion: {err}.", text)
        notes: list[str] = []
        finish = choice.get("finish_reason")
        if finish == "length":
            notes.append(answers.CUT_NOTE)
        if finish == "content_filter":
            notes.append("The provider's filter held the answer back.")
        text = _text(choice)
        if text is None and choice["message"].get("tool_calls"):
            notes.append("The model answered with tool calls, which nobody runs here.")
        return Attempt(ending=Ending.OK, output=text or None, notes=tuple(notes))

    def seen(self, test: Test, answer: bytes | None) -> SeenCall | None:
        """The call, with the usage that the answer reports."""
        asked = messages_of(test, self._system)
        call = SeenCall(provider=_provider(self._host), model=self._model, asked=asked)
        if answer is None:
            return call
        try:
            reply = answers.json_of(answer)
            choice = _choice(reply)
        except answers.NotReadable:
            return call
        usage = _object(reply.get("usage"))
        return msgspec.structs.replace(
            call,
            answered_by=_string(reply.get("model")),
            response_id=_string(reply.get("id")),
            finish=_string(choice.get("finish_reason")),
            tokens_in=_count(usage.get("prompt_tokens")),
            cached_in=_count(_object(usage.get("prompt_tokens_details")).get("cached_tokens")),
            tokens_out=_count(usage.get("completion_tokens")),
            cost_usd=amount(usage.get("cost")),
            answered=_text(choice),
        )


def _provider(host: str) -> str:
    """The provider that a host is known to be of, else the host itself."""
    for name, provider in PROVIDERS.items():
        if urlsplit(provider.base_url).hostname == host:
            return name
    return host


def _choice(reply: Any) -> dict[str, Any]:
    """The first choice of a completion."""
    if not isinstance(reply, dict):
        raise answers.NotReadable("it is no object")
    completion = cast("dict[str, Any]", reply)
    choices = completion.get("choices")
    if not isinstance(choices, list) or not choices:
        said = completion.get("error")
        raise answers.NotReadable(f"it says {said}" if said else "it has no choices")
    choice = _object(cast("list[Any]", choices)[0])
    if not isinstance(choice.get("message"), dict):
        raise answers.NotReadable("its first choice has no message")
    return choice


def _text(choice: dict[str, Any]) -> str | None:
    message = cast("dict[str, Any]", choice["message"])
    content = message.get("content")
    if isinstance(content, list):
        parts = [_object(part).get("text") for part in cast("list[Any]", content)]
        content = "".join(part for part in parts if isinstance(part, str))
    return _string(content) or _string(message.get("refusal")) or _string(content)


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: Any) -> int | None:
    number = amount(value)
    return int(number) if number is not None and number.is_integer() else None
