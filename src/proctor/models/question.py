"""What is asked of a model, and what it replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

import msgspec

from proctor.records.json_value import Json


class Message(msgspec.Struct, frozen=True):
    """One message of a conversation.

    Attributes:
        role: who says it.
        content: plain text.
    """

    role: Literal["system", "user", "assistant"]
    content: str


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is asked. What is None is not sent, and the provider decides.

    Attributes:
        messages: in order; the last one is the user's.
        schema: JSON Schema that the answer must follow, where the provider can hold it to that. Where it cannot, the
            question goes without, so that the reader must not rely on it.
        temperature: 0 for as little chance as possible; not sent again to a model that does not take it.
        max_tokens: the most that the model may write, its thinking included.
        seed: the same seed draws the same answer, where a provider knows seeds.
        settings: further fields of the request, as the provider names them.
        timeout_s: how long one try may take, in seconds.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Json] | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    settings: Mapping[str, Json] = {}
    timeout_s: float = 60.0


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What a model answered.

    Attributes:
        text: its answer, or the words in which it refuses; may be empty.
        model: the one that answered, as the provider names it.
        provider: whose it is.
        tokens_in: None when the provider does not say.
        tokens_out: None when the provider does not say.
        cost_usd: what it cost; None when that is not known, which is never 0.
        latency_s: from sending to the whole answer, of the try that succeeded.
        is_refusal: the model refuses, or the provider's content filter held the answer back.
        is_cut: it ran into the limit of tokens, so that the end is missing.
    """

    text: str
    model: str
    provider: str
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    latency_s: float
    is_refusal: bool = False
    is_cut: bool = False


class Model(Protocol):
    """A model that can be asked, by any thread."""

    @property
    def identity(self) -> str:
        """PROVIDER/NAME."""
        ...

    def ask(self, question: Question) -> Reply:
        """The answer, after as many tries as patience allows.

        Raises:
            ModelError: there is none; its `kind` says why. No message of it holds a key.
        """
        ...
