"""What model calls cost, by the list of prices of the installed `genai-prices`. Nothing is asked of the network.

The list is that of the version that is installed. A number that is worked out here is to be kept with the run:
another version, or a later day, may give another.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from proctor.core import trace_names as names
from proctor.records.json_value import Json

NO_LIST: Final = "no list of prices is installed: pip install 'proctor[prices]' before the next run"

_MOST_TOKENS: Final = 10**15
_LONGEST_NAME: Final = 300
# Names by the GenAI conventions, and by widespread libraries, of providers that the list calls otherwise.
_LISTED_AS: Final = {
    "aws.bedrock": "aws",
    "bedrock": "aws",
    "amazon-bedrock": "aws",
    "azure.ai.inference": "azure",
    "azure.ai.openai": "azure",
    "gcp.gemini": "google",
    "gcp.gen_ai": "google",
    "gcp.vertex_ai": "google",
    "mistral_ai": "mistral",
    "moonshot_ai": "moonshotai",
    "openai.responses": "openai",
    "x_ai": "x-ai",
    "xai": "x-ai",
}


class Priced(NamedTuple):
    """What a call cost, in US dollars; or None, and why that cannot be told."""

    cost_usd: float | None
    why_not: str = ""


def cost_of(
    *,
    provider: str | None,
    model: str,
    tokens_in: int | None,
    tokens_out: int | None,
    cached_in: int | None = None,
) -> float | None:
    """What a call cost, in US dollars, by the prices of the day. None when it cannot be told; it is never 0 for that.

    Args:
        provider: by any name that is common for it; None leaves it to the name of the model.
        model: as the provider calls it.
        tokens_in: all tokens that were sent.
        tokens_out: tokens that the model wrote.
        cached_in: how many of those that were sent came from the provider's cache.
    """
    return priced(
        provider=provider, model=model, tokens_in=tokens_in, tokens_out=tokens_out, cached_in=cached_in
    ).cost_usd


def priced(
    *,
    provider: str | None,
    model: str | None,
    tokens_in: int | None,
    tokens_out: int | None,
    cached_in: int | None = None,
    cache_written: int | None = None,
) -> Priced:
    """As `cost_of`, with the reason where it cannot be told.

    cache_written: how many of the tokens that were sent the provider put into its cache.
    """
    if not model:
        return Priced(None, "it names no model")
    if tokens_in is None or tokens_out is None:
        return Priced(None, "it says neither a cost nor all of its tokens")
    if (cached_in or 0) + (cache_written or 0) > tokens_in:
        return Priced(None, "it says more cached tokens than tokens")
    if tokens_in + tokens_out > _MOST_TOKENS:
        return Priced(None, "it says more tokens than there can be")
    if len(model) + len(provider or "") > _LONGEST_NAME:
        return Priced(None, f"no model has so long a name as {model[:100]}…")
    try:
        import genai_prices  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError:
        return Priced(None, NO_LIST)
    return _listed(provider, model, tokens_in, tokens_out, cached_in, cache_written)


@lru_cache(maxsize=8192)
def _listed(
    provider: str | None,
    model: str,
    tokens_in: int,
    tokens_out: int,
    cached_in: int | None,
    cache_written: int | None,
) -> Priced:
    """What the list says. Remembered: a call is asked for while its agent runs, and again when its trace is written."""
    from genai_prices import Usage, calc_price

    usage = Usage(
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cache_read_tokens=cached_in,
        cache_write_tokens=cache_written,
    )
    name = (provider or "").casefold()
    shown = f"{provider}/{model}" if provider else model
    try:
        found = calc_price(usage, model_ref=model, provider_id=_LISTED_AS.get(name, name) or None)
    except (LookupError, ValueError):
        return Priced(None, f"{price_list()} has no price for {shown}")
    price = found.model_price
    if (tokens_in and price.input_mtok is None) or (tokens_out and price.output_mtok is None):
        return Priced(None, f"{price_list()} has no price for all tokens of {shown}")
    return Priced(float(found.total_price))


def price_attributes(attributes: Mapping[str, Json]) -> dict[str, Json]:
    """What is to be added to the span of a model call so that its cost is kept with it: the cost, or why not.

    Nothing where the span says its cost itself, or was refused by the provider.
    """
    tokens_in = names.count(attributes, names.TOKENS_IN)
    tokens_out = names.count(attributes, names.TOKENS_OUT)
    if names.cost(attributes) is not None:
        return {}
    if tokens_in is None and tokens_out is None and names.was_refused(attributes):
        return {}
    if tokens_out is None and names.is_embedding(attributes):
        tokens_out = 0
    cost_usd, why_not = priced(
        provider=names.text(attributes, names.PROVIDER),
        model=names.text(attributes, names.MODEL),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cached_in=names.count(attributes, names.TOKENS_CACHED),
        cache_written=names.count(attributes, names.TOKENS_CACHE_WRITTEN),
    )
    if cost_usd is None:
        return {names.NOT_WORKED_OUT: why_not}
    return {names.WORKED_OUT: cost_usd, names.PRICE_LIST: price_list()}


@lru_cache(maxsize=1)
def price_list() -> str | None:
    """Name and version of the list of prices; None when none is installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"genai-prices {version('genai-prices')}"
    except PackageNotFoundError:
        return None
