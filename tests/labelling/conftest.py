"""A group of three runs, a checklist, and somebody who labels."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from proctor.engine.label_sessions import LabelRequest, start_session
from proctor.engine.labelling import Session
from tests.labelling.builders import AT, checklist_file, make_run

Open = Callable[..., Session]


@pytest.fixture
def group(tmp_path: Path) -> Path:
    """Three runs: a, b, c."""
    for name in ("a", "b", "c"):
        make_run(tmp_path / "group", name, output=f"answer {name}", files={"notes.txt": f"notes of {name}\n"})
    return tmp_path / "group"


@pytest.fixture
def checklist(tmp_path: Path) -> Path:
    """Two questions of yes or no, the second of weight 3."""
    return checklist_file(tmp_path, "Is it right?", {"text": "Is it polite?", "weight": 3})


@pytest.fixture
def open_session(group: Path, checklist: Path) -> Iterator[Open]:
    """Opens sessions, and closes them at the end; time passes by a second with every look at the clock."""
    opened: list[Session] = []

    def opening(*paths: Path, file: Path = checklist, annotator: str = "ada", **options: object) -> Session:
        seconds = itertools.count()
        request = LabelRequest(paths=paths or (group,), file=file, annotator=annotator, **options)  # type: ignore[arg-type]
        session = start_session(request, now=lambda: AT, clock=lambda: float(next(seconds)))
        opened.append(session)
        return session

    yield opening
    for session in opened:
        session.close()


def answer_all(session: Session, answer: bool = True) -> None:
    """Answer every live question of the current run."""
    for question in session.live:
        session.answer(question.id, answer)
