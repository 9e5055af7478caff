"""Claude Code: `claude -p`, with the artifact as a plugin of that session alone."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from proctor.agents.hosts import claude_stream
from proctor.agents.hosts.artifact import Artifact
from proctor.agents.hosts.dialect import Start, Started
from proctor.agents.hosts.program import Program, ask
from proctor.agents.hosts.told import Told
from proctor.errors import AgentError
from proctor.ports import Surroundings

_CONFIG: Final = "CLAUDE_CONFIG_DIR"
_LOGIN: Final = ".credentials.json"
_KEYS: Final = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
_QUIET: Final = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
_ARTIFACT: Final = "artifact"


class Claude:
    """The dialect of Claude Code."""

    name = "claude"
    provider = "anthropic"
    help_of: tuple[str, ...] = ()
    update = "npm install -g @anthropic-ai/claude-code"
    credentials: tuple[str, ...] = (*_KEYS, "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS")
    mark = "/"

    def check(self, program: Program, surroundings: Surroundings, operator: Mapping[str, str]) -> None:
        """Ask it whether somebody is signed in, in a config folder that holds the operator's login and no more."""
        for option, why in (
            ("--print", "by which it is run without a terminal"),
            ("--output-format", "by which it tells what it does"),
            ("--verbose", "by which it tells of every call"),
            ("--permission-mode", "by which it may work without being asked"),
        ):
            program.require(option, why)
        with tempfile.TemporaryDirectory(prefix="proctor-claude-") as folder:
            _copy_login(operator, surroundings.environment, Path(folder))
            own = {**surroundings.environment, _CONFIG: folder, **_QUIET}
            said = ask([program.path, "auth", "status", "--json"], own, cwd=Path(folder))
        try:
            is_signed_in = msgspec.json.decode(said.out, type=dict[str, object]).get("loggedIn") is True
        except msgspec.DecodeError:
            # A version that cannot be asked that.
            is_signed_in = (
                any(surroundings.environment.get(key) for key in _KEYS) or _login(operator).is_file()
            )
        if not is_signed_in:
            raise AgentError(
                "Claude Code is not signed in.",
                where=program.path,
                fix=f"Set {_KEYS[0]}, or set {_KEYS[2]} to what `claude setup-token` prints; or sign in with `claude` "
                "itself. For another provider, let its variables in with --pass-env.",
            )

    def install(self, program: Program, artifact: Artifact, surroundings: Surroundings) -> None:
        """A plugin is named when a session starts; nothing is made ready."""
        del surroundings
        if artifact.plugin is not None:
            program.require("--plugin-dir", "by which it takes a plugin on for one session")

    def start(self, start: Start) -> Started:
        """A session that nobody is asked in, and of which nothing is kept."""
        program, place, artifact = start.program, start.place, start.artifact
        config = start.home / ".claude"
        config.mkdir()
        argv = [program.path, "--print", "--output-format", "stream-json", "--verbose"]
        argv += ["--permission-mode", "bypassPermissions"]
        if artifact is not None and artifact.plugin is not None:
            folder = start.home / _ARTIFACT
            artifact.copy_to(folder)
            argv += ["--plugin-dir", place.as_seen(folder)]
        elif artifact is not None:
            artifact.copy_to(config)
        _copy_login(start.operator, place.environment, config)
        if start.model is not None:
            argv += ["--model", start.model]
        if program.has("--no-session-persistence"):
            argv.append("--no-session-persistence")
        if start.limits.cost_usd is not None and program.has("--max-budget-usd"):
            argv += ["--max-budget-usd", f"{start.limits.cost_usd:.6f}"]
        environment = {_CONFIG: place.as_seen(config), **_QUIET}
        if os.geteuid() == 0:
            # Without this it refuses to work unasked as root.
            environment["IS_SANDBOX"] = "1"
        return Started(argv=tuple(argv), environment=environment)

    def read(self, stream: Path, *, skills: Sequence[str], named: str | None) -> Told:
        """What its stream says."""
        return claude_stream.read_stream(stream, skills=skills, named=named)

    def close(self) -> None:
        """Nothing was made ready."""


def _login(operator: Mapping[str, str]) -> Path:
    return Path(operator.get(_CONFIG) or Path(operator.get("HOME", "/"), ".claude")) / _LOGIN


def _copy_login(operator: Mapping[str, str], environment: Mapping[str, str], config: Path) -> None:
    """The operator's login and nothing else of their config folder; a key in the environment comes before it."""
    if not any(environment.get(key) for key in _KEYS) and (login := _login(operator)).is_file():
        shutil.copyfile(login, config / _LOGIN)
        (config / _LOGIN).chmod(0o600)
