"""An agent behind an HTTP endpoint: each trial is one POST, and what comes back is the output."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Protocol

import msgspec
from msgspec import UNSET

from proctor.agents import answers
from proctor.agents.http_address import Address, address_of
from proctor.agents.http_exchange import BadAnswer, Exchange, Request, Unreachable, reach
from proctor.agents.output_path import Nowhere, OutputPath
from proctor.agents.seen import Clock, SeenCall, trace_parent, write_call
from proctor.agents.streams import LARGEST_ANSWER
from proctor.agents.waiting import Patience, Stopped
from proctor.core.redaction import Redactor
from proctor.core.secret_shapes import names_a_credential
from proctor.errors import AgentError, Fault, UsageError
from proctor.host.place import input_text
from proctor.ports import Cancel, Place, Surroundings
from proctor.records.grade import Defect
from proctor.records.json_value import Json, digest_of
from proctor.records.run import AgentIdentity, Attempt, Ending, Limits
from proctor.records.suite import Test
from proctor.version import __version__

_REACH_WITHIN_S = 10.0
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OURS = frozenset({"content-length", "transfer-encoding", "connection", "host"})


class Header(msgspec.Struct, frozen=True):
    """A header that the user gives to every request.

    Attributes:
        name: as it is sent.
        value: as it is sent.
        is_secret: it is taken out of whatever the endpoint sends back.
    """

    name: str
    value: str
    is_secret: bool


class Dialect(Protocol):
    """What is said to an endpoint, and how its answer is read."""

    kind: str

    def told(self) -> dict[str, Json]:
        """What makes it this one, for the digest."""
        ...

    def needs(self, test: Test) -> Fault | None:
        """What this test lacks."""
        ...

    def body(self, test: Test) -> bytes:
        """The JSON that is sent."""
        ...

    def read(self, status: int, body: bytes, headers: Mapping[str, str]) -> Attempt:
        """What a successful answer makes of the trial."""
        ...

    def seen(self, test: Test, answer: bytes | None) -> SeenCall | None:
        """The model call that the exchange was; None where nothing is known of it."""
        ...


class PlainDialect:
    """`{"input": ...}` goes there; JSON or text comes back.

    Args:
        output_path: where in a JSON answer the output stands; it is the whole answer when None.
    """

    kind = "http"

    def __init__(self, output_path: OutputPath | None = None) -> None:
        self._path = output_path

    def told(self) -> dict[str, Json]:
        """The path to the output."""
        return {"output_path": self._path.text if self._path is not None else None}

    def needs(self, test: Test) -> Fault | None:
        """Nothing: a test without an input sends an empty object."""
        return None

    def body(self, test: Test) -> bytes:
        """The input, and nothing else of the test."""
        if test.input is UNSET:
            return b"{}"
        text = input_text(test) or ""
        value = json.dumps(text, ensure_ascii=False) if isinstance(test.input, str) else text
        return b'{"input":' + value.encode() + b"}"

    def read(self, status: int, body: bytes, headers: Mapping[str, str]) -> Attempt:
        """The output is the answer, or the part that the path names."""
        try:
            value = answers.value_of_body(status, body, headers)
        except answers.NotReadable as err:
            text = answers.text_of_body(body, headers)
            return answers.error("not-json", f"The answer says that it is JSON, and it is none: {err}.", text)
        if self._path is None:
            return Attempt(ending=Ending.OK, output=value)
        if isinstance(value, str) and not answers.is_json(headers):
            with suppress(answers.NotReadable):
                value = answers.json_of(body)
        try:
            return Attempt(ending=Ending.OK, output=self._path.of(value))
        except Nowhere as err:
            return answers.error("no-output", f"The answer has nothing at {self._path.text}: {err}.", value)

    def seen(self, test: Test, answer: bytes | None) -> SeenCall | None:
        """Nobody here sees whether the endpoint asks a model."""
        return None


class HttpAgent:
    """Sends one request for each trial, and holds the limits of the trial from the first look at the host's name.

    No process is started, and what the endpoint does is out of reach: only the waiting ends.

    Args:
        url: where it is, http or https.
        dialect: what is said to it.
        headers: sent with each request.

    Raises:
        AgentError: it is no such URL.
    """

    def __init__(self, url: str, *, dialect: Dialect, headers: Sequence[Header] = ()) -> None:
        self._address: Address = address_of(url)
        self._dialect = dialect
        self._headers = tuple(headers)
        secrets = [header.value for header in headers if header.is_secret]
        if self._address.authorization is not None:
            secrets.append(self._address.authorization)
        secrets += [value.partition(" ")[2] for value in secrets if " " in value]
        # The redactor goes by names of variables.
        self._notices: tuple[str, ...] = ()
        self._redactor = Redactor({f"HEADER_{number}_TOKEN": value for number, value in enumerate(secrets)})

    @property
    def identity(self) -> AgentIdentity:
        """The URL without secrets; the digest is of it, of what is asked for, and of the headers' names."""
        names = sorted(header.name.lower() for header in self._headers)
        told = {"url": self._address.lasting, "headers": names} | self._dialect.told()
        return AgentIdentity(kind=self._dialect.kind, label=self._address.shown, digest=digest_of(told))

    @property
    def notices(self) -> tuple[str, ...]:
        """What the operator is told once: that no sandbox holds what runs elsewhere."""
        return self._notices

    def prepare(self, tests: Sequence[Test], surroundings: Surroundings) -> None:
        """Check that the tests can be sent, and that somebody listens: by connecting, without a request.

        Raises:
            AgentError: nobody listens, or a test cannot be sent.
        """
        faults = [fault for test in tests if (fault := self._dialect.needs(test)) is not None]
        if faults:
            raise AgentError.of(faults)
        if surroundings.is_confined:
            shown = f"{self._address.shown} runs where it runs: what confines agents here does not hold it."
            self._notices = (shown,)
        try:
            reach(self._address, Patience(_REACH_WITHIN_S))
        except Unreachable as error:
            raise AgentError(
                str(error), where=self._address.shown, fix="Start the endpoint, or correct the URL."
            ) from error

    def attempt(self, test: Test, place: Place, limits: Limits, cancel: Cancel) -> Attempt:
        """Send the request once. What is received is kept as what the agent printed."""
        clock, parent, cap = Clock(), trace_parent(place), limits.output_bytes
        exchange = Exchange(
            self._address,
            Request(headers=self._sent(place), body=self._dialect.body(test)),
            Patience.of(place, limits, cancel),
            most_bytes=LARGEST_ANSWER if cap is None else min(LARGEST_ANSWER, cap),
        )
        try:
            attempt = self._attempt_of(exchange, limits)
        finally:
            body = self._redactor.content(bytes(exchange.body))
            if body:
                place.stdout.write_bytes(body)
        answer = body if attempt.ending is Ending.OK else None
        call = self._dialect.seen(test, answer)
        if call is not None and exchange.is_sent:
            if attempt.ending is not Ending.OK:
                kind, message = attempt.ending.value, ""
                if attempt.defect is not None:
                    kind, message = attempt.defect.type, attempt.defect.message
                call = msgspec.structs.replace(call, error=kind, message=message)
            write_call(place, call, clock, parent)
        return attempt

    def close(self) -> None:
        """Nothing is kept ready."""

    def _attempt_of(self, exchange: Exchange, limits: Limits) -> Attempt:
        try:
            exchange.run()
        except Stopped as stopped:
            return stopped.attempt(self._text(exchange))
        except Unreachable as error:
            return answers.harness_failure("unavailable", str(error))
        except BadAnswer as error:
            if error.kind == "redirect":
                return answers.harness_failure(error.kind, str(error))
            if error.kind == "too-large" and limits.output_bytes == exchange.most_bytes:
                defect = Defect(type=Ending.OUTPUT_CAP.value, message=str(error))
                return Attempt(ending=Ending.OUTPUT_CAP, defect=defect, output=self._text(exchange))
            return answers.error(error.kind, f"The endpoint failed. {error}", self._text(exchange))
        body = self._redactor.content(bytes(exchange.body))
        failure = answers.failure_of(exchange.status, exchange.reason, body, exchange.headers)
        return failure or self._dialect.read(exchange.status, body, exchange.headers)

    def _text(self, exchange: Exchange) -> str | None:
        body = self._redactor.content(bytes(exchange.body))
        return answers.text_of_body(body, exchange.headers) or None

    def _sent(self, place: Place) -> dict[str, str]:
        """The headers of a request; a user's own stands for ours of the same name."""
        sent = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/*;q=0.9, */*;q=0.1",
            "User-Agent": f"proctor/{__version__}",
        }
        if self._address.authorization is not None:
            sent["Authorization"] = self._address.authorization
        if (traceparent := place.environment.get("TRACEPARENT")) is not None:
            sent["traceparent"] = traceparent
        given = {header.name.lower() for header in self._headers}
        kept = {name: value for name, value in sent.items() if name.lower() not in given}
        return kept | {header.name: header.value for header in self._headers}


