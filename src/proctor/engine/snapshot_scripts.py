"""What grading scripts in JavaScript and TypeScript import: files of their own, and packages by name."""

from __future__ import annotations

import json
import os.path
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from proctor.graders.outcome_script import LANGUAGES

_IMPORTED: Final = re.compile(
    r"""
    (?:^|[;}\s]) (?:import|export) \s (?!type\s+(?!from\b)[\w{*]) [^'"();]*? \bfrom \s* (['"])(?P<named>[^'"\n]+)\1
    | (?:^|[;}\s]) import \s* (['"])(?P<bare>[^'"\n]+)\3
    | \b(?:import|require) \s* \( \s* (['"])(?P<called>[^'"\n]+)\5 \s* [,)]
    """,
    re.VERBOSE,
)
_COMMENT: Final = re.compile(r"/\*.*?\*/|(?<![:'\"])//[^\n]*", re.DOTALL)
_ENDINGS: Final = ("", ".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx", ".json")
_INSTEAD: Final = {".js": (".ts", ".tsx"), ".mjs": (".mts",), ".cjs": (".cts",), ".jsx": (".tsx",)}
"""What TypeScript's authors write, and the file that is meant."""

_MODULES: Final = "node_modules"


def is_script(path: Path) -> bool:
    """True for a module of JavaScript or TypeScript."""
    return LANGUAGES.get(path.suffix.lower()) == "javascript"


def scripts_reached(starts: Iterable[Path]) -> set[Path]:
    """The files that scripts import by static relative paths, however indirectly, themselves included."""
    waiting, reached = list(starts), set[Path]()
    while waiting:
        script = waiting.pop()
        if script in reached:
            continue
        reached.add(script)
        for name in _named_in(script):
            found = _file(script.parent, name) if name.startswith(".") else None
            if found is not None:
                waiting.append(found)
    return reached


def packages_named(scripts: Iterable[Path]) -> set[str]:
    """The packages that scripts import by name, `@scope/name` included; what only types are taken from is none."""
    return {
        _package(name)
        for script in scripts
        for name in _named_in(script)
        if not name.startswith((".", "/", "node:", "data:", "file:", "#"))
    }


def installed(names: Iterable[str], starts: Iterable[Path]) -> dict[str, Path]:
    """Where these packages are installed: in the nearest folder `node_modules`, upward from one of some folders."""
    found: dict[str, Path] = {}
    folders = list(dict.fromkeys(place for start in starts for place in (start, *start.parents)))
    for name in sorted(names):
        for folder in folders:
            if (folder / _MODULES / name / "package.json").is_file():
                found[name] = folder / _MODULES / name
                break
    return found


def versions(packages: dict[str, Path]) -> dict[str, str]:
    """`npm:NAME` and the version of each of these packages, as far as it says one."""
    said: dict[str, str] = {}
    for name, folder in packages.items():
        try:
            version = json.loads((folder / "package.json").read_bytes())["version"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if isinstance(version, str):
            said[f"npm:{name}"] = version
    return said


def link_packages(folder: Path, starts: Iterable[Path]) -> None:
    """Let the scripts of an unpacked archive find their packages: links in a `node_modules` of its own."""
    scripts = [path for path in folder.rglob("*") if is_script(path)]
    for name, place in installed(packages_named(scripts), starts).items():
        link = folder / _MODULES / name
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(place)


def _named_in(script: Path) -> Iterator[str]:
    if not is_script(script):
        return
    try:
        text = script.read_bytes().decode("utf-8", "replace")
    except OSError:
        return
    for match in _IMPORTED.finditer(_COMMENT.sub(" ", text)):
        yield match["named"] or match["bare"] or match["called"]


def _file(folder: Path, name: str) -> Path | None:
    place = Path(os.path.normpath(folder / name))
    instead = (place.with_suffix(ending) for ending in _INSTEAD.get(place.suffix, ()))
    plain = (Path(f"{place}{ending}") for ending in _ENDINGS)
    inside = (place / f"index{ending}" for ending in _ENDINGS[1:])
    return next((path for path in (*plain, *instead, *inside) if path.is_file()), None)


def _package(name: str) -> str:
    parts = name.split("/")
    return "/".join(parts[:2]) if name.startswith("@") else parts[0]
