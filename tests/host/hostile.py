"""The hostile agents: each a small real program, and how its trial is to end.

A program says `begun` before it turns hostile, and that is in its output however it ends. `$T` in a shell script, and `T` in a Python one, is a word by which
what it leaves behind is found even where the environment was wiped.
"""

from __future__ import annotations

from typing import NamedTuple

from proctor.records.run import Ending

TIMEOUT, OK, ERROR, KILLED = Ending.TIMEOUT, Ending.OK, Ending.ERROR, Ending.KILLED


class Hostile(NamedTuple):
    """One agent.

    Attributes:
        program: the text of its script.
        ending: of its trial.
    """

    program: str
    ending: Ending = TIMEOUT


SHELL = {
    "sleeps in C": Hostile("echo begun; sleep 60"),
    "uses all of a processor": Hostile("echo begun; while :; do :; done"),
    "becomes another program": Hostile("echo begun; exec sleep 60"),
    "grandchild holds the streams, leader ends": Hostile("echo begun; sleep 60 & exit 0", OK),
    "grandchild holds the streams, leader stays": Hostile("echo begun; (sleep 60; sleep 60) & wait"),
    "setsid, leader stays": Hostile("echo begun; setsid sleep 60 & sleep 60"),
    "setsid, leader ends": Hostile("echo begun; setsid sleep 60 & sleep 0.1; exit 0", OK),
    "setsid, leader ends with a fault": Hostile("echo begun; setsid sleep 60 & sleep 0.1; exit 3", ERROR),
    "setsid, leader kills itself": Hostile("echo begun; setsid sleep 60 & sleep 0.1; kill -9 $$", KILLED),
    "setsid within setsid": Hostile(
        "echo begun; setsid sh -c 'setsid sh -c \"setsid sleep 60 & sleep 60\" & sleep 60' & sleep 0.2", OK
    ),
    "nohup": Hostile("echo begun; nohup sleep 60 >/dev/null 2>&1 & sleep 60"),
    "nohup in its own session": Hostile("echo begun; setsid nohup sleep 60 >/dev/null 2>&1 & sleep 0.1", OK),
    "ignores SIGTERM": Hostile("trap '' TERM; echo begun; while :; do sleep 0.1; done"),
    "escapee ignores SIGTERM and SIGHUP": Hostile(
        "echo begun; setsid sh -c \"trap '' TERM HUP INT; while :; do sleep 0.1; done\" & sleep 0.1", OK
    ),
    "starts an escapee when it is told to end": Hostile(
        "trap 'setsid sleep 60 & sleep 0.1; exit 0' TERM; echo begun; while :; do sleep 0.05; done"
    ),
    "sleeps on its way out": Hostile("trap 'sleep 60' EXIT; trap 'exit 1' TERM; echo begun; sleep 60 & wait"),
    "stopped leader": Hostile("echo begun; kill -STOP $$; sleep 60"),
    "stopped child": Hostile("echo begun; sleep 60 & kill -STOP $!; wait"),
    "stopped escapee": Hostile("echo begun; setsid sh -c 'kill -STOP $$; sleep 60' & sleep 0.2", OK),
    "full pipe": Hostile("echo begun; yes | sleep 60"),
    "no line end": Hostile("printf begun; sleep 60"),
    "waits on standard input": Hostile("echo begun; cat; cat <&0", OK),
    "reads a FIFO for ever": Hostile("echo begun; mkfifo pipe; cat pipe"),
    "writes a FIFO for ever": Hostile("echo begun; mkfifo pipe; echo x > pipe"),
    "floods standard output": Hostile("echo begun; yes | head -c 30000000; sleep 60"),
    "floods standard error": Hostile("echo begun; yes | head -c 30000000 >&2; sleep 60"),
    "closes its streams": Hostile("echo begun; exec 0<&- 1>&- 2>&-; sleep 60"),
    "writes half of its output": Hostile('printf "begun ha" > "$PROCTOR_OUTPUT"; sleep 60'),
    "removes its workdir": Hostile('echo begun; rm -rf "$PROCTOR_WORKDIR"; sleep 60'),
    "fifty children": Hostile("echo begun; for i in $(seq 50); do sleep 60 & done; wait"),
    "thirty children in sessions of their own": Hostile(
        "echo begun; for i in $(seq 30); do setsid sleep 60 & done; sleep 0.2; exit 0", OK
    ),
    "children that come back": Hostile(
        "echo begun; setsid sh -c 'while :; do sleep 0.02; setsid sleep 1; done' & sleep 60"
    ),
    "child writes into the workdir later": Hostile(
        "echo begun; setsid sh -c 'sleep 0.4; echo late > late' & sleep 0.1; exit 0", OK
    ),
    "wiped environment, leader stays": Hostile(
        'echo begun; env -i setsid sh -c "sleep 60; : $T" >/dev/null 2>&1 & sleep 60'
    ),
    "wiped environment, leader ends": Hostile(
        'echo begun; cd /; env -i setsid sh -c "sleep 60; : $T" >/dev/null 2>&1 & sleep 0.2; exit 0', OK
    ),
    "wiped environment below an escapee": Hostile(
        "echo begun; setsid sh -c \"env -i setsid sh -c 'sleep 60; : $T' & sleep 60\" & sleep 0.2; exit 0", OK
    ),
    "chain of programs": Hostile(
        'echo begun; exec sh -c \'exec sh -c "exec env sh -c \\"exec sleep 60\\""\''
    ),
}
"""Shell scripts, by what they do."""

