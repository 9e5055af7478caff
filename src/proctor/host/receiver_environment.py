"""The variables of the OpenTelemetry specification that bring an agent's spans to the receiver, and in time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

_CONVENTIONS: Final = "gen_ai_latest_experimental"
_RESOURCE: Final = "deployment.environment.name=proctor"


def exporter_environment(
    url: str, headers: str, traceparent: str, base: Mapping[str, str], *, flush_ms: int
) -> dict[str, str]:
    """What is set for the agent. A list that it has already is added to; any other value is replaced.

    Args:
        url: of the receiver, without a path.
        headers: as `OTEL_EXPORTER_OTLP_HEADERS` wants them.
        traceparent: W3C trace context.
        base: what the agent is started with otherwise.
        flush_ms: how long an ended span may wait before it is sent, in milliseconds.
    """
    made = {
        "OTEL_SDK_DISABLED": "false",
        "OTEL_TRACES_EXPORTER": "otlp",
        # Nobody would look at them, and an exporter that ends waits for them.
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_LOGS_EXPORTER": "none",
        "OTEL_TRACES_SAMPLER": "parentbased_always_on",
        "OTEL_BSP_SCHEDULE_DELAY": str(flush_ms),
        "OTEL_RESOURCE_ATTRIBUTES": _joined(base.get("OTEL_RESOURCE_ATTRIBUTES", ""), _RESOURCE),
        "OTEL_SEMCONV_STABILITY_OPT_IN": _joined(base.get("OTEL_SEMCONV_STABILITY_OPT_IN", ""), _CONVENTIONS),
        "TRACEPARENT": traceparent,
    }
    # What is said for traces alone would win over what is said for all signals.
    for signal, path in (("", ""), ("TRACES_", "/v1/traces")):
        made[f"OTEL_EXPORTER_OTLP_{signal}ENDPOINT"] = f"{url}{path}"
        made[f"OTEL_EXPORTER_OTLP_{signal}PROTOCOL"] = "http/protobuf"
        made[f"OTEL_EXPORTER_OTLP_{signal}HEADERS"] = headers
    if "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" not in base:
        made["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"
    host = urlsplit(url).hostname or ""
    for name in ("NO_PROXY", "no_proxy"):
        if any(base.get(proxy) for proxy in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")):
            made[name] = _joined(base.get(name, ""), host)
    return made


def _joined(listed: str, entry: str) -> str:
    entries = [one for one in listed.split(",") if one.strip()]
    return ",".join(entries if entry in entries else [*entries, entry])
