"""A labelling session: every action is saved, signing off is deliberate, and going on is where one stopped."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from proctor.errors import StoreError, UsageError
from proctor.records.run import Ending
from proctor.records.suite import Test
from tests.labelling.builders import checklist_file, grade_run, make_run, rows_of
from tests.labelling.conftest import Open, answer_all


def test_a_run_that_is_signed_off_has_one_row_with_every_answer(group: Path, open_session: Open) -> None:
    session = open_session()
    right, polite = session.live
    session.answer(right.id, True)
    session.answer(polite.id, None)
    session.note("fine, I think")

    assert session.sign_off()
    (row,) = rows_of(group / "a")
    assert {right.id: True, polite.id: None} == row["answers"]
    assert ("ada", "fine, I think", 1) == (row["annotator"]["id"], row["note"], row["version"])
    assert ["Is it right?", "Is it polite?"] == [question["text"] for question in row["questions"]]
    assert "labelled" == session.state(0).status


def test_nothing_is_signed_off_while_a_question_is_unanswered(group: Path, open_session: Open) -> None:
    """An untouched question is no answer, and never a no."""
    session = open_session()
    session.answer(session.live[0].id, True)
    with pytest.raises(UsageError, match="1 question is unanswered"):
        session.sign_off()

    assert [] == rows_of(group / "a")
    assert "begun" == session.state().status


def test_what_was_answered_is_there_again_after_the_session_was_dropped(open_session: Open) -> None:
    """Nobody closed it: a killed process does not either."""
    session = open_session()
    session.go(1)
    session.answer(session.live[0].id, False)
    session.note("to be looked at")
    for desk in session._desks.values():
        desk.close()  # what the system does with locks when the process is gone
    again = open_session()

    assert (1, "begun", "to be looked at") == (again.index, again.state().status, again.state().note)
    assert {again.live[0].id: False} == again.state().answers


def test_runs_that_are_added_to_the_group_orphan_nothing(group: Path, open_session: Open) -> None:
    """The draft is kept by run: a new run is one more that is left."""
    session = open_session()
    session.answer(session.live[0].id, True)
    session.close()
    make_run(group, "aa")
    again = open_session()

    assert ["a", "aa", "b", "c"] == [run.name for run in again.runs]
    assert ("a", {again.live[0].id: True}) == (again.current.name, again.state().answers)
    assert 4 == again.progress.left


def test_people_are_separate(group: Path, open_session: Open) -> None:
    ada, bo = open_session(), open_session(annotator="bo/../x")
    answer_all(ada, True)
    ada.sign_off()
    answer_all(bo, False)
    bo.sign_off()

    assert ["ada", "bo/../x"] == [row["annotator"]["id"] for row in rows_of(group / "a")]
    assert (2, 2) == (ada.progress.left, bo.progress.left)


def test_one_person_labels_in_one_place_at_a_time(open_session: Open) -> None:
    session = open_session()
    with pytest.raises(StoreError, match="ada is labelling with this checklist in another window"):
        open_session()
    session.close()

    assert 0 == open_session().index


def test_skipped_runs_come_again_at_the_end(open_session: Open) -> None:
    session = open_session()
    assert session.skip()
    assert ("b", 1) == (session.current.name, session.progress.skipped)
    for name in ("b", "c"):
        assert name == session.current.name
        answer_all(session)
        session.sign_off()
        session.go_on()

    assert "a" == session.current.name
    answer_all(session)
    session.sign_off()
    assert not session.go_on()
    assert (3, 0, 0) == (session.progress.labelled, session.progress.left, session.progress.skipped)


def test_going_back_and_answering_anew_appends_a_row(group: Path, open_session: Open) -> None:
    """Yes, no, yes again: three rows, and the last one stands."""
    session = open_session()
    for answer in (True, False, True):
        session.go(0)
        answer_all(session, answer)
        assert session.sign_off()

    rows = rows_of(group / "a")
    assert [True, False, True] == [next(iter(row["answers"].values())) for row in rows]
    assert 3 == len({row["id"] for row in rows})
    assert 1.0 == session.state(0).score.score


def test_signing_off_again_without_a_change_appends_nothing(group: Path, open_session: Open) -> None:
    session = open_session()
    answer_all(session)

    assert (True, False) == (session.sign_off(), session.sign_off())
    assert 1 == len(rows_of(group / "a"))


def test_an_answer_that_is_not_signed_off_can_be_taken_back(open_session: Open) -> None:
    """What was signed off before stands again."""
    session = open_session()
    first = session.live[0].id
    answer_all(session, True)
    session.sign_off()
    session.answer(first, False)
    assert "begun" == session.state().status
    session.take_back(first)

    assert (True, "labelled") == (session.state().answers[first], session.state().status)


def test_a_question_that_is_added_is_published_with_the_next_sign_off(
    group: Path, checklist: Path, open_session: Open
) -> None:
    """The runs that were labelled before are stale then."""
    session = open_session()
    answer_all(session)
    session.sign_off()
    session.go_on()
    added = session.add_question("  Is it short? ")
    lineage = session.checklist.checklist
    assert not (group / "checklists" / lineage / "2.json").exists()
    assert "stale" == session.state(0).status
    answer_all(session)
    session.sign_off()

    assert (group / "checklists" / lineage / "2.json").is_file()
    assert added.id in checklist.read_text()
    assert [2] == [row["version"] for row in rows_of(group / "b")]
    assert (1, 1, 2) == (session.progress.labelled, session.progress.stale, session.progress.left)


def test_a_question_that_is_deleted_is_asked_no_more_and_can_be_restored(
    group: Path, open_session: Open
) -> None:
    session = open_session()
    answer_all(session)
    session.sign_off()
    gone = session.live[1]
    session.toggle_deleted(gone.id)
    session.go_on()
    answer_all(session)
    session.sign_off()
    assert [session.live[0].id] == list(rows_of(group / "b")[0]["answers"])
    assert "labelled" == session.state(0).status
    session.toggle_deleted(gone.id)
    session.go_on()
    answer_all(session)
    session.sign_off()

    assert (3, "stale", "labelled") == (
        session.checklist.version,
        session.state(1).status,
        session.state(0).status,
    )


def test_without_a_live_question_there_is_nothing_to_sign_off(group: Path, open_session: Open) -> None:
    session = open_session()
    for question in session.live:
        session.toggle_deleted(question.id)

    assert not session.sign_off()
    assert [] == rows_of(group / "a")


def test_what_two_people_add_is_all_there(checklist: Path, open_session: Open) -> None:
    """The second one's session is over when the checklist has moved on; opened again, its question is kept on top."""
    ada, bo = open_session(), open_session(annotator="bo")
    ada.add_question("Is it short?")
    bo.add_question("Is it kind?")
    answer_all(ada)
    ada.sign_off()
    answer_all(bo)
    with pytest.raises(StoreError, match="published meanwhile"):
        bo.sign_off()
    again = open_session(annotator="bo")
    answer_all(again)
    again.sign_off()

    assert ["Is it right?", "Is it polite?", "Is it short?", "Is it kind?"] == [
        one.text for one in again.live
    ]
    assert 3 == json.loads(checklist.read_text())["version"]


