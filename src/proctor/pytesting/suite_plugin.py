"""`pytest --proctor SUITE`: each test of a suite is an item of pytest."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import msgspec
import pytest

from proctor import wiring
from proctor.cli.confinement import confinement_notes
from proctor.cli.output import clean
from proctor.errors import ProctorError, UsageError, did_you_mean
from proctor.loading import select_host
from proctor.ports import Agent
from proctor.pytesting.agents import agent_of
from proctor.pytesting.open_group import Asked, try_out
from proctor.pytesting.plugin import session_of
from proctor.pytesting.session import Session, tell, usage_error
from proctor.pytesting.tags import as_markers
from proctor.pytesting.words import shown_path
from proctor.records.grade import Outcome
from proctor.records.suite import Suite, SuiteTest

_Node = TypeVar("_Node", bound=pytest.Item | pytest.Collector)
_LINE: Final = re.compile(r"(.+):(\d+)")


class NotPassed(Exception):
    """A test of a suite did not pass; the text is what pytest shows."""


class SuitePlugin:
    """What `--proctor` adds to one invocation of pytest.

    Args:
        config: of pytest.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._header: list[str] = []
        self._asked: Asked | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Load the suite and the agent, and find out what cannot work before anything is collected or started."""
        try:
            self._prepare(session_of(self._config))
        except ProctorError as error:
            raise usage_error(error) from None

    def pytest_report_header(self) -> list[str]:
        """What is evaluated, and what the agent can reach."""
        return self._header

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """What lies in the suite's folder is no test of the project: an agent may be given a test_x.py to mend."""
        inside = self._path != self._config.rootpath and self._path.is_dir()
        return True if inside and collection_path.is_relative_to(self._path) else None

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """The suite stands beside what else the session collects."""
        report = yield
        if isinstance(collector, pytest.Session) and report.passed:
            node = _node(
                SuiteNode,
                collector,
                name=self._prefix,
                nodeid=self._prefix,
                path=self._path,
                tests=self._tests,
            )
            report.result = [*report.result, node]
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Write the plan with the tests that are selected, before the first of them."""
        options = self._config.option
        if options.collectonly or options.setuponly or options.setupplan:
            return
        if session.testsfailed and not options.continue_on_collection_errors:
            return
        items = [item for item in session.items if isinstance(item, SuiteItem)]
        if not items or self._asked is None:
            return
        ours = session_of(self._config)
        for item in items:
            ours.select("", item.name)
        suite = ours.selected("", self._suite)
        try:
            ours.begin("", msgspec.structs.replace(self._asked, suite=suite))
        except ProctorError as error:
            raise usage_error(error) from None

    def _prepare(self, ours: Session) -> None:
        source: str | None = self._config.getoption("--proctor") or None
        suite = ours.load(source, base=wiring.here())
        agent = self._agent(ours, suite)
        self._suite = suite if agent is None else select_host(suite, agent.identity.kind)
        self._path, self._prefix = _address(self._suite, source, self._config.rootpath)
        self._tests = self._take_arguments()
        if agent is None:
            return
        asked = self._asked = Asked(
            suite=self._suite,
            agent=agent,
            trials=ours.trials,
            timeout_s=ours.timeout_s,
            parallel=ours.parallel,
            min_pass_rate=ours.min_pass_rate,
        )
        _ = ours.inconclusive
        recorded_in = clean(shown_path(ours.place().path))
        self._header = [
            f"proctor: {clean(agent.identity.label)} on {clean(self._suite.name)}, recorded in {recorded_in}",
            *(f"proctor: {note}" for note in confinement_notes(asked.options(), self._suite, agent)),
        ]
        if self._config.option.collectonly or hasattr(self._config, "workerinput"):
            return
        ours.check_new()
        if self._config.pluginmanager.hasplugin("dsession"):
            if self._config.getoption("dist") == "each":
                raise UsageError(
                    "--dist=each runs every test in every worker, and each trial is recorded once",
                    fix="Leave it away: -n shares the tests out; --proctor-trials makes several trials of each.",
                )
            # A worker that finds out what is wrong can only break off; so it is found out here.
            try_out(asked)

    def _agent(self, ours: Session, suite: Suite) -> Agent | None:
        """The agent that is named; None where nobody names one and nothing is going to be run."""
        said: object = ours.said("--proctor-agent", None)
        command = ours.said("--proctor-agent-cmd", None)
        if said is None and command is None:
            said = self._config.hook.pytest_proctor_agent(config=self._config)
        if said is None and command is None:
            said, command = (
                ours.said("--proctor-agent", "proctor_agent"),
                ours.said("--proctor-agent-cmd", "proctor_agent_cmd"),
            )
        if said is None and command is None and self._config.option.collectonly:
            return None
        return agent_of(said, command, suite, here=self._config.invocation_params.dir)

    def _take_arguments(self) -> list[SuiteTest]:
        """The tests that the arguments name; what else they name stays for pytest.

        Without arguments all of the suite is meant, and nothing beside it.
        """
        config, wanted, others = self._config, list[str](), list[str]()
        is_whole = True
        if config.args_source is pytest.Config.ArgsSource.ARGS:
            for argument in config.args:
                path, _, test = argument.partition("::")
                if path != self._prefix and not _is_same(config.invocation_params.dir / path, self._path):
                    others.append(argument)
                elif test:
                    wanted.append(test)
                    is_whole = False
        config.args = others
        if not others:
            config.args_source = pytest.Config.ArgsSource.INVOCATION_DIR
        known = {entry.test.id: entry for entry in self._suite.tests}
        for test in wanted:
            if test not in known:
                near = did_you_mean(test, list(known))
                raise UsageError(
                    f"the suite has no test {test!r}",
                    where=self._prefix,
                    fix=f"Did you mean {near!r}?" if near else f"`proctor tests {self._prefix}` lists them.",
                )
        return list(known.values()) if is_whole else [known[test] for test in dict.fromkeys(wanted)]


class SuiteNode(pytest.Collector):
    """A suite among what pytest collects."""

    def __init__(self, *, tests: list[SuiteTest], **node: Any) -> None:
        super().__init__(**node)
        self._tests = tests

    def collect(self) -> Iterator[SuiteItem]:
        """Its tests, in the suite's order."""
        for entry in self._tests:
            item = _node(SuiteItem, self, name=entry.test.id, entry=entry)
            item.add_marker("proctor")
            for marker in as_markers(self.config, entry.test.tags):
                item.add_marker(marker)
            item.extra_keyword_matches.update(entry.test.tags)
            yield item


