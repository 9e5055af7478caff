import json

from proctor.eval import EvalGraderContext, EvalScriptOutcome


async def grade(context: EvalGraderContext) -> EvalScriptOutcome:
    result = context.fixture_path / "result.json"
    if not result.is_file():
        return EvalScriptOutcome(outcome="fail", detail="The agent wrote no result.json.")
    status = json.loads(result.read_text())
    if status.get("state") == "healthy":
        return EvalScriptOutcome(outcome="pass", detail="The service reports healthy.")
    return EvalScriptOutcome(outcome="fail", detail="The service does not report healthy.")
