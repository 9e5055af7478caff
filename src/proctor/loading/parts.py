"""What stands beside a test for those who check it, and for no agent: held-out files, solutions, wrong solutions."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from proctor.loading.disk import is_file, is_folder, is_there, names_in
from proctor.loading.entries import Context, Entry
from proctor.loading.faults import AtLine, Faults, Spot, shown

SCRIPT_ENDINGS = (".py", ".sh")
_HOLDOUT, _SOLUTION, _WRONG = "holdout", "solution", "wrong"


class Parts(NamedTuple):
    """What of it a test folder has.

    Attributes:
        holdout: the folder `holdout`.
        solution: `solution.py` or `solution.sh`.
        wrong: the scripts in the folder `wrong`, by name.
    """

    holdout: Path | None = None
    solution: Path | None = None
    wrong: tuple[Path, ...] = ()


def parts_of(entry: Entry, context: Context, faults: Faults) -> Parts:
    """The parts in a test's own folder; a test without one has none."""
    folder = entry.test_folder
    if folder is None:
        return Parts()
    solutions = _scripts(folder, context, faults, stem=_SOLUTION)
    return Parts(
        holdout=_folder(folder / _HOLDOUT, context, faults),
        solution=solutions[0] if solutions else None,
        wrong=_scripts(wrong, context, faults)
        if (wrong := _folder(folder / _WRONG, context, faults))
        else (),
    )


def _folder(path: Path, context: Context, faults: Faults) -> Path | None:
    if not is_there(path):
        return None
    if not is_folder(path):
        _note(path, context, faults, "which is not a folder", f"Make {path.name} a folder, or rename it.")
        return None
    return path if _stays(path, context, faults) else None


def _scripts(folder: Path, context: Context, faults: Faults, *, stem: str | None = None) -> tuple[Path, ...]:
    """The scripts in a folder, one for each stem, by name; other files there mean nothing."""
    by_stem: dict[str, Path] = {}
    for name in names_in(folder):
        path = folder / name
        is_script = path.suffix in SCRIPT_ENDINGS and stem in (None, path.stem)
        if not is_script or name.startswith(".") or not is_file(path) or not _stays(path, context, faults):
            continue
        if path.stem in by_stem:
            said = f"and also {shown(by_stem[path.stem].name)}"
            _note(path, context, faults, said, "Keep one of them: they have the same name.")
            continue
        by_stem[path.stem] = path
    return tuple(by_stem.values())


def _stays(path: Path, context: Context, faults: Faults) -> bool:
    if not context.leaves_checkout(path):
        return True
    _note(
        path,
        context,
        faults,
        "which leaves the repository that the suite is from",
        "Keep the files of a suite from git in its repository.",
    )
    return False


def _note(path: Path, context: Context, faults: Faults, what: str, fix: str) -> None:
    spot = Spot(AtLine(context.label_of(path.parent)))
    faults.note(spot, f"There is {shown(path.name)}, {what}.", fix)
