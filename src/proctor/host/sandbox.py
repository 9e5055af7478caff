"""The sandbox: bubblewrap, which gives an agent namespaces of its own and shows it little of the machine.

Where proctor runs as root, the agent runs as a user that is not: really, outside of the sandbox as well. What that
user could not reach below root's own folders is mounted for it in a place that it can reach. Where it could not read
the project itself, it is that user inside alone, and outside of the sandbox root without any of its rights.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from proctor.errors import UsageError
from proctor.host.enclosure import OUT, WORKDIR
from proctor.host.home import HOME, TEMPORARY
from proctor.host.owner import give, take_back
from proctor.host.sandbox_etc import make_etc
from proctor.host.sandbox_view import SYSTEM, View
from proctor.ports import Launch

INSIDE: Final = Path("/proctor")
"""Where a trial's folder is in the sandbox, whatever it is called outside."""
PORT: Final = 4318
"""Where the way to the outside is in the sandbox, on the loopback address."""
INSIDE_URL: Final = f"http://127.0.0.1:{PORT}"
_DIRECT: Final = "localhost,127.0.0.1,::1"
_PROXY_NAMES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
PROXY: Final = {
    **dict.fromkeys((*_PROXY_NAMES, *map(str.lower, _PROXY_NAMES)), INSIDE_URL),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), _DIRECT),
    "NODE_USE_ENV_PROXY": "1",
}
"""The variables by which programs find the proxy."""
RELAY: Final = "relay"
"""Name of the socket in a trial's folder that leads to the outside."""
NOBODY: Final = 65534
OVERHEAD: Final = 2
"""Processes of bubblewrap's own."""
STATUS: Final = "sandbox-status"
_ARGUMENTS: Final = "sandbox-arguments"
_STAGE: Final = "/mnt"
"""Where such mounts are made, unseen by anybody else."""
_STATUS_FD, _ARGUMENTS_FD = "8", "9"
_SHARED_MEMORY: Final = 64 << 20
_HOSTNAME: Final = "proctor"
_CHECK_S: Final = 20

# SIGTERM is for the agent: bubblewrap would end by it, and take the agent along before it could do anything.
_START: Final = f'trap \'\' TERM; exec {_STATUS_FD}>"$1" {_ARGUMENTS_FD}<"$2" || exit 125; shift 2; exec "$@"'


class Programs(msgspec.Struct, frozen=True, kw_only=True):
    """The programs that make the sandbox.

    Attributes:
        bwrap: bubblewrap.
        options: those of its options that not every version has, and this one does.
        as_nobody: what starts it as another user; empty where proctor is no root.
        unshare: gives root mounts of its own.
        mount: mounts.
    """

    bwrap: str
    options: tuple[str, ...] = ()
    as_nobody: tuple[str, ...] = ()
    unshare: str = ""
    mount: str = ""


def find_programs(path: str | None) -> Programs:
    """The programs of the sandbox on a PATH.

    Raises:
        UsageError: one of them is not there.
    """
    bwrap = _found("bwrap", path, "bubblewrap")
    said = subprocess.run(
        [bwrap, "--help"], capture_output=True, text=True, check=False, timeout=_CHECK_S
    ).stdout
    options = tuple(option for option in ("--disable-userns", "--perms", "--size") if option in said)
    if os.geteuid() != 0:
        return Programs(bwrap=bwrap, options=options)
    user = str(NOBODY)
    setpriv = _found("setpriv", path, "util-linux")
    return Programs(
        bwrap=bwrap,
        options=options,
        as_nobody=(setpriv, "--reuid", user, "--regid", user, "--clear-groups", "--no-new-privs", "--"),
        unshare=_found("unshare", path, "util-linux"),
        mount=_found("mount", path, "mount"),
    )


