"""Choosing tests of a suite: by id, by tag, and a few of many."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from proctor.errors import UsageError, did_you_mean
from proctor.loading.faults import listed
from proctor.loading.ids import normal
from proctor.records.run import Shard
from proctor.records.suite import Suite, SuiteTest
from proctor.records.suite_codes import SuiteCode

HOSTS = ("claude", "codex")
"""Coding agents that tests can pin a model for."""


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """Which tests of a suite are meant; all of them when nothing is said.

    Attributes:
        tests: globs over ids, case-sensitive; a test is taken when any of them matches. `*`, `?` and `[abc]`.
        tags: a test is taken when it has all of them.
        limit: at most so many, the first ones; applied last.
        sample: so many, drawn by chance, in the suite's order.
        seed: another seed draws another sample; the same one draws the same.
    """

    tests: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    limit: int | None = None
    sample: int | None = None
    seed: int = 0

    @property
    def is_everything(self) -> bool:
        """True when no test is left out."""
        return not self.tests and not self.tags and self.limit is None and self.sample is None


def select(suite: Suite, selection: Selection) -> Suite:
    """The suite with the tests that are meant, in their order.

    A sample is drawn by the digest of seed and id, so a test that is added to the suite changes at most one
    place of it.

    Raises:
        UsageError: a glob or a tag matches no test, no test matches all that was asked for, or a number is
            below 1.
    """
    for name, number in (("--limit", selection.limit), ("--sample", selection.sample)):
        if number is not None and number < 1:
            raise UsageError(f"{name} is {number}.", fix="Give a whole number from 1.", where=name)
    patterns = [normal(pattern) for pattern in selection.tests]
    _refuse_idle(suite, patterns, selection.tags)
    chosen = [
        entry
        for entry in suite.tests
        if (not patterns or _matches(entry, patterns)) and set(selection.tags) <= set(entry.test.tags)
    ]
    if not chosen:
        raise _nothing(suite, "No test matches both --test and --tags.")
    if selection.sample is not None:
        drawn = sorted(chosen, key=lambda entry: _lot(entry.test.id, selection.seed))[: selection.sample]
        kept = {entry.test.id for entry in drawn}
        chosen = [entry for entry in chosen if entry.test.id in kept]
    return msgspec.structs.replace(suite, tests=tuple(chosen[: selection.limit]))


def select_host(suite: Suite, host: str | None) -> Suite:
    """The suite with the tests that are for a host; all of them where `host` is the name of none.

    A name is that of a host when a test lists it, or when it is one that proctor knows. A test that lists no hosts
    is for every agent.

    Raises:
        UsageError: no test is for this host.
    """
    named = dict.fromkeys(name for entry in suite.tests for name in entry.test.hosts)
    if host is None or not named or (host not in named and host not in HOSTS):
        return suite
    chosen = tuple(entry for entry in suite.tests if not entry.test.hosts or host in entry.test.hosts)
    if not chosen:
        raise UsageError(
            f"{SuiteCode.SELECTION_EMPTY.value}  no test is for the host {host!r}",
            fix=f"The tests that are selected are for: {listed(named)}.",
            where=suite.name,
        )
    return msgspec.structs.replace(suite, tests=chosen)


def shard_of(suite: Suite, shard: Shard | None) -> Suite:
    """The suite with the tests of one shard, in their order; all of them where `shard` is None.

    Test k of n shards goes to shard ((k - 1) mod n) + 1. That depends on the selection and its order alone, so every
    machine that loads the same suite splits it in the same way; all trials of a test are in one shard; two shards
    differ by one test at most. A shard has no test where there are more shards than tests.
    """
    if shard is None:
        return suite
    return msgspec.structs.replace(suite, tests=suite.tests[shard.number - 1 :: shard.of])


def tag_vocabulary(suite: Suite) -> tuple[str, ...]:
    """The tags of a suite, in the order in which they first appear."""
    return tuple(dict.fromkeys(tag for entry in suite.tests for tag in entry.test.tags))


def split_tags(texts: Sequence[str]) -> tuple[str, ...]:
    """Tags as the command line gives them: several times, separated by commas.

    >>> split_tags(["a, b", "c,"])
    ('a', 'b', 'c')
    """
    return tuple(tag for text in texts for part in text.split(",") if (tag := part.strip()))


def _matches(entry: SuiteTest, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(entry.test.id, pattern) for pattern in patterns)


def _lot(test_id: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{test_id}".encode()).digest()


def _refuse_idle(suite: Suite, patterns: Sequence[str], tags: Sequence[str]) -> None:
    for pattern in patterns:
        if not any(_matches(entry, [pattern]) for entry in suite.tests):
            raise _nothing(suite, f"No test matches --test {pattern}.", near=_near(pattern, suite))
    vocabulary = tag_vocabulary(suite)
    for tag in tags:
        if tag not in vocabulary:
            raise _nothing(suite, f"No test has the tag {tag}.", near=did_you_mean(tag, vocabulary))
    if tags and not any(set(tags) <= set(entry.test.tags) for entry in suite.tests):
        raise _nothing(suite, f"No test has all of the tags {', '.join(tags)}.")


def _near(pattern: str, suite: Suite) -> str | None:
    return did_you_mean(pattern, [entry.test.id for entry in suite.tests])


def _nothing(suite: Suite, what: str, *, near: str | None = None) -> UsageError:
    tags = listed(tag_vocabulary(suite)) or "none"
    known: Any = f"Tests: {listed(entry.test.id for entry in suite.tests)}. Tags: {tags}."
    return UsageError(what, fix=f"Did you mean {near}? {known}" if near else known, where=suite.name)
