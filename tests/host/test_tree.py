"""Moving what an agent has left."""

import os
import tempfile
from pathlib import Path

import pytest

from proctor.host.tree import move_tree, remove_tree


def make(root: Path) -> Path:
    src = root / "workdir"
    (src / "a" / "b").mkdir(parents=True)
    (src / "a" / "file").write_text("content")
    (src / "a" / "file").chmod(0o755)
    (src / "a" / "link").symlink_to("/etc/passwd")
    (src / "folder-link").symlink_to("/etc")
    os.mkfifo(src / "a" / "pipe")
    (src / "locked").mkdir()
    (src / "locked" / "inside").touch()
    (src / "locked").chmod(0)
    with (src / "sparse").open("wb") as sparse:
        sparse.write(b"head")
        sparse.truncate(1 << 33)
    return src


@pytest.fixture
def other_file_system(tmp_path):
    here = tmp_path.stat().st_dev
    for place in ("/dev/shm", "/var/tmp", str(Path.home()), "/run"):
        if Path(place).is_dir() and os.access(place, os.W_OK) and Path(place).stat().st_dev != here:
            folder = Path(tempfile.mkdtemp(dir=place))
            yield folder
            remove_tree(folder)
            return
    pytest.skip("there is one file system only")


def check(src: Path, dst: Path, skipped: list[str]) -> None:
    assert ["a/pipe (FIFO)"] == skipped
    assert not src.exists()
    assert "content" == (dst / "a" / "file").read_text()
    assert os.access(dst / "a" / "file", os.X_OK)
    assert ["/etc/passwd", "/etc"] == [
        str(link.readlink()) for link in (dst / "a" / "link", dst / "folder-link")
    ]
    assert (dst / "a" / "b").is_dir()
    assert (dst / "locked" / "inside").is_file()
    assert not os.path.lexists(dst / "a" / "pipe")
    sparse = (dst / "sparse").stat()
    assert (1 << 33, True) == (sparse.st_size, sparse.st_blocks < 1000)


def test_moved_on_one_file_system(tmp_path):
    """Everything but the special files arrives, and links are as they were."""
    src, dst = make(tmp_path), tmp_path / "kept"

    check(src, dst, move_tree(src, dst))


def test_moved_between_file_systems(tmp_path, other_file_system):
    """Between file systems the same arrives; a sparse file stays sparse."""
    src, dst = make(tmp_path), other_file_system / "kept"

    check(src, dst, move_tree(src, dst))


@pytest.mark.parametrize("instead", ["nothing", "link", "file"])
def test_workdir_that_is_gone_is_an_empty_one(tmp_path, instead):
    """An agent that removes its workdir, or puts a link there, leaves an empty one, and nothing else is touched."""
    target = tmp_path / "target"
    target.mkdir()
    os.mkfifo(target / "pipe")
    src, dst = tmp_path / "workdir", tmp_path / "kept"
    if instead == "link":
        src.symlink_to(target)
    elif instead == "file":
        src.touch()

    assert [". (gone)"] == move_tree(src, dst)
    assert ([], True) == (list(dst.iterdir()), (target / "pipe").exists())
