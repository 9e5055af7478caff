"""Spans from an agent that has no instrumentation: what it asks of models and tools, for the trace of its run.

    from proctor.trace import llm_call, note, span, tool_call

    @tool_call
    def weather(city: str) -> str: ...

    with span("plan"):
        with llm_call("gpt-4o", provider="openai") as call:
            reply = client.chat.completions.create(...)
            call.usage(tokens_in=reply.usage.prompt_tokens, tokens_out=reply.usage.completion_tokens)
        note("planned", steps=3)

Where no endpoint is set (`OTEL_EXPORTER_OTLP_ENDPOINT`) nothing happens. Nothing in here raises, whatever it is given
and whatever becomes of the spans. Only the standard library is imported, and little of it.
"""

from __future__ import annotations

import os
import time
from contextvars import ContextVar

from proctor._send import SENDER, json_text, shortened

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Token
    from types import TracebackType
    from typing import Any, Self, TypeVar, overload

    Function = TypeVar("Function", bound=Callable[..., Any])
else:

    def overload(function: object) -> object:
        """Nothing at run time: `typing` costs more than all of this module."""
        return function


__all__ = ["LlmSpan", "Span", "ToolSpan", "flush", "llm_call", "note", "span", "tool_call"]

_FAILED = 2
_INTERNAL, _CLIENT = 1, 3
_COROUTINE = 0x80


def span(name: str, **attributes: Any) -> Span:
    """A stretch of the agent's work: for `with`, and as a decorator.

    Args:
        name: what it is called in the trace.
        attributes: facts about it: numbers, texts, lists, mappings.
    """
    return Span(name, attributes)


def llm_call(
    model: str,
    *,
    provider: str | None = None,
    operation: str = "chat",
    messages: Any = None,
    **attributes: Any,
) -> LlmSpan:
    """A call of a language model. `usage` and `answered` say what came of it.

    Args:
        model: the one that is asked.
        provider: whose it is, such as `openai`: prices go by it.
        operation: `chat`, `text_completion`, `generate_content` or `embeddings`.
        messages: what it is asked.
        attributes: further facts.
    """
    said = {
        "gen_ai.operation.name": operation,
        "gen_ai.request.model": model,
        "gen_ai.provider.name": provider,
        "gen_ai.input.messages": json_text(messages),
        **attributes,
    }
    return LlmSpan(f"{operation} {model}", said, kind=_CLIENT)


@overload
def tool_call(name: Function, /) -> Function: ...  # noqa: D103
@overload
def tool_call(name: str = "", /, *, arguments: Any = None, **attributes: Any) -> ToolSpan: ...  # noqa: D103, F811
def tool_call(name: Any = "", /, *, arguments: Any = None, **attributes: Any) -> Any:  # noqa: F811
    """A call of a tool: for `with`, or as a decorator, which takes name, arguments and result from the function.

    Args:
        name: of the tool; as `@tool_call` alone, the function.
        arguments: what it is given.
        attributes: further facts.
    """
    if callable(name):
        return ToolSpan("", {})(name)
    said = {"gen_ai.tool.call.arguments": json_text(arguments), **attributes}
    return ToolSpan(str(name), said)


def note(text: str, **attributes: Any) -> None:
    """A moment in the span that is open; where none is, a span without length."""
    here = _current.get()
    if here is None:
        with Span(text, attributes):
            return
    here.moments.append((time.time_ns(), text, attributes))


def flush() -> None:
    """Send what has not been sent yet. It happens by itself, at the latest when the process ends."""
    SENDER.flush()


