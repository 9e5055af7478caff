"""How judges are asked: as the user says, else the environment, else the settings of the project."""

from __future__ import annotations

from proctor import wiring
from proctor.judges.setup import JudgeSetup
from proctor.loading.settings import find_settings
from proctor.records.judging import JudgeOptions


def judge_setup(options: JudgeOptions) -> JudgeSetup:
    """The setup that holds in the current folder.

    Raises:
        UsageError: the settings cannot be read.
    """
    settings = find_settings(wiring.here())
    return wiring.judge_setup(
        options, model=settings.get("judge_model").value, agency_cmd=settings.get("agency_cmd").value
    )
