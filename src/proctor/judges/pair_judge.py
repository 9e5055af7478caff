"""The judge of pairs: which of two agents' work meets a goal better? Its version names its prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from proctor.core.fencing import fenced, nonce_of, visible, visible_name
from proctor.core.judge_file import JudgePrompt
from proctor.core.verdict_scale import Scale
from proctor.judges.asking import Means, PromptJudge
from proctor.judges.case import Case
from proctor.judges.rendering import RULES, answer_form
from proctor.models.question import Message, Model
from proctor.records.grade import Cause, inconclusive
from proctor.records.judging import Judged, Judging

VERSION: Final = 1
"""Raised whenever a word of the prompt here, or of `rendering.RULES`, changes; a test holds the two together."""

TIMEOUT_S: Final = 120.0
"""Two works take longer to read than one."""

FIRST, SECOND, TIE = "first", "second", "tie"
SCALE: Final = Scale(kind="choices", choices={FIRST: 1.0, SECOND: 0.0, TIE: 0.5})
_NOTHING: Final = "(nothing)"

PROMPT: Final = """\
Two agents were given the same task. Say whose work meets the goal better.

The goal, which the author of the test has set:
{{goal}}

What the author expects. Where something stands here, it is the authority on what is right; where nothing does, judge
by the goal alone:
{{expected}}

What the task was:
{{input}}

The first agent's work:
{{first}}

The second agent's work:
{{second}}

How to judge:
- Read both wholly before you decide. Look at what each got right and wrong, measured by the goal.
- Which of them stands first here says nothing about them: the same question is asked the other way round too.
- More words, a surer tone and a finer layout are no merits where the goal does not ask for them.
- Work that contradicts what is expected is worse than work that does not, however good the rest is.
- It is a tie where a careful person would not mind which of the two they were given.
"""


class PairJudge:
    """Asks a model about pairs.

    Args:
        model: who is asked.
        base_url: where.
        means: budget and cache.
        samples: how often each pair will be asked; with several, the model is left its own temperature, since the
            same question at temperature 0 has the same answer.
    """

    def __init__(self, model: Model, *, base_url: str, means: Means, samples: int = 1) -> None:
        temperature = 0.0 if samples == 1 else None
        prompt = JudgePrompt(text=PROMPT, scale=SCALE, temperature=temperature, timeout_s=TIMEOUT_S)
        self._prompt = prompt
        self._judge = PromptJudge(
            f"pairwise-judge@{VERSION}", prompt, SCALE, model, base_url=base_url, means=means
        )
        self.identity = self._judge.identity

    def ask(self, first: Case, second: Case, *, sample: int) -> Judged:
        """Which of the two is better: a grade with `first`, `second` or `tie` as the choice in its evidence.

        Both have the same goal, expected value and input. Work that is nothing is not judged, and costs nothing.
        """
        judging = Judging(judge=self.identity, goal=first.goal)
        for case in (first, second):
            if case.lacks is not None:
                return Judged(grade=inconclusive(case.lacks, cause=Cause.NOTHING_TO_JUDGE), judging=judging)
        return self._judge.put(messages_for(self._prompt, first, second), judging, sample=sample)


def messages_for(prompt: JudgePrompt, first: Case, second: Case) -> tuple[Message, ...]:
    """What the model is told; every word of an agent stands between fences."""
    shared = [first.goal, *(text for text in (first.expected, first.input) if text is not None)]
    nonce = nonce_of([*shared, *_texts(first), "", *_texts(second)])

    def data(label: str, text: str | None) -> str:
        return _NOTHING if text is None else fenced(label, text, nonce=nonce)

    def work(name: str, case: Case) -> str:
        parts = [data(f"{name} output", case.output)]
        if case.tool_calls is not None:
            parts.append(data(f"{name} tool calls", case.tool_calls))
        parts += [data(f"{name} file {visible_name(file.name)}", file.text) for file in case.files]
        return "\n\n".join(parts)

    values: Mapping[str, str] = {
        "goal": visible(first.goal).strip(),
        "expected": data("expected", first.expected),
        "input": data("input", first.input),
        "first": work(FIRST, first),
        "second": work(SECOND, second),
    }
    return (Message("system", RULES), Message("user", f"{prompt.filled(values)}\n{answer_form(SCALE)}"))


def _texts(case: Case) -> list[str]:
    given = [text for text in (case.output, case.tool_calls) if text is not None]
    return [*given, *(part for file in case.files for part in file)]
