"""An agent with the OpenTelemetry SDK as its documentation sets it up: everything else is in the environment."""

import json
import sys
import time

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("agent")


class RateLimitError(Exception):
    """What a client raises."""


def ask(question, *, fails=False):
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.input.messages": json.dumps(
            [{"role": "user", "parts": [{"type": "text", "content": question}]}]
        ),
    }
    with tracer.start_as_current_span(
        "chat gpt-4o", kind=trace.SpanKind.CLIENT, attributes=attributes
    ) as span:
        if fails:
            span.set_attribute("error.type", "429")
            raise RateLimitError("slow down")
        span.set_attribute("gen_ai.response.model", "gpt-4o-2024-08-06")
        span.set_attribute("gen_ai.response.finish_reasons", ["tool_calls"])
        span.set_attribute("gen_ai.usage.input_tokens", 1000)
        span.set_attribute("gen_ai.usage.cache_read.input_tokens", 0)
        span.set_attribute("gen_ai.usage.output_tokens", 100)


def work():
    with tracer.start_as_current_span("invoke_agent", attributes={"gen_ai.operation.name": "invoke_agent"}):
        try:
            ask("Weather in Oslo?", fails=True)
        except RateLimitError:
            ask("Weather in Oslo?")
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "weather",
            "gen_ai.tool.call.arguments": '{"city": "Oslo"}',
        }
        with tracer.start_as_current_span("execute_tool weather", attributes=attributes) as span:
            span.set_attribute("gen_ai.tool.call.result", '{"sky": "rain"}')


def main(_=None):
    work()
    return "rain"


if __name__ == "__main__":
    if "many" in sys.argv:
        for number in range(2000):
            with tracer.start_as_current_span(f"step {number}", attributes={"text": "x" * 50}):
                pass
            if number % 500 == 499:
                provider.force_flush()
    elif "hangs" in sys.argv:
        with tracer.start_as_current_span("invoke_agent"):
            ask("Weather in Oslo?")
            print("asked", flush=True)
            time.sleep(60)
    else:
        work()
