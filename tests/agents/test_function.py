"""Function agents: a module imported once, and a fork for each trial."""

import os
import textwrap
import threading
import time
from pathlib import Path

import pytest

from proctor.agents.function import FunctionAgent
from proctor.errors import AgentError
from proctor.host.cancel import Cancel
from proctor.records.run import Ending, Limits
from proctor.records.suite import Test
from tests.agents.conftest import HERE

AGENT = """
import asyncio, dataclasses, enum, os, sys, time
from pathlib import Path

import sibling

print("imported")
counter = 0
shown = lambda value: value


def echo(given):
    return given


def nothing():
    pass


async def slowly(given):
    await asyncio.sleep(0.01)
    return {"later": given}


def either(given="default"):
    return given


def two(one, other):
    return one


def count():
    global counter
    counter += 1
    return counter


def where():
    Path("left-behind").write_text("x")
    return [os.getcwd(), os.environ["PROCTOR_WORKDIR"], sys.argv, sibling.NAME, __name__]


def environment():
    return dict(os.environ)


def talk():
    print("to stdout")
    print("to stderr", file=sys.stderr)
    return sys.stdin.read()


def talk_for_ever():
    print("partial")
    while True:
        pass


def stubborn():
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(0.05)


def asleep():
    time.sleep(60)


def raising(given):
    deeper(given)


def deeper(given):
    raise LookupError(f"no {given}")


def chained():
    try:
        deeper("cause")
    except LookupError as err:
        raise ValueError("effect") from err


def leave():
    sys.exit(0)


def interrupt():
    raise KeyboardInterrupt


def vanish():
    os._exit(0)


def crash():
    os.kill(os.getpid(), 11)


def forks():
    if os.fork() == 0:
        return "the child's"
    os.wait()
    return "the parent's"


@dataclasses.dataclass
class Point:
    x: int
    tags: tuple = ("a",)


class Colour(enum.StrEnum):
    RED = "red"


def dataclass():
    return {"points": [Point(1), Point(2)], "colour": Colour.RED}


def pydantic_model():
    import datetime, pydantic

    class Model(pydantic.BaseModel):
        at: datetime.date
        points: list[int]

    return [Model(at="2026-01-02", points=[1])]


def struct():
    import msgspec

    class Inner(msgspec.Struct, tag="inner", rename="camel"):
        first_name: str

    return Inner("Ada")


def a_set():
    return {"items": [1, 2, {3}]}


def not_a_number():
    return {"a b": [float("nan")]}


def infinite():
    return float("inf")


def number_key():
    return {"a": {1: 2}}


def bytes_():
    return b"x"


def itself():
    loop = []
    loop.append(loop)
    return loop


def surrogate():
    return {"text\\ud800": "a\\udfff"}


def large():
    return "x" * 3_000_000


def big_number():
    return 10**30
"""


@pytest.fixture
def launch(tmp_path):
    folder = tmp_path / "launch" / "agents"
    folder.mkdir(parents=True)
    (folder / "agent.py").write_text(AGENT)
    (folder / "sibling.py").write_text("NAME = 'sibling'")
    return folder.parent


@pytest.fixture
def agent(launch):
    return lambda name, **options: FunctionAgent(f"agents/agent.py:{name}", launch_dir=launch, **options)


def module(launch, text, name="other.py"):
    (launch / name).write_text(textwrap.dedent(text))
    return name


# What it is given and returns


@pytest.mark.parametrize("given", ["text\n", {"b": [1, 2.5, None, True]}, [], None, 0, "ü"])
def test_input_is_the_argument_and_the_return_is_the_output(agent, attempt, given):
    """A function gets the test's input as it is, and what it returns is the output."""
    ended = attempt(agent("echo"), Test(id="t", input=given))

    assert (Ending.OK, given, None, ()) == (ended.ending, ended.output, ended.defect, ended.notes)
    assert type(given) is type(ended.output)


