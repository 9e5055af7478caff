"""Which providers there are, where they answer, and which variables hold their keys."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from proctor.errors import ModelError, did_you_mean


class Provider(NamedTuple):
    """A provider that is known by name.

    Attributes:
        base_url: where it answers; empty where only the variable says.
        keys: variables that may hold its key, the first that is set counts; none when it needs no key.
        urls: variables that name another address.
        protocol: the form of its messages.
    """

    base_url: str
    keys: tuple[str, ...]
    urls: tuple[str, ...]
    protocol: Literal["openai", "anthropic"] = "openai"


PROVIDERS: Final[Mapping[str, Provider]] = {
    "openai": Provider(
        "https://api.openai.com/v1", ("OPENAI_API_KEY",), ("OPENAI_BASE_URL", "OPENAI_API_BASE")
    ),
    "anthropic": Provider(
        "https://api.anthropic.com", ("ANTHROPIC_API_KEY",), ("ANTHROPIC_BASE_URL",), "anthropic"
    ),
    "google": Provider(
        "https://generativelanguage.googleapis.com/v1beta/openai",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        ("GOOGLE_BASE_URL", "GEMINI_BASE_URL"),
    ),
    "mistral": Provider("https://api.mistral.ai/v1", ("MISTRAL_API_KEY",), ("MISTRAL_BASE_URL",)),
    "groq": Provider("https://api.groq.com/openai/v1", ("GROQ_API_KEY",), ("GROQ_BASE_URL",)),
    "openrouter": Provider("https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",), ("OPENROUTER_BASE_URL",)),
    "deepseek": Provider("https://api.deepseek.com/v1", ("DEEPSEEK_API_KEY",), ("DEEPSEEK_BASE_URL",)),
    "xai": Provider("https://api.x.ai/v1", ("XAI_API_KEY",), ("XAI_BASE_URL",)),
    "together": Provider("https://api.together.xyz/v1", ("TOGETHER_API_KEY",), ("TOGETHER_BASE_URL",)),
    "ollama": Provider("http://127.0.0.1:11434/v1", (), ("OLLAMA_BASE_URL", "OLLAMA_HOST")),
}
"""Whoever is not here can still be asked: PROVIDER_BASE_URL and PROVIDER_API_KEY name any OpenAI-compatible server."""

_ALIASES: Final = {"gemini": "google", "x-ai": "xai"}


class Address(NamedTuple):
    """Where a model is asked.

    Attributes:
        provider: as the table names it, or the user.
        model: the provider's own name for it.
        base_url: without a slash at the end.
        key: empty where none is needed.
        protocol: the form of the messages.
    """

    provider: str
    model: str
    base_url: str
    key: str
    protocol: Literal["openai", "anthropic"]

    def __repr__(self) -> str:
        return f"Address({self.provider}/{self.model} at {self.base_url})"


def split_name(name: str) -> tuple[str, str]:
    """Provider and model of PROVIDER/NAME or PROVIDER:NAME; the first of the two marks separates.

    Raises:
        ModelError: it is neither (`not_found`).

    >>> split_name("ollama:llama3:8b"), split_name("openrouter/meta/llama-4")
    (('ollama', 'llama3:8b'), ('openrouter', 'meta/llama-4'))
    """
    match = re.fullmatch(r"([A-Za-z][\w.-]*)[/:](\S+)", name.strip())
    if match is None:
        raise ModelError(
            f"a model is named PROVIDER/NAME, and this is {name!r}",
            fix=f"Write for example openai/gpt-5-mini or ollama/llama3.1. Known providers: {', '.join(PROVIDERS)}; "
            "any other OpenAI-compatible server by PROVIDER_BASE_URL.",
            kind="not_found",
        )
    provider = match[1].lower()
    return _ALIASES.get(provider, provider), match[2]


def address_of(name: str, environment: Mapping[str, str]) -> Address:
    """Where the model of this name is asked, and with which key.

    A server whose address was set by a variable may need no key, as local ones do: none is asked for then.

    Raises:
        ModelError: the name has no provider, or an unknown one (`not_found`); or its key is not set (`no_key`).
    """
    provider, model = split_name(name)
    word = re.sub(r"\W", "_", provider).upper()
    known = PROVIDERS.get(provider)
    here = known or Provider("", (f"{word}_API_KEY",), (f"{word}_BASE_URL",))
    named = next((url for variable in here.urls if (url := environment.get(variable, "").strip())), "")
    key = next((key for variable in here.keys if (key := environment.get(variable, "").strip())), "")
    if not named and known is None:
        near = did_you_mean(provider, list(PROVIDERS))
        raise ModelError(
            f"no provider of models is named {provider!r}",
            fix=(f"Did you mean {near!r}? " if near else f"Known are {', '.join(PROVIDERS)}. ")
            + f"For another OpenAI-compatible server set {word}_BASE_URL, and {word}_API_KEY if it wants a key.",
            kind="not_found",
        )
    if not named and here.keys and not key:
        raise ModelError(
            f"there is no key for {provider}: {here.keys[0]} is not set",
            fix=f"Set {here.keys[0]}, or {here.urls[0]} for a server of your own; or name another model.",
            kind="no_key",
        )
    base_url = _whole(named) if provider == "ollama" and named else named or here.base_url
    return Address(provider, model, base_url.rstrip("/"), key, here.protocol)


def _whole(address: str) -> str:
    """An address as OLLAMA_HOST has it, such as `0.0.0.0:11434`, as the URL of its OpenAI-compatible side."""
    url = address if "//" in address else f"http://{address}"
    return url if re.search(r"//[^/]+/.+", url) else url.rstrip("/") + "/v1"
