// An agent with the OpenTelemetry SDK for Node as its documentation sets it up: everything else is in the environment.
import { SpanStatusCode, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] });
provider.register();
const tracer = trace.getTracer("agent");

const ask = (fails) => {
  const attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-4o",
    "gen_ai.input.messages": JSON.stringify([
      { role: "user", parts: [{ type: "text", content: "Weather in Oslo?" }] },
    ]),
  };
  tracer.startActiveSpan("chat gpt-4o", { attributes }, (span) => {
    if (fails) {
      span.setAttribute("error.type", "429").setStatus({ code: SpanStatusCode.ERROR, message: "slow down" });
    } else {
      span.setAttributes({
        "gen_ai.response.model": "gpt-4o-2024-08-06",
        "gen_ai.response.finish_reasons": ["tool_calls"],
        "gen_ai.usage.input_tokens": 1000,
        "gen_ai.usage.cache_read.input_tokens": 0,
        "gen_ai.usage.output_tokens": 100,
      });
    }
    span.end();
  });
};

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

await tracer.startActiveSpan("invoke_agent", async (agent) => {
  ask(true);
  await wait(5);
  ask(false);
  const attributes = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "weather",
    "gen_ai.tool.call.arguments": JSON.stringify({ city: "Oslo" }),
    "gen_ai.tool.call.result": JSON.stringify({ sky: "rain" }),
  };
  await wait(5);
  tracer.startSpan("execute_tool weather", { attributes }).end();
  agent.end();
});
await provider.shutdown();
