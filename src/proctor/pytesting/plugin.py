"""What pytest loads whenever it starts: options, a marker, a fixture. All else waits until somebody asks for it."""

from __future__ import annotations

import pytest

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proctor.pytesting.evaluated import Evaluated
    from proctor.pytesting.session import Session

SESSION: pytest.StashKey[Session] = pytest.StashKey()
SETTINGS = "proctor"
"""Of a worker's input: what the processes of one invocation share."""
INCONCLUSIVE = "inconclusive: "
"""What a test begins with that neither passed nor failed."""

_MARKER = (
    "proctor(suite, agent, agent_cmd, trials, timeout, parallel, min_pass_rate): runs a suite and gives the test "
    "function what came of it, one test of the suite at a time; every test that runs agents has this mark"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """What the command line and the configuration of pytest can say."""
    group = parser.getgroup("proctor", "suites of agents")
    group.addoption(
        "--proctor",
        metavar="SUITE",
        nargs="?",
        const="",
        help="run an agent over a suite, each test of it as a test of pytest; without SUITE, the one that "
        "[tool.proctor] names. Tests of the project are run beside it only where arguments name them",
    )
    group.addoption(
        "--proctor-agent", metavar="AGENT", help="the agent, as `proctor run` takes it (ini: proctor_agent)"
    )
    group.addoption(
        "--proctor-agent-cmd",
        metavar="COMMAND",
        help="a command instead; {input} stands for the input (ini: proctor_agent_cmd)",
    )
    group.addoption("--proctor-trials", metavar="K", help="attempts at each test (default: 1)")
    group.addoption("--proctor-parallel", metavar="N", help="trials of a test at once (default: 1)")
    group.addoption("--proctor-timeout", metavar="SECONDS", help="limit of one trial (default: 60)")
    group.addoption(
        "--proctor-out",
        metavar="GROUP",
        help="the folder that runs are recorded in (default: runs/<date>-<random>)",
    )
    group.addoption(
        "--proctor-min-pass-rate",
        metavar="X",
        help="share of a test's trials that must pass, 0 to 1 (default: 1; ini: proctor_min_pass_rate)",
    )
    group.addoption(
        "--proctor-inconclusive",
        metavar="fail|skip",
        help="what pytest makes of a test that neither passed nor failed (default: fail; ini: proctor_inconclusive)",
    )
    parser.addini("proctor_agent", "the agent of --proctor, as `proctor run` takes it")
    parser.addini("proctor_agent_cmd", "a command that is the agent of --proctor")
    parser.addini("proctor_min_pass_rate", "share of a test's trials that must pass, 0 to 1")
    parser.addini("proctor_inconclusive", "fail or skip: a test that neither passed nor failed")


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Make `pytest_proctor_agent` known."""
    from proctor.pytesting import hooks

    pluginmanager.add_hookspecs(hooks)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and what `--proctor` needs where it is given."""
    config.addinivalue_line("markers", _MARKER)
    config.pluginmanager.register(Follower(config), "proctor-follower")
    if config.getoption("--proctor") is not None:
        from proctor.pytesting.suite_plugin import SuitePlugin

        config.pluginmanager.register(SuitePlugin(config), "proctor-suite")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test function that wants `evaluated` is one test for each test of the suite of its marker."""
    if "evaluated" in metafunc.fixturenames:
        from proctor.pytesting.marked import parametrize

        parametrize(metafunc)
    elif any(mark.name == "proctor" for mark in metafunc.definition.own_markers):
        from proctor.pytesting.marked import refuse_if_idle

        refuse_if_idle(metafunc)


@pytest.fixture
def evaluated(request: pytest.FixtureRequest) -> Evaluated:
    """One test of the suite that the marker `proctor` names, run and graded."""
    from proctor.pytesting.marked import evaluate

    return evaluate(request)


def session_of(config: pytest.Config) -> Session:
    """What this process evaluates; made when it is first asked for."""
    if SESSION not in config.stash:
        from proctor.pytesting.session import Session

        config.stash[SESSION] = Session(config)
    return config.stash[SESSION]


class Follower:
    """Follows an invocation of pytest, and looks up what was recorded once something was."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._is_worker = hasattr(config, "workerinput")
        self._groups: dict[str, None] = {}
        self._asked = self._measured = 0

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: object) -> None:
        """Tell a worker of pytest-xdist what all of them share."""
        given: dict[str, Mapping[str, str]] = getattr(node, "workerinput")  # noqa: B009
        given[SETTINGS] = shared_of(self._config)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember the groups that tests were recorded in."""
        said = dict(report.user_properties)
        if report.when == "call" and "proctor_group" in said:
            self._groups[str(said["proctor_group"])] = None
            self._asked += 1
            self._measured += said["proctor_outcome"] != "inconclusive"

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """A test that cannot be told has a word of its own among those that failed."""
        said = report.longrepr
        if (
            report.when == "call"
            and report.failed
            and isinstance(said, str)
            and said.startswith(INCONCLUSIVE)
        ):
            return "failed", "I", "INCONCLUSIVE"
        return None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Close what this process has open; an invocation that measured nothing is none that went well."""
        if SESSION in self._config.stash:
            self._config.stash[SESSION].close()
        if self._is_worker:
            return
        if SESSION in self._config.stash:
            self._groups |= dict.fromkeys(self._config.stash[SESSION].begun())
        if self._groups:
            from proctor.pytesting.session import tidy

            for path in self._groups:
                tidy(path)
        if self._asked and not self._measured and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Where everything is, and what it comes to."""
        if self._groups:
            from proctor.pytesting.summary import write_summary

            write_summary(
                terminalreporter, list(self._groups), is_measured=self._measured > 0 or not self._asked
            )


def shared_of(config: pytest.Config) -> Mapping[str, str]:
    """What all processes of an invocation share, as texts: the id and name of its groups, and the time of its start."""
    if hasattr(config, "workerinput"):
        return getattr(config, "workerinput")[SETTINGS]  # noqa: B009
    if _SHARED not in config.stash:
        import uuid
        from datetime import UTC, datetime

        from proctor import wiring

        config.stash[_SHARED] = {
            "id": uuid.uuid4().hex,
            "name": wiring.new_group_name(),
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        }
    return config.stash[_SHARED]


_SHARED: pytest.StashKey[Mapping[str, str]] = pytest.StashKey()
