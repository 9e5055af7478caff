"""Small pictures of numbers, as SVG: where a number lies, how runs fall apart, how far two sides differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from xml.etree import ElementTree as ET

from proctor.records.comparison import Difference
from proctor.records.estimate import Bounds, Estimate, Interval
from proctor.reports.elements import element

WIDTH: Final = 240.0
EDGE: Final = 6.0
"""Room at both ends, so that a dot at 0 or 1 is whole."""


def estimate_picture(
    estimate: Estimate, bounds: Bounds | None = None, demand: float | None = None
) -> ET.Element:
    """A mean from 0 to 1 with its interval; pale behind it what it can be with what is missing.

    demand: the least that was asked for, which is marked.
    """
    parts = [_line(0, 1, "axis"), *(_tick(at) for at in (0.0, 0.25, 0.5, 0.75, 1.0))]
    if bounds is not None and not bounds.is_exact:
        parts.append(_bar(bounds.low, bounds.high, "missing", 14))
    if estimate.interval is not None:
        parts.append(_bar(_inside(estimate.interval.low), _inside(estimate.interval.high), "interval", 6))
    if demand is not None:
        parts.append(element("line", x1=_x(demand), x2=_x(demand), y1=1, y2=23, class_="demand"))
    if estimate.value is not None:
        parts.append(element("circle", cx=_x(_inside(estimate.value)), cy=12, r=4.5, class_="value"))
    return _picture(parts, 24, "scale")


def share_picture(value: float | None) -> ET.Element:
    """A short bar for a number from 0 to 1; an empty one where it is undefined."""
    parts = [element("rect", x=0, y=0, width=60, height=6, rx=3, class_="track")]
    if value:
        parts.append(element("rect", x=0, y=0, width=round(60 * value, 2), height=6, rx=3, class_="filled"))
    return element(
        "svg",
        parts,
        viewBox="0 0 60 6",
        width=60,
        height=6,
        aria_hidden="true",
        focusable="false",
        class_="share",
    )


def parts_picture(parts: Sequence[tuple[str, int]]) -> ET.Element:
    """Counts that add up to a whole, one beside the other; each has the class of its name."""
    whole = sum(count for _, count in parts) or 1
    drawn: list[ET.Element] = []
    start = 0.0
    for name, count in parts:
        if count:
            width = 100 * count / whole
            drawn.append(
                element("rect", x=round(start, 3), y=0, width=round(width, 3), height=4, class_=name)
            )
            start += width
    return element(
        "svg",
        drawn,
        viewBox="0 0 100 4",
        preserveAspectRatio="none",
        aria_hidden="true",
        focusable="false",
        class_="parts",
    )


def difference_picture(line: Difference, reach: float, margin: float) -> ET.Element:
    """A difference with its interval, around 0; pale behind it the differences that count as none.

    reach: the largest difference that has room; more is cut off.
    """

    def place(value: float) -> float:
        return (max(-reach, min(reach, value)) / reach + 1) / 2

    parts = [_line(0, 1, "axis"), _bar(place(-margin), place(margin), "missing", 14)]
    parts.append(element("line", x1=_x(0.5), x2=_x(0.5), y1=2, y2=22, class_="zero"))
    if line.interval is not None:
        parts.append(_bar(place(line.interval.low), place(line.interval.high), "interval", 6))
    if line.value is not None:
        parts.append(element("circle", cx=_x(place(line.value)), cy=12, r=4.5, class_="value"))
    return _picture(parts, 24, "scale")


def reach_of(intervals: Sequence[Interval | None]) -> float:
    """The largest end of some intervals around 0, and a little room."""
    ends = [abs(end) for one in intervals if one is not None for end in (one.low, one.high)]
    return min(1.0, max([0.1, *ends]) * 1.1)


def _picture(parts: Sequence[ET.Element], height: int, name: str) -> ET.Element:
    """The numbers stand in words beside every picture; who hears the page needs no second time."""
    return element(
        "svg", parts, viewBox=f"0 0 {WIDTH:g} {height}", aria_hidden="true", focusable="false", class_=name
    )


def _x(value: float) -> float:
    return round(EDGE + value * (WIDTH - 2 * EDGE), 2)


def _inside(value: float) -> float:
    return max(0.0, min(1.0, value))


def _line(start: float, end: float, name: str) -> ET.Element:
    return element("line", x1=_x(start), x2=_x(end), y1=12, y2=12, class_=name)


def _tick(at: float) -> ET.Element:
    return element("line", x1=_x(at), x2=_x(at), y1=9, y2=15, class_="axis")


def _bar(low: float, high: float, name: str, height: int) -> ET.Element:
    width = max(1.0, _x(high) - _x(low))
    return element(
        "rect", x=_x(low), y=12 - height / 2, width=round(width, 2), height=height, rx=2, class_=name
    )
