"""A record that can be trusted: rounds and their history, withdrawal, what moved, what was changed, what was hidden."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from proctor.stores import rows
from tests.conftest import Project

GRADERS = "from proctor import Contains, Similarity\ngraders = [Contains(), Similarity()]"


def graded(project: Project, **fields: object) -> None:
    project.test("t", GRADERS, **{"input": "hello", "expected": "hello", **fields})
    project.run()
    project.grade()


def test_history_lists_every_round_and_who_gave_it(project: Project) -> None:
    """With its objective, and which one is in force."""
    graded(project)
    project.grade()
    history = project("show", "group/t", "--history", "--json").json

    assert [1.0, 1.0] == [one["objective"] for one in history["rounds"]]
    assert [False, True] == [one["in_force"] for one in history["rounds"]]
    assert history["rounds"][0]["annotators"][0].startswith("t/graders.py@sha256:")


def test_diff_says_what_moved_and_why(project: Project) -> None:
    """A changed grader is named by both revisions; what stayed is not mentioned."""
    graded(project)
    project.test("t", GRADERS + "\nimport json", input="hello", expected="help")
    said = project("grade", "group", "--suite", "suite", "--diff")

    assert "moved against the round before: 2 grades\n" in said.out
    assert "  t  contains  pass -> fail  the grader's revision: t/graders.py@" in said.out
    assert "  t  similarity  1.000 -> 0.600  the grader's revision: t/graders.py@" in said.out
    assert (
        "moved against the round before: 0 grades\n"
        in project("grade", "group", "--suite", "suite", "--diff").out
    )


def test_a_withdrawn_round_is_out_of_force_and_still_on_record(project: Project) -> None:
    """The round before it counts again; who and why are kept."""
    graded(project)
    project.test("t", GRADERS, input="hello", expected="other")
    assert 1.0 != project.grade("--suite", "suite").json["mean"]
    rounds = project("show", "group/t", "--history", "--json").json["rounds"]
    said = project(
        "retract", "group/t", "--round", rounds[1]["round"][:12], "--why", "wrong file", "--by", "ada"
    )
    history = project("show", "group/t", "--history").out

    assert (0, f"round {rounds[1]['round']} of t is withdrawn\n") == (said.code, said.out)
    assert 1.0 == project("list", "group", "--json").json["mean"]
    assert "withdrawn by ada: wrong file" in history
    assert 1 == project("retract", "group/t", "--round", rounds[1]["round"], "--why", "x").code
    assert 1 == project("retract", "group/t", "--round", "zzz", "--why", "x").code


def test_rows_of_a_newer_format_are_kept_counted_and_never_dropped(project: Project) -> None:
    """Also rows of a kind that this version does not know, and rows that are no JSON."""
    graded(project)
    path = project.root / "group/t/annotations.jsonl"
    newer = json.loads(path.read_text().splitlines()[0]) | {"v": 99, "later": True}
    with path.open("a") as log:
        log.write(json.dumps(newer) + "\n" + '{"kind": "poem", "v": 1}\n' + "not json\n")
    before = path.read_bytes()
    said = project("grade", "group", "--json")

    assert 3 == said.json["groups"][0]["runs"][0]["unread_rows"]
    assert "3 rows of annotations.jsonl are of a newer format, or damaged" in said.err
    assert path.read_bytes().startswith(before)
    assert 1.0 == said.json["mean"]


def test_a_torn_last_row_is_set_aside_and_reported(project: Project) -> None:
    """The file goes on with whole rows; what was torn is in a side file."""
    graded(project)
    path = project.root / "group/t/annotations.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"kind": "score", "half')
    listed = project("list", "group", "--json").json
    said = project("grade", "group", "--json")

    assert 1.0 == listed["mean"]
    assert "a row that was never finished (23 bytes) is set aside in annotations.jsonl.torn" in said.err
    assert b'{"kind": "score", "half\n' == path.with_name("annotations.jsonl.torn").read_bytes()
    assert path.read_bytes().startswith(whole)
    assert 4 == path.read_bytes().count(b"\n")


@pytest.mark.parametrize("cut", range(0, 400, 13))
def test_a_file_that_is_cut_anywhere_reads_and_goes_on(tmp_path: Path, cut: int) -> None:
    """No earlier row is lost, and the new ones stand on lines of their own."""
    path = os.fspath(tmp_path / "rows")
    rows.append(path, b"".join(b'{"n":%03d,"text":"%s"}\n' % (n, b"x" * 20) for n in range(10)))
    os.truncate(path, cut)
    before = list(rows.lines(path))
    rows.append(path, b'{"new":1}\n')

    assert [*before, b'{"new":1}'] == list(rows.lines(path))


def test_a_writer_waits_for_another_and_not_for_ever(tmp_path: Path) -> None:
    """A bounded time; then it says that nothing was written."""
    path = os.fspath(tmp_path / "rows")
    rows.append(path, b"{}\n")
    holder = os.open(path, os.O_RDWR)
    fcntl.flock(holder, fcntl.LOCK_EX)

    with pytest.raises(rows.StoreError, match="another process has been writing"):
        rows.append(path, b"{}\n", lock_timeout_s=0.2)
    os.close(holder)
    rows.append(path, b"{}\n")
    assert 2 == len(list(rows.lines(path)))


def test_a_lock_dies_with_its_process(tmp_path: Path) -> None:
    """No stale lock ever needs deleting."""
    path = tmp_path / "rows"
    path.write_bytes(b"{}\n")
    code = f"import fcntl, os\nf = open({str(path)!r}, 'rb+')\nfcntl.flock(f, fcntl.LOCK_EX)\nos.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code], check=False)

    assert b"" == rows.append(os.fspath(path), b"{}\n", lock_timeout_s=1)


def test_two_gradings_at_once_lose_no_row(project: Project) -> None:
    """Both rounds are whole."""
    project.write("suite/graders.py", GRADERS)
    tests = [{"id": f"t{n}", "input": "x", "expected": "x", "graders": "graders.py"} for n in range(20)]
    project.write("suite/suite.json", {"inputs": tests})
    project("run", "agent.py", "--suite", "suite/suite.json", "--out", "group", "-n", 2)
    command = [sys.executable, "-m", "proctor", "grade", "group"]
    both = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    while any(process.poll() is None for process in both):
        assert 0 == project("list", "group").code  # a reader in the middle of it all
    report = project("list", "group", "--json").json

    assert [0, 0] == [process.returncode for process in both]
    assert {2} == {run["rounds"] for run in report["groups"][0]["runs"]}
    assert {4} == {path.read_bytes().count(b"\n") for path in project.root.glob("group/*/annotations.jsonl")}


TAMPERING = {
    "run.json": lambda run: _edit(run / "run.json", '"output": "hello"', '"output": "HELLO"'),
    "stdout.log": lambda run: _edit(run / "stdout.log", "printed", "Printed"),
    "workdir/made.txt": lambda run: _edit(run / "workdir/made.txt", "made", "MADE"),
    "workdir/new.txt": lambda run: (run / "workdir/new.txt").write_text("x"),
    "annotations.jsonl": lambda run: _edit(run / "annotations.jsonl", '"score":1.0', '"score":0.5'),
    "workdir.json": lambda run: _edit(run / "workdir.json", "made.txt", "lost.txt"),
}


@pytest.mark.parametrize("file", TAMPERING)
def test_verify_finds_what_was_changed_after_the_fact(project: Project, file: str) -> None:
    """And repairs nothing; a run that is as it was is said to be."""
    project.write(
        "agent.py",
        "from pathlib import Path\ndef main(text):\n    print('printed')\n    Path('made.txt').write_text('made')\n"
        "    return text\n",
    )
    graded(project)
    clean = project("verify", "group")
    TAMPERING[file](project.root / "group/t")
    changed = {path: path.read_bytes() for path in (project.root / "group").rglob("*") if path.is_file()}
    said = project("verify", "group", "--json")

    assert (0, "1 run looked at, 0 changes found\n") == (clean.code, clean.out)
    assert 2 == said.code
    assert file in {finding["file"] for finding in said.json["findings"]}
    assert changed == {
        path: path.read_bytes() for path in (project.root / "group").rglob("*") if path.is_file()
    }


def test_verify_finds_changed_graders_and_lost_runs(project: Project) -> None:
    """By the archive's name, and by the group's rows."""
    graded(project)
    (archive,) = (project.root / "group/t/graders").iterdir()
    archive.unlink()
    assert "missing" in project("verify", "group").out
    for path in sorted((project.root / "group/t").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    (project.root / "group/t").rmdir()
    said = project("verify", "group")

    assert (2, True) == (said.code, "it ended, and is not there now" in said.out)


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (lambda inputs: shutil.rmtree(inputs / "holdout"), ("inputs/holdout", "missing")),
        (lambda inputs: _replace(inputs / "holdout/secret.txt"), ("inputs/holdout", "changed")),
        (lambda inputs: (inputs / "holdout/new.txt").write_text("x"), ("inputs/holdout", "changed")),
        (lambda inputs: _replace(inputs / "files/given.txt"), ("inputs/files", "changed")),
    ],
)
def test_verify_finds_what_was_changed_among_the_files_that_graders_are_given(
    project: Project, change: Callable[[Path], object], finding: tuple[str, str]
) -> None:
    """Held-out files, and the fixture where a grader reads it: a finding and exit code 2, never an error."""
    project.test(
        "t", "from proctor import grader\ngraders = grader(lambda fixture, holdout: True, name='reads')"
    )
    project.write("suite/t/files/given.txt", "given")
    project.write("suite/t/holdout/secret.txt", "secret")
    assert 0 == project.run().code
    clean = project("verify", "group")
    change(project.root / "group/t/inputs")
    said = project("verify", "group", "--json")

    assert (0, 2) == (clean.code, said.code)
    assert [finding] == [(found["file"], found["what"]) for found in said.json["findings"]]


def test_secrets_are_taken_out_before_they_are_recorded(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values of credential-like variables, and shapes of keys: in output, streams and messages."""
    key = "sk-ant-" + "a1b2c3d4" * 3
    monkeypatch.setenv("SERVICE_TOKEN", "correct-horse-battery")
    monkeypatch.setenv("SHORT_TOKEN", "abc")
    monkeypatch.setenv("PORT_SECRET", "12345678")
    project.write(
        "agent.py",
        f"""
        import os, sys

        def main(text):
            token = os.environ["SERVICE_TOKEN"]
            print(token, "and 12345678")
            print("{key}", file=sys.stderr)
            if text == "fail":
                raise RuntimeError(token)
            return {{"said": [token, "abc 12345678"]}}
        """,
    )
    project.test("t", input="x")
    project.test("u", input="fail")
    project.run("agent.py", "--pass-env", "SERVICE_TOKEN")
    kept = b"".join(path.read_bytes() for path in (project.root / "group").rglob("*") if path.is_file())
    output = project("show", "group/t", "--json").json["output"]

    assert {"said": ["[redacted SERVICE_TOKEN]", "abc 12345678"]} == output
    assert b"correct-horse-battery" not in kept
    assert key.encode() not in kept
    assert "[redacted SERVICE_TOKEN] and 12345678\n" == (project.root / "group/t/stdout.log").read_text()
    assert "[redacted]\n" == (project.root / "group/t/stderr.log").read_text()


