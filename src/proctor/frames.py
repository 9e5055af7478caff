"""Recorded runs as a data frame, with the columns of `proctor export`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.errors import UsageError

if TYPE_CHECKING:
    from proctor.evaluation import Group
    from proctor.records.export import TableName

DTYPES = {"text": "object", "integer": "Int64", "number": "Float64", "boolean": "boolean"}
"""Those of pandas in which a missing value stays missing, and an integer an integer."""


def load(*paths: str | Path | Group, table: TableName = "runs") -> Any:
    """A pandas data frame of recorded runs: one row for each run, grade, answer or event.

    Args:
        paths: run directories, groups, or folders of groups.
        table: `runs`, `grades`, `labels` or `events`.

    Raises:
        UsageError: pandas is not installed, no path is given, or there is no such table.
        StoreError: a path does not exist, or holds no run.
    """
    from proctor.engine.exporting import exported
    from proctor.records.export import TABLES

    if table not in TABLES:
        raise UsageError(f"there is no table {table!r}", fix=f"Name one of {', '.join(TABLES)}.")
    if not paths:
        raise UsageError("no run is named", fix="Name a run directory, a group, or a folder of groups.")
    try:
        pandas: Any = import_module("pandas")
    except ModuleNotFoundError as error:
        raise UsageError(
            "a data frame needs the library pandas, which is not installed",
            fix="Install it with the extra: pip install 'proctor[export]'",
        ) from error
    found = [path if isinstance(path, str | Path) else path.path for path in paths]
    rows = list(exported(map(Path, found), table))
    return pandas.DataFrame(
        {
            column.name: pandas.array([row[column.name] for row in rows], dtype=DTYPES[column.kind])
            for column in TABLES[table]
        }
    )
