"""Codex: `codex exec --json`, with the artifact as a plugin of a home of its own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from proctor.agents.hosts import codex_stream
from proctor.agents.hosts.artifact import Artifact
from proctor.agents.hosts.dialect import Start, Started
from proctor.agents.hosts.lines import items, mapping
from proctor.agents.hosts.program import Program, Said, ask
from proctor.agents.hosts.told import Told
from proctor.errors import AgentError
from proctor.host.place import private_folder
from proctor.host.tree import remove_tree
from proctor.ports import Surroundings

_HOME: Final = "CODEX_HOME"
_LOGIN: Final = "auth.json"
_CONFIG: Final = "config.toml"
_KEYS: Final = ("CODEX_API_KEY", "OPENAI_API_KEY")
_BASE_URL: Final = "OPENAI_BASE_URL"
_MARKET: Final = "proctor"


class Codex:
    """The dialect of Codex."""

    name = "codex"
    provider = "openai"
    help_of: tuple[str, ...] = ("exec",)
    update = "npm install -g @openai/codex"
    credentials: tuple[str, ...] = (*_KEYS, _BASE_URL)
    mark = "$"

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._home: Path | None = None

    def check(self, program: Program, surroundings: Surroundings, operator: Mapping[str, str]) -> None:
        """Look for a key or a login; Codex itself says of keys in the environment nothing."""
        for option, why in (
            ("--json", "by which it tells what it does"),
            ("--sandbox", "by which it may write to the workdir"),
            ("--skip-git-repo-check", "by which it works outside of a repository"),
        ):
            program.require(option, why)
        if not any(surroundings.environment.get(key) for key in _KEYS) and not _login(operator).is_file():
            raise AgentError(
                "Codex is not signed in.",
                where=program.path,
                fix=f"Set {_KEYS[1]}, or sign in with `codex login`.",
            )

    def install(self, program: Program, artifact: Artifact, surroundings: Surroundings) -> None:
        """Install a plugin into a home that each trial gets a copy of, and see that it is there and enabled."""
        if artifact.plugin is None:
            return
        self.close()
        self._folder = private_folder("proctor-codex")
        self._home = home = self._folder / "home"
        market = home / "market"
        artifact.copy_to(market / "plugins" / artifact.plugin)
        listing = market / ".agents" / "plugins" / "marketplace.json"
        listing.parent.mkdir(parents=True)
        source = {"source": "local", "path": f"./plugins/{artifact.plugin}"}
        listing.write_text(
            json.dumps({"name": _MARKET, "plugins": [{"name": artifact.plugin, "source": source}]})
        )
        own = {**surroundings.environment, _HOME: str(home)}
        name = f"{artifact.plugin}@{_MARKET}"

        def codex(*words: str) -> Said:
            said = ask([program.path, "plugin", *words, "--json"], own, cwd=self._folder)
            if said.code != 0:
                raise AgentError(
                    f"Codex {program.version} does not take on the plugin {artifact.plugin!r}: {said.all}",
                    where=str(artifact.plan.source),
                    fix=f"Look at its manifest; or update Codex: {self.update}.",
                )
            return said

        codex("marketplace", "add", str(market))
        codex("add", name)
        if not _is_enabled(codex("list").out, name):
            raise AgentError(
                f"Codex {program.version} has the plugin {artifact.plugin!r} installed, and not enabled.",
                where=str(artifact.plan.source),
                fix=f"Update Codex: {self.update}.",
            )

    def start(self, start: Start) -> Started:
        """A session that nobody is asked in, and of which nothing is kept.

        Codex's own sandbox is off: it would keep it from calling the tools of MCP servers unasked.
        """
        program, place, artifact = start.program, start.place, start.artifact
        config = start.home / ".codex"
        if artifact is not None and artifact.plugin is not None and self._home is not None:
            shutil.copytree(self._home, config, symlinks=True)
            written = (config / _CONFIG).read_text(encoding="utf-8")
            (config / _CONFIG).write_text(
                written.replace(str(self._home), place.as_seen(config)), encoding="utf-8"
            )
        else:
            config.mkdir()
            if artifact is not None:
                artifact.copy_to(config)
        has_key = any(place.environment.get(key) for key in _KEYS)
        if not has_key and (login := _login(start.operator)).is_file():
            shutil.copyfile(login, config / _LOGIN)
            (config / _LOGIN).chmod(0o600)
        argv = [program.path, "exec", "--json", "--skip-git-repo-check", "--sandbox", "danger-full-access"]
        if program.has("--ephemeral"):
            argv.append("--ephemeral")
        if start.model is not None:
            argv += ["--model", start.model]
        if url := place.environment.get(_BASE_URL):
            argv += ["-c", f"openai_base_url={json.dumps(url)}"]
        argv.append("-")
        environment = {_HOME: place.as_seen(config)}
        key = place.environment.get(_KEYS[0]) or place.environment.get(_KEYS[1])
        if key:
            # The one that a session without a login reads.
            environment[_KEYS[0]] = key
        return Started(argv=tuple(argv), environment=environment)

    def read(self, stream: Path, *, skills: Sequence[str], named: str | None) -> Told:
        """What its stream says."""
        return codex_stream.read_stream(stream, skills=skills, named=named)

    def close(self) -> None:
        """Remove the home that was made ready."""
        folder, self._folder, self._home = self._folder, None, None
        if folder is not None:
            remove_tree(folder)


def _login(operator: Mapping[str, str]) -> Path:
    return Path(operator.get(_HOME) or Path(operator.get("HOME", "/"), ".codex")) / _LOGIN


def _is_enabled(listed: str, name: str) -> bool:
    try:
        found: Any = msgspec.json.decode(listed)
    except msgspec.DecodeError:
        return False
    return any(
        plugin.get("pluginId") == name and plugin.get("installed") is True and plugin.get("enabled") is True
        for plugin in map(mapping, items(mapping(found).get("installed")))
    )
