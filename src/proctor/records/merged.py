"""What `proctor merge` put together."""

from __future__ import annotations

from typing import Final

import msgspec

from proctor.records.run import Shard

MERGE_SCHEMA: Final = "proctor.merge/1"


class MergedPart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of the groups that were merged.

    Attributes:
        path: as the user named it, or below that.
        runs: number of run directories in it.
        shard: which part of the plan it is; None for a group that is no shard.
    """

    path: str
    runs: int
    shard: Shard | None = None


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """A group that was put together from others.

    Attributes:
        path: the new group.
        parts: what it was made of, shards by their number.
        planned: trials that its plan has.
        recorded: trials of these that have a run; the others count as never run.
        runs: run directories in it, further attempts included.
        of: how many shards the plan was split into; None where the parts were no shards.
        missing: numbers of the shards that were not there, and were allowed to be missing.
        warnings: what differs between the parts and is no reason to refuse, and what was not taken along.
    """

    schema: str = MERGE_SCHEMA
    path: str
    parts: tuple[MergedPart, ...]
    planned: int
    recorded: int
    runs: int
    of: int | None = None
    missing: tuple[int, ...] = ()
    warnings: tuple[str, ...] = ()