def test_no_input_no_argument(agent, attempt):
    """A test without input calls the function without an argument; a default is then used."""
    assert None is attempt(agent("nothing")).output
    assert "default" == attempt(agent("either")).output
    assert "mine" == attempt(agent("either"), Test(id="t", input="mine")).output


def test_async_function_is_run_to_its_end(agent, attempt):
    """An `async def` is awaited."""
    assert {"later": "x"} == attempt(agent("slowly"), Test(id="t", input="x")).output


def test_main_is_the_default(launch, attempt):
    """Without a name the function is `main`; it may be any callable."""
    name = module(launch, "import functools\nmain = functools.partial(str.upper, 'abc')")

    assert "ABC" == attempt(FunctionAgent(name, launch_dir=launch)).output


def test_dotted_module_is_found_from_the_launch_folder(launch, attempt):
    """`package.module:function` is imported as Python would where the user stands."""
    (launch / "package").mkdir()
    (launch / "package" / "__init__.py").touch()
    (launch / "package" / "near.py").write_text("NEAR = 'near'")
    (launch / "package" / "deep.py").write_text("from .near import NEAR\ndef answer(): return NEAR")
    agent = FunctionAgent("package.deep:answer", launch_dir=launch)

    assert "near" == attempt(agent).output
    assert agent.identity.digest.startswith("sha256:")


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("dataclass", {"points": [{"x": 1, "tags": ["a"]}, {"x": 2, "tags": ["a"]}], "colour": "red"}),
        ("struct", {"type": "inner", "firstName": "Ada"}),
        ("large", "x" * 3_000_000),
        ("big_number", 10**30),
    ],
)
def test_values_that_become_json(agent, attempt, name, output):
    """Dataclasses, enumerations and structs become what they look like in JSON."""
    ended = attempt(agent(name))

    assert (Ending.OK, output) == (ended.ending, ended.output)


def test_pydantic_model_becomes_json(agent, attempt):
    """A pydantic model is dumped in its JSON mode."""
    pytest.importorskip("pydantic")

    assert [{"at": "2026-01-02", "points": [1]}] == attempt(agent("pydantic_model")).output


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("a_set", "$.items[2]: set"),
        ("not_a_number", "$['a b'][0]: nan"),
        ("infinite", "$: inf"),
        ("number_key", "$.a: the key 1 is of type int"),
        ("bytes_", "$: bytes"),
        ("itself", "holds itself"),
    ],
)
def test_values_that_are_no_json_are_an_error_that_says_where(agent, attempt, name, says):
    """The defect names the type and its place in the value."""
    ended = attempt(agent(name))

    assert (Ending.ERROR, None) == (ended.ending, ended.output)
    assert says in ended.defect.message


def test_half_a_surrogate_pair_is_replaced_and_noted(agent, attempt):
    """What UTF-8 cannot hold becomes U+FFFD, in keys too, and is noted once."""
    ended = attempt(agent("surrogate"))

    assert ({"text\ufffd": "a\ufffd"}, 1) == (ended.output, len(ended.notes))


# Where it runs


def test_it_stands_in_the_workdir(agent, attempt, place_for):
    """A trial's folder is the workdir, and the module's own folder is on the import path."""
    test = Test(id="t")
    place = place_for(test)
    cwd, told, argv, sibling, name = attempt(agent("where"), test, place=place).output

    assert [str(place.workdir)] * 2 == [cwd, told]
    assert ("sibling", "agent", 1) == (sibling, name, len(argv))
    assert ["left-behind"] == [path.name for path in place.workdir.iterdir()]


def test_its_environment_is_the_trials(agent, attempt, place_for):
    """It is what the place says, the deadline, and a mark."""
    test = Test(id="t")
    place = place_for(test)
    told = attempt(agent("environment"), test, place=place, limits=Limits(timeout_s=100)).output
    deadline = int(told.pop("PROCTOR_DEADLINE"))
    told.pop("LC_CTYPE", None)
    assert told.pop("PROCTOR_TRIAL")

    assert place.environment == told
    assert 90 < deadline - time.time() <= 100


