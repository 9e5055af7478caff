"""The few functions for agents without instrumentation, in processes of their own as agents have them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.host.receiver import Receiver, Tap, write_trace
from proctor.records.trace import LlmCall, ToolCall, Trace
from proctor.stores.tracefile import read_trace
from tests.tracing.sending import lines, span_names


@pytest.fixture
def tap(tmp_path: Path) -> Iterator[Tap]:
    """A way in for one trial."""
    with Receiver() as receiver:
        yield receiver.open(tmp_path / "spool")


def bare() -> dict[str, str]:
    """An environment in which nothing is traced."""
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "TRACEPARENT"))
    }


def run(agent: str, environment: dict[str, str], *, code: int = 0) -> str:
    """Run an agent, and return what it printed; it prints nothing to standard error."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(agent)],
        env=bare() | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (code, "") == (done.returncode, done.stderr)
    return done.stdout


def traced(tap: Tap, agent: str) -> Trace:
    """What the trace of an agent says."""
    run(agent, tap.environment())
    tap.close()
    assert write_trace(tap.spool, tap.spool.parent / "trace.jsonl").is_whole
    trace = read_trace(str(tap.spool.parent))
    assert trace is not None
    return trace


def spans_of(tap: Tap) -> list[dict[str, Any]]:
    """All spans."""
    return [
        span
        for document in lines(tap.spool.parent / "trace.jsonl")
        for span in document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    ]


def span_of(tap: Tap, name: str) -> dict[str, Any]:
    """A span by its name."""
    return next(span for span in spans_of(tap) if span["name"] == name)


def test_calls_are_recorded(tap: Tap) -> None:
    """A refused model call and its retry, a tool as a decorated function, and a moment of the span around them."""
    trace = traced(
        tap,
        """
        from proctor.trace import llm_call, note, span, tool_call

        class RateLimitError(Exception): ...

        @tool_call
        def weather(city: str, days: int = 1) -> dict:
            "The weather."
            return {"sky": "rain"}

        with span("agent", plan=["ask", "look"]):
            try:
                with llm_call("gpt-4o", provider="openai", messages="Weather in Oslo?"):
                    raise RateLimitError("slow down")
            except RateLimitError:
                note("refused", wait_s=0.5)
            with llm_call("gpt-4o", provider="openai") as call:
                call.usage(tokens_in=1000, tokens_out=100)
                call.answered("Let me look.", model="gpt-4o-2024-08-06", finish_reason="stop")
            assert weather("Oslo", days=3) == {"sky": "rain"}
            assert weather.__name__ == "weather" and weather.__doc__ == "The weather."
        """,
    )
    refused, answered, tool = trace.events

    assert isinstance(refused, LlmCall)
    assert isinstance(answered, LlmCall)
    assert isinstance(tool, ToolCall)
    assert ("gpt-4o", "slow down", 1, "Weather in Oslo?") == (
        refused.model,
        refused.error,
        refused.attempt,
        refused.messages_in,
    )
    assert ("gpt-4o-2024-08-06", "Let me look.", ("stop",), 2, None) == (
        answered.model,
        answered.messages_out,
        answered.finish_reasons,
        answered.attempt,
        answered.error,
    )
    assert ("weather", {"city": "Oslo", "days": 3}, {"sky": "rain"}) == (
        tool.name,
        tool.arguments,
        tool.result,
    )
    assert pytest.approx(0.0035) == trace.metrics.cost_usd_total
    agent = span_of(tap, "agent")
    assert (tap.trace_id, tap.span_id) == (agent["traceId"], agent["parentSpanId"])
    assert ["refused"] == [event["name"] for event in agent["events"]]


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://nonsense:port"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "https://127.0.0.1:9"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "no url", "TRACEPARENT": "00-zz"},
    ],
    ids=["none", "nobody there", "no port", "https", "no url"],
)
def test_without_somebody_who_listens_nothing_happens(environment: dict[str, str]) -> None:
    """No error, no output, and the same results."""
    assert "0 1 2 3 4 done\n" == run(
        """
        from proctor.trace import flush, llm_call, note, span, tool_call

        @tool_call("square root", unit="none")
        def root(x): return int(x ** 0.5)

        note("begun")
        for x in (0, 1, 4, 9, 16):
            with span("step"), llm_call("m") as call:
                call.usage(tokens_in=1)
                print(root(x), end=" ")
        flush()
        print("done")
        """,
        environment,
    )


def test_it_is_light_to_import() -> None:
    """Nothing of the standard library beyond what an interpreter has when it starts, and nothing else."""
    loaded = run(
        "import sys; before = set(sys.modules); import proctor.trace\nprint(*sorted(set(sys.modules) - before))",
        {},
    )

    assert {"__future__", "_contextvars", "contextvars", "proctor", "proctor.version"} | {
        "proctor._send",
        "proctor.trace",
    } >= set(loaded.split())


def test_the_last_spans_are_sent_when_the_process_ends(tap: Tap) -> None:
    """A thousand in a moment, the end of the program right behind them."""
    traced(
        tap,
        """
        from proctor.trace import tool_call
        for number in range(1000):
            with tool_call(f"t{number}"):
                pass
        """,
    )

    assert {f"execute_tool t{number}" for number in range(1000)} == set(
        span_names(tap.spool.parent / "trace.jsonl")
    )


def test_a_span_is_seen_while_the_one_around_it_is_open(tap: Tap) -> None:
    """The agent looks for itself what has arrived: the receiver writes below its folder."""
    told = run(
        f"""
        import pathlib, time
        from proctor.trace import llm_call, span
        spool = pathlib.Path({str(tap.spool / "bodies")!r})
        with span("agent"):
            for _ in range(2):
                with llm_call("m") as call:
                    call.usage(tokens_in=1, tokens_out=1)
            until = time.monotonic() + 20
            while time.monotonic() < until:
                if spool.exists() and spool.read_text().count('"chat m"') == 2:
                    print("both have arrived")
                    break
                time.sleep(0.01)
        """,
        tap.environment(),
    )

    assert "both have arrived\n" == told


