"""Run and grade as the inputs of the action say, and write its outputs. It ends with 0; the last step has the verdict.

With `merge`, shards are put together instead of run. A shard is not graded: the job that merges does that.

What an agent says is printed by proctor, and a runner takes lines of the log for its commands: while proctor prints,
it is told not to. The files through which a step speaks to the runner, and its tokens, are kept from the agent.
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

GRAVITY = (1, 130, 5, 2, 4, 3, 0)
"""Exit codes, the worst first; one that is not here is worse still."""
MOST_ANNOTATIONS = 10
"""A runner shows so many of a step."""
MOST_TEXT = 500
_RUNNERS_OWN = ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY")
_FORMS = {"json": "report.json", "junit": "report.xml", "markdown": "report.md", "html": "report.html"}


def main() -> None:
    """Do it, and say what came of it."""
    inputs = {
        name.removeprefix("INPUT_").lower(): value.strip()
        for name, value in os.environ.items()
        if name.startswith("INPUT_") and value.strip()
    }
    if "merge" in inputs:
        group = Path(inputs.get("out", "runs/merged"))
        code = merge(inputs, group)
    else:
        group = Path(inputs.get("out", f"runs/{shard_name(inputs) or 'ci'}"))
        code = run(inputs, group)
    outputs = {"verdict": "not done", "mean": "", "pass-rate": ""}
    is_done = code in (0, 3, 4, 5) and (group / "group.json").exists()
    if "shard" in inputs and "merge" not in inputs:
        outputs["verdict"] = "ran" if is_done else "not done"
    elif is_done:
        code = worse(code, grade(inputs, group))
        outputs |= read_report(inputs)
        annotate(inputs)
    if (group / "group.json").exists():
        outputs |= {"group": from_workspace(group), "archive": from_workspace(pack(group, inputs))}
    write_outputs({**outputs, "exit-code": str(code)}, os.environ["GITHUB_OUTPUT"])


def run(inputs: Mapping[str, str], group: Path) -> int:
    """Run the agent over the suite, or over a shard of it."""
    words = ["run", f"--out={group}", *options(inputs, "suite", "agent-cmd", "trials", "shard", "max-cost")]
    words += shlex.split(inputs.get("args", ""))
    return proctor([*words, "--", inputs["agent"]] if "agent" in inputs else words)


def merge(inputs: Mapping[str, str], group: Path) -> int:
    """Put shards together: archives are unpacked first, in folders too."""
    parts: list[Path] = []
    for word in shlex.split(inputs["merge"]):
        named = Path(word)
        archives = sorted(named.rglob("*.tar.gz")) if named.is_dir() else [named]
        parts += [unpack(one) if one.name.endswith(".tar.gz") else one for one in archives or [named]]
    words = ["merge", f"--out={group}"]
    if inputs.get("allow_missing") == "true":
        words.append("--allow-missing")
    return proctor([*words, "--", *map(str, parts)])


def grade(inputs: Mapping[str, str], group: Path) -> int:
    """Grade, and write the reports."""
    folder = Path(inputs.get("reports", "proctor-report"))
    folder.mkdir(parents=True, exist_ok=True)
    for name in _FORMS.values():
        (folder / name).unlink(missing_ok=True)  # what an earlier step found says nothing about this one
    words = ["grade", *(f"--output={folder / name}" for name in _FORMS.values())]
    words += options(inputs, "min-objective", "min-pass-rate", "max-cost")
    if "baseline" in inputs:
        baseline = Path(inputs["baseline"])
        words.append(f"--baseline={unpack(baseline) if baseline.name.endswith('.tar.gz') else baseline}")
    return proctor([*words, *shlex.split(inputs.get("grade_args", "")), "--", str(group)])


def options(inputs: Mapping[str, str], *names: str) -> list[str]:
    """Those options that have a value; each one word with it, so that no value is taken for an option."""
    return [f"--{name}={value}" for name in names if (value := inputs.get(name.replace("-", "_")))]


def proctor(words: Sequence[str]) -> int:
    """Call proctor, with its words in the log, and nothing in there a command to the runner."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in _RUNNERS_OWN and not name.startswith(("INPUT_", "ACTIONS_"))
    }
    token = secrets.token_hex(16)
    say(f"::stop-commands::{token}")
    say(f"$ {shlex.join(['proctor', *words])}")
    try:
        with subprocess.Popen(["proctor", *words], env=environment) as child:

            def pass_on(_number: int, _frame: FrameType | None) -> None:
                child.send_signal(signal.SIGINT)

            # A job that is cancelled is told so by a signal: then runs are recorded as interrupted.
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, pass_on)
            return child.wait()
    except FileNotFoundError:
        say("proctor is not installed: leave `install` away, or install it before this step")
        return 1
    finally:
        say(f"\n::{token}::")