class Bubblewrap:
    """Every program of a trial sees what it may see, and nothing else.

    Args:
        programs: as they were found.
        view: what is shown of the machine.
        folder: for what all trials share; removed by whoever made it.
        launch_dir: where the operator stands; it is there in the sandbox, too, and may be empty.
        has_network: the host's network is the agent's.
        counts_processes: how many processes an agent may have, where nobody else counts them.
        readable: what the trial's user has to be able to read, where proctor is root.

    Attributes:
        user: the user that the agent really is; None where it is proctor's own.
    """

    is_confined = True

    def __init__(
        self,
        programs: Programs,
        view: View,
        folder: Path,
        *,
        launch_dir: Path,
        has_network: bool,
        counts_processes: bool = False,
        readable: Sequence[Path] = (),
    ) -> None:
        self._programs, self._view = programs, view
        self._folder, self._launch_dir = folder, launch_dir
        self._has_network = has_network
        self.counts_processes = counts_processes
        is_root = bool(programs.as_nobody)
        self.user = NOBODY if is_root and all(_may_read(path, NOBODY) for path in readable) else None
        self._seen_as = NOBODY if is_root else None
        if self.user is not None:
            _open_to(folder, self.user)
        user = os.geteuid() if self._seen_as is None else self._seen_as
        group = os.getegid() if self._seen_as is None else self._seen_as
        (folder / "empty").touch(0o644)
        make_etc(
            folder / "etc",
            user=user,
            group=group,
            home=str(INSIDE / HOME),
            host=_HOSTNAME,
            has_network=has_network,
        )

    def as_seen(self, root: Path, path: Path) -> str:
        """A path in a trial's folder as the trial's programs see it."""
        if path.is_relative_to(root / TEMPORARY):
            return str(Path("/tmp", path.relative_to(root / TEMPORARY)))
        return str(INSIDE / path.relative_to(root))

    def launch(
        self, root: Path, argv: Sequence[str], environment: Mapping[str, str], processes: int | None = None
    ) -> Launch:
        """How to start a program in the workdir of the trial's folder `root`; gives the folder to its user.

        Raises:
            OSError: what it needs cannot be written.
        """
        if self.user is not None:
            self._give(root)
        staged: dict[Path, str] = {}
        arguments = list(self._arguments(root, staged))
        (root / _ARGUMENTS).write_bytes(b"".join(os.fsencode(word) + b"\0" for word in arguments))
        counted = str(processes) if processes is not None and self.counts_processes else "-"
        relay = (str(PORT), str(INSIDE / RELAY)) if (root / RELAY).exists() else ("-", "-")
        inside = str(Path(__file__).with_name("sandbox_inside.py").resolve())
        command = [
            *(self._programs.as_nobody if self.user is not None else ()),
            self._programs.bwrap,
            "--args",
            _ARGUMENTS_FD,
            "--",
            *(sys.executable, "-I", "-S", inside, _STATUS_FD, counted, *relay),
            *argv,
        ]
        if staged:
            command = self._with_mounts(staged, command)
        start = ["/bin/sh", "-c", _START, "sh", str(root / STATUS), str(root / _ARGUMENTS), *command]
        return Launch(argv=tuple(start), environment=environment, cwd=root / WORKDIR, status=root / STATUS)

    def settle(self, root: Path) -> None:
        """Take back what the trial's user has left."""
        if self.user is not None:
            for name in (WORKDIR, OUT, HOME, TEMPORARY, "stdout", "stderr"):
                take_back(root / name)

    def check(self, root: Path, environment: Mapping[str, str]) -> None:
        """Start a program that does nothing, in the folder of a trial that is none.

        Raises:
            UsageError: the sandbox cannot be set up here.
        """
        launch = self.launch(root, ["/bin/sh", "-c", "exit 0"], environment)
        try:
            done = subprocess.run(
                launch.argv,
                cwd=launch.cwd,
                env=launch.environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=_CHECK_S,
            )
            said, is_good = done.stderr.strip(), done.returncode == 0
        except (OSError, subprocess.TimeoutExpired) as error:
            said, is_good = str(error), False
        if not is_good:
            raise UsageError(
                f"the sandbox cannot be set up here: {said or 'it says nothing'}",
                where="--sandbox bwrap",
                fix=_advice(said),
            )

    def _arguments(self, root: Path, staged: dict[Path, str]) -> Iterator[str]:
        programs = self._programs

        def source(path: Path) -> str:
            """Where to mount from; through a place that the trial's user can reach, where it cannot this one."""
            if self.user is None:
                return str(path)
            whole = next((base for base in (root, self._folder) if path.is_relative_to(base)), path)
            if _is_open(whole, self.user):
                return str(path)
            place = staged.setdefault(whole, f"{_STAGE}/{len(staged)}")
            return str(Path(place, path.relative_to(whole)))

        yield from (
            "--unshare-user",
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-cgroup-try",
        )
        if not self._has_network:
            yield "--unshare-net"
        yield from ("--cap-drop", "ALL", "--die-with-parent", "--as-pid-1", "--hostname", _HOSTNAME)
        if self._seen_as is not None:
            yield from ("--uid", str(self._seen_as), "--gid", str(self._seen_as))
        if "--disable-userns" in programs.options:
            yield "--disable-userns"
        yield from self._system(source)
        yield from ("--proc", "/proc", "--dev", "/dev")
        if "--size" in programs.options:
            yield from ("--perms", "1777", "--size", str(_SHARED_MEMORY), "--tmpfs", "/dev/shm")
            yield from ("--remount-ro", "/dev")
        yield from ("--bind", source(root / TEMPORARY), "/tmp")
        yield from ("--dir", str(self._launch_dir))
        yield from self._shown(source)
        for name in (WORKDIR, OUT, HOME):
            if (root / name).is_dir():
                yield from ("--bind", source(root / name), str(INSIDE / name))
        for name in ("input", RELAY):
            if (root / name).exists():
                yield from ("--ro-bind", source(root / name), str(INSIDE / name))
        yield from ("--remount-ro", "/", "--chdir", str(INSIDE / WORKDIR))

    def _system(self, source: Callable[[Path], str]) -> Iterator[str]:
        yield from ("--ro-bind", "/usr", "/usr")
        for name in SYSTEM:
            path = Path(name)
            if path.is_symlink():
                yield from ("--symlink", os.readlink(path), name)  # noqa: PTH115
            elif path.is_dir():
                yield from ("--ro-bind", name, name)
        yield from ("--ro-bind", source(self._folder / "etc"), "/etc")

    def _shown(self, source: Callable[[Path], str]) -> Iterator[str]:
        for path in self._view.shown:
            yield from ("--ro-bind", source(path), str(path))
        hidden = [path for path in self._view.hidden if path.exists()]
        folders = [path for path in hidden if path.is_dir()]
        for path in hidden:
            if path in folders:
                yield from ("--tmpfs", str(path))
            else:
                yield from ("--ro-bind", source(self._folder / "empty"), str(path))
        for path in self._view.exposed:
            yield from ("--ro-bind", source(path), str(path))
        for path in folders:
            yield from ("--remount-ro", str(path))

    def _give(self, root: Path) -> None:
        assert self.user is not None
        _open_to(root, self.user)
        for name in ("stdout", "stderr"):
            (root / name).touch(0o600)
        for name in (WORKDIR, OUT, HOME, TEMPORARY, "stdout", "stderr"):
            give(root / name, self.user)
        for name in ("input", RELAY):
            with suppress(FileNotFoundError):
                os.chown(root / name, self.user, self.user)

    def _with_mounts(self, staged: Mapping[Path, str], command: Sequence[str]) -> list[str]:
        """The command, with mounts that nobody else sees and that end with it."""
        mount, folders, files, binds = self._programs.mount, "", "", ""
        given: list[str] = []
        for number, (path, place) in enumerate(staged.items(), start=1):
            given.append(str(path))
            if path.is_dir():
                folders += f" {place}"
            else:
                files += f": >{place} && "
            binds += f'{mount} --no-canonicalize --bind "${{{number}}}" {place} && '
        script = f"{mount} -t tmpfs -o mode=0711 proctor {_STAGE} && "
        script += f"mkdir{folders} && {files}" if folders else files
        script += f'{binds}shift {len(given)} && exec "$@"; exit 125'
        return [
            *(self._programs.unshare, "--mount", "--propagation", "private", "--"),
            *("/bin/sh", "-c", script, "sh", *given),
            *command,
        ]


