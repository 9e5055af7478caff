"""The cache of answers: a judge that is asked the same thing again costs nothing."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from proctor.models.question import Question, Reply
from proctor.records.json_value import Json, digest_of

_VERSION: Final = 1
_decode: Final = msgspec.json.Decoder(Reply).decode


def key_of(question: Question, *, model: str, base_url: str, sample: int) -> str:
    """Digest of everything that an answer depends on: model, address, messages, settings, number of the sample."""
    asked: Mapping[str, Json] = msgspec.to_builtins(question)
    timeless = {name: value for name, value in asked.items() if name != "timeout_s"}
    return digest_of(
        {"v": _VERSION, "model": model, "base_url": base_url, "sample": sample, "question": timeless}
    ).removeprefix("sha256:")


class AnswerCache:
    """Answers that held a verdict, a file each, in a folder that may be deleted at any time.

    Safe to use from several threads and processes.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._asked: dict[str, tuple[threading.Lock, int]] = {}

    @contextmanager
    def one_at_a_time(self, key: str) -> Generator[None]:
        """Hold a key, so that of several threads that want the same answer one asks and the others find it."""
        with self._lock:
            lock, waiting = self._asked.get(key, (threading.Lock(), 0))
            self._asked[key] = (lock, waiting + 1)
        try:
            with lock:
                yield
        finally:
            with self._lock:
                lock, waiting = self._asked.pop(key)
                if waiting > 1:
                    self._asked[key] = (lock, waiting - 1)

    def find(self, key: str) -> Reply | None:
        """The answer; None where there is none, or none that can be read."""
        try:
            return _decode(self._file(key).read_bytes())
        except (OSError, msgspec.DecodeError):
            return None

    def keep(self, key: str, reply: Reply) -> None:
        """Keep an answer. A folder that cannot be written keeps nothing, and costs no grade."""
        file = self._file(key)
        part = file.with_name(f".{key}.{secrets.token_hex(4)}")
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as written:
                written.write(msgspec.json.encode(reply))
            part.replace(file)

    def _file(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"
