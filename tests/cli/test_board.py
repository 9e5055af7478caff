"""What is seen of a run while it goes on: a board on a terminal, a line a minute elsewhere, JSON for machines."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.cli import board
from proctor.cli.board import Board
from proctor.cli.board_lines import board_lines, fit, totals, width_of
from proctor.cli.run_watch import Row, RunWatch, View
from proctor.engine.happenings import Event, Seen
from proctor.records.run import Cell, Ending
from tests.cli.pseudo_terminal import PseudoTerminal, shown
from tests.conftest import Project, is_running


def view(number: int = 3, **fields: object) -> View:
    made = {
        "planned": 40,
        "done": 12,
        "endings": {"ok": 10, "error": 2},
        "running": number,
        "rows": tuple(
            Row(run=f"case-{n}", state="running", elapsed_s=n, line=f"步骤 {n} " * 40) for n in range(number)
        ),
        "again": 0,
        "elapsed_s": 72.0,
        "left_s": 182.0,
        "cost_usd": 0.42,
        "unpriced": 0,
    }
    return View(**(made | fields))  # pyright: ignore


# The lines.


@given(
    rows=st.integers(0, 80), width=st.integers(1, 300), height=st.integers(1, 80), said=st.text(max_size=50)
)
def test_a_board_fits_every_terminal(rows: int, width: int, height: int, said: str) -> None:
    """One column and one line always stay free, whatever the agent's last line is."""
    lines = board_lines(view(rows), width, height, said=said.replace("\n", " "))

    assert 1 <= len(lines) <= max(1, height - 1)
    assert all(width_of(line) < width or line == "" for line in lines)


def test_the_totals_are_one_line() -> None:
    """What is done, what did not end well, how long it took and may take, and what it cost so far."""
    assert "12/40 done, error 2, 3 running, 1m12s, about 3m02s left, $0.42" == totals(view())


def test_what_is_not_known_is_not_said() -> None:
    """No cost where nobody knows any, and no time that is left before the first trial has ended."""
    assert "0/40 done, 3 running, 1.0s" == totals(
        view(done=0, endings={}, left_s=None, cost_usd=None, elapsed_s=1.0)
    )


def test_of_many_trials_those_that_run_longest_are_shown() -> None:
    """And how many there are beside them."""
    lines = board_lines(view(64), 80, 24)

    assert ("  and 44 more", 23) == (lines[-1], len(lines))
    assert lines[2].startswith("  case-0   running  0.0s  步骤 0 步骤 0")


def test_what_an_agent_prints_is_inert() -> None:
    """No escape sequence of its own reaches the terminal."""
    row = Row(run="t", state="running", elapsed_s=1, line="\x1b[2J\x1b[31mred\u202e\x07")
    (line,) = (line for line in board_lines(view(1, rows=(row,)), 80, 24) if line.startswith("  t"))

    assert line.endswith(r"\x1b[2J\x1b[31mred\u202e\x07")


@given(st.text(), st.integers(0, 40))
def test_a_text_that_is_cut_fits_and_says_so(text: str, columns: int) -> None:
    """A wide character takes two columns, and one that is added to another none."""
    cut = fit(text, columns)

    assert width_of(cut) <= columns
    assert cut == text or not columns or cut.endswith("…")


# The counts.


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def cell(name: str) -> Cell:
    return Cell(test=name, trial=1, run_dir=name, test_digest="")


def test_the_time_that_is_left_is_worked_out_from_the_trials_that_ended() -> None:
    """Two ended after 10 s each; of eight left, one runs for 4 s: (7 x 10 + 6) / 2 = 38 s."""
    clock = Clock()
    watch = RunWatch(clock)
    watch.on_event(Event(kind="planned", planned=10, parallel=2))
    for name in "ab":
        watch.on_event(Event(kind="started", cell=cell(name)))
    clock.now += 10
    for name in "ab":
        watch.on_event(Event(kind="ended", cell=cell(name), ending=Ending.OK, cost_usd=0.5))
    watch.on_event(
        Event(kind="started", cell=cell("c"), seen=lambda: Seen(state="running", elapsed_s=4, cost_usd=0.25))
    )
    clock.now += 4
    found = watch.view(5)

    assert (38.0, 1.25, 2, 1, 14.0) == (
        found.left_s,
        found.cost_usd,
        found.done,
        found.running,
        found.elapsed_s,
    )


