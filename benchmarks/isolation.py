"""What keeping agents apart costs: milliseconds of one trial of a program that does nothing, by what surrounds it.

    python benchmarks/isolation.py [TRIALS]

Each row starts `/bin/true` as an agent, waits for it, and removes its place; the rows take turns, so that a busy
machine is as busy for all of them. The first row is a place without a home of its own, as a yardstick.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from proctor.agents.command import CommandAgent
from proctor.agents.function import FunctionAgent
from proctor.host.bounds import plan_bounds
from proctor.host.cancel import Cancel
from proctor.host.isolation import isolate
from proctor.host.place import Place
from proctor.host.premises import Premises
from proctor.host.sandbox import OVERHEAD, Bubblewrap, find_programs
from proctor.host.sandbox_view import programs_of, view_of
from proctor.records.run import Limits
from proctor.records.suite import Test

TEST = Test(id="t", input="x")
PLAIN = Limits(timeout_s=20)
HELD = Limits(timeout_s=20, memory_bytes=1 << 30, processes=100, cpu_s=60, file_bytes=1 << 30)


def main(trials: int = 50) -> None:
    theirs = dict(os.environ)
    folder = Path(tempfile.mkdtemp(prefix="isolation-")).resolve()
    folder.chmod(0o755)
    (folder / "agent.py").write_text("def main(text): return text\n")
    home = Path(theirs["HOME"])
    programs = find_programs(theirs["PATH"])
    view = view_of([folder], tools=programs_of(theirs), hidden=(), needed=(), home=home)

    def sandbox(readable: Path = folder):
        return lambda own: Bubblewrap(
            programs, view, own, launch_dir=folder, has_network=False, readable=[readable]
        )

    def gateway(port):
        from proctor.host.gateway import Gateway

        return Gateway(None, port)

    isolated = isolate(theirs)
    bounds = plan_bounds(HELD, is_confined=False)
    closed = folder / "closed"
    closed.mkdir(0o700)
    rows = {
        "isolated": (Premises(isolated=isolated), PLAIN),
        "isolated, a receiver of traces": (Premises(isolated=isolated, listens=True), PLAIN),
        "isolated, limits": (Premises(isolated=isolated, bounds=bounds), HELD),
        "sandbox": (Premises(isolated=isolated, enclosure=sandbox()), PLAIN),
        "sandbox, proxy and receiver": (
            Premises(isolated=isolated, enclosure=sandbox(), gateway=gateway, listens=True),
            PLAIN,
        ),
        "sandbox, limits": (
            Premises(
                isolated=isolated,
                enclosure=sandbox(),
                bounds=plan_bounds(HELD, is_confined=True, overhead=OVERHEAD),
            ),
            HELD,
        ),
    }
    if programs.as_nobody:
        rows["sandbox, root without rights"] = (Premises(isolated=isolated, enclosure=sandbox(closed)), PLAIN)
    command = CommandAgent("/bin/true", launch_dir=folder)
    command.prepare([TEST], rows["isolated"][0].surroundings)
    function = FunctionAgent("agent.py", launch_dir=folder)
    function.prepare([TEST], rows["isolated"][0].surroundings)
    times: dict[str, list[float]] = {}

    def measured(name, agent, place, limits):
        def once():
            started = time.perf_counter()
            made = place()
            attempt = made.settle(agent.attempt(TEST, made, limits, Cancel()))
            made.remove()
            times.setdefault(name, []).append(time.perf_counter() - started)
            assert attempt.ending.value == "ok", attempt

        return once

    plain = measured("no home of its own", command, lambda: Place.create(None, TEST, theirs), PLAIN)
    work = [plain]
    for name, (premises, limits) in rows.items():
        work.append(measured(name, command, lambda p=premises, m=limits: p.place(TEST, m), limits))
    work.append(
        measured("function, no home of its own", function, lambda: Place.create(None, TEST, theirs), PLAIN)
    )
    for name in ("isolated", "isolated, limits"):
        premises, limits = rows[name]
        work.append(
            measured(f"function, {name}", function, lambda p=premises, m=limits: p.place(TEST, m), limits)
        )
    for _ in range(trials):
        for once in work:
            once()
    function.close()
    print(f"| one trial, of {trials} | lowest, ms | more than the first | median, ms | more |")
    print("| --- | --- | --- | --- | --- |")
    first = (0.0, 0.0)
    for name, taken in times.items():
        lowest, median = min(taken) * 1000, statistics.median(taken) * 1000
        if "no home" in name:
            first = lowest, median
        print(
            f"| {name} | {lowest:.2f} | {lowest - first[0]:+.2f} | {median:.2f} | {median - first[1]:+.2f} |"
        )
    for premises, _ in rows.values():
        premises.close()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
