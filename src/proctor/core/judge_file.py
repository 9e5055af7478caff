"""Judge files: a prompt in Markdown, with front matter that says on which scale it answers, and with which model.

---
scale: 0-10
model: openai/gpt-5-mini
---
How polite is this answer?

{{output}}
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from proctor.core.verdict_scale import BINARY, UNIT, Scale
from proctor.errors import JudgeError, did_you_mean
from proctor.records.json_value import Json

PLACEHOLDERS: Final = ("goal", "output", "expected", "input", "files", "tool_calls")
"""What `{{...}}` may stand for in the prompt of a judge file."""

SHOWS_WORK: Final = frozenset({"output", "files", "tool_calls"})
"""Placeholders of which a prompt needs at least one: a judge that sees nothing judges nothing."""

FIELDS: Final = ("scale", "choices", "model", "temperature", "max_tokens", "timeout", "settings", "$schema")
"""What front matter may say; `$schema` is read by editors alone."""

MAX_TOKENS: Final = 2048
TIMEOUT_S: Final = 60.0

_PLACEHOLDER: Final = re.compile(r"\{\{\s*([^{}\n]*?)\s*\}\}")


class JudgePrompt(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt, the scale of its answers, and how the model is asked.

    Attributes:
        text: the template; `{{output}}` and other placeholders stand for the data.
        scale: what may be answered; None where the grader says whether it is a score or pass and fail.
        model: PROVIDER/NAME; the configured one when None.
        temperature: 0 unless the file says otherwise.
        max_tokens: the most that the model may write.
        timeout_s: how long one try may take, in seconds.
        settings: further fields of the request, as the provider names them.
    """

    text: str
    scale: Scale | None = None
    model: str | None = None
    temperature: float | None = 0.0
    max_tokens: int = MAX_TOKENS
    timeout_s: float = TIMEOUT_S
    settings: Mapping[str, Json] = {}

    @property
    def placeholders(self) -> frozenset[str]:
        """The names that the template uses."""
        return frozenset(_PLACEHOLDER.findall(self.text))

    def filled(self, values: Mapping[str, str]) -> str:
        """The template with a value in the place of each name, all at once: a value is never read as a template."""
        return _PLACEHOLDER.sub(lambda found: values.get(found[1], ""), self.text)


def read_judge_file(text: str, name: str) -> JudgePrompt:
    """The prompt that a Markdown file holds.

    Args:
        text: all of the file.
        name: the file, for messages.

    Raises:
        JudgeError: its front matter or its template is not what it should be.
    """
    front, body = _split(text.replace("\r\n", "\n").removeprefix("\ufeff"), name)
    entries = _entries(front, name)
    for key in entries:
        if key not in FIELDS:
            near = did_you_mean(key, FIELDS)
            raise _fault(
                name,
                f"the front matter has {key!r}, which means nothing",
                f"Did you mean {near!r}?" if near else f"It may have {', '.join(FIELDS)}.",
            )
    prompt = JudgePrompt(
        text=body.strip() + "\n",
        scale=_scale(entries, name),
        model=_text(entries, "model", name),
        temperature=_temperature(entries, name),
        max_tokens=int(_number(entries, "max_tokens", MAX_TOKENS, name, is_whole=True)),
        timeout_s=_number(entries, "timeout", TIMEOUT_S, name),
        settings=_settings(entries, name),
    )
    unknown = sorted(prompt.placeholders - set(PLACEHOLDERS))
    if unknown:
        near = did_you_mean(unknown[0], PLACEHOLDERS)
        said = f"Did you mean {{{{{near}}}}}? " if near else ""
        known = ", ".join(f"{{{{{one}}}}}" for one in PLACEHOLDERS)
        raise _fault(name, f"nothing is known by {{{{{unknown[0]}}}}}", f"{said}A prompt may use {known}.")
    if not prompt.placeholders & SHOWS_WORK:
        raise _fault(
            name,
            "the prompt never shows the agent's work to the judge",
            "Put {{output}}, {{files}} or {{tool_calls}} where it should stand.",
        )
    return prompt


def scale_of(prompt: JudgePrompt, *, binary: bool) -> Scale:
    """The scale that holds: the file's own, else pass and fail or 0 to 1, as the grader asks."""
    return prompt.scale or (BINARY if binary else UNIT)


def check_scale(prompt: JudgePrompt, name: str, *, binary: bool) -> None:
    """See to it that grader and file do not say two things about the scale.

    Raises:
        JudgeError: they do.
    """
    if binary and prompt.scale is not None and prompt.scale.kind != "binary":
        raise _fault(
            name,
            "the judge file has a scale of its own, and the grader says binary=True",
            "Take away one of the two.",
        )