def test_a_trial_that_is_made_again_is_not_done() -> None:
    """It is neither in the endings nor in what is done, until its last attempt has ended."""
    watch = RunWatch()
    watch.on_event(Event(kind="planned", planned=1, parallel=1))
    watch.on_event(Event(kind="started", cell=cell("a")))
    watch.on_event(Event(kind="ended", cell=cell("a"), ending=Ending.HARNESS_FAILURE, again_in_s=1.0))
    waiting = watch.view()
    watch.on_event(Event(kind="started", cell=Cell(test="a", trial=1, run_dir="a--1.a2", test_digest="")))
    watch.on_event(
        Event(kind="ended", cell=Cell(test="a", trial=1, run_dir="a--1.a2", test_digest=""), ending=Ending.OK)
    )

    assert (0, 1, {}) == (waiting.done, waiting.again, waiting.endings)
    assert (1, 0, {"ok": 1}) == (watch.view().done, watch.view().again, watch.view().endings)


# On a terminal.

SLOW = """
import time
def main(text):
    print("thinking about", text, flush=True)
    time.sleep(float(text))
    return text
"""


def terminal(
    project: Project, *words: str, columns: int = 80, lines: int = 24, **more: str
) -> PseudoTerminal:
    argv = [sys.executable, "-m", "proctor", "run", "agent.py", "--suite", "suite", "--out", "group", *words]
    env = {**os.environ, "TERM": "xterm", **more}
    return PseudoTerminal(argv, project.root, env, columns=columns, lines=lines)


def slow(project: Project, **seconds: str) -> None:
    project.write("agent.py", SLOW)
    for name, wait in seconds.items():
        project.test(name, input=wait)


def is_clean(lines: list[str]) -> bool:
    """Nothing of a board is left."""
    return not any(re.match(r"[0-9]+/[0-9]+ done, |  TRIAL |ending what runs", line) for line in lines)


def test_a_board_shows_what_runs_and_is_gone_afterwards(project: Project) -> None:
    """State, time and last line of each; then the summary, as if there had been no board."""
    slow(project, first="4", second="4")
    seen = terminal(project, "-n", "2")
    lines = seen.until(lambda lines: any("thinking about 4" in line for line in lines))
    assert 0 == seen.end()
    after = seen.shown()

    assert any(line.startswith("0/2 done, 2 running, ") for line in lines)
    assert any(
        line.startswith("  first   running  ") and line.endswith("  thinking about 4") for line in lines
    )
    assert is_clean(after)
    assert ["2/2 ended ok", "runs: group", "next: proctor grade group"] == after[-3:]


def test_nothing_that_would_have_to_be_put_back_is_sent(project: Project) -> None:
    """No colour, no hidden cursor, no other screen: only cursor up and clearing."""
    slow(project, first="2")
    seen = terminal(project)
    seen.end()

    assert {"A", "J"} == {part[-1] for part in _sequences(seen.raw)}


def test_a_terminal_may_be_resized_and_small(project: Project) -> None:
    """Each painting takes the size that there is, and nothing is left over."""
    slow(project, first="6", second="6", third="6")
    seen = terminal(project, "-n", "3")
    seen.until(lambda lines: any(line.startswith("  TRIAL") for line in lines))
    for columns, lines in ((40, 10), (20, 3), (120, 40)):
        seen.raw = ""
        seen.resize(columns, lines)
        seen.read(1.5)
        frame = seen.raw.rpartition("\x1b[J")[2].split("\r\n")
        assert all(width_of(line) < columns for line in frame)
        assert len(frame) <= lines
    seen.raw = ""
    assert 0 == seen.end()

    assert is_clean(shown(seen.raw[seen.raw.index("\x1b[") :], 120)[-3:])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_ends_what_runs_and_leaves_no_mess(project: Project, number: signal.Signals) -> None:
    """No new trial; those that run are recorded as interrupted; the board says so, and goes."""
    slow(project, first="60", second="60", third="60")
    seen = terminal(project, "-n", "2")
    seen.until(lambda lines: any("thinking" in line for line in lines))
    seen.signal(number)
    code = seen.end()
    lines = seen.shown()

    assert (130, True) == (code, is_clean(lines))
    assert "interrupted: what was running is recorded as interrupted" in lines
    assert "  1 not started (interrupted)" in lines
    assert {"interrupted"} == {
        json.loads(path.read_bytes())["ending"] for path in project.root.glob("group/*/run.json")
    }


