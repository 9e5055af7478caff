"""Rules of a project that say whose fault it is when a trial ends in a certain way: `[[tool.proctor.faults]]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from proctor.core.faults import FaultRule
from proctor.loading.check import checked
from proctor.loading.faults import Faults, Spot, listed, shown
from proctor.loading.fields import TEXT, WORDS, Field
from proctor.loading.json_types import is_list, is_object
from proctor.records.fault import Owner
from proctor.records.json_value import Json
from proctor.records.run import Ending

OWNERS: Final = tuple(owner.value for owner in Owner if owner is not Owner.OPERATOR)
ENDINGS: Final = tuple(ending.value for ending in Ending if ending is not Ending.INTERRUPTED)
CONDITIONS: Final = ("exit_code", "stdout", "stderr", "message")

FAULT_RULE_FIELDS: Final = (
    Field("owner", TEXT, f"one of {listed(OWNERS)}", '"provider"', "Whose fault it is.", True),
    Field("kind", TEXT, "a short word", '"out_of_credit"', "What it is, in a short word.", True),
    Field(
        "endings",
        WORDS,
        "a list of endings",
        '["error", "timeout"]',
        'How the trial ended; ["error"] when absent.',
    ),
    Field("exit_code", {"type": "integer"}, "a whole number", "1", "The command's exit code."),
    Field("stdout", TEXT, "text, not empty", '"credit balance"', "A text in the end of standard output."),
    Field("stderr", TEXT, "text, not empty", '"insufficient_quota"', "A text in the end of standard error."),
    Field("message", TEXT, "text, not empty", '"connection reset"', "A text in what went wrong."),
    Field("retry", {"type": "boolean"}, "true or false", "true", "`--retries` makes such a trial again."),
)


def note_wrong_rules(rules: Json, spot: Spot, faults: Faults) -> None:
    """Note every fault in what somebody wrote under `faults`; None is nothing."""
    for index, rule in enumerate(rules if is_list(rules) else ()):
        place = spot.at(index)
        if not is_object(rule):
            continue  # what is no object was noted when the list was looked at
        good = checked(rule, FAULT_RULE_FIELDS, place, faults, of="a rule of faults")
        for name in ("owner", "kind"):
            if name not in rule:
                faults.note(
                    place, f"{place.field} has no {name}.", f"Add for example {name} = {_EXAMPLES[name]}."
                )
        if "owner" in good and good["owner"] not in OWNERS:
            said = place.at("owner")
            faults.note(said, f"{said.field} is {shown(good['owner'])}.", f"Write one of {listed(OWNERS)}.")
        for number, ending in enumerate(good.get("endings", ())):
            if ending not in ENDINGS:
                said = place.at("endings", number)
                faults.note(said, f"{said.field} is {shown(ending)}.", f"Write one of {listed(ENDINGS)}.")
        if not any(name in rule for name in CONDITIONS):
            faults.note(
                place,
                f"{place.field} says of no trial that it is about it.",
                f"Add at least one of {listed(CONDITIONS)}.",
            )


def fault_rules(rules: Json, label: str) -> tuple[FaultRule, ...]:
    """The rules that a project's settings hold, which were checked when they were read.

    label: the file that they stand in, for the record.
    """
    return tuple(
        _rule(rule, f"{label} faults[{number}]")
        for number, rule in enumerate(rules if is_list(rules) else ())
        if is_object(rule)
    )


def _rule(written: Mapping[str, Any], origin: str) -> FaultRule:
    code = written.get("exit_code")
    return FaultRule(
        owner=Owner(written["owner"]),
        kind=written["kind"],
        endings=tuple(map(Ending, written.get("endings", (Ending.ERROR,)))),
        exit_codes=() if code is None else (int(code),),
        stdout=written.get("stdout"),
        stderr=written.get("stderr"),
        message=written.get("message"),
        retry=written.get("retry", False),
        origin=origin,
    )


_EXAMPLES: Final = {field.name: field.example for field in FAULT_RULE_FIELDS}
