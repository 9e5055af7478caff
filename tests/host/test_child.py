"""A process tree under limits. Every program here is real; what it leaves alive is looked up in /proc."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from proctor.host.cancel import Cancel
from proctor.host.child import Exit, start_command, supervise
from proctor.records.run import Limits

LIMITS = Limits(timeout_s=10)
SHORT = Limits(timeout_s=0.3, grace_s=0.2)


def run(tmp_path: Path, script: str, limits: Limits = LIMITS, cancel=None, stdin=None) -> Exit:
    child = start_command(
        ["/bin/sh", "-c", script],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        stdin=stdin,
        stdout=tmp_path / "stdout",
        stderr=tmp_path / "stderr",
    )
    return supervise(child, limits, cancel)


def is_alive(pid: int) -> bool:
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def pids(tmp_path: Path) -> list[int]:
    return [int(word) for word in (tmp_path / "pids").read_text().split()]


def test_exit_code_and_streams(tmp_path):
    """A command's exit code is told, and its streams are in the files."""
    ended = run(tmp_path, "echo out; echo err >&2; exit 3")

    assert (3, None, False, False) == (ended.code, ended.signal, ended.timed_out, ended.cancelled)
    assert ("out\n", "err\n") == ((tmp_path / "stdout").read_text(), (tmp_path / "stderr").read_text())
    assert 0 < ended.duration_s < 5
    assert ended.max_rss_kb > 100


def test_ended_by_a_signal_that_nobody_here_sent(tmp_path):
    """A process that a foreign signal ended has that signal's name, and did not time out."""
    ended = run(tmp_path, "kill -SEGV $$")

    assert (None, "SIGSEGV", False) == (ended.code, ended.signal, ended.timed_out)


def test_signal_without_a_name(tmp_path):
    """A real-time signal is named by its number."""
    ended = run(tmp_path, "kill -40 $$")

    assert "SIG40" == ended.signal


def test_time_limit_ends_a_sleeper_with_sigterm(tmp_path):
    """A command that takes SIGTERM ends at its limit, not a grace later."""
    ended = run(tmp_path, "sleep 60", Limits(timeout_s=0.2, grace_s=5))

    assert (True, "SIGTERM") == (ended.timed_out, ended.signal)
    assert 0.2 <= ended.duration_s < 1.5


def test_command_that_ends_well_on_sigterm_has_timed_out(tmp_path):
    """An exit code of 0 in the grace time is still a time-out."""
    ended = run(tmp_path, "trap 'exit 0' TERM; while :; do sleep 0.02; done", SHORT)

    assert (True, 0) == (ended.timed_out, ended.code)


def test_command_that_ignores_sigterm_is_killed_after_the_grace(tmp_path):
    """Ignoring SIGTERM buys the grace time and no more."""
    ended = run(tmp_path, "trap '' TERM; while :; do sleep 0.05; done", SHORT)

    assert (True, "SIGKILL") == (ended.timed_out, ended.signal)
    assert 0.5 <= ended.duration_s < 2


def test_stopped_process_is_ended(tmp_path):
    """A process that has stopped itself is continued so that it can end."""
    ended = run(tmp_path, "kill -STOP $$; sleep 60", Limits(timeout_s=0.2, grace_s=5))

    assert (True, "SIGTERM") == (ended.timed_out, ended.signal)
    assert ended.duration_s < 1.5


def test_waiting_on_stdin_finds_its_end(tmp_path):
    """A command that reads its standard input finds it empty."""
    ended = run(tmp_path, "cat; echo done")

    assert (0, "done\n") == (ended.code, (tmp_path / "stdout").read_text())


def test_stdin_from_a_file(tmp_path):
    """A file that is given is the standard input."""
    (tmp_path / "in").write_text("hello")
    run(tmp_path, "cat", stdin=tmp_path / "in")

    assert "hello" == (tmp_path / "stdout").read_text()


def test_flood_of_output_blocks_nobody(tmp_path):
    """Output is never drained by us, so that its amount cannot hang anything."""
    ended = run(tmp_path, "head -c 30000000 /dev/zero; head -c 30000000 /dev/zero >&2")

    assert (0, 30_000_000) == (ended.code, (tmp_path / "stdout").stat().st_size)


def test_background_process_that_holds_the_streams_is_gone_afterwards(tmp_path):
    """When the leader ends, its group ends, and nobody waits for who holds the streams."""
    ended = run(tmp_path, "sleep 60 & echo $! > pids; exit 0")

    assert 0 == ended.code
    assert ended.duration_s < 5
    assert [False] == [is_alive(pid) for pid in pids(tmp_path)]


