"""What a coding agent is given to carry: a plugin, or a folder of what its config folder holds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import msgspec

from proctor.agents.hosts.lines import mapping, text
from proctor.core.json_lines import NotJson, decoded
from proctor.errors import AgentError, SuiteError, UsageError
from proctor.host.seed import SeedPlan, plan_seed, seed

TARGET_MISSING: Final = "EVAL_TARGET_MISSING"
_MANIFEST: Final = "plugin.json"
_SKILL: Final = "SKILL.md"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_read: Final = msgspec.json.Decoder(dict[str, Any])


class Artifact(msgspec.Struct, frozen=True, kw_only=True):
    """An artifact as one host takes it.

    Attributes:
        plan: its files, as they were found.
        plugin: the plugin's name; None for a folder of what a config folder holds.
        skills: names of its skills.
    """

    plan: SeedPlan
    plugin: str | None = None
    skills: tuple[str, ...] = ()

    def full_name(self, skill: str) -> str:
        """A skill's name as the host knows it: those of a plugin begin with the plugin's."""
        return f"{self.plugin}:{skill}" if self.plugin is not None and ":" not in skill else skill

    def holds(self, skill: str) -> bool:
        """True when the skill of this name is in it."""
        plugin, colon, name = skill.rpartition(":")
        return name in self.skills and (not colon or plugin == self.plugin)

    def copy_to(self, folder: Path) -> None:
        """Put its files into a folder, which may be there.

        Raises:
            AgentError: a file is no longer what it was.
            OSError: they cannot be written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        try:
            seed(self.plan, folder)
        except SuiteError as error:
            raise AgentError(
                f"The artifact is not what it was when the run began: {error.what}",
                where=error.faults[0].where,
                fix="Leave it alone while it is tested.",
            ) from error


def open_artifact(folder: Path, host: str, others: tuple[str, ...]) -> Artifact:
    """The artifact in a folder, or the host's own part of it: a folder with the host's name.

    Args:
        folder: as the user named it.
        host: `claude` or `codex`.
        others: names of the other hosts.

    Raises:
        UsageError: there is no such folder, or it is for other hosts alone.
        AgentError: it holds what cannot be copied, or its manifest cannot be read.
    """
    if not folder.is_dir():
        raise UsageError(
            f"the artifact {str(folder)!r} is no folder",
            where="--artifact",
            fix="Name the folder of a plugin, or one that holds skills/ and the like.",
        )
    target = folder
    if _manifest(folder, host) is None:
        if (folder / host).is_dir():
            target = folder / host
        elif any((folder / other).is_dir() for other in others):
            raise UsageError(
                f"{TARGET_MISSING}  the artifact has no folder {host!r}",
                where=str(folder),
                fix=f"Put the part for {host} into {folder.name}/{host}.",
            )
    try:
        plan = plan_seed(target)
    except SuiteError as error:
        raise AgentError.of(error.faults) from error
    manifest = _manifest(target, host)
    skills = tuple(
        sorted(
            path.parts[1]
            for path in (Path(entry.path) for entry in plan.entries)
            if len(path.parts) == 3 and path.parts[0] == "skills" and path.parts[2] == _SKILL
        )
    )
    if not plan.entries:
        raise UsageError(
            f"the artifact {str(target)!r} is empty", where="--artifact", fix="Name another folder."
        )
    plugin = None if manifest is None else _name_in(manifest)
    return Artifact(plan=plan, plugin=plugin, skills=skills)


def _manifest(folder: Path, host: str) -> Path | None:
    """The manifest of a plugin; a host takes the other's, too, where it has none of its own."""
    names = (f".{host}-plugin", ".claude-plugin", ".codex-plugin")
    return next((path for name in names if (path := folder / name / _MANIFEST).is_file()), None)


def _name_in(manifest: Path) -> str:
    try:
        name = text(mapping(decoded(_read, manifest.read_bytes())).get("name"))
    except (OSError, NotJson) as error:
        raise AgentError(
            f"The manifest of the artifact cannot be read: {error}",
            where=str(manifest),
            fix='It is a JSON object with a "name".',
        ) from error
    if not _NAME.fullmatch(name):
        raise AgentError(
            f"The manifest of the artifact gives the name {name!r}, which no plugin can have.",
            where=str(manifest),
            fix="A name has letters, digits, dots, hyphens and underscores.",
        )
    return name
