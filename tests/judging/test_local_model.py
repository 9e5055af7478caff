"""The real local model speaks the protocol, and holds the schema that it is given."""

from __future__ import annotations

import pytest

from proctor.core.verdicts import UNIT, Scale, Verdict, read_verdict
from proctor.judges.rendering import schema_of
from proctor.models.open import open_model
from proctor.models.question import Message, Question
from tests.judging import local_model

pytestmark = [pytest.mark.slow, pytest.mark.local_llm]
CHOICES = Scale(kind="choices", choices={"A": 1.0, "B": 0.0, "tie": 0.5})


@pytest.mark.parametrize("scale", [UNIT, Scale(kind="binary"), CHOICES, Scale(low=1, high=5)])
def test_a_real_model_held_to_a_schema_gives_a_verdict_on_its_scale(
    scale: Scale, local_base_url: str
) -> None:
    model = open_model(f"local/{local_model.MODEL}", {"LOCAL_BASE_URL": local_base_url, "LOCAL_API_KEY": "x"})
    asked = (
        Message("system", "You are a judge."),
        Message("user", "Einstein was born in 1879. Is that right?"),
    )
    question = Question(messages=asked, schema=schema_of(scale), temperature=0.0, max_tokens=200)
    first, again = model.ask(question), model.ask(question)

    assert isinstance(read_verdict(first.text, scale), Verdict)
    assert first.text == again.text
    assert (first.tokens_in or 0) > 10
    assert (first.tokens_out or 0) > 5
    assert not first.is_cut


def test_a_real_model_without_a_schema_talks(local_base_url: str) -> None:
    """And where it does not come to an end, the reply says that it was cut."""
    model = open_model(f"local/{local_model.MODEL}", {"LOCAL_BASE_URL": local_base_url, "LOCAL_API_KEY": "x"})
    reply = model.ask(
        Question(messages=(Message("user", "Tell me a long story."),), temperature=0.0, max_tokens=12)
    )

    assert reply.text
    assert reply.is_cut
