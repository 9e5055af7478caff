"""Unkind content: whatever an agent prints, names or leaves behind, and whatever the disk refuses, has a clear end."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor import evaluation
from proctor.host.tree import remove_tree
from proctor.records.run import AgentIdentity, Attempt, Ending
from proctor.stores import rows
from tests.conftest import Project, Said

GRADERS = "from proctor import Contains\ngraders = [Contains(any_of=['fine'])]"
NOBODY = 65534
LONG = "x" * 300
UNKIND_TEXT = (
    "fine \0 nul \x1b[31m red \x85 nel \u2028 ls \u2029 ps \ufeff bom \u202e bidi \u2066 iso \r\t\x07 \x9b"
)


WITHOUT_A_PATH = [
    ["init", ""],
    ["run", "agent.py", "--input", "hello", "--out", ""],
    ["run", "agent.py", "--input", "hello", "--out="],
    ["grade", ""],
    ["grade", "runs", "-o", ""],
    ["list", ""],
    ["show", ""],
    ["compare", "", "runs"],
    ["merge", "runs", "--out", ""],
    ["add", "", "--trace", "trace.jsonl"],
    ["export", "runs", "-o", ""],
    ["schema", "--all", ""],
    ["schema", "test", "-o", ""],
    ["label", "runs", "--checklist", ""],
    ["verify", ""],
]


def agent(project: Project, body: str) -> None:
    """An agent whose function does `body` and returns `fine`."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    project.write("agent.py", f"import os, sys, socket\ndef main(text):\n{lines}\n    return 'fine'\n")


def is_inert(said: Said) -> bool:
    """No control character but the line end is in what a terminal gets, and no defect of ours."""
    shown = said.out + said.err
    assert "Traceback" not in said.err, said.err
    unkind = [char for char in shown if char != "\n" and not char.isprintable()]
    assert not unkind, unkind
    return True


def told(project: Project, group: str = "group", *, code: int = 0) -> None:
    """`grade`, `list`, `show` and `verify` take what is there, and show it inert."""
    assert code == (said := project("grade", group)).code, said
    assert is_inert(said)
    assert is_inert(project("list", group))
    for run in sorted((project.root / group).glob("*/run.json")):
        assert is_inert(said := project("show", run.parent))
        assert 0 == said.code
        assert 0 == (said := project("show", run.parent, "--json")).code, said
    assert (0, True) == ((said := project("verify", group)).code, is_inert(said)), said


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def facts(project: Project, run: str = "group/t") -> Any:
    return json.loads((project.root / run / "run.json").read_bytes())


# What is printed and answered.


def test_printed_text_is_kept_to_the_byte_and_shown_inert(project: Project) -> None:
    """NUL, NEL, line and paragraph separators, BOM, bidi controls, and bytes that are no UTF-8."""
    printed = UNKIND_TEXT.encode() + b"\xff\xfe\x80 and a half \xed\xa0\x80\n"
    agent(project, f"os.write(1, {printed!r})\nos.write(2, {printed!r})")
    project.test("t", GRADERS)
    assert is_inert(project.run())
    kept = project.root / "group/t"

    assert [printed, printed] == [(kept / name).read_bytes() for name in ("stdout.log", "stderr.log")]
    told(project)


def test_an_answer_is_kept_to_the_character_and_shown_inert(project: Project) -> None:
    """Whatever separator is in it, a row stays one line."""
    agent(project, f"return {UNKIND_TEXT!r}")
    project.test("t", "from proctor import ExactMatch\ngraders = [ExactMatch()]", expected="other")
    project.run()
    told(project)

    assert UNKIND_TEXT == project("show", "group/t", "--json").json["output"]
    assert 1 == (project.root / "group/t/annotations.jsonl").read_bytes().count(b"\n")