def test_the_second_signal_leaves_at_once_and_leaves_no_mess(project: Project) -> None:
    """Though the agent ignores the first; nothing of it is alive afterwards."""
    project.write(
        "agent.py",
        "import os, signal, time\nfrom pathlib import Path\n"
        "def main(text):\n"
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"    Path({str(project.root / 'pid')!r}).write_text(str(os.getpid()))\n    print('deaf', flush=True)\n"
        "    time.sleep(600)\n",
    )
    project.test("t")
    seen = terminal(project)
    seen.until(lambda lines: any("deaf" in line for line in lines))
    seen.signal(signal.SIGINT)
    seen.until(lambda lines: any(line == board.STOPPING for line in lines))
    seen.signal(signal.SIGINT)
    code = seen.end(30)

    assert (130, True) == (code, is_clean(seen.shown()))
    _wait_until_gone(int((project.root / "pid").read_text()))


def test_a_note_stays_above_the_board(project: Project) -> None:
    """Warnings and the like are not painted over."""
    slow(project, first="2")
    seen = terminal(project)
    seen.end()

    assert "agent.py:main on suite: 1 trial, 1 at once" in seen.shown()


# Elsewhere.


@pytest.mark.parametrize("more", [{"TERM": "dumb"}, {"TERM": ""}])
def test_a_terminal_that_can_do_nothing_gets_lines(project: Project, more: dict[str, str]) -> None:
    """No escape sequence is sent to it."""
    slow(project, first="1.5")
    seen = terminal(project, **more)

    assert (0, "") == (seen.end(), "".join(_sequences(seen.raw)))


def test_where_nobody_looks_on_a_line_a_minute_says_how_it_goes(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A minute is made short here."""
    monkeypatch.setattr(board, "SAID_EVERY_S", 1.0)
    slow(project, first="3.5")
    said = project.run()

    assert 0 == said.code
    assert "0/1 done, 1 running, " in said.err
    assert "\x1b" not in said.err


def test_a_short_run_says_no_more_than_its_result(project: Project) -> None:
    """Neither piped nor on a terminal is there a board for what is over at once."""
    project.test("t")

    assert "running" not in project.run().err


def test_a_board_ends_also_when_its_run_raises(capfd: pytest.CaptureFixture[str]) -> None:
    """Its thread with it."""
    made = Board(sys.stderr, {})

    def run() -> None:
        with made:
            made.begin(lambda: False)
            assert made.is_alive
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError):
        run()

    assert not made.is_alive
    assert "" == capfd.readouterr().err


# For machines.


def test_json_is_one_object_a_line_with_the_summary_at_the_end(project: Project) -> None:
    """Each with its schema, its time, and what happened to which run."""
    project.test("a")
    project.test("b")
    said = project.run("agent.py:crash", "--json", "--trials", 1)
    events = [json.loads(line) for line in said.out.splitlines()]

    assert ["planned", "started", "ended", "started", "ended", "summary"] == [one["event"] for one in events]
    assert {"proctor.run-event/1"} == {one["schema"] for one in events}
    assert sorted(one["at"] for one in events) == [one["at"] for one in events]
    assert ("group", 2, 1) == tuple(events[0][name] for name in ("group", "planned", "parallel"))
    assert ("a", "a", 1, 1, "error", "on purpose", None) == tuple(
        events[2][name] for name in ("run", "test", "trial", "attempt", "ending", "reason", "fault")
    )
    assert ({"error": 2}, 4, 4) == (events[-1]["endings"], events[-1]["exit_code"], said.code)


def test_json_says_now_and_then_that_the_run_goes_on(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a watchdog can tell a long trial from a dead one."""
    monkeypatch.setattr(board, "SAID_EVERY_S", 1.0)
    slow(project, first="3.5")
    events = [json.loads(line) for line in project.run("agent.py", "--json").out.splitlines()]
    progress = next(one for one in events if one["event"] == "progress")

    assert (1, 0, 1) == (progress["planned"], progress["done"], progress["running"])


def test_json_with_grades_ends_with_the_report(project: Project) -> None:
    """On the last line; the summary stands before it."""
    project.test("a", "from proctor import ExactMatch\ngraders = ExactMatch(must_pass=True)", expected="x")
    said = project.run("agent.py", "--json", "--grade")
    *_, summary, last = [json.loads(line) for line in said.out.splitlines()]

    assert ("summary", "report", 0.0, 2) == (
        summary["event"],
        last["event"],
        last["report"]["mean"],
        said.code,
    )


def _sequences(raw: str) -> list[str]:
    return re.findall(r"\x1b\[?[0-9;?]*[A-Za-z]", raw)


def _wait_until_gone(pid: int) -> None:
    until = time.monotonic() + 30
    while is_running(pid):
        assert time.monotonic() < until
        time.sleep(0.05)