_START = """
import ctypes, os, signal, socket, subprocess, sys, threading, time
T = os.environ["T"]
print("begun", flush=True)

def forked(then):
    if os.fork() == 0:
        then()
        os._exit(0)

def sleep():
    time.sleep(60)

def in_new_session(then):
    def start():
        os.setsid()
        then()
    return start

def daemonised(then):
    def again():
        os.setsid()
        forked(then)
    forked(again)
"""


def _python(text: str) -> str:
    return _START + text


PYTHON = {
    "double fork": Hostile(_python("daemonised(sleep); time.sleep(0.1)"), OK),
    "daemon without streams, in the root folder": Hostile(
        _python(
            "def quiet():\n    os.chdir('/'); os.closerange(0, 256); time.sleep(60)\ndaemonised(quiet); time.sleep(0.1)"
        ),
        OK,
    ),
    "daemon, leader stays": Hostile(_python("daemonised(sleep); sleep()")),
    "ten generations": Hostile(
        _python(
            "def next(n):\n    os.setsid()\n    if n: forked(lambda: next(n - 1))\n    else: time.sleep(60)\n"
            "forked(lambda: next(10)); time.sleep(0.2)"
        ),
        OK,
    ),
    "ignores every signal": Hostile(
        _python(
            "for n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
            "while True: time.sleep(1)"
        )
    ),
    "changes its process group": Hostile(
        _python("forked(lambda: (os.setpgid(0, 0), time.sleep(60))); time.sleep(0.1)"), OK
    ),
    "wiped environment in another process group": Hostile(
        _python(
            "subprocess.Popen(['sh', '-c', f'sleep 60; : {T}'], env={}, process_group=0); time.sleep(0.1)"
        ),
        OK,
    ),
    "two that start each other again": Hostile(
        _python(
            "end = time.time() + 20\n"
            "def watch(other):\n"
            "    while time.time() < end:\n"
            "        try: os.kill(other, 0)\n"
            "        except ProcessLookupError:\n"
            "            me = os.getpid(); forked(in_new_session(lambda: watch(me)))\n"
            "            return watch_any()\n"
            "        time.sleep(0.001)\n"
            "def watch_any():\n"
            "    time.sleep(1)\n"
            "me = os.getpid()\n"
            "forked(in_new_session(lambda: watch(me))); time.sleep(0.2)"
        ),
        OK,
    ),
    "starts what was killed again": Hostile(
        _python(
            "def keep():\n    while True:\n        child = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
            "        child.wait()\n"
            "forked(in_new_session(keep)); time.sleep(60)"
        )
    ),
    "fifty zombies": Hostile(
        _python(
            "for _ in range(50): forked(lambda: None)\nfor _ in range(20): daemonised(lambda: None)\ntime.sleep(0.1)"
        ),
        OK,
    ),
    "twenty threads": Hostile(
        _python("for _ in range(20): threading.Thread(target=sleep).start()\nraise SystemExit(0)")
    ),
    "starts children from threads": Hostile(
        _python(
            "def start(): subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
            "threads = [threading.Thread(target=start) for _ in range(8)]\n"
            "[t.start() for t in threads]; [t.join() for t in threads]; os._exit(0)"
        ),
        OK,
    ),
    "vfork and exec": Hostile(
        _python(
            "os.posix_spawn('/bin/sh', ['sh', '-c', 'setsid sleep 60 & sleep 60'], os.environ, setsid=True); time.sleep(0.2)"
        ),
        OK,
    ),
    "takes another name": Hostile(
        _python(
            "forked(in_new_session(lambda: os.execv('/bin/sleep', ['[kworker/0:1]', '60']))); time.sleep(0.1)"
        ),
        OK,
    ),
    "server on a port": Hostile(
        _python(
            "def serve():\n    s = socket.create_server(('127.0.0.1', 0))\n    while True: s.accept()\n"
            "daemonised(serve); time.sleep(0.1)"
        ),
        OK,
    ),
    "a thousand open files": Hostile(
        _python("files = [open(f'f{n}', 'w') for n in range(1000)]; time.sleep(60)")
    ),
    "overwrites its environment in memory": Hostile(
        _python(
            "fields = open('/proc/self/stat').read().rpartition(')')[2].split()\n"
            "start, end = int(fields[47]), int(fields[48])\n"
            "def hide():\n"
            "    memory = os.open('/proc/self/mem', os.O_WRONLY)\n"
            "    os.pwrite(memory, f'T={T}'.encode().ljust(end - start, b'\\0'), start); time.sleep(60)\n"
            "daemonised(hide); time.sleep(0.1)"
        ),
        OK,
    ),
    "blocks all signals": Hostile(
        _python("signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)); time.sleep(60)")
    ),
    "dies of a fault in C": Hostile(
        _python("daemonised(sleep); time.sleep(0.1); ctypes.string_at(0)"), KILLED
    ),
}
"""Python programs, by what they do."""