def _found(name: str, path: str | None, package: str) -> str:
    found = shutil.which(name, path=path)
    if found is None:
        raise UsageError(
            f"there is no program {name!r} on PATH, which the sandbox needs",
            where="--sandbox bwrap",
            fix=f"Install the package `{package}` of your Linux distribution; other systems have no such sandbox.",
        )
    return found


def _advice(said: str) -> str:
    if "namespace" in said or "Operation not permitted" in said or "Permission denied" in said:
        return (
            "This system lets nobody make namespaces, or not everybody. Ask its administrator for "
            "kernel.unprivileged_userns_clone=1 (Debian) or kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu); "
            "a container needs --security-opt seccomp=unconfined, and --cap-add SYS_ADMIN where it is root."
        )
    return "See what it says, and `proctor doctor`; --bind-ro PATH shows it what it lacks."


def _open_to(folder: Path, group: int) -> None:
    """Let a group pass through a folder, and nobody see what is in it."""
    os.chown(folder, -1, group)
    folder.chmod(0o710)


def _is_open(path: Path, user: int) -> bool:
    """True when a user who is in no other group than its own can pass through all folders above a path."""
    return all(_allows(folder.stat(), user, 0o1) for folder in path.parents)


def _may_read(path: Path, user: int) -> bool:
    """True when such a user can read a file, or list a folder and what is in it."""
    with suppress(OSError):
        status = path.stat()
        return _allows(status, user, 0o5 if stat.S_ISDIR(status.st_mode) else 0o4)
    return False


def _allows(status: os.stat_result, user: int, bits: int) -> bool:
    shift = 6 if status.st_uid == user else 3 if status.st_gid == user else 0
    return status.st_mode >> shift & bits == bits
