"""How a suite is run: what the caller says, and the project's settings for what is not said."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from proctor import wiring
from proctor.errors import UsageError

# As in `evaluation`: what is needed is imported when it is.
if TYPE_CHECKING:
    from proctor.engine.planning import RunOptions
    from proctor.host.confinement import Confinement
    from proctor.host.premises import Premises
    from proctor.loading.settings import Settings
    from proctor.ports import Agent
    from proctor.records.run import Shard
    from proctor.records.suite import Suite


def run_options(
    *,
    trials: int | None = None,
    timeout_s: float | None = None,
    parallel: int | None = None,
    max_failures: int | None = None,
    work_root: Path | None = None,
    confinement: Mapping[str, Any] | None = None,
    resources: Mapping[str, Any] | None = None,
    max_cost_usd: float | None = None,
    max_time_s: float | None = None,
    retries: int | None = None,
    shard: Shard | None = None,
) -> RunOptions:
    """How a suite is run: what is given here, and the project's settings for what is not.

    Args:
        trials: attempts at each test.
        timeout_s: wall-clock limit of one trial.
        parallel: trials at once.
        max_failures: start no further trial after so many that did not end well.
        work_root: where workdirs live while an agent runs.
        confinement: fields of `Confinement`.
        resources: fields of `Limits`: what a trial may use, its time excepted.
        max_cost_usd: start no further trial when all together have cost so much, in US dollars.
        max_time_s: start no further trial after so many seconds.
        retries: how often a trial is made again after a fault of a provider or the machine that may pass.
        shard: which part of the tests is run; all of them when None.

    Raises:
        UsageError: a setting holds what it cannot.
    """
    from proctor import loading
    from proctor.engine.planning import DEFAULT_LIMITS, RunOptions
    from proctor.loading.fault_rules import fault_rules

    settings = loading.find_settings(wiring.here())
    return RunOptions(
        trials=trials,
        timeout_s=timeout_s,
        default_trials=settings.get("trials").value,
        default_timeout_s=settings.get("timeout").value,
        parallel=parallel if parallel is not None else settings.get("parallel").value,
        work_root=work_root or settings.path("work_root", base=wiring.here()),
        max_failures=max_failures,
        environment=wiring.environment(),
        limits=msgspec.structs.replace(DEFAULT_LIMITS, **(_resources(settings) | dict(resources or {}))),
        confinement=_confinement(confinement or {}, settings),
        max_cost_usd=max_cost_usd if max_cost_usd is not None else settings.get("max_cost").value,
        max_time_s=max_time_s if max_time_s is not None else settings.get("max_time").value,
        retries=retries if retries is not None else settings.get("retries").value,
        faults=fault_rules(settings.get("faults").value, settings.label),
        shard=shard,
    )


def premises_of(
    options: RunOptions, suite: Suite, agent: Agent | None = None, *, out: Path | None = None
) -> Premises:
    """Where trials take place that are run with these options; to be closed.

    Args:
        options: how they are run.
        suite: whose tests they are.
        agent: who makes them; in a sandbox it sees its own files.
        out: the group's folder, which no agent sees.

    Raises:
        UsageError: these options do not go together, or not on this machine.
    """
    from proctor import loading
    from proctor.engine.premises import Setting, premises_for
    from proctor.host.confinement import SandboxKind

    here = wiring.here()
    settings = loading.find_settings(here)
    is_open = options.confinement.sandbox is SandboxKind.NONE
    caches = [
        wiring.cache_folder(),
        settings.path("git_cache", base=here),
        settings.path("out", base=here),
        out,
    ]
    return premises_for(
        options,
        Setting(
            suite=suite,
            launch_dir=here,
            agent_files=() if is_open else tuple(getattr(agent, "files", ())),
            credentials=tuple(getattr(agent, "credentials", ())),
            kept_out=tuple((here / path).absolute() for path in caches if path is not None),
        ),
    )


def _confinement(asked: Mapping[str, Any], settings: Settings) -> Confinement:
    """Lists of the settings come before what was asked for; of all else, what was asked for counts."""
    from proctor.host.confinement import Confinement, Network, SandboxKind

    def chosen(key: str, kinds: type[SandboxKind] | type[Network]) -> Any:
        said = settings.get(key)
        value = asked.get(key) or said.value
        if value is None:
            return None
        try:
            return kinds(value)
        except ValueError as error:
            raise UsageError(
                f"{key} is {value!r}", where=said.origin, fix=f"Write one of: {', '.join(kinds)}."
            ) from error

    folder = settings.folder or wiring.here()
    shown = [folder / Path(path).expanduser() for path in settings.get("bind_ro").value]
    return Confinement(
        keep_home=asked.get("keep_home", False),
        pass_env=(*settings.get("pass_env").value, *asked.get("pass_env", ())),
        sandbox=chosen("sandbox", SandboxKind),
        network=chosen("network", Network),
        allow_hosts=(*settings.get("allow_hosts").value, *asked.get("allow_hosts", ())),
        bind_ro=(*shown, *asked.get("bind_ro", ())),
    )


def _resources(settings: Settings) -> dict[str, Any]:
    """The limits that the settings give, by field of `Limits`."""
    from proctor.core.sizes import size_of

    found: dict[str, Any] = {}
    sizes = (
        ("memory_bytes", "max_memory"),
        ("file_bytes", "max_file_size"),
        ("output_bytes", "max_output"),
        ("workdir_bytes", "max_workdir"),
    )
    for field, key in sizes:
        value, origin = settings.get(key)
        if value == "none":
            found[field] = None
        elif value is not None:
            found[field] = size_of(str(value))
            if not found[field]:
                raise UsageError(
                    f"{key} is {value!r}",
                    where=origin,
                    fix='Write a size, such as "2G" or "512M", or "none" for no limit.',
                )
    others = (
        ("cpu_s", "max_cpu_time"),
        ("processes", "max_processes"),
        ("cost_usd", "max_trial_cost"),
        ("tokens", "max_trial_tokens"),
    )
    for field, key in others:
        value, _ = settings.get(key)
        if value is not None:
            found[field] = value
    return found
