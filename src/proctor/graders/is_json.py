"""IsJson: the output is JSON, of a given shape if you like."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar, Literal, cast

from proctor.graders.base import GraderBase
from proctor.graders.reference import shown
from proctor.ports import RunView
from proctor.records.grade import Grade, failed, passed
from proctor.records.json_value import Json
from proctor.records.suite import Test

MOST_PROBLEMS = 5


@dataclass(frozen=True, kw_only=True)
class IsJson(GraderBase):
    """The output is JSON, and valid against a JSON Schema where one is given.

    What it checks: that the text parses as JSON (duplicate keys and NaN do not), and JSON Schema, draft 2020-12.
    Why: whoever reads the answer next is a program.
    Passes: it parses and is valid. An output that is no text is JSON already.
    Fails: it does not parse, is not valid (the first problems are named), or the agent gave no output.
    Cannot tell: never at grading; a broken schema, or a missing library, is found before the run.

    Attributes:
        schema: a JSON Schema; needs `pip install 'proctor[schema]'`.
    """

    scale: ClassVar[Literal["binary", "scalar"] | None] = "binary"
    default_name: ClassVar[str] = "is-json"

    schema: Mapping[str, Json] | bool | None = None

    def needs(self, test: Test) -> Sequence[str]:
        """The library that reads schemas, and a schema that is one."""
        return schema_lacks(self.name, self.schema)

    def grade(self, run: RunView) -> Grade:
        """Parse the output, and hold it against the schema."""
        if run.output is None:
            return failed("the agent gave no output")
        value = run.output
        if isinstance(value, str):
            try:
                value = json.loads(value, object_pairs_hook=no_duplicates, parse_constant=no_constant)
            except (ValueError, RecursionError) as error:
                return failed(f"the output is no JSON: {error}")
        if self.schema is None:
            return passed()
        problems = first_problems(value, self.schema)
        return failed("\n".join(problems)) if problems else passed()


def schema_lacks(name: str, schema: Mapping[str, Json] | bool | None) -> Sequence[str]:
    """Why a grader of this name cannot use this schema: the library is not there, or it is no schema; else empty."""
    if schema is None:
        return ()
    if find_spec("jsonschema") is None:
        return (f"grader {name!r} needs a library that reads JSON Schema: pip install 'proctor[schema]'",)
    import jsonschema

    try:
        jsonschema.Draft202012Validator.check_schema(cast("Any", schema))
    except jsonschema.SchemaError as error:
        return (f"grader {name!r}: the schema is no JSON Schema: {error.message}",)
    return ()


def first_problems(value: Json, schema: Mapping[str, Json] | bool) -> list[str]:
    """What makes a value not valid against a JSON Schema: the first few, a sentence each; empty when it is."""
    import jsonschema

    validator: Any = jsonschema.Draft202012Validator(cast("Any", schema))
    problems = sorted(validator.iter_errors(value), key=lambda problem: problem.json_path)
    said = [f"{problem.json_path}: {_cut(problem.message)}" for problem in problems[:MOST_PROBLEMS]]
    more = len(problems) - len(said)
    return [*said, *([f"and {more} more"] if more else [])]


def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; for `json.loads`.

    Raises:
        ValueError: a key stands twice in it.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {shown(twice)} stands twice in one object")
    return found


def no_constant(name: str) -> Any:
    """Refuse NaN and infinity; for `json.loads`.

    Raises:
        ValueError: always.
    """
    raise ValueError(f"{name} is no JSON")


def _cut(text: str, limit: int = 200) -> str:
    return text if len(text) <= limit else text[:limit] + "…"
