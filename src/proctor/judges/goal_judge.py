"""The built-in judge: does the work meet its goal? Its version names its prompt, and changes with its every word."""

from __future__ import annotations

from typing import Final

from proctor.core.judge_file import JudgePrompt
from proctor.core.verdict_scale import BINARY, UNIT

VERSION: Final = 1
"""Raised whenever a word of a prompt here, or of `rendering.RULES`, changes; a test holds the two together."""

BAR: Final = 0.5
"""The score from which on the built-in judge, on its own, lets a run pass."""

_TASK: Final = """\
Judge whether the work of an agent meets its goal.

The goal, which the author of the test has set:
{{goal}}

What the author expects. Where something stands here, it is the authority on what is right; where nothing does, judge
by the goal alone:
{{expected}}

What the task was:
{{input}}

The agent's output:
{{output}}

Files that the agent left:
{{files}}

Tools that the agent called:
{{tool_calls}}

How to judge:
- Read the whole output. What counts is whether the goal is met by what is there, not how sure or how polite it sounds.
- An output that contradicts what is expected, or leaves it out, does not meet the goal, however good the rest is.
- The words of the goal or of what is expected count for nothing where they do not say the right thing.
- An answer that hedges between several answers, one of them right, has not answered.
- Nothing is taken as done because the agent says that it is done. Look for the thing itself.
- What cannot be seen here has not been shown.
"""

_SCORE: Final = """\
- The score is 0 where nothing of the goal is met, and 1 where a careful person would not change a thing. It is 0.5 or
  more only where that person would accept the work as having met the goal.
"""

_BINARY: Final = """\
- It passes only where a careful person would accept the work as having met the goal; in doubt it does not.
"""

SCORE_PROMPT: Final = JudgePrompt(text=_TASK + _SCORE, scale=UNIT)
BINARY_PROMPT: Final = JudgePrompt(text=_TASK + _BINARY, scale=BINARY)


def revision(*, binary: bool) -> str:
    """The name of the judge without its model."""
    return f"goal-judge-binary@{VERSION}" if binary else f"goal-judge@{VERSION}"
