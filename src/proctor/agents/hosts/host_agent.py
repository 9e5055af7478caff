"""A coding agent with a command line of its own as an agent: what is the same for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import UNSET

from proctor.agents.hosts.artifact import Artifact, open_artifact
from proctor.agents.hosts.dialect import Dialect, Start
from proctor.agents.hosts.kinds import CODING_AGENTS
from proctor.agents.hosts.program import Program, find_program
from proctor.agents.hosts.spans import write_told
from proctor.agents.hosts.told import ModelCall, Told
from proctor.agents.process import run_process
from proctor.agents.seen import Clock
from proctor.agents.streams import tail_of
from proctor.errors import AgentError, Fault
from proctor.host.home import HOME, TEMPORARY
from proctor.host.place import input_text
from proctor.host.seed import SeedPlan
from proctor.ports import Cancel, Place, Surroundings
from proctor.records.grade import Defect
from proctor.records.json_value import digest_of
from proctor.records.run import AgentIdentity, Attempt, Ending, Limits
from proctor.records.suite import Invocation, Test

_OURS: Final = frozenset(
    {
        Ending.INTERRUPTED,
        Ending.HARNESS_FAILURE,
        Ending.OUTPUT_CAP,
        Ending.DISK_CAP,
        Ending.COST_CAP,
        Ending.TOKEN_CAP,
    }
)
_PROMPT: Final = "prompt"
_FAR: Final = 2.0
_ALREADY: Final = "Give --model M, or pin one in the suite: hosts={...}."


class HostAgent:
    """Runs a coding agent once for each trial, with the artifact installed for that trial alone.

    Args:
        dialect: which coding agent, and how it is talked to.
        environment: the operator's own: where the program is found, and the credentials that the agent uses.
        model: the model of every trial, whatever the tests pin.
        artifact: the folder of what is under test.
        launch_dir: what `artifact` is relative to.

    Attributes:
        notices: sentences that the operator is told once.

    Raises:
        UsageError: the artifact is no folder, or is not for this coding agent.
        AgentError: the artifact cannot be used.
    """

    def __init__(
        self,
        dialect: Dialect,
        *,
        environment: Mapping[str, str],
        model: str | None = None,
        artifact: Path | None = None,
        launch_dir: Path,
    ) -> None:
        self._dialect, self._environment, self._model = dialect, environment, model
        self._program: Program | None = None
        others = tuple(host for host in CODING_AGENTS if host != dialect.name)
        self._artifact = (
            None if artifact is None else open_artifact(launch_dir / artifact, dialect.name, others)
        )
        self.notices: tuple[str, ...] = ()

    @property
    def identity(self) -> AgentIdentity:
        """The host and its version; the digest is of its name, the model that was asked for, and the artifact.

        Raises:
            AgentError: the program is not there.
        """
        artifact = None if self._artifact is None else self._artifact.plan.digest
        said = {"host": self._dialect.name, "model": self._model, "artifact": artifact}
        return AgentIdentity(
            kind=self._dialect.name,
            label=self._dialect.name,
            digest=digest_of(said),
            version=self._found().version,
            model=self._model,
        )

    @property
    def files(self) -> tuple[Path, ...]:
        """The program and its packages, which a sandbox has to show."""
        return self._found().files

    @property
    def credentials(self) -> tuple[str, ...]:
        """Variables that the host itself needs to reach its provider; they get in by themselves, and are recorded."""
        return self._dialect.credentials

    def artifact_of(self, test: Test) -> SeedPlan | None:
        """The files of the artifact that a trial of this test is given; None where it is given none."""
        found = self._artifact_for(test)
        return None if found is None else found.plan

    def prepare(self, tests: Sequence[Test], surroundings: Surroundings) -> None:
        """Check that the program knows what is needed, that somebody is signed in, and that the artifact is taken on.

        Nothing is asked of a model.

        Raises:
            AgentError: with what is missing.
        """
        faults = [
            fault for test in tests for fault in (_without_input(test), self._unknown_skill(test)) if fault
        ]
        if faults:
            raise AgentError.of(faults)
        program = self._found()
        self._dialect.check(program, surroundings, self._environment)
        if self._artifact is not None:
            self._dialect.install(program, self._artifact, surroundings)
        bare = [test.id for test in tests if self._model_for(test) is None]
        self.notices = (
            (
                f"no model is named for {bare[0]!r}: {self._dialect.name} takes the one of its own choice. {_ALREADY}",
            )
            if bare
            else ()
        )

    def attempt(self, test: Test, place: Place, limits: Limits, cancel: Cancel) -> Attempt:
        """Run it once; what its stream says becomes the trial's own trace."""
        clock, model = Clock(), self._model_for(test)
        artifact, named = self._artifact_for(test), self._skill_of(test)
        root = place.own_trace.parent
        home = root / HOME if (root / HOME).is_dir() else root / TEMPORARY
        home.mkdir(exist_ok=True)
        try:
            start = self._dialect.start(
                Start(
                    program=self._found(),
                    place=place,
                    home=home,
                    artifact=artifact,
                    model=model,
                    limits=limits,
                    operator=self._environment,
                )
            )
        except AgentError as error:
            return Attempt(ending=Ending.HARNESS_FAILURE, defect=Defect(type="artifact", message=error.what))
        prompt = root / _PROMPT
        prompt.write_text(self._prompt(test, named), encoding="utf-8")
        attempt = run_process(
            start.argv, self._dialect.name, place, limits, cancel, stdin=prompt, more=start.environment
        )
        skills = () if artifact is None else artifact.skills
        told = self._dialect.read(place.stdout, skills=skills, named=named)
        write_told(
            place, told, host=self._dialect.name, provider=self._dialect.provider, asked=model, clock=clock
        )
        ended = self._ended(attempt, told, artifact, place)
        notes = (
            *told.notes,
            *_other_model(told, model),
            *_other_cost(told, self._dialect.provider),
            *_torn(told),
        )
        return msgspec.structs.replace(_within(ended, told, limits), output=told.answer, notes=notes)

    def close(self) -> None:
        """Remove what was made ready for all trials."""
        self._dialect.close()

    def _found(self) -> Program:
        if self._program is None:
            dialect = self._dialect
            self._program = find_program(dialect.name, dialect.help_of, self._environment, dialect.update)
        return self._program

    def _model_for(self, test: Test) -> str | None:
        return test.model_on(self._dialect.name, self._model)

    def _artifact_for(self, test: Test) -> Artifact | None:
        return None if (test.invocation or Invocation()).mode == "none" else self._artifact

    def _skill_of(self, test: Test) -> str | None:
        """The skill that the prompt names, as the host knows it."""
        invocation = test.invocation
        if invocation is None or invocation.mode != "explicit" or invocation.skill is None:
            return None
        return invocation.skill if self._artifact is None else self._artifact.full_name(invocation.skill)

    def _unknown_skill(self, test: Test) -> Fault | None:
        skill = self._skill_of(test)
        if skill is None or self._artifact is None or self._artifact.holds(skill):
            return None
        known = ", ".join(self._artifact.skills) or "none"
        return Fault(
            f"The test asks for the skill {skill!r}, which the artifact does not hold.",
            f"test {test.id!r}",
            f"Its skills: {known}.",
        )

    def _prompt(self, test: Test, named: str | None) -> str:
        assert test.input is not UNSET, "prepare looks at that"
        given = input_text(test) or ""
        return given if named is None else f"{self._dialect.mark}{named} {given}"

    def _ended(self, attempt: Attempt, told: Told, artifact: Artifact | None, place: Place) -> Attempt:
        """The attempt as its stream explains it."""
        if attempt.ending in _OURS:
            return attempt
        if attempt.ending in (Ending.TIMEOUT, Ending.KILLED):
            if told.waiting is None or told.waiting.ending is not Ending.HARNESS_FAILURE:
                return attempt
            message = f"It was ended while it waited for its provider. {told.waiting.message}"
            return _as(attempt, Ending.HARNESS_FAILURE, told.waiting.kind, message)
        name = self._dialect.name
        if told.is_empty and told.broken is None:
            said = tail_of(place.stderr) or "It printed nothing to its standard error."
            how = f"{name} ended with exit code {attempt.exit_code} and told nothing of what it did. {said}"
            return _as(attempt, Ending.HARNESS_FAILURE, "host", how)
        if told.broken is not None:
            return _as(
                attempt, Ending.HARNESS_FAILURE, "trace", f"{told.broken} What {name} did cannot be told."
            )
        plugin = None if artifact is None else artifact.plugin
        if plugin is not None and told.plugins is not None and plugin not in told.plugins:
            return _as(
                attempt, Ending.HARNESS_FAILURE, "artifact", f"{name} did not take on the plugin {plugin!r}."
            )
        if told.trouble is not None:
            return _as(attempt, told.trouble.ending, told.trouble.kind, told.trouble.message)
        return attempt


