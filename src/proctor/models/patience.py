"""Asking again when a provider turns a question away, and when to give up."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Final, TypeVar

import msgspec

from proctor.errors import ModelError
from proctor.models.limit import AdaptiveLimit

Answer = TypeVar("Answer")

LONGEST_WAIT_S: Final = 60.0


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """How often a question is asked, and how long is waited between two tries.

    Attributes:
        tries: at the most, the first included.
        first_wait_s: before the second try; doubles each time, and half of it is left to chance, so that those who
            were turned away together do not come back together.
        longest_wait_s: a provider that asks to wait longer than this is not waited for.
        sleep: waits for so many seconds.
        draw: a number from 0 to 1.
    """

    tries: int = 6
    first_wait_s: float = 1.0
    longest_wait_s: float = LONGEST_WAIT_S
    sleep: Callable[[float], None] = time.sleep
    draw: Callable[[], float] = random.random

    def ask(self, question: Callable[[], Answer], limit: AdaptiveLimit) -> Answer:
        """The answer, within the provider's limit.

        Raises:
            ModelError: of the last try; or at once one that waiting does not cure.
        """
        for number in range(1, self.tries + 1):
            with limit.place() as asked_at:
                try:
                    answer = question()
                except ModelError as error:
                    failure = error
                    if error.kind == "rate_limit":
                        limit.halve(asked_at)
                else:
                    limit.grow()
                    return answer
            wait_s = self.wait_before(number + 1, failure.retry_after_s)
            if not failure.is_transient or number == self.tries or wait_s > self.longest_wait_s:
                raise failure
            self.sleep(wait_s)
        raise AssertionError("unreachable: the last try returns or raises")

    def wait_before(self, number: int, asked_s: float | None) -> float:
        """Seconds to wait before try `number`, which is 2 or more.

        asked_s: what the provider asks for, which is never undercut; it gives no order to those who wait, so that a
            little is left to chance there too.
        """
        backed_off = self.first_wait_s * 2.0 ** (number - 2)
        own = min(backed_off, self.longest_wait_s / 2) * (0.5 + self.draw() / 2)
        return own if asked_s is None else asked_s + min(own, 1.0) * self.draw()
