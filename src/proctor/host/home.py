"""The home that an agent has: an empty folder of its own, in which the operator's tools go on working.

Version managers find their tools in the operator's home, by a variable each; packages that the operator has
installed with `pip install --user` are found by a line in the new home. git has a name to commit under.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

HOME, TEMPORARY = "home", "tmp"
"""Names of the folders, beside the workdir."""

_GIT_CONFIG = "[user]\n\tname = agent\n\temail = agent@localhost\n"
MANAGERS = {
    "ASDF_DATA_DIR": ".asdf",
    "BUN_INSTALL": ".bun",
    "FNM_DIR": ".local/share/fnm",
    "GOENV_ROOT": ".goenv",
    "JENV_ROOT": ".jenv",
    "MISE_DATA_DIR": ".local/share/mise",
    "MISE_GLOBAL_CONFIG_FILE": ".config/mise/config.toml",
    "NODENV_ROOT": ".nodenv",
    "NVM_DIR": ".nvm",
    "PROTO_HOME": ".proto",
    "PYENV_ROOT": ".pyenv",
    "RBENV_ROOT": ".rbenv",
    "RUSTUP_HOME": ".rustup",
    "SDKMAN_DIR": ".sdkman",
    "UV_PYTHON_INSTALL_DIR": ".local/share/uv/python",
    "VOLTA_HOME": ".volta",
}
"""Variables of version managers, and where below a home each keeps its tools."""


class HomePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is made for every trial.

    Attributes:
        is_private: it has a home of its own; a temporary folder it has always.
        files: what the home starts with: content by relative path.
        kept: variables that stay the operator's because somebody asked for it by their exact names.
    """

    is_private: bool = True
    files: Mapping[str, str] = {}
    kept: frozenset[str] = frozenset()

    def make(self, root: Path, as_seen: Callable[[Path], str]) -> dict[str, str]:
        """Make the folders in `root`, and return the variables that name them.

        Args:
            as_seen: a path in the root as the agent sees it.

        Raises:
            OSError: they cannot be made.
        """
        temporary = root / TEMPORARY
        temporary.mkdir(0o700)
        said = dict.fromkeys(("TMPDIR", "TMP", "TEMP"), as_seen(temporary))
        if self.is_private:
            home = root / HOME
            home.mkdir(0o700)
            for name, content in self.files.items():
                file = home / name
                if "/" in name:
                    file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(content)
            # A folder for sockets that ends with the session, which the temporary one is.
            said |= _folders_of(as_seen(home)) | {"XDG_RUNTIME_DIR": as_seen(temporary)}
        return {name: value for name, value in said.items() if name not in self.kept}


def private_home(environment: Mapping[str, str], kept: frozenset[str] = frozenset()) -> HomePlan:
    """A home of its own for each trial, from which the operator's packages are found as before.

    Args:
        environment: the operator's.
        kept: variables that stay the operator's.
    """
    return HomePlan(files={".gitconfig": _GIT_CONFIG} | _found_at_home(environment), kept=kept)


def tools_of(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables by which version managers find their tools without the operator's home, where it has such."""
    home = _operators_home(environment)
    if home is None:
        return {}
    return {
        name: str(home / below)
        for name, below in MANAGERS.items()
        if name not in environment and os.path.exists(home / below)  # noqa: PTH110  an unreadable home has none
    }


def user_packages(environment: Mapping[str, str]) -> list[Path]:
    """The folders in the operator's home that hold what was installed with `pip install --user`."""
    home = _operators_home(environment)
    if home is None or "PYTHONUSERBASE" in environment:
        return []
    try:
        return sorted((home / ".local" / "lib").glob("python3.*/site-packages"))
    except OSError:
        return []


def _operators_home(environment: Mapping[str, str]) -> Path | None:
    home = environment.get("HOME", "")
    return Path(home) if home.startswith("/") and home != "/" else None


def _folders_of(home: str) -> dict[str, str]:
    return {
        "HOME": home,
        "XDG_CACHE_HOME": f"{home}/.cache",
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_DATA_HOME": f"{home}/.local/share",
        "XDG_STATE_HOME": f"{home}/.local/state",
    }


def _found_at_home(environment: Mapping[str, str]) -> dict[str, str]:
    files: dict[str, str] = {}
    home = _operators_home(environment)
    for folder in user_packages(environment):
        assert home is not None
        # Not its path alone: what is installed for editing stands in further files of this kind.
        line = f"import site; site.addsitedir({str(folder)!r})\n"
        files[f"{folder.relative_to(home)}/operator.pth"] = line
    if home is not None and (versions := home / ".tool-versions").is_file():
        files[".tool-versions"] = versions.read_text(errors="surrogateescape")
    return files
