"""Append the Markdown report to the page of the workflow run, as far as it has room for it."""

from __future__ import annotations

import os
from pathlib import Path

MOST_BYTES = 1024 * 1024
"""What a step may write; of a step that writes more, nothing is shown."""
_CUT = "\n\n*The report is longer than this page may be; the whole of it is in the reports of the job.*\n"


def fitting(text: str, room: int) -> str:
    """As much of the text as there is room for, cut at the end of a line, with a sentence that says so."""
    if len(text.encode()) <= room:
        return text
    kept = text.encode()[: max(0, room - len(_CUT.encode()))].decode(errors="ignore")
    return kept[: kept.rfind("\n") + 1] + _CUT


def main() -> None:
    """Read the report, and write what fits."""
    report = Path(os.environ["REPORT_MARKDOWN"])
    page = Path(os.environ["GITHUB_STEP_SUMMARY"])
    there = page.stat().st_size if page.exists() else 0
    text = fitting(report.read_text(encoding="utf-8") + "\n", MOST_BYTES - there - 1)
    with page.open("a", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