def _without_input(test: Test) -> Fault | None:
    if test.input is not UNSET and input_text(test):
        return None
    return Fault(
        "A coding agent is told what to do, and the test has no input.",
        f"test {test.id!r}",
        "Give it an input.",
    )


def _as(attempt: Attempt, ending: Ending, kind: str, message: str) -> Attempt:
    return msgspec.structs.replace(attempt, ending=ending, defect=Defect(type=kind, message=message))


def _within(attempt: Attempt, told: Told, limits: Limits) -> Attempt:
    """The attempt; one that has cost more than it may ended by that, also where its host did not mind."""
    if attempt.ending is not Ending.OK:
        return attempt
    calls = [event for event in told.events if isinstance(event, ModelCall)]
    cost = sum(call.cost_usd or 0.0 for call in calls)
    tokens = sum((call.tokens_in or 0) + (call.tokens_out or 0) for call in calls)
    if limits.cost_usd is not None and cost > limits.cost_usd:
        message = f"It has cost ${cost:.4f}, and may cost ${limits.cost_usd:g}."
        return _as(attempt, Ending.COST_CAP, Ending.COST_CAP.value, message)
    if limits.tokens is not None and tokens > limits.tokens:
        message = f"It has used {tokens:,} tokens, and may use {limits.tokens:,}."
        return _as(attempt, Ending.TOKEN_CAP, Ending.TOKEN_CAP.value, message)
    return attempt


