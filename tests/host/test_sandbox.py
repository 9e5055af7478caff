"""What an agent in the sandbox can see, write and reach: real programs in a real sandbox."""

from __future__ import annotations

import os
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from proctor.agents.command import CommandAgent
from proctor.errors import UsageError
from proctor.host import procfs
from proctor.host import sandbox as sandboxing
from proctor.host.cancel import Cancel
from proctor.host.sandbox import Bubblewrap, find_programs
from proctor.ports import Surroundings
from proctor.records.run import Ending, Limits
from proctor.records.suite import Test

from .sandboxes import premises

LIMITS = Limits(timeout_s=20, grace_s=0.5)
TEST = Test(id="t", input="a question")
CANARY = "canary-8c1f"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The operator's folder: an agent's code beside a suite, runs, and a repository."""
    tmp_path.chmod(0o755)
    made = tmp_path / "project"
    for name in ("agent/helper.txt", "suite/a/test.json", "runs/g/a/run.json", ".git/objects/aa/bb"):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text("of the agent" if name.startswith("agent") else CANARY)
    return made


@pytest.fixture
def trial(tmp_path, project):
    """Runs a shell script as the agent, in a sandbox that shows the project without what no agent may see."""

    def run(script: str, limits: Limits = LIMITS, environment=None, **how):
        (project / "agent.sh").write_text(script)
        hidden = [project / "suite", project / "runs", project / ".git"]
        theirs = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), **(environment or {})}
        with premises(tmp_path, theirs, project, hidden=hidden, **how) as ours:
            place = ours.place(TEST, limits)
            agent = CommandAgent("sh agent.sh", launch_dir=project)
            agent.prepare([TEST], Surroundings(environment=theirs, is_confined=True))
            attempt = place.settle(agent.attempt(TEST, place, limits, Cancel()))
            left = sorted(path.name for path in place.workdir.iterdir())
            place.remove()
        return attempt, left

    return run


def test_only_the_workdir_and_private_folders_can_be_written(trial):
    """The agent's home, its temporary folder, shared memory and its output are such folders."""
    script = """
        for place in / /proctor /usr /etc /dev /proc /var /opt "$1" {project}; do
            touch $place/x 2>/dev/null && echo "wrote $place"
        done
        for place in . $HOME $TMPDIR $XDG_RUNTIME_DIR /dev/shm /tmp; do
            touch $place/x || echo "could not write $place"
        done
        echo the output > "$PROCTOR_OUTPUT.new" && mv "$PROCTOR_OUTPUT.new" "$PROCTOR_OUTPUT"
    """
    attempt, left = trial(script)

    assert (Ending.OK, "the output") == (attempt.ending, attempt.output), attempt.defect
    assert ["x"] == left


def test_the_suite_runs_and_repository_are_not_there(trial, project):
    """Nothing on the disk that the agent can see holds a word of them; its own code it can read."""
    pattern = f"{CANARY[:6]}[-]{CANARY[7:]}"  # which does not match itself
    tools = (
        "--exclude-dir=proc --exclude-dir=usr --exclude-dir=.pyenv --exclude-dir=.cargo --exclude-dir=.rustup"
    )
    script = f"""
        cat {project}/agent/helper.txt; echo
        ls -A {project}/suite {project}/runs {project}/.git
        grep -rl '{pattern}' / {tools} 2>/dev/null
        grep -l '{pattern}' /proc/*/cmdline /proc/*/environ 2>/dev/null
        true
    """
    attempt, _ = trial(script)
    lines = [line for line in str(attempt.output).splitlines() if line and not line.endswith(":")]

    assert Ending.OK is attempt.ending, attempt.defect
    assert ["of the agent"] == lines


def test_the_operators_home_is_not_there(trial, tmp_path):
    secret = tmp_path / "home" / ".ssh" / "id_ed25519"
    secret.parent.mkdir(parents=True)
    secret.write_text("a key")
    attempt, _ = trial(f"ls {secret} ~root/.ssh /home/*/.ssh 2>/dev/null; echo $HOME; getent passwd $(id -u)")

    assert str(attempt.output).splitlines()[0] == "/proctor/home"
    assert "/proctor/home:/bin/sh" in str(attempt.output)


