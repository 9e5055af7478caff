"""Faults have owners: what is not the agent's is inconclusive, never a zero, and is run again where that may help."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Project, Said

GRADERS = "from proctor import Contains\ngraders = [Contains(any_of=['fine'])]"


def facts(project: Project, run: str = "t") -> Any:
    return json.loads((project.root / "group" / run / "run.json").read_bytes())


def is_nobodys_evidence(project: Project, run: str, owner: str, kind: str) -> bool:
    """In the record, in the list, in the numbers of the group; and a resume runs it again."""
    found = facts(project, run)
    assert ("harness-failure", owner, kind) == (
        found["ending"],
        found["fault"]["owner"],
        found["fault"]["kind"],
    )
    group = project.grade().json["groups"][0]
    (mine,) = (one for one in group["runs"] if one["run"] == run)
    assert (None, "inconclusive", "harness_failure") == (mine["objective"], mine["outcome"], mine["cause"])
    assert group["harness_failures"] == group["owners"][owner] == 1
    assert f"{owner}: {kind}" in project("show", project.root / "group" / run).out
    return True


def command(project: Project, command: str, *words: object) -> Said:
    return project("run", "--agent-cmd", command, "--suite", "suite", "--out", "group", *words)


# What is gone, or has no room.


def test_a_program_that_has_vanished_is_no_failure_of_the_agent(project: Project) -> None:
    """It was there when the run was checked."""
    tool = project.write("tool", '#!/bin/sh\nrm "$0"\necho fine\n')
    tool.chmod(0o755)
    for name in "ab":
        project.test(name, GRADERS)
    said = command(project, "./tool")

    assert 3 == said.code
    assert "  b  harness-failure (harness: no-program)  " in said.out
    assert is_nobodys_evidence(project, "b", "harness", "no-program")


@pytest.mark.parametrize("change", ["unlink", "write"])
def test_a_fixture_that_is_not_what_it_was_is_the_tests_fault(project: Project, change: str) -> None:
    """Gone, or changed, after the run was planned."""
    for name in "ab":
        folder = project.test(name, GRADERS, files="files")
        project.write(f"suite/{name}/files/data.txt", "one")
    target = folder / "files/data.txt"
    project.write(
        "agent.py",
        f"from pathlib import Path\ndef main(text):\n    {{'unlink': lambda: Path({str(target)!r}).unlink(missing_ok=True),"
        f"'write': lambda: Path({str(target)!r}).write_text('two')}}[{change!r}]()\n    return 'fine'\n",
    )
    said = project.run()

    assert 3 == said.code
    assert is_nobodys_evidence(project, "b", "test", "fixture")
    assert "harness failures 1 (test 1)" in project("list", "group").out


@pytest.fixture
def small_disk(project: Project) -> Iterator[Path]:
    """A file system of 2 MB."""
    disk = project.root / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("a small file system can be mounted by root only")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def test_an_agent_that_fails_on_a_full_disk_is_not_to_blame(project: Project, small_disk: Path) -> None:
    """It had used less than it may have; that the machine has not so much is the machine's fault."""
    project.write(
        "agent.py", "def main(text):\n    open('big', 'wb').write(b'x' * 4_000_000)\n    return 'fine'\n"
    )
    project.test("t", GRADERS)
    said = project.run("agent.py", "--work-root", small_disk)

    assert 3 == said.code
    assert "The disk that agents work on is full" in facts(project)["defect"]["message"]
    assert is_nobodys_evidence(project, "t", "harness", "disk-full")


def test_a_disk_without_room_for_a_trial_is_a_fault_of_the_machine(
    project: Project, small_disk: Path
) -> None:
    """Not even its folder can be made; that is recorded on the disk of the group."""
    project.test("t", GRADERS)
    with (small_disk / "filler").open("wb", buffering=0) as filler:
        try:
            while True:
                filler.write(b"x" * 4096)
        except OSError:
            pass
    for number in range(
        100_000
    ):  # a folder takes no block of this file system, and there is a limit of their number
        try:
            (small_disk / f"{number}").mkdir()
        except OSError:
            break
    said = project.run("agent.py", "--work-root", small_disk)

    assert 3 == said.code or "No space left on device" in said.err
    if said.code == 3:
        assert is_nobodys_evidence(project, "t", "harness", "disk-full")


