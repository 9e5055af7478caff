"""The golden values that the original tool computed over four recorded outputs, by Python graders."""

from __future__ import annotations

import pytest

from tests.conftest import Project

GRADERS = """
from proctor import Contains, ExactMatch, Similarity, grader

graders = [
    ExactMatch(),
    Contains(name="has-answer", weight=2),
    Similarity(weight=0.5),
    grader(lambda output: len(str(output)) <= 20, name="concise"),
    # No trace was recorded, so no cost is known; the original's trace of the same runs cost 0.
    grader(lambda record: not record.metrics.cost_usd_total, name="free"),
]
"""

GATE = """
from proctor import ExactMatch, grader

graders = [
    ExactMatch(must_pass=True),
    grader(lambda output: 0.25 if output is None else 1, name="spoke"),
]
"""

TESTS = [
    ("france", "capital of France", "Paris", "Paris"),
    ("japan", "capital of Japan", "Tokyo", "The capital of Japan is Tokyo."),
    ("light", "speed of light", "299792459 m/s", "299792458 m/s"),
    ("nothing", "say nothing", "silence", None),
]


def test_the_same_outputs_get_the_same_numbers(project: Project) -> None:
    """france 1.000, japan 0.561, light 0.448, nothing 0.000, mean 0.502, exit 2.

    japan: (0 + 2*1 + 0.5*(1 - 25/30) + 0 + 1) / 5.5 = 3.08333/5.5 = 0.5606
    light: (0 + 2*0 + 0.5*(1 - 1/13) + 1 + 1) / 5.5 = 2.46154/5.5 = 0.4476
    mean: (1 + 0.5606 + 0.4476 + 0) / 4 = 0.5020
    """
    project.write("suite/graders.py", GRADERS)
    project.write("suite/graders_gate.py", GATE)
    inputs = [
        {
            "id": name,
            "input": asked,
            "expected": expected,
            "graders": "graders_gate.py" if name == "nothing" else "graders.py",
        }
        for name, asked, expected, _ in TESTS
    ]
    project.write("suite/suite.json", {"inputs": inputs})
    outputs = {asked: output for _, asked, _, output in TESTS}
    project.write("agent.py", f"OUTPUTS = {outputs!r}\n\ndef main(text):\n    return OUTPUTS[text]\n")
    project("run", "agent.py", "--suite", "suite/suite.json", "--out", "group")
    said = project.grade()
    runs = {run["test"]: run for run in said.json["groups"][0]["runs"]}

    assert 2 == said.code
    assert {
        "france": 1.0,
        "japan": pytest.approx(0.5606060606060607),
        "light": pytest.approx(0.44755244755244755),
        "nothing": 0.0,
    } == {name: run["objective"] for name, run in runs.items()}
    assert 0.502 == pytest.approx(said.json["mean"], abs=0.0005)
    assert {
        "exact-match": 0.0,
        "has-answer": 1.0,
        "similarity": pytest.approx(1 / 6),
        "concise": 0.0,
        "free": 1.0,
    } == {grade["grader"]: grade["score"] for grade in runs["japan"]["grades"]}
    assert [0.0, 0.25] == [grade["score"] for grade in runs["nothing"]["grades"]]