def worse(one: int, other: int) -> int:
    """The worse of two exit codes."""
    return min(one, other, key=lambda code: GRAVITY.index(code) if code in GRAVITY else -1)


def shard_name(inputs: Mapping[str, str]) -> str:
    """`shard-2-of-3`; empty for a run that is no shard."""
    return f"shard-{inputs['shard'].replace('/', '-of-')}" if "shard" in inputs else ""


def pack(group: Path, inputs: Mapping[str, str]) -> Path:
    """The group as one file: an upload of single files would lose hidden ones, modes and links."""
    archive = Path(f"proctor-{'merged' if 'merge' in inputs else shard_name(inputs) or 'group'}.tar.gz")
    tar("-czf", archive, group.parent, f"./{group.name}")
    return archive


def unpack(archive: Path) -> Path:
    """The folder with what is in an archive."""
    folder = Path(tempfile.mkdtemp(prefix="proctor-", dir=os.environ.get("RUNNER_TEMP")))
    tar("-xzf", archive, folder)
    return folder


def tar(what: str, archive: Path, folder: Path, *names: str) -> None:
    """Call tar, with a path that it takes for no other machine's."""
    done = subprocess.run(["tar", what, os.path.abspath(archive), "-C", folder, *names], check=False)  # noqa: PTH100
    if done.returncode:
        fail(f"tar ended with {done.returncode}: {archive} cannot be read or written")


def read_report(inputs: Mapping[str, str]) -> dict[str, str]:
    """What the report comes to, and where its forms are."""
    files = {form: Path(inputs.get("reports", "proctor-report")) / name for form, name in _FORMS.items()}
    outputs = {f"report-{form}": from_workspace(file) for form, file in files.items() if file.exists()}
    if not files["json"].exists():
        return outputs
    report = json.loads(files["json"].read_text(encoding="utf-8"))
    numbers = {"mean": report["mean"], "pass-rate": report["pass_rate"]["value"]}
    known = {name: "" if value is None else repr(float(value)) for name, value in numbers.items()}
    return {**outputs, **known, "verdict": report["decision"]["verdict"]}


def annotate(inputs: Mapping[str, str]) -> None:
    """Mark the tests that failed where they are written."""
    report = Path(inputs.get("reports", "proctor-report")) / _FORMS["json"]
    if not report.exists():
        return
    runs = [
        one for group in json.loads(report.read_text(encoding="utf-8"))["groups"] for one in group["runs"]
    ]
    failed = [one for one in runs if one["outcome"] == "fail"]
    for one in failed[:MOST_ANNOTATIONS]:
        where = test_file(inputs, one["test"])
        properties = f"file={escaped(where, ':,')}," if where else ""
        title = f"proctor: {one['test']}, trial {one['trial']}"
        say(f"::error {properties}title={escaped(title, ':,')}::{escaped(reason_of(one)[:MOST_TEXT])}")


def reason_of(one: Mapping[str, Any]) -> str:
    """Why a run failed, in a sentence."""
    said = [
        f"{grade['grader']}: {grade['feedback']}" for grade in one["grades"] if grade["outcome"] == "fail"
    ]
    return "; ".join(said) or one.get("reason") or f"it ended with {one['ending']}"


def test_file(inputs: Mapping[str, str], test: str) -> str:
    """The file that a test is written in, from the workspace; empty where it cannot be told."""
    suite = Path(inputs.get("suite", ""))
    names = (
        suite / test / "test.json",
        suite / test / "test.yaml",
        suite / "suite.json",
        suite / "suite.yaml",
        suite,
    )
    return next((from_workspace(path) for path in names if path.is_file()), "")


def from_workspace(path: Path) -> str:
    """A path as the other steps of the job need it, which begin at the workspace."""
    workspace = Path(os.environ.get("GITHUB_WORKSPACE") or ".").resolve()
    here = Path(os.path.abspath(path))  # noqa: PTH100  # a link stays a link
    return os.fspath(here.relative_to(workspace) if here.is_relative_to(workspace) else here)


def escaped(text: str, more: str = "") -> str:
    """Text inside a command to the runner: line ends, and what ends a property."""
    for char in f"%\r\n{more}":
        text = text.replace(char, f"%{ord(char):02X}")
    return text


def write_outputs(outputs: Mapping[str, str], target: str) -> None:
    """Tell the runner. No value can end its own text, whatever it holds: nobody can guess how that ends."""
    with Path(target).open("a", encoding="utf-8") as file:
        for name, value in outputs.items():
            end = f"end-{secrets.token_hex(16)}"
            file.write(f"{name}<<{end}\n{value}\n{end}\n")


def say(line: str) -> None:
    """A line of the log, before anything that comes after it."""
    print(line, flush=True)


def fail(what: str) -> NoReturn:
    """End the step: proctor was not reached."""
    say(f"::error title=proctor::{escaped(what)}")
    sys.exit(1)


if __name__ == "__main__":
    main()
