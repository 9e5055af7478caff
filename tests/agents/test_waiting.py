"""Waiting that ends: for calls that nothing can interrupt, and for descriptors."""

from __future__ import annotations

import os
import select
import threading
import time
from pathlib import Path

import pytest

from proctor.agents.waiting import Patience, Stopped
from proctor.host.cancel import Cancel
from proctor.ports import Exceeded
from proctor.records.run import Ending


def open_descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


def settled():
    """Wait until every call that was left behind has returned."""
    until = time.monotonic() + 30
    while any(thread.name == "waiting" for thread in threading.enumerate()) and time.monotonic() < until:
        time.sleep(0.01)


def test_result_of_a_call_is_its_result_and_what_it_raises_is_raised():
    """As if it had been called here."""
    patience = Patience(60)

    assert 3 == patience.result_of(lambda: 3)
    with pytest.raises(LookupError, match="gone"):
        patience.result_of(lambda: (_ for _ in ()).throw(LookupError("gone")))


@pytest.mark.parametrize("why", ["limit", "cancel", "budget"])
def test_call_that_never_returns_is_left_behind(why):
    """The wait ends by the limit, by the operator, or by a budget; the call's thread holds nobody."""
    release, cancel = threading.Event(), Cancel()
    spent = Exceeded(ending=Ending.TOKEN_CAP, message="too many tokens")
    patience = {
        "limit": Patience(0.2),
        "cancel": Patience(600, cancel),
        "budget": Patience(600, cancel, watch=lambda: spent),
    }[why]
    if why == "cancel":
        threading.Timer(0.2, cancel.set).start()
    with pytest.raises(Stopped) as stopped:
        patience.result_of(lambda: release.wait(60))
    release.set()
    cancel.close()

    assert {"limit": Ending.TIMEOUT, "cancel": Ending.INTERRUPTED, "budget": Ending.TOKEN_CAP}[
        why
    ] is stopped.value.ending
    assert ("too many tokens" if why == "budget" else None) == (
        stopped.value.defect.message if stopped.value.defect else None
    )


def test_no_descriptor_is_left_open_by_a_call():
    """Not by one that returned, nor by one that was left behind and returned later."""
    settled()
    before = open_descriptors()
    Patience(60).result_of(lambda: 1)
    release = threading.Event()
    with pytest.raises(Stopped):
        Patience(0.05).result_of(lambda: release.wait(60))
    release.set()
    settled()

    assert before == open_descriptors()


def test_wait_may_be_for_a_part_of_the_time_only():
    """What is not ready in that time is said to be not ready, and the limit still holds."""
    reader, writer = os.pipe()
    patience = Patience(0.4)

    assert patience.wait_for(reader, select.POLLIN, at_most_s=0.05) is False
    os.write(writer, b"x")
    assert patience.wait_for(reader, select.POLLIN, at_most_s=5) is True
    os.read(reader, 1)
    with pytest.raises(Stopped):
        patience.wait_for(reader, select.POLLIN, at_most_s=60)
    os.close(reader)
    os.close(writer)


def test_limit_that_has_passed_ends_also_what_is_ready():
    """A peer that always has something to say does not prolong it."""
    reader, writer = os.pipe()
    os.write(writer, b"x")
    with pytest.raises(Stopped):
        Patience(0).wait_for(reader, select.POLLIN)
    os.close(reader)
    os.close(writer)
