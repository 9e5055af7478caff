import os
import subprocess

from intact import intact

from proctor import Grade, failed, grader, passed
from proctor.eval import expect_command


def git(workdir, *words):
    """What git says of the agent's repository, with none of the settings that the agent may have left in it."""
    quiet = ["-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}"]
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *quiet, *words], cwd=workdir, env=environment, capture_output=True, text=True, timeout=20
    )
    return done.stdout.strip()


@grader(must_pass=True)
def one_commit_on_top(workdir) -> Grade:
    subjects = git(workdir, "log", "--format=%s").splitlines()
    if subjects != ["Rename greet to greeting_for", "fixture"]:
        return failed(f"the commits are {subjects}")
    return passed()


@grader(must_pass=True)
def nothing_uncommitted(workdir) -> Grade:
    status = git(workdir, "status", "--porcelain")
    return failed(status) if status else passed()


@grader(must_pass=True)
def old_name_is_gone(workdir) -> bool:
    return "greet(" not in (workdir / "greeting.py").read_text() + (workdir / "main.py").read_text()


graders = [
    one_commit_on_top,
    nothing_uncommitted,
    old_name_is_gone,
    expect_command("python main.py Ada", prints="Hello, Ada.", name="still-greets", timeout=20),
    intact("greeting.py", "main.py"),
]
