"""Questions and answers over a provider's own library: one shape for all, as far as their protocols are alike."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Protocol, cast

from proctor.errors import ModelError
from proctor.models import failures
from proctor.models.providers import Address
from proctor.models.question import Question, Reply
from proctor.models.requests import Refused
from proctor.records.json_value import Json


class Dialect(Protocol):
    """A module that knows one protocol."""

    @property
    def PATH(self) -> str:  # noqa: N802  # a constant of a module
        """Where questions are posted to, below the server's address."""
        ...

    @property
    def OPTIONAL(self) -> Mapping[str, tuple[str, ...]]:  # noqa: N802  # a constant of a module
        """Fields that a question can do without, each with the words by which a message speaks of it."""
        ...

    def request_fields(
        self, address: Address, question: Question, refused: frozenset[str]
    ) -> Mapping[str, Json]:
        """The fields of the request, without those that the model has refused."""
        ...

    def reply_of(self, address: Address, content: object, latency_s: float) -> Reply:
        """The answer.

        Raises:
            ModelError: it is none.
        """
        ...


class Exchange:
    """One client of one server; asks it for any of its models. Safe to use from several threads.

    Args:
        dialect: the protocol.
        library: the provider's; those of OpenAI and Anthropic name their errors alike.
        base_error: what all errors of the library are.
        client: made by the library, without retries of its own.
    """

    def __init__(self, dialect: Dialect, library: Any, base_error: type[Exception], client: Any) -> None:
        self._dialect, self._library, self._client = dialect, library, client
        self._base_error = base_error
        self._refused = Refused(dialect.OPTIONAL)

    def ask(self, address: Address, question: Question) -> Reply:
        """One try. A field that the model does not take is left away, and the question sent again at once.

        Raises:
            ModelError: there is no answer.
        """
        while True:
            fields = self._dialect.request_fields(address, question, self._refused.of(address.model))
            try:
                return self._send(address, question, fields)
            except ModelError as error:
                if error.kind != "bad_request" or not self._refused.learn(address.model, fields, error.what):
                    raise

    def _send(self, address: Address, question: Question, fields: Mapping[str, Json]) -> Reply:
        started = time.perf_counter()
        try:
            content: object = self._client.post(
                self._dialect.PATH,
                cast_to=object,
                body={**question.settings, **fields},
                options={"timeout": question.timeout_s},
            )
        except self._library.APITimeoutError:
            raise failures.too_slow(address, question.timeout_s) from None
        except self._library.APIStatusError as error:
            headers = {name.lower(): value for name, value in error.response.headers.items()}
            said = said_in(error.body) or error.message
            raise failures.of_status(address, error.status_code, said, headers) from None
        except self._library.APIConnectionError as error:
            raise failures.unreachable(address, str(error.__cause__ or error)) from None
        except (self._base_error, ValueError) as error:
            raise failures.nonsense(address, f"{type(error).__name__}: {error}") from None
        return self._dialect.reply_of(address, content, time.perf_counter() - started)


def said_in(body: Json) -> str:
    """Message and code of an error's body, whatever its form."""
    if isinstance(body, str):
        return body
    if isinstance(body, list) and body:
        return said_in(cast("list[Json]", body)[0])
    if not isinstance(body, Mapping):
        return ""
    entries = cast("Mapping[str, Json]", body)
    inner = entries.get("error")
    if isinstance(inner, Mapping | str) and inner:
        return said_in(inner)
    parts = [entries.get(name) for name in ("message", "detail", "code", "param")]
    return " ".join(str(part) for part in parts if part)


def whole(value: Json) -> int | None:
    """A number of tokens, where it is one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