def test_state_is_not_shared_between_trials(agent, place_for):
    """A module is imported once, and each trial finds it as it was then."""
    counting = agent("count")
    test = Test(id="t")
    counting.prepare([test], HERE)
    outputs = [counting.attempt(test, place_for(test), Limits(), Cancel()).output for _ in range(3)]
    counting.close()

    assert [1, 1, 1] == outputs


def test_trials_in_parallel_get_their_own_answers(agent, place_for):
    """Many threads attempt at once, and none gets another's output."""
    echo = agent("echo")
    tests = [Test(id=f"t{number}", input=number) for number in range(16)]
    echo.prepare(tests, HERE)
    outputs: dict[int, object] = {}

    def one(number):
        outputs[number] = echo.attempt(tests[number], place_for(tests[number]), Limits(), Cancel()).output

    threads = [threading.Thread(target=one, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    echo.close()

    assert {number: number for number in range(16)} == outputs


def test_what_it_prints_is_in_the_files_and_its_stdin_is_empty(agent, attempt, place_for):
    """Streams are the trial's files; what the import printed is in none of them."""
    test = Test(id="t")
    place = place_for(test)
    ended = attempt(agent("talk"), test, place=place)

    assert ("", "to stdout\n", "to stderr\n") == (
        ended.output,
        place.stdout.read_text(),
        place.stderr.read_text(),
    )


def test_environment_that_the_import_sets_is_there(launch, attempt):
    """A module that loads its keys into the environment when it is imported has them in each trial."""
    text = """
        import os
        os.environ.setdefault("KEY", "from a file")
        def main(): return os.environ["KEY"]
    """

    assert "from a file" == attempt(FunctionAgent(module(launch, text), launch_dir=launch)).output


@pytest.mark.parametrize(("seeding", "is_same"), [("random.seed(7)", True), ("random.random()", False)])
def test_random_numbers_are_as_in_a_new_interpreter(launch, place_for, seeding, is_same):
    """Trials draw alike when the module has seeded, and each for itself when it has not."""
    text = f"import random\n{seeding}\ndef main(): return random.random()"
    agent = FunctionAgent(module(launch, text), launch_dir=launch)
    test = Test(id="t")
    agent.prepare([test], HERE)
    one, other = (agent.attempt(test, place_for(test), Limits(), Cancel()).output for _ in range(2))
    agent.close()

    assert is_same == (one == other)


# Endings


def test_exception_is_an_error_with_the_users_part_of_the_stack(agent, attempt):
    """Type, message and the user's frames are kept, and none of ours."""
    ended = attempt(agent("raising"), Test(id="t", input="luck"))

    assert (Ending.ERROR, "LookupError", "no luck") == (ended.ending, ended.defect.type, ended.defect.message)
    assert ["raising", "deeper"] == [
        line.rpartition(" in ")[2] for line in ended.defect.stack.splitlines() if line.startswith("  File")
    ]


def test_cause_of_an_exception_is_in_the_stack(agent, attempt):
    """An exception that was raised from another shows both."""
    stack = attempt(agent("chained")).defect.stack

    assert stack.index("LookupError: no cause") < stack.index("ValueError: effect")
    assert "function_child" not in stack


@pytest.mark.parametrize(("name", "kind"), [("leave", "SystemExit"), ("interrupt", "KeyboardInterrupt")])
def test_leaving_instead_of_returning_is_an_error(agent, attempt, name, kind):
    """sys.exit, whatever its code, and KeyboardInterrupt are exceptions as others are."""
    ended = attempt(agent(name))

    assert (Ending.ERROR, kind) == (ended.ending, ended.defect.type)


def test_vanishing_is_an_error_that_says_so(agent, attempt):
    """os._exit(0) is no success."""
    ended = attempt(agent("vanish"))

    assert (Ending.ERROR, "no-return") == (ended.ending, ended.defect.type)
    assert "ended without returning (exit code 0)" in ended.defect.message


def test_crash_is_killed(agent, attempt):
    """A segmentation fault ends that trial only, and is named."""
    ended = attempt(agent("crash"))

    assert (Ending.KILLED, "SIGSEGV") == (ended.ending, ended.signal)


def test_endless_loop_times_out_and_keeps_what_it_printed(agent, attempt, place_for):
    """A loop that never yields ends at its limit."""
    test = Test(id="t")
    place = place_for(test)
    ended = attempt(agent("talk_for_ever"), test, Limits(timeout_s=0.3), place=place)

    assert (Ending.TIMEOUT, None, "partial\n") == (ended.ending, ended.output, place.stdout.read_text())


def test_ignoring_sigterm_buys_the_grace_only(agent, attempt):
    """A function that ignores SIGTERM is killed."""
    ended = attempt(agent("stubborn"), limits=Limits(timeout_s=0.2, grace_s=0.2))

    assert (Ending.TIMEOUT, "SIGKILL") == (ended.ending, ended.signal)


def test_cancel_is_interrupted(agent, attempt):
    """A function that runs when the operator cancels ends in `interrupted`."""
    cancel = Cancel()
    threading.Timer(0.1, cancel.set).start()

    assert Ending.INTERRUPTED is attempt(agent("asleep"), cancel=cancel).ending


def test_forked_child_that_returns_too_does_not_answer(agent, attempt):
    """The output is what the trial's own process returned."""
    assert "the parent's" == attempt(agent("forks")).output


def test_function_that_kills_its_parent_harms_no_trial(launch, place_for):
    """What a trial does to the process that started it changes neither its own end nor the next trial's."""
    text = """
        import os
        def main(given):
            if given:
                os.kill(os.getppid(), 9)
            return "fine"
    """
    agent = FunctionAgent(module(launch, text), launch_dir=launch)
    tests = [Test(id="kills", input=True), Test(id="after", input=False)]
    agent.prepare(tests, HERE)
    attempts = [agent.attempt(test, place_for(test), Limits(), Cancel()) for test in tests]
    agent.close()

    assert [Ending.OK, Ending.OK] == [ended.ending for ended in attempts]


def test_result_that_is_larger_than_anybody_can_keep(launch, attempt):
    """More than 64 MiB of JSON is an error that says so."""
    name = module(launch, "def main(): return 'x' * (64 * 1024 * 1024)")
    ended = attempt(FunctionAgent(name, launch_dir=launch))

    assert (Ending.ERROR, "too-large", None) == (ended.ending, ended.defect.type, ended.output)


# What is refused before anything runs


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("eco", "Did you mean 'echo'"),
        ("counter", "not a function"),
        ("echo", "needs an argument"),
        ("zzzzzzzzzzzz", "either"),
    ],
)
def test_function_that_cannot_be_called_is_found_before_the_run(agent, name, says):
    """A missing name, one that is no function, and a missing input are errors with a proposal."""
    with pytest.raises(AgentError, match=says):
        agent(name).prepare([Test(id="lacks")], HERE)