def test_async_functions_and_tasks_have_their_own_place(tap: Tap) -> None:
    """Tasks that run at once do not take each other for their parents."""
    trace = traced(
        tap,
        """
        import asyncio
        from proctor.trace import span, tool_call

        @tool_call
        async def look(city):
            await asyncio.sleep(0.01)
            return city.upper()

        async def branch(city):
            with span(f"branch {city}"):
                assert await look(city) == city.upper()

        async def main():
            assert asyncio.iscoroutinefunction(look)
            with span("all"):
                await asyncio.gather(*(branch(city) for city in ("oslo", "rome", "lima")))

        asyncio.run(main())
        """,
    )
    around = span_of(tap, "all")["spanId"]
    branches = {span_of(tap, f"branch {city}")["spanId"]: city for city in ("oslo", "rome", "lima")}

    assert {("oslo", "OSLO"), ("rome", "ROME"), ("lima", "LIMA")} == {
        (event.arguments["city"], event.result) for event in trace.events if isinstance(event, ToolCall)
    }
    assert {around} == {span_of(tap, f"branch {city}")["parentSpanId"] for city in branches.values()}
    looks = [span for span in spans_of(tap) if span["name"] == "execute_tool look"]
    assert ["lima", "oslo", "rome"] == sorted(
        branches[span["parentSpanId"]]
        for span in looks
        if branches[span["parentSpanId"]] in str(span["attributes"])
    )


def test_threads_and_forks_send_their_own(tap: Tap) -> None:
    """Each span once, those of a forked child below the span that it was forked in."""
    traced(
        tap,
        """
        import os, threading, warnings
        from proctor.trace import flush, span

        # Python 3.12 warns whoever forks beside a thread, and spans are sent by one.
        warnings.simplefilter("ignore", DeprecationWarning)

        def work(name):
            for number in range(50):
                with span(f"{name} {number}"):
                    pass

        with span("agent"):
            threads = [threading.Thread(target=work, args=(f"thread {n}",)) for n in range(4)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
            child = os.fork()
            if child == 0:
                work("child")
                flush()
                os._exit(0)
            os.waitpid(child, 0)
        """,
    )
    names = span_names(tap.spool.parent / "trace.jsonl")

    assert 251 == len(names) == len(set(names))
    assert span_of(tap, "agent")["spanId"] == span_of(tap, "child 7")["parentSpanId"]


def test_values_of_every_kind_do_no_harm(tap: Tap) -> None:
    """What cannot be written is written as what it calls itself, or not at all; what is huge is cut."""
    traced(
        tap,
        """
        from proctor.trace import llm_call, span, tool_call

        class Rude:
            def __str__(self): raise RuntimeError("no")
            __repr__ = __str__

        loop = []; loop.append(loop)
        with span("all", a=float("nan"), b=2**100, c=Rude(), d=loop, e={1: {2, 3}}, f=b"x", g="x" * 200_000,
                  h="\\ud83d", i=True, j=None) as all:
            all.set(k=(1, 2.5))
        with tool_call("rude", arguments=Rude()) as tool:
            tool.result({"x": Rude()})
        with llm_call("m", messages=loop) as call:
            call.failed("no answer")
        """,
    )
    values = {pair["key"]: pair["value"] for pair in span_of(tap, "all")["attributes"]}

    assert [{"doubleValue": "NaN"}, {"stringValue": str(2**100)}, {"stringValue": "(Rude)"}] == [
        values[name] for name in "abc"
    ]
    assert {"boolValue": True} == values["i"]
    assert "j" not in values
    assert values["g"]["stringValue"].endswith("… (200000 characters)")
    assert {"code": 2, "message": "no answer"} == span_of(tap, "chat m")["status"]


def test_methods_generators_and_exceptions_are_as_without_it(tap: Tap) -> None:
    """A decorated method is bound; an exception goes on; a span in a generator does not leak into its user."""
    trace = traced(
        tap,
        """
        from proctor.trace import span, tool_call

        class Box:
            @tool_call
            def put(self, what, *more, **named):
                if what is None:
                    raise ValueError("nothing")
                return [what, *more]

            @staticmethod
            @span("static")
            def double(x):
                return 2 * x

        box = Box()
        assert box.put("a", "b", c=1) == ["a", "b"]
        try:
            box.put(None)
        except ValueError as error:
            assert str(error) == "nothing"
        assert Box.double(2) == 4

        def numbers():
            with span("generator"):
                yield 1
                yield 2

        for number in numbers():
            break
        with span("after"):
            pass
        """,
    )

    assert [({"what": "a", "*": ["b"], "c": 1}, None), ({"what": None}, "nothing")] == [
        (event.arguments, event.error) for event in trace.events if isinstance(event, ToolCall)
    ]


def test_a_receiver_that_refuses_is_left_alone(tap: Tap) -> None:
    """After some refusals nothing is sent any more: the agent does not wait for what nobody takes."""
    token = tap.environment()["OTEL_EXPORTER_OTLP_TRACES_HEADERS"]
    environment = {
        name: value.replace(token, "x-proctor-token=wrong") for name, value in tap.environment().items()
    }
    run(
        """
        from proctor.trace import flush, span
        for number in range(10):
            with span("x"):
                pass
            flush()
        """,
        environment,
    )

    assert (
        "Requests without the token of a running trial came to the trace endpoint while it ran, and were refused: 3.",
    ) == tap.close().notes
