"""A process that forks for each case, works in a labelling session, and can be killed at any storage call.

Started as `python -m tests.labelling.killed`; requests and answers are lines of JSON on its standard streams.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from pathlib import Path
from typing import Any

from proctor.engine.label_sessions import LabelRequest, start_session
from proctor.engine.labelling import Session
from tests.labelling.builders import AT
from tests.stores.killing import Storage

ADDED = "Is it short?"


def work(root: Path, *, annotator: str = "ada") -> None:
    """Label everything: the first run, then a further question with the second, then whatever is left.

    What is done already is not done again, so that it goes on from wherever it was killed.
    """
    seconds = itertools.count()
    request = LabelRequest(paths=(root / "group",), file=root / "good.json", annotator=annotator)
    session = start_session(request, now=lambda: AT, clock=lambda: float(next(seconds)))
    try:
        has_added = any(question.text == ADDED for question in session.questions)
        if not has_added:
            session.go(0)
            _sign(session)
            session.go(1)
            session.note("a note")
            session.add_question(ADDED)
        session.go(1)
        _sign(session)
        while session.go_on():
            _sign(session)
    finally:
        session.close()


def _sign(session: Session) -> None:
    state = session.state()
    for question in session.live:
        if question.id not in state.answers:
            session.answer(question.id, session.current.name != "b")
    session.sign_off()


def _be_the_case(case: dict[str, Any]) -> None:
    storage = Storage(case["kill_at"], case["when"], Path(case["log"]))
    storage.install()
    work(Path(case["root"]))
    if case["kill_at"] is None:
        Path(case["log"]).write_text(json.dumps(storage.seen))


def serve() -> None:
    """Answer requests until standard input ends."""
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            code = 99
            try:
                _be_the_case(json.loads(line))
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