def test_it_is_no_root_and_cannot_become_one(trial):
    """No capabilities, no user namespaces of its own, no new privileges."""
    attempt, _ = trial(
        "id -u; unshare -Ur true 2>/dev/null || echo refused; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status"
    )
    user, refused, *status = str(attempt.output).splitlines()

    assert "0" != user
    assert "refused" == refused
    assert {"CapEff": "0" * 16, "CapBnd": "0" * 16, "NoNewPrivs": "1"} == dict(
        line.replace(" ", "").split(":\t") for line in status
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give its trials another user")
def test_outside_it_is_another_user_than_root(trial, project):
    """A file that only root may read is closed to it, though it lies in what is shown."""
    (project / "agent" / "closed.txt").write_text("closed")
    (project / "agent" / "closed.txt").chmod(0o600)
    attempt, _ = trial(f"cat {project}/agent/closed.txt 2>/dev/null || echo refused")

    assert "refused" == attempt.output


@pytest.mark.skipif(os.geteuid() != 0, reason="only for root is such a folder closed to the trial's user")
def test_a_project_that_only_root_can_read_is_shown_all_the_same(trial, project):
    """The agent is then that user inside alone."""
    project.chmod(0o700)
    attempt, left = trial(f"id -u; cat {project}/agent/helper.txt; touch made")

    assert (Ending.OK, "65534\nof the agent") == (attempt.ending, attempt.output), attempt.defect
    assert ["made"] == left


def test_it_has_process_ids_and_a_host_name_of_its_own(trial):
    attempt, _ = trial(
        "ls -d /proc/[0-9]* | wc -l; hostname; cat /proc/1/cmdline | tr '\\0' ' ' | grep -c suite"
    )
    count, name, told = str(attempt.output).split()

    assert int(count) < 10
    assert ("proctor", "0") == (name, told)


def test_paths_are_the_same_in_every_trial(trial):
    """Whatever the trial's folder is called outside."""
    attempt, _ = trial(
        "pwd; echo $PROCTOR_WORKDIR $PROCTOR_INPUT $PROCTOR_OUTPUT $HOME $TMPDIR; cat $PROCTOR_INPUT"
    )

    assert (
        "/proctor/workdir\n/proctor/workdir /proctor/input /proctor/out/output /proctor/home /tmp\na question"
        == attempt.output
    )


def test_it_holds_no_file_of_anybody_else(trial):
    """Its streams, and nothing that it could come back to the outside by."""
    attempt, _ = trial("ls /proc/self/fd")

    assert ["0", "1", "2", "3"] == str(attempt.output).split()


@pytest.mark.parametrize(
    ("script", "ending", "code", "name"),
    [
        ("exit 0", Ending.OK, 0, None),
        ("exit 3", Ending.ERROR, 3, None),
        ("exit 137", Ending.ERROR, 137, None),
        ("kill -9 $$", Ending.KILLED, None, "SIGKILL"),
        ("kill -SEGV $$", Ending.KILLED, None, "SIGSEGV"),
        ("kill -TERM $$", Ending.KILLED, None, "SIGTERM"),
    ],
)
def test_how_it_ended_is_told_as_without_a_sandbox(trial, script, ending, code, name):
    """An exit code of 137 is no signal, and a signal is no exit code."""
    attempt, _ = trial(script)

    assert (ending, code, name) == (attempt.ending, attempt.exit_code, attempt.signal)


def test_it_is_asked_to_end_before_it_is_killed(trial):
    """What it does in its grace is kept."""
    attempt, left = trial(
        "trap 'touch saved; exit 0' TERM; while :; do sleep 0.05; done", Limits(timeout_s=1, grace_s=5)
    )

    assert Ending.TIMEOUT is attempt.ending
    assert ["saved"] == left


def test_signals_have_their_usual_meaning(trial):
    """Nothing is ignored or blocked that is not without a sandbox: `yes | head` ends by SIGPIPE."""
    code = "import signal; print([n for n in range(1, 32) if n not in (9, 19) and signal.getsignal(n) is signal.SIG_IGN], signal.pthread_sigmask(0, []))"
    attempt, _ = trial(
        f"yes | head -1 >/dev/null; {sys.executable} -S -c '{code}'; grep SigIgn /proc/self/status"
    )

    # Python ignores SIGPIPE and SIGXFSZ itself.
    assert "[13, 25] set()" in str(attempt.output)
    # What this process ignores is handed on, less what Python itself ignores and gives back to its children.
    inside, here = (
        int(re.findall(r"SigIgn:\s*([0-9a-f]+)", said)[0], 16)
        for said in (str(attempt.output), Path("/proc/self/status").read_text())
    )
    assert inside == here & ~(1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1)


def test_a_program_that_is_not_there_is_a_fault_of_the_machine(tmp_path, project):
    """And says nothing about the agent."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    outside = tmp_path / "elsewhere" / "tool"
    outside.parent.mkdir()
    outside.write_text("#!/bin/sh\necho here\n")
    outside.chmod(0o755)
    agent = CommandAgent(str(outside), launch_dir=project)
    agent.prepare([TEST], Surroundings(environment=environment))
    with premises(tmp_path, environment, project) as ours:
        place = ours.place(TEST, LIMITS)
        attempt = agent.attempt(TEST, place, LIMITS, Cancel())
        place.remove()

    assert Ending.HARNESS_FAILURE is attempt.ending
    assert attempt.defect is not None
    assert "No such file or directory" in attempt.defect.message


def test_a_program_that_is_needed_is_seen_wherever_it_lies(tmp_path, project):
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    outside = tmp_path / "elsewhere" / "tool"
    outside.parent.mkdir()
    (outside.parent / "beside").write_text("closed")
    outside.write_text(f"#!/bin/sh\necho here; ls {outside.parent}\n")
    outside.chmod(0o755)
    agent = CommandAgent(str(outside), launch_dir=project)
    agent.prepare([TEST], Surroundings(environment=environment))
    with premises(tmp_path, environment, project, needed=agent.files) as ours:
        place = ours.place(TEST, LIMITS)
        attempt = agent.attempt(TEST, place, LIMITS, Cancel())
        place.remove()

    assert "here\ntool" == attempt.output, attempt.defect


def test_the_number_of_processes_is_held_where_no_control_group_is(trial):
    """By the sandbox itself, for its own process ids alone."""
    script = "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 5 & done; echo all started"
    held, _ = trial(script, Limits(timeout_s=20, processes=5), counts_processes=True)
    free, _ = trial(script, Limits(timeout_s=20, processes=50), counts_processes=True)

    assert Ending.ERROR is held.ending
    assert "fork" in str(held.defect).lower()
    assert (Ending.OK, "all started") == (free.ending, free.output), free.defect


def test_without_bubblewrap_it_says_what_to_install(monkeypatch, tmp_path):
    with pytest.raises(UsageError, match="bwrap") as refused:
        find_programs(str(tmp_path))

    assert "bubblewrap" in refused.value.fix


def test_a_system_that_allows_no_namespaces_is_told_before_the_first_trial(tmp_path, project):
    """With what its administrator can do; shown with a bubblewrap that is refused as by such a system."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    refusing = tmp_path / "bwrap"
    refusing.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    refusing.chmod(0o755)
    with premises(tmp_path, environment, project) as ours:
        enclosure = ours._enclosure
        assert isinstance(enclosure, Bubblewrap)
        enclosure._programs = msgspec.structs.replace(enclosure._programs, bwrap=str(refusing))
        enclosure.user = None
        with pytest.raises(UsageError, match="No permissions to create new namespace") as refused:
            ours.check()

    assert "kernel.unprivileged_userns_clone=1" in refused.value.fix


def test_when_proctor_is_killed_nothing_of_it_lives_on(tmp_path, project):
    """Bubblewrap ends with whoever started it, and all processes with bubblewrap."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    with premises(tmp_path, environment, project) as ours:
        place = ours.place(TEST, LIMITS)
        launch = place.launch(["/bin/sh", "-c", f"setsid sleep 61.7 & : {CANARY}; sleep 61.7"])
        before = procfs.adopted()
        parent = os.fork()
        if parent == 0:
            child = os.fork()
            if child == 0:
                os.chdir(launch.cwd)
                os.setsid()
                os.execve(launch.argv[0], launch.argv, dict(launch.environment))
            signal.pause()
        assert _waits_until(lambda: len(_sleepers()) == 2)
        os.kill(parent, signal.SIGKILL)
        os.waitpid(parent, 0)

        assert _waits_until(lambda: not _sleepers())
        for pid in set(procfs.adopted()) - set(before):
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
        place.remove()


def _sleepers() -> list[str]:
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if file.read_bytes() == b"sleep\x0061.7\0":
                found.append(str(file))
        except OSError:
            continue
    return found


def _waits_until(is_so) -> bool:
    import time

    give_up = time.monotonic() + 10
    while time.monotonic() < give_up:
        if is_so():
            return True
        time.sleep(0.05)
    return False


def test_the_place_of_the_way_out_is_the_same_for_all():
    assert "http://127.0.0.1:4318" == sandboxing.INSIDE_URL == sandboxing.PROXY["https_proxy"]