class SuiteItem(pytest.Item):
    """A test of a suite: its trials are made and graded when pytest comes to it."""

    def __init__(self, *, entry: SuiteTest, **node: Any) -> None:
        cast("Any", super()).__init__(**node)
        self._entry = entry

    def runtest(self) -> None:
        """Make its trials, grade them, and raise unless they passed."""
        ours = session_of(self.config)
        evaluated = ours.evaluate("", self.name)
        tell(self, evaluated)
        if evaluated.outcome is Outcome.PASS:
            return
        text = evaluated.explain()
        if evaluated.outcome is Outcome.INCONCLUSIVE and ours.inconclusive == "skip":
            # Said of the test, not of this line.
            raise pytest.skip.Exception(text.partition("\n")[0], _use_item_location=True)
        raise NotPassed(text)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What came of the trials, or what kept them from being made; a traceback only of our own mistakes."""
        if isinstance(excinfo.value, NotPassed | ProctorError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the test is written, for editors."""
        found = _LINE.fullmatch(self._entry.where)
        file, line = (found[1], int(found[2])) if found else (self._entry.where, 1)
        path = self.config.invocation_params.dir / file
        return (path if path.is_file() else self.path), line - 1, self.name


def _node(kind: type[_Node], parent: pytest.Collector, **node: object) -> _Node:
    """A node of pytest, made as pytest wants it made; its own signature does not say what it takes."""
    return cast("Any", kind).from_parent(parent, **node)


def _address(suite: Suite, source: str | None, root: Path) -> tuple[Path, str]:
    """The path of a suite, and how the ids of its tests begin: relative to pytest's root, or its name."""
    here = wiring.here()
    named = suite.root if source is None else here / source
    if not named.exists():
        return root / suite.name, suite.name
    path = named.resolve()
    return path, path.relative_to(root).as_posix() if path.is_relative_to(root) else suite.name


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)
