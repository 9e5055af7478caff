"""What is installed here, and which models can be asked: what `proctor doctor` says, which asks nobody outside."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from proctor.errors import ModelError, UsageError
from proctor.models.providers import PROVIDERS, address_of
from proctor.records.shown import Item, JudgeModel, ModelProvider
from proctor.version import __version__

VERSION_TIMEOUT_S: Final = 10
UNSAID: Final = "does not say its version"


class Program(NamedTuple):
    """A program that proctor may call: its name, what it is for, and how to get it."""

    name: str
    serves: str
    get: str


PROGRAMS: Final = (
    Program("git", "suites from git, and `git: true` fixtures", "https://git-scm.com/downloads"),
    Program(
        "node", "grading scripts in TypeScript, and what is written for it", "https://nodejs.org/en/download"
    ),
    Program("bwrap", "a sandbox for agents", "the package `bubblewrap` of a Linux distribution"),
    Program("claude", "`proctor run claude`", "npm install -g @anthropic-ai/claude-code"),
    Program("codex", "`proctor run codex`", "npm install -g @openai/codex"),
    Program("agency", "agents and judges in .agency files", "npm install -g agency-lang"),
)

EXTRAS: Final = {
    "judge": "judges that ask a model",
    "prices": "what model calls cost, where a trace does not say",
    "label": "labelling on a screen",
    "export": "Parquet files and data frames",
    "schema": "IsJson(schema=...)",
    "stats": "comparing groups, and how far people agree",
}
"""What the extras of proctor's package are for; those for its own development are left out."""


def installed(environment: Mapping[str, str], *, agency: str) -> Iterator[Item]:
    """What proctor uses, there or not: itself, Python, programs, and the libraries of its extras.

    Args:
        environment: where programs are looked for.
        agency: the command that compiles `.agency` files.
    """
    yield Item(
        kind="system", name="proctor", version=__version__, where=str(Path(__file__).resolve().parents[1])
    )
    yield Item(kind="system", name="python", version=platform.python_version(), where=sys.executable)
    name = f"{platform.system()} {platform.release()}"
    yield Item(kind="system", name="system", version=name, where=platform.machine())
    yield from _programs(environment, agency)
    yield from _libraries()


def _programs(environment: Mapping[str, str], agency: str) -> Iterator[Item]:
    search = environment.get("PATH")
    named = {"agency": (agency.split() or ["agency"])[0]}
    places = {one.name: shutil.which(named.get(one.name, one.name), path=search) for one in PROGRAMS}
    with tempfile.TemporaryDirectory(prefix="proctor-doctor-") as empty, ThreadPoolExecutor() as pool:
        # A coding agent that is asked for its version must not write into anybody's settings.
        theirs = {**environment, "CLAUDE_CONFIG_DIR": empty, "CODEX_HOME": empty}
        versions = {name: pool.submit(_version_of, path, theirs) for name, path in places.items() if path}
        for one in PROGRAMS:
            version = versions[one.name].result() if one.name in versions else None
            yield Item(
                kind="program",
                name=one.name,
                version=version,
                where=places[one.name],
                serves=one.serves,
                get=None if version else one.get,
            )


def _version_of(program: str, environment: Mapping[str, str]) -> str:
    """The first line that it says of its version, from its first digit on."""
    try:
        said = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=VERSION_TIMEOUT_S,
            check=False,
            env=environment,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return UNSAID
    line = (said.splitlines() or [""])[0]
    at = next((index for index, character in enumerate(line) if character.isdigit()), 0)
    return line[at:].strip() or UNSAID


def _libraries() -> Iterator[Item]:
    """The libraries of proctor's own extras, as its package names them; each under the smallest extra that has it."""
    from importlib import metadata

    try:
        required = metadata.requires("proctor") or []
    except metadata.PackageNotFoundError:
        return
    of_extra: dict[str, list[str]] = {}
    for requirement in required:
        needed, _, condition = requirement.partition(";")
        extra = condition.partition("extra ==")[2].strip(" '\"")
        if extra in EXTRAS:
            of_extra.setdefault(extra, []).append(needed.strip().rstrip("0123456789.,<>=!~ "))
    seen: set[str] = set()
    for extra, names in sorted(of_extra.items(), key=lambda one: (len(one[1]), one[0])):
        for name in names:
            if name in seen:
                continue
            seen.add(name)
            try:
                version = metadata.version(name)
            except metadata.PackageNotFoundError:
                version = None
            yield Item(
                kind="library",
                name=name,
                version=version,
                extra=extra,
                serves=EXTRAS[extra],
                get=None if version else f"pip install 'proctor[{extra}]'",
            )


def providers(environment: Mapping[str, str]) -> Iterator[ModelProvider]:
    """Which providers of models can be asked, as far as the environment says."""
    for name, known in PROVIDERS.items():
        key = next((one for one in known.keys if environment.get(one, "").strip()), None)
        address = next((one for one in known.urls if environment.get(one, "").strip()), None)
        is_ready = key is not None or address is not None or not known.keys
        yield ModelProvider(
            name=name,
            host=_host(environment[address] if address else known.base_url),
            key=key,
            address=address,
            is_ready=is_ready,
            get=None if is_ready else f"set {' or '.join(known.keys)}",
        )


def judge_model(model: str | None, origin: str | None, environment: Mapping[str, str]) -> JudgeModel:
    """Whether the model of judges can be asked, as far as can be told without asking it.

    Args:
        model: PROVIDER/NAME; None where none is configured.
        origin: where that stands.
        environment: where keys and addresses are looked for.
    """
    if model is None:
        get = "set PROCTOR_JUDGE_MODEL, or judge_model in the settings, or give --judge-model"
        return JudgeModel(model=None, origin=None, problem="none is named", get=get)
    try:
        protocol = address_of(model, environment).protocol
    except ModelError as error:
        return JudgeModel(model=model, origin=origin, problem=error.what, get=error.fix)
    if not _has_client(protocol):
        problem = f"the library {protocol} is not installed"
        return JudgeModel(model=model, origin=origin, problem=problem, get="pip install 'proctor[judge]'")
    return JudgeModel(model=model, origin=origin)


def unreadable_settings(error: UsageError) -> JudgeModel:
    """Nobody knows which model it is, as the settings cannot be read."""
    return JudgeModel(
        model=None, origin=None, problem=f"the settings cannot be read: {error.what}", get=error.fix
    )


def _has_client(protocol: str) -> bool:
    from importlib.util import find_spec

    return find_spec(protocol) is not None


def _host(address: str) -> str:
    """Host and port of an address; what else stands in it may be a secret."""
    try:
        parts = urlsplit(address if "//" in address else f"//{address}")
        return f"{parts.hostname or ''}:{parts.port}" if parts.port else parts.hostname or ""
    except ValueError:
        return ""
