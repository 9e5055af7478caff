"""Whether a grader left the recorded workdir as it was: it runs beside the run itself, and may only read it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

from proctor.ports import Grader
from proctor.records.grade import Cause, Defect, Grade, inconclusive

_MOST_NAMED: Final = 5

Marks: TypeAlias = dict[str, tuple[int, int, int]]
"""By path: mode, size, and the time of the last change in nanoseconds; of a folder the mode alone."""


def marks_of(workdir: Path) -> Marks:
    """What can be seen of every file and folder without reading any; no link is followed."""
    return dict(_marks(os.fspath(workdir)))


class Watch:
    """Looks at a workdir around the graders that could change it.

    Watched are those whose code is the author's and runs beside the run: a function, a class of a module. What
    comes with proctor reads; scripts and commands have a view or a copy of their own.
    """

    def __init__(self, workdir: Path) -> None:
        self._workdir = workdir
        self._before: Marks | None = None

    def begin(self, grader: Grader) -> None:
        """The grader is about to be asked."""
        if self._before is None and _is_watched(grader):
            self._before = marks_of(self._workdir)

    def blame(self, grader: Grader) -> Grade | None:
        """What the grader's grade is instead when it changed the workdir; None when it did not."""
        if self._before is None or not _is_watched(grader):
            return None
        before, self._before = self._before, marks_of(self._workdir)
        return None if before == self._before else _blamed(grader.options.name, before, self._before)


def _is_watched(grader: Grader) -> bool:
    module = type(grader).__module__
    return module == "proctor.graders.function" or not module.startswith("proctor.")


def _blamed(name: str, before: Marks, after: Marks) -> Grade:
    said = [
        *(f"added {path!r}" for path in sorted(after.keys() - before.keys())),
        *(f"removed {path!r}" for path in sorted(before.keys() - after.keys())),
        *(
            f"changed {path!r}"
            for path in sorted(before.keys() & after.keys())
            if before[path] != after[path]
        ),
    ]
    more = f", and {len(said) - _MOST_NAMED} more" if len(said) > _MOST_NAMED else ""
    message = (
        f"grader {name!r} changed the files that the agent left: {', '.join(said[:_MOST_NAMED])}{more}; "
        "a grader may only read them, and write to a folder of its own"
    )
    defect = Defect(type="ChangedWorkdir", message=message)
    return inconclusive(message, cause=Cause.GRADER_CHANGED_WORKDIR, defect=defect)


def _marks(root: str) -> Iterator[tuple[str, tuple[int, int, int]]]:
    waiting = [""]
    while waiting:  # an agent can nest folders deeper than Python nests calls
        inside = waiting.pop()
        try:
            with os.scandir(f"{root}/{inside}") as listing:
                entries = list(listing)
        except OSError:
            continue
        for entry in entries:
            if entry.name == "index" and inside.endswith(".git/"):
                # Git's own cache of what it has seen, which it writes anew when somebody asks for the status.
                continue
            status = entry.stat(follow_symlinks=False)
            is_folder = entry.is_dir(follow_symlinks=False)
            # The size and the time of a folder follow from what is in it, which is looked at itself.
            size, at = (0, 0) if is_folder else (status.st_size, status.st_mtime_ns)
            yield f"{inside}{entry.name}", (status.st_mode, size, at)
            if is_folder:
                waiting.append(f"{inside}{entry.name}/")
