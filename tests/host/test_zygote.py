"""The server that forks, and its children."""

import json
import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from proctor.host.child import supervise
from proctor.host.zygote import Zygote, ZygoteError
from proctor.records.run import Limits

LIMITS = Limits(timeout_s=10)

PREPARED = """
    import json, os, signal, sys, time

    state = {"calls": 0}

    def prepare(argument):
        print("prepared")
        state["argument"] = argument
        return {"argument": argument, "pid": os.getpid()}

    def setting(argument):
        os.environ["LOADED"] = "at import"
        del os.environ["GONE"]

    def refusing(argument):
        fork = os.fork
        def once():
            os.fork = fork
            raise BlockingIOError(11, "on purpose")
        os.fork = once

    def quiet(argument):
        return None

    def broken(argument):
        raise LookupError("no such thing")

    def leaving(argument):
        os._exit(9)

    def threaded(argument):
        import threading
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        return None

    def tell(request, fds):
        state["calls"] += 1
        print(json.dumps({
            "request": request,
            "state": state,
            "cwd": os.getcwd(),
            "env": dict(os.environ),
            "sid": os.getsid(0) == os.getpid() == os.getpgid(0),
            "stdin": sys.stdin.read(),
            "fds": sorted(int(fd) for fd in os.listdir("/proc/self/fd")),
            "interrupt": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
        }))
        return 5

    def size(request, fds):
        print(len(request))

    def write(request, fds):
        os.write(fds[0], b"through the descriptor")

    def fail(request, fds):
        print("before")
        raise ValueError("on purpose")

    def leave(request, fds):
        sys.exit(4)

    def endless(request, fds):
        print("started")
        if request:
            os.fork()
        while True:
            time.sleep(0.05)
"""


@pytest.fixture
def env(tmp_path):
    (tmp_path / "prepared.py").write_text(textwrap.dedent(PREPARED))
    return {"PYTHONPATH": str(tmp_path), "PATH": os.environ["PATH"]}


@pytest.fixture
def zygote(env):
    started = Zygote("prepared:prepare", {"a": 1}, env=env)
    yield started
    started.close()


def run(zygote, tmp_path, entry, request=None, limits=LIMITS, **options):
    child = zygote.spawn(entry, request, stdout=tmp_path / "out", stderr=tmp_path / "err", **options)
    return supervise(child, limits)


def alive(pid: int) -> bool:
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def gone_soon(pids) -> bool:
    give_up = time.monotonic() + 3
    while any(map(alive, pids)) and time.monotonic() < give_up:
        time.sleep(0.01)
    return not any(map(alive, pids))


def test_prepare_is_called_once_with_its_argument(zygote):
    """What `prepare` returned in the server is the zygote's reply."""
    assert {"a": 1} == zygote.reply["argument"]
    assert os.getpid() != zygote.reply["pid"]


def test_child_is_set_up_as_asked(zygote, tmp_path):
    """A child has its request, folder, environment, session, empty input and exit code."""
    ended = run(zygote, tmp_path, "prepared:tell", ["ü"], cwd=tmp_path, env={"ONLY": "this"})
    told = json.loads((tmp_path / "out").read_text())

    assert (5, None) == (ended.code, ended.signal)
    assert ["ü"] == told["request"]
    assert str(tmp_path) == told["cwd"]
    assert told["env"].pop("PROCTOR_TRIAL")
    assert {"ONLY": "this"} == told["env"]
    assert (True, "", True) == (told["sid"], told["stdin"], told["interrupt"])
    assert [0, 1, 2] == told["fds"][:3]
    assert len(told["fds"]) <= 4  # and the one that lists them


def test_children_do_not_share_state(zygote, tmp_path):
    """Each child starts from what the server prepared, whatever earlier children did."""
    for _ in range(2):
        run(zygote, tmp_path, "prepared:tell")
        told = json.loads((tmp_path / "out").read_text())

        assert {"argument": {"a": 1}, "calls": 1} == told["state"]


def test_what_prepare_did_to_the_environment_stays_in_force(env, tmp_path):
    """A variable that `prepare` set is in every child's environment, and one that it removed is not."""
    zygote = Zygote("prepared:setting", env={**env, "GONE": "1"})
    run(zygote, tmp_path, "prepared:tell", env={"GONE": "1", "MINE": "2"})
    zygote.close()
    told = json.loads((tmp_path / "out").read_text())["env"]
    del told["PROCTOR_TRIAL"]

    assert {"LOADED": "at import", "MINE": "2"} == told


def test_what_the_server_printed_is_not_in_a_childs_output(zygote, tmp_path):
    """A buffer that is full at the fork is not written by the child."""
    run(zygote, tmp_path, "prepared:size", "abc")

    assert "3\n" == (tmp_path / "out").read_text()


def test_what_prepare_prints_goes_to_the_file_that_was_named(env, tmp_path):
    """Both streams of the server are appended to one file."""
    Zygote("prepared:prepare", env=env, stderr=tmp_path / "log").close()

    assert "prepared\n" == (tmp_path / "log").read_text()


def test_large_request(zygote, tmp_path):
    """A request of 300 kB arrives whole."""
    run(zygote, tmp_path, "prepared:size", "x" * 300_000)

    assert "300000\n" == (tmp_path / "out").read_text()


