"""What the type checker accepts of an outcome script, and what it refuses, each with the words it uses."""

from __future__ import annotations

CASES = {
    "accepted_async": """
import json
from proctor.eval import EvalGraderContext, EvalGraderFunction, EvalScriptOutcome

async def grade(context: EvalGraderContext) -> EvalScriptOutcome:
    status = json.loads((context.fixture_path / "result.json").read_text())
    if status.get("state") == "healthy":
        return EvalScriptOutcome(outcome="pass", detail="The service reports healthy.")
    return EvalScriptOutcome(outcome="fail", detail="The service does not report healthy.")

kept: EvalGraderFunction = grade
""",
    "accepted_def": """
from proctor.eval import EvalGraderContext, EvalGraderFunction, EvalScriptOutcome

def grade(context: EvalGraderContext) -> EvalScriptOutcome:
    return EvalScriptOutcome(outcome="inconclusive", detail=f"{context.artifact_root} {context.prompt}")

kept: EvalGraderFunction = grade
""",
    "refused_outcome": """
from proctor.eval import EvalScriptOutcome

made = EvalScriptOutcome(outcome="passed", detail="It is there.")
""",
    "refused_field": """
from proctor.eval import EvalGraderContext, EvalScriptOutcome

def grade(context: EvalGraderContext) -> EvalScriptOutcome:
    return EvalScriptOutcome(outcome="pass", detail=str(context.fixturePath))
""",
    "refused_argument": """
from proctor.eval import EvalScriptOutcome

made = EvalScriptOutcome(outcome="pass", details="It is there.")
""",
    "refused_parameters": """
from proctor.eval import EvalGraderFunction, EvalScriptOutcome

def grade(output: str, expected: str) -> EvalScriptOutcome:
    return EvalScriptOutcome(outcome="pass", detail=output + expected)

kept: EvalGraderFunction = grade
""",
    "refused_return": """
from proctor.eval import EvalGraderContext, EvalGraderFunction

async def grade(context: EvalGraderContext) -> bool:
    return context.fixture_path.exists()

kept: EvalGraderFunction = grade
""",
}

SAID = {
    "refused_outcome": "\"Literal['passed']\" is not assignable to type \"Literal['pass']\"",
    "refused_field": 'Cannot access attribute "fixturePath" for class "EvalGraderContext"',
    "refused_argument": 'No parameter named "details"',
    "refused_parameters": 'is not assignable to type "EvalGraderFunction"',
    "refused_return": 'is not assignable to type "EvalGraderFunction"',
}
"""A part of what pyright says of each case that is refused."""
