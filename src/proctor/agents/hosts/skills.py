"""Skills that an agent has read, where its host has no word for that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from proctor.records.json_value import Json


def skills_read(given: Iterable[Json], skills: Sequence[str]) -> list[str]:
    """Those of the skills whose own file is named in what tools were given, each once, in the order of that.

    A skill's name alone says nothing: whoever writes about a skill does not use it.

    >>> skills_read([{"command": "cat /p/skills/greeting/SKILL.md"}, "the skill farewell"], ["farewell", "greeting"])
    ['greeting']
    """
    if not skills:
        return []
    pattern = re.compile(rf"skills/({'|'.join(map(re.escape, skills))})/SKILL\.md(?![\w.])")
    found = (match[1] for arguments in given for match in pattern.finditer(_text_of(arguments)))
    return list(dict.fromkeys(found))


def _text_of(value: Json) -> str:
    return value if isinstance(value, str) else str(value)