class Span:
    """What `span` gives.

    Attributes:
        attributes: facts about it.
        moments: what `note` has said: nanoseconds since 1970, text, facts.
        trace_id: 32 hexadecimal digits, while it is open; empty where nothing is traced.
        span_id: 16 of them.
    """

    def __init__(self, name: str, attributes: dict[str, Any], *, kind: int = _INTERNAL) -> None:
        self._name, self._kind = name, kind
        self.attributes = attributes
        self.moments: list[tuple[int, str, dict[str, Any]]] = []
        self._error = ""
        self._token: Token[Span | None] | None = None
        self.trace_id = self.span_id = self._parent_id = ""
        self._started = self._clock = 0

    def set(self, **attributes: Any) -> Self:
        """Add facts about it."""
        self.attributes.update(attributes)
        return self

    def failed(self, reason: object) -> Self:
        """Say that it failed, where no exception goes through it."""
        self.attributes["error.type"] = (
            type(reason).__name__ if isinstance(reason, BaseException) else "error"
        )
        self._error = json_text(str(reason)) or "error"
        return self

    def __enter__(self) -> Self:
        if SENDER.is_on():
            above = _current.get()
            if above is None:
                self.trace_id, self._parent_id = _given()
            else:
                self.trace_id, self._parent_id = above.trace_id, above.span_id
            self.span_id = os.urandom(8).hex()
            self._token = _current.set(self)
            self._started, self._clock = time.time_ns(), time.perf_counter_ns()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        token, self._token = self._token, None
        if token is None:
            return
        lasted = time.perf_counter_ns() - self._clock
        try:
            _current.reset(token)
        except ValueError:
            # It was begun in another context, such as that of a generator.
            _current.set(None)
        if error is not None and not self._error and not isinstance(error, SystemExit | GeneratorExit):
            self.failed(error)
        SENDER.add(self._finished(lasted))

    def __call__(self, function: Function) -> Function:
        """The function, with a span of this kind around each of its calls."""
        code = getattr(function, "__code__", None)
        if code is not None and code.co_flags & _COROUTINE:

            async def traced_async(*arguments: Any, **named: Any) -> Any:
                with self._around(function, arguments, named) as around:
                    return self._gave(around, await function(*arguments, **named))

            return _dressed(traced_async, function)

        def traced(*arguments: Any, **named: Any) -> Any:
            with self._around(function, arguments, named) as around:
                return self._gave(around, function(*arguments, **named))

        return _dressed(traced, function)

    def _around(self, function: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Span:
        """A span of this kind for one call."""
        del arguments, named
        return type(self)(self._name or _name_of(function), dict(self.attributes), kind=self._kind)

    def _gave(self, around: Any, value: Any) -> Any:
        """What the function returned."""
        del around
        return value

    def _finished(self, lasted: int) -> dict[str, Any]:
        made: dict[str, Any] = {
            "traceId": self.trace_id,
            "spanId": self.span_id,
            "parentSpanId": self._parent_id,
            "name": shortened(self._name),
            "kind": self._kind,
            "startTimeUnixNano": str(self._started),
            "endTimeUnixNano": str(self._started + lasted),
            "attributes": self.attributes,
            "events": self.moments,
        }
        if self._error:
            made["status"] = {"code": _FAILED, "message": self._error}
        return made


class LlmSpan(Span):
    """What `llm_call` gives."""

    def usage(
        self,
        *,
        tokens_in: int | None = None,
        tokens_out: int | None = None,
        cached_in: int | None = None,
        cost_usd: float | None = None,
    ) -> Self:
        """What the call used. What is not known is left away; it is never 0 for that.

        Args:
            tokens_in: all tokens that were sent, those from a cache among them.
            tokens_out: tokens that the model wrote.
            cached_in: how many of those that were sent came from the provider's cache.
            cost_usd: what it cost, where the provider says so; proctor works it out otherwise.
        """
        said = {
            "gen_ai.usage.input_tokens": tokens_in,
            "gen_ai.usage.output_tokens": tokens_out,
            "gen_ai.usage.cache_read.input_tokens": cached_in,
            "gen_ai.usage.cost": cost_usd,
        }
        self.attributes.update({name: value for name, value in said.items() if value is not None})
        return self

    def answered(
        self, messages: Any = None, *, model: str | None = None, finish_reason: str | None = None
    ) -> Self:
        """What came back: the answer, the model that gave it, and why it stopped."""
        said = {
            "gen_ai.output.messages": json_text(messages),
            "gen_ai.response.model": model,
            "gen_ai.response.finish_reasons": None if finish_reason is None else [finish_reason],
        }
        self.attributes.update({name: value for name, value in said.items() if value is not None})
        return self


class ToolSpan(Span):
    """What `tool_call` gives."""

    def __init__(self, name: str, attributes: dict[str, Any], *, kind: int = _INTERNAL) -> None:
        said = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name or None}
        super().__init__(f"execute_tool {name}" if name else "", {**attributes, **said}, kind=kind)
        self._tool = name

    def result(self, value: Any) -> Self:
        """What the tool answered."""
        self.attributes["gen_ai.tool.call.result"] = json_text(value)
        return self

    def _around(self, function: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Span:
        around = ToolSpan(self._tool or _name_of(function), self.attributes, kind=self._kind)
        if SENDER.is_on() and around.attributes.get("gen_ai.tool.call.arguments") is None:
            code = getattr(function, "__code__", None)
            names = code.co_varnames[: code.co_argcount] if code is not None else ()
            placed: dict[str, Any] = dict(zip(names, arguments, strict=False))
            placed.pop("self", None)
            rest = {"*": arguments[len(names) :]} if len(arguments) > len(names) else {}
            around.attributes["gen_ai.tool.call.arguments"] = json_text({**placed, **rest, **named})
        return around

    def _gave(self, around: Any, value: Any) -> Any:
        if SENDER.is_on():
            around.result(value)
        return value


_current: ContextVar[Span | None] = ContextVar("proctor_span", default=None)


def _given() -> tuple[str, str]:
    """The trace and the span that the process was started in; a trace of its own where it was in none."""
    parts = os.environ.get("TRACEPARENT", "").split("-")
    if len(parts) == 4 and len(parts[1]) == 32 and len(parts[2]) == 16:
        return parts[1], parts[2]
    return os.urandom(16).hex(), ""


def _name_of(function: Any) -> str:
    return str(getattr(function, "__name__", "function"))


def _dressed(made: Any, function: Any) -> Any:
    """The wrapper in the function's clothes, as `functools.wraps` gives them."""
    for name in ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__"):
        if hasattr(function, name):
            setattr(made, name, getattr(function, name))
    made.__wrapped__ = function
    return made