def test_a_failure_to_save_ends_the_session_and_gives_the_checklist_free(
    group: Path, open_session: Open
) -> None:
    session = open_session()
    session.answer(session.live[0].id, True)
    drafts = next(group.glob("checklists/*/drafts"))
    shutil.rmtree(drafts)
    drafts.write_text("in the way")
    with pytest.raises(StoreError):
        session.answer(session.live[1].id, True)
    with pytest.raises(StoreError, match="the session is over"):
        session.answer(session.live[1].id, True)
    drafts.unlink()

    assert 0 == open_session().index


def test_time_is_counted_without_pauses(group: Path, open_session: Open) -> None:
    """The clock of these tests moves a second with each look: two answers and the sign-off are three seconds."""
    session = open_session()
    answer_all(session)
    session.sign_off()

    assert 3000 == rows_of(group / "a")[0]["active_ms"]


def test_a_look_at_the_grades_is_recorded(group: Path, open_session: Open) -> None:
    """Otherwise a run is labelled blind."""
    session = open_session()
    session.show_grades()
    for _ in range(2):
        answer_all(session)
        session.sign_off()
        session.go_on()

    assert [True, None] == [rows_of(group / name)[0].get("saw_grades") for name in ("a", "b")]


def test_runs_of_several_groups_are_labelled_in_one_session(
    tmp_path: Path, group: Path, open_session: Open
) -> None:
    make_run(tmp_path / "other", "x")
    session = open_session(group, tmp_path / "other")
    for _ in range(4):
        answer_all(session)
        session.sign_off()
        session.go_on()

    assert 0 == session.progress.left
    assert 1 == len(rows_of(tmp_path / "other/x"))
    assert 1 == len(rows_of(group / "c"))