@pytest.mark.parametrize("name", ["nothing", "two"])
def test_function_that_takes_no_single_argument_is_refused_for_an_input(agent, name):
    """Every test with an input is named, with both fixes."""
    with pytest.raises(AgentError) as caught:
        agent(name).prepare([Test(id="a", input=1), Test(id="b", input=2)], HERE)
    assert ["test 'a'", "test 'b'"] == [fault.where for fault in caught.value.faults]
    assert "exactly one parameter" in caught.value.fix


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import no_such_module_at_all\n", "no_such_module_at_all"),
        ("def main(:\n", "SyntaxError"),
        ("print('said before')\nraise SystemExit(3)\n", "said before"),
        ("import os\nos._exit(3)\n", r"exit code 3"),
    ],
)
def test_import_that_fails_is_an_error_that_points_into_the_users_file(launch, text, says):
    """Message, the user's frames and what was printed are shown, and no frame of ours."""
    name = module(launch, text)

    with pytest.raises(AgentError, match=says) as caught:
        FunctionAgent(name, launch_dir=launch).prepare([], HERE)
    assert "function_child" not in str(caught.value)


# A fresh interpreter


def test_module_that_starts_threads_gets_a_fresh_interpreter_each_time(launch, place_for):
    """A fork would lose its threads, so that every trial imports the module anew; that is said once."""
    text = """
        import threading, time
        alive = []
        thread = threading.Thread(target=lambda: (alive.append(1), time.sleep(60)), daemon=True)
        thread.start()
        def main(given):
            alive.append(given)
            print("said")
            return [thread.is_alive(), alive]
    """
    agent = FunctionAgent(module(launch, text), launch_dir=launch)
    test = Test(id="t", input="x")
    place = place_for(test)
    agent.prepare([test], HERE)
    attempts = [agent.attempt(test, where, Limits(), Cancel()) for where in (place, place_for(test))]
    agent.close()

    assert [[True, [1, "x"]]] * 2 == [ended.output for ended in attempts]
    assert ((), ()) == tuple(ended.notes for ended in attempts)
    assert ["fresh interpreter" in notice and "threads" in notice for notice in agent.notices] == [True]
    assert "said\n" == place.stdout.read_text()


