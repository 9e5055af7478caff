"""Budgets: of each trial, whatever it does; and of all together."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from proctor.host.budget import Budget
from proctor.host.place import Place
from proctor.host.receiver_tap import Spent
from proctor.records.run import Ending, Limits
from proctor.records.suite import Test
from tests.conftest import Project

MIB = 1024 * 1024


def facts(project: Project, run: str = "t") -> Any:
    return json.loads((project.root / "group" / run / "run.json").read_bytes())


def agent(project: Project, body: str) -> None:
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    project.write("agent.py", f"import os, sys, time\ndef main(text):\n{lines}\n    return 'fine'\n")


# Of each trial, while it runs.


@pytest.mark.parametrize(
    ("body", "flags", "ending", "said"),
    [
        (
            "while True:\n    os.write(1, b'x' * 65536)\n    time.sleep(0.001)",
            ["--max-output", "1M"],
            "output-cap",
            "It had printed and answered ",
        ),
        (
            "n = 0\nwhile True:\n    n += 1\n    open(f'{n}', 'wb').write(b'x' * 65536)\n    time.sleep(0.001)",
            ["--max-workdir", "1M"],
            "disk-cap",
            "Its workdir and temporary files held ",
        ),
        (
            "import tempfile\nwhile True:\n    os.write(tempfile.mkstemp()[0], b'x' * 65536)\n    time.sleep(0.001)",
            ["--max-workdir", "1M"],
            "disk-cap",
            "Its workdir and temporary files held ",
        ),
    ],
    ids=["prints without end", "writes files without end", "fills its temporary folder"],
)
def test_an_agent_that_never_stops_is_ended_at_its_limit(
    project: Project, body: str, flags: list[str], ending: str, said: str
) -> None:
    """Long before its time is up; what it was ended for is said with both numbers, and what it left is kept."""
    agent(project, body)
    project.test("t")
    answer = project.run("agent.py", "--timeout", "120", *flags)
    found = facts(project)

    assert (4, ending) == (answer.code, found["ending"])
    assert found["defect"]["message"].startswith(said)
    assert "limit is 1 MiB." in found["defect"]["message"]
    assert found["duration_s"] < 60
    assert f"  t  {ending}  " in answer.out


@pytest.mark.parametrize(
    ("body", "flags", "ending"),
    [
        (f"os.write(1, b'x' * {2 * MIB})", ["--max-output", "1M"], "output-cap"),
        (f"open('f', 'wb').write(b'x' * {2 * MIB})", ["--max-workdir", "1M"], "disk-cap"),
        (f"os.write(1, b'x' * {2 * MIB})", ["--max-output", "none"], "ok"),
        (f"open('f', 'wb').write(b'x' * {2 * MIB})", ["--max-workdir", "none"], "ok"),
        (f"os.write(1, b'x' * {2 * MIB})", [], "ok"),
    ],
    ids=["printed", "written", "any output", "any workdir", "the usual limits"],
)
def test_a_limit_is_a_rule_and_no_race(project: Project, body: str, flags: list[str], ending: str) -> None:
    """An agent that has ended before anybody looked has used what it has used."""
    agent(project, body)
    project.test("t")
    project.run("agent.py", *flags)

    assert ending == facts(project)["ending"]


def test_what_was_used_is_recorded(project: Project) -> None:
    """Bytes printed and answered, and bytes on the disk."""
    project.write("agent.sh", "printf 12345; printf 123 >&2; printf 1234567 > file\n")
    project.test("t")
    project("run", "--agent-cmd", "sh agent.sh", "--suite", "suite", "--out", "group")
    used = facts(project)["usage"]

    assert 8 == used["output_bytes"]
    assert 7 <= used["workdir_bytes"] <= 65536


def test_a_file_with_holes_counts_with_what_it_takes(project: Project) -> None:
    """A terabyte of nothing is no terabyte; it is kept with its holes."""
    agent(project, "open('f', 'wb').truncate(1 << 40)")
    project.test("t")
    project.run("agent.py", "--max-workdir", "1M")

    assert ("ok", True) == (facts(project)["ending"], facts(project)["usage"]["workdir_bytes"] < MIB)


# How they are looked at.


def place(tmp_path: Path) -> Place:
    return Place.create(tmp_path, Test(id="t"), {})


def test_a_large_workdir_is_counted_a_part_at_a_time(tmp_path: Path) -> None:
    """No look takes long, and after some of them everything was seen; an inode with two names counts once."""
    stand = place(tmp_path)
    for number in range(2_000):
        (stand.workdir / f"{number}").write_bytes(b"x" * 4096)
    os.link(stand.workdir / "0", stand.workdir / "again")
    whole = Budget(Limits(), stand).settle().workdir_bytes
    budget = Budget(Limits(workdir_bytes=whole - 1), stand, parallel=64)
    looks = 0
    while (found := budget.exceeded()) is None:
        looks += 1
        assert looks < 2_000

    assert Ending.DISK_CAP is found.ending
    assert Budget(Limits(workdir_bytes=2 * whole), stand).settle().exceeded is None
    (stand.workdir / "again").unlink()
    assert whole == Budget(Limits(), stand).settle().workdir_bytes


def test_what_is_exactly_the_limit_is_within_it(tmp_path: Path) -> None:
    """One byte, one token, any fraction of a cent more is not."""
    stand = place(tmp_path)
    stand.stdout.write_bytes(b"x" * 100)

    def over(limits: Limits, spent: Spent | None = None) -> Ending | None:
        found = Budget(limits, stand, lambda: spent or Spent()).exceeded()
        return None if found is None else found.ending

    assert (None, Ending.OUTPUT_CAP) == (over(Limits(output_bytes=100)), over(Limits(output_bytes=99)))
    spent = Spent(calls=2, tokens=50, cost_usd=0.25)
    assert (None, Ending.TOKEN_CAP) == (over(Limits(tokens=50), spent), over(Limits(tokens=49), spent))
    assert (None, Ending.COST_CAP) == (over(Limits(cost_usd=0.25), spent), over(Limits(cost_usd=0.24), spent))


def test_what_nobody_knows_is_never_too_much(tmp_path: Path) -> None:
    """A model without a price, a call without tokens: such a trial goes on, and its record says so."""
    limits = Limits(cost_usd=0.0, tokens=1)
    unknown = Spent(calls=3, tokens=None, cost_usd=None, uncounted=3, unpriced=3)

    assert Budget(limits, place(tmp_path), lambda: unknown).exceeded() is None


def test_the_places_own_files_are_no_part_of_its_workdir(tmp_path: Path) -> None:
    """What an agent tells of itself is kept by proctor, and is not the agent's to pay for."""
    stand = place(tmp_path)
    stand.spool.mkdir()
    (stand.spool / "spans").write_bytes(b"x" * 100_000)

    assert Budget(Limits(workdir_bytes=90_000), stand).settle().exceeded is None


