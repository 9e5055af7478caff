"""What looks like a secret: names of fields that hold credentials, and shapes that providers give keys."""

from __future__ import annotations

import re

_VALUE = re.compile(
    r"""
    (?<![A-Za-z0-9])(?:
      sk-(?:(?:ant|proj|or|live)-|(?=[A-Za-z_-]*[0-9]))[A-Za-z0-9_-]{16,}
    | [sr]k_live_[A-Za-z0-9]{16,}
    | gh[pousr]_[A-Za-z0-9]{20,}
    | github_pat_[A-Za-z0-9_]{22,}
    | glpat-[A-Za-z0-9_-]{20,}
    | hf_[A-Za-z0-9]{30,}
    | A(?:KIA|SIA)[A-Z0-9]{16}(?![A-Za-z0-9])
    | xox[abeoprs]-[A-Za-z0-9-]{10,}
    | AIza[A-Za-z0-9_-]{30,}
    )
    | -----BEGIN[ ](?:[A-Z0-9]+[ ])*PRIVATE[ ]KEY-----
    """,
    re.VERBOSE,
)
_KEY_WORDS = frozenset(
    {"authorization", "credential", "credentials", "password", "passwd", "secret", "secrets", "token"}
)
_KEY_ENDINGS = ("apikey", "apitoken", "authtoken", "accesstoken", "accesskey", "secretkey", "privatekey")
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_BEGINNINGS = (
    "sk-",
    "k_live_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "hf_",
    "KIA",
    "SIA",
    "xox",
    "AIza",
    "-----BEGIN",
)


def secret_in(text: str) -> str | None:
    """The part of a text that has the shape of a provider's key, or None.

    >>> secret_in("use AKIAABCDEFGHIJKLMNOP for it")
    'AKIAABCDEFGHIJKLMNOP'
    """
    if not may_hold_a_secret(text):
        return None
    found = _VALUE.search(text)
    return found.group() if found else None


def may_hold_a_secret(text: str) -> bool:
    """False when a text holds no beginning of a key, which is quick to find out."""
    return any(part in text for part in _BEGINNINGS)


def masked(text: str) -> str:
    """A text with each secret cut to its first four characters.

    >>> masked("use AKIAABCDEFGHIJKLMNOP")
    'use AKIA...'
    """
    return _VALUE.sub(lambda found: found.group()[:4] + "...", text)


def replaced(text: str, mark: str) -> str:
    """A text with each secret replaced by a mark."""
    return _VALUE.sub(lambda _: mark, text)


def names_a_credential(key: str) -> bool:
    """True when a field of this name holds a credential, going by its words.

    >>> [key for key in ("api_key", "githubToken", "max_tokens", "keyboard") if names_a_credential(key)]
    ['api_key', 'githubToken']
    """
    words = [word.lower() for word in _WORD.findall(key)]
    return any(word in _KEY_WORDS for word in words) or "".join(words).endswith(_KEY_ENDINGS)
