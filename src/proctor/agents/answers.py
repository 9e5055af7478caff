"""What an endpoint answered, as an attempt: whose fault a status is, and what the output is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from http import HTTPStatus

import msgspec

from proctor.agents.plain import NotJson, Plain
from proctor.host.place import without_lone_surrogates
from proctor.records.grade import Defect
from proctor.records.json_value import Json
from proctor.records.run import Attempt, Ending

NOBODYS_EVIDENCE: Mapping[int, tuple[str, str]] = {
    401: ("auth", "It lets nobody in without the right credentials"),
    402: ("out_of_credit", "There is no credit left"),
    403: ("auth", "It does not let these credentials in"),
    404: ("not_found", "Nothing is at this address"),
    405: ("not_found", "Nothing at this address takes a POST"),
    407: ("auth", "A proxy wants credentials"),
    429: ("rate_limit", "It has had too many requests"),
    502: ("unavailable", "What stands before the agent cannot reach it"),
    503: ("unavailable", "It takes no requests now"),
    504: ("unavailable", "What stands before the agent had no answer from it"),
}
"""Statuses that say that no agent has worked on the request: kind of defect, and the sentence for it."""

CUT_NOTE = "The answer ran into the limit of tokens; its end is missing."
"""What an attempt says of an answer that a model had to break off."""

_NO_BODY = (204, 205, 304)
_SHOWN_CHARACTERS = 500
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json|text/json")
_CHARSET = re.compile(r"charset=[\"']?([\w.:-]+)", re.IGNORECASE)


class NotReadable(Exception):
    """A body is not what its type says."""


def failure_of(status: int, reason: str, body: bytes, headers: Mapping[str, str]) -> Attempt | None:
    """The attempt that a status other than success makes; None for a success.

    Whether the answer says something about the agent stands in `NOBODYS_EVIDENCE`; any other failure is its own.
    """
    if 200 <= status < 300:
        return None
    shown = f"{status} {reason or _phrase(status)}".strip()
    told = shortened(text_of_body(body, headers))
    said = f" It said: {told}" if told else ""
    if 300 <= status < 400:
        where = f" to {target}" if (target := headers.get("location")) else ""
        message = f"It redirects{where} ({shown}); name the URL that answers a POST itself."
        return harness_failure("redirect", message)
    if (known := NOBODYS_EVIDENCE.get(status)) is not None:
        kind, sentence = known
        return harness_failure(kind, f"{sentence} ({shown}).{said}")
    defect = Defect(type="http-status", message=f"The endpoint answered {shown}.{said}")
    return Attempt(ending=Ending.ERROR, defect=defect, output=text_of_body(body, headers) or None)


def harness_failure(kind: str, message: str) -> Attempt:
    """An attempt that is nobody's evidence."""
    return Attempt(ending=Ending.HARNESS_FAILURE, defect=Defect(type=kind, message=message))


def error(kind: str, message: str, output: Json = None) -> Attempt:
    """An attempt that failed by the agent's own fault."""
    return Attempt(ending=Ending.ERROR, defect=Defect(type=kind, message=message), output=output)


def is_json(headers: Mapping[str, str]) -> bool:
    """True when the content type is one of JSON's."""
    return _JSON.match(headers.get("content-type", "").strip().lower()) is not None


def value_of_body(status: int, body: bytes, headers: Mapping[str, str]) -> Json:
    """What a body says: the value of JSON, else its text less one final line end; None for an empty one.

    Raises:
        NotReadable: its type is JSON, and it is none.
    """
    if status in _NO_BODY or not body:
        return None
    if is_json(headers):
        return json_of(body)
    text = text_of_body(body, headers)
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


def json_of(body: bytes) -> Json:
    """The value that a body is the JSON of; half a surrogate pair becomes U+FFFD.

    Raises:
        NotReadable: it is no JSON.
    """
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError):
        try:
            # It takes half a surrogate pair as an escape, which other writers of JSON put.
            return Plain().of(json.loads(body))
        except (ValueError, NotJson, RecursionError) as error:
            raise NotReadable(f"{error}") from error
    except RecursionError as error:
        raise NotReadable("it nests too deep") from error


def text_of_body(body: bytes, headers: Mapping[str, str]) -> str:
    """The text of a body in the charset that it names, or UTF-8; U+FFFD stands for what cannot be read."""
    named = _CHARSET.search(headers.get("content-type", ""))
    try:
        return without_lone_surrogates(body.decode(named[1] if named else "utf-8", "replace"))
    except LookupError:
        return body.decode("utf-8", "replace")


def shortened(text: str) -> str:
    """A text in one line of at most 500 characters."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARACTERS else f"{line[:_SHOWN_CHARACTERS]}..."


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
