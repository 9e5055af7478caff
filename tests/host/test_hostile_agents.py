"""Agents that do not want to end. Each trial ends in time, keeps what was said, and leaves nothing alive.

All of it holds without a sandbox and in one.

`PROCTOR_HOSTILE_REPORT` names a file that receives the table; with `-s` it is printed.
"""

from __future__ import annotations

import os
import sys
import time
import uuid
from pathlib import Path

import pytest

from proctor.agents.command import CommandAgent
from proctor.agents.function import FunctionAgent
from proctor.host.cancel import Cancel
from proctor.host.place import Place
from proctor.ports import Surroundings
from proctor.records.run import Attempt, Ending, Limits
from proctor.records.suite import Test

from .hostile import FUNCTION_MODULE, FUNCTIONS, IN_SANDBOX, PYTHON, SHELL, Hostile
from .sandboxes import premises

LIMITS = Limits(timeout_s=0.8, grace_s=0.3)
LONG = Limits(timeout_s=20, grace_s=0.3)
"""For those that end by themselves."""

SLACK_S = 2.0
"""For a machine that is busy: what is late without a fault is late by far less, what hangs by far more."""

TEST = Test(id="hostile")
HERE = Surroundings(environment=dict(os.environ))


@pytest.fixture
def token() -> str:
    return f"hostile-{uuid.uuid4().hex}"


@pytest.fixture(params=["open", "sandbox"])
def place(request, tmp_path, token):
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "T": token}
    if request.param == "open":
        made = Place.create(tmp_path, TEST, environment)
        yield made
        made.remove()
        return
    # Its user must be able to read the project; see test_sandbox.py for one that only root can.
    tmp_path.chmod(0o755)
    with premises(tmp_path, environment, tmp_path) as ours:
        made = ours.place(TEST, LIMITS)
        yield made
        made.remove()


def left_alive(token: str, place: Place, server: int = 0) -> list[str]:
    """The command lines of living processes that have the token in arguments or environment, or stand in the place."""
    found = []
    for process in Path("/proc").iterdir():
        if not process.name.isdigit() or int(process.name) in (os.getpid(), server):
            continue
        try:
            state = (process / "stat").read_text("latin-1").rpartition(")")[2].split()[0]
            said = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            stands = str((process / "cwd").readlink())
        except OSError:
            continue
        if state not in "ZX" and (token.encode() in said or stands.startswith(str(place.root))):
            found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


def our_zombies() -> set[int]:
    own = os.getpid()
    children = Path(f"/proc/{own}/task/{own}/children").read_text().split()
    return {
        int(pid)
        for pid in children
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    }


def checked(
    kind: str, name: str, agent, place: Place, token: str, *, ending: Ending, server: int = 0
) -> Attempt:
    limits = LIMITS if ending is Ending.TIMEOUT else LONG
    # Of another test, which killed a proctor: its orphans come to this process, and are no agent's.
    others = our_zombies()
    started = time.monotonic()
    attempt = place.settle(agent.attempt(TEST, place, limits, Cancel()))
    took_s = time.monotonic() - started
    left, zombies = left_alive(token, place, server), our_zombies() - others
    over_s = took_s - limits.timeout_s
    late = f"{over_s:.2f}" if over_s > 0 else "-"
    kind = f"{kind} in the sandbox" if place.enclosure.is_confined else kind
    row = f"| {kind} | {name} | {attempt.ending.value} | {took_s:.2f} | {late} | {len(left)} |\n"
    print(row, end="")
    if report := os.environ.get("PROCTOR_HOSTILE_REPORT"):
        with Path(report).open("a") as file:
            file.write(row)

    assert [] == left
    assert set() == zombies
    assert over_s <= limits.grace_s + SLACK_S
    assert ending == attempt.ending, attempt.defect
    return attempt


def run_program(kind: str, name: str, hostile: Hostile, argv: list[str], place: Place, token: str) -> None:
    agent = CommandAgent(" ".join(argv), launch_dir=place.root)
    agent.prepare([TEST], HERE)
    attempt = checked(kind, name, agent, place, token, ending=hostile.ending)

    assert isinstance(attempt.output, str)
    assert attempt.output.startswith("begun")


@pytest.mark.parametrize("name", SHELL)
def test_shell_script(name, place, tmp_path, token):
    """A hostile shell script ends in time, and nothing of it is left."""
    script = tmp_path / "agent.sh"
    script.write_text(SHELL[name].program)
    run_program("command", name, SHELL[name], ["sh", str(script)], place, token)
    if "later" in name:
        time.sleep(0.6)

        assert [] == list(place.workdir.iterdir())


@pytest.mark.parametrize("name", PYTHON)
def test_python_program(name, place, tmp_path, token):
    """A hostile Python program ends in time, and nothing of it is left."""
    script = tmp_path / "agent.py"
    script.write_text(PYTHON[name].program)
    run_program("command", name, PYTHON[name], [sys.executable, "-S", str(script)], place, token)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name, place, tmp_path, token):
    """A hostile function ends in time, nothing of it is left, and the next trial is as ever."""
    (tmp_path / "hostile_agent.py").write_text(FUNCTION_MODULE)
    # Of the same token as the trial: a fork of the server shows the environment that the server began with.
    environment = {"PATH": os.environ["PATH"], "T": token}
    target = str(tmp_path / "hostile_agent.py")
    agent = FunctionAgent(f"{target}:{name}", launch_dir=tmp_path)
    is_confined = place.enclosure.is_confined
    agent.prepare([TEST], Surroundings(environment=environment, is_confined=is_confined))
    try:
        server = 0 if agent._zygote is None else agent._zygote._server.pid
        ending = IN_SANDBOX.get(name, FUNCTIONS[name]) if is_confined else FUNCTIONS[name]
        checked("function", name, agent, place, token, ending=ending, server=server)
        printed = place.stdout.read_text()
        agent.attempt(TEST, place, Limits(timeout_s=0.2, grace_s=0.1), Cancel())

        assert printed.startswith("begun")
    finally:
        agent.close()

    assert [] == left_alive(token, place)