def test_descriptors_reach_the_child(zygote, tmp_path):
    """A child can write to a descriptor that it was given."""
    reader, writer = os.pipe()
    run(zygote, tmp_path, "prepared:write", fds=[writer])
    os.close(writer)
    content = os.read(reader, 100)
    os.close(reader)

    assert b"through the descriptor" == content


def test_exception_in_the_entry_ends_the_child_with_its_traceback(zygote, tmp_path):
    """An entry that raises ends with exit code 1; its output and its traceback are in the files."""
    ended = run(zygote, tmp_path, "prepared:fail")

    assert (1, "before\n") == (ended.code, (tmp_path / "out").read_text())
    assert "ValueError: on purpose" in (tmp_path / "err").read_text()


def test_entry_may_leave_by_sys_exit(zygote, tmp_path):
    """The code of a SystemExit is the child's exit code."""
    assert 4 == run(zygote, tmp_path, "prepared:leave").code


def test_limit_ends_a_child_and_what_it_forked(zygote, tmp_path):
    """A child past its limit is ended with its whole group, and what it had printed is kept."""
    ended = run(zygote, tmp_path, "prepared:endless", True, Limits(timeout_s=0.2, grace_s=1))

    assert (True, "SIGTERM") == (ended.timed_out, ended.signal)
    assert "started\n" == (tmp_path / "out").read_text()


def test_many_threads_spawn_at_once(zygote, tmp_path):
    """Spawns and reaps of many threads never take each other's answers."""
    told: dict[int, str] = {}

    def one(number: int) -> None:
        folder = tmp_path / str(number)
        folder.mkdir()
        run(zygote, folder, "prepared:size", "x" * number)
        told[number] = (folder / "out").read_text()

    threads = [threading.Thread(target=one, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {number: f"{number}\n" for number in range(20)} == told


def test_without_pidfd_the_server_is_asked(zygote, tmp_path):
    """Where there is no pidfd, the server tells when a child has ended."""
    child = zygote.spawn("prepared:tell", None, stdout=tmp_path / "out")
    os.close(child.pidfd)
    child.pidfd = None

    assert 5 == supervise(child, Limits(timeout_s=10)).code


def test_prepare_that_raises_is_an_error_with_its_stack(env):
    """Type, message and stack of what `prepare` raised come over."""
    with pytest.raises(ZygoteError) as caught:
        Zygote("prepared:broken", env=env)

    assert ("LookupError", "no such thing") == (caught.value.defect.type, caught.value.defect.message)
    assert "in broken" in caught.value.defect.stack


@pytest.mark.parametrize("prepare", ["prepared:missing", "no_such_module:prepare", "prepared:leaving"])
def test_server_that_cannot_prepare_is_an_error(env, prepare):
    """A function that is missing, and one that ends the server, are errors and not a hang."""
    with pytest.raises(ZygoteError):
        Zygote(prepare, env=env)


def test_threads_of_the_server_are_counted(env):
    """The zygote tells whether its server has more than one thread."""
    single, several = Zygote("prepared:quiet", env=env), Zygote("prepared:threaded", env=env)
    single.close()
    several.close()

    assert (1, 2) == (single.threads, several.threads)


def test_close_ends_living_children_and_may_be_called_twice(zygote, tmp_path):
    """Closing a zygote kills its children, and its server is gone."""
    pids = [zygote.spawn("prepared:endless", False).pid, zygote.reply["pid"]]
    zygote.close()
    zygote.close()

    assert gone_soon(pids)
    with pytest.raises(ZygoteError):
        zygote.spawn("prepared:tell", None)


def test_server_that_was_killed_is_an_error(zygote):
    """After the server's death a spawn raises; it does not hang."""
    os.kill(zygote.reply["pid"], 9)

    with pytest.raises(ZygoteError):
        zygote.spawn("prepared:tell", None)


def test_system_that_starts_no_more_processes_is_an_error_and_the_server_goes_on(env, tmp_path):
    """A fork that the system refuses raises OSError here, and ends neither server nor other children."""
    zygote = Zygote("prepared:refusing", env=env)
    with pytest.raises(OSError, match="on purpose"):
        zygote.spawn("prepared:tell", None)
    ended = run(zygote, tmp_path, "prepared:tell")
    zygote.close()

    assert 5 == ended.code


def test_server_ignores_ctrl_c(zygote, tmp_path):
    """SIGINT does not end the server."""
    os.kill(zygote.reply["pid"], 2)

    assert 5 == run(zygote, tmp_path, "prepared:tell").code


def test_server_and_children_end_when_their_parent_is_killed(env, tmp_path):
    """After a SIGKILL of the process that holds a zygote, neither server nor children live."""
    script = """
        import os, sys, time
        from proctor.host.zygote import Zygote
        zygote = Zygote("prepared:prepare")
        child = zygote.spawn("prepared:endless", True)
        print(zygote.reply["pid"], child.pid, flush=True)
        time.sleep(60)
    """
    paths = os.pathsep.join([env["PYTHONPATH"], *filter(None, sys.path)])
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**env, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
    )
    with parent:
        pids = [int(word) for word in parent.stdout.readline().split()]
        assert [True, True] == [alive(pid) for pid in pids]
        parent.kill()

    assert gone_soon(pids)


def test_no_descriptor_is_left_open_here(env, tmp_path):
    """A zygote and its children give back every descriptor."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    zygote = Zygote("prepared:prepare", env=env)
    for _ in range(3):
        run(zygote, tmp_path, "prepared:size", "")
    zygote.close()

    assert before == len(list(Path("/proc/self/fd").iterdir()))
