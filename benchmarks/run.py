"""What proctor costs, beside the same work in a bare loop and in other tools.

  python benchmarks/run.py                    all of it, some ten minutes
  python benchmarks/run.py --quick            a tenth of the size, three rounds
  python benchmarks/run.py --peers VENV       also pydantic-evals and Inspect, from that environment
  python benchmarks/run.py --only grade -o table.md

Whole processes, their start included; in each round one after another, so that a busy minute hits all alike; the
median of the rounds, and other tools once. Where a machine has other work, the ratio of processor time says more.
Every round has fresh folders, and none is removed before the end: on ext4, making files soon after removing many is
an order of magnitude slower. Run it with the Python that has proctor.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from peers import texts  # noqa: E402

PROCTOR = [sys.executable, "-m", "proctor"]
OURS = ("floor", "proctor", "floor with a sync a run")
FLOORS = [sys.executable, str(HERE / "floors.py")]
GRADERS = "from proctor import Contains, ExactMatch, Similarity\n\ngraders = [ExactMatch(), Contains(), Similarity()]\n"
AGENT = "def main(text):\n    return text\n"


class Timed:
    """Seconds and processor seconds of one process and of what it waited for."""

    def __init__(self, command, cwd):
        with open(cwd / "said", "ab") as said:
            started = time.perf_counter()
            process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
            _, status, usage = os.wait4(process.pid, 0)
            self.seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu = usage.ru_utime + usage.ru_stime
        if process.returncode not in (0, 2, 3):
            raise SystemExit(f"{command} ended with {process.returncode}; see {cwd / 'said'}")


def _peak_megabytes(command, cwd):
    """Peak memory of one process. Asked by a small one: until its exec, a child counts the memory of its parent."""
    code = (
        "import os, subprocess, sys\n"
        "child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "print(os.wait4(child.pid, 0)[2].ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command], cwd=cwd, capture_output=True, text=True, check=True
    )
    return int(done.stdout) / 1024


class Bench:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.rounds = options.rounds or (3 if options.quick else 5)
        self.rows = []
        self.groups = {}

    def n(self, count):
        return count // 10 if self.options.quick else count

    def peer(self, *words):
        return [str(Path(self.options.peers) / "bin" / "python"), str(HERE / "peers.py"), *map(str, words)]

    def compare(self, work, goal, makers, *, per=None, allowed=None, fresh=None):
        """Time each maker's command in turn, and keep a row.

        makers: by name, floor first, then proctor: a function from a fresh folder to the command.
        per: number of pieces of work, to show milliseconds for each.
        allowed: from the floor's median to the most that proctor's may be, in seconds.
        fresh: called with a folder before each timing, outside of it.
        """
        taken = {name: [] for name in makers}
        for number in range(self.rounds + 1):
            for name, make in makers.items():
                if number != 1 and name not in OURS:
                    continue  # one is enough to know how far away another tool is
                folder = self.work / f"{len(self.rows)}-{number}-{name.replace(' ', '-')}"
                folder.mkdir()
                if fresh is not None:
                    fresh(folder)
                command = make(folder)
                os.sync()
                timed = Timed(command, folder)
                if number:  # the first round warms caches
                    taken[name].append(timed)
        medians = {name: statistics.median(one.seconds for one in each) for name, each in taken.items()}
        cpu = {name: statistics.median(one.cpu for one in each) for name, each in taken.items()}
        floor, own = medians["floor"], medians["proctor"]
        others = ", ".join(
            f"{name} {_shown(value, per)}"
            for name, value in medians.items()
            if name not in ("floor", "proctor")
        )
        met = "" if allowed is None else "yes" if own <= allowed(floor) else "no"
        ratios = f"{own / floor:.2f}x", f"{cpu['proctor'] / cpu['floor']:.2f}x"
        self.keep(work, _shown(floor, per), _shown(own, per), *ratios, goal, met, others)

    def keep(self, *row):
        self.rows.append(row)
        print(" | ".join(row), file=sys.stderr, flush=True)

    def group(self, count, *, own_modules=False):
        """A group of recorded runs that are not graded, made once by proctor itself."""
        key = (count, own_modules)
        if key not in self.groups:
            here = self.work / f"runs-{count}-{'own' if own_modules else 'shared'}"
            here.mkdir()
            (here / "agent.py").write_text(AGENT)
            self.suite(here, count, own_modules=own_modules)
            Timed([*PROCTOR, "run", "agent.py", "--suite", "suite", "--out", "group", "-n", "2"], here)
            self.groups[key] = here / "group"
        return self.groups[key]

    def suite(self, here, count, *, own_modules=False):
        (here / "suite").mkdir()
        tests = [{"id": name, "input": output, "expected": want} for name, output, want in texts(count)]
        if not own_modules:
            (here / "suite" / "graders.py").write_text(GRADERS)
            lines = [json.dumps({**test, "graders": "graders.py"}) for test in tests]
            (here / "suite" / "tests.jsonl").write_text("\n".join(lines) + "\n")
            return
        for number, test in enumerate(tests):
            folder = here / "suite" / test.pop("id")
            folder.mkdir()
            (folder / "test.json").write_text(json.dumps(test))
            (folder / "graders.py").write_text(f"# {number}\n{GRADERS}")

    # What is measured

    def start(self):
        def nothing(_):
            return [sys.executable, "-c", "pass"]

        self.compare(
            "`proctor --help`",
            "3x",
            {"floor": nothing, "proctor": lambda _: [*PROCTOR, "--help"]},
            allowed=lambda floor: 3 * floor,
        )
        makers = {"floor": nothing, "proctor": lambda _: [sys.executable, "-c", "import proctor"]}
        if self.options.peers:
            python = str(Path(self.options.peers) / "bin" / "python")
            for name in ("pydantic_evals", "inspect_ai"):
                makers[name] = lambda _, name=name: [python, "-c", f"import {name}"]
        self.compare("`import proctor`", "60 ms more", makers, allowed=lambda floor: floor + 0.060)

    def commands(self):
        count = self.n(1000)
        (self.work / "noop.jsonl").write_text(
            "\n".join(json.dumps({"id": f"t{n:05d}", "input": f"q{n}"}) for n in range(count)) + "\n"
        )
        run = [*PROCTOR, "run", "--suite", "../noop.jsonl", "--out", "group", "-n", "2"]
        makers = {
            "floor": lambda _: [*FLOORS, "commands", str(count), "2", "out", "/bin/true"],
            "proctor": lambda _: [*run, "--agent-cmd", "/bin/true"],
        }
        if self.options.peers:
            makers["pydantic-evals"] = lambda _: self.peer("pydantic-evals", "commands", count, 2)
            makers["Inspect"] = lambda _: self.peer("inspect", "commands", count, 2, "logs")
        self.compare(
            f"{count:,} no-op commands, 2 at once",
            "1.5x or 3 ms more",
            makers,
            per=count,
            allowed=lambda floor: max(1.5 * floor, floor + 0.003 * count),
        )

    def functions(self):
        count = self.n(1000)
        (self.work / "agent.py").write_text('def main(text):\n    return "fixed answer"\n')
        (self.work / "functions.jsonl").write_text(
            "\n".join(json.dumps({"id": f"t{n:05d}", "input": f"q{n}"}) for n in range(count)) + "\n"
        )
        run = [*PROCTOR, "run", "../agent.py", "--suite", "../functions.jsonl", "--out", "group", "-n", "2"]
        makers = {
            "floor": lambda _: [*FLOORS, "functions", str(count), "2", "out"],
            "proctor": lambda _: run,
        }
        if self.options.peers:
            makers["Inspect"] = lambda _: self.peer("inspect", "functions", count, 2, "logs")
        self.compare(
            f"{count:,} function agents, 2 at once",
            "10 ms each",
            makers,
            per=count,
            allowed=lambda _: 0.010 * count,
        )

    def scale(self):
        """The same work at 1, 8 and 64 at once: a private home and a receiver of traces each."""
        count = self.n(1000)
        (self.work / "scale.jsonl").write_text(
            "\n".join(json.dumps({"id": f"t{n:05d}", "input": f"q{n}"}) for n in range(count)) + "\n"
        )
        (self.work / "scale.py").write_text('def main(text):\n    return "fixed answer"\n')
        for parallel in (1, 8, 64):
            run = [*PROCTOR, "run", "--suite", "../scale.jsonl", "--out", "group", "-n", str(parallel)]
            for name, floor, words in (
                ("no-op commands", ["commands"], ["--agent-cmd", "/bin/true"]),
                ("function agents", ["functions"], ["../scale.py"]),
            ):
                command = ["/bin/true"] if floor == ["commands"] else []
                self.compare(
                    f"{count:,} {name}, {parallel} at once",
                    "10 ms each",
                    {
                        "floor": lambda _, floor=floor, parallel=parallel, command=command: [
                            *FLOORS,
                            *floor,
                            str(count),
                            str(parallel),
                            "out",
                            *command,
                        ],
                        "proctor": lambda _, run=run, words=words: [*run, *words],
                    },
                    per=count,
                    allowed=lambda _: 0.010 * count,
                )

    def fresh(self):
        """Fork against fresh interpreter: the floor starts as many interpreters, the other row forks."""
        count = self.n(500)
        (self.work / "fresh.jsonl").write_text(
            "\n".join(json.dumps({"id": f"t{n:05d}", "input": f"q{n}"}) for n in range(count)) + "\n"
        )
        (self.work / "fresh.py").write_text('def main(text):\n    return "fixed answer"\n')
        run = [*PROCTOR, "run", "../fresh.py", "--suite", "../fresh.jsonl", "--out", "group", "-n", "2"]
        interpreters = [*FLOORS, "commands", str(count), "2", "out", sys.executable, "-c", "pass"]
        for name, words in (("a fork each", []), ("a fresh interpreter each", ["--fresh"])):
            self.compare(
                f"{count:,} function agents, {name}",
                "",
                {"floor": lambda _: interpreters, "proctor": lambda _, words=words: [*run, *words]},
                per=count,
            )

    def flat(self):
        """Memory of the runner while it goes through 5,000 trials: after the first fifth, and at the end."""
        count = self.n(5000)
        here = self.work / "flat"
        here.mkdir()
        (here / "tests.jsonl").write_text(
            "\n".join(json.dumps({"id": f"t{n:05d}", "input": f"q{n}"}) for n in range(count)) + "\n"
        )
        (here / "agent.py").write_text(
            "def main(text):\n    print('x' * 10_000)\n    open('f', 'w').write('y' * 10_000)\n    return text * 100\n"
        )
        command = [*PROCTOR, "run", "agent.py", "--suite", "tests.jsonl", "--out", "group", "-n", "8"]
        with open(here / "said", "wb") as said:
            process = subprocess.Popen(command, cwd=here, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
            seen = []
            while process.poll() is None:
                time.sleep(0.25)
                seen.append((_ended(here / "group" / "attempts.jsonl"), _resident_megabytes(process.pid)))
        early = [size for done, size in seen if size and count * 0.15 <= done <= count * 0.3]
        late = [size for done, size in seen if size and done >= count * 0.85]
        if process.returncode != 0 or not early or not late:
            raise SystemExit(f"{command} ended with {process.returncode}; see {here / 'said'}")
        first, last = statistics.median(early), statistics.median(late)
        self.keep(
            f"memory of the runner, {count:,} trials, 8 at once",
            "",
            f"{first:.1f} MB after a fifth, {last:.1f} MB at the end",
            f"{last - first:+.1f} MB",
            "",
            "5 MB more",
            "yes" if last - first < 5 else "no",
            "",
        )

    def grade(self):
        count = self.n(2000)
        for own_modules in (False, True):
            source = self.group(count, own_modules=own_modules)
            makers = {
                "floor": lambda _: [*FLOORS, "grade", "group"],
                "proctor": lambda _: [*PROCTOR, "grade", "group", "-n", "2"],
                "floor with a sync a run": lambda _: [*FLOORS, "grade", "group", "sync"],
            }
            if self.options.peers and not own_modules:
                makers["pydantic-evals"] = lambda _: self.peer("pydantic-evals", "grade", count)
            self.compare(
                f"grade {count:,} runs, {'a module each' if own_modules else 'one module'}",
                "6 ms a run" if own_modules else "4x",
                makers,
                per=count,
                allowed=(lambda _: 0.006 * count) if own_modules else (lambda floor: 4 * floor),
                fresh=lambda folder, source=source: _copy(source, folder / "group"),
            )

    def list(self):
        count = self.n(10_000)
        group = self.work / "listed"
        _copy(self.group(count), group)
        Timed([*PROCTOR, "grade", str(group), "-n", "2"], self.work)
        makers = {
            "floor": lambda _: [*FLOORS, "list", str(group)],
            "proctor": lambda _: [*PROCTOR, "list", str(group)],
        }
        self.compare(f"list {count:,} graded runs", "3x", makers, per=count, allowed=lambda floor: 3 * floor)

    def memory(self):
        few, many = self.n(1000), self.n(10_000)
        peaks = []
        for count in (few, many):
            group = self.work / f"memory-{count}"
            _copy(self.group(count), group)
            peaks.append(_peak_megabytes([*PROCTOR, "grade", str(group), "-n", "2"], self.work))
        self.keep(
            f"peak memory, grade {few:,} and {many:,}",
            "",
            f"{peaks[0]:.0f} MB and {peaks[1]:.0f} MB",
            f"{peaks[1] - peaks[0]:+.0f} MB",
            "",
            "30 MB more",
            "yes" if peaks[1] - peaks[0] < 30 else "no",
            "",
        )


def _ended(attempts):
    """Number of trials that have ended; 0 before there is one."""
    try:
        return attempts.read_bytes().count(b'"event":"ended"')
    except FileNotFoundError:
        return 0


def _resident_megabytes(pid):
    """Memory of one process, what it shares included; None when it has gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    found = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(found[0]) / 1024 if found else None