FUNCTION_MODULE = """
import os, signal, subprocess, sys, threading, time

def begun(): print("begun", flush=True)

def sleeps(): begun(); time.sleep(60)

def endless_loop():
    begun()
    while True: pass

def ignores_sigterm():
    begun(); signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True: time.sleep(1)

def catches_everything():
    begun()
    while True:
        try: time.sleep(60)
        except BaseException: pass

def stops_itself(): begun(); os.kill(os.getpid(), signal.SIGSTOP); time.sleep(60)

def no_line_end(): sys.stdout.write("begun"); sys.stdout.flush(); time.sleep(60)

def leaves_at_once(): begun(); os._exit(0)

def reads_input(): begun(); return sys.stdin.read() + "done"

def daemon_without_exec():
    begun()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.chdir("/"); os.closerange(0, 256); time.sleep(60)
        os._exit(0)
    time.sleep(0.1)
    return "done"

def own_session(): begun(); subprocess.Popen(["sleep", "60"], start_new_session=True); return "done"

def own_session_and_stays(): begun(); subprocess.Popen(["sleep", "60"], start_new_session=True); time.sleep(60)

def wiped_environment():
    begun(); subprocess.Popen(["sh", "-c", f"sleep 60; : {os.environ['T']}"], env={}, start_new_session=True); return "done"

def other_group(): begun(); subprocess.Popen(["sleep", "60"], process_group=0); return "done"

def thirty_children():
    begun()
    for number in range(30): subprocess.Popen(["sleep", "60"], start_new_session=number % 2 == 0)
    return "done"

def holds_a_thread():
    begun(); threading.Thread(target=time.sleep, args=(60,)).start(); return "done"

def both_halves_return():
    begun(); os.fork(); return "done"

def kills_its_parent():
    begun(); subprocess.Popen(["sleep", "60"], start_new_session=True)
    os.kill(os.getppid(), signal.SIGKILL); time.sleep(0.05); return "done"

def kills_its_parent_and_stays(): begun(); os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)

def stops_its_parent():
    begun(); subprocess.Popen(["sleep", "60"], start_new_session=True)
    os.kill(os.getppid(), signal.SIGSTOP); return "done"

def closes_all(): begun(); os.closerange(0, 256); time.sleep(60)

def removes_its_workdir(): begun(); os.rmdir(os.environ["PROCTOR_WORKDIR"]); time.sleep(60)
"""

FUNCTIONS = {
    "sleeps": TIMEOUT,
    "endless_loop": TIMEOUT,
    "ignores_sigterm": TIMEOUT,
    "catches_everything": TIMEOUT,
    "stops_itself": TIMEOUT,
    "no_line_end": TIMEOUT,
    "leaves_at_once": ERROR,
    "reads_input": OK,
    "daemon_without_exec": OK,
    "own_session": OK,
    "own_session_and_stays": TIMEOUT,
    "wiped_environment": OK,
    "other_group": OK,
    "thirty_children": OK,
    "holds_a_thread": OK,
    "both_halves_return": OK,
    "kills_its_parent": OK,
    "kills_its_parent_and_stays": TIMEOUT,
    "stops_its_parent": OK,
    "closes_all": TIMEOUT,
    "removes_its_workdir": TIMEOUT,
}
"""How a trial of each function in `FUNCTION_MODULE` is to end."""

IN_SANDBOX = {"removes_its_workdir": ERROR}
"""Where it ends otherwise in a sandbox: the workdir is a mount there, which nobody inside can remove."""
