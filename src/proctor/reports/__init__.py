"""Reports in the forms that other programs and people read: JSON, JUnit, Markdown, and one page of HTML.

`write_report` is public; nothing else here is.
"""

from __future__ import annotations

from proctor.reports.writing import (
    COMPARISON_ENDINGS,
    ENDINGS,
    WITH_DETAILS,
    check_report,
    write_comparison,
    write_report,
)

__all__ = [
    "COMPARISON_ENDINGS",
    "ENDINGS",
    "WITH_DETAILS",
    "check_report",
    "write_comparison",
    "write_report",
]
