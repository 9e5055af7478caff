"""A stand-in for the Agency language's tool: it "compiles" an `.agency` file by writing the module that is kept in it.

What it writes has the form of a module that the real tool compiles: a function for each node, which returns
`{data: ...}`, the names of its parameters in `__NODENodeParams`, and `hasInterrupts` and `respondToInterrupts`.
"""

from __future__ import annotations

import sys
from pathlib import Path

TOOL = f"""#!{sys.executable}
import pathlib, sys

if sys.argv[1:2] != ["compile"]:
    sys.exit("usage: agency compile FILE")
source = pathlib.Path(sys.argv[2])
text = source.read_text()
if "syntax error" in text:
    print("agent.agency:1:1 unexpected token", file=sys.stderr)
    sys.exit(1)
if "writes nothing" not in text:
    source.with_suffix(".js").write_text(text)
print("compiled", source)
"""

AGENT = """
export async function echo(given) { return { messages: {}, data: given }; }
export const __echoNodeParams = ["given"];
export async function hang(given) { await new Promise((done) => setTimeout(done, 600000)); }
export const __hangNodeParams = ["given"];
export async function crash(given) { throw new RangeError("it fell over"); }
export const __crashNodeParams = ["given"];
export async function silent(given) { console.log("to stdout"); return { messages: {}, data: undefined }; }
export const __silentNodeParams = ["given"];
"""


def install_agency(folder: Path) -> Path:
    """The tool's program, in a folder whose package.json says that modules are ES modules."""
    tool = folder / "agency-tool"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    (folder / "package.json").write_text('{"type": "module"}')
    return tool
