"""What every kind of agent keeps to, as tests to inherit; and a place to try one in."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, cast

import msgspec

from proctor.host.cancel import Cancel
from proctor.host.place import Place, input_text
from proctor.host.tree import remove_tree
from proctor.ports import Agent, Exceeded, Surroundings
from proctor.records.json_value import Json
from proctor.records.run import AgentIdentity, Attempt, Ending, Limits
from proctor.records.suite import Test

Behaviour: TypeAlias = Literal["echo", "hang", "crash", "silent"]
"""Gives back its input; never ends; fails by its own fault; ends well and answers nothing."""

TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
"""The trace that an agent is asked to take part in, where the contract asks it."""

_LONG = Limits(timeout_s=60)
_SHORT = Limits(timeout_s=1.0, grace_s=1.0)
_GENEROUS_S = 30.0


@contextmanager
def a_place(test: Test, environment: Mapping[str, str] | None = None) -> Generator[Place]:
    """The private folder of one trial, as a run makes it; it is removed afterwards.

    Args:
        test: whose input is written there.
        environment: what the agent is started with; the path of programs alone when None.
    """
    given = {"PATH": os.defpath} if environment is None else environment
    with tempfile.TemporaryDirectory(prefix="proctor-") as folder:
        place = Place.create(Path(folder), test, given)
        try:
            yield place
        finally:
            remove_tree(place.root)


class AgentContract:
    """Tests that every kind of agent passes; inherit it in a class whose name begins with `Test`, and write `agent`.

    Attributes:
        environment: what agents and their code are started with.
        behaviours: which this kind can show; the tests of others pass without looking.
    """

    __test__: ClassVar[bool] = False

    environment: ClassVar[Mapping[str, str]] = {"PATH": os.defpath}
    behaviours: ClassVar[tuple[Behaviour, ...]] = ("echo", "hang", "crash", "silent")

    def __init_subclass__(cls) -> None:
        # A class between this one and the tests is no test itself.
        cls.__test__ = cls.__name__.startswith("Test")

    def agent(self, behaviour: Behaviour) -> Agent:
        """A new agent of this kind that behaves so.

        Raises:
            NotImplementedError: it was not written.
        """
        raise NotImplementedError("write `agent(self, behaviour)`, which makes an agent of your kind")

    def attempt(
        self,
        behaviour: Behaviour,
        given: Json = "hello",
        *,
        limits: Limits = _LONG,
        cancel: Cancel | None = None,
        exceeded: Exceeded | None = None,
        traceparent: str | None = None,
    ) -> tuple[Attempt, list[dict[str, Any]]]:
        """Prepare a new agent, run it once, and close it.

        Args:
            given: the test's input.
            exceeded: what the trial is said to have used up as soon as it runs.
            traceparent: the trace that it is told to take part in.

        Returns:
            What it made of the trial, and the documents that it wrote into the trial's own trace.
        """
        test = Test(id="test", input=given)
        environment = dict(self.environment) | ({"TRACEPARENT": traceparent} if traceparent else {})
        agent = self.agent(behaviour)
        own = cancel or Cancel()
        try:
            agent.prepare([test], Surroundings(environment=environment))
            with a_place(test, environment) as made:
                place = replace(made, watch=lambda: exceeded) if exceeded is not None else made
                attempt = agent.attempt(test, place, limits, own)
                written = place.own_trace.read_bytes() if place.own_trace.exists() else b""
        finally:
            agent.close()
            if cancel is None:
                own.close()
        return attempt, [json.loads(line) for line in written.splitlines()]

    def test_it_gives_back_text(self) -> None:
        """Text reaches it as it is, and comes back so: quotation marks, braces, other scripts, several lines."""
        if "echo" in self.behaviours:
            for text in ("hello", "{input} \"quoted\" 'twice'", "北京 \N{SNOWMAN}\ntwo lines"):
                attempt, _ = self.attempt("echo", text)

                assert (Ending.OK, text) == (attempt.ending, attempt.output), attempt

    def test_it_gives_back_an_object(self) -> None:
        """An object reaches it whole; it comes back as that, or as its compact JSON."""
        if "echo" in self.behaviours:
            given = {"topic": "rain", "lines": [1, None, {"ü": True}]}
            attempt, _ = self.attempt("echo", given)
            found = json.loads(attempt.output) if isinstance(attempt.output, str) else attempt.output

            assert (Ending.OK, given) == (attempt.ending, found), attempt

    def test_it_answers_nothing_with_none(self) -> None:
        """An agent that ends well without a word has no output."""
        if "silent" in self.behaviours:
            attempt, _ = self.attempt("silent")

            assert attempt.ending is Ending.OK, attempt
            assert attempt.output is None

    def test_it_tells_of_a_crash(self) -> None:
        """What goes wrong in the agent is an ending with a sentence, and no exception."""
        if "crash" in self.behaviours:
            attempt, _ = self.attempt("crash")

            assert attempt.ending in (Ending.ERROR, Ending.KILLED), attempt
            assert attempt.defect is not None
            assert attempt.defect.type
            assert attempt.defect.message

    def test_it_ends_at_its_limit(self) -> None:
        """One that never ends is ended, as a time-out."""
        if "hang" in self.behaviours:
            started = time.monotonic()
            attempt, _ = self.attempt("hang", limits=_SHORT)

            assert Ending.TIMEOUT is attempt.ending, attempt
            assert time.monotonic() - started < _GENEROUS_S

    def test_it_ends_when_the_operator_says_so(self) -> None:
        """Cancelled while it runs, and before it has begun, it is interrupted."""
        if "hang" in self.behaviours:
            for delay_s in (0.5, 0.0):
                cancel = Cancel()
                timer = threading.Timer(delay_s, cancel.set)
                if delay_s:
                    timer.start()
                else:
                    cancel.set()
                attempt, _ = self.attempt("hang", cancel=cancel)
                timer.cancel()
                cancel.close()

                assert Ending.INTERRUPTED is attempt.ending, attempt

    def test_it_ends_when_a_budget_is_used_up(self) -> None:
        """What its place says to be used up ends it, as that."""
        if "hang" in self.behaviours:
            spent = Exceeded(ending=Ending.COST_CAP, message="It has cost 2 dollars, and may cost 1.")
            attempt, _ = self.attempt("hang", exceeded=spent)

            assert Ending.COST_CAP is attempt.ending, attempt
            assert attempt.defect is not None
            assert spent.message == attempt.defect.message

    def test_it_needs_no_trace_and_takes_part_in_one(self) -> None:
        """It runs where nothing is traced; what it writes of its own belongs to the trace that it was told of."""
        if "echo" in self.behaviours:
            without, _ = self.attempt("echo")
            within, documents = self.attempt("echo", traceparent=TRACEPARENT)

            assert without.ending is within.ending is Ending.OK
            assert {TRACEPARENT.split("-")[1]} >= {span["traceId"] for span in _spans(documents)}

    def test_it_keeps_trials_apart(self) -> None:
        """One agent runs several trials at once, and each gets its own answer."""
        if "echo" in self.behaviours:
            inputs = [f"trial {number}" for number in range(4)]
            tests = [Test(id=f"test-{number}", input=text) for number, text in enumerate(inputs)]
            outputs: dict[str, Any] = {}
            agent, cancel = self.agent("echo"), Cancel()

            def run(test: Test) -> None:
                with a_place(test, self.environment) as place:
                    outputs[test.id] = agent.attempt(test, place, _LONG, cancel).output

            try:
                agent.prepare(tests, Surroundings(environment=self.environment))
                threads = [threading.Thread(target=run, args=(test,)) for test in tests]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
            finally:
                agent.close()
                cancel.close()

            assert [input_text(test) for test in tests] == [outputs.get(test.id) for test in tests]

    def test_it_leaves_nothing_alive(self) -> None:
        """When it is closed, no process and no thread that proctor would have to wait for is left of it."""
        before = _children(), _threads()
        for behaviour in self.behaviours:
            self.attempt(behaviour, limits=_SHORT if behaviour == "hang" else _LONG)
        until = time.monotonic() + _GENEROUS_S
        while (_children(), _threads()) != before and time.monotonic() < until:
            time.sleep(0.05)

        assert before == (_children(), _threads())

    def test_it_can_be_prepared_again_and_closed_twice(self) -> None:
        """A run that is resumed prepares it anew; closing what is closed does nothing."""
        tests = [Test(id="test", input="hello")]
        agent = self.agent(self.behaviours[0])
        for _ in range(2):
            agent.prepare(tests, Surroundings(environment=self.environment))
        agent.close()
        agent.close()

    def test_its_identity_can_be_stored_and_is_the_same_each_time(self) -> None:
        """It has a kind and a label, the same for each agent that is made in the same way, without home folders."""
        found = [self.agent(self.behaviours[0]).identity for _ in range(2)]

        assert found[0] == found[1]
        assert found[0] == msgspec.convert(msgspec.to_builtins(found[0]), AgentIdentity)
        assert found[0].kind
        assert found[0].label
        assert str(Path.home()) not in found[0].label or str(Path.home()) == "/"


def _spans(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        cast("dict[str, Any]", span)
        for document in documents
        for resource in document["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]


def _children() -> set[int]:
    """The processes that this one has started and that live; none where the system does not say."""
    found: set[int] = set()
    for listed in Path("/proc/self/task").glob("*/children"):
        try:
            found |= {int(pid) for pid in listed.read_text().split() if _lives(pid)}
        except OSError:
            continue
    return found


def _lives(pid: str) -> bool:
    """False for one that has ended, and that whoever it belongs to has not asked for yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("latin-1").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def _threads() -> int:
    return sum(not thread.daemon for thread in threading.enumerate())