# A provider.


class Provider:
    """An endpoint that answers with these statuses, one after another, and the last one for ever."""

    def __init__(self) -> None:
        self.statuses = [200]
        self.asked = 0
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                status = provider.statuses[min(provider.asked, len(provider.statuses) - 1)]
                provider.asked += 1
                body = b'"fine"'
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/answer"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def provider() -> Iterator[Provider]:
    made = Provider()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("status", "owner", "kind"),
    [
        (402, "provider", "out_of_credit"),
        (401, "provider", "auth"),
        (429, "provider", "rate_limit"),
        (503, "provider", "unavailable"),
        (404, "harness", "not_found"),
    ],
)
def test_what_a_provider_refuses_is_not_the_agents(
    project: Project, provider: Provider, status: int, owner: str, kind: str
) -> None:
    """No credit, no key, no room: nobody has worked on the question."""
    provider.statuses = [status]
    project.test("t", GRADERS)
    said = project.run(provider.url)

    assert 3 == said.code
    assert is_nobodys_evidence(project, "t", owner, kind)


def test_a_failure_of_the_endpoint_itself_is_its_own(project: Project, provider: Provider) -> None:
    """It is what is measured: 0, and counted."""
    provider.statuses = [500]
    project.test("t", GRADERS)
    said = project.run(provider.url)

    assert (4, "error", False) == (said.code, facts(project)["ending"], "fault" in facts(project))
    assert 0.0 == project.grade().json["mean"]


# A rule of the project.

OUT_OF_CREDIT = """
[[faults]]
owner = "provider"
kind = "out_of_credit"
exit_code = 1
stderr = "insufficient_quota"
"""
CLI = "sh -c 'echo Error: insufficient_quota >&2; exit {code}'"


def test_a_rule_makes_what_a_command_prints_a_fault_of_the_provider(project: Project) -> None:
    """With the place where the rule stands; another exit code is the agent's own error."""
    project.write("proctor.toml", OUT_OF_CREDIT)
    project.test("t", GRADERS)
    said = command(project, CLI.format(code=1))

    assert 3 == said.code
    assert is_nobodys_evidence(project, "t", "provider", "out_of_credit")
    assert ("proctor.toml faults[0]", "error") == (
        facts(project)["fault"]["rule"],
        facts(project)["fault"]["ended"],
    )
    assert 4 == project("run", "--agent-cmd", CLI.format(code=2), "--suite", "suite", "--out", "other").code


def test_what_was_decided_stays_when_the_rule_is_gone(project: Project) -> None:
    """The record says it; today's settings change no old run."""
    project.write("proctor.toml", OUT_OF_CREDIT)
    project.test("t", GRADERS)
    command(project, CLI.format(code=1))
    (project.root / "proctor.toml").unlink()

    assert is_nobodys_evidence(project, "t", "provider", "out_of_credit")


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ('owner = "nobody"\nkind = "x"\nexit_code = 1', "faults[0].owner is 'nobody'"),
        ('owner = "provider"\nkind = "x"', "faults[0] says of no trial that it is about it"),
        ('owner = "provider"\nexit_code = 1', "faults[0] has no kind"),
        ('owner = "provider"\nkind = "x"\nexit_code = "1"', "faults[0].exit_code is '1'"),
        (
            'owner = "provider"\nkind = "x"\nstderr = "y"\nendings = ["eror"]',
            "faults[0].endings[0] is 'eror'",
        ),
        ('owner = "provider"\nkind = "x"\nstdrr = "y"', "faults[0].stdrr is not a field of a rule of faults"),
    ],
)
def test_a_rule_that_is_none_is_refused(project: Project, rule: str, said: str) -> None:
    """Before anything runs, with what to write."""
    project.write("proctor.toml", f"[[faults]]\n{rule}\n")
    project.test("t", GRADERS)
    answer = project.run()

    assert (1, True) == (answer.code, said in answer.err), answer.err


