"""Where the trials of one invocation take place, as its options and its suite ask for it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from proctor.engine.planning import RunOptions
from proctor.errors import UsageError
from proctor.host.bounds import plan_bounds
from proctor.host.confinement import Network, SandboxKind
from proctor.host.isolation import Isolated, isolate
from proctor.host.premises import Premises
from proctor.records.suite import Suite

if TYPE_CHECKING:
    from proctor.host.gateway import Gateway


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What an invocation is about, beside its options.

    Attributes:
        suite: its tests, of which no agent may see more than it is given.
        launch_dir: where the operator stands.
        agent_files: the files that the agent is, as far as they are known.
        credentials: variables without which it cannot work.
        kept_out: other files and folders that no agent may see.
    """

    suite: Suite
    launch_dir: Path
    agent_files: Sequence[Path] = ()
    credentials: Sequence[str] = ()
    kept_out: Sequence[Path] = ()


def isolated_for(options: RunOptions, suite: Suite, credentials: Sequence[str] = ()) -> Isolated:
    """What of the operator's environment agents get.

    credentials: variables without which the agent cannot work; those that are there get in.

    Raises:
        UsageError: a variable that is to be passed can be none.
    """
    asked = options.confinement
    needed = [name for name in credentials if options.environment.get(name)]
    return isolate(
        options.environment, keep_home=asked.keep_home, pass_env=(*asked.pass_env, *suite.pass_env, *needed)
    )


def premises_for(options: RunOptions, setting: Setting) -> Premises:
    """Where trials take place that are run with these options; tried out, and to be closed.

    Raises:
        UsageError: these options do not go together, or not on this machine.
        OSError: a folder cannot be made.
    """
    isolated = isolated_for(options, setting.suite, setting.credentials)
    asked = options.confinement
    hosts = asked.hosts()
    if asked.sandbox is SandboxKind.NONE:
        bounds = plan_bounds(options.limits, is_confined=False)
        return Premises(isolated=isolated, work_root=options.work_root, bounds=bounds, listens=True)
    from proctor.host.sandbox import OVERHEAD, Bubblewrap, find_programs
    from proctor.host.sandbox_view import View, programs_of, view_of

    home = options.environment.get("HOME", "")
    programs = find_programs(options.environment.get("PATH"))
    view: View = view_of(
        [setting.launch_dir, *asked.bind_ro],
        tools=programs_of(options.environment),
        hidden=_hidden(options, setting),
        needed=[*_with_targets(setting.agent_files), *asked.bind_ro],
        home=Path(home) if home.startswith("/") and home != "/" else None,
    )
    if home and Path(home).is_relative_to(setting.launch_dir):
        raise UsageError(
            f"you stand in {str(setting.launch_dir)!r}, and the sandbox would have to show your home",
            where="--sandbox bwrap",
            fix="Start proctor in the folder of your project.",
        )
    bounds = plan_bounds(options.limits, is_confined=True, overhead=OVERHEAD)
    has_network = asked.reaches is Network.HOST

    def enclosure(folder: Path) -> Bubblewrap:
        return Bubblewrap(
            programs,
            view,
            folder,
            launch_dir=setting.launch_dir,
            has_network=has_network,
            counts_processes=not bounds.is_counted,
            readable=[setting.launch_dir, *setting.agent_files, *asked.bind_ro],
        )

    def gateway(port: int | None) -> Gateway:
        from proctor.host.gateway import Gateway

        return Gateway(hosts if asked.reaches is Network.PROXY else None, port)

    premises = Premises(
        isolated=isolated,
        work_root=options.work_root,
        enclosure=enclosure,
        gateway=None if has_network else gateway,
        bounds=bounds,
        listens=True,
        told=msgspec.structs.replace(
            isolated.told,
            sandbox=asked.sandbox.value,
            network=asked.reaches.value,
            hosts=asked.allow_hosts,
        ),
    )
    try:
        premises.check()
    except BaseException:
        premises.close()
        raise
    return premises


def _hidden(options: RunOptions, setting: Setting) -> Iterator[Path]:
    """What no agent may see: the suite, what git keeps of it, runs, caches, and where other trials take place."""
    from proctor.host.sandbox_view import repositories_around

    suite = setting.suite
    others = [*setting.kept_out, *([options.work_root] if options.work_root is not None else [])]
    # Of a folder that the operator's own lies in, nothing else is shown anyway.
    yield from (path for path in others if path not in setting.launch_dir.parents)
    if suite.source.startswith("inline:"):
        return
    named = setting.launch_dir / suite.source
    # A suite that is one file may lie in the project's own folder.
    yield named if named.is_file() else suite.root
    for entry in suite.tests:
        code = () if entry.graders is None else (entry.graders.module, entry.graders.folder)
        for path in (entry.fixture, entry.holdout, entry.solution, *entry.wrong, *code):
            if path is not None:
                yield path
    yield from repositories_around(suite.root)
    yield from repositories_around(setting.launch_dir)


def _with_targets(files: Sequence[Path]) -> Iterator[Path]:
    for file in files:
        yield file
        yield Path(os.path.realpath(file))
