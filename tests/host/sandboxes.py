"""A sandbox for tests, where this machine can have one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import pytest

from proctor.errors import UsageError
from proctor.host.enclosure import Enclosure
from proctor.host.isolation import isolate
from proctor.host.premises import Premises
from proctor.host.sandbox import Bubblewrap, Programs, find_programs
from proctor.host.sandbox_view import programs_of, view_of


@lru_cache(maxsize=1)
def programs() -> Programs:
    """Those of the sandbox; a test that needs them is skipped where they are not, and fails in CI."""
    try:
        return find_programs(os.environ["PATH"])
    except UsageError as error:
        if os.environ.get("CI"):
            pytest.fail(f"the sandbox is tested in CI: {error.what}")
        pytest.skip(error.what)


def sandbox(
    launch_dir: Path,
    *,
    hidden: Sequence[Path] = (),
    needed: Sequence[Path] = (),
    has_network: bool = False,
    counts_processes: bool = False,
):
    """Makes the enclosure, given a folder for what all trials share."""
    found = programs()
    home = Path(os.environ.get("HOME", "/nonexistent"))
    view = view_of([launch_dir], tools=programs_of(os.environ), hidden=hidden, needed=needed, home=home)

    def made(folder: Path) -> Enclosure:
        return Bubblewrap(
            found,
            view,
            folder,
            launch_dir=launch_dir,
            has_network=has_network,
            counts_processes=counts_processes,
            readable=[launch_dir],
        )

    return made


def premises(tmp_path: Path, environment: dict[str, str], launch_dir: Path, **how) -> Premises:
    """Where trials take place in a sandbox without network."""
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    return Premises(isolated=isolate(environment), work_root=work, enclosure=sandbox(launch_dir, **how))
