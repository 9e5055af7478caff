"""A stand-in for the program of a coding agent: it answers as that does when it is asked for its version and options,
and then does as a word beside it says, or plays a stream that was recorded.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

PROGRAM = f"""#!{sys.executable}
import json, os, pathlib, subprocess, sys, time

here = pathlib.Path(__file__).parent
asked = json.loads((here / "stand-in.json").read_text())
words = sys.argv[1:]
config = pathlib.Path(os.environ["CLAUDE_CONFIG_DIR"])

def say(**record):
    print(json.dumps(record), flush=True)

if words == ["--version"]:
    sys.exit(print(asked["version"]))
if words == ["--help"]:
    sys.exit(print(asked["help"]))
if words[:2] == ["auth", "status"]:
    is_signed_in = (config / ".credentials.json").exists() or "ANTHROPIC_API_KEY" in os.environ
    sys.exit(print(json.dumps({{"loggedIn": is_signed_in}})))
given, does = sys.stdin.read(), asked["does"]
if does == "says nothing":
    sys.exit("error: it cannot start here")
if does.endswith(".jsonl"):
    print(pathlib.Path(does).read_text(), end="", flush=True)
    time.sleep(asked["then_sleeps_s"])
    sys.exit(asked["code"])
say(type="system", subtype="init", plugins=asked["plugins"])
if does == "crash":
    sys.exit("it fell over")
if does == "hang":
    subprocess.run("sleep 600 & setsid sleep 600 & wait", shell=True)
if does == "config":
    files = {{str(path.relative_to(config)): path.read_text() for path in config.rglob("*") if path.is_file()}}
    given = json.dumps({{"files": files, "words": words, "given": given}})
say(type="result", subtype="success", is_error=False, result="" if does == "silent" else given)
"""

HELP = """Options:
  --print  --output-format <format>  --verbose  --permission-mode <mode>  --plugin-dir <path>
  --no-session-persistence  --max-budget-usd <amount>  --model <model>
"""


def install_claude(
    folder: Path,
    does: str | Path = "echo",
    *,
    version: str = "9.9.9 (Stand-in)",
    help_text: str = HELP,
    plugins: tuple[str, ...] = (),
    code: int = 0,
    then_sleeps_s: float = 0,
) -> Path:
    """The stand-in in a folder of its own, which is to be on the PATH.

    does: `echo`, `silent`, `crash`, `hang`, `config` (tells what it was started with), `says nothing`, or the path of
        a stream.
    """
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "claude"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    asked = {
        "version": version,
        "help": help_text,
        "does": str(does),
        "plugins": [{"name": name} for name in plugins],
        "code": code,
        "then_sleeps_s": then_sleeps_s,
    }
    (folder / "stand-in.json").write_text(json.dumps(asked))
    return folder
