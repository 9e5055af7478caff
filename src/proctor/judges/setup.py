"""How judges are asked in one command, and about which run. Nothing here is dear to import."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from proctor.records.json_value import Json
from proctor.records.suite import Test
from proctor.records.trace import Event

DEFAULT_COMMAND: Final = "agency"
"""How the Agency command line is started."""

NO_MODEL: Final = "no judge model is configured"
NO_MODEL_FIX: Final = (
    "Name one with --judge-model PROVIDER/NAME, PROCTOR_JUDGE_MODEL or `judge_model` in the settings, and set its "
    "provider's key, such as OPENAI_API_KEY or ANTHROPIC_API_KEY; a local server needs only its address, such as "
    "OPENAI_BASE_URL."
)


class JudgeSetup(msgspec.Struct, frozen=True, kw_only=True):
    """How judges are asked in one command.

    Attributes:
        model: PROVIDER/NAME for questions that name none; None when none is configured.
        max_cost_usd: what all questions together may cost; None for no limit.
        answers: folder of the cache of answers; None to ask everything anew.
        environment: holds keys and addresses.
        agency: how the Agency command line is started.
    """

    model: str | None = None
    max_cost_usd: float | None = None
    answers: Path | None = None
    environment: Mapping[str, str] = {}
    agency: str = DEFAULT_COMMAND


class JudgedRun(msgspec.Struct, frozen=True, kw_only=True):
    """The run that a judge is asked about.

    Attributes:
        output: what the agent answered; None when that was nothing.
        test: with goal and expected value.
        workdir: the files as the agent left them.
        events: what its trace tells of.
        base: folder of the unpacked grading module, to which judge files are relative.
        root: folder that all of the grading code was unpacked into.
        snapshot: digest of the grading code; empty for a test without.
    """

    output: Json
    test: Test
    workdir: Path
    events: tuple[Event, ...] = ()
    base: Path | None = None
    root: Path | None = None
    snapshot: str = ""
