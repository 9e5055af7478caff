"""The variables that an agent gets so that its spans find the way: what it has already is kept where it is a list."""

from __future__ import annotations

import pytest

from proctor.host.receiver_environment import exporter_environment


def made(base: dict[str, str], url: str = "http://127.0.0.1:4318") -> dict[str, str]:
    """The variables beside these."""
    return exporter_environment(url, "x-token=abc", "00-a-b-01", base, flush_ms=200)


def test_what_is_said_for_traces_alone_says_the_same() -> None:
    """It would win over what is said for all signals, and may be set by the operator."""
    environment = made({})

    assert "http://127.0.0.1:4318" == environment["OTEL_EXPORTER_OTLP_ENDPOINT"]
    assert "http://127.0.0.1:4318/v1/traces" == environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]
    for name in ("PROTOCOL", "HEADERS"):
        assert environment[f"OTEL_EXPORTER_OTLP_{name}"] == environment[f"OTEL_EXPORTER_OTLP_TRACES_{name}"]


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("OTEL_RESOURCE_ATTRIBUTES", "", "deployment.environment.name=proctor"),
        ("OTEL_RESOURCE_ATTRIBUTES", "team=a", "team=a,deployment.environment.name=proctor"),
        ("OTEL_SEMCONV_STABILITY_OPT_IN", "http", "http,gen_ai_latest_experimental"),
        ("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental", "gen_ai_latest_experimental"),
        ("OTEL_TRACES_SAMPLER", "always_off", "parentbased_always_on"),
    ],
)
def test_a_list_is_added_to_and_a_value_is_replaced(name: str, before: str, after: str) -> None:
    """Once, however often."""
    assert after == made({name: before})[name]


def test_what_the_operator_says_about_messages_holds() -> None:
    """Recording them is the default, and not an order."""
    name = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

    assert "SPAN_ONLY" == made({})[name]
    assert name not in made({name: "false"})


def test_spans_do_not_go_through_a_proxy() -> None:
    """Where there is one; where there is none, nothing is said of it."""
    assert "NO_PROXY" not in made({})
    assert "127.0.0.1" == made({"http_proxy": "http://proxy:3128"})["NO_PROXY"]
    assert "corp,127.0.0.1" == made({"HTTP_PROXY": "http://proxy:3128", "no_proxy": "corp"})["no_proxy"]
    assert "inside" == made({"ALL_PROXY": "http://proxy:3128"}, "http://inside:1")["no_proxy"]
