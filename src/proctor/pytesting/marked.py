"""`@pytest.mark.proctor(suite=..., agent=...)`: a test function is given each test of a suite, run and graded."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple, NoReturn

import msgspec
import pytest

from proctor.errors import ProctorError, UsageError, did_you_mean
from proctor.loading import select_host
from proctor.pytesting.agents import agent_of
from proctor.pytesting.evaluated import Evaluated
from proctor.pytesting.open_group import Asked
from proctor.pytesting.plugin import session_of
from proctor.pytesting.session import Session, tell
from proctor.pytesting.tags import as_markers
from proctor.pytesting.words import shown_path
from proctor.records.grade import Outcome


class Marked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the marker says; all of it by name.

    Attributes:
        suite: path of the suite, relative to the root folder of pytest, or a git source.
        agent: a function of a module, an agent, or a text as `proctor run` takes it.
        agent_cmd: a command line instead.
        trials: attempts at each test.
        timeout: limit of one trial, in seconds.
        parallel: trials of a test at once.
        min_pass_rate: share of the trials that must pass for `evaluated.outcome` to be a pass, 0 to 1.
    """

    suite: str
    agent: Any = None
    agent_cmd: str | None = None
    trials: int | None = None
    timeout: float | None = None
    parallel: int | None = None
    min_pass_rate: float | None = None


class Wanted(NamedTuple):
    """One test for one test function.

    Attributes:
        key: the id of the function, without parameters.
        test: id of the suite's test.
    """

    key: str
    test: str


_FIX: Final = 'Mark the function: @pytest.mark.proctor(suite="evals/einstein", agent=answer).'


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Make one test of pytest for each test of the suite."""
    config = metafunc.config
    try:
        marked = _marked(metafunc.definition)
        ours = session_of(config)
        suite = ours.load(str(marked.suite), base=config.rootpath)
        agent = agent_of(marked.agent, marked.agent_cmd, suite, here=config.invocation_params.dir)
        tests = select_host(suite, agent.identity.kind).tests
    except ProctorError as error:
        _fail(error)
    key = metafunc.definition.nodeid
    metafunc.parametrize(
        "evaluated",
        [
            pytest.param(
                Wanted(key, entry.test.id),
                id=entry.test.id,
                marks=tuple(as_markers(config, entry.test.tags)),
            )
            for entry in tests
        ],
        indirect=True,
    )


def refuse_if_idle(metafunc: pytest.Metafunc) -> None:
    """Fail the collection of a function that names a suite, and takes nothing of it: it would pass, and run no agent.

    A mark without arguments is a word to select by, and one of a class or a module is for some of its functions.
    """
    for mark in metafunc.definition.own_markers:
        if mark.name == "proctor" and (mark.args or mark.kwargs):
            name = metafunc.function.__name__
            _fail(
                UsageError(
                    f"{name} has the marker `proctor` and takes no `evaluated`, so that no agent would be run",
                    fix=f"Let it take it: def {name}(evaluated).",
                )
            )


def evaluate(request: pytest.FixtureRequest) -> Evaluated:
    """Run and grade the test that this test function is for."""
    wanted = _wanted(request.node)
    assert wanted is not None
    ours = session_of(request.config)
    try:
        if not ours.is_open(wanted.key):
            _begin(ours, wanted.key, request)
        evaluated = ours.evaluate(wanted.key, wanted.test)
    except ProctorError as error:
        _fail(error)
    tell(request.node, evaluated)
    said = evaluated.explain()
    if evaluated.outcome is Outcome.PASS:
        said = f"{wanted.test} passed; recorded in {shown_path(evaluated.group)}"
    request.node.add_report_section("setup", "proctor", said + "\n")
    return evaluated


def _fail(error: ProctorError) -> NoReturn:
    """Fail with what the error says, once: pytest would say it again as what came before."""
    try:
        pytest.fail(str(error), pytrace=False)
    except BaseException as failure:
        raise failure from None


def _begin(ours: Session, key: str, request: pytest.FixtureRequest) -> None:
    """Begin the group of a test function, with the tests of it that are selected."""
    marked = _marked(request.node)
    for item in request.session.items:
        other = _wanted(item)
        if other is not None and other.key == key:
            ours.select(key, other.test)
    here = request.config.invocation_params.dir
    whole = ours.load(str(marked.suite), base=request.config.rootpath)
    ours.begin(
        key,
        Asked(
            suite=ours.selected(key, whole),
            agent=agent_of(marked.agent, marked.agent_cmd, whole, here=here),
            trials=marked.trials or ours.trials,
            timeout_s=marked.timeout or ours.timeout_s,
            parallel=marked.parallel or ours.parallel,
            min_pass_rate=ours.min_pass_rate if marked.min_pass_rate is None else marked.min_pass_rate,
        ),
    )


def _wanted(item: pytest.Item) -> Wanted | None:
    """What an item of pytest wants evaluated; None for most."""
    callspec: Any = getattr(item, "callspec", None)
    found: object = None if callspec is None else callspec.params.get("evaluated")
    return found if isinstance(found, Wanted) else None


def _marked(node: pytest.Item) -> Marked:
    """What the marker of a test function says.

    Raises:
        UsageError: there is none, or it says what it cannot.
    """
    marker = node.get_closest_marker("proctor")
    if marker is None:
        raise UsageError("the fixture `evaluated` is for functions with the marker `proctor`", fix=_FIX)
    said = dict(marker.kwargs)
    if marker.args:
        raise UsageError("the marker `proctor` takes its arguments by name", fix=_FIX)
    known = Marked.__struct_fields__
    for name in said:
        if name not in known:
            near = did_you_mean(name, known)
            fix = f"Did you mean {near!r}?" if near else f"It takes: {', '.join(known)}."
            raise UsageError(f"the marker `proctor` takes no argument {name!r}", fix=fix)
    try:
        marked = msgspec.convert(said | {"suite": str(said["suite"])}, Marked)
    except KeyError:
        raise UsageError("the marker `proctor` names no suite", fix=_FIX) from None
    except msgspec.ValidationError as error:
        raise UsageError(f"the marker `proctor`: {error}", fix=_FIX) from error
    counts = (marked.trials, marked.parallel, marked.timeout)
    rate = marked.min_pass_rate
    is_in_range = all(count is None or 0 < count < math.inf for count in counts)
    if not is_in_range or not 0 <= (rate or 0) <= 1:
        raise UsageError(
            "the marker `proctor` has a number that is out of range",
            fix="trials, parallel and timeout are above 0, and min_pass_rate is from 0 to 1.",
        )
    return marked