def header_of(text: str, environment: Mapping[str, str] | None = None) -> Header:
    """A header from `NAME: VALUE`; with an environment, from `NAME: text with {VARIABLE}`.

    Raises:
        UsageError: it is no header, or a variable is not set.
    """
    name, colon, value = text.partition(":")
    name, value = name.strip(), value.strip()
    option = "--header" if environment is None else "--header-env"
    shown = "NAME: VALUE" if environment is None else "NAME: ... {VARIABLE} ..."
    if not colon or not _NAME.fullmatch(name) or not value:
        raise UsageError(
            f"{option} takes '{shown}', and this names {name!r}", fix=f"Write {option} '{shown}'."
        )
    if environment is not None:
        value = _filled(value, environment, f"{option} '{name}: ...'")
    if name.lower() in _OURS:
        raise UsageError(f"the header {name!r} is written by proctor", fix=f"Leave out {option} {name}.")
    if not value.isprintable() or not _is_latin(value):
        raise UsageError(
            f"the value of the header {name!r} holds what no header may",
            fix="Take out line ends, control characters, and letters that are not in Latin-1.",
        )
    is_secret = environment is not None or names_a_credential(name) or name.lower() == "cookie"
    return Header(name, value, is_secret)


def _filled(template: str, environment: Mapping[str, str], where: str) -> str:
    if not re.search(r"\{\w+\}", template):
        raise UsageError(
            f"{where} names no variable", fix="Write its name in braces: 'Authorization: Bearer {MY_TOKEN}'."
        )

    def value(found: re.Match[str]) -> str:
        held = environment.get(found[1], "")
        if not held:
            raise UsageError(f"{where} names {found[1]}, which is not set", fix=f"Set {found[1]}.")
        return held

    return re.sub(r"\{(\w+)\}", value, template)


def _is_latin(text: str) -> bool:
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True