def test_half_of_a_surrogate_pair_is_replaced_and_noted(project: Project) -> None:
    """No file can hold it: U+FFFD stands for it, in the answer, in its keys and in what was raised."""
    agent(
        project, "if text == 'raise':\n    raise RuntimeError('\\ud800')\nreturn {'fine\\udc00': ['\\ud83d']}"
    )
    project.test("t", GRADERS)
    project.test("u", GRADERS, input="raise")
    assert is_inert(project.run())
    told(project, code=4)

    assert {"fine\ufffd": ["\ufffd"]} == facts(project)["output"]
    assert "half of a surrogate pair" in facts(project)["notes"][0]
    assert "\\ud800" in facts(project, "group/u")["defect"]["message"]


def test_a_command_may_print_what_is_no_text(project: Project) -> None:
    """Its answer has U+FFFD where bytes are no UTF-8, and a note says so; its log has the bytes."""
    project.write("print.py", "import os\nos.write(1, b'fine \\xff\\xfe\\x00\\xed\\xa0\\x80\\n')")
    project.test("t", GRADERS)
    said = project("run", "--agent-cmd", f"{sys.executable} print.py", "--suite", "suite", "--out", "group")
    told(project)

    assert (0, True) == (said.code, is_inert(said))
    assert facts(project)["output"].startswith("fine \ufffd\ufffd\0")
    assert "is not UTF-8 throughout" in facts(project)["notes"][0]


def test_a_command_line_that_is_no_text_is_recorded_in_escapes(project: Project) -> None:
    """The program gets the bytes."""
    project.write("print.py", "import os, sys\nos.write(1, b'fine ' + os.fsencode(sys.argv[1]))")
    project.test("t", GRADERS)
    command = f"{sys.executable} print.py caf\udce9"
    said = project("run", "--agent-cmd", command, "--suite", "suite", "--out", "group")
    told(project)

    assert (0, True) == (said.code, is_inert(said))
    assert r"caf\xe9" in facts(project)["agent"]["label"]
    assert "fine caf\ufffd" == facts(project)["output"]


