"""`label`, `agree`, and what `list`, `show` and `grade` know of labels, as somebody types them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.conftest import Project
from tests.labelling.builders import checklist_file, grade_run, make_run


def label(
    project: Project, who: str, answers: dict[str, list[str]], *words: object, file: str = "good.json"
) -> None:
    """Label runs by a sheet: of each run the answers in the order of the questions."""
    said = project("label", "group", "--checklist", file, "--annotator", who, "--export", "s.csv", *words)
    assert 0 == said.code, said.err
    path = project.root / "s.csv"
    with path.open(newline="") as sheet:
        rows = list(csv.DictReader(sheet))
    left = {name: list(given) for name, given in answers.items()}
    for row in rows:
        row["answer"] = left[row["test"]].pop(0) if row["test"] in left else ""
    with path.open("w", newline="") as sheet:
        writer = csv.DictWriter(sheet, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    said = project("label", "group", "--checklist", file, "--import", "s.csv", *words)
    assert 0 == said.code, said.err


@pytest.fixture
def judged(project: Project) -> Project:
    """Ten runs with a judge's grade each, and a checklist whose question the judge answers."""
    for n in range(10):
        run = make_run(project.root / "group", f"t{n}")
        grade_run(run, {"judge": float(n < 7)})
    checklist_file(project.root, {"text": "Is it right?", "grader": "judge"})
    return project


def test_label_needs_a_terminal_and_says_what_to_do_without(judged: Project) -> None:
    said = judged("label", "group", "--checklist", "good.json")

    assert 1 == said.code
    assert "--export FILE" in said.err


def test_list_show_and_grade_know_labels(judged: Project) -> None:
    """The mean label score of those who labelled, how many they are, and what is stale."""
    label(judged, "ada", {"t0": ["yes"], "t1": ["no"]})
    label(judged, "bo", {"t0": ["no"], "t2": ["cannot tell"]})
    listed = judged("list", "group")
    lines = listed.out.splitlines()

    assert ["LABEL", "PEOPLE"] == lines[0].split()[-2:]
    assert [["0.500", "2"], ["0.000", "1"], ["-", "1"]] == [lines[n].split()[-2:] for n in (1, 2, 3)]
    assert "mean label 0.250 over 2 runs; 3 of 10 runs labelled by 2 people" in listed.out
    report = judged("list", "group", "--json").json["groups"][0]
    assert {"runs": 3, "annotators": 2, "n": 2, "mean": 0.25, "stale": 0} == report["labels"]
    shown = judged("show", "group/t2").out
    assert "  bo  good@1  0.000 to 1.000" in shown
    assert "    cannot tell  Is it right?" in shown


def test_a_question_that_is_added_makes_labels_stale(judged: Project) -> None:
    label(judged, "ada", {"t0": ["yes"], "t1": ["yes"]})
    path = judged.root / "good.json"
    checklist = json.loads(path.read_text())
    path.write_text(
        json.dumps(checklist | {"questions": [*checklist["questions"], {"text": "Is it short?"}]})
    )
    label(judged, "ada", {"t1": ["yes", "yes"]})
    listed = judged("list", "group").out

    assert ["stale", "1"] == listed.splitlines()[1].split()[-2:]
    assert ["1.000", "1"] == listed.splitlines()[2].split()[-2:]
    assert "1 stale" in listed
    assert "    unanswered   Is it short?" in judged("show", "group/t0").out


def test_grade_prints_the_label_of_a_run(project: Project) -> None:
    project.test("one", "from proctor import Contains\ngraders = [Contains()]\n", expected="question")
    project.run()
    checklist_file(project.root, "Is it right?")
    label(project, "ada", {"one": ["yes"]})

    assert "    label 1.000 by 1 person" in project("grade", "group").out


