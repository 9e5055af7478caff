"""What of this machine can be seen in the sandbox: enough to run programs, and nothing of the operator or the suite."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from proctor.host.home import MANAGERS, user_packages

SYSTEM: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_PATHS: Final = ("PYTHONPATH", "LD_LIBRARY_PATH", "NODE_PATH", "PERL5LIB", "GEM_PATH")
_PLACES: Final = (
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "GOROOT",
    "JAVA_HOME",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "VIRTUAL_ENV",
)
_STORES: Final = ("/nix/store", "/gnu/store", "/run/current-system")
"""Where some distributions keep all that others have in /usr."""
_IN_LOCAL: Final = ("share/uv", "share/pipx", "pipx")


class View(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown of the machine, and what is hidden again of that.

    Attributes:
        shown: files and folders, to be read, each where it is.
        hidden: files and folders below these that are empty inside; they may come to be only later.
        exposed: files and folders below the hidden ones that are shown all the same.
    """

    shown: tuple[Path, ...]
    hidden: tuple[Path, ...] = ()
    exposed: tuple[Path, ...] = ()

    def can_see(self, path: Path) -> bool:
        """True when a program inside can reach a path, symbolic links followed."""
        return all(self._shows(one) for one in {path, Path(os.path.realpath(path))})

    def _shows(self, path: Path) -> bool:
        if _is_in(path, self.exposed):
            return True
        return not _is_in(path, self.hidden) and _is_in(path, [Path("/usr"), *map(Path, SYSTEM), *self.shown])


def programs_of(environment: Mapping[str, str]) -> Iterator[Path]:
    """The folders that the programs on PATH need, and what variables say of where more of them is.

    Of a folder such as `/opt/tool/bin` that is `/opt/tool`; of one right in the operator's home, its `bin` and
    `lib` alone, because settings and keys lie beside them.
    """
    home = _home_of(environment)
    for entry in _split(environment.get("PATH", "")):
        yield from _around(entry, home)
    for name in _PATHS:
        yield from _split(environment.get(name, ""))
    for name in (*_PLACES, *MANAGERS):
        yield from _split(environment.get(name, ""))
    yield from user_packages(environment)
    yield from map(Path, _STORES)
    if home is not None:
        yield from (home / ".local" / name for name in _IN_LOCAL)
    package = Path(__file__).resolve().parents[1]
    # Not by their real paths alone: a virtual environment names its base as whoever made it wrote it.
    yield from (Path(sys.prefix), Path(sys.base_prefix), Path(sys.base_exec_prefix), package)
    yield Path(os.path.realpath(sys.executable)).parents[1]


def view_of(
    wanted: Iterable[Path],
    *,
    tools: Iterable[Path],
    hidden: Iterable[Path],
    needed: Iterable[Path],
    home: Path | None,
) -> View:
    """What is shown when all that is wanted is, the hidden not.

    Args:
        wanted: what is to be shown; what is not there, or would show the operator's home, is left out.
        tools: the same, and shown also where it lies in what is hidden, as long as it holds nothing hidden itself.
        hidden: what is not to be shown, wherever it lies.
        needed: what is shown although it lies in what is hidden.
        home: the operator's.
    """
    every_hidden = list(hidden)
    hides = _outermost(every_hidden)
    usable = [path for path in tools if path.exists() and not _shows_home(path, home)]
    shown = [
        path
        for path in _outermost(
            [*(path for path in wanted if path.exists() and not _shows_home(path, home)), *usable]
        )
        if not _is_in(path, hides)
    ]
    inside = [
        path
        for path in usable
        if _is_in(path, hides) and not any(_is_in(one, [path]) for one in every_hidden)
    ]
    asked = [path for path in needed if path.exists() and (_is_in(path, hides) or not _is_in(path, shown))]
    return View(
        shown=tuple(shown),
        hidden=tuple(path for path in hides if _is_in(path, shown)),
        exposed=tuple(_outermost([*inside, *asked])),
    )


def repositories_around(folder: Path) -> Iterator[Path]:
    """What git keeps of the repositories that a folder lies in: their objects hold what the files once were."""
    for place in (folder, *folder.parents):
        entry = place / ".git"
        with suppress(OSError):
            if entry.is_dir():
                yield entry
            elif entry.is_file():
                yield entry
                named = entry.read_text(errors="replace").partition("gitdir:")[2].strip()
                if named:
                    target = (place / named).resolve()
                    yield target
                    common = target / "commondir"
                    if common.is_file():
                        yield (target / common.read_text().strip()).resolve()


def _around(entry: Path, home: Path | None) -> Iterator[Path]:
    prefix = entry.parent
    if entry.name not in ("bin", "sbin") or prefix == Path("/") or _shows_home(prefix, home):
        yield entry
    elif home is not None and prefix.parent == home:
        yield entry
        yield prefix / "lib"
    else:
        yield prefix


def _shows_home(path: Path, home: Path | None) -> bool:
    return home is not None and home.is_relative_to(path)


def _home_of(environment: Mapping[str, str]) -> Path | None:
    home = environment.get("HOME", "")
    return Path(home) if home.startswith("/") and home != "/" else None


def _is_in(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(one) for one in folders)


def _split(paths: str) -> Iterator[Path]:
    yield from (Path(os.path.normpath(path)) for path in paths.split(os.pathsep) if path.startswith("/"))


def _outermost(paths: Iterable[Path]) -> list[Path]:
    """Those that lie in none of the others, the system's own left out."""
    kept: list[Path] = []
    for path in sorted(set(paths), key=lambda path: (len(path.parts), path)):
        is_system = any(path.is_relative_to(one) for one in ("/usr", *SYSTEM, "/proc", "/sys", "/dev"))
        if not is_system and not any(path.is_relative_to(one) for one in kept):
            kept.append(path)
    return kept
