"""What a real agent's trace is to say, whoever exported it."""

from __future__ import annotations

import pytest

from proctor.records.trace import LlmCall, ToolCall, Trace

ASKED = [{"role": "user", "parts": [{"type": "text", "content": "Weather in Oslo?"}]}]


def assert_is_the_weather(trace: Trace | None) -> None:
    """A refused call, its retry, and a tool; 1,000 tokens in at $2.50 and 100 out at $10 a million."""
    assert trace is not None
    assert trace.is_whole
    refused, answered, tool = trace.events
    assert isinstance(refused, LlmCall)
    assert isinstance(answered, LlmCall)
    assert isinstance(tool, ToolCall)
    assert ("gpt-4o", "openai", 1, True) == (
        refused.model,
        refused.provider,
        refused.attempt,
        "slow down" in (refused.error or ""),
    )
    assert ("gpt-4o-2024-08-06", 1000, 0, 100, ("tool_calls",), 2, None, "inferred") == (
        answered.model,
        answered.tokens_in,
        answered.tokens_cached,
        answered.tokens_out,
        answered.finish_reasons,
        answered.attempt,
        answered.error,
        answered.evidence,
    )
    assert ASKED == answered.messages_in
    assert ("weather", {"city": "Oslo"}, {"sky": "rain"}) == (tool.name, tool.arguments, tool.result)
    metrics = trace.metrics
    assert (2, 1, 1, 1, 1000, 100, "prices", ("gpt-4o", "gpt-4o-2024-08-06")) == (
        metrics.llm_calls,
        metrics.tool_calls,
        metrics.retries,
        metrics.errors,
        metrics.tokens_in_total,
        metrics.tokens_out_total,
        metrics.cost_source,
        metrics.models,
    )
    assert pytest.approx(0.0035) == metrics.cost_usd_total