def test_module_that_sets_up_opentelemetry_gets_a_fresh_interpreter_each_time(launch, place_for):
    """A provider's exporters do not outlive a fork; one that only imports the API is forked."""
    pytest.importorskip("opentelemetry.sdk")
    api = "import os\nfrom opentelemetry import trace\ndef main():\n    return os.getppid()\n"
    sdk = "from opentelemetry.sdk.trace import TracerProvider\ntrace.set_tracer_provider(TracerProvider())\n"
    for text, is_fresh in ((api, False), (api + sdk, True)):
        agent = FunctionAgent(module(launch, text), launch_dir=launch)
        test = Test(id="t")
        agent.prepare([test], HERE)
        parent = agent.attempt(test, place_for(test), Limits(timeout_s=30), Cancel()).output
        agent.close()

        assert is_fresh is bool(agent.notices)
        assert is_fresh is (parent == os.getpid())


def test_fresh_that_was_asked_for_is_not_announced(launch):
    """Who asked for it knows."""
    text = "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\ndef main(): ..."
    agent = FunctionAgent(module(launch, text), launch_dir=launch, fresh=True)
    agent.prepare([Test(id="t")], HERE)
    agent.close()

    assert () == agent.notices


def test_fresh_on_request(agent, attempt):
    """With `fresh` the answers are the same, exceptions and time-outs included."""
    assert "x" == attempt(agent("echo", fresh=True), Test(id="t", input="x")).output
    assert "LookupError" == attempt(agent("raising", fresh=True), Test(id="t", input="x")).defect.type
    assert Ending.TIMEOUT is attempt(agent("asleep", fresh=True), limits=Limits(timeout_s=0.5)).ending


# Identity


def test_identity_has_no_folder_of_this_machine(launch, tmp_path):
    """The label is as the user named it, and the digest that of the file's content."""
    identity = FunctionAgent("agents/agent.py:echo", launch_dir=launch).identity
    (launch / "agents" / "agent.py").rename(tmp_path / "agent.py")
    moved = FunctionAgent(f"{tmp_path}/agent.py:echo", launch_dir=launch).identity

    assert ("function", "agents/agent.py:echo", "agent.py:echo") == (
        identity.kind,
        identity.label,
        moved.label,
    )
    assert identity.digest == moved.digest


def test_nothing_is_left_open_after_close(agent, attempt):
    """No descriptor of ours stays open."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    attempt(agent("echo"), Test(id="t", input=1))

    assert before == len(list(Path("/proc/self/fd").iterdir()))
