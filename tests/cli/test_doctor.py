"""`proctor doctor`: what is installed, and what killed proctors left.

`--clean` ends processes of the whole machine, so that it runs here in a process space of its own alone; every
other test looks, and cleans only what it has made itself.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import tomllib
from pathlib import Path

import pytest

from proctor.cli.installed import EXTRAS
from proctor.host import procfs
from proctor.host.cgroups import remove_group, trees_for
from proctor.host.leftovers import end_process, left_folders, left_processes, remove_folder
from tests.conftest import is_running

GONE = procfs.owner_tag()[:10] + f"{1:010x}"
"""A proctor that had this process's id before."""

OWN_SPACE = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc")
"""What runs behind this sees no process but its own."""


def has_own_space() -> bool:
    try:
        return subprocess.run([*OWN_SPACE, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.fixture
def space(tmp_path):
    made = tmp_path / "space"
    made.mkdir()
    return made


@pytest.fixture
def start():
    started = []

    def sleeper(mark: str = "", cwd: Path | None = None) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            ["sleep", "60"], env={"PROCTOR_TRIAL": mark} if mark else {}, cwd=cwd, start_new_session=True
        )
        started.append(process)
        return process

    yield sleeper
    for process in started:
        process.kill()
        process.wait()


def doctor(space: Path, *words: str, before: tuple[str, ...] = (), **variables: str) -> str:
    done = subprocess.run(
        [*before, sys.executable, "-m", "proctor", "doctor", *words],
        cwd=space,
        env={**os.environ, "TMPDIR": str(space), **variables},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ("", 0) == (done.stderr, done.returncode)
    return done.stdout


def folder(space: Path, name: str) -> Path:
    made = space / name
    made.mkdir(mode=0o700)
    (made / "content").write_text("x")
    return made


def test_it_says_what_is_installed(space):
    """Python, the system and the programs that proctor calls are named, each with its version or how to get it."""
    found = {item["name"]: item for item in json.loads(doctor(space, "--json"))["installed"]}

    assert {"proctor", "python", "system", "git", "node", "bwrap", "claude", "codex", "agency"} <= set(found)
    assert ".".join(map(str, sys.version_info[:3])) == found["python"]["version"]
    assert all((item["version"] is None) == (item["get"] is not None) for item in found.values())


def test_a_library_is_named_with_the_extra_that_brings_it(space, tmp_path):
    """Every extra of the package but those for its own development, each with what it is for."""
    extras = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    needed = [f"Requires-Dist: {one}; extra == '{extra}'" for extra, names in extras.items() for one in names]
    needed.append("Requires-Dist: no-such-library>=1; extra == 'judge'")
    made = tmp_path / "site/proctor-0.dist-info"
    made.mkdir(parents=True)
    (made / "METADATA").write_text(
        "\n".join(["Metadata-Version: 2.4", "Name: proctor", "Version: 0", *needed])
    )
    items = json.loads(doctor(space, "--json", PYTHONPATH=str(made.parent)))["installed"]
    libraries = {item["name"]: item for item in items if item["kind"] == "library"}

    assert set(EXTRAS) == set(extras) - {"dev", "docs"} == {item["extra"] for item in libraries.values()}
    assert ("prices", None) == (libraries["genai-prices"]["extra"], libraries["genai-prices"]["get"])
    assert "pip install 'proctor[judge]'" == libraries["no-such-library"]["get"]
    assert "  for judges that ask a model: pip install 'proctor[judge]'" in doctor(
        space, PYTHONPATH=str(made.parent)
    )


def test_a_program_is_asked_for_its_version_without_touching_anybodys_settings(space, tmp_path):
    """Coding agents make files in their folders of settings when they start."""
    program = tmp_path / "bin/claude"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\ntouch "$CLAUDE_CONFIG_DIR/seen"\necho "7.8.9 (Claude Code)"\n')
    program.chmod(0o755)
    settings = tmp_path / "settings"
    settings.mkdir()
    path = f"{program.parent}:{os.environ['PATH']}"
    said = json.loads(doctor(space, "--json", PATH=path, CLAUDE_CONFIG_DIR=str(settings)))
    (claude,) = (item for item in said["installed"] if item["name"] == "claude")

    assert ("7.8.9 (Claude Code)", str(program)) == (claude["version"], claude["where"])
    assert [] == list(settings.iterdir())


def test_keys_are_named_and_never_shown(space):
    """Which variable holds one, and where a server of one's own answers, less what in its address may be a secret."""
    variables = {
        "OPENAI_API_KEY": "sk-secret-1",
        "MISTRAL_BASE_URL": "https://me:sk-secret-2@models.example.org:8443/v1?key=sk-secret-3",
        "ANTHROPIC_API_KEY": "",
        "PROCTOR_JUDGE_MODEL": "openai/gpt-5-mini",
    }
    said = doctor(space, "--json", **variables)
    found = {one["name"]: one for one in json.loads(said)["providers"]}
    text = doctor(space, **variables)

    assert ("OPENAI_API_KEY", True) == (found["openai"]["key"], found["openai"]["is_ready"])
    assert ("MISTRAL_BASE_URL", "models.example.org:8443") == (
        found["mistral"]["address"],
        found["mistral"]["host"],
    )
    assert (False, "set ANTHROPIC_API_KEY") == (found["anthropic"]["is_ready"], found["anthropic"]["get"])
    assert "judge model: openai/gpt-5-mini, from PROCTOR_JUDGE_MODEL\n" in text
    assert "sk-secret" not in said + text


@pytest.mark.parametrize(
    ("settings", "variables", "problem"),
    [
        ("", {}, "none is named"),
        ('judge_model = "anthropic/claude"', {"ANTHROPIC_API_KEY": ""}, "there is no key for anthropic"),
        ('judge_model = "nobody/model"', {}, "no provider of models is named 'nobody'"),
        ("judge_modle = 1", {}, "the settings cannot be read"),
    ],
)
def test_why_a_judge_cannot_be_asked_is_said(space, settings, variables, problem):
    """With what to do about it; settings that are wrong do not keep the doctor from looking."""
    (space / "proctor.toml").write_text(settings)
    judge = json.loads(doctor(space, "--json", PROCTOR_JUDGE_MODEL="", **variables))["judge"]

    assert judge["problem"].startswith(problem)
    assert judge["get"]


def test_looking_changes_nothing(space, start):
    """Without `--clean` a process and a folder that were left are named, and stay."""
    left, path = start("ab" * 8 + GONE), folder(space, f"proctor-{GONE}-abcdefgh")
    out = doctor(space)

    assert f"folder {path}\n" in out
    assert "`proctor doctor --clean` ends and removes them" in out
    assert (True, True) == (is_running(left.pid), path.exists())


@pytest.mark.skipif(not has_own_space(), reason="no process space of its own can be made here")
def test_clean_ends_and_removes_and_says_so(space):
    """`--clean` ends what was left with what stands below it, removes folders, and lets the rest be."""
    script = """
        import os, subprocess, sys, tempfile, time
        from pathlib import Path
        from proctor.cli.main import main
        from proctor.host import procfs
        own = procfs.owner_tag()
        gone = own[:10] + f"{1:010x}"
        def start(mark):
            shell = "sleep 60 & echo $! ; wait"
            process = subprocess.Popen(["sh", "-c", shell], env={"PROCTOR_TRIAL": mark, "PATH": os.environ["PATH"]},
                stdout=subprocess.PIPE, start_new_session=True)
            return [process.pid, int(process.stdout.readline())]
        for owner in (gone, own):
            Path(tempfile.gettempdir(), f"proctor-{owner}-abcdefgh").mkdir(mode=0o700)
        left, living = start("ab" * 8 + gone), start("cd" * 8 + own)
        code = main(["doctor", "--clean"])
        alive = [not (found := procfs.seen(pid)) is None and not found.has_ended for pid in left + living]
        print(code, alive, sorted(path.name == f"proctor-{own}-abcdefgh" for path in Path(tempfile.gettempdir()).iterdir()))
        for pid in living:
            os.kill(pid, 9)
    """
    done = subprocess.run(
        [*OWN_SPACE, sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "TMPDIR": str(space)},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()

    assert "0 [False, False, True, True] [True]" == lines[-1], done.stdout + done.stderr
    assert ["ended", "ended", "removed"] == [
        line.split("  ")[-1] for line in lines if line.startswith(("process", "folder"))
    ]
    assert "2 living processes and 1 folder of earlier runs found, 3 of them gone now" == lines[-2]


def test_marked_process_whose_proctor_is_gone_is_left_behind(start):
    """It is found with its command, and can be ended."""
    process = start("ab" * 8 + GONE)
    (left,) = [found for found in left_processes() if found.pid == process.pid]

    assert ("sleep 60", True, True) == (left.command, is_running(process.pid), end_process(left))
    assert not is_running(process.pid)


def test_process_of_a_living_proctor_and_of_nobody_is_not_left_behind(start):
    """A mark of a living proctor, a chain with one, something that is no mark, and no mark at all."""
    own = "cd" * 8 + procfs.owner_tag()
    processes = [start(own), start(f"{'ab' * 8}{GONE}.{own}"), start("by-hand"), start()]

    assert set() == {left.pid for left in left_processes()} & {process.pid for process in processes}


def test_process_that_got_the_id_of_one_that_was_left_is_let_be(start):
    """An id alone is no reason to end anybody."""
    process = start("ab" * 8 + GONE)
    (left,) = [found for found in left_processes() if found.pid == process.pid]
    earlier = type(left)(pid=left.pid, started=left.started - 1, command=left.command)

    assert (True, True) == (end_process(earlier), is_running(process.pid))


def test_folder_whose_proctor_is_gone_is_left_behind(space):
    """It can be removed, also what its owner may not enter."""
    made = [folder(space, f"proctor-{GONE}-abcdefgh"), folder(space, f"proctor-graders-{GONE}-abcd_123")]
    (made[0] / "closed").mkdir(mode=0o000)
    left = left_folders(space)

    assert made == [found.path for found in left]
    assert [True, True] == [remove_folder(found) for found in left]
    assert [] == list(space.iterdir())


def test_folder_that_is_in_use_or_not_ours_is_not_left_behind(space, start, tmp_path):
    """In use, of a living proctor, of another name, open to others, links and files of such names."""
    start(cwd=folder(space, f"proctor-{GONE}-aaaaaaaa"))
    folder(space, f"proctor-{procfs.owner_tag()}-bbbbbbbb")
    folder(space, "proctor-of-my-own-notes")
    folder(space, "proctored-abcdefgh")
    folder(space, f"proctor-{GONE}-cccccccc").chmod(0o755)
    (space / f"proctor-{GONE}-dddddddd").symlink_to(folder(tmp_path, "target"))
    (space / f"proctor-{GONE}-eeeeeeee").write_text("a file")

    assert [] == left_folders(space)


def test_folder_of_an_unknown_maker(space):
    """One whose name says nothing is left behind only when it is older than every Python that lives."""
    old = folder(space, "proctor-abcd1234")
    folder(space, "proctor-graders-abcd1234")
    os.utime(old, (1_000_000_000, 1_000_000_000))

    assert [old] == [left.path for left in left_folders(space)]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another's folder")
def test_folder_of_another_user_is_not_left_behind(space):
    """Whatever its name."""
    os.chown(folder(space, f"proctor-{GONE}-abcdefgh"), 65534, 65534)

    assert [] == left_folders(space)


def test_what_a_killed_run_leaves_is_found(tmp_path, space):
    """The folders of a run, one of them for all its trials, are in use while it runs, and left behind after a SIGKILL."""
    test = tmp_path / "suite" / "one"
    test.mkdir(parents=True)
    (test / "test.json").write_text('{"input": "x"}')
    proctor = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "proctor",
            "run",
            "--agent-cmd",
            "sleep 60",
            "--suite",
            "suite",
            "-o",
            "group",
        ],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(space)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    give_up = time.monotonic() + 20
    while not list(space.glob("proctor-*/stdout")) and time.monotonic() < give_up:
        time.sleep(0.02)
    while_it_runs = left_folders(space)
    proctor.send_signal(signal.SIGKILL)
    proctor.wait()
    while not left_folders(space) and time.monotonic() < give_up:
        time.sleep(0.02)

    assert ([], 2) == (while_it_runs, len(left_folders(space)))


@pytest.mark.skipif(not trees_for(["pids"]), reason="no control group can be made here")
def test_a_control_group_of_a_killed_proctor_is_found(project):
    """With what lives in it, which ends when the group is removed."""
    folder = trees_for(["pids"])[0].folder / f"proctor-{GONE}-0123456789ab"
    folder.mkdir()
    child = subprocess.Popen(["sleep", "60"])
    try:
        (folder / "cgroup.procs").write_text(str(child.pid))
        found = project("doctor", "--json").json

        assert [None] == [left["cleaned"] for left in found["groups"] if left["what"] == str(folder)]
        assert remove_group(folder)
        assert -signal.SIGKILL == child.wait(10)
    finally:
        child.kill()
        child.wait()
        remove_group(folder)


def test_whether_there_can_be_a_sandbox_is_said(project, monkeypatch):
    """Tried out; without bubblewrap, what to install."""
    monkeypatch.setenv("PATH", str(project.root))

    assert "Install the package `bubblewrap`" in project("doctor", "--json").json["sandbox"]