def test_agree_says_how_far_people_and_a_judge_agree(judged: Project) -> None:
    """Ada passes t0 to t5: of six that she passes the judge passes six, of four that she fails it fails three."""
    label(judged, "ada", {f"t{n}": ["yes" if n < 6 else "no"] for n in range(10)})
    label(judged, "bo", {f"t{n}": ["yes" if n < 5 else "no"] for n in range(10)})
    said = judged("agree", "group")
    report = judged("agree", "group", "--json").json

    assert 0 == said.code
    assert "10 of 10 runs labelled: ada 10, bo 10" in said.out
    pairs = {(pair["left"], pair["right"]): pair for pair in report["pairs"]}
    assert [[5, 1], [0, 4]] == pairs["ada", "bo"]["matrix"]
    assert pytest.approx(0.8) == pairs["ada", "bo"]["kappa"]["value"]
    assert [[6, 1], [0, 3]] == pairs["judge", "ada"]["matrix"]
    assert (1.0, 0.75) == (
        pairs["judge", "ada"]["sensitivity"]["value"],
        pairs["judge", "ada"]["specificity"]["value"],
    )
    assert [("group/t5", "ada", "yes", "bo", "no")] == [
        (one["run"], one["left"], one["left_said"], one["right"], one["right_said"])
        for one in report["disagreements"]
        if one["left"] == "ada"
    ]
    assert "group/t5  " in said.out
    for by in ("grader", "annotator"):
        assert 0 == judged("agree", "group", "--by", by).code


def test_a_judge_that_nobody_has_checked_is_unmeasured(judged: Project) -> None:
    """And a job that measured nothing is inconclusive."""
    said = judged("agree", "group")

    assert 3 == said.code
    assert "unmeasured: " in said.out


def test_drift_is_the_agreement_of_each_revision(judged: Project) -> None:
    """The judge's second revision says the same as people, the first one did not of t6."""
    from proctor.stores.rundir import RunDir

    for n in range(10):
        grade_run(
            RunDir(judged.root / "group" / f"t{n}"),
            {"judge": float(n < 6)},
            round_id="2",
            revision="judge@2:m",
        )
    label(judged, "ada", {f"t{n}": ["yes" if n < 6 else "no"] for n in range(10)})
    report = judged("agree", "group", "--json").json

    assert [("judge@1:m", 0.9, False), ("judge@2:m", 1.0, True)] == [
        (one["revision"], one["agreement"]["value"], one["is_in_force"]) for one in report["standings"]
    ]


def test_labels_that_were_chosen_correct_nothing(judged: Project) -> None:
    label(judged, "ada", {"t0": ["yes"], "t9": ["no"]})
    said = judged("agree", "group")

    assert "corrected  " not in said.out
    assert "draw a random sample with `proctor label --sample N`" in said.out


def test_a_random_sample_corrects_the_judges_number(project: Project) -> None:
    """200 runs; the judge passes 150, and half of those that it passes are wrong on the sample."""
    for n in range(200):
        grade_run(make_run(project.root / "group", f"t{n:03}"), {"judge": float(n % 4 != 0)})
    checklist_file(project.root, {"text": "Is it right?", "grader": "judge"})
    truth = {f"t{n:03}": ["yes" if n % 4 in (1, 2) and n % 8 != 2 else "no"] for n in range(200)}
    label(project, "ada", truth, "--sample", "60")
    (found,) = project("agree", "group", "--json").json["corrected"]

    assert (60, 0, 200, 0.75) == (
        found["labelled"],
        found["missing"],
        found["population"],
        found["raw"]["value"],
    )
    for estimate in (found["corrected"], found["rogan_gladen"]):
        low, high = estimate["interval"]["low"], estimate["interval"]["high"]
        assert low < 0.375 < high < 0.75
    said = project("agree", "group").out
    assert "the grader alone  0.750" in said
    assert "60 runs of a random sample" in said


def test_a_sheet_and_a_terminal_are_not_asked_for_at_once(judged: Project) -> None:
    said = judged("label", "group", "--checklist", "good.json", "--export", "a.csv", "--import", "a.csv")

    assert 1 == said.code


def test_a_missing_checklist_is_said(judged: Project) -> None:
    said = judged("label", "group", "--checklist", "none.yaml", "--export", "-")

    assert 1 == said.code
    assert "There is no such file" in said.err


def test_the_checklists_folder_is_no_run_and_no_group(judged: Project) -> None:
    label(judged, "ada", {"t0": ["yes"]})
    Path(judged.root / "group/checklists").stat()

    assert 10 == len(judged("list", "group", "--json").json["groups"][0]["runs"])
    assert 0 == judged("verify", "group").code
