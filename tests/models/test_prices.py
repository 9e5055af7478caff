"""What calls cost by the list of prices, and that an unknown price is unknown."""

from __future__ import annotations

import sys

import pytest

from proctor.models.prices import cost_of, price_attributes, price_list, priced


def cost(provider: str | None, model: str, **said: int | None) -> float | None:
    """A thousand tokens in, a hundred out."""
    return cost_of(provider=provider, model=model, **{"tokens_in": 1000, "tokens_out": 100} | said)


def test_a_known_model_has_a_price() -> None:
    """gpt-4o: $2.50 a million in, $1.25 from the cache, $10 out. 0.0025 + 0.001; with 800 cached 0.0005 + 0.001 + 0.001."""
    assert 0.0035 == pytest.approx(cost("openai", "gpt-4o"))
    assert 0.0025 == pytest.approx(cost("openai", "gpt-4o", cached_in=800))


@pytest.mark.parametrize(
    ("convention", "listed", "model"),
    [
        ("aws.bedrock", "aws", "anthropic.claude-3-5-sonnet-20240620-v1:0"),
        ("azure.ai.openai", "azure", "gpt-4o"),
        ("azure.ai.inference", "azure", "gpt-4o"),
        ("gcp.gemini", "google", "gemini-2.5-pro"),
        ("gcp.vertex_ai", "google", "gemini-2.5-pro"),
        ("gcp.gen_ai", "google", "gemini-2.5-pro"),
        ("mistral_ai", "mistral", "mistral-large-latest"),
        ("x_ai", "x-ai", "grok-3"),
        ("OpenAI", "openai", "gpt-4o"),
    ],
)
def test_a_provider_is_known_by_the_name_of_the_conventions(convention: str, listed: str, model: str) -> None:
    """Which is not that of the list."""
    assert cost(listed, model) is not None
    assert cost(listed, model) == cost(convention, model)


@pytest.mark.parametrize(
    ("provider", "model", "said", "why"),
    [
        ("acme", "gpt-4o", {}, "has no price for acme/gpt-4o"),
        ("openai", "gpt-99-huge", {}, "has no price for openai/gpt-99-huge"),
        (None, "llama-of-mine", {}, "has no price for llama-of-mine"),
        ("openai", "whisper-1", {}, "has no price for all tokens of openai/whisper-1"),
        ("openai", "gpt-4o", {"tokens_in": None}, "neither a cost nor all of its tokens"),
        ("openai", "gpt-4o", {"tokens_out": None}, "neither a cost nor all of its tokens"),
        ("openai", "gpt-4o", {"cached_in": 1001}, "more cached tokens than tokens"),
        ("openai", "", {}, "names no model"),
        ("openai", "x" * 10_000, {}, "no model has so long a name"),
        ("openai", "gpt-4o", {"tokens_in": 10**300}, "more tokens than there can be"),
    ],
)
def test_an_unknown_price_is_none_and_has_a_reason(
    provider: str | None, model: str, said: dict[str, int | None], why: str
) -> None:
    """It is never 0."""
    found = priced(provider=provider, model=model, **{"tokens_in": 1000, "tokens_out": 100} | said)

    assert None is found.cost_usd
    assert why in found.why_not
    assert None is cost(provider, model, **said)


def test_without_the_extra_nothing_has_a_price(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason says how to install it."""
    monkeypatch.setitem(sys.modules, "genai_prices", None)

    assert None is cost("openai", "gpt-4o")
    assert (
        "pip install 'proctor[prices]'"
        in priced(provider="openai", model="gpt-4o", tokens_in=1, tokens_out=1).why_not
    )


def test_no_tokens_cost_nothing() -> None:
    """That is known, and 0."""
    assert 0.0 == cost("openai", "gpt-4o", tokens_in=0, tokens_out=0)


@pytest.mark.parametrize(
    ("attributes", "names"),
    [
        ({"gen_ai.usage.cost": 0.5}, set[str]()),
        ({"error.type": "429"}, set[str]()),
        ({"gen_ai.operation.name": "chat"}, {"proctor.cost.unknown"}),
        (
            {
                "gen_ai.operation.name": "embeddings",
                "gen_ai.request.model": "text-embedding-3-small",
                "gen_ai.provider.name": "openai",
                "gen_ai.usage.input_tokens": 1000,
            },
            {"proctor.cost.usd", "proctor.cost.prices"},
        ),
    ],
    ids=["it says so", "refused", "nothing known", "an embedding writes no tokens"],
)
def test_what_is_added_to_a_span(attributes: dict[str, str | int | float], names: set[str]) -> None:
    """The cost with the list that it is by, or why not; nothing where that is known already."""
    assert names == set(price_attributes(attributes))


def test_the_list_has_a_name_and_a_version() -> None:
    """So that a number can be explained in a year."""
    assert (price_list() or "").startswith("genai-prices ")
