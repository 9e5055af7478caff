"""What a suite's files say, before it is checked: the tests as they are written, and what holds for all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from proctor.loading.disk import is_within
from proctor.loading.faults import Spot
from proctor.records.json_value import Json


class Entry(NamedTuple):
    """A test as it is written.

    Attributes:
        spot: where it stands.
        fields: the object that was written.
        folder: what its paths are relative to.
        where: file and line, for messages.
        own_id: the id it has when none is written: its folder's or file's name.
        test_folder: its own folder, in the shapes where it has one.
    """

    spot: Spot
    fields: dict[str, Json]
    folder: Path
    where: str
    own_id: str | None = None
    test_folder: Path | None = None


class SuiteFields(NamedTuple):
    """What is written for a whole suite.

    Attributes:
        spot: where that stands.
        fields: the suite's own fields, its tests left out.
        folder: what its paths are relative to.
    """

    spot: Spot
    fields: dict[str, Json]
    folder: Path


class Gathered(NamedTuple):
    """A suite as it is written.

    Attributes:
        name: the file's or folder's name.
        root: the folder that holds it.
        entries: its tests, in order.
        common: what is written for all of them, if anything is.
    """

    name: str
    root: Path
    entries: Sequence[Entry]
    common: SuiteFields | None = None


class Context(NamedTuple):
    """What the loading of one suite is told.

    Attributes:
        base: the folder that the user stands in, to which names in messages are relative.
        git_cache: where clones and checkouts are kept.
        allowed: fields that may look like credentials: `einstein.input`, or one above.
        checkout: the checkout that the suite must not point out of; None for a suite that is not from git.
        label: how the checkout is called in messages.
    """

    base: Path
    git_cache: Path
    allowed: frozenset[str] = frozenset()
    checkout: Path | None = None
    label: str = ""

    def leaves_checkout(self, path: Path) -> bool:
        """True for a link in a checkout that leads out of it."""
        return self.checkout is not None and not is_within(path, self.checkout)

    def label_of(self, path: Path) -> str:
        """A file as messages name it: relative to the checkout or to the base when it lies below."""
        if self.checkout is not None and path.is_relative_to(self.checkout):
            return f"{self.label}/{path.relative_to(self.checkout).as_posix()}"
        return path.relative_to(self.base).as_posix() if path.is_relative_to(self.base) else path.as_posix()