def test_no_folder_of_this_machine_is_in_the_facts(project: Project) -> None:
    """Neither in a stack, nor in the plan, nor in the agent's name."""
    project.test("t", GRADERS, input="x", expected="x")
    project("run", str(project.root / "agent.py") + ":crash", "--suite", "suite", "--out", "group")
    kept = (project.root / "group/t/run.json").read_text() + (project.root / "group/group.json").read_text()

    assert str(project.root) not in kept
    assert "on purpose" in kept


def test_facts_say_what_ran_how_and_on_what(project: Project) -> None:
    """Suite, test, agent and graders by digest; versions; concurrency; times."""
    graded(project)
    facts = json.loads((project.root / "group/t/run.json").read_text())

    assert {"proctor", "python", "system", "machine"} == set(facts["platform"])
    for digest in (
        facts["suite"]["digest"],
        facts["test_digest"],
        facts["agent"]["digest"],
        facts["graders"]["digest"],
    ):
        assert digest.startswith("sha256:")
    assert facts["started_at"] <= facts["ended_at"]
    assert (60.0, 1) == (facts["limits"]["timeout_s"], facts["attempt"])


def _replace(path: Path) -> None:
    """Put another file in its place: the kept one is shared by links, and read-only."""
    path.unlink()
    path.write_text("other")


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