def _other_model(told: Told, asked: str | None) -> tuple[str, ...]:
    answered = {event.model for event in told.events if isinstance(event, ModelCall) and event.model}
    if asked is None or not answered or any(asked in model or model in asked for model in answered):
        return ()
    return (f"The model {asked!r} was asked for, and {', '.join(sorted(answered))} answered.",)


def _other_cost(told: Told, provider: str) -> tuple[str, ...]:
    """What the host says that it cost, held against a list of prices: it has been wrong by a factor before."""
    calls = [event for event in told.events if isinstance(event, ModelCall) and event.cost_usd]
    said = sum(call.cost_usd or 0.0 for call in calls)
    if not said:
        return ()
    from proctor.models.prices import priced

    listed = 0.0
    for call in calls:
        cost = priced(
            provider=provider,
            model=call.model,
            tokens_in=call.tokens_in,
            tokens_out=call.tokens_out,
            cached_in=call.tokens_cached,
            cache_written=call.tokens_written,
        ).cost_usd
        if cost is None:
            return ()
        listed += cost
    if said / _FAR <= listed <= said * _FAR:
        return ()
    return (
        f"By a list of prices it cost ${listed:.4g}, and the host says ${said:.4g}, which is what counts.",
    )


def _torn(told: Told) -> tuple[str, ...]:
    is_cut = not (told.is_complete or told.is_empty or told.broken)
    return ("Its stream breaks off; what is not in it may have happened.",) if is_cut else ()
