"""Checklists as people write them, and what is written back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proctor.core.checklists import next_revision
from proctor.errors import UsageError
from proctor.loading.checklist_writing import write_definition
from proctor.loading.checklists import read_definition
from proctor.records.checklist import CHECKLIST_SCHEMA, Checklist, Question, checklist_hash
from tests.labelling.builders import AT


def published(path: Path) -> Checklist:
    """The first revision of a file, with ids q_0, q_1 ..."""
    definition = read_definition(path)
    questions = tuple(
        Question(**{name: getattr(one, name) for name in one.__struct_fields__} | {"id": f"q_{place}"})
        for place, one in enumerate(definition.questions)
    )
    return Checklist(
        schema=CHECKLIST_SCHEMA,
        checklist="cl_x",
        name=definition.name,
        version=1,
        created_at=AT,
        hash=checklist_hash("cl_x", 1, definition.name, questions),
        questions=questions,
    )


def test_json_and_yaml_say_the_same(tmp_path: Path) -> None:
    questions = [
        {"text": "Is it right?", "weight": 2, "grader": "judge"},
        {"text": "How warm?", "kind": "scale", "points": 5},
        {"text": "What tone?", "kind": "choice", "choices": {"kind": 1, "rude": 0}},
        {"text": "What mood?", "kind": "choice", "choices": ["glad", "sad"], "deleted": True},
    ]
    (tmp_path / "c.json").write_text(json.dumps({"name": "good", "questions": questions}))
    (tmp_path / "c.yaml").write_text(
        "name: good\nquestions:\n- {text: Is it right?, weight: 2, grader: judge}\n"
        "- {text: How warm?, kind: scale, points: 5}\n"
        "- {text: What tone?, kind: choice, choices: {kind: 1, rude: 0}}\n"
        "- {text: What mood?, kind: choice, choices: [glad, sad], deleted: true}\n"
    )
    read = read_definition(tmp_path / "c.yaml")

    assert read_definition(tmp_path / "c.json") == read
    assert ((1.0, 0.0), ("kind", "rude"), 2.0) == (
        read.questions[2].worth,
        read.questions[2].choices,
        read.questions[0].weight,
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "no `name`"),
        ('{"name": "x", "questions": []}', "takes a list of questions"),
        ('{"name": "x", "questions": [{}]}', "questions[0] has no `text`"),
        ('{"name": "x", "questions": [{"text": "a", "wieght": 2}]}', "Did you mean `weight`"),
        ('{"name": "x", "questions": [{"text": "a", "weight": 0}]}', "a number above 0"),
        ('{"name": "x", "questions": [{"text": "a", "weight": -1}]}', "a number above 0"),
        ('{"name": "x", "questions": [{"text": "a", "kind": "stars"}]}', "Write yes-no, scale or choice"),
        ('{"name": "x", "questions": [{"text": "a", "kind": "scale"}]}', "has no `points`"),
        ('{"name": "x", "questions": [{"text": "a", "kind": "scale", "points": 1}]}', "from 2 to 11"),
        ('{"name": "x", "questions": [{"text": "a", "points": 3}]}', "Add `kind: scale`"),
        ('{"name": "x", "questions": [{"text": "a", "kind": "choice"}]}', "has no `choices`"),
        ('{"name": "x", "questions": [{"text": "a", "kind": "choice", "choices": ["b", "b"]}]}', "'b' twice"),
        (
            '{"name": "x", "questions": [{"text": "a", "kind": "choice", "choices": ["b", "Cannot tell"]}]}',
            "own",
        ),
        (
            '{"name": "x", "questions": [{"text": "a", "kind": "choice", "choices": {"b": 2, "c": 0}}]}',
            "from 0 to 1",
        ),
        ('{"name": "x", "questions": [{"text": "a"}], "question": 1}', "Did you mean `questions`"),
        ("[1]", "a checklist is an object"),
        ("{", "c.json:1"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "c.json"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_definition(path)

    assert said in str(caught.value)
    assert "c.json" in str(caught.value)


def test_all_faults_are_said_at_once(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("questions:\n  - texxt: a\n  - text: b\n    weight: no-number\n")
    with pytest.raises(UsageError) as caught:
        read_definition(path)

    assert {"c.yaml:1", "c.yaml:2", "c.yaml:4"} <= {Path(fault.where).name for fault in caught.value.faults}


def test_no_file_and_another_kind_of_file_are_said(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("name: x")
    for name, said in (("none.json", "There is no such file"), ("c.txt", ".json, .yaml or .yml")):
        with pytest.raises(UsageError, match=said):
            read_definition(tmp_path / name)


YAML = """\
# what we look at
name: refunds   # short

questions:
  # the one that counts
  - text: "Would you send it?"   # as it is
    weight: 2
  - {text: How warm?, kind: scale, points: 5}
"""


def test_yaml_keeps_its_comments_and_its_order(tmp_path: Path) -> None:
    """Ids go in, and nothing else moves."""
    path = tmp_path / "c.yaml"
    path.write_text(YAML)
    revision = published(path)
    write_definition(path, revision)

    assert (
        YAML.replace("# short\n\n", f"# short\n\nchecklistId: cl_x\nversion: 1\nhash: {revision.hash}\n")
        .replace('- text: "Would', '- id: q_0\n    text: "Would')
        .replace("{text: How", "{id: q_1, text: How")
        == path.read_text()
    )
    assert revision.questions == read_definition(path).questions


@pytest.mark.parametrize("name", ["c.yaml", "c.json"])
def test_what_was_published_is_what_the_file_then_says(tmp_path: Path, name: str) -> None:
    """Through two revisions: a question is added, one is deleted, and one gets another weight."""
    path = tmp_path / name
    path.write_text(
        YAML
        if name == "c.yaml"
        else '{"name": "refunds", "questions": [{"text": "Would you send it?", "weight": 2}, '
        '{"text": "How warm?", "kind": "scale", "points": 5}]}'
    )
    one = published(path)
    write_definition(path, one)
    changed = (
        Question(id="q_0", text="Would you send it?", deleted=True),
        Question(id="q_1", text="How warm?", kind="scale", points=5, weight=1.5),
        Question(id="q_2", text="What: tone?", kind="choice", choices=("a: b", "#c"), worth=(1, 0.5)),
    )
    two = next_revision(one, changed, now=AT)
    write_definition(path, two)
    read = read_definition(path)

    assert (two.name, two.version, two.hash, two.questions) == (
        read.name,
        read.version,
        read.hash,
        read.questions,
    )
    write_definition(path, two)
    assert read == read_definition(path)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text('{"name": "x", "questions": [{"text": "a"}]}')
    link = tmp_path / "c.json"
    link.symlink_to("real.json")
    write_definition(link, published(link))

    assert link.is_symlink()
    assert "q_0" in (tmp_path / "real.json").read_text()
