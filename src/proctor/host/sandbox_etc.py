"""The /etc of the sandbox: what programs read there, and no accounts, keys or names of this machine.

A copy: one mount instead of thirty, each of which would cost every trial.
"""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

_COPIED: Final = (
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "fonts",
    "host.conf",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "pki/ca-trust",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "protocols",
    "services",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
    "xml",
)
_OF_THE_NETWORK: Final = ("hosts", "resolv.conf")
_LARGEST: Final = 8 << 20
"""Bytes of a file that is copied."""


def make_etc(target: Path, *, user: int, group: int, home: str, host: str, has_network: bool) -> None:
    """Write the folder.

    Args:
        target: does not exist.
        user: the one account that there is.
        group: its group.
        home: its home, as it is seen inside.
        host: what the machine is called inside.
        has_network: names of hosts are resolved as this machine does.

    Raises:
        OSError: it cannot be written.
    """
    target.mkdir(0o755)
    for name in (*_COPIED, *(_OF_THE_NETWORK if has_network else ())):
        _copy(Path("/etc", name), target / name)
    accounts = {"passwd": f"agent:x:{user}:{group}:agent:{home}:/bin/sh\n", "group": f"agent:x:{group}:\n"}
    hosts = {} if has_network else {"hosts": f"127.0.0.1 localhost {host}\n::1 localhost\n"}
    for name, content in (accounts | hosts).items():
        (target / name).write_text(content)
    _open_up(target)


def _copy(source: Path, target: Path) -> None:
    """Copy a file or a folder that everybody may read, as far as everybody may; links in it stay links."""
    with suppress(OSError):
        status = source.stat()
        if not _is_public(status):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        if stat.S_ISDIR(status.st_mode):
            shutil.copytree(
                source,
                target,
                symlinks=True,
                ignore=_not_public,
                copy_function=shutil.copyfile,
                dirs_exist_ok=True,
            )
        elif stat.S_ISREG(status.st_mode):
            shutil.copyfile(source, target)


def _not_public(folder: str, names: list[str]) -> list[str]:
    left_out: list[str] = []
    for name in names:
        status = os.lstat(os.path.join(folder, name))  # noqa: PTH118
        is_link = stat.S_ISLNK(status.st_mode)
        if not is_link and not _is_public(status):
            left_out.append(name)
    return left_out


def _is_public(status: os.stat_result) -> bool:
    if stat.S_ISDIR(status.st_mode):
        return status.st_mode & 0o005 == 0o005
    return stat.S_ISREG(status.st_mode) and bool(status.st_mode & 0o004) and status.st_size <= _LARGEST


def _open_up(target: Path) -> None:
    """Whatever this process's umask is."""
    for folder, _, files in os.walk(target):
        Path(folder).chmod(0o755)
        for name in files:
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(0o644)
