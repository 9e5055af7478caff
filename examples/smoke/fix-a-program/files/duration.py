"""Reads durations such as `1h30m` and `45s`; `python duration.py 1h30m` prints the seconds."""

import re
import sys

SECONDS = {"h": 3600, "m": 60, "s": 1}


def seconds(text):
    """The number of seconds, or ValueError for a text that is no duration."""
    total = 0
    for number, unit in re.findall(r"([0-9]+)([hms])", text):
        total = int(number) * SECONDS[unit]
    return total


if __name__ == "__main__":
    print(seconds(sys.argv[1]))
