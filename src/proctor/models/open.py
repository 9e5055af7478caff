"""From the name of a model to a model that can be asked."""

from __future__ import annotations

import importlib.util
import threading
import time
from collections.abc import Mapping
from typing import Final, Protocol

from proctor.errors import ModelError
from proctor.models import failures
from proctor.models.exchange import Exchange
from proctor.models.limit import AdaptiveLimit
from proctor.models.patience import Patience
from proctor.models.providers import Address, address_of
from proctor.models.question import Model, Question, Reply


class Client(Protocol):
    """What speaks the protocol of a server."""

    def ask(self, address: Address, question: Question) -> Reply:
        """One try.

        Raises:
            ModelError: there is no answer.
        """
        ...


class Server:
    """One server with one key: its client and its limit, which all its models share.

    Raises:
        ModelError: the client's library is not installed (`missing_extra`).
    """

    def __init__(self, address: Address, patience: Patience) -> None:
        if importlib.util.find_spec(address.protocol) is None:
            raise failures.missing_library(address.protocol)
        self.limit = AdaptiveLimit()
        self.patience = patience
        self._address = address
        self._lock = threading.Lock()
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        """Made when it is first asked: its library takes a second to import, and answers may all be in a cache."""
        with self._lock:
            if self._client is None:
                self._client = _client(self._address)
            return self._client


def _client(address: Address) -> Client:
    # A local server wants no key, and the libraries want one.
    key = address.key or "none"
    if address.protocol == "anthropic":
        import anthropic

        from proctor.models import anthropic_client

        client = anthropic.Anthropic(base_url=address.base_url, api_key=key, max_retries=0)
        return Exchange(anthropic_client, anthropic, anthropic.AnthropicError, client)
    import openai

    from proctor.models import openai_client

    client = openai.OpenAI(base_url=address.base_url, api_key=key, max_retries=0)
    return Exchange(openai_client, openai, openai.OpenAIError, client)


HOPELESS: Final = frozenset({"auth", "out_of_credit", "not_found"})
"""Kinds of error that the next question would meet as well."""

HOPELESS_S: Final = 10.0
"""How long a question is not asked after such an error: those that wait together for a place need not all meet it."""


class ServedModel:
    """A model of a server; safe to ask from several threads."""

    def __init__(self, address: Address, server: Server) -> None:
        self._address, self._server = address, server
        self._hopeless: tuple[float, ModelError] | None = None

    @property
    def identity(self) -> str:
        """PROVIDER/NAME."""
        return f"{self._address.provider}/{self._address.model}"

    def ask(self, question: Question) -> Reply:
        """The answer, within the server's limit, asked again while that may help.

        Raises:
            ModelError: there is none.
        """
        return self._server.patience.ask(lambda: self._once(question), self._server.limit)

    def _once(self, question: Question) -> Reply:
        known = self._hopeless
        if known is not None and time.monotonic() < known[0]:
            raise known[1]
        try:
            return self._server.client.ask(self._address, question)
        except ModelError as error:
            if error.kind in HOPELESS:
                self._hopeless = (time.monotonic() + HOPELESS_S, error)
            raise


def open_model(name: str, environment: Mapping[str, str], *, patience: Patience | None = None) -> Model:
    """The model that PROVIDER/NAME or PROVIDER:NAME stands for.

    A process has one client for each address and key, however many models are opened there; they share its
    connections and its limit.

    Args:
        name: what the user wrote.
        environment: holds keys and addresses; nothing else is read.
        patience: how often it is tried, and how long is waited; the usual one when None.

    Raises:
        ModelError: the name names no provider (`not_found`), its key is not set (`no_key`), or the client's library
            is not installed (`missing_extra`).
    """
    address = address_of(name, environment)
    return ServedModel(address, _server(address._replace(model=""), patience or Patience()))


_lock = threading.Lock()
_servers: dict[tuple[Address, Patience], Server] = {}
"""One for each address and key that this process has asked, for as long as it lives."""


def _server(address: Address, patience: Patience) -> Server:
    with _lock:
        if (address, patience) not in _servers:
            _servers[address, patience] = Server(address, patience)
        return _servers[address, patience]
