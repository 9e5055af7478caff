"""The model that the documentation asks: a scripted one with simple tastes, so that its pages show what happens.

It prefers work that holds what is expected, then the shorter one; and gives full marks to work that holds it. Where
nothing is expected, the last word of the goal must be there.
"""

from __future__ import annotations

import json
import re

from tests.judging.scripted_server import Asked

PROVIDER = "example"
MODEL = "example/judge"


def example(asked: Asked) -> str:
    """The verdict of the documentation's judge."""
    verdict = set((asked.schema or {}).get("properties", {})) - {"reasoning"}
    if verdict == {"choice"} and _data(asked.prompt, "first output") is not None:
        return _preference(asked)
    good = _holds(_data(asked.prompt, "output") or "", asked.prompt)
    said = "It says what was expected." if good else "What was expected is not there."
    return json.dumps(
        {"reasoning": said, **({"pass": good} if "pass" in verdict else {"score": float(good)})}
    )


def _preference(asked: Asked) -> str:
    works = {side: _data(asked.prompt, f"{side} output") or "" for side in ("first", "second")}
    rank = {side: (not _holds(work, asked.prompt), len(work)) for side, work in works.items()}
    if rank["first"] == rank["second"]:
        return json.dumps({"reasoning": "Neither is better.", "choice": "tie"})
    better = min(rank, key=lambda side: rank[side])
    right = {side: not wrong for side, (wrong, _) in rank.items()}
    why = "Only this one is right." if right["first"] != right["second"] else "As right, and shorter."
    return json.dumps({"reasoning": why, "choice": better})


def _data(prompt: str, name: str) -> str | None:
    found = re.search(rf"<<<BEGIN {name} (\w+)>>>\n(.*?)\n<<<END {name} \1>>>", prompt, re.DOTALL)
    return None if found is None else found[2]


def _holds(work: str, prompt: str) -> bool:
    wanted = _data(prompt, "expected")
    if wanted is None:
        goal = re.search(r"has set:\n(.*)\n", prompt)
        wanted = goal[1].rstrip(".").split()[-1] if goal is not None else ""
    return wanted.casefold() in work.casefold()
