"""What a provider's refusal to answer means, and what to do about it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Final

from proctor.errors import ModelError, ModelErrorKind
from proctor.models.providers import PROVIDERS, Address

_OUT_OF_CREDIT: Final = (
    "insufficient_quota",
    "exceeded your current quota",
    "credit balance",
    "billing",
    "insufficient credit",
    "insufficient balance",
    "spend limit",
)
_LONGEST_QUOTE: Final = 300


def of_status(address: Address, status: int, said: str, headers: Mapping[str, str]) -> ModelError:
    """The error that an HTTP status stands for.

    Args:
        address: who answered.
        status: 400 or more.
        said: the provider's message and code. It is quoted, except where it may repeat a key.
        headers: names in lower case.
    """
    kind = kind_of(status, said)
    quoted = "" if kind == "auth" else f": {_without_key(said, address)}" if said else ""
    return ModelError(
        f"{address.provider}/{address.model} {_CASES[kind]} (HTTP {status}){quoted}",
        fix=_fix(kind, address),
        kind=kind,
        retry_after_s=retry_after(headers, now=time.time()),
    )


def unreachable(address: Address, said: str) -> ModelError:
    """Nobody answers at the address, or the connection broke."""
    return ModelError(
        f"{address.provider} cannot be reached at {address.base_url}: {_without_key(said, address)}",
        fix="Look whether the server runs, whether the address is right, and whether this machine has a network.",
        kind="unavailable",
    )


def too_slow(address: Address, timeout_s: float) -> ModelError:
    """No answer within the time that one try may take."""
    return ModelError(
        f"{address.provider}/{address.model} gave no answer within {timeout_s:g} s",
        fix="Allow more time, or name a faster model.",
        kind="timeout",
    )


def missing_library(library: str) -> ModelError:
    """The client's library is not installed."""
    return ModelError(
        f"asking a model needs the library {library!r}, which is not installed",
        fix="pip install 'proctor[judge]'",
        kind="missing_extra",
    )


def nonsense(address: Address, said: str) -> ModelError:
    """The answer is not of the form that the protocol has."""
    return ModelError(
        f"{address.provider} at {address.base_url} did not answer as the protocol says: "
        f"{_without_key(said, address)}",
        fix="Look whether the address is that of an OpenAI-compatible server; it often ends in /v1.",
        kind="unavailable",
    )


def kind_of(status: int, said: str) -> ModelErrorKind:
    """What kind of error a status and the words with it are.

    >>> kind_of(429, "slow down"), kind_of(429, "insufficient_quota"), kind_of(529, "overloaded")
    ('rate_limit', 'out_of_credit', 'unavailable')
    """
    folded = said.casefold()
    if status == 402 or (status in (400, 403, 429) and any(word in folded for word in _OUT_OF_CREDIT)):
        return "out_of_credit"
    if status in (401, 403):
        return "auth"
    if status == 404:
        return "not_found"
    if status == 429:
        return "rate_limit"
    if status in (408, 409, 425) or status >= 500:
        return "unavailable"
    return "bad_request"


def retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `retry-after`, which holds seconds or a date; None without.

    now: seconds since 1970.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name, "")
        try:
            return max(0.0, float(text) * unit)
        except ValueError:
            continue
    try:
        at: datetime = parsedate_to_datetime(headers.get("retry-after", ""))
    except (ValueError, TypeError):
        return None
    return max(0.0, at.timestamp() - now)


_CASES: Final[Mapping[ModelErrorKind, str]] = {
    "auth": "does not accept the key",
    "out_of_credit": "has no credit left for this key",
    "rate_limit": "asks for fewer questions at once",
    "not_found": "is not there",
    "unavailable": "is not available",
    "bad_request": "does not take the question",
}


def _fix(kind: ModelErrorKind, address: Address) -> str:
    known = PROVIDERS.get(address.provider)
    key = known.keys[0] if known and known.keys else "the key"
    return {
        "auth": f"Look at {key}: it may be mistyped, expired, or of another account.",
        "out_of_credit": "Add credit to the account, raise its limit, or name another model.",
        "rate_limit": "Try again later, or with a smaller --parallel.",
        "not_found": f"Look at the name of the model, and at the address {address.base_url}.",
        "unavailable": "Try again later, or name another model.",
        "bad_request": "Look at the settings of the model, and at the length of what it is asked.",
    }[kind]


def _without_key(said: str, address: Address) -> str:
    text = " ".join(said.split())
    text = text.replace(address.key, "***") if address.key else text
    return text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "…"