# With a real trace.

SPENDER = """
import json, os, time, urllib.request

def call(cost, tokens):
    headers = dict(pair.split("=", 1) for pair in os.environ["OTEL_EXPORTER_OTLP_HEADERS"].split(","))
    trace, parent = os.environ["TRACEPARENT"].split("-")[1:3]
    now = time.time_ns()
    values = {"gen_ai.operation.name": {"stringValue": "chat"}, "gen_ai.request.model": {"stringValue": "house-model"},
              "gen_ai.usage.input_tokens": {"intValue": str(tokens)}, "gen_ai.usage.output_tokens": {"intValue": "0"}}
    if cost is not None:
        values["gen_ai.usage.cost"] = {"doubleValue": cost}
    span = {"traceId": trace, "spanId": os.urandom(8).hex(), "parentSpanId": parent, "name": "chat",
            "startTimeUnixNano": str(now), "endTimeUnixNano": str(now + 1),
            "attributes": [{"key": key, "value": value} for key, value in values.items()]}
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()
    url = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/traces"
    request = urllib.request.Request(url, body, {**headers, "Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=30).read()
"""


def spender(project: Project, body: str) -> None:
    """An agent that tells of model calls as an instrumented one does, over HTTP."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    project.write("agent.py", f"{SPENDER}\ndef main(text):\n{lines}\n    return 'fine'\n")


@pytest.mark.parametrize(
    ("flags", "ending", "said"),
    [
        (["--max-trial-cost", "0.05"], "cost-cap", "its limit is $0.05."),
        (["--max-trial-tokens", "500"], "token-cap", "its limit is 500."),
    ],
)
def test_an_agent_that_spends_too_much_is_ended(
    project: Project, flags: list[str], ending: str, said: str
) -> None:
    """As far as its own trace tells, while it runs; the trace is kept."""
    spender(project, "while True:\n    call(0.01, 100)\n    time.sleep(0.05)")
    project.test("t")
    project.run("agent.py", "--timeout", "120", *flags)
    found = facts(project)

    assert (ending, True) == (found["ending"], found["defect"]["message"].endswith(said))
    assert "trace.jsonl" in found["files"]
    assert 0 == project("verify", "group").code


def test_no_trial_is_started_when_the_budget_of_all_is_used_up(project: Project) -> None:
    """What runs is finished; the rest resumes later; the exit code is its own."""
    spender(project, "call(0.04, 10)")
    for name in "abcde":
        project.test(name)
    said = project.run("agent.py", "--max-cost", "0.1")

    assert 5 == said.code
    assert "3/5 ended ok\n  2 not started (max-cost)\ncost $0.12 of $0.10\n" in said.out
    assert "the budget is used up; to go on: the same command with --resume --out group\n" in said.out
    again = project.run("agent.py", "--resume", "--max-cost", "0.1")
    assert (0, True) == (again.code, "to run: missing 2; spent so far: $0.12\n" in again.err)
    assert {"ok"} == {facts(project, name)["ending"] for name in "abcde"}


def test_a_cost_that_is_not_known_is_said_with_its_number_and_is_no_zero(project: Project) -> None:
    """Of trials without a trace, and of models without a price."""
    spender(project, "if text == 'known':\n    call(0.04, 10)\nif text == 'unpriced':\n    call(None, 10)")
    for name in ("known", "unpriced", "untold"):
        project.test(name, input=name)
    said = project.run("agent.py", "--max-cost", "1")
    summary = json.loads(project.run("agent.py", "--json", out="other").out.splitlines()[-1])

    assert "cost $0.04 of $1.00; what 2 attempts cost is not known, and count for nothing\n" in said.out
    assert {"known_usd": 0.04, "known": 1, "unknown": 2} == summary["cost"]


def test_no_trial_is_started_after_the_time_of_all(project: Project) -> None:
    """One that was started is finished."""
    agent(project, "time.sleep(0.6)")
    for name in "abcd":
        project.test(name)
    said = project.run("agent.py", "--max-time", "0.3")

    assert (5, "ok") == (said.code, facts(project, "a")["ending"])
    assert "3 not started (max-time)" in said.out


def test_a_budget_that_lasts_changes_nothing(project: Project) -> None:
    """Neither the exit code nor what is said."""
    project.test("t")

    assert (0, "1/1 ended ok\nruns: group\nnext: proctor grade group\n") == project.run(
        "agent.py", "--max-time", 99
    )[:2]


def test_budgets_are_settings_too(project: Project) -> None:
    """A flag comes before them."""
    project.write(
        "proctor.toml", 'max_output = "1M"\nmax_workdir = 4096\nmax_trial_cost = 0.5\nmax_trial_tokens = 9\n'
    )
    project.test("t")
    project.run("agent.py", "--max-output", "2M")
    limits = facts(project)["limits"]

    assert (2 * MIB, 4096, 0.5, 9) == tuple(
        limits[name] for name in ("output_bytes", "workdir_bytes", "cost_usd", "tokens")
    )


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ('max_output = "much"', "max_output is 'much'"),
        ("max_cost = -1", "max_cost"),
        ("retries = 0.5", "retries"),
    ],
)
def test_a_budget_that_is_none_is_refused_before_anything_runs(
    project: Project, setting: str, said: str
) -> None:
    """With the line that it stands in."""
    project.write("proctor.toml", setting + "\n")
    project.test("t")
    answer = project.run("agent.py")

    assert (1, False) == (answer.code, (project.root / "group").exists())
    assert "proctor.toml:1" in answer.err
    assert said in answer.err