def _split(text: str, name: str) -> tuple[str, str]:
    if not text.startswith("---\n"):
        return "", text
    front, mark, body = (
        text[4:].partition("\n---\n") if not text[4:].startswith("---\n") else ("", "-", text[8:])
    )
    if not mark:
        raise _fault(name, "the front matter has no end", "Write --- on a line of its own after it.")
    return front, body


def _entries(front: str, name: str) -> dict[str, Any]:
    """The front matter, every scalar as text: a label `yes` or `1` stays what was written."""
    import yaml

    try:
        value = cast("object", yaml.load(front, Loader=yaml.BaseLoader))
    except (yaml.YAMLError, RecursionError) as error:
        said = " ".join(str(error).split())
        raise _fault(
            name, f"the front matter is not YAML: {said}", "Look at its colons and indents."
        ) from error
    if value in (None, ""):
        return {}
    if not isinstance(value, dict):
        raise _fault(name, "the front matter is no list of `key: value`", "Write for example `scale: 0-10`.")
    return cast("dict[str, Any]", value)


def _scale(entries: Mapping[str, Any], name: str) -> Scale | None:
    choices, scale = entries.get("choices"), entries.get("scale")
    if choices is not None:
        if scale is not None:
            raise _fault(name, "there is a scale and a list of choices", "Keep one of the two.")
        return _choices(choices, name)
    if scale is None:
        return None
    if isinstance(scale, str) and scale.strip().casefold() in ("binary", "pass/fail"):
        return BINARY
    ends: list[Any] = []
    if isinstance(scale, list):
        ends = cast("list[Any]", scale)
    elif isinstance(scale, str) and (
        match := re.fullmatch(r"\s*(-?[\d.]+)\s*(?:-|–|to|\.\.)\s*(-?[\d.]+)\s*", scale)
    ):
        ends = [match[1], match[2]]
    try:
        low, high = (float(end) for end in ends)
        return Scale(low=low, high=high)
    except (ValueError, TypeError):
        raise _fault(
            name, f"the scale is {scale!r}", "Write `scale: binary`, or two numbers such as `scale: 0-10`."
        ) from None


def _choices(choices: object, name: str) -> Scale:
    fix = "Write each as `label: score`, with a score from 0 to 1."
    if not isinstance(choices, dict) or len(cast("dict[str, Any]", choices)) < 2:
        raise _fault(name, "choices is no list of two labels or more", fix)
    try:
        scores = {label: float(score) for label, score in cast("dict[str, Any]", choices).items()}
        folded = {label.strip().casefold() for label in scores}
        if len(folded) < len(scores):
            raise ValueError("two labels differ in nothing but case or space")
        return Scale(kind="choices", choices=scores)
    except (ValueError, TypeError) as error:
        raise _fault(name, f"the choices cannot be used: {error}", fix) from None


def _text(entries: Mapping[str, Any], key: str, name: str) -> str | None:
    value = entries.get(key)
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise _fault(name, f"{key} is {value!r}", "Write one line of text.")
    return value


def _temperature(entries: Mapping[str, Any], name: str) -> float | None:
    """As the file says; `default` leaves it to the provider."""
    if entries.get("temperature") == "default":
        return None
    return _number(entries, "temperature", 0.0, name, may_be_0=True)


def _number(
    entries: Mapping[str, Any],
    key: str,
    default: float,
    name: str,
    *,
    may_be_0: bool = False,
    is_whole: bool = False,
) -> float:
    written = entries.get(key)
    if written is None:
        return default
    try:
        value = float(int(written)) if is_whole else float(written)
    except (ValueError, TypeError):
        value = math.nan
    if not math.isfinite(value) or value < 0 or (value == 0 and not may_be_0):
        wanted = (
            "a whole number above 0"
            if is_whole
            else "a number of 0 or more"
            if may_be_0
            else "a number above 0"
        )
        raise _fault(name, f"{key} is {written!r}", f"Write {wanted}.")
    return value


def _settings(entries: Mapping[str, Any], name: str) -> dict[str, Json]:
    """Further fields of the request: YAML's text, read as JSON where it is JSON."""
    settings = entries.get("settings", {})
    if not isinstance(settings, dict):
        raise _fault(
            name, "settings is no list of `key: value`", "Write for example `reasoning_effort: low`."
        )
    return {key: _as_json(value) for key, value in cast("dict[str, Any]", settings).items()}


def _as_json(value: Any) -> Json:
    if isinstance(value, dict):
        return {key: _as_json(entry) for key, entry in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_as_json(entry) for entry in cast("list[Any]", value)]
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, TypeError):
        return value


def _fault(name: str, what: str, fix: str) -> JudgeError:
    return JudgeError(what, where=name, fix=fix)
