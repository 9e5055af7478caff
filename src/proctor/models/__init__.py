"""Asking a language model: one question, one reply, whoever the provider is.

from proctor.models import Message, Question, open_model

model = open_model("openai/gpt-5-mini", environment)
reply = model.ask(Question(messages=(Message(role="user", content="..."),)))
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proctor.errors import ModelError
    from proctor.models.open import open_model
    from proctor.models.question import Message, Model, Question, Reply

__all__ = ["Message", "Model", "ModelError", "Question", "Reply", "open_model"]

_HOMES = {"ModelError": "proctor.errors", "open_model": "proctor.models.open"}


def __getattr__(name: str) -> Any:
    """Import a name when it is asked for: records cost nothing, clients do."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES.get(name, "proctor.models.question")), name)
