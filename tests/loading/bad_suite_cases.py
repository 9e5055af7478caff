"""Suites that somebody got wrong: a name, the files, and the source to load.

What each of them is told stands in bad_suites.txt, under the same name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any


def one(**fields: Any) -> dict[str, Any]:
    """A suite of one test with these fields besides a good id and input."""
    return {"suite.json": {"inputs": [{"id": "a", "input": "x", **fields}]}}


CASES: list[tuple[str, dict[str, Any], str]] = [
    (
        "an unknown field",
        {"suite.json": '{"inputs": [\n  {"id": "a", "input": "x"},\n  {"id": "b", "expcted": 3}\n]}'},
        "suite.json",
    ),
    ("an unknown field that is like none", one(zzz=[1]), "suite.json"),
    ("task of another tool", one(task="x"), "suite.json"),
    ("prompt of another tool", one(prompt="x"), "suite.json"),
    ("args of another tool", one(args={"n": 1}), "suite.json"),
    ("node of another tool", one(node="main"), "suite.json"),
    ("timeoutSec of another tool", one(timeoutSec=5), "suite.json"),
    ("rubric of another tool", one(rubric="nice"), "suite.json"),
    ("harnessMaxCost of another tool", one(harnessMaxCost=5), "suite.json"),
    ("an empty input", {"suite.json": {"inputs": [{"id": "a", "input": ""}]}}, "suite.json"),
    ("a number as input", {"suite.json": {"inputs": [{"id": "a", "input": 7}]}}, "suite.json"),
    ("a null as input", {"suite.json": {"inputs": [{"id": "a", "input": None}]}}, "suite.json"),
    ("a boolean as input", {"suite.json": {"inputs": [{"id": "a", "input": False}]}}, "suite.json"),
    ("an empty list as input", {"suite.json": {"inputs": [{"id": "a", "input": []}]}}, "suite.json"),
    ("a timeout of nought", one(timeout=0), "suite.json"),
    ("a timeout as text", one(timeout="60"), "suite.json"),
    ("a timeout without end", {"suite.json": '{"inputs": [{"id": "a", "timeout": 1e999}]}'}, "suite.json"),
    ("NaN", {"suite.json": '{"inputs": [{"id": "a", "expected": NaN}]}'}, "suite.json"),
    ("a boolean as trials", one(trials=True), "suite.json"),
    ("too many trials", one(trials=101), "suite.json"),
    ("a part of a trial", one(trials=1.5), "suite.json"),
    ("tags as one text", one(tags="smoke"), "suite.json"),
    ("an empty tag among good ones", one(tags=["a", "", 3]), "suite.json"),
    ("an empty goal", one(goal=""), "suite.json"),
    ("an empty description", one(description=""), "suite.json"),
    ("metadata as a list", one(metadata=[1]), "suite.json"),
    (
        "no id",
        {
            "suite.json": {
                "inputs": [
                    {"input": "When was Einstein born?"},
                    {"input": "When was Einstein born?"},
                    {"input": {"q": 1}},
                ]
            }
        },
        "suite.json",
    ),
    ("a number as id", {"suite.json": {"inputs": [{"id": 7}]}}, "suite.json"),
    ("an empty id", {"suite.json": {"inputs": [{"id": ""}]}}, "suite.json"),
    ("two hyphens in an id", {"suite.json": {"inputs": [{"id": "a--1"}]}}, "suite.json"),
    ("a blank in an id", {"suite.json": {"inputs": [{"id": "late refund"}]}}, "suite.json"),
    ("a path as id", {"suite.json": {"inputs": [{"id": "../a"}]}}, "suite.json"),
    ("a reserved id", {"suite.json": {"inputs": [{"id": "Checklists"}]}}, "suite.json"),
    ("a device as id", {"suite.json": {"inputs": [{"id": "con.txt"}]}}, "suite.json"),
    ("an id of too many bytes", {"suite.json": {"inputs": [{"id": "\u00e9" * 76}]}}, "suite.json"),
    (
        "ids that differ in case alone",
        {"suite.json": '{"inputs": [\n  {"id": "a"},\n  {"id": "A"}\n]}'},
        "suite.json",
    ),
    (
        "ids that differ in composition alone",
        {"suite.json": {"inputs": [{"id": "\u00e9"}, {"id": "e\u0301"}]}},
        "suite.json",
    ),
    ("a test that is no object", {"suite.json": {"inputs": ["x", {"id": "b"}]}}, "suite.json"),
    ("no tests", {"suite.json": {"inputs": []}}, "suite.json"),
    ("inputs that are no list", {"suite.json": {"inputs": {"a": 1}}}, "suite.json"),
    ("a misspelt list", {"suite.json": {"input_s": [{"id": "a"}]}}, "suite.json"),
    ("no list", {"suite.json": {"cases": [{"id": "a"}]}}, "suite.json"),
    ("one test as a suite file", {"birthday.json": {"id": "a", "input": "x"}}, "birthday.json"),
    ("a test.json by its name", {"einstein/test.json": {"input": "x"}}, "einstein/test.json"),
    (
        "defaults without tests",
        {"s/suite.json": {"defaults": {"trials": 2}}, "s/a/test.json": {}},
        "s/suite.json",
    ),
    (
        "defaults in two files",
        {"s/suite.json": {"defaults": {}}, "s/t.json": {"defaults": {}, "inputs": [{"id": "a"}]}},
        "s",
    ),
    ("a bare list", {"suite.json": [{"id": "a"}]}, "suite.json"),
    ("a bare text", {"suite.json": '"x"'}, "suite.json"),
    ("inputs and tests", {"suite.json": {"inputs": [{"id": "a"}], "tests": [{"id": "b"}]}}, "suite.json"),
    ("an unknown field of the suite", {"suite.json": {"inputs": [{"id": "a"}], "default": {}}}, "suite.json"),
    (
        "an unknown default",
        {"suite.json": {"defaults": {"timout": 3, "input": "x"}, "inputs": [{"id": "a"}]}},
        "suite.json",
    ),
    (
        "a default that does not fit",
        {"suite.json": {"defaults": {"trials": 0}, "inputs": [{"id": "a"}]}},
        "suite.json",
    ),
    (
        "a field twice",
        {"suite.json": '{"inputs": [\n  {"id": "a",\n   "goal": "x",\n   "goal": "y"}\n]}'},
        "suite.json",
    ),
    ("a trailing comma", {"suite.json": '{"inputs": [\n  {"id": "a"},\n]}'}, "suite.json"),
    ("a missing comma", {"suite.json": '{"inputs": [\n  {"id": "a"}\n  {"id": "b"}\n]}'}, "suite.json"),
    ("single quotes", {"suite.json": "{'inputs': []}"}, "suite.json"),
    ("a comment", {"suite.json": '{\n  // tests\n  "inputs": []}'}, "suite.json"),
    ("Python's words", {"suite.json": '{"inputs": [{"id": "a", "expected": True}]}'}, "suite.json"),
    ("a text without end", {"suite.json": '{"inputs": [{"id": "a}]}'}, "suite.json"),
    ("a line break in a text", {"suite.json": '{"inputs": [{"id": "a\nb"}]}'}, "suite.json"),
    ("a lone backslash", {"suite.json": '{"inputs": [{"id": "a", "goal": "\\d"}]}'}, "suite.json"),
    ("a file cut short", {"suite.json": '{"inputs": [{"id": "a"}'}, "suite.json"),
    ("two values in a file", {"suite.json": '{"inputs": []}\n{"inputs": []}'}, "suite.json"),
    ("a name without quotes", {"suite.json": "{inputs: []}"}, "suite.json"),
    ("an empty file", {"suite.json": " \n"}, "suite.json"),
    ("bytes that are not UTF-8", {"suite.json": b'{"inputs": [\n{"id": "\xe4"}]}'}, "suite.json"),
    ("UTF-16", {"suite.json": '{"inputs": []}'.encode("utf-16")}, "suite.json"),
    ("a NUL", {"suite.json": b'{"inputs": [\n\x00]}'}, "suite.json"),
    (
        "deep nesting",
        {"suite.json": '{"inputs": [{"id": "a", "expected": ' + "[" * 120 + "]" * 120 + "}]}"},
        "suite.json",
    ),
    ("nesting without end", {"suite.json": "[" * 100000}, "suite.json"),
    (
        "a whole number of 70 bits",
        {"suite.json": '{"inputs": [{"id": "a", "metadata": {"n": 1180591620717411303424}}]}'},
        "suite.json",
    ),
    (
        "a whole number without end",
        {"suite.json": '{"inputs": [\n{"id": "a", "expected": ' + "9" * 5000 + "}]}"},
        "suite.json",
    ),
    (
        "half of a surrogate pair",
        {"suite.json": '{"inputs": [{"id": "a", "input": "\\ud83d"}]}'},
        "suite.json",
    ),
    (
        "graders that are not there",
        {"suite.json": {"inputs": [{"id": "a", "graders": "grader.py"}]}, "graders.py": ""},
        "suite.json",
    ),
    (
        "a folder as graders",
        {"suite.json": {"inputs": [{"id": "a", "graders": "checks"}]}, "checks/graders.py": ""},
        "suite.json",
    ),
    ("graders in another language", {**one(graders="./graders.ts"), "graders.ts": ""}, "suite.json"),
    (
        "files that are not there",
        {"suite.json": {"inputs": [{"id": "a", "files": "fixtur"}]}, "fixture": None},
        "suite.json",
    ),
    (
        "a file as files",
        {"suite.json": {"inputs": [{"id": "a", "files": "a.txt"}]}, "a.txt": "x"},
        "suite.json",
    ),
    (
        "files further up",
        {"evals/suite.json": {"inputs": [{"id": "a", "files": "../secret"}]}, "secret": None},
        "evals/suite.json",
    ),
    ("an absolute path of files", one(files="/etc"), "suite.json"),
    (
        "a pattern that leaves the files",
        {"suite.json": {"inputs": [{"id": "a", "files": {"path": "f", "include": ["../*"]}}]}, "f": None},
        "suite.json",
    ),
    ("files without a path", one(files={"include": []}), "suite.json"),
    (
        "an unknown field of files",
        {"suite.json": {"inputs": [{"id": "a", "files": {"path": "f", "includes": ["*"]}}]}, "f": None},
        "suite.json",
    ),
    ("files as a list", one(files=["f"]), "suite.json"),
    (
        "mixed shapes",
        {"s/a/test.json": {"input": "x"}, "s/b.json": {"input": "y"}, "s/c.csv": "id\na\n"},
        "s",
    ),
    ("an empty folder", {"s": None}, "s"),
    (
        "two suites in a folder",
        {"s/a.json": {"inputs": [{"id": "a"}]}, "s/b.json": {"inputs": [{"id": "a"}]}},
        "s",
    ),
    ("test.json and test.yaml", {"s/a/test.json": {"input": "x"}, "s/a/test.yaml": "input: x"}, "s"),
    ("a folder's name that is no id", {"s/late refund/test.json": {"input": "x"}}, "s"),
    ("a file's name that is no id", {"s/a--b.json": {"input": "x"}}, "s"),
    (
        "a faulty file among good ones",
        {"s/a/test.json": {"input": "x"}, "s/b/test.json": "{", "s/c/test.json": {"imput": 1}},
        "s",
    ),
    ("a source that is not there", {"refunds.json": {}}, "refund.json"),
    ("a source in a folder that is not there", {}, "evals/refund.json"),
    ("a file of another kind", {"suite.toml": "a = 1"}, "suite.toml"),
    ("a credential among the fields", one(api_key="abcdefgh"), "suite.json"),
    (
        "a credential in files",
        {"suite.json": {"inputs": [{"id": "a", "files": {"path": "f", "token": "abcdefgh"}}]}, "f": None},
        "suite.json",
    ),
    ("a provider's key in an input", one(input="use sk-ant-" + "x" * 24 + " please"), "suite.json"),
    ("a private key in metadata", one(metadata={"pem": "-----BEGIN RSA PRIVATE KEY-----"}), "suite.json"),
    ("YAML with a date", {"suite.yaml": "inputs:\n- id: a\n  expected: 1879-03-14\n"}, "suite.yaml"),
    ("YAML with a word for a boolean", {"suite.yaml": "inputs:\n- id: a\n  expected: no\n"}, "suite.yaml"),
    ("YAML with an octal number", {"suite.yaml": "inputs:\n- id: a\n  expected: 010\n"}, "suite.yaml"),
    ("YAML with a number as key", {"suite.yaml": "inputs:\n- id: a\n  expected:\n    1: x\n"}, "suite.yaml"),
    ("YAML with a number as id", {"suite.yaml": "inputs:\n- id: 17\n"}, "suite.yaml"),
    ("YAML with a key twice", {"suite.yaml": "inputs:\n- id: a\n  goal: x\n  goal: y\n"}, "suite.yaml"),
    ("YAML with a colon in a text", {"suite.yaml": "inputs:\n- id: a\n  goal: note: x\n"}, "suite.yaml"),
    ("YAML with a tab", {"suite.yaml": "inputs:\n\t- id: a\n"}, "suite.yaml"),
    (
        "YAML with a tag",
        {"suite.yaml": "inputs:\n- id: a\n  expected: !!python/name:os.system x\n"},
        "suite.yaml",
    ),
    (
        "YAML with an unknown field",
        {"suite.yaml": "inputs:\n- id: a\n  input: x\n  tag: [a]\n"},
        "suite.yaml",
    ),
    (
        "YAML with aliases that multiply",
        {
            "suite.yaml": "a: &a [x,x,x,x,x,x,x,x,x]\n"
            + "".join(
                f"{c}: &{c} [{','.join(['*' + p] * 9)}]\n"
                for p, c in zip("abcdefgh", "bcdefghi", strict=True)
            )
        },
        "suite.yaml",
    ),
    ("YAML with two documents", {"suite.yaml": "inputs: []\n---\ninputs: []\n"}, "suite.yaml"),
    ("YAML with nothing but a comment", {"suite.yaml": "# later\n"}, "suite.yaml"),
    ("JSONL with a bad line", {"t.jsonl": '{"id": "a"}\n\n{"id": "b",}\n{"id": "a", "x": 1}\n'}, "t.jsonl"),
    ("JSONL written over several lines", {"t.jsonl": '{\n"id": "a"\n}\n'}, "t.jsonl"),
    ("JSONL without records", {"t.jsonl": "\n"}, "t.jsonl"),
    ("CSV with an unknown column", {"t.csv": "id,input,expcted,note\na,x,1,2\n"}, "t.csv"),
    ("CSV with a column of objects", {"t.csv": "id,input.question\na,x\n"}, "t.csv"),
    ("CSV without ids", {"t.csv": "input,expected\nx,1\n"}, "t.csv"),
    ("CSV with a ragged row", {"t.csv": 'id,input\na,"x\ny"\nb,x,y\n'}, "t.csv"),
    ("CSV with semicolons", {"t.csv": "id;input\na;x\n"}, "t.csv"),
    ("CSV with a quote without end", {"t.csv": 'id,input\na,"x\n'}, "t.csv"),
    ("CSV with a word as timeout", {"t.csv": "id,timeout,trials\na,soon,1.5\n"}, "t.csv"),
    ("CSV with a column twice", {"t.csv": "id,id\na,b\n"}, "t.csv"),
    ("CSV that is not UTF-8", {"t.csv": b"id,input\na,x\nb,\xe4\n"}, "t.csv"),
    ("CSV without rows", {"t.csv": "id,input\n"}, "t.csv"),
    (
        "a link that leads out of the suite",
        {"s/a/test.json": {"input": "x"}, "s/a/files": ("link", "../../elsewhere"), "elsewhere/a.txt": "x"},
        "s",
    ),
    ("a name that no file can have", one(graders="a\nb"), "suite.json"),
    ("a name that is too long for a file", one(graders="a" * 5000), "suite.json"),
    ("a key that is a secret", one(metadata={"AKIA" + "B" * 16: 1}), "suite.json"),
    ("git with an empty ref", {}, "repo?ref="),
    ("git with an option as ref", {}, "repo?ref=--upload-pack=x"),
    ("git with a helper of its own", {}, "ext://sh -c x"),
    ("git with a password", {}, "https://me:secret@example.org/repo.git"),
    ("git with a folder further up", {}, "github.com/a/b//../c"),
]


def messages() -> dict[str, str]:
    """The whole message of each case."""
    text = (Path(__file__).parent / "bad_suites.txt").read_text(encoding="utf-8")
    blocks = text.split("## ")[1:]
    return {name: message.rstrip("\n") for name, _, message in (block.partition("\n") for block in blocks)}
