"""How likely an agent passes at all when it may try several times, and how likely it passes each time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from typing import Final

from proctor.records.estimate import Bounds, Reliability
from proctor.records.grade import Outcome

FEWEST: Final = 3
"""Trials of a test below which nothing is said of its reliability: such a run is a smoke test."""


def pass_at_k(n: int, passed: int, k: int) -> float:
    """How likely at least one of `k` trials passes, drawn without replacement from `n` of which `passed` did.

    1 - C(n - passed, k) / C(n, k), the unbiased estimate. Source: Chen and others, Evaluating large language
    models trained on code (2021), equation 1.

    >>> pass_at_k(5, 2, 3)
    0.9

    Raises:
        ValueError: there are not as many trials as that, or fewer than none.
    """
    return 1 - _share_of_draws(n - _checked(n, passed, k), n, k)


def pass_hat_k(n: int, passed: int, k: int) -> float:
    """How likely all of `k` trials pass, drawn without replacement from `n` of which `passed` did.

    C(passed, k) / C(n, k). Source: Yao and others, tau-bench (2024), section 3.

    >>> pass_hat_k(5, 4, 3)
    0.4

    Raises:
        ValueError: there are not as many trials as that, or fewer than none.
    """
    return _share_of_draws(_checked(n, passed, k), n, k)


def _checked(n: int, passed: int, k: int) -> int:
    if not (1 <= k <= n and 0 <= passed <= n):
        raise ValueError(f"of {n} trials {passed} cannot have passed, or {k} cannot be drawn")
    return passed


def _share_of_draws(good: int, n: int, k: int) -> float:
    return comb(good, k) / comb(n, k)


def reliability(tests: Mapping[str, Sequence[Outcome]], k: int = FEWEST) -> Reliability | None:
    """Both numbers over all tests that have enough trials, each test with the same weight.

    Args:
        tests: the outcomes of each test's trials that were graded, inconclusive ones included.
        k: how many trials are meant.

    Returns:
        None when no test has `k` trials, or fewer than three: a smoke test says nothing about reliability.
    """
    at: list[Bounds] = []
    hat: list[Bounds] = []
    for outcomes in tests.values():
        n = len(outcomes)
        if n < max(k, FEWEST):
            continue
        passed = outcomes.count(Outcome.PASS)
        unclear = outcomes.count(Outcome.INCONCLUSIVE)
        at.append(Bounds(pass_at_k(n, passed, k), pass_at_k(n, passed + unclear, k)))
        hat.append(Bounds(pass_hat_k(n, passed, k), pass_hat_k(n, passed + unclear, k)))
    if not at:
        return None
    return Reliability(
        k=k, pass_at_k=_mean(at), pass_hat_k=_mean(hat), tests=len(at), left_out=len(tests) - len(at)
    )


def flaky(tests: Mapping[str, Sequence[Outcome]]) -> tuple[str, ...]:
    """The tests that passed in one trial and failed in another."""
    return tuple(test for test, outcomes in tests.items() if {Outcome.PASS, Outcome.FAIL} <= set(outcomes))


def _mean(bounds: Sequence[Bounds]) -> Bounds:
    return Bounds(sum(one.low for one in bounds) / len(bounds), sum(one.high for one in bounds) / len(bounds))