def test_a_secret_that_is_no_text_is_taken_out(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the bytes of a variable are no UTF-8."""
    monkeypatch.setenv("SERVICE_TOKEN", "correct\udce9horse\udcffbattery")
    agent(project, "os.write(1, os.environb[b'SERVICE_TOKEN'])")
    project.test("t", GRADERS)
    said = project.run("agent.py", "--pass-env", "SERVICE_TOKEN")

    assert 0 == said.code, said
    assert b"[redacted SERVICE_TOKEN]" == (project.root / "group/t/stdout.log").read_bytes()


def test_a_terminal_that_is_not_unicode_gets_escapes(project: Project) -> None:
    """What it cannot show is no reason to stop."""
    agent(project, "return 'fine \u6f22\u5b57 \U0001f600'")
    project.test("t", GRADERS)
    project.run()
    project.grade()
    for words in (["show", "group/t"], ["list", "group"], ["grade", "group"]):
        done = subprocess.run(
            [sys.executable, "-m", "proctor", *words],
            env=os.environ | {"PYTHONIOENCODING": "ascii"},
            capture_output=True,
            check=False,
        )

        assert (0, b"") == (done.returncode, done.stderr)
        assert done.stdout.isascii()


def test_an_agent_of_ones_own_that_answers_no_json_costs_its_own_trial_alone(project: Project) -> None:
    """It is said by name and never recorded; the other trials are."""

    class Own:
        identity = AgentIdentity(kind="own", label="mine")

        def prepare(self, tests: object, surroundings: object) -> None: ...

        def attempt(self, test: Any, *_: object) -> Attempt:
            return Attempt(ending=Ending.OK, output=object() if test.id == "a" else "fine")

        def close(self) -> None: ...

    project.test("a")
    project.test("b")
    group = evaluation.run(evaluation.load_suite("suite"), Own(), out="group")
    (lost,) = group.summary.lost

    assert ("a", 1) == (lost.cell and lost.cell.test, int(group.summary.exit_code))
    assert lost.reason.startswith("the run cannot be recorded: TypeError: ")
    assert ["b"] == [path.parent.name for path in project.root.glob("group/*/run.json")]


# Names.


def test_names_of_files_may_be_any_bytes(project: Project) -> None:
    """Not UTF-8, with line feeds, escape sequences, 255 bytes, in other scripts: kept, listed, and shown inert."""
    names = [
        b"caf\xe9",
        b"two\nlines",
        b"\x1b[31mred",
        b"x" * 255,
        "\u0434\u0430\u043d\u043d\u044b\u0435".encode(),
    ]
    names += ["\u6f22\u5b57\u202e\u2028".encode(), b"\xff\xfe", b"-rf", b"a\\b", b" "]
    agent(
        project,
        f"for name in {names!r}:\n    open(name, 'w').write('made')\n    os.mkdir(b'd' + name[:250])\n"
        "os.symlink(b'to \\xff\\n', b'link')",
    )
    project.test("t", GRADERS)
    assert is_inert(project.run())
    told(project)
    manifest = json.loads((project.root / "group/t/workdir.json").read_bytes())

    assert {*names, b"link"} <= {os.fsencode(name) for name in names_in(project.root / "group/t/workdir")}
    assert 2 * len(names) + 1 == len(manifest["entries"])


def test_a_change_of_a_file_whose_name_is_no_text_is_found(project: Project) -> None:
    """Two such names are two files."""
    agent(project, "open(b'a\\xff', 'w').write('1')\nopen(b'a\\xfe', 'w').write('2')")
    project.test("t", GRADERS)
    project.run()
    Path(os.fsdecode(os.fsencode(project.root) + b"/group/t/workdir/a\xfe")).write_text("3")
    said = project("verify", "group")

    assert (2, True) == (said.code, is_inert(said))
    assert r"workdir/a\xfe" in said.out


def test_a_group_may_have_any_name(project: Project) -> None:
    """Also one that is no UTF-8 and holds control characters; JSON names it in escapes."""
    agent(project, "return 'fine'")
    project.test("t", GRADERS)
    name = "gr\udce9\n\x1b[31m"
    assert is_inert(said := project.run(out=name))
    assert 0 == said.code, said
    said = project("grade", name)
    assert (0, True) == (said.code, is_inert(said)), said
    assert is_inert(project("list", "."))
    said = project("list", ".", "--json")

    assert (0, "gr\\xe9\n\x1b[31m") == (said.code, said.json["groups"][0]["path"])
    assert is_inert(project("show", f"{name}/t"))
    assert is_inert(project("verify", name))
    assert is_inert(project("verify", "."))


def test_an_empty_text_is_no_path(project: Project) -> None:
    """An option with a variable that is not set, in whichever command, never means the folder one stands in."""
    before = sorted(path.name for path in project.root.iterdir())
    for words in WITHOUT_A_PATH:
        said = project(*words)

        assert (1, "") == (said.code, said.out), words
        assert "a path is wanted, and this is empty" in said.err, words
    assert before == sorted(path.name for path in project.root.iterdir())


def test_ids_that_are_equal_up_to_case_are_refused(project: Project) -> None:
    """Their run directories would be one where the disk does not tell case apart; nothing is run."""
    project.write("suite/graders.py", GRADERS)
    tests = [{"id": name, "input": "x", "graders": "graders.py"} for name in ("Stra\u00dfe", "STRASSE")]
    project.write("suite/suite.json", {"inputs": tests})
    said = project("run", "agent.py", "--suite", "suite/suite.json", "--out", "group")

    assert (1, True) == (said.code, is_inert(said))
    assert "STRASSE" in said.err
    assert not (project.root / "group").exists()


# What is left in the workdir.


def test_what_no_copy_can_hold_is_left_out_and_said(project: Project) -> None:
    """Sockets and FIFOs, also with a name that is no text."""
    agent(
        project,
        "os.mkfifo('pipe')\nos.mkfifo(b'pi\\xff\\n')\nsocket.socket(socket.AF_UNIX).bind('sock')\n"
        "open('kept', 'w').write('x')",
    )
    project.test("t", GRADERS)
    said = project.run()
    told(project)

    assert (0, True) == (said.code, is_inert(said))
    assert ["kept"] == names_in(project.root / "group/t/workdir")
    assert ["not kept from the workdir: pipe (FIFO), pi\\xff\n (FIFO), sock (socket)"] == facts(project)[
        "notes"
    ]


@pytest.fixture
def deep(project: Project) -> Iterator[Project]:
    """A project that is removed again: the way that pytest removes folders is not deep enough."""
    yield project
    remove_tree(project.root / "group")


@pytest.mark.parametrize("name", [pytest.param("d", marks=pytest.mark.slow), "a-longer-name"])
def test_a_thousand_folders_in_each_other_are_no_obstacle(deep: Project, name: str) -> None:
    """What the system can still name is kept; what lies deeper is left out, and a note says so."""
    agent(
        deep,
        f"open('top', 'w').write('x')\nfor _ in range(1000):\n    os.mkdir({name!r})\n    os.chdir({name!r})\n"
        "open('bottom', 'w').write('x')",
    )
    deep.write("suite/t/files/seeded.txt", "x")
    graders = "from proctor import Contains, expect_command\ngraders = [Contains(any_of=['fine']), expect_command('true')]"
    deep.test("t", graders, files="files")
    said = deep.run()
    told(deep)
    notes = facts(deep).get("notes", [])

    assert (0, True) == (said.code, is_inert(said))
    assert (deep.root / "group/t/workdir/top").exists()
    assert ([] == notes) is (name == "d")
    assert name == "d" or "(path too long)" in notes[0]
    assert [] == list(Path(tempfile.gettempdir()).glob("proctor-*/workdir/top"))


@pytest.mark.slow
def test_ten_thousand_small_files_are_kept(project: Project) -> None:
    """Each with its digest."""
    agent(project, "for n in range(10_000):\n    open(f'{n}.txt', 'w').write(str(n))")
    project.test("t", GRADERS)
    assert 0 == project.run().code
    told(project)

    assert 10_000 == len(json.loads((project.root / "group/t/workdir.json").read_bytes())["entries"])


def test_links_are_kept_as_links_and_never_followed(project: Project) -> None:
    """Loops, links to nowhere, links out: nothing that they lead to is read or kept."""
    project.write("secret.txt", "outside")
    agent(
        project,
        f"os.symlink('.', 'self')\nos.symlink('b', 'a')\nos.symlink('a', 'b')\nos.symlink('gone', 'dangling')\n"
        f"os.symlink({str(project.root / 'secret.txt')!r}, 'out')\nos.symlink('/etc', 'etc')\n"
        "os.mkdir('d')\nos.symlink('..', 'd/up')",
    )
    project.test("t", GRADERS)
    project.run()
    told(project)
    entries = json.loads((project.root / "group/t/workdir.json").read_bytes())["entries"]

    assert {"link"} == {entry["kind"] for entry in entries}
    assert 7 == len(entries)


@pytest.mark.parametrize(
    "body",
    [
        "import shutil\nshutil.rmtree(os.getcwd())",
        "import shutil\nhere = os.getcwd()\nshutil.rmtree(here)\nos.symlink('/etc', here)",
        "import shutil\nhere = os.getcwd()\nshutil.rmtree(here)\nopen(here, 'w').write('x')",
        "import shutil\nhere = os.getcwd()\nshutil.rmtree(here)\nos.mkfifo(here)",
    ],
    ids=["removed", "a link to /etc", "a file", "a FIFO"],
)
def test_an_agent_may_do_away_with_its_workdir(project: Project, body: str) -> None:
    """The run is recorded without files; nothing that a link leads to is touched or kept."""
    agent(project, body)
    before = names_in(Path("/etc"))
    project.test("t", GRADERS)
    said = project.run()
    told(project)

    assert (0, True) == (said.code, is_inert(said))
    assert [] == names_in(project.root / "group/t/workdir")
    assert ["not kept from the workdir: . (gone)"] == facts(project)["notes"]
    assert before == names_in(Path("/etc"))


@pytest.mark.parametrize("kind", ["function", "command"])
@pytest.mark.parametrize(
    "body",
    [
        "os.unlink(out)\nos.symlink('/etc/passwd', out)",
        "os.unlink(out)\nos.mkfifo(out)",
        "os.unlink(out)\nos.mkdir(out)",
    ],
    ids=["a link", "a FIFO", "a folder"],
)
def test_an_agent_may_put_anything_in_place_of_its_output(project: Project, body: str, kind: str) -> None:
    """Only a regular file is what it printed: no link is followed, nothing is waited for."""
    agent(project, f"out = os.readlink('/proc/self/fd/1')\n{body}")
    project.write("command.py", "import agent\nagent.main('')\n")
    project.test("t", GRADERS)
    words = ["agent.py"] if kind == "function" else ["--agent-cmd", f"{sys.executable} command.py"]
    said = project("run", *words, "--suite", "suite", "--out", "group")

    assert (0, True) == (said.code, is_inert(said))
    assert not (project.root / "group/t/stdout.log").exists()
    assert b"root:" not in (project.root / "group/t/run.json").read_bytes()
    told(project)


def test_an_agent_may_do_away_with_its_whole_private_folder(project: Project) -> None:
    """And put a file in its place: a run that ended without a result, recorded as that."""
    agent(
        project,
        "import shutil\nroot = os.path.dirname(os.getcwd())\nshutil.rmtree(root)\nopen(root, 'w').write('x')",
    )
    project.test("t", GRADERS)
    said = project.run()

    assert (4, True) == (said.code, is_inert(said))
    assert "error" == facts(project)["ending"]
    assert 0 == project("verify", "group").code


def test_a_run_may_be_on_another_disk_than_the_work(deep: Project) -> None:
    """Copied instead of moved: modes, links, odd names and locked folders stay, and it verifies."""
    other = Path("/dev/shm")
    if not other.is_dir() or other.stat().st_dev == deep.root.stat().st_dev:
        pytest.skip("there is no second file system at /dev/shm")
    agent(
        deep,
        "os.mkdir('d')\nopen('d/run', 'w').write('x')\nos.chmod('d/run', 0o755)\nos.symlink('d', 'link')\n"
        "open(b'\\xff', 'w').write('y')\nos.mkfifo('pipe')\nos.chmod('d', 0)\n"
        "for _ in range(1000):\n    os.mkdir('e')\n    os.chdir('e')",
    )
    deep.test("t", GRADERS)
    work = Path(tempfile.mkdtemp(dir=other))
    try:
        said = deep.run("agent.py", "--work-root", str(work))
        left = names_in(work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    told(deep)
    kept = deep.root / "group/t/workdir"

    assert (0, [], True) == (said.code, left, is_inert(said))
    assert os.access(kept / "d/run", os.X_OK)
    assert {"link", "d", "e"} < set(names_in(kept))
    assert ["not kept from the workdir: pipe (FIFO)"] == facts(deep)["notes"]


# Sizes.


@pytest.mark.slow
def test_a_row_of_fifty_megabytes_is_no_obstacle(project: Project) -> None:
    """Neither whole, where it is counted, nor torn, where it is set aside."""
    agent(project, "return 'fine'")
    project.test("t", GRADERS)
    project.run()
    project.grade()
    path = project.root / "group/t/annotations.jsonl"
    with path.open("ab") as log:
        log.write(b'{"kind":"later","text":"' + b"x" * 50_000_000 + b'"}\n')
    said = project.grade()

    assert (0, 1) == (said.code, said.json["groups"][0]["runs"][0]["unread_rows"])
    with path.open("ab") as log:
        log.write(b'{"torn":"' + b"x" * 50_000_000)
    before = path.stat().st_size
    started = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    torn = rows.append(str(path), b"{}\n")

    assert 50_000_009 == len(torn)
    assert before - len(torn) + 3 == path.stat().st_size
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - started < 5


@pytest.mark.slow
def test_a_trace_with_a_line_of_fifty_megabytes_reads(project: Project) -> None:
    """Its events are those of any other trace."""
    span = {
        "traceId": "1" * 32,
        "spanId": "2" * 16,
        "name": "execute_tool look",
        "startTimeUnixNano": "1",
        "endTimeUnixNano": "2",
        "attributes": [
            {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
            {"key": "gen_ai.tool.name", "value": {"stringValue": "look"}},
            {"key": "gen_ai.tool.call.result", "value": {"stringValue": "x" * 50_000_000}},
        ],
    }
    project.test("t", GRADERS)
    project.run()
    traces = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    (project.root / "group/t/trace.jsonl").write_text(json.dumps(traces) + "\n")

    assert is_inert(said := project("show", "group/t"))
    assert "1 tool call" in said.out
    assert 1 == len(project("list", "group", "--json").json["groups"][0]["runs"])


@pytest.mark.slow
def test_two_hundred_megabytes_of_output_take_little_memory(project: Project) -> None:
    """All of it is kept, the answer is its beginning, and proctor's own memory stays bounded."""
    project.write(
        "flood.py",
        "import os\nfor n in range(200):\n    os.write(1, b'fine' + b'x' * (1_000_000 - 5) + b'\\n')\n",
    )
    project.test("t", GRADERS)
    code = (
        "import resource, sys\nfrom proctor.cli.main import main\ncode = main(sys.argv[1:])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)\nsys.exit(code)"
    )

    def peak_mb(*words: str) -> float:
        done = subprocess.run(
            [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False
        )
        assert 0 == done.returncode, done
        return int(done.stderr.split("\n")[-2]) / 1024

    command = f"{sys.executable} flood.py"
    peaks = [
        peak_mb("run", "--agent-cmd", command, "--suite", "suite", "--out", "group"),
        peak_mb("verify", "group"),
        peak_mb("list", "group"),
        peak_mb("grade", "group"),
    ]
    print([round(peak) for peak in peaks])

    assert 200_000_000 == (project.root / "group/t/stdout.log").stat().st_size
    assert "The output is the first 16,777,216 of 200,000,000 bytes" in facts(project)["notes"][0]
    assert max(peaks) < 300
    assert is_inert(project("show", "group/t"))


# A disk that refuses.


@pytest.fixture
def small_disk(project: Project) -> Iterator[Path]:
    """A file system of 2 MB."""
    disk = project.root / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("a small file system can be mounted by root only")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def fill(disk: Path) -> Path:
    """A file that takes the room that is left."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            return filler


def test_on_a_full_disk_what_does_not_fit_is_a_fault_of_the_machine(
    project: Project, small_disk: Path
) -> None:
    """Finished runs stay whole, the others are recorded without their files, and after making room a resume goes on."""
    agent(project, "open('big', 'wb').write(os.urandom(700_000))")
    for name in "abcd":
        project.test(name, GRADERS)
    group = small_disk / "group"
    said = project.run(out=str(group))
    there = {path.parent.name: path.read_bytes() for path in group.glob("*/run.json")}
    endings = {name: json.loads(content)["ending"] for name, content in there.items()}
    verified = project("verify", group)

    assert (3, True) == (said.code, is_inert(said))
    assert {"a": "ok", "b": "ok", "c": "harness-failure", "d": "harness-failure"} == endings
    assert (
        "  c  harness-failure (harness: disk-full)  the run cannot be recorded: No space left on device. "
        in said.out
    )
    assert (
        "It had ended with ok; nothing that it left is kept."
        in facts(project, str(group / "c"))["defect"]["message"]
    )
    assert (0, False) == (verified.code, (group / ".staging").exists())
    subprocess.run(["mount", "-o", "remount,size=8m", small_disk], check=True)
    assert 0 == project.run("agent.py", "--resume", out=str(group)).code
    assert there == {name: (group / name / "run.json").read_bytes() for name in there}
    told(project, str(group))


@pytest.mark.parametrize("begun", [False, True])
def test_on_a_disk_without_any_room_nothing_starts(project: Project, small_disk: Path, begun: bool) -> None:
    """Neither a new group nor a resumed one; the message says what to do."""
    project.test("t", GRADERS)
    group = small_disk / "group"
    if begun:
        project.run(out=str(group))
        shutil.rmtree(group / "t")
    fill(small_disk)
    said = project.run("agent.py", *(["--resume"] if begun else []), out=str(group))

    assert (1, True) == (said.code, is_inert(said))
    assert "No space left on device" in said.out + said.err


def test_on_a_full_disk_a_round_is_written_whole_or_not_at_all(project: Project, small_disk: Path) -> None:
    """What is not recorded is no success, also where an earlier round is in force."""
    graders = (
        "from proctor import Contains\ngraders = [Contains(any_of=['fine'], name=f'g{n}') for n in range(40)]"
    )
    agent(project, "return 'fine'")
    project.test("t", graders)
    group = small_disk / "group"
    project.run(out=str(group))
    assert 0 == project("grade", group).code
    path = group / "t/annotations.jsonl"
    before = path.read_bytes()
    filler = fill(small_disk)
    said = project("grade", group)

    assert (1, True) == (said.code, is_inert(said))
    assert "its grades are not recorded: rows cannot be written: No space left on device" in " ".join(
        said.err.split()
    )
    assert before == path.read_bytes()
    filler.unlink()
    assert 0 == project("grade", group).code
    assert path.read_bytes().startswith(before)


@pytest.mark.parametrize("words", [["list", "group"], ["list", "group", "--json"], ["show", "group/t"]])
def test_an_output_that_cannot_be_written_is_no_defect_of_ours(project: Project, words: list[str]) -> None:
    """`proctor list > file` on a full disk says so."""
    project.test("t", GRADERS)
    project.run()
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "proctor", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert 1 == done.returncode
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


# A user who may not.


READS_ALL = (
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
)
"""A user that is not root: it may read everything, the interpreter of these tests too, and write what is its own."""


@pytest.fixture
def guest(project: Project) -> Iterator[Any]:
    """Types command lines as a user who may read the project, and write nothing in it."""
    if os.getuid() != 0 or subprocess.run([*READS_ALL, "true"], capture_output=True, check=False).returncode:
        pytest.skip("only root can become somebody else, with setpriv")
    project.root.chmod(0o755)
    work = Path(tempfile.mkdtemp())
    os.chown(work, NOBODY, NOBODY)

    def type_as_guest(*words: object) -> Said:
        done = subprocess.run(
            [*READS_ALL, sys.executable, "-m", "proctor", *map(str, words)],
            env=os.environ | {"TMPDIR": str(work), "HOME": str(work)},
            capture_output=True,
            text=True,
            check=False,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    yield type_as_guest
    shutil.rmtree(work)


@pytest.mark.parametrize("begun", [False, True])
def test_a_group_that_may_not_be_written_is_refused_at_once(
    project: Project, guest: Any, begun: bool
) -> None:
    """A new one and one to go on with; no agent is started."""
    agent(project, f"open({str(project.root)!r} + '/started', 'w')")
    project.test("t", GRADERS)
    if begun:
        project.run()
        shutil.rmtree(project.root / "group/t")
        (project.root / "started").unlink()
    words = ["run", "agent.py", "--suite", "suite", "--out", "group", *(["--resume"] if begun else [])]
    said = guest(*words)

    assert (1, True) == (said.code, is_inert(said))
    assert f"cannot be {'gone on with' if begun else 'made'}: Permission denied" in said.err
    assert not (project.root / "started").exists()


def test_runs_that_may_not_be_written_are_read_and_not_graded(project: Project, guest: Any) -> None:
    """Grading says that nothing is recorded, also where an earlier round is in force; looking works."""
    project.test("t", GRADERS, input="fine")
    project.run()
    project.grade()
    before = (project.root / "group/t/annotations.jsonl").read_bytes()
    said = guest("grade", "group")
    retracted = guest(
        "retract", "group/t", "--round", project("show", "group/t", "--history").out[:12], "--why", "x"
    )
    added = guest("grade", "group", "-o", "report.json")

    assert (1, True) == (said.code, is_inert(said))
    assert "its grades are not recorded: rows cannot be written: Permission denied" in said.err
    assert (1, True) == (retracted.code, "Permission denied" in retracted.err)
    assert (1, True) == (added.code, is_inert(added))
    assert before == (project.root / "group/t/annotations.jsonl").read_bytes()
    assert [0, 0, 0] == [
        guest(*words).code for words in (["list", "group"], ["show", "group/t"], ["verify", "group"])
    ]


def test_folders_that_even_their_owner_may_not_enter_are_kept(project: Project, guest: Any) -> None:
    """They are opened for the owner, and no rest stays behind in the temporary space."""
    agent(
        project,
        "os.mkdir('locked')\nopen('locked/inside', 'w').write('x')\nos.chmod('locked', 0)\n"
        "open('closed', 'w').write('x')\nos.chmod('closed', 0)\nos.mkdir('read-only')\n"
        "open('read-only/x', 'w').write('x')\nos.chmod('read-only', 0o500)",
    )
    project.test("t", GRADERS)
    project.root.chmod(0o777)
    said = guest("run", "agent.py", "--suite", "suite", "--out", "group")

    assert (0, True) == (said.code, is_inert(said)), said
    assert "x" == (project.root / "group/t/workdir/locked/inside").read_text()
    assert 0 == guest("verify", "group").code
    assert 0 == guest("grade", "group").code


def test_a_group_that_may_not_be_read_is_said(project: Project) -> None:
    """By every command that looks at runs."""
    if os.getuid() != 0:
        pytest.skip("only root can become somebody else")
    project.test("t", GRADERS)
    project.run()
    (project.root / "group").chmod(0o700)
    temporary = Path(tempfile.gettempdir())
    for folder in (project.root, *project.root.parents):
        if folder != temporary and folder.is_relative_to(temporary):
            folder.chmod(0o755)  # pytest keeps them for their owner alone
    # What is imported later may lie where only root may look: all is imported before.
    code = (
        "import importlib, os, pkgutil, sys, proctor\n"
        "for module in pkgutil.walk_packages(proctor.__path__, 'proctor.'):\n"
        "    module.name.endswith('__main__') or importlib.import_module(module.name)\n"
        f"os.setgroups([])\nos.setgid({NOBODY})\nos.setuid({NOBODY})\n"
        "from proctor.cli.main import main\nsys.exit(main(sys.argv[1:]))"
    )
    for words in (["list", "group"], ["show", "group/t"], ["verify", "group"], ["grade", "group"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False
        )

        assert (1, "") == (done.returncode, done.stdout)
        assert "Permission denied" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("list", LONG),
        ("show", LONG),
        ("grade", LONG),
        ("verify", LONG),
        ("compare", LONG, LONG),
        ("merge", LONG, "--out", "whole"),
        ("run", f"{LONG}.py", "--suite", "suite"),
        ("schema", "test", "-o", f"{LONG}.json"),
        ("init", LONG),
    ],
    ids=lambda words: words[0],
)
def test_a_name_that_the_system_cannot_hold_is_no_defect(project: Project, words: tuple[str, ...]) -> None:
    """Whichever command it is given to."""
    project.write("suite/suite.json", {"inputs": [{"id": "a", "input": "a"}]})
    said = project(*words)

    assert 1 == said.code
    assert "File name too long" in said.err
    assert "Traceback" not in said.err


def test_a_path_that_the_system_names_is_shown_inert(project: Project) -> None:
    """An agent chooses names of files, and an error may bring one onto the terminal."""
    said = project("list", f"\x1b[31m{LONG}")

    assert 1 == said.code
    assert "\\x1b[31m" in said.err
    assert "\x1b" not in said.err
