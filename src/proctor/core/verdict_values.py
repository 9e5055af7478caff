"""One value of a judge's reply, read on a scale: a number, a word, a label.

A value is a word as a whole: `pass` is not found in `impassive`, and `not passing` is not `passing`.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final, Literal

import msgspec

from proctor.core.verdict_scale import Scale
from proctor.records.json_value import Json

Trouble = Literal["empty", "refused", "cut", "no_verdict", "off_list", "out_of_range", "contradiction"]


class Reading(msgspec.Struct, frozen=True):
    """What one value says.

    Attributes:
        value: 0 to 1 on the scale.
        label: the choice's label, `pass` or `fail`, or the number as it was given.
    """

    value: float
    label: str


class Misread(msgspec.Struct, frozen=True):
    """A value that stands where a verdict should, and is none."""

    kind: Trouble
    reason: str


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


PASS_WORDS: Final = words(
    "pass passed passes passing yes y true correct met satisfied accept accepted acceptable success succeeded"
    " successful ✅ ✔ 👍 是 是的 通过 合格 正确 对 成功 达标 满足 符合"
)
FAIL_WORDS: Final = words(
    "fail failed fails failing no n false incorrect wrong unmet unsatisfied reject rejected unacceptable failure"
    " unsuccessful ❌ ✖ 👎 否 不 不是 不通过 未通过 不合格 不正确 错误 错 失败 不达标 未达标 不满足 不符合"
)
_NEGATED: Final = re.compile(
    r"(?:it )?(?:is not|isn't|does not|doesn't|did not|didn't|do not|don't|has not|hasn't|not|non|cannot|can't)"
    r"(?: be| quite| been)?[ -](\w+)"
)
_UNDECIDED: Final = words(
    "n/a na none null unknown unsure undecided unclear inconclusive maybe partial partially borderline skip skipped"
    " tie both neither undetermined 不确定 未知 无法判断 部分通过"
)
_TRIM: Final = " \t\n\r*_`~#\"'“”‘’«»「」『』()[]{}<>.!,;:。！，；：、-–—=|>✨🎯\ufe0f$\\"
_NUMBER: Final = r"[-+]?(?:\d{1,12}(?:[.,]\d{1,20})?|[.,]\d{1,20})(?:[eE][-+]?\d{1,3})?"
_PLAIN: Final = re.compile(rf"({_NUMBER})\s*(%|percent|per cent|points?|pts?\.?|分|stars?|星)?")
_OF: Final = re.compile(
    rf"({_NUMBER})\s*(?:points?|stars?|分)?\s*(?:/|／|÷|\bout\s+of\b|\bof\b|\bsur\b|\bvon\b|满分)\s*({_NUMBER})\s*(?:points?|stars?|分)?"
)
_WORD_OF: Final = re.compile(r"(\w+) (?:out of|of) (\w+)")
_NUMBER_WORDS: Final = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5,
    "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
_CHINESE: Final = {char: number for number, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_CHINESE_NUMBER: Final = re.compile(r"[零〇一二两三四五六七八九十百点]{1,9}")
_CHINESE_PERCENT: Final = re.compile(r"百分之([零〇一二两三四五六七八九十百点]{1,9}|\d{1,3}(?:\.\d{1,9})?)")


def read_value(given: Json, scale: Scale) -> Reading | Misread:
    """What a value says on the scale, or why it says nothing."""
    if given is None:
        return Misread("no_verdict", "the verdict is null")
    if isinstance(given, list | dict):
        return Misread("no_verdict", "the verdict is no single value")
    if scale.kind == "score":
        return _read_score(given, scale)
    if scale.kind == "binary":
        return _read_binary(given)
    return _read_choice(given, scale)


def word_of(text: str) -> str:
    """A text without the markup and punctuation around it, case folded, runs of space as one."""
    return " ".join(text.strip(_TRIM).replace("’", "'").casefold().split())


def number_of(given: Json) -> float | None:
    """The finite number that a value plainly is."""
    if isinstance(given, bool):
        return None
    if isinstance(given, int | float):
        return float(given) if math.isfinite(given) else None
    found = _PLAIN.fullmatch(given.strip()) if isinstance(given, str) else None
    return _decimals(found[1])[0] if found is not None and not found[2] else None


def _read_score(given: Json, scale: Scale) -> Reading | Misread:
    if isinstance(given, bool):
        return Misread("off_list", f"a number is wanted, and the verdict is {str(given).lower()}")
    if isinstance(given, int | float):
        return _in_range(float(given), scale, str(given))
    text = str(given).strip(_TRIM.replace(".", "").replace("-", "").replace(",", ""))
    text = text.strip(" .。") if not text.startswith(".") else text
    word = " ".join(text.casefold().split())
    if word.lstrip("+-") in ("nan", "infinity", "inf"):
        return Misread("out_of_range", f"the verdict is {text[:40]}, which is no finite number")
    if (found := _OF.fullmatch(text)) is not None:
        return _fraction(_decimals(found[1])[0], _decimals(found[2])[0], scale, text)
    if (found := _PLAIN.fullmatch(text)) is not None:
        if found[2] in ("%", "percent", "per cent"):
            return _percent(_decimals(found[1])[0], scale, text)
        readings = [_in_range(number, scale, found[1]) for number in _decimals(found[1])]
        usable = [reading for reading in readings if isinstance(reading, Reading)]
        if len({reading.value for reading in usable}) > 1:
            return Misread("contradiction", f"{text!r} is two numbers: its comma can be read in two ways")
        return usable[0] if usable else readings[0]
    if (found := _WORD_OF.fullmatch(word)) is not None:
        part, whole = (_NUMBER_WORDS.get(entry) for entry in found.groups())
        if part is not None and whole is not None:
            return _fraction(part, whole, scale, text)
    if word in _NUMBER_WORDS:
        return _in_range(_NUMBER_WORDS[word], scale, text)
    return _read_chinese(text, scale)


def _read_chinese(text: str, scale: Scale) -> Reading | Misread:
    if (found := _CHINESE_PERCENT.fullmatch(text)) is not None:
        number = number_of(found[1])
        number = _chinese_number(found[1]) if number is None else number
        if number is not None:
            return _percent(number, scale, text)
    bare = text.removesuffix("分")
    if bare == "满":
        return _in_range(scale.high, scale, text)
    if _CHINESE_NUMBER.fullmatch(bare):
        number = _chinese_number(bare)
        if number is not None:
            return _in_range(number, scale, text)
    if word_of(text) in _UNDECIDED:
        return Misread("no_verdict", f"the verdict is {text[:60]!r}")
    return Misread("off_list", f"a number is wanted, and the verdict is {text[:60]!r}")


def _chinese_number(text: str) -> float | None:
    whole, point, decimals = text.partition("点")
    hundreds, has_hundreds, rest = whole.partition("百") if "百" in whole else ("", "", whole)
    tens, has_tens, ones = rest.partition("十") if "十" in rest else ("", "", rest)
    try:
        number = float(
            (100 * (_CHINESE[hundreds] if hundreds else 1) if has_hundreds else 0)
            + (10 * (_CHINESE[tens.lstrip("零")] if tens.lstrip("零") else 1) if has_tens else 0)
            + (_CHINESE[ones if len(ones) == 1 else ones.lstrip("零")] if ones else 0)
        )
        if point:
            number += float("0." + "".join(str(_CHINESE[digit]) for digit in decimals))
    except (KeyError, ValueError):
        return None
    return number


def _decimals(text: str) -> list[float]:
    """The numbers that a text can be: a comma before three digits marks thousands, or decimals."""
    as_decimal = float(text.replace(",", "."))
    if re.fullmatch(r"[-+]?[1-9]\d{0,2},\d{3}", text):
        return [as_decimal, float(text.replace(",", ""))]
    return [as_decimal]


def _in_range(number: float, scale: Scale, shown: str) -> Reading | Misread:
    if not math.isfinite(number):
        return Misread("out_of_range", f"the verdict is {shown}, which is no finite number")
    if not scale.low <= number <= scale.high:
        return Misread(
            "out_of_range", f"the verdict is {shown}, and the scale is {scale.low:g} to {scale.high:g}"
        )
    return Reading((number - scale.low) / (scale.high - scale.low), f"{number:g}")


def _fraction(part: float, whole: float, scale: Scale, shown: str) -> Reading | Misread:
    """`8/10`: points on a scale that ends there, else a share of a scale that begins at 0."""
    if whole == scale.high:
        return _in_range(part, scale, shown)
    if whole <= 0 or not 0 <= part <= whole or scale.low != 0:
        return Misread(
            "out_of_range", f"the verdict is {shown[:40]}, and the scale is {scale.low:g} to {scale.high:g}"
        )
    return Reading(part / whole, shown)


def _percent(number: float, scale: Scale, shown: str) -> Reading | Misread:
    return _fraction(number, 100.0, scale, shown)


def _read_binary(given: Json) -> Reading | Misread:
    if isinstance(given, bool):
        return Reading(float(given), "pass" if given else "fail")
    if isinstance(given, int | float):
        if given in (0, 1):
            return Reading(float(given), "pass" if given else "fail")
        return Misread("off_list", f"pass or fail is wanted, and the verdict is {given}")
    word = word_of(str(given))
    if word in PASS_WORDS or word in ("1", "1.0"):
        return Reading(1.0, "pass")
    if word in FAIL_WORDS or word in ("0", "0.0"):
        return Reading(0.0, "fail")
    negated = _NEGATED.fullmatch(word)
    if negated is not None and negated[1] in PASS_WORDS | {"meet", "satisfy"}:
        return Reading(0.0, "fail")
    for mark, says in (("✅", 1.0), ("❌", 0.0)):
        if word.startswith(mark) or word.endswith(mark):
            rest = _read_binary(word.strip(mark))
            if isinstance(rest, Reading) and rest.value != says:
                return Misread("contradiction", f"{word[:40]!r} says both")
            if isinstance(rest, Reading):
                return rest
    kind: Trouble = "no_verdict" if word in _UNDECIDED else "off_list"
    return Misread(kind, f"pass or fail is wanted, and the verdict is {str(given)[:60]!r}")


def _read_choice(given: Json, scale: Scale) -> Reading | Misread:
    text = str(given).lower() if isinstance(given, bool) else str(given)
    for same in (str.strip, word_of, _letters):
        labels = [label for label in scale.choices if same(label) == same(text)]
        if len(labels) == 1 and same(text):
            return Reading(scale.choices[labels[0]], labels[0])
        if len(labels) > 1:
            return Misread("contradiction", f"{text[:60]!r} can be {' or '.join(labels)}")
    listed = ", ".join(scale.choices)
    return Misread("off_list", f"one of {listed} is wanted, and the verdict is {text[:60]!r}")


def _letters(text: str) -> Any:
    return re.sub(r"[\s_\-]+", "", re.sub(r"^(?:option|choice|answer|label)\s+", "", word_of(text)))
