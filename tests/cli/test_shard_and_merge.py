"""A suite split over machines, and its groups put together: as if one run had made them."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from proctor.stores.group import GroupDir
from tests.conftest import Project, Said
from tests.labelling.builders import checklist_file

GRADERS = "from proctor import Contains, Similarity\ngraders = [Contains(must_pass=True), Similarity()]\n"
AGENT = """
from pathlib import Path

def main(text):
    Path("answer.txt").write_text(text)
    print("thinking of", text)
    return "wrong" if text == "b" else text
"""


@pytest.fixture
def suite(project: Project) -> Project:
    """Five tests with the same graders and files, of which one fails its gate."""
    project.write("agent.py", AGENT)
    project.write("suite/graders.py", GRADERS)
    project.write("suite/files/notes.txt", "notes\n")
    write_suite(project)
    return project


def write_suite(project: Project, **inputs: str) -> None:
    """The suite, with other inputs where they are given."""
    tests = [
        {
            "id": name,
            "input": inputs.get(name, name),
            "expected": name,
            "graders": "graders.py",
            "files": "files",
        }
        for name in "abcde"
    ]
    project.write("suite/suite.json", {"inputs": tests})


def shards(project: Project, of: int = 3, *words: object) -> list[str]:
    """Run every shard into a group of its own."""
    names = [f"shard-{number}" for number in range(1, of + 1)]
    for number, name in enumerate(names, start=1):
        assert 0 == project.run("agent.py", "--shard", f"{number}/{of}", *words, out=name).code
    return names


def content(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def figures(said: Said) -> Any:
    """A report without what is another one every time: paths, times, durations."""
    changing = {"path", "duration_s", "latency_s", "at", "warnings", "run_id"}

    def kept(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: kept(one) for key, one in value.items() if key not in changing}
        return [kept(one) for one in value] if isinstance(value, list) else value

    return kept(said.json)


def test_the_shards_of_a_suite_are_disjoint_and_make_it_whole(suite: Project) -> None:
    """`tests --shard` shows what `run --shard` runs, every trial of a test in one shard."""
    told = [suite("tests", "suite", "--shard", f"{number}/3") for number in (1, 2, 3)]
    names = shards(suite, 3, "--trials", "2")
    runs = [sorted(path.parent.name for path in (suite.root / name).glob("*/run.json")) for name in names]

    assert ["a\nd\nshard 1/3: 2 of 5 tests\n", "b\ne\nshard 2/3: 2 of 5 tests\n"] == [
        one.out for one in told[:2]
    ]
    assert "c\nshard 3/3: 1 of 5 tests\n" == told[2].out
    assert [["a--1", "a--2", "d--1", "d--2"], ["b--1", "b--2", "e--1", "e--2"], ["c--1", "c--2"]] == runs


def test_merged_shards_are_what_one_run_would_have_made(suite: Project) -> None:
    """The same report to the last figure, every run byte by byte as it was, and nothing for `verify` to find."""
    names = shards(suite, 3, "--trials", "2")
    suite.run("agent.py", "--trials", "2", out="one")
    before = {name: content(suite.root / name) for name in names}
    merged = suite("merge", *names, "--out", "whole")
    whole_before = content(suite.root / "whole")
    one, whole = suite.grade(path="one"), suite.grade(path="whole")
    plans = [GroupDir(suite.root / name).plan() for name in ("one", "whole")]

    assert (0, "") == (merged.code, merged.err)
    assert [
        "shard-1  shard 1/3  4 runs",
        "shard-2  shard 2/3  4 runs",
        "shard-3  shard 3/3  2 runs",
        "10 of 10 planned trials recorded",
        "runs: whole",
        "next: proctor grade whole",
    ] == merged.out.splitlines()
    assert (one.code, figures(one)) == (whole.code, figures(whole))
    assert 0.8 == pytest.approx(whole.json["pass_rate"]["value"])
    assert before == {name: content(suite.root / name) for name in names}
    for name in names:
        for path, text in before[name].items():
            if "/" in path:
                assert whole_before[path] == text, path
    assert "10 runs looked at, 0 changes found\n" == suite("verify", "whole").out
    assert plans[0] is not None
    assert plans[1] is not None
    assert plans[0].cells == plans[1].cells
    assert plans[0].suite == plans[1].suite
    assert ["1/3", "2/3", "3/3"] == [str(part.shard) for part in plans[1].parts]


def test_files_that_runs_share_are_shared_in_the_merged_group(suite: Project) -> None:
    """What all shards stored is there once, whatever number of runs has it; nothing is shared with the sources."""
    names = shards(suite, 3, "--trials", "2")
    suite("merge", *names, "--out", "whole")
    (archive,) = {path.name for path in (suite.root / "whole").glob("a--*/graders/*.zip")}
    files = [suite.root / "whole/.store" / archive, *(suite.root / "whole").glob(f"*/graders/{archive}")]
    theirs = {
        path.stat().st_ino for name in names for path in (suite.root / name).rglob("*") if path.is_file()
    }
    ours = {path.stat().st_ino for path in (suite.root / "whole").rglob("*") if path.is_file()}

    assert 1 == len({path.stat().st_ino for path in files})
    assert len(files) > 2
    assert set() == ours & theirs


def test_grades_labels_and_what_was_tried_come_along(suite: Project) -> None:
    """A shard may be graded before; the merged group has its rounds and its rows of attempts."""
    names = shards(suite, 2)
    for name in names:
        suite("grade", name)
    suite("merge", *names, "--out", "whole")
    listed = suite("list", "whole", "--json").json["groups"][0]
    rows = [json.loads(line) for line in (suite.root / "whole/attempts.jsonl").read_text().splitlines()]

    assert (5, 0.8) == (listed["graded"], pytest.approx(listed["mean"], abs=0.01))
    assert sorted("abcde") == sorted(row["run_dir"] for row in rows if row["event"] == "ended")
    assert 10 == len(rows)


def test_a_typed_suite_is_split_like_any_other(project: Project) -> None:
    """Its cases, in their order."""
    project.write(
        "evals/echo_eval.py",
        """
        from proctor import ExactMatch
        from proctor.eval import case, define_eval_suite

        claude, both = {"claude": {"model": "m-1"}}, {"claude": {"model": "m-1"}, "codex": {"model": "m-2"}}
        suite = define_eval_suite(
            name="echo",
            cases=[
                case(id=f"case-{n}", prompt=f"{n}", expected=f"{n}", hosts=claude if n == 0 else both,
                     assertions=[ExactMatch(must_pass=True)])
                for n in range(4)
            ],
        )
        """,
    )
    for number in (1, 2):
        project("run", "agent.py", "--shard", f"{number}/2", "-o", f"s{number}")
    merged = project("merge", "s1", "s2", "-o", "whole")
    graded = project.grade(path="whole")
    for_codex = project("tests", "--agent", "codex", "--shard", "1/2").out

    assert "s1  shard 1/2  2 runs" in merged.out
    assert "4 of 4 planned trials recorded" in merged.out
    assert (0, 4) == (graded.code, graded.json["n"])
    assert ["case-1", "case-3"] == [line for line in for_codex.splitlines() if line.startswith("case")]
    assert for_codex.endswith("shard 1/2: 2 of 3 tests\n")


def test_an_empty_shard_is_no_failure_and_never_a_success(project: Project) -> None:
    """It says that nothing was run; its group can be merged; graded by itself it is inconclusive."""
    project.write("agent.py", AGENT)
    project.test("a", GRADERS, input="a", expected="a")
    ran = project.run("agent.py", "--shard", "2/2", "--grade", out="empty")
    graded = project("grade", "empty")
    project.run("agent.py", "--shard", "1/2", out="full")
    merged = project("merge", "full", "empty", "--out", "whole")

    assert 0 == ran.code
    assert "shard 2/2 has no test, since there are more shards than tests: nothing was run" in ran.out
    assert "proctor grade" not in ran.out
    assert 3 == graded.code
    assert "empty is shard 2/2: it has 0 of the 1 tests of its plan" in graded.err
    assert "1 of 1 planned trial recorded" in merged.out
    assert 0 == project("grade", "whole").code


def test_a_shard_by_itself_says_that_it_is_not_the_whole(suite: Project) -> None:
    """`list` and `grade` tell; the merged group is whole."""
    names = shards(suite, 2)
    suite("merge", *names, "--out", "whole")
    note = "shard-1 is shard 1/2: it has 3 of the 5 tests of its plan, and says nothing about the others"

    assert note in suite("grade", "shard-1").err
    assert "is shard" not in suite("grade", "whole").err


def test_a_missing_shard_is_refused_or_counts_as_never_run(suite: Project) -> None:
    """Allowed, what is missing makes it inconclusive: never green. The missing trials can still be run there."""
    names = shards(suite, 3)
    refused = suite("merge", names[0], names[2], "--out", "part")
    is_there = (suite.root / "part").exists()
    merged = suite("merge", names[0], names[2], "--out", "part", "--allow-missing")
    graded = suite("grade", "part")
    resumed = suite.run("agent.py", "--resume", out="part")

    assert (1, False) == (refused.code, is_there)
    assert "1 of 3 shards is missing: 2/3" in refused.err
    assert "3 of 5 planned trials recorded" in merged.out
    assert "missing: shard 2/3; what was planned there counts as never run" in merged.out
    assert 3 == graded.code
    assert (
        "planned 5 = graded 3 + inconclusive 0 + errored 0 + harness failures 0 + interrupted 2" in graded.out
    )
    assert "of 5 trials 3 finished; to run: missing 2" in resumed.err
    assert "planned 5 = graded 5" in suite("grade", "part").out


def test_a_shard_goes_on_where_it_was_left(suite: Project) -> None:
    """With the same --shard; another one, none at all, and other tests elsewhere are refused."""
    shards(suite, 3)
    shutil.rmtree(suite.root / "shard-1/d")
    other = suite.run("agent.py", "--shard", "2/3", "--resume", out="shard-1")
    none = suite.run("agent.py", "--resume", out="shard-1")
    resumed = suite.run("agent.py", "--shard", "1/3", "--resume", out="shard-1")
    write_suite(suite, b="changed")
    changed = suite.run("agent.py", "--shard", "1/3", "--resume", out="shard-1")

    assert "the group was begun as shard 1/3, and this is shard 2/3" in other.err
    assert "the group was begun as shard 1/3, and all tests are named now" in none.err
    assert "of 2 trials 1 finished; to run: missing 1" in resumed.err
    assert "test 'b' of another shard is not what it was when the group was begun" in changed.err
    assert [1, 1, 0, 1] == [one.code for one in (other, none, resumed, changed)]


def test_groups_that_are_no_shards_are_joined_by_their_trials(suite: Project) -> None:
    """Several processes that each planned the whole and ran a part of it."""
    suite.run("agent.py", out="one")
    for name, gone in (("left", "cde"), ("right", "ab")):
        shutil.copytree(suite.root / "one", suite.root / name)
        plan = json.loads((suite.root / name / "group.json").read_text())
        (suite.root / name / "group.json").write_text(json.dumps(plan | {"group": name}))
        rows = (suite.root / name / "attempts.jsonl").read_text().splitlines(keepends=True)
        for test in gone:
            shutil.rmtree(suite.root / name / test)
            rows = [row for row in rows if f'"run_dir":"{test}"' not in row]
        (suite.root / name / "attempts.jsonl").write_text("".join(rows))
    merged = suite("merge", "left", "right", "--out", "whole")

    assert "left   group  2 runs" in merged.out
    assert "5 of 5 planned trials recorded" in merged.out
    assert figures(suite.grade(path="one")) == figures(suite.grade(path="whole"))
    assert "5 runs looked at, 0 changes found\n" == suite("verify", "whole").out


def test_a_copy_that_went_further_joins_what_it_was_copied_from(suite: Project) -> None:
    """The same run in both is one run, with the longer of two lists of grades; a resumed trial is there too."""
    suite.run("agent.py", out="first")
    shutil.rmtree(suite.root / "first/e")
    shutil.copytree(suite.root / "first", suite.root / "second")
    suite.run("agent.py", "--resume", out="second")
    suite("grade", "second/a")
    merged = suite("merge", "first", "second", "--out", "whole")
    rounds = {
        run["test"]: run["rounds"] for run in suite("list", "whole", "--json").json["groups"][0]["runs"]
    }

    assert (0, 5) == (merged.code, len(list((suite.root / "whole").glob("*/run.json"))))
    assert {"a": 1, "b": 0, "c": 0, "d": 0, "e": 0} == rounds


@pytest.mark.parametrize(
    ("file", "text"),
    [("stdout.log", "other\n"), ("annotations.jsonl", '{"other": 1}\n'), ("workdir/x", "new")],
)
def test_a_run_that_is_there_twice_with_other_bytes_is_refused(suite: Project, file: str, text: str) -> None:
    """Also where both were graded, and neither holds what the other does."""
    suite.run("agent.py", out="first")
    suite("grade", "first")
    shutil.copytree(suite.root / "first", suite.root / "second")
    (suite.root / "second/a" / file).write_text(text)
    merged = suite("merge", "first", "second", "--out", "whole")

    assert 1 == merged.code
    assert "'first' and 'second' both have a run of the same trial, and not the same one: a\n" in merged.err
    assert not (suite.root / "whole").exists()


def test_two_runs_of_the_same_tests_are_no_parts_of_one(suite: Project) -> None:
    """Every trial was run twice: nobody can say which counts."""
    suite.run("agent.py", out="monday")
    suite.run("agent.py", out="tuesday")
    merged = suite("merge", "monday", "tuesday", "--out", "whole")

    assert 1 == merged.code
    assert "both have a run of the same trial, and not the same one: a, b, c, d, e" in merged.err


def test_a_run_of_another_test_than_the_one_that_is_planned_is_refused(suite: Project) -> None:
    """Somebody copied it in from a run of another suite."""
    names = shards(suite, 2)
    write_suite(suite, a="another question")
    suite.run("agent.py", out="other")
    shutil.rmtree(suite.root / "shard-1/a")
    shutil.copytree(suite.root / "other/a", suite.root / "shard-1/a")
    merged = suite("merge", *names, "--out", "whole")

    assert 1 == merged.code
    assert "shard-1/a  the run is of another test 'a' than the one that is planned" in merged.err


def test_a_run_that_cannot_be_read_is_taken_along_and_counts_as_it_did(suite: Project) -> None:
    """Merging repairs nothing and hides nothing."""
    names = shards(suite, 2)
    (suite.root / "shard-1/a/run.json").write_text("{")
    merged = suite("merge", *names, "--out", "whole")
    found = suite("verify", "whole", "--json").json["findings"]

    assert "4 of 5 planned trials recorded" in merged.out
    assert {"whole/a"} == {one["run"] for one in found}
    assert "harness failures 1" in suite("list", "whole").out


def test_other_settings_are_refused_by_name(suite: Project) -> None:
    """The limit of a trial, and what agents were kept apart from."""
    suite.run("agent.py", "--shard", "1/2", out="one")
    suite.run("agent.py", "--shard", "2/2", "--timeout", "9", "--keep-home", out="two")
    merged = suite("merge", "one", "two", "--out", "whole")

    assert "the limit timeout_s is not the same: 60.0 in 'one', 9.0 in 'two'" in merged.err
    assert "the isolation is not the same: home=private" in merged.err
    assert "Groups of different plans are for `proctor compare`." in merged.err


@pytest.mark.parametrize("out", ["shard-1", "shard-1/inner", ".", "taken", "file", "link"])
def test_the_new_group_has_a_place_of_its_own(suite: Project, out: str) -> None:
    """Not where something is, in one of the parts, or around them."""
    names = shards(suite, 2)
    suite.write("taken/notes.md", "mine\n")
    suite.write("file", "mine\n")
    (suite.root / "link").symlink_to("nowhere")
    before = content(suite.root)
    merged = suite("merge", *names, "--out", out)

    assert 1 == merged.code
    assert "Name another folder with --out" in merged.err or "Name a folder beside the groups" in merged.err
    assert before == content(suite.root)


def test_an_empty_folder_is_a_place(suite: Project) -> None:
    """As `mktemp -d` makes it."""
    names = shards(suite, 2)
    (suite.root / "whole").mkdir()

    assert 0 == suite("merge", *names, "--out", "whole").code
    assert [] == [path.name for path in suite.root.iterdir() if path.name.startswith(".")]


def test_a_folder_of_groups_is_all_of_them(suite: Project) -> None:
    """As CI puts the shards of its jobs into one folder; what is named twice counts once."""
    shards(suite, 2)
    (suite.root / "shards").mkdir()
    for name in ("shard-1", "shard-2"):
        (suite.root / name).rename(suite.root / "shards" / name)
    merged = suite("merge", "shards", "shards/shard-1", "--out", "whole", "--json").json

    assert ("proctor.merge/1", 5, 5, 2, []) == (
        merged["schema"],
        merged["planned"],
        merged["recorded"],
        merged["of"],
        merged["missing"],
    )
    assert [{"path": "shards/shard-1", "runs": 3, "shard": {"number": 1, "of": 2}}] == merged["parts"][:1]


@pytest.mark.parametrize("named", ["a run", "no plan", "nothing", "being written"])
def test_what_is_no_finished_group_is_refused(suite: Project, named: str) -> None:
    """A single run, a folder that no run planned, no folder at all, and a group that is being written into."""
    suite.run("agent.py", out="group")
    writer: GroupDir | None = None
    if named == "being written":
        writer = GroupDir(suite.root / "group")
        writer.claim()
    if named == "no plan":
        (suite.root / "group/group.json").unlink()
    path = {"a run": "group/a", "nothing": "nowhere"}.get(named, "group")
    merged = suite("merge", path, "--out", "whole")
    if writer is not None:
        writer.finish()
    said = {
        "a run": "'group/a' is one run, and groups are merged",
        "no plan": "has no plan (group.json): no `proctor run` made it",
        "nothing": "'nowhere' does not exist",
        "being written": "another process is writing into this group",
    }

    assert 1 == merged.code
    assert said[named] in merged.err
    assert not (suite.root / "whole").exists()


def test_what_an_agent_left_is_copied_as_it_is(suite: Project) -> None:
    """Links, modes, empty folders, names that are no text; a file that is closed stays closed, here and there."""
    suite.write(
        "agent.py",
        """
        import os

        def main(text):
            os.symlink("nowhere", "link")
            os.mkdir("empty")
            for name, mode in (("run.sh", 0o755), ("closed", 0o000)):
                with open(name, "w") as file:
                    file.write(name)
                os.chmod(name, mode)
            with open(b"caf\\xe9", "w") as file:
                file.write("x")
            return text
        """,
    )
    names = shards(suite, 2)
    modes = {path: path.lstat().st_mode for name in names for path in (suite.root / name).rglob("*")}
    merged = suite("merge", *names, "--out", "whole")

    assert (0, "") == (merged.code, merged.err)
    assert modes == {path: path.lstat().st_mode for path in modes}
    workdir = suite.root / "whole/a/workdir"
    assert Path("nowhere") == (workdir / "link").readlink()
    assert (0o755, 0o000) == tuple((workdir / name).stat().st_mode & 0o777 for name in ("run.sh", "closed"))
    assert "5 runs looked at, 0 changes found\n" == suite("verify", "whole").out


def test_what_lies_beside_the_runs_is_named_and_left_where_it_is(suite: Project) -> None:
    """A report that somebody kept in the group is no part of it."""
    names = shards(suite, 2)
    suite.write("shard-1/report.json", "{}")
    merged = suite("merge", *names, "--out", "whole")

    assert "warning: not taken along from shard-1: report.json" in merged.err
    assert not (suite.root / "whole/report.json").exists()


def test_a_stored_archive_that_was_changed_is_found(suite: Project) -> None:
    """Two groups that keep different things under one digest: no guess is made which is right."""
    names = shards(suite, 2)
    (archive, *_) = sorted((suite.root / "shard-2/.store").glob("*.zip"))
    archive.chmod(0o644)
    archive.write_bytes(b"changed")
    merged = suite("merge", *names, "--out", "whole")

    assert 1 == merged.code
    assert "it is not what another of the groups has under the same digest" in merged.err
    assert not (suite.root / "whole").exists()


def test_labels_come_along(suite: Project) -> None:
    """What a person answered about the runs of both shards, by one checklist."""
    names = shards(suite, 2)
    checklist_file(suite.root, "Is it right?")
    suite("label", *names, "--checklist", "good.json", "--export", "sheet.csv")
    with (suite.root / "sheet.csv").open(newline="") as sheet:
        rows = [row | {"answer": "yes"} for row in csv.DictReader(sheet)]
    with (suite.root / "sheet.csv").open("w", newline="") as sheet:
        writer = csv.DictWriter(sheet, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    taken = suite("label", *names, "--checklist", "good.json", "--annotator", "ada", "--import", "sheet.csv")
    merged = suite("merge", *names, "--out", "whole")
    labels = suite("list", "whole", "--json").json["groups"][0]["labels"]

    assert (0, 0, "") == (taken.code, merged.code, merged.err)
    assert (5, 1, 1.0) == (labels["runs"], labels["annotators"], labels["mean"])


@pytest.mark.parametrize("link", [".store", ".store/archive", "attempts.jsonl"])
def test_what_a_link_leads_to_is_not_copied_into_the_merged_group(suite: Project, link: str) -> None:
    """A group that came from elsewhere could otherwise take any file of this machine along."""
    (shard,) = shards(suite, 1)
    secret = suite.root / "secret"
    secret.mkdir()
    (secret / "key").write_text("a secret\n")
    path, target = suite.root / shard / link, secret / "key"
    if link == ".store":
        shutil.rmtree(path)
        target = secret
    path.unlink(missing_ok=True)
    path.symlink_to(target)
    merged = suite("merge", shard, "--out", "whole")

    assert 1 == merged.code
    assert f"{shard}/{link}  it is a link" in merged.err
    assert [] == list(suite.root.glob("*whole*"))


@pytest.mark.parametrize("out", [".", "nowhere/..", "..", "/"])
def test_a_group_does_not_take_the_place_of_the_folder_one_stands_in(suite: Project, out: str) -> None:
    """Nor of one above it."""
    (shard,) = shards(suite, 1)
    merged = suite("merge", shard, "--out", out)

    assert 1 == merged.code
    assert f"{out!r} is the folder that you are in, or one above it" in merged.err


def test_what_is_to_be_typed_next_can_be_typed(suite: Project) -> None:
    """Also of a folder that a shell would take for several words."""
    assert suite.run("agent.py", out="my runs").out.endswith("runs: my runs\nnext: proctor grade 'my runs'\n")
    assert suite("merge", "my runs", "--out", "a $HOME").out.endswith("next: proctor grade 'a $HOME'\n")
