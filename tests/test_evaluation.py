"""A whole evaluation from Python: load a suite, pick an agent, run, grade, report."""

from __future__ import annotations

import pytest

import proctor
from proctor.loading import Selection
from tests.conftest import Project


def suite(project: Project) -> None:
    for name in ("a", "b"):
        project.test(
            name, "from proctor import ExactMatch\ngraders = [ExactMatch()]", input=name, expected="a"
        )


def test_five_lines_are_enough(project: Project) -> None:
    """The result is the same record that the command line draws."""
    suite(project)
    loaded = proctor.load_suite("suite")
    agent = proctor.pick_agent("agent.py:main")
    group = proctor.run(loaded, agent, out="group", trials=2, parallel=2)
    report = proctor.grade(group)

    assert (0.5, 4) == (report.mean, report.groups[0].planned)
    assert report.mean == project("list", "group", "--json").json["mean"]
    assert report == proctor.report(group)


def test_a_command_and_a_selection(project: Project) -> None:
    """What the command line can say, Python can say too."""
    suite(project)
    loaded = proctor.load_suite("suite", selection=Selection(tests=("a",)))
    group = proctor.run(loaded, proctor.pick_agent(command="printf %s {input}"), out="group")

    assert 1.0 == proctor.grade(group).mean
    assert group.summary.exit_code == 0


def test_what_cannot_be_done_raises_an_error_with_a_fix(project: Project) -> None:
    """One of ours, which says what to do."""
    suite(project)
    with pytest.raises(proctor.ProctorError) as caught:
        proctor.run(proctor.load_suite("suite"), proctor.pick_agent("agent.py:mian"), out="group")

    assert "Did you mean 'main'?" in caught.value.fix
    assert not (project.root / "group").exists()


def test_events_tell_what_happens(project: Project) -> None:
    """Planned, then started and ended for each trial."""
    suite(project)
    seen: list[str] = []
    proctor.run(
        proctor.load_suite("suite"),
        proctor.pick_agent("agent.py:crash"),
        out="group",
        on_event=lambda event: seen.append(f"{event.kind} {event.ending or ''}".strip()),
    )

    assert ["planned", "started", "ended error", "started", "ended error"] == seen
