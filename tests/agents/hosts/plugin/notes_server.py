"""An MCP server with one tool: it looks a word up."""

import json
import sys
from pathlib import Path
from typing import Any

TOOL = {
    "name": "lookup",
    "description": "What the notes say of a word.",
    "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
}

for line in sys.stdin:
    asked: dict[str, Any] = json.loads(line)
    told: dict[str, Any] = {}
    if "id" not in asked:
        continue
    method, given = asked["method"], asked.get("params", {})
    if method == "initialize":
        told = {
            "protocolVersion": given["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "notes", "version": "1.0.0"},
        }
    elif method == "tools/list":
        told = {"tools": [TOOL]}
    elif method == "tools/call":
        word = given["arguments"]["word"]
        told = {"content": [{"type": "text", "text": f"{word} means welcome; {Path.cwd()}"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": told}), flush=True)
