"""One trial, as the engine runs it."""

import os
from collections.abc import Callable

import pytest

from proctor.host.cancel import Cancel
from proctor.host.place import Place
from proctor.ports import Surroundings
from proctor.records.run import Attempt, Limits
from proctor.records.suite import Test

TEST = Test(id="t")
LIMITS = Limits(timeout_s=10)
HERE = Surroundings(environment=dict(os.environ))


@pytest.fixture
def place_for(tmp_path) -> Callable[[Test], Place]:
    """Makes the place of a trial."""
    work_root = tmp_path / "work"
    work_root.mkdir()
    return lambda test: Place.create(work_root, test, {"PATH": os.environ["PATH"], "HOME": str(tmp_path)})


@pytest.fixture
def attempt(place_for) -> Callable[..., Attempt]:
    """Prepares an agent for one test, and runs it once."""

    def once(agent, test=TEST, limits=LIMITS, cancel=None, place=None) -> Attempt:
        cancel = cancel or Cancel()
        try:
            agent.prepare([test], HERE)
            return agent.attempt(test, place or place_for(test), limits, cancel)
        finally:
            agent.close()
            cancel.close()

    return once
