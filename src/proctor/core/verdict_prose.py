"""Verdicts in running text: `Score: 8/10`, `<verdict>fail</verdict>`, or a reply that is nothing but its verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from proctor.core.verdict_scale import Scale
from proctor.core.verdict_values import Misread, Reading, read_value
from proctor.core.verdict_words import INVERTED, STRONG, WEAK, Found, Kind, name_of

_THOUGHT_END: Final = re.compile(
    r"</(?:think|thinking|thoughts?|scratchpad)>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>"
    r"|<\|channel\|>\s*final\s*<\|message\|>",
    re.IGNORECASE,
)
_THOUGHT_START: Final = re.compile(
    r"<(?:think|thinking|thoughts?|scratchpad)>|\[THINK\]|◁think▷|<\|begin_of_thought\|>"
    r"|<\|channel\|>\s*analysis\s*<\|message\|>",
    re.IGNORECASE,
)
_END_TOKEN: Final = re.compile(r"(?:\s|<\|(?:end|return|im_end|eot_id|endoftext)\|>|</s>|<end_of_turn>)+$")
_SPACED: Final = {
    "finalscore": "final score", "overallscore": "overall score", "totalscore": "total score", "ispass": "is pass",
    "finalrating": "final rating", "overallrating": "overall rating", "finalgrade": "final grade",
    "finalverdict": "final verdict", "iscorrect": "is correct", "goalmet": "goal met", "meetsgoal": "meets goal",
    "finaljudgment": "final judgment", "finaldecision": "final decision", "finalchoice": "final choice",
    "finalanswer": "final answer",
}  # fmt: skip
_WEAK_IN_PROSE: Final = frozenset({"answer", "finalanswer", "result", "结果", "答案"})
_MARKUP: Final = r"[\s*_`\"'“”|]{0,8}"
_NUMBER: Final = r"[-+]?(?:\d{1,9}(?:[.,]\d{1,9})?|\.\d{1,9})"
_AMOUNT: Final = re.compile(
    rf"[\s*_`\"'“”(\[{{<$\\]{{0,8}}({_NUMBER}(?:\s?(?:/|out of|of)\s?\d{{1,6}}(?:\.\d{{1,3}})?|\s?%)?)"
    r"(?![\w/%]|[.,]\d|\s?(?:-|–|~|to|or|或|至)\s?\d|\s?/)"
)
# `Score: 5 is too generous` and `I give 3 reasons` go on in a way that makes the number something else.
_AFTER_AMOUNT: Final = re.compile(
    r"[^\S\n]*[*_`\"'”)\]}$]*[^\S\n]*"
    r"(?:$|[.,;:!?。，；：！|<(\[\n—–-]|(?:because|since|as|for|due|given|overall|points?|pts|stars?)\b|分|星)"
)
_SAID: Final = re.compile(
    rf"\bI(?:'d|’d| would| will|'ll|’ll)?\s(?:give|rate|score|assign|award)\b[^.\n\d]{{0,60}}?({_AMOUNT.pattern})"
    rf"|\b(?:deserves|merits|earns|gets|receives)\b[^.\n\d]{{0,40}}?({_NUMBER}\s?(?:/|out of)\s?\d{{1,6}})"
    r"(?![\w/]|[.,]\d)"
    rf"|\b(?:score|rating)\sof\s({_AMOUNT.pattern})",
    re.IGNORECASE,
)
_TAGGED: Final = re.compile(r"<([A-Za-z_]{2,20})>\s{0,9}([^<>]{1,80}?)\s{0,9}</\1>")
_BOXED: Final = re.compile(r"\\boxed\{(?:\\text\{)?([^{}\n]{1,40})\}|\[\[([^\[\]\n]{1,40})\]\]")
_PHRASE_END: Final = re.compile(
    r"[.,;:!。，；：！()（）|\"“”\n]|\s[-–—]|[–—]|\s(?:because|since|as|due|with|for|but|given)\s"
)
_REFUSAL: Final = re.compile(
    r"\bI(?:'m|’m| am)? (?:sorry|can(?:'t|’t|not)|unable|not able|won(?:'t|’t)|will not|(?:must )?decline|apologi[sz]e)"
    r"|\bas an ai\b|\bagainst my (?:guidelines|policy|policies)|\bI(?:'m|’m| am) not (?:comfortable|allowed|permitted)"
    r"|抱歉|对不起|无法(?:协助|提供|评|回答|满足|完成)|不能(?:协助|提供|回答)|我拒绝"
    r"|\bje ne peux pas\b|\blo siento\b|\bich kann (?:das |dies |hier )?nicht\b",
    re.IGNORECASE,
)


def without_thoughts(reply: str) -> str | None:
    """What is said after the last thought; None when the reply ends in the middle of one."""
    ends = [found.end() for found in _THOUGHT_END.finditer(reply)]
    after = ends[-1] if ends else 0
    if _THOUGHT_START.search(reply, after) is not None:
        return None
    spoken = reply[after:]
    return (spoken[:-200] + _END_TOKEN.sub("", spoken[-200:])).strip()


def looks_like_refusal(text: str) -> bool:
    """Whether a model says, near the beginning, that it will not."""
    return _REFUSAL.search(text[:400]) is not None


def labelled(prose: str, scale: Scale) -> Iterator[Found]:
    """Verdicts that the text names: by a line, a tag, a box."""
    for found in _label_pattern(scale.kind).finditer(prose):
        name = name_of(found[1] or found[2])
        rest = prose[found.end() : found.end() + 240]
        rest = rest.lstrip(" \t*_`:：")
        line = rest.split("\n", 1)[0]
        if not line.strip(" \t*_#`|-"):
            line = next((text for text in rest.split("\n") if text.strip(" \t*_#`|-")), "")
            if len(line) > 60:
                continue
        read = _from_phrase(line, scale)
        if read is not None:
            read = _turned(read) if name in INVERTED and scale.kind == "binary" else read
            yield Found(read, name in STRONG[scale.kind])
    for found in _TAGGED.finditer(prose):
        if name_of(found[1]) in STRONG[scale.kind] or name_of(found[1]) in WEAK[scale.kind]:
            yield Found(read_value(found[2], scale), name_of(found[1]) in STRONG[scale.kind])
    for found in _BOXED.finditer(prose):
        read = read_value(found[1] or found[2], scale)
        yield Found(read, is_strong=isinstance(read, Reading))


def bare(prose: str, scale: Scale, *, has_labels: bool) -> Iterator[Found]:
    """Verdicts without a name: a first or last line that is one, and what a sentence gives in so many words."""
    lines = [line for line in prose.split("\n") if line.strip(" \t*_#`|-")]
    if not lines:
        return
    for line in dict.fromkeys((lines[0], lines[-1])):
        if len(line) <= 80:
            read = read_value(line, scale)
            if isinstance(read, Reading) or (len(lines) == 1 and read.kind != "off_list"):
                yield Found(read)
                continue
        if line is lines[0] and (leading := _leading(line, scale, has_labels=has_labels)) is not None:
            yield Found(leading)
    if scale.kind == "score":
        for found in _SAID.finditer(prose):
            amount = next(group for group in found.groups()[::-1] if group)
            if _AFTER_AMOUNT.match(prose, found.end()):
                yield Found(read_value(amount.strip(" \t*_`\"'“”([{<$\\"), scale))


def _leading(line: str, scale: Scale, *, has_labels: bool) -> Reading | None:
    """`Yes, it does.`, `B. The second is shorter.`, `8/10 - nearly`: the verdict, then reasons."""
    if scale.kind == "score":
        found = re.match(rf"[\s*_`#]{{0,8}}({_NUMBER}\s?(?:/\s?\d{{1,6}}|%))(?![\w/]|[.,]\d)", line)
        read = None if found is None else read_value(found[1], scale)
        return read if isinstance(read, Reading) else None
    end = _PHRASE_END.search(line, len(line) - len(line.lstrip()))
    if end is None or (has_labels and end[0] in ":："):
        return None
    read = read_value(line[: end.start()], scale)
    return read if isinstance(read, Reading) else None


def _from_phrase(line: str, scale: Scale) -> Reading | Misread | None:
    """What stands behind a name: the whole line, or its beginning up to where reasons start."""
    whole = read_value(line.strip()[:120], scale)
    if isinstance(whole, Reading) or whole.kind in ("contradiction", "out_of_range"):
        return whole
    if scale.kind == "score":
        amount = _AMOUNT.match(line)
        if amount is not None and _AFTER_AMOUNT.match(line, amount.end()):
            return read_value(amount[1], scale)
        return whole if len(line) <= 60 else None
    for end in _PHRASE_END.finditer(line[:120]):
        if line[: end.start()].strip(" \t*_`\"'“”"):
            read = read_value(line[: end.start()], scale)
            return read if isinstance(read, Reading) else Misread(read.kind, read.reason)
    return whole if len(line) <= 120 else None


def _turned(read: Reading | Misread) -> Reading | Misread:
    return read if isinstance(read, Misread) else Reading(1.0 - read.value, "fail" if read.value else "pass")


@cache
def _label_pattern(kind: Kind) -> re.Pattern[str]:
    names = [*STRONG[kind], *(name for name in WEAK[kind] if name in _WEAK_IN_PROSE)]
    spelled = sorted((_SPACED.get(name, name).replace(" ", "[ _]?") for name in names), key=len, reverse=True)
    any_name = "|".join(spelled)
    sure = {
        "score": "score|rating",
        "binary": "verdict|judge?ment|decision",
        "choices": "verdict|choice|winner|decision",
    }
    return re.compile(
        rf"(?<!\w)({any_name}){_MARKUP}(?:[:=：]|->|→|\|)"
        rf"|(?<!\w)({sure[kind]}){_MARKUP}(?:\s(?:is|would be|should be)\b|[—–-](?=\s)|\n)",
        re.IGNORECASE,
    )
