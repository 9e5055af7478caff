"""From what an attempt came to, to its run directory: the facts, without secrets and without this machine's folders."""

from __future__ import annotations

import os
import uuid

import msgspec

from proctor.core.faults import End, decide, kind_of_error
from proctor.core.redaction import Redactor
from proctor.engine.planning import PlannedTrial
from proctor.engine.trial import Outcome
from proctor.engine.work import Work, now
from proctor.errors import StoreError
from proctor.host.place import Place
from proctor.records.grade import Defect
from proctor.records.run import RUN_SCHEMA, Attempt, AttemptRow, Ending, RunFacts
from proctor.stores.group import GroupDir
from proctor.stores.rundir import ARTIFACT
from proctor.stores.tracefile import TRACE


class Recorder:
    """Writes runs and rows into a group.

    Args:
        work: what is run.
        group: ours.
        redactor: takes secrets out of everything.
    """

    def __init__(self, work: Work, group: GroupDir, redactor: Redactor) -> None:
        self._work, self._group, self._redactor = work, group, redactor
        self._suite = work.suite_ref

    def started(self, trial: PlannedTrial, at: str) -> None:
        """Note that an attempt starts, before anything of it does.

        Raises:
            StoreError: it cannot be written.
        """
        self._log("started", trial, at)

    def record(self, trial: PlannedTrial, outcome: Outcome, place: Place | None, started_at: str) -> RunFacts:
        """Make the run appear, and note its end; returns what was recorded.

        A run that does not fit on the disk is recorded without its files, as a failure that is not the agent's.

        place: what the agent left; None where it never had one.

        Raises:
            StoreError: it cannot be written.
        """
        facts = self._facts(trial, outcome, place, started_at)
        try:
            digest = self._publish(trial, facts, place, outcome)
        except StoreError as error:
            if place is None or not isinstance(error.__cause__, OSError):
                raise
            facts = self._without_files(facts, kind_of_error(error.__cause__), error.what)
            digest = self._publish(trial, facts, None, outcome)
        self._log("ended", trial, facts.ended_at, ending=facts.ending, digest=digest)
        return facts

    def _publish(self, trial: PlannedTrial, facts: RunFacts, place: Place | None, outcome: Outcome) -> str:
        checked, test = self._work.checked, trial.entry.test.id
        plan, artifact = checked.seeds.get(test), self._work.artifact_of(trial.entry.test)
        inputs = {**checked.inputs_of(test), **({} if artifact is None else {ARTIFACT: artifact})}
        more = {TRACE: outcome.trace_file} if place is not None and outcome.trace_file is not None else None
        return self._group.publish(
            trial.cell.run_dir,
            facts,
            place,
            redactor=self._redactor,
            inputs=inputs,
            more=more,
            seeded=() if plan is None else (plan,),
        )

    def _facts(self, trial: PlannedTrial, outcome: Outcome, place: Place | None, started_at: str) -> RunFacts:
        work, test, attempt = self._work, trial.entry.test, outcome.attempt
        mine = work.checked.tests[test.id]
        seeds, holdouts = work.checked.seeds.get(test.id), work.checked.holdouts.get(test.id)
        return RunFacts(
            schema=RUN_SCHEMA,
            run=uuid.uuid4().hex,
            test=test,
            trial=trial.cell.trial,
            attempt=trial.attempt,
            supersedes=trial.supersedes,
            ending=attempt.ending,
            output=self._redactor.value(attempt.output),
            exit_code=attempt.exit_code,
            signal=attempt.signal,
            defect=self._told(attempt.defect, place),
            fault=outcome.fault,
            notes=tuple(map(self._redactor.text, attempt.notes)),
            agent=work.agent.identity,
            suite=self._suite,
            graders=mine.snapshot.ref if mine.snapshot else None,
            test_digest=trial.cell.test_digest,
            input_digest=test.input_digest,
            fixture_digest=seeds.digest if seeds else None,
            fixture_commit=trial.entry.fixture_commit,
            holdout_digest=holdouts.digest if holdouts else None,
            artifact=None if (artifact := work.artifact_of(test)) is None else artifact.digest,
            limits=trial.limits,
            started_at=started_at,
            ended_at=now(),
            duration_s=outcome.duration_s,
            max_rss_kb=attempt.max_rss_kb,
            usage=attempt.usage,
            isolation=work.premises.told,
            platform=work.platform,
            workdir=place is not None,
            parallel=work.options.parallel * work.processes,
            has_gate=mine.has_gate,
        )

    def _without_files(self, facts: RunFacts, kind: str, why: str) -> RunFacts:
        defect = Defect(
            type=kind,
            message=f"{why}. It had ended with {facts.ending.value}; nothing that it left is kept.",
        )
        fault = decide(End(ending=Ending.HARNESS_FAILURE, defect=defect)).fault
        return msgspec.structs.replace(
            facts,
            ending=Ending.HARNESS_FAILURE,
            fault=fault and msgspec.structs.replace(fault, ended=facts.ending.value),
            defect=defect,
            output=None,
            workdir=False,
        )

    def _told(self, defect: Defect | None, place: Place | None) -> Defect | None:
        """What went wrong, without secrets, and without the folders of this machine."""
        if defect is None:
            return None
        here = os.getcwd()  # noqa: PTH109
        folders = (here,) if place is None else (os.fspath(place.workdir.parent), here)

        def told(text: str) -> str:
            for folder in folders:
                text = text.replace(f"{folder}/", "")
            return self._redactor.text(text)

        return Defect(
            type=defect.type,
            message=told(defect.message),
            stack=told(defect.stack),
            printed=told(defect.printed),
        )

    def _log(
        self,
        event: str,
        trial: PlannedTrial,
        at: str,
        *,
        ending: Ending | None = None,
        digest: str | None = None,
    ) -> None:
        cell = trial.cell
        row = AttemptRow(
            v=1,
            event=event,
            run_dir=cell.run_dir,
            test=cell.test,
            trial=cell.trial,
            attempt=trial.attempt,
            at=at,
            ending=ending,
            facts=digest,
        )
        self._group.log_attempt(row)


def without_a_place(error: OSError, kind: str) -> Outcome:
    """What an attempt comes to for which not even a folder could be made."""
    message = f"no folder could be made for the trial: {error.strerror or error}"
    defect = Defect(type=kind, message=message)
    attempt = Attempt(ending=Ending.HARNESS_FAILURE, defect=defect)
    fault = decide(End(ending=attempt.ending, defect=defect)).fault
    return Outcome(attempt=attempt, duration_s=0.0, fault=fault)
