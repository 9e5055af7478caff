"""Several processes write into one group at the same time."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec
import pytest

from proctor.errors import StoreError, UsageError
from proctor.host.seed import SeedPlan, plan_seed
from proctor.records.json_value import digest_of_bytes
from proctor.records.run import (
    GROUP_SCHEMA,
    AgentIdentity,
    Cell,
    GradersRef,
    GroupPlan,
    Limits,
    Platform,
    SuiteRef,
)
from proctor.stores.group import GroupDir
from proctor.stores.merging import at_rest

PLAN = GroupPlan(
    schema=GROUP_SCHEMA,
    group="0" * 32,
    created_at="2026-01-01T00:00:00.000+00:00",
    agent=AgentIdentity(kind="function", label="agent.py:main"),
    suite=SuiteRef(name="suite"),
    limits=Limits(),
    platform=Platform(proctor="1", python="3", system="linux", machine="x"),
    cells=(Cell(test="a", trial=1, run_dir="a", test_digest="sha256:0"),),
)


def test_all_have_the_same_plan_and_nobody_else_gets_in(tmp_path: Path) -> None:
    """Until the last of them has finished; what they staged does not meet."""
    path = tmp_path / "group"
    one, two = (GroupDir.join(path, PLAN, writer=name) for name in ("gw0", "gw1"))

    assert PLAN == one.plan() == two.plan()
    with pytest.raises(StoreError, match="another process is writing"):
        GroupDir.reopen(path)
    one.finish()
    with pytest.raises(StoreError, match="another process is writing"):
        GroupDir.reopen(path)
    assert (path / ".staging" / "gw1").is_dir()
    two.finish()
    GroupDir.reopen(path).finish()
    assert not (path / ".staging").exists()


def test_a_group_with_another_plan_or_with_runs_is_not_joined(tmp_path: Path) -> None:
    """Whoever is refused holds no lock."""
    path = tmp_path / "group"
    GroupDir.join(path, PLAN, writer="gw0").finish()
    (tmp_path / "old" / "a").mkdir(parents=True)
    (tmp_path / "old" / "a" / "run.json").write_text("{}")
    other = msgspec.structs.replace(PLAN, group="1" * 32)

    with pytest.raises(UsageError, match="already holds runs"):
        GroupDir.join(path, other, writer="gw0")
    with pytest.raises(UsageError, match="already holds runs"):
        GroupDir.join(tmp_path / "old", PLAN, writer="gw0")
    with pytest.raises(UsageError, match="cannot be made"):
        GroupDir.join(Path("/dev/null/group"), PLAN, writer="gw0")
    # Whoever is refused leaves nothing in what is not theirs.
    assert ["a"] == [one.name for one in (tmp_path / "old").iterdir()]
    GroupDir.reopen(path).finish()


def test_a_group_that_is_gone_on_with_is_not_joined(tmp_path: Path) -> None:
    """Nor does the attempt leave a folder among what is being put together there."""
    path = tmp_path / "group"
    GroupDir.join(path, PLAN, writer="gw0").finish()
    resumed = GroupDir.reopen(path)

    with pytest.raises(StoreError, match="another process is writing"):
        GroupDir.join(path, PLAN, writer="gw1")
    assert [] == list((path / ".staging").iterdir())
    resumed.finish()
    GroupDir.join(path, PLAN, writer="gw1").finish()


def test_a_group_is_at_rest_when_the_last_of_them_has_finished(tmp_path: Path) -> None:
    """Several may read it at rest at once; what a killed writer left in its folder keeps nobody away."""
    path = tmp_path / "group"
    one, two = (GroupDir.join(path, PLAN, writer=name) for name in ("gw0", "gw1"))
    (path / ".staging" / "killed").mkdir()

    one.finish()
    with pytest.raises(StoreError, match="another process is writing"), at_rest(path):
        pass
    two.finish()
    with at_rest(path), at_rest(path), pytest.raises(StoreError, match="another process is writing"):
        GroupDir.reopen(path)
    GroupDir.reopen(path).finish()


def test_what_they_share_is_kept_once_however_they_race(tmp_path: Path) -> None:
    """Graders and folders of files: each is whole, and no writer fails since another was faster."""
    files = tmp_path / "files"
    files.mkdir()
    for number in range(20):
        (files / f"{number}.txt").write_text(str(number))
    plan: SeedPlan = plan_seed(files)
    archive = b"a deterministic archive" * 1000
    ref = GradersRef(digest=digest_of_bytes(archive), entry="graders.py")
    writers = [GroupDir.join(tmp_path / "group", PLAN, writer=f"gw{number}") for number in range(8)]
    start = threading.Barrier(len(writers))
    failed: list[BaseException] = []

    def keep(group: GroupDir) -> None:
        start.wait()
        try:
            group.keep_graders(ref, archive)
            group.keep_tree(plan)
        except (OSError, StoreError) as error:
            failed.append(error)

    threads = [threading.Thread(target=keep, args=(group,)) for group in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for group in writers:
        group.finish()

    assert [] == failed
    store = tmp_path / "group" / ".store"
    assert archive == (store / ref.archive_name).read_bytes()
    kept = store / plan.digest.removeprefix("sha256:")
    assert {f"{number}.txt": str(number) for number in range(20)} == {
        one.name: one.read_text() for one in kept.iterdir()
    }
    assert [] == list((tmp_path / "group" / ".staging").iterdir())
