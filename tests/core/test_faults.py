"""One table of faults: whose each ending is, who scores it, what it is counted as, and what runs it again."""

from __future__ import annotations

import errno
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.faults import TABLE, End, FaultRule, decide, kind_of_error, owner_of, row_of
from proctor.errors import ModelErrorKind
from proctor.records.fault import Owner
from proctor.records.grade import Defect
from proctor.records.run import Ending

ROWS = {
    Ending.OK: ("agent", "graders", "graded", False),
    Ending.ERROR: ("agent", "zero", "errored", False),
    Ending.TIMEOUT: ("agent", "zero", "errored", False),
    Ending.COST_CAP: ("agent", "zero", "errored", False),
    Ending.TOKEN_CAP: ("agent", "zero", "errored", False),
    Ending.OUTPUT_CAP: ("agent", "zero", "errored", False),
    Ending.DISK_CAP: ("agent", "zero", "errored", False),
    Ending.KILLED: ("agent", "zero", "errored", False),
    Ending.INTERRUPTED: ("operator", "nobody", "interrupted", True),
    Ending.HARNESS_FAILURE: ("harness", "nobody", "harness_failures", True),
}
KINDS = {
    "no-program": ("harness", False),
    "disk-full": ("harness", True),
    "no-resources": ("harness", True),
    "fixture": ("test", False),
    "no_key": ("harness", False),
    "missing_extra": ("harness", False),
    "not_found": ("harness", False),
    "bad_request": ("harness", False),
    "auth": ("provider", False),
    "out_of_credit": ("provider", False),
    "rate_limit": ("provider", True),
    "unavailable": ("provider", True),
    "timeout": ("provider", True),
    "unreachable": ("provider", True),
    "ZygoteDied": ("harness", True),
}


@pytest.mark.parametrize("ending", list(Ending))
def test_every_ending_has_a_row_that_fits_what_the_ending_says_of_itself(ending: Ending) -> None:
    """An ending that is evidence is the agent's, is scored, and is not run again unasked; no other is."""
    row = row_of(ending)

    assert ROWS[ending] == (row.owner.value, row.scored_by, row.counted, row.is_resumed)
    assert ending.is_evidence == (row.owner is Owner.AGENT) == (row.scored_by != "nobody")


@pytest.mark.parametrize("kind", KINDS)
def test_a_failure_that_is_not_the_agents_has_an_owner_by_its_kind(kind: str) -> None:
    """Whichever it is: nobody scores it, `--resume` runs it again, and it is never a zero."""
    ruling = decide(End(ending=Ending.HARNESS_FAILURE, defect=Defect(type=kind, message="it is so")))
    assert ruling.fault is not None

    assert (Ending.HARNESS_FAILURE, *KINDS[kind]) == (ruling.ending, ruling.fault.owner, ruling.fault.retry)
    assert ("nobody", "harness_failures", True) == (
        row_of(ruling.ending, kind).scored_by,
        row_of(ruling.ending, kind).counted,
        row_of(ruling.ending, kind).is_resumed,
    )


def test_every_way_in_which_a_model_does_not_answer_has_a_row_of_its_own() -> None:
    """None of them falls into the row for everything else."""
    named = {kind for row in TABLE for kind in row.kinds}

    assert set() == set(get_args(ModelErrorKind)) - named


def test_no_kind_stands_in_two_rows_and_every_ending_ends_with_a_row_for_all_others() -> None:
    """So that the table has one answer, whatever the order of its rows."""
    pairs = [(row.ending, kind) for row in TABLE for kind in (row.kinds or ("",))]

    assert sorted(set(pairs)) == sorted(pairs)
    assert set(Ending) == {row.ending for row in TABLE if not row.kinds}


OUT_OF_CREDIT = FaultRule(
    owner=Owner.PROVIDER,
    kind="out_of_credit",
    exit_codes=(1,),
    stderr="insufficient_quota",
    origin="proctor.toml: faults 1",
)
PRINTED = {"stdout": "", "stderr": "Error: Insufficient_Quota, see your plan"}
QUOTA = End(
    ending=Ending.ERROR,
    defect=Defect(type="exit-code", message="code 1"),
    exit_code=1,
    tail=PRINTED.__getitem__,
)


def test_a_rule_of_the_settings_makes_an_error_a_fault_of_the_provider() -> None:
    """It is inconclusive then, and the record says by which rule, and how it had ended by itself."""
    ending, fault = decide(QUOTA, [OUT_OF_CREDIT]).ending, decide(QUOTA, [OUT_OF_CREDIT]).fault
    assert fault is not None

    assert (Ending.HARNESS_FAILURE, Owner.PROVIDER, "out_of_credit") == (ending, fault.owner, fault.kind)
    assert ("proctor.toml: faults 1", "error") == (fault.rule, fault.ended)


def change(**fields: object) -> End:
    return End(**({name: getattr(QUOTA, name) for name in QUOTA.__struct_fields__} | fields))  # pyright: ignore


@pytest.mark.parametrize(
    "end",
    [
        change(exit_code=2),
        change(ending=Ending.TIMEOUT),
        change(tail=lambda stream: "insufficient_quota" if stream == "stdout" else ""),
    ],
    ids=["another exit code", "another ending", "another stream"],
)
def test_all_that_a_rule_names_has_to_hold(end: End) -> None:
    """Else the table decides: the agent's own."""
    assert (end.ending, None) == tuple(
        getattr(decide(end, [OUT_OF_CREDIT]), name) for name in ("ending", "fault")
    )


def test_the_first_rule_that_holds_decides() -> None:
    """A rule for the agent keeps what a later one would take from it, and takes a failure back to it."""
    mine = FaultRule(owner=Owner.AGENT, kind="its own", endings=(Ending.ERROR, Ending.HARNESS_FAILURE))
    broken = End(ending=Ending.HARNESS_FAILURE, defect=Defect(type="x", message="y"))

    assert decide(QUOTA, [mine, OUT_OF_CREDIT]).fault is None
    assert (Ending.ERROR, None) == (decide(broken, [mine]).ending, decide(broken, [mine]).fault)


def test_what_was_printed_is_read_only_where_a_rule_wants_it() -> None:
    """A million trials that ended well cost no look at their streams."""

    def never(_: str) -> str:
        raise AssertionError("nobody asked for it")

    assert Ending.OK is decide(End(ending=Ending.OK, tail=never), [OUT_OF_CREDIT]).ending


@given(st.sampled_from(list(Ending)), st.sampled_from([*KINDS, "exit-code", "anything"]))
def test_a_fault_and_an_ending_that_says_nothing_about_the_agent_go_together(
    ending: Ending, kind: str
) -> None:
    """Also for what is recorded, and read a year later."""
    ruling = decide(End(ending=ending, defect=Defect(type=kind, message="")))

    assert (ruling.fault is None) == (ruling.ending is not Ending.HARNESS_FAILURE)
    assert owner_of(ruling.ending, ruling.fault, kind) is owner_of(ending, None, kind)


@pytest.mark.parametrize(
    ("error", "at_start", "kind"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), False, "disk-full"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), True, "disk-full"),
        (OSError(errno.EAGAIN, "Resource temporarily unavailable"), True, "no-resources"),
        (MemoryError(), False, "no-resources"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory"), True, "no-program"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory"), False, "FileNotFoundError"),
        (ValueError("x"), False, "ValueError"),
    ],
)
def test_an_exception_around_an_agent_is_of_a_kind(error: BaseException, at_start: bool, kind: str) -> None:
    """A full disk and a machine without resources are told apart from a defect of proctor's own."""
    assert kind == kind_of_error(error, at_start=at_start)
