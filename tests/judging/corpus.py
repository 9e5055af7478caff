"""The corpus of replies, and what each of them should be read as. By hand: `python -m tests.judging.corpus`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from proctor.core.verdicts import BINARY, UNIT, Scale, Unreadable, Verdict, read_verdict

SCALES: Mapping[str, Scale] = {
    "unit": UNIT,
    "ten": Scale(high=10),
    "five": Scale(low=1, high=5),
    "hundred": Scale(high=100),
    "binary": BINARY,
    "choices": Scale(kind="choices", choices={"good": 1.0, "fair": 0.5, "poor": 0.0}),
    "letters": Scale(kind="choices", choices={"A": 1.0, "B": 0.0, "tie": 0.5}),
}


def corpus() -> list[dict[str, Any]]:
    """All entries, in the order of the file."""
    return yaml.safe_load((Path(__file__).parent / "replies.yaml").read_text(encoding="utf-8"))


def faults(entry: Mapping[str, Any], read: Verdict | Unreadable) -> list[str]:
    """How what was read differs from what the entry says."""
    if isinstance(read, Unreadable):
        wanted = entry.get("kind", f"value {entry.get('value')}")
        return [] if read.kind == entry.get("kind") else [f"wanted {wanted}, read {read.kind}: {read.reason}"]
    if "kind" in entry:
        return [f"wanted {entry['kind']}, read {read.value} ({read.label})"]
    found = {"value": round(read.value, 9), "label": read.label, "reasoning": read.reasoning}
    return [
        f"{name}: wanted {entry[name]!r}, read {found[name]!r}"
        for name in found
        if name in entry and entry[name] != found[name]
    ]


def main() -> None:
    """Print the table of the corpus."""
    entries = corpus()
    right = 0
    print(f"{'':5}{'REPLY':<58}{'SCALE':<9}{'READ AS':<16}")
    for entry in entries:
        read = read_verdict(entry["reply"], SCALES[entry["scale"]])
        wrong = faults(entry, read)
        right += not wrong
        said = read.kind if isinstance(read, Unreadable) else f"{read.value:g}"
        print(
            f"{'ok' if not wrong else 'NOT':<5}{entry['name']:<58}{entry['scale']:<9}{said:<16}{'; '.join(wrong)}".rstrip()
        )
    verdicts = sum("kind" not in entry for entry in entries)
    print(
        f"\n{right} of {len(entries)} as they should be: {verdicts} with a verdict, {len(entries) - verdicts} without"
    )


if __name__ == "__main__":
    main()
