"""YAML files, read as JSON values: what YAML would guess at, such as dates and `no`, must stand in quotes.

Node by node rather than by PyYAML's constructor, which makes dates, octal numbers and booleans of words
that were meant as text, takes keys of any type, and lets the second of two equal keys win.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from proctor.loading.faults import BROKEN, AtLine, Faults, FieldPath, Spot, field_text
from proctor.loading.json_text import TextError
from proctor.loading.json_types import is_object
from proctor.records.json_value import Json

MOST_REPEATED_NODES = 100_000
_MOST_LEVELS = 101  # one more than JSON may have, which then says so itself
_TAG = "tag:yaml.org,2002:"
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_GUESSED = {
    "bool": "a word that some read as a boolean",
    "int": "a number in a notation that JSON does not have",
    "float": "a number in a notation that JSON does not have",
    "timestamp": "a date, and JSON has none",
}


class YamlDocument:
    """A YAML file that was read.

    Raises:
        TextError: it is not YAML.
    """

    def __init__(self, label: str, text: str, faults: Faults) -> None:
        self.label = label
        self._root = _root_of(text)
        self.value = _Reader(label, faults).value(self._root, ())

    def line_of(self, path: FieldPath) -> int | None:
        """The line of a field; that of the nearest field above when it is not there."""
        node, line = self._root, _line(self._root)
        for step in path:
            below = _entry(node, step)
            if below is None:
                break
            line, node = below
        return line

    def entry_line(self, path: FieldPath) -> int | None:
        """The same as `line_of`: the nodes are there already."""
        return self.line_of(path)


class _Reader:
    def __init__(self, label: str, faults: Faults) -> None:
        self._label = label
        self._faults = faults
        self._seen: set[int] = set()
        self._repeated = 0

    def value(self, node: yaml.Node, path: FieldPath) -> Json:
        """The JSON value of a node; BROKEN, with a fault, for what JSON does not have."""
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        self._count(node)
        if len(path) >= _MOST_LEVELS:
            return {} if isinstance(node, yaml.MappingNode) else []
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            return [self.value(entry, (*path, index)) for index, entry in enumerate(node.value)]
        return self._refuse(
            node, path, f"has the tag {node.tag.replace(_TAG, '!!')}", "Write plain values, without tags."
        )

    def _count(self, node: yaml.Node) -> None:
        """Bound what aliases may repeat: a few that name each other can stand for billions of nodes."""
        self._repeated += id(node) in self._seen
        self._seen.add(id(node))
        if self._repeated > MOST_REPEATED_NODES:
            raise TextError(
                f"Its aliases repeat more than {MOST_REPEATED_NODES:,} values.",
                "Write the tests out.",
                line=_line(node),
            )

    def _mapping(self, node: yaml.MappingNode, path: FieldPath) -> Json:
        own: dict[str, Json] = {}
        merged: dict[str, Json] = {}
        for key_node, value_node in node.value:
            if key_node.tag == _TAG + "merge":
                merged = {**self._merged(value_node, path), **merged}
                continue
            key = self._key(key_node, path)
            if key is None:
                continue
            if key in own:
                self._note(
                    key_node,
                    f"{field_text((*path, key))} is given twice in the same object.",
                    "Keep one of the two.",
                )
            own[key] = self.value(value_node, (*path, key))
        return {**merged, **own}

    def _merged(self, node: yaml.Node, path: FieldPath) -> dict[str, Json]:
        sources: list[Any] = list(reversed(node.value)) if isinstance(node, yaml.SequenceNode) else [node]
        merged: dict[str, Json] = {}
        for source in sources:
            value = self.value(source, (*path, "<<"))
            if not is_object(value):
                self._refuse(
                    source, (*path, "<<"), "is no object, and only objects are merged", "Name an object."
                )
                continue
            merged.update(value)
        return merged

    def _key(self, node: yaml.Node, path: FieldPath) -> str | None:
        if isinstance(node, yaml.ScalarNode) and node.tag == _TAG + "str":
            return str(node.value)
        written = str(node.value) if isinstance(node, yaml.ScalarNode) else "a list or an object"
        what = f"{field_text(path) or 'The file'} has the key {written}, which is not text."
        self._note(node, what, "Write keys in quotes.")
        return None

    def _scalar(self, node: yaml.ScalarNode, path: FieldPath) -> Json:
        text, kind = str(node.value), node.tag.removeprefix(_TAG)
        plain = not node.style
        if kind in ("str", "value", "int", "float") and (plain or kind not in ("str", "value")):
            number = _NUMBER.fullmatch(text)
            if number and len(text) > 1000:
                return self._refuse(
                    node, path, "is a number of more than a thousand digits", "Write it in quotes."
                )
            if number:
                return float(text) if number.group(1) or number.group(2) else int(text)
        if kind in ("str", "value"):
            return text
        if kind == "null":
            return None
        if kind == "bool" and text.lower() in ("true", "false"):
            return text.lower() == "true"
        if kind in _GUESSED:
            other = ", else true or false" if kind == "bool" else ""
            advice = f'Write it in quotes if it is text: "{text}"{other}.'
            return self._refuse(node, path, f"is {text}, {_GUESSED[kind]}", advice)
        return self._refuse(
            node, path, f"has the tag {node.tag.replace(_TAG, '!!')}", "Write plain values, without tags."
        )

    def _refuse(self, node: yaml.Node, path: FieldPath, what: str, fix: str) -> Json:
        self._note(node, f"{field_text(path) or 'The file'} {what}.", fix)
        return BROKEN

    def _note(self, node: yaml.Node, what: str, fix: str) -> None:
        self._faults.note(Spot(AtLine(self._label, _line(node))), what, fix)


def _root_of(text: str) -> yaml.Node:
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)  # the first is there with libyaml
    try:
        root: yaml.Node | None = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        raise _fault_of(error) from error
    except yaml.YAMLError as error:
        raise TextError(
            f"It is not YAML: {' '.join(str(error).split())}.", "Save it as plain text.", line=1
        ) from error
    except RecursionError as error:
        raise TextError(
            "The values are nested too deeply.", "Nest them at most 100 levels deep.", line=1
        ) from error
    finally:
        loader.dispose()
    if root is None:
        raise TextError(
            "The file has no value, comments aside.", "Write the tests into it: inputs: [...].", line=1
        )
    return root


def _fault_of(error: yaml.MarkedYAMLError) -> TextError:
    problem = error.problem or "it cannot be read"
    mark = error.problem_mark or error.context_mark
    line, column = (1, None) if mark is None else (mark.line + 1, mark.column + 1)
    for part, (what, fix) in _IN_OUR_WORDS.items():
        if part in problem:
            return TextError(what, fix, line=line, column=column)
    return TextError(
        f"It is not YAML: {problem}.",
        "Check indentation, quotes and brackets here.",
        line=line,
        column=column,
    )


_IN_OUR_WORDS = {
    "mapping values are not allowed": (
        "A second `:` stands in one line.",
        'Put text that holds ": " in quotes; begin a nested object on a line of its own.',
    ),
    "cannot start any token": (
        "A tab or a special character begins a value.",
        "Indent with spaces; put text that starts with @, ` or % in quotes.",
    ),
    "unexpected end of stream": ("A text in quotes begins here or above and never ends.", "Close the quote."),
    "undefined alias": (
        "An alias names nothing.",
        "Define it above with &name, or put text that starts with * in quotes.",
    ),
    "found another document": (
        "A second document begins here.",
        "A file holds one; take the `---` and the rest away.",
    ),
    "maximum nesting depth": ("The values are nested too deeply.", "Nest them at most 100 levels deep."),
    "expected ',' or ']'": ("A list in brackets is not closed.", "Put a comma or `]` here."),
    "expected ',' or '}'": ("An object in braces is not closed.", "Put a comma or `}` here."),
    "did not find expected '-'": ("An entry of a list was expected.", "Indent all entries of a list alike."),
    "did not find expected key": ("A key was expected.", "Indent all keys of an object alike."),
    "could not find expected ':'": ("A `:` was expected after a key.", "Write key: value."),
}


def _entry(node: yaml.Node, step: str | int) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return _line(node.value[step]), node.value[step]
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value == step:
                return _line(key), value
    return None


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
