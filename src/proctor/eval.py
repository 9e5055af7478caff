"""Outcome graders: the contract of a grading script, typed end to end.

A script is a file of its own that defines `grade`, `def` or `async def`:

    from proctor.eval import EvalGraderContext, EvalScriptOutcome

    def grade(context: EvalGraderContext) -> EvalScriptOutcome:
        if (context.fixture_path / "result.json").exists():
            return EvalScriptOutcome(outcome="pass", detail="The result is there.")
        return EvalScriptOutcome(outcome="fail", detail="There is no result.json.")

and a grading module names it: `graders = [expect_outcome(script="./graders/status_result.py")]`.

`expect_command("python -m pytest -q tests", holdout=True)` runs a program instead, in a copy of the workdir.
"""

from __future__ import annotations

from proctor.graders.command import expect_command
from proctor.graders.outcome_script import expect_outcome
from proctor.records.outcome_script import EvalGraderContext, EvalGraderFunction, EvalScriptOutcome

__all__ = ["EvalGraderContext", "EvalGraderFunction", "EvalScriptOutcome", "expect_command", "expect_outcome"]
