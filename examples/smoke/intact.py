"""A gate that several tests share: the files that the agent was given are as they were."""

from pathlib import Path

from proctor import Grade, failed, grader, passed


def intact(*but):
    """Every file of the fixture is still there, unmodified, save those named in `but`, which the work is about."""

    @grader(name="fixture-intact", must_pass=True)
    def fixture_intact(workdir, fixture) -> Grade:
        changed = [
            name for name in _files_in(fixture) if name not in but and not _same(fixture, workdir, name)
        ]
        return failed(f"changed or gone: {', '.join(changed)}") if changed else passed()

    return fixture_intact


def _files_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _same(fixture, workdir, name):
    left = Path(workdir, name)
    return left.is_file() and not left.is_symlink() and left.read_bytes() == Path(fixture, name).read_bytes()
