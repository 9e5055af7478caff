"""Real agents with the OpenTelemetry SDK, in Python and in Node, which know nothing but their environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.host.receiver import Receiver, write_trace
from proctor.stores.tracefile import read_trace
from tests.tracing.real import assert_is_the_weather
from tests.tracing.sending import lines, span_names

AGENTS = Path(__file__).parent / "agents"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver for one test."""
    with Receiver() as made:
        yield made


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_a_python_agent(receiver: Receiver, tmp_path: Path, compression: str) -> None:
    """All of its spans, attributes and events intact, whatever the operator's own exporter settings are."""
    tap = receiver.open(tmp_path / "spool")
    theirs = {
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9/elsewhere",
        "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "x-proctor-token=theirs",
        "OTEL_TRACES_SAMPLER": "always_off",
        "OTEL_SDK_DISABLED": "true",
        "OTEL_RESOURCE_ATTRIBUTES": "service.name=mine",
        "http_proxy": "http://127.0.0.1:9",
    }
    base = {**os.environ, **theirs, "OTEL_EXPORTER_OTLP_COMPRESSION": compression}
    done = subprocess.run(
        [sys.executable, AGENTS / "otel_agent.py"],
        env=base | tap.environment(base=base),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    spent = tap.spent()
    received = tap.close()
    written = write_trace(tap.spool, tmp_path / "trace.jsonl")

    assert "" == done.stderr
    assert () == received.notes
    assert (4, True) == (written.spans, written.is_whole)
    assert (2, 1100, pytest.approx(0.0035)) == (spent.calls, spent.tokens, spent.cost_usd)
    assert_is_the_weather(read_trace(str(tmp_path)))
    resource = {
        pair["key"]: pair["value"]["stringValue"]
        for pair in lines(tmp_path / "trace.jsonl")[0]["resourceSpans"][0]["resource"]["attributes"]
    }
    assert ("mine", "proctor") == (resource["service.name"], resource["deployment.environment.name"])


def test_a_python_agent_that_sends_many_spans(receiver: Receiver, tmp_path: Path) -> None:
    """None of 2,000 is lost."""
    tap = receiver.open(tmp_path / "spool")
    subprocess.run(
        [sys.executable, AGENTS / "otel_agent.py", "many"],
        env=os.environ | tap.environment(),
        check=True,
        timeout=60,
    )
    tap.close()

    assert (2000, True) == ((done := write_trace(tap.spool, tmp_path / "trace.jsonl")).spans, done.is_whole)
    assert 2000 == len(set(span_names(tmp_path / "trace.jsonl")))


def test_what_an_agent_spends_is_seen_while_it_hangs(receiver: Receiver, tmp_path: Path) -> None:
    """A call that has ended is seen within a second or so; what it had not ended is lost with it, and said to be."""
    tap = receiver.open(tmp_path / "spool")
    agent = subprocess.Popen(
        [sys.executable, AGENTS / "otel_agent.py", "hangs"],
        env=os.environ | tap.environment(),
        stdout=subprocess.PIPE,
    )
    assert agent.stdout is not None
    assert b"asked\n" == agent.stdout.readline()
    until = time.monotonic() + 20
    while not tap.spent().calls and time.monotonic() < until:
        time.sleep(0.05)
    spent = tap.spent()
    agent.kill()
    agent.wait()
    agent.stdout.close()
    tap.close()
    done = write_trace(tap.spool, tmp_path / "trace.jsonl")

    assert (1, 1100) == (spent.calls, spent.tokens)
    assert not done.is_whole
    assert "a span is missing below which others are" in done.notes[0]


@pytest.mark.slow
def test_a_node_agent(receiver: Receiver, tmp_path: Path, node_modules: Path) -> None:
    """The same calls from the SDK for Node say the same."""
    tap = receiver.open(tmp_path / "spool")
    # Packages are found from where the file lies.
    agent = shutil.copy(AGENTS / "otel_agent.mjs", node_modules)
    done = subprocess.run(
        ["node", agent],
        env=os.environ | tap.environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    tap.close()
    written = write_trace(tap.spool, tmp_path / "trace.jsonl")

    assert "" == done.stderr
    assert (4, True) == (written.spans, written.is_whole)
    assert_is_the_weather(read_trace(str(tmp_path)))
