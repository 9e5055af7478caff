"""A bare language model as an agent: the test's input is what the user says, and what the model says is the output."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.agents import answers
from proctor.agents.conversation import fault_of, messages_of
from proctor.agents.seen import Clock, SeenCall, trace_parent, write_call
from proctor.agents.waiting import Patience, Stopped
from proctor.errors import AgentError, ModelError, UsageError
from proctor.models.question import Model, Question, Reply
from proctor.ports import Cancel, Place, Surroundings
from proctor.records.grade import Defect
from proctor.records.json_value import Json, digest_of, storable
from proctor.records.run import AgentIdentity, Attempt, Ending, Limits
from proctor.records.suite import Test

_AGENTS_OWN = frozenset({"bad_request"})
_OURS = ("messages", "model", "stream")


class ModelAgent:
    """Asks a model once for each trial.

    Args:
        name: `PROVIDER/NAME`.
        environment: the operator's own, which holds keys and addresses of providers; the agent never sees it.
        system: the system prompt.
        params: `temperature`, `max_tokens`, `seed`, and further fields of the request as the provider names them.

    Raises:
        UsageError: a parameter is not what its name takes.
    """

    def __init__(
        self,
        name: str,
        *,
        environment: Mapping[str, str],
        system: str | None = None,
        params: Mapping[str, Json] | None = None,
    ) -> None:
        self._name, self._environment, self._system = name, environment, system
        self._params = dict(params or {})
        self._model: Model | None = None
        for key in _OURS:
            if key in self._params:
                raise UsageError(
                    f"the field {key!r} of the request is written by proctor", fix=f"Leave out --param {key}."
                )
        self._temperature = _number(self._params.get("temperature"), "temperature")
        self._max_tokens = _whole(self._params.get("max_tokens"), "max_tokens")
        self._seed = _whole(self._params.get("seed"), "seed")
        self._settings = {
            key: value
            for key, value in self._params.items()
            if key not in ("temperature", "max_tokens", "seed")
        }

    @property
    def identity(self) -> AgentIdentity:
        """The model's name; the digest is of it, of the system prompt and of the parameters."""
        system = None if self._system is None else digest_of(self._system)
        told = {"model": self._name, "system": system, "params": self._params}
        return AgentIdentity(kind="model", label=storable(self._name), digest=digest_of(told))

    def prepare(self, tests: Sequence[Test], surroundings: Surroundings) -> None:
        """Check that the tests can be asked, that the provider is known and that its key is set. Nothing is sent.

        Raises:
            AgentError: a test has no input.
            ModelError: the provider is unknown, its key is not set, or its client is not installed.
        """
        from proctor.models import open_model

        faults = [fault for test in tests if (fault := fault_of(test)) is not None]
        if faults:
            raise AgentError.of(faults)
        self._model = open_model(self._name, self._environment)

    def attempt(self, test: Test, place: Place, limits: Limits, cancel: Cancel) -> Attempt:
        """Ask the model once; it is asked again only where the provider turned the question away.

        Past the limit nobody waits for the reply, and what the provider still does for it is paid for.
        """
        model = self._model
        assert model is not None, "prepare comes first"
        clock, parent = Clock(), trace_parent(place)
        messages = messages_of(test, self._system)
        question = Question(
            messages=messages,
            temperature=self._temperature,
            max_tokens=self._max_tokens,
            seed=self._seed,
            settings=self._settings,
            timeout_s=limits.timeout_s,
        )
        provider, _, name = model.identity.partition("/")
        call = SeenCall(provider=provider, model=name, asked=messages)
        try:
            reply = Patience.of(place, limits, cancel).result_of(lambda: model.ask(question))
        except Stopped as stopped:
            write_call(place, _with(call, error=stopped.ending.value), clock, parent)
            return stopped.attempt()
        except ModelError as error:
            write_call(place, _with(call, error=error.kind, message=error.what), clock, parent)
            ending = Ending.ERROR if error.kind in _AGENTS_OWN else Ending.HARNESS_FAILURE
            return Attempt(ending=ending, defect=Defect(type=error.kind, message=error.what))
        write_call(place, _answered(call, reply), clock, parent)
        return Attempt(ending=Ending.OK, output=reply.text or None, notes=_notes(reply))

    def close(self) -> None:
        """The connections to a provider are the process's, and stay."""


def _with(call: SeenCall, **changes: Any) -> SeenCall:
    return msgspec.structs.replace(call, **changes)


def _answered(call: SeenCall, reply: Reply) -> SeenCall:
    finish = "content_filter" if reply.is_refusal else "length" if reply.is_cut else "stop"
    return _with(
        call,
        provider=reply.provider,
        answered_by=reply.model,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        cost_usd=reply.cost_usd,
        finish=finish,
        answered=reply.text,
    )


def _notes(reply: Reply) -> tuple[str, ...]:
    notes: list[str] = []
    if reply.is_refusal:
        notes.append("The model refused, or the provider's filter held the answer back.")
    if reply.is_cut:
        notes.append(answers.CUT_NOTE)
    return tuple(notes)


def _number(value: Json, name: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UsageError(f"{name} is a number, and this is {value!r}", fix=f"Write --param {name}=0.5.")
    return float(value)


def _whole(value: Json, name: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(f"{name} is a whole number, and this is {value!r}", fix=f"Write --param {name}=100.")
    return value
