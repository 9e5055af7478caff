// A small language model behind the OpenAI chat completions protocol.
// node local_model.mjs FOLDER WEIGHTS PORT: FOLDER holds node_modules, WEIGHTS is a .gguf file, PORT 0 takes a free one.
// Writes one line of JSON, {"port": N}, when it listens. One question at a time; each has a context of its own.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, weights, port] = process.argv.slice(2);
const require = createRequire(join(resolve(folder), "package.json"));
const llamaModule = await import(pathToFileURL(require.resolve("node-llama-cpp")).href);
const { getLlama, LlamaChatSession } = llamaModule;

const llama = await getLlama({ gpu: false, build: "never", logLevel: "error" });
const model = await llama.loadModel({ modelPath: weights });
const CONTEXT = 8192; // what the model was trained for
const context = await model.createContext({ contextSize: CONTEXT, threads: 1 });
const sequence = context.getSequence();
const name = "smollm2-135m-instruct";

function schemaOf(body) {
  const format = body.response_format;
  if (format?.type === "json_schema") return format.json_schema.schema;
  if (format?.type === "json_object") return format.schema ?? { type: "object" };
  return undefined;
}

// The grammar knows types, enums and lengths. A range becomes eleven steps, so that it holds; other keywords are dropped.
function simplified(schema) {
  const known = ["type", "properties", "required", "additionalProperties", "enum", "const", "items", "maxLength", "minLength"];
  const kept = Object.fromEntries(Object.entries(schema).filter(([key]) => known.includes(key)));
  if (kept.properties)
    kept.properties = Object.fromEntries(Object.entries(kept.properties).map(([key, value]) => [key, simplified(value)]));
  if (kept.items) kept.items = simplified(kept.items);
  const { minimum, maximum } = schema;
  if (kept.type === "number" && minimum !== undefined && maximum !== undefined) {
    const steps = Array.from({ length: 11 }, (_, step) => Number((minimum + ((maximum - minimum) * step) / 10).toPrecision(6)));
    return { enum: steps };
  }
  // A model this small goes on for ever where it may.
  if (kept.type === "string" && !kept.enum) kept.maxLength = Math.min(kept.maxLength ?? 160, 160);
  return kept;
}

const textOf = (content) =>
  Array.isArray(content) ? content.map((part) => part.text ?? "").join("\n") : (content ?? "");

class TooLong extends Error {}

async function complete(body, signal) {
  const schema = schemaOf(body);
  const grammar = schema && (await llama.createGrammarForJsonSchema(simplified(schema)));
  const messages = [...body.messages];
  const last = textOf(messages.pop().content);
  const limit = body.max_tokens ?? body.max_completion_tokens ?? 256;
  const asked = body.messages.reduce((sum, { content }) => sum + model.tokenize(textOf(content)).length + 8, 0);
  if (asked + Math.min(limit, 512) > CONTEXT)
    throw new TooLong(`This model's maximum context length is ${CONTEXT} tokens; the messages have ${asked}.`);
  const session = new LlamaChatSession({ contextSequence: sequence, autoDisposeSequence: false });
  session.setChatHistory(
    messages.map(({ role, content }) =>
      role === "assistant" ? { type: "model", response: [textOf(content)] } : { type: role, text: textOf(content) }),
  );
  try {
    const answer = await session.promptWithMeta(last, {
      grammar,
      signal,
      stopOnAbortSignal: true,
      temperature: body.temperature ?? 0.7,
      seed: body.seed ?? 1,
      maxTokens: Math.min(limit, CONTEXT - asked),
    });
    const used = { in: asked, out: model.tokenize(answer.responseText).length };
    return { text: answer.responseText, cut: answer.stopReason === "maxTokens", used };
  } finally {
    // What the next question has in common with this one is not read again.
    session.dispose();
  }
}

// Whoever started this holds its standard input; when that closes, nobody is there any more.
process.stdin.on("end", () => process.exit(0)).resume();

let queue = Promise.resolve();
const server = createServer((request, response) => {
  const send = (status, value) => {
    const text = JSON.stringify(value);
    response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
    response.end(text);
  };
  if (request.method === "GET") {
    send(200, { object: "list", data: [{ id: name, object: "model", created: 0, owned_by: "local" }] });
    return;
  }
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    const gone = new AbortController();
    response.on("close", () => response.writableEnded || gone.abort());
    queue = queue.then(async () => {
      if (gone.signal.aborted) return; // nobody waits for it any more
      try {
        const body = JSON.parse(Buffer.concat(parts).toString("utf8"));
        const { text, cut, used } = await complete(body, gone.signal);
        send(200, {
          id: "chatcmpl-local", object: "chat.completion", created: Math.floor(Date.now() / 1000), model: name,
          choices: [{ index: 0, message: { role: "assistant", content: text, refusal: null },
                      finish_reason: cut ? "length" : "stop", logprobs: null }],
          usage: { prompt_tokens: used.in, completion_tokens: used.out, total_tokens: used.in + used.out },
        });
      } catch (error) {
        const code = error instanceof TooLong ? "context_length_exceeded" : null;
        send(code !== null || error instanceof SyntaxError ? 400 : 500,
             { error: { message: String(error?.message ?? error), type: "local", code } });
      }
    });
  });
});
server.listen(Number(port), "127.0.0.1", () => process.stdout.write(JSON.stringify({ port: server.address().port }) + "\n"));
