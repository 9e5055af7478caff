"""A report into a file, whose ending says the form. The file appears whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from proctor.errors import UsageError

if TYPE_CHECKING:
    from proctor.records.comparison import Comparison
    from proctor.records.details import Details
    from proctor.records.report import Report

ENDINGS: Final = (".json", ".xml", ".md", ".html")
"""Of a report: JSON, JUnit, Markdown, one page of HTML."""

WITH_DETAILS: Final = (".xml", ".html")
"""The forms that show what a Report does not hold."""

COMPARISON_ENDINGS: Final = (".json", ".md", ".html")
"""Of a comparison, which has no tests that JUnit could tell of."""


def check_report(path: Path, endings: Sequence[str] = ENDINGS) -> None:
    """Find out before the work whether a report can be written after it.

    Raises:
        UsageError: the ending names no form, or the file cannot be written.
    """
    if path.suffix.lower() not in endings:
        listed = f"{', '.join(endings[:-1])} or {endings[-1]}"
        raise UsageError(
            f"{str(path)!r} ends in no form of a report",
            fix=f"Name a file that ends in {listed} with -o; nothing was done.",
        )
    check_place(path)


def check_place(path: Path) -> None:
    """Find out before the work whether a file can be written after it.

    Raises:
        UsageError: it cannot.
    """
    folder = path.absolute().parent
    what = ""
    try:
        if path.is_dir():
            what = "is a folder"
        elif not folder.is_dir() or not os.access(folder, os.W_OK):
            what = f"cannot be written: {str(folder)!r} is no folder to write into"
    except OSError as error:
        what = f"cannot be written: {error.strerror}"
    if what:
        raise UsageError(f"{str(path)!r} {what}", fix="Name another file; nothing was done.")


def write_report(report: Report, path: str | Path, details: Details | None = None) -> None:
    """Write a report in the form that the ending of `path` names: .json, .xml (JUnit), .md, .html.

    A report without a decision, which only a grading makes, is drawn with the one that its gates come to, so that
    nothing that people or CI systems look at is without a verdict; the JSON is the report as it is.

    details: what JUnit and the page show of the runs beside their numbers; read from the run directories when None.

    Raises:
        UsageError: the ending names no form, or the file cannot be written.
    """
    path = Path(path)
    check_report(path)
    if report.decision is None and path.suffix.lower() != ".json":
        from proctor.core.decision import Demands, decide

        report = decide(report, Demands())
    if details is None and path.suffix.lower() in WITH_DETAILS:
        from proctor.engine.details import details_of

        details = details_of(report)
    write_whole(path, _content(report, path.suffix.lower(), details or {}))


def write_comparison(found: Comparison, path: str | Path) -> None:
    """Write a comparison in the form that the ending of `path` names.

    Raises:
        UsageError: the ending names no form, or the file cannot be written.
    """
    path = Path(path)
    check_report(path, COMPARISON_ENDINGS)
    ending = path.suffix.lower()
    if ending == ".md":
        from proctor.reports.markdown import comparison_markdown

        content = comparison_markdown(found).encode()
    elif ending == ".html":
        from proctor.reports.page import comparison_page

        content = comparison_page(found)
    else:
        content = json_of(found)
    write_whole(path, content)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that appears whole or not at all.

    Raises:
        UsageError: it cannot be written; what was there before is there still.
    """
    # Several processes may write the same report, each its own part; a name that just fits has to fit then too.
    temporary = path.with_name(f".{path.name[:40]}.{os.getpid()}.part")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise UsageError(
            f"{str(path)!r} cannot be written: {error.strerror}", fix="Name another file."
        ) from error


def _content(report: Report, ending: str, details: Details) -> bytes:
    if ending == ".xml":
        from proctor.reports.junit import junit

        return junit(report, details)
    if ending == ".md":
        from proctor.reports.markdown import report_markdown

        return report_markdown(report).encode()
    if ending == ".html":
        from proctor.reports.page import report_page

        return report_page(report, details)
    return json_of(report)


def json_of(record: object) -> bytes:
    """A record as one JSON document, for people to read too."""
    import msgspec

    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"
