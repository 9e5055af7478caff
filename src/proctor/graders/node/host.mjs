// Loads grading scripts in JavaScript and TypeScript, and calls them: one JSON message a line, over the descriptor that it is given.
//
// Asked: {"script": path, "cache": folder} and, unless it is only to be loaded, {"context": {...}}.
// Answered: {"ready": true} at first, then for each question {"outcome", "detail"} or {"failed": {type, message, stack, missing}},
// with "last" where what failed had been left behind by a call, and this process ends.

import { createRequire } from "node:module";
import { Socket } from "node:net";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inspect } from "node:util";

import { createJiti } from "./jiti/lib/jiti.mjs";

const require = createRequire(import.meta.url);
const transform = require("./jiti/dist/babel.cjs");
const channel = new Socket({ fd: Number(process.argv[2]), readable: true, writable: true });
const own = fileURLToPath(new URL(".", import.meta.url));
let isAsked = false;

class BrokenScript extends Error {}

function answer(message) {
  isAsked = false;
  return new Promise((sent) => channel.write(`${JSON.stringify(message)}\n`, sent));
}

function failure(thrown) {
  if (thrown instanceof BrokenScript) {
    return { type: "BrokenScript", message: thrown.message, stack: "", missing: "" };
  }
  // What a script throws may be of another realm, or be made to look like an error.
  if (thrown !== null && typeof thrown === "object" && typeof thrown.message === "string") {
    const [first, ...rest] = thrown.message.split("\nRequire stack:");
    const isMissing = thrown.code === "MODULE_NOT_FOUND" || thrown.code === "ERR_MODULE_NOT_FOUND";
    const missing = isMissing ? (/Cannot find (?:module|package) '([^']+)'/.exec(first)?.[1] ?? "") : "";
    const type = String(thrown.name || "Error");
    return { type, message: first, stack: frames(String(thrown.stack ?? ""), rest.length), missing };
  }
  return { type: typeof thrown, message: inspect(thrown).slice(0, 2000), stack: "", missing: "" };
}

// The frames of the script itself: those of this host, of jiti and of Node say nothing to its author.
function frames(stack, isCut) {
  const lines = stack.split("\n");
  const theirs = lines.filter((line) => !/^\s+at /.test(line) || !(line.includes(own) || line.includes("node:internal")));
  return (isCut ? theirs.filter((line) => !line.startsWith("- ") && line !== "Require stack:") : theirs).join("\n");
}

async function load(asked) {
  // Evaluated anew for each call, as each run is to be graded as if it were the first; what it was compiled to is kept.
  const jiti = createJiti(pathToFileURL(asked.script).href, {
    fsCache: asked.cache,
    moduleCache: false,
    sourceMaps: true,
    transform,
  });
  const module = await jiti.import(asked.script);
  const grade = module?.default;
  if (typeof grade !== "function") {
    throw new BrokenScript(`${asked.shown} has no default export that is a function`);
  }
  return grade;
}

function text(value) {
  return typeof value === "string" ? { text: value } : { other: inspect(value).slice(0, 200) };
}

async function grade(asked) {
  const call = await load(asked);
  if (asked.context === undefined) {
    return { loaded: true };
  }
  const returned = await call(asked.context);
  if (returned === null || typeof returned !== "object" || Array.isArray(returned)) {
    throw new BrokenScript(`the function in ${asked.shown} returned ${inspect(returned).slice(0, 200)}, not { outcome, detail }`);
  }
  return { outcome: text(returned.outcome), detail: text(returned.detail) };
}

async function asked(line) {
  isAsked = true;
  try {
    await answer(await grade(JSON.parse(line)));
  } catch (thrown) {
    await answer({ failed: failure(thrown) });
  }
}

// What a script leaves behind and what then fails belongs to the call that is running; what comes after is not to be trusted.
process.on("uncaughtException", async (thrown) => {
  if (isAsked) {
    await answer({ failed: failure(thrown), last: true });
  }
  process.exit(1);
});

let waiting = "";
let queue = Promise.resolve();
channel.setEncoding("utf8");
channel.on("end", () => process.exit(0));
channel.on("data", (piece) => {
  waiting += piece;
  for (let end = waiting.indexOf("\n"); end >= 0; end = waiting.indexOf("\n")) {
    const line = waiting.slice(0, end);
    waiting = waiting.slice(end + 1);
    queue = queue.then(() => asked(line));
  }
});

transform({ source: "export default 1", filename: "ready.ts", ts: true });
answer({ ready: true });
