"""A page can be followed in another environment, and what is otherwise there is found."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.docs.follow import follow

PROGRAMS = Path(sys.executable).parent
PAGE = """
<!-- illustration -->
```console
$ pip install proctor
```

<!-- file: suite.jsonl -->
```json
{"id": "one", "input": "1"}
{"id": "two", "input": "2"}
```

<!-- run -->
```console
$ proctor tests suite.jsonl
one
two
2 tests
$ proctor tests nowhere
...
$ echo $?
1
```
"""


def test_a_page_that_is_right_is_followed_to_its_end(tmp_path: Path) -> None:
    """Files are written, commands typed, exit codes looked at; what is only illustrated is left out."""
    steps = follow(PAGE, tmp_path / "project", PROGRAMS)

    assert [("proctor tests suite.jsonl", ""), ("proctor tests nowhere", "")] == [
        (step.command, step.wrong) for step in steps
    ]


def test_what_is_otherwise_is_told(tmp_path: Path) -> None:
    """Another line, another exit code, and a command that fails where the page does not say so."""
    other_line = PAGE.replace("2 tests", "3 tests")
    other_code = PAGE.replace("$ echo $?\n1", "$ echo $?\n2")
    untold = PAGE.replace("$ echo $?\n1\n", "")

    for number, page in enumerate((other_line, other_code, untold)):
        steps = follow(page, tmp_path / str(number) / "project", PROGRAMS)

        assert any(step.wrong for step in steps), page
