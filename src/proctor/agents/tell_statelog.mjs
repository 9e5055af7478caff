// Tells the trace endpoint what an Agency program writes into its statelog, while it runs: model calls and tool calls
// as spans of the GenAI semantic conventions, in OTLP/JSON.

import { randomBytes } from "node:crypto";
import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";

const EVERY_MS = 500;
const SENT_WITHIN_MS = 5000;
const MOST_AT_ONCE = 4 * 1024 * 1024;

export class Storyteller {
  constructor(path) {
    this.path = path;
    this.position = 0;
    this.rest = Buffer.alloc(0);
    this.open = new Map();
    this.sending = Promise.resolve();
    const parent = /^00-([0-9a-f]{32})-([0-9a-f]{16})-/.exec(process.env.TRACEPARENT ?? "");
    this.traceId = parent?.[1] ?? randomBytes(16).toString("hex");
    this.parentId = parent?.[2];
    this.timer = setInterval(() => this.tell(), EVERY_MS);
    this.timer.unref();
  }

  async end() {
    clearInterval(this.timer);
    this.tell();
    await this.sending;
  }

  tell() {
    let spans;
    try {
      spans = this.lines().flatMap((line) => this.spansOf(line));
    } catch {
      return;
    }
    if (spans.length > 0) {
      this.sending = this.sending.then(() => this.send(spans)).catch(() => {});
    }
  }

  lines() {
    if (!existsSync(this.path)) {
      return [];
    }
    const file = openSync(this.path, "r");
    try {
      const size = Math.min(statSync(this.path).size - this.position, MOST_AT_ONCE);
      const more = Buffer.alloc(Math.max(0, size));
      this.position += readSync(file, more, 0, more.length, this.position);
      const text = Buffer.concat([this.rest, more]);
      const end = text.lastIndexOf(10) + 1;
      this.rest = text.subarray(end);
      return text.subarray(0, end).toString("utf8").split("\n").filter((line) => line !== "");
    } finally {
      closeSync(file);
    }
  }

  spansOf(line) {
    let said;
    try {
      said = JSON.parse(line);
    } catch {
      return [];
    }
    const data = said.data ?? {};
    if (data.type === "toolCallStart") {
      this.open.set(said.span_id, data);
      return [];
    }
    if (data.type === "promptCompletion") {
      return [this.span(data, `chat ${data.model ?? ""}`.trim(), {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": data.model,
        "gen_ai.response.model": data.model,
        "gen_ai.usage.input_tokens": data.usage?.inputTokens,
        "gen_ai.usage.cache_read.input_tokens": data.usage?.cachedInputTokens,
        "gen_ai.usage.output_tokens": data.usage?.outputTokens,
        "gen_ai.usage.cost": data.cost?.totalCost,
      })];
    }
    if (data.type === "toolCall") {
      const begun = this.open.get(said.span_id);
      this.open.delete(said.span_id);
      const name = data.toolName ?? begun?.toolName ?? "tool";
      return [this.span(data, `execute_tool ${name}`, {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.arguments": begun?.args === undefined ? undefined : JSON.stringify(begun.args),
        "gen_ai.tool.call.result": data.output === undefined ? undefined : text(data.output),
      })];
    }
    return [];
  }

  span(data, name, attributes) {
    const ended = Date.parse(data.timestamp) || Number(data.timestamp) || Date.now();
    const took = Number.isFinite(data.timeTaken) ? data.timeTaken : 0;
    return {
      traceId: this.traceId,
      spanId: randomBytes(8).toString("hex"),
      ...(this.parentId ? { parentSpanId: this.parentId } : {}),
      name,
      kind: 3,
      startTimeUnixNano: nanoseconds(ended - took),
      endTimeUnixNano: nanoseconds(ended),
      attributes: Object.entries(attributes)
        .filter(([, value]) => value !== undefined && value !== null)
        .map(([key, value]) => ({ key, value: wrapped(key, value) })),
    };
  }

  async send(spans) {
    const headers = { "content-type": "application/json" };
    for (const pair of (process.env.OTEL_EXPORTER_OTLP_HEADERS ?? "").split(",")) {
      const [name, ...value] = pair.split("=");
      if (value.length > 0) {
        headers[name.trim()] = decodeURIComponent(value.join("=").trim());
      }
    }
    const document = {
      resourceSpans: [{
        resource: { attributes: [{ key: "service.name", value: { stringValue: "agency" } }] },
        scopeSpans: [{ scope: { name: "agency.statelog" }, spans }],
      }],
    };
    const base = process.env.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/+$/, "");
    const answer = await fetch(`${base}/v1/traces`, {
      method: "POST",
      headers,
      body: JSON.stringify(document),
      signal: AbortSignal.timeout(SENT_WITHIN_MS),
    });
    await answer.arrayBuffer();
  }
}

function text(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function nanoseconds(milliseconds) {
  return (BigInt(Math.round(milliseconds)) * 1000000n).toString();
}

function wrapped(key, value) {
  if (typeof value !== "number") {
    return { stringValue: String(value) };
  }
  return key.endsWith("_tokens") ? { intValue: String(Math.round(value)) } : { doubleValue: value };
}
