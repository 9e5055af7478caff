"""The names under which language models put a verdict, and how the findings of one reply are settled."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from proctor.core.verdict_values import Misread, Reading, Trouble, words

Kind = Literal["score", "binary", "choices"]


class Found(msgspec.Struct, frozen=True):
    """One place in a reply where a verdict stands, or should.

    Attributes:
        read: what it says.
        is_strong: its name can mean nothing but the verdict.
    """

    read: Reading | Misread
    is_strong: bool = True


STRONG: Final[dict[Kind, frozenset[str]]] = {
    "score": words(
        "score finalscore overallscore totalscore scorevalue rating finalrating overallrating grade finalgrade mark"
        " 分数 评分 得分 打分 总分 最终得分 最终评分 最终分数"
    ),
    "binary": words(
        "pass passed passes ispass ispassed verdict finalverdict outcome correct iscorrect met goalmet meetsgoal"
        " satisfied success judgment judgement finaljudgment decision finaldecision fail failed isfail"
        " 通过 是否通过 结论 最终结论 判定 判断 裁决"
    ),
    "choices": words(
        "choice finalchoice label verdict finalverdict category class option decision selected selection"
        " classification winner preferred better judgment judgement 选择 选项 类别 结论 判定 胜者"
    ),
}
WEAK: Final[dict[Kind, frozenset[str]]] = {
    "score": words("value result verdict answer finalanswer overall judgment judgement points number 结果"),
    "binary": words("result answer finalanswer label score value grade rating 结果 答案"),
    "choices": words("answer finalanswer result grade rating score value outcome 结果 答案"),
}
INVERTED: Final = frozenset({"fail", "failed", "isfail"})
MOST: Final = words("max maxscore maximum maxpoints outof scorerange possible maxpossible 满分")
REASONS: Final = words(
    "reasoning reason reasons explanation rationale justification feedback comment comments analysis thought thoughts"
    " why evaluation summary critique 理由 原因 解释 说明 分析 推理"
)
_ORDER: Final[tuple[Trouble, ...]] = ("contradiction", "out_of_range", "cut", "off_list", "no_verdict")


def name_of(key: str) -> str:
    """A key without case, spaces, underscores and markup.

    >>> name_of(" **Final_Score** ")
    'finalscore'
    """
    return re.sub(r"[\s_\-*#`\"'.:：]+", "", key).casefold()


def settled(found: Sequence[Found], *, by_label: bool) -> Reading | Misread | None:
    """What all findings of a reply agree on; None when there are none.

    A finding outside the range is a verdict too, so that it contradicts one within; so does a strong one off the
    list, where only a weak one can be read.

    by_label: two labels are two verdicts, though their scores are the same.
    """
    if not found:
        return None
    verdicts: dict[tuple[float, str], Reading] = {}
    misread: list[tuple[int, bool, Misread]] = []
    for entry in found:
        if isinstance(entry.read, Reading):
            verdicts[round(entry.read.value, 9), entry.read.label if by_label else ""] = entry.read
        else:
            misread.append((_ORDER.index(entry.read.kind), entry.is_strong, entry.read))
    misread.sort(key=lambda entry: entry[0])
    if len(verdicts) > 1:
        said = ", ".join(dict.fromkeys(reading.label for reading in verdicts.values()))
        return Misread("contradiction", f"the reply has several verdicts: {said}")
    if not verdicts:
        return misread[0][2]
    only_weak = not any(entry.is_strong and isinstance(entry.read, Reading) for entry in found)
    for rank, is_strong, read in misread:
        if rank <= _ORDER.index("out_of_range") or (only_weak and is_strong):
            return read
    return next(iter(verdicts.values()))