def test_grandchildren_that_ignore_sigterm_are_gone_after_the_limit(tmp_path):
    """A leader that ends on SIGTERM leaves no stubborn member of its group alive."""
    stubborn = "(trap '' TERM HUP; while :; do sleep 0.05; done) & echo $! >> pids; "
    run(tmp_path, stubborn * 3 + "sleep 60", SHORT)

    assert [False] * 3 == [is_alive(pid) for pid in pids(tmp_path)]


def test_cancel_ends_the_tree_before_its_limit(tmp_path):
    """Once the operator cancels, a command is ended at once and its end is marked so."""
    cancel = Cancel()
    threading.Timer(0.1, cancel.set).start()
    ended = run(tmp_path, "sleep 60", Limits(timeout_s=30, grace_s=5), cancel)

    assert (True, False, "SIGTERM") == (ended.cancelled, ended.timed_out, ended.signal)
    assert ended.duration_s < 2


def test_cancel_that_is_set_before_the_start_ends_it_too(tmp_path):
    """A command that starts after the operator cancelled is ended at once."""
    cancel = Cancel()
    cancel.set()
    ended = run(tmp_path, "sleep 60", Limits(timeout_s=30, grace_s=5), cancel)

    assert ended.cancelled


@pytest.mark.parametrize(
    ("argv", "kind"),
    [
        (["/no/such/program"], FileNotFoundError),
        (["/etc/passwd"], PermissionError),
        (["/bin/echo", "x" * 200_000], OSError),
    ],
)
def test_program_that_cannot_be_started_raises(tmp_path, argv, kind):
    """A missing program, one that is not executable, and an argument too long are errors of the system."""
    with pytest.raises(kind):
        start_command(argv, cwd=tmp_path, env={}, stdout=tmp_path / "o", stderr=tmp_path / "e")


def test_no_descriptor_of_ours_reaches_the_command(tmp_path):
    """A command has its three streams and no other open file."""
    with (tmp_path / "secret").open("w") as secret:
        os.set_inheritable(secret.fileno(), True)
        run(tmp_path, "ls /proc/$$/fd")

    assert ["0", "1", "2"] == (tmp_path / "stdout").read_text().split()[:3]
    assert str(secret.name) not in (tmp_path / "stdout").read_text()


def test_no_descriptor_is_left_open_here(tmp_path):
    """Supervising a command gives back every descriptor that it took."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        run(tmp_path, "exit 0")
    with pytest.raises(FileNotFoundError):
        start_command(["/none"], cwd=tmp_path, env={}, stdout=tmp_path / "o", stderr=tmp_path / "e")

    assert before == len(list(Path("/proc/self/fd").iterdir()))


def test_many_threads_get_their_own_ends(tmp_path):
    """Children supervised by many threads at once never get each other's exit codes."""
    codes: dict[int, int | None] = {}

    def one(number: int) -> None:
        folder = tmp_path / str(number)
        folder.mkdir()
        codes[number] = run(folder, f"sleep 0.0{number % 5}; exit {number}").code

    threads = [threading.Thread(target=one, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {number: number for number in range(24)} == codes


def test_interruption_of_the_waiting_thread_leaves_nothing_alive(tmp_path):
    """An exception that breaks the wait ends the tree on its way out."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, "echo $$ > pids; sleep 60 & echo $! >> pids; wait")
    finally:
        signal.signal(signal.SIGALRM, before)

    assert [False] * 2 == [is_alive(pid) for pid in pids(tmp_path)]


class WithoutPidfd:
    """A child as on a system that has no pidfd."""

    def __init__(self, child) -> None:
        os.close(child.pidfd)
        child.pidfd = None
        self.pid, self.pidfd, self.started = child.pid, None, child.started
        self.has_ended, self.reap = child.has_ended, child.reap


@pytest.mark.parametrize("script", ["exit 7", "sleep 60"])
def test_without_pidfd_the_end_is_found_by_asking(tmp_path, script):
    """Where there is no pidfd, exit codes and limits are the same."""
    child = start_command(
        ["/bin/sh", "-c", script], cwd=tmp_path, env={}, stdout=tmp_path / "o", stderr=tmp_path / "e"
    )
    ended = supervise(WithoutPidfd(child), SHORT)

    assert ((7, False) if script == "exit 7" else (None, True)) == (ended.code, ended.timed_out)


def test_waiting_costs_no_processor_time(tmp_path):
    """A thread that waits for a child sleeps."""
    before = time.process_time()
    run(tmp_path, "sleep 0.5")

    assert time.process_time() - before < 0.1


def test_python_child_sees_default_signals(tmp_path):
    """Signals that we ignore are not ignored by a command."""
    probe = "import signal; print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)"
    child = start_command(
        [sys.executable, "-c", probe], cwd=tmp_path, env={}, stdout=tmp_path / "o", stderr=tmp_path / "e"
    )
    supervise(child, Limits())

    assert "True\n" == (tmp_path / "o").read_text()
