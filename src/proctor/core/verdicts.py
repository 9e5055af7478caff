"""The verdict in a language model's reply, or the reason why there is none.

A verdict is never made up. What cannot be read, is off the scale, or says two things is `Unreadable`, and whoever
asked may ask once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from proctor.core.loose_json import Pairs, loose_objects
from proctor.core.verdict_objects import found_in, reasoning_in, strict_pairs
from proctor.core.verdict_prose import bare, labelled, looks_like_refusal, without_thoughts
from proctor.core.verdict_scale import BINARY, UNIT, Scale
from proctor.core.verdict_values import Misread, Reading, Trouble
from proctor.core.verdict_words import Found, settled

__all__ = ["BINARY", "MAX_LENGTH", "UNIT", "Scale", "Trouble", "Unreadable", "Verdict", "read_verdict"]

MAX_LENGTH: Final = 100_000
"""Characters of a reply that are read; no verdict is that long."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge found.

    Attributes:
        value: 0 (worst) to 1 (best), wherever the scale begins and ends; a binary one is 0 or 1.
        passed: what a binary one says; None on other scales.
        label: the choice, `pass` or `fail`, or the number as the judge gave it.
        reasoning: what the judge says for it; empty when nothing.
    """

    value: float
    passed: bool | None
    label: str
    reasoning: str


class Unreadable(msgspec.Struct, frozen=True, kw_only=True):
    """A reply without a verdict.

    Attributes:
        kind: what is wrong, in a word.
        reason: what is wrong, in a sentence.
    """

    kind: Trouble
    reason: str


def read_verdict(text: str, scale: Scale, *, is_cut: bool = False) -> Verdict | Unreadable:
    """The verdict of a reply, read as tolerantly as is safe.

    JSON counts first, loosely read, then what the text names (`Score: 8/10`, `<verdict>pass</verdict>`); only where
    no object has a verdict, also a first or last line that is one. Whatever counts must agree. Thoughts (`<think>`)
    do not count. Takes time in proportion to the length.

    text: the reply as it came.
    is_cut: the provider says that it ran into a limit; then its last line is not believed.

    >>> read_verdict('Sure! {"score": 0.8, "reasoning": "Nearly."}', UNIT).value
    0.8
    >>> read_verdict("Score: 8/10, or rather Score: 2/10", UNIT).kind
    'contradiction'
    """
    if len(text) > MAX_LENGTH:
        reason = f"the reply has {len(text):,} characters, and at most {MAX_LENGTH:,} are read"
        return Unreadable(kind="no_verdict", reason=reason)
    reply = text.replace("\ufeff", "").replace("\u200b", "").replace("\xa0", " ").strip()
    if not reply:
        return Unreadable(kind="empty", reason="the reply is empty")
    if (whole := strict_pairs(reply)) is not None:
        return _verdict(found_in(whole, scale), scale, reasoning_in(whole), reply)
    spoken = without_thoughts(reply)
    if spoken is None:
        return Unreadable(kind="cut", reason="the reply ends in the middle of its thoughts")
    if not spoken:
        return Unreadable(kind="empty", reason="the reply has thoughts, and no answer after them")
    return _read_text(spoken, scale, is_cut=is_cut)


def _read_text(text: str, scale: Scale, *, is_cut: bool) -> Verdict | Unreadable:
    objects = list(loose_objects(text))
    if not objects and '\\"' in text:
        text = text.replace('\\"', '"').replace("\\n", "\n")
        objects = list(loose_objects(text))
    prose = _without(text, objects)
    read_prose = prose.rpartition("\n")[0] if is_cut else prose
    found = [entry for pairs in objects for entry in found_in(pairs, scale)]
    has_object = any(isinstance(entry.read, Reading) for entry in found)
    named = list(labelled(read_prose, scale))
    found += named
    if not has_object and not (looks_like_refusal(text) and not _has_reading(found)):
        found += bare(read_prose, scale, has_labels=bool(named))
    if not _has_reading(found):
        if looks_like_refusal(text):
            return Unreadable(kind="refused", reason=f"the model refuses: {_excerpt(text)!r}")
        if is_cut or any(not pairs.is_whole for pairs in objects):
            return Unreadable(kind="cut", reason="the reply ends before its verdict")
    reasoning = next((said for pairs in objects if (said := reasoning_in(pairs))), "") or _spoken(prose)
    return _verdict(found, scale, reasoning, text)


def _verdict(found: Sequence[Found], scale: Scale, reasoning: str, text: str) -> Verdict | Unreadable:
    read = settled(found, by_label=scale.kind == "choices")
    if read is None:
        return Unreadable(kind="no_verdict", reason=f"there is no verdict in {_excerpt(text)!r}")
    if isinstance(read, Misread):
        return Unreadable(kind=read.kind, reason=read.reason)
    passed = read.value == 1 if scale.kind == "binary" else None
    # Halves of a surrogate pair that belong together become one character, others the mark of a lost one.
    storable = reasoning.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return Verdict(value=read.value, passed=passed, label=read.label, reasoning=storable)


def _has_reading(found: list[Found]) -> bool:
    return any(isinstance(entry.read, Reading) for entry in found)


def _without(text: str, objects: list[Pairs]) -> str:
    """The text with a blank line in the place of each object."""
    parts: list[str] = []
    position = 0
    for pairs in objects:
        parts += [text[position : pairs.start], "\n"]
        position = pairs.end
    return "".join([*parts, text[position:]])


def _spoken(prose: str) -> str:
    """The text around an object, without the fence in which it stood."""
    return "\n".join(line for line in prose.split("\n") if not line.lstrip().startswith("```")).strip()


def _excerpt(text: str) -> str:
    shown = " ".join(text[:400].split())
    return shown if len(shown) <= 120 else shown[:119] + "…"