def test_config_shows_whose_fault_each_end_is(project: Project) -> None:
    """The rules of the settings first, then the table."""
    project.write("proctor.toml", OUT_OF_CREDIT)
    lines = project("config", "--faults").out.splitlines()

    assert lines[1].split()[:3] == ["error", "out_of_credit", "provider"]
    assert lines[1].endswith("proctor.toml faults[0]: exit code 1 and stderr has 'insufficient_quota'")
    assert lines[2].split()[:3] == ["ok", "agent", "graders"]
    assert ["1", "rule"] == next(
        line.split()[1:3] for line in project("config").out.splitlines() if line.startswith("faults")
    )


# Again.


def test_a_fault_that_may_pass_is_made_again_when_that_is_asked_for(
    project: Project, provider: Provider
) -> None:
    """The second attempt counts, and the first stays on record."""
    provider.statuses = [503, 200]
    project.test("t", GRADERS)
    said = project.run(provider.url, "--retries", 2)
    group = project.grade().json["groups"][0]

    assert (0, 2) == (said.code, provider.asked)
    assert "1/1 ended ok\n  1 attempt made again\n" in said.out
    assert (["t--1.a2"], ["t"], 1.0) == (
        [run["run"] for run in group["runs"]],
        group["set_aside"],
        group["mean"],
    )


def test_the_last_attempt_is_the_end(project: Project, provider: Provider) -> None:
    """No more than were asked for, each a run of its own; `attempts.jsonl` has all."""
    provider.statuses = [503]
    project.test("t", GRADERS)
    said = project.run(provider.url, "--retries", 1)

    assert (3, 2) == (said.code, provider.asked)
    assert "0/1 ended ok\n  t--1.a2  harness-failure (provider: unavailable)  " in said.out
    assert 4 == len((project.root / "group/attempts.jsonl").read_text().splitlines())


@pytest.mark.parametrize("status", [402, 500])
def test_what_would_end_the_same_again_is_not_made_again(
    project: Project, provider: Provider, status: int
) -> None:
    """No credit stays no credit; and an agent's error is a result."""
    provider.statuses = [status]
    project.test("t", GRADERS)
    project.run(provider.url, "--retries", 3)

    assert 1 == provider.asked


def test_a_trial_that_waits_to_be_made_again_holds_up_no_other(project: Project, provider: Provider) -> None:
    """Its time comes between them; every trial has its end in the events."""
    provider.statuses = [503, 200]
    for name in "abc":
        project.test(name, GRADERS)
    said = project.run(provider.url, "--retries", 1, "--json")
    events = [json.loads(line) for line in said.out.splitlines()]
    ended = [
        (event["run"], event["ending"], event["again_in_s"]) for event in events if event["event"] == "ended"
    ]

    assert [
        ("a", "harness-failure", 1.0),
        ("b", "ok", None),
        ("c", "ok", None),
        ("a--1.a2", "ok", None),
    ] == ended
    assert ({"ok": 3}, 1, 0) == (events[-1]["endings"], events[-1]["repeated"], said.code)


def test_an_interruption_ends_the_waiting_too(project: Project, provider: Provider) -> None:
    """What waits to be made again keeps the end that it had."""
    provider.statuses = [503]
    project.test("t", GRADERS)
    words = ["run", provider.url, "--suite", "suite", "--out", "group", "--retries", "50"]
    running = subprocess.Popen(
        [sys.executable, "-m", "proctor", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    until = time.monotonic() + 60
    while not (project.root / "group/t/run.json").exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=60)

    assert 130 == running.returncode
    assert "harness-failure (provider: unavailable)" in said