def test_a_copy_of_a_run_is_not_labelled_beside_it(tmp_path: Path, group: Path, open_session: Open) -> None:
    shutil.copytree(group / "a", group / "copy")
    with pytest.raises(UsageError, match="are one run, copied"):
        open_session()


def test_runs_that_say_nothing_about_the_agent_are_left_out_and_counted(
    group: Path, open_session: Open
) -> None:
    make_run(group, "stopped", ending=Ending.INTERRUPTED)
    make_run(group, "broken", ending=Ending.HARNESS_FAILURE)
    make_run(group, "late", ending=Ending.TIMEOUT)
    session = open_session()

    assert ["a", "b", "c", "late"] == [run.name for run in session.runs]
    assert any(warning.startswith("2 of the runs did not run to an end") for warning in session.warnings)


def test_a_copy_of_a_labelled_run_can_be_read_by_itself(
    tmp_path: Path, group: Path, open_session: Open
) -> None:
    """The row holds the questions that it answers."""
    from proctor.engine.reporting import read_run
    from proctor.stores.rundir import RunDir

    session = open_session()
    answer_all(session)
    session.sign_off()
    shutil.copytree(group / "a", tmp_path / "elsewhere/a")
    (line,) = read_run(RunDir(tmp_path / "elsewhere/a")).labels

    assert (1.0, ["Is it right?", "Is it polite?"]) == (line.score, [answer.text for answer in line.answers])


def test_uncertain_runs_come_first_where_that_is_asked_for(tmp_path: Path, open_session: Open) -> None:
    for name, score in (("sure", 1.0), ("near", 0.6), ("open", None)):
        grade_run(make_run(tmp_path / "graded", name), {"judge": score}, scale="scalar")
    session = open_session(tmp_path / "graded", order="uncertain")

    assert ["open", "near", "sure"] == [run.name for run in session.runs]


def test_a_sample_is_drawn_once_and_gone_on_with(tmp_path: Path, open_session: Open) -> None:
    """Runs that were added since could not be drawn, and are counted; another seed draws anew."""
    group = tmp_path / "many"
    for n in range(20):
        make_run(group, f"r{n:02}")
    first = open_session(group, sample=5)
    names = [run.name for run in first.runs]
    answer_all(first)
    first.sign_off()
    first.close()
    make_run(group, "new")
    again = open_session(group, sample=5)

    assert names == [run.name for run in again.runs]
    assert any("1 runs were added since" in warning for warning in again.warnings)
    again.close()
    assert names != [run.name for run in open_session(group, sample=5, seed=1).runs]
    (path, _) = sorted(group.glob("checklists/*/samples/*.json"), key=lambda one: "r" + one.read_text()[:1])
    kept = json.loads(path.read_text())
    assert (5, kept["id"]) == (len(kept["runs"]), path.stem)
    assert kept["id"] in {row["sample"] for name in names for row in rows_of(group / name)} | {kept["id"]}


def test_a_sample_larger_than_what_there_is_is_refused(open_session: Open) -> None:
    with pytest.raises(UsageError, match="there are 3 runs"):
        open_session(sample=4)


def test_trials_are_runs_of_their_own(tmp_path: Path, open_session: Open) -> None:
    test = Test(id="t", input="x")
    for trial in (1, 2):
        make_run(tmp_path / "trials", f"t--{trial}", test=test, trial=trial)

    assert ["t--1", "t--2"] == [run.name for run in open_session(tmp_path / "trials").runs]


def test_a_scale_and_a_choice_take_their_own_answers_only(tmp_path: Path, open_session: Open) -> None:
    file = checklist_file(
        tmp_path,
        {"text": "How warm?", "kind": "scale", "points": 3},
        {"text": "What tone?", "kind": "choice", "choices": ["kind", "rude"]},
        name="other",
    )
    session = open_session(file=file)
    warm, tone = session.live
    for question, answer in ((warm, 4), (warm, True), (warm, "2"), (tone, "nice"), (tone, 1)):
        with pytest.raises(ValueError, match="no answer"):
            session.answer(question.id, answer)
    session.answer(warm.id, 3)
    session.answer(tone.id, "kind")

    assert (True, 1.0) == (session.sign_off(), session.state(0).score.score)
