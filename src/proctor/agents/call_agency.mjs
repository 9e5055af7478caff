// Calls one node of a compiled Agency module: `node call_agency.mjs MODULE NODE ASKED RESULT`.
// ASKED is a JSON file; `{"describe": true}` in it asks what there is instead of calling. RESULT is written whole.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [modulePath, nodeName, askedPath, resultPath] = process.argv.slice(2);
const asked = JSON.parse(readFileSync(askedPath, "utf8"));
const MOST_APPROVALS = 1000;

class Trouble extends Error {
  constructor(type, message) {
    super(message);
    this.type = type;
  }
}

function write(result) {
  const half = `${resultPath}.half`;
  writeFileSync(half, JSON.stringify(result, (_, value) => {
    if (typeof value === "number" && !Number.isFinite(value)) {
      throw new Trouble("not-json", `The node returned something that is not JSON: ${value}`);
    }
    if (typeof value === "bigint") {
      throw new Trouble("not-json", `The node returned something that is not JSON: the BigInt ${value}`);
    }
    return value;
  }));
  renameSync(half, resultPath);
}

function defectOf(error) {
  const thrown = error instanceof Error ? error : new Error(typeof error === "string" ? error : JSON.stringify(error));
  return { type: thrown.type ?? thrown.name, message: thrown.message || thrown.name, stack: thrown.stack ?? "" };
}

function described(module) {
  const nodes = Object.keys(module)
    .map((name) => /^__(.+)NodeParams$/.exec(name)?.[1])
    .filter((name) => name !== undefined);
  const params = module[`__${nodeName}NodeParams`];
  return {
    nodes,
    exists: typeof module[nodeName] === "function",
    params: Array.isArray(params) ? params.length : null,
  };
}

// What waits for a person's approval gets it: nobody is there to ask.
async function settled(module, returned) {
  for (let count = 0; count < MOST_APPROVALS; count += 1) {
    const data = returned !== null && typeof returned === "object" && "data" in returned ? returned.data : returned;
    if (typeof module.hasInterrupts !== "function" || !module.hasInterrupts(data)) {
      return data;
    }
    returned = await module.respondToInterrupts(data, data.map(() => ({ type: "approve" })));
  }
  throw new Trouble("interrupts", `The node asked for approval more than ${MOST_APPROVALS} times.`);
}

function output(data) {
  if (data !== null && typeof data === "object" && data.__type === "resultType") {
    if (data.success) {
      return data.value ?? null;
    }
    const error = data.error;
    throw new Trouble("failure", typeof error === "string" ? error : error?.message ?? JSON.stringify(error));
  }
  return data ?? null;
}

function given() {
  if (asked.input === null) {
    return [];
  }
  const text = readFileSync(asked.input, "utf8");
  return [asked.is_text ? text : JSON.parse(text)];
}

let story = null;

try {
  const module = await import(pathToFileURL(modulePath).href);
  if (asked.describe) {
    write(described(module));
  } else {
    if (asked.statelog && process.env.OTEL_EXPORTER_OTLP_ENDPOINT) {
      const { Storyteller } = await import("./tell_statelog.mjs");
      story = new Storyteller(asked.statelog);
    }
    write({ output: output(await settled(module, await module[nodeName](...given()))) });
  }
} catch (error) {
  write({ defect: defectOf(error) });
}
await story?.end();
process.exit(0);
