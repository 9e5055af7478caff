"""The pages of files and of printed JSON, made of the published schemas."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

from docs.building.headings import slug
from docs.building.tables import table
from proctor.schemas import SCHEMAS, schema

MESSAGES = "Messages of OpenTelemetry"
OF_MESSAGES = (
    "What a trace is made of. These messages and their fields are OpenTelemetry's own, "
    "and [its protocol](https://opentelemetry.io/docs/specs/otlp/) says what they mean."
)


def files() -> str:
    """The page of the files that people write, and those of a run directory."""
    return _schemas(
        "Files",
        "What people write, and what a run directory and its group hold, field by field.",
        {"written": "What you write", "recorded": "What is recorded"},
    )


def json_output() -> str:
    """The page of what commands print as JSON."""
    return _schemas(
        "JSON output",
        "What commands print with `--json`, and the rows of exported tables, field by field.",
        {"printed": "What is printed"},
    )


def _schemas(title: str, about: str, kinds: dict[str, str]) -> str:
    """A page of all schemas of these kinds; what several of them share is told once, at its end."""
    made = {one.name: schema(one.name) for one in SCHEMAS if one.kind in kinds}
    # What a file is as a whole stands in the section of the file.
    homes = {_named(document["$ref"]): name for name, document in made.items() if "$ref" in document}
    parts = {name: part for document in made.values() for name, part in document.get("$defs", {}).items()}
    titles = {name: _title(name, made) for name in parts} | homes
    lines = [
        f"# {title}",
        "",
        about,
        "`proctor schema NAME` prints the JSON Schema of each; a field that is not needed has a default.",
        "",
    ]
    for kind, heading in kinds.items():
        lines += [f"## {heading}", ""]
        for one in (one for one in SCHEMAS if one.kind == kind):
            document = made[one.name]
            whole = parts[_named(document["$ref"])] if "$ref" in document else document
            each = ", a line each" if one.is_lines else ""
            lines += [f"### {one.name}", "", f"`{one.file}`{each}: {one.describes}", ""]
            lines += [f"Version {one.version}; `proctor schema {one.name}`.", "", *_shape(whole, titles)]
    shared = sorted(parts.keys() - homes.keys(), key=lambda name: (name.lower(), name))
    # The name of a record has no dot; that of a message begins with its package.
    messages = [name for name in shared if "." in name]
    lines += ["## Parts of them", ""]
    for name in shared:
        if name not in messages:
            lines += _part(titles[name], parts[name], titles)
    if messages:
        lines += [f"## {MESSAGES}", "", OF_MESSAGES, ""]
        for name in messages:
            lines += _part(titles[name], parts[name], titles)
    return "\n".join(lines)


def _part(title: str, part: dict[str, Any], titles: dict[str, str]) -> Iterator[str]:
    """The section of what several files, or several fields, share."""
    yield from (f"### {title}", "")
    if part.get("description"):
        yield from (_line(part["description"]), "")
    yield from _shape(part, titles)


def _title(name: str, made: Collection[str]) -> str:
    """A heading for a part, other than those of the files."""
    if name in made:
        return f"{name} in a list"
    return f"{name} as recorded" if name.lower() in made else name


def _named(reference: str) -> str:
    return reference.rpartition("/")[2]


def _line(text: object) -> str:
    return " ".join(str(text).split())


def _shape(made: dict[str, Any], titles: dict[str, str]) -> Iterator[str]:
    """What a schema says: a table of its fields, or a sentence where it has none."""
    if "properties" not in made:
        kind = _kind(made, titles)
        yield f"{kind[0].upper()}{kind[1:]}."
        yield ""
        return
    needed = set(made.get("required", ()))
    rows = (
        (
            f"`{name}`" + (" (needed)" if name in needed else ""),
            _kind(field, titles),
            _line(field.get("description", "")),
        )
        for name, field in made["properties"].items()
    )
    yield from table(("field", "takes", "meaning"), rows)


def _kind(made: dict[str, Any], titles: dict[str, str]) -> str:
    """The type of a value, in words."""
    if "$ref" in made:
        title = titles[_named(made["$ref"])]
        return f"[{title}](#{slug(title)})"
    for word in ("anyOf", "oneOf"):
        if word in made:
            return " or ".join(dict.fromkeys(filter(None, (_kind(one, titles) for one in made[word]))))
    if "const" in made:
        return f"`{json.dumps(made['const'])}`"
    if "enum" in made:
        return ", ".join(f"`{json.dumps(one)}`" for one in made["enum"])
    if made.get("type") == "array":
        inside = _kind(made.get("items") or {}, titles) if isinstance(made.get("items"), dict) else ""
        return f"list of {inside}" if inside else "list"
    if isinstance(made.get("additionalProperties"), dict) and (
        inside := _kind(made["additionalProperties"], titles)
    ):
        return f"object of {inside}"
    kinds: str | list[str] = made.get("type", "any JSON")
    return kinds if isinstance(kinds, str) else " or ".join(kinds)