def _copy(source, target):
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)


def _shown(seconds, per):
    whole = f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"
    return whole if per is None else f"{whole} ({seconds / per * 1000:.2f} ms each)"


def _versions(peers):
    import msgspec

    from proctor.version import __version__

    said = [f"proctor {__version__}", f"Python {platform.python_version()}", f"msgspec {msgspec.__version__}"]
    if peers:
        code = (
            "from importlib.metadata import version\n"
            "print(*(f'{name} {version(name)}' for name in ('pydantic-evals', 'inspect-ai')), sep=', ')"
        )
        done = subprocess.run([f"{peers}/bin/python", "-c", code], capture_output=True, text=True, check=True)
        said.append(done.stdout.strip())
    return ", ".join(said)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = ("start", "commands", "functions", "scale", "fresh", "flat", "grade", "list", "memory")
    parser.add_argument("--quick", action="store_true", help="a tenth of the size, three rounds")
    parser.add_argument(
        "--peers", metavar="VENV", help="an environment with pydantic-evals, inspect-ai, rapidfuzz"
    )
    parser.add_argument("--rounds", metavar="N", type=int, help="rounds to take the median of (5; quick: 3)")
    parser.add_argument("--only", metavar="NAME", action="append", choices=names, help=", ".join(names))
    parser.add_argument("--work", metavar="DIR", help="where to work (default: the system's temporary space)")
    parser.add_argument("--keep", action="store_true", help="leave the folders")
    parser.add_argument("-o", "--output", metavar="FILE", help="also write the table there")
    options = parser.parse_args()
    # Who uses proctor keeps bytecode; without, what is measured is mostly the compiler.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    work = Path(tempfile.mkdtemp(prefix="proctor-bench-", dir=options.work))
    bench = Bench(options, work)
    try:
        for name in options.only or names:
            getattr(bench, name)()
    finally:
        if not options.keep:
            shutil.rmtree(work, ignore_errors=True)
    head = ("work", "floor", "proctor", "ratio", "ratio of processor time", "goal", "met", "others")
    lines = [" | ".join(row).join(("| ", " |")) for row in (head, ("---",) * len(head), *bench.rows)]
    lines.append(
        f"\n{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, {bench.rounds} rounds; {_versions(options.peers)}"
    )
    text = "\n".join(lines) + "\n"
    print(text)
    if options.output:
        Path(options.output).write_text(text)


if __name__ == "__main__":
    main()
