"""Sending spans as an exporter does, and reading what was kept of them."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from proctor.host.receiver_tap import TOKEN_HEADER

PROTOBUF = "application/x-protobuf"
JSON = "application/json"


class Answer(NamedTuple):
    """What the receiver said."""

    status: int
    kind: str
    content: bytes


def post(
    port: int,
    body: bytes,
    token: str | None,
    *,
    kind: str = PROTOBUF,
    path: str = "/v1/traces",
    method: str = "POST",
    **headers: str,
) -> Answer:
    """One request on a connection of its own; `content_encoding="gzip"` and the like are headers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        said = {"Content-Type": kind} | {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            said[TOKEN_HEADER] = token
        connection.request(method, path, body, said)
        response = connection.getresponse()
        return Answer(response.status, response.headers.get("Content-Type", ""), response.read())
    finally:
        connection.close()


def protobuf(*names: str, parent: str = "", attributes: Mapping[str, str | int] | None = None) -> bytes:
    """An export request with spans of these names, each with these attributes."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    resource.resource.attributes.add(key="service.name").value.string_value = "agent"
    scope = resource.scope_spans.add()
    scope.scope.name = "by hand"
    for number, name in enumerate(names, start=1):
        span = scope.spans.add(
            trace_id=bytes(range(16)),
            span_id=abs(hash(name)).to_bytes(8, "big"),
            parent_span_id=bytes.fromhex(parent),
            name=name,
            start_time_unix_nano=1_764_500_000_000_000_000 + number,
            end_time_unix_nano=1_764_500_001_000_000_000 + number,
        )
        for key, value in (attributes or {}).items():
            into = span.attributes.add(key=key).value
            if isinstance(value, int):
                into.int_value = value
            else:
                into.string_value = value
    return request.SerializeToString()


def chat(**more: str | int) -> dict[str, str | int]:
    """The attributes of a model call; `__` stands for a dot."""
    said: dict[str, str | int] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.usage.input_tokens": 1000,
        "gen_ai.usage.output_tokens": 100,
    }
    return said | {name.replace("__", "."): value for name, value in more.items()}


def as_json(*names: str, **said: Any) -> bytes:
    """The same as `protobuf`, as JSON."""
    from proctor.core.trace_protobuf import document_of

    return json.dumps(document_of(protobuf(*names, **said))).encode()


def lines(trace: Path) -> list[dict[str, Any]]:
    """The documents of a trace."""
    return [json.loads(line) for line in trace.read_bytes().splitlines()]


def span_names(trace: Path) -> list[str]:
    """The names of all spans, in order."""
    return [
        span["name"]
        for document in lines(trace)
        for resource in document["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]
