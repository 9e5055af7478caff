"""Tab completion, as bash asks for it: a real shell that has read what `proctor completion bash` prints."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from proctor.cli.completers import BY_ARGUMENT, OTHERWISE, completer_of
from proctor.cli.main import COMMANDS, build_parser
from tests.conftest import Project

GRADERS = "raise SystemExit('a grading module was imported')\n"

TYPED = """
from pathlib import Path

from proctor.eval import case, define_eval_suite, expect_exit_code

Path("it-was-run").touch()
suite = define_eval_suite(
    name="greetings",
    cases=[
        case(id="hello", prompt="Hello.", hosts={"claude": {"model": "m"}}, tags=["short"], assertions=[expect_exit_code(0)]),
        case("farewell", "Bye.", hosts={"claude": {"model": "m"}}, assertions=[expect_exit_code(0)]),
    ],
)
"""


class Shell:
    """A bash that has proctor's completion turned on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        programs = Path(sys.executable).parent
        self._environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
        self._rules = self._said("proctor completion bash")

    def tab(self, line: str, behind: str = "") -> list[str]:
        """What bash offers when Tab is pressed at the end of `line`, with `behind` standing behind the cursor."""
        script = (
            f"{self._rules}\n"
            f"COMP_LINE={shlex.quote(line + behind)}; COMP_POINT={len(line.encode())}; COMP_TYPE=9; COMP_KEY=9\n"
            "_python_argcomplete proctor\n"
            'printf "%s\\n" "${COMPREPLY[@]}"\n'
        )
        return self._said(script).split()

    def _said(self, script: str) -> str:
        done = subprocess.run(
            ["bash", "--norc", "-c", script],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )

        assert "" == done.stderr
        return done.stdout


@pytest.fixture
def shell(project: Project) -> Shell:
    """It stands in a folder with a suite of test folders, a suite in one file, and a typed suite."""
    project.test("birthday", GRADERS, tags=["facts", "dates"])
    project.test("birthplace", GRADERS, tags=["facts"])
    project.test("poem", tags=["texts"])
    project.write("suite/suite.json", {"defaults": {"tags": ["all"]}})
    project.write("other.json", {"inputs": [{"id": "one", "input": "x", "tags": ["rare"]}]})
    project.write("typed/greetings_eval.py", TYPED)
    return Shell(project.root)


@pytest.mark.parametrize(
    ("line", "behind", "offered"),
    [
        ("proctor run agent.py --suite suite --test bir", "", ["birthday", "birthplace"]),
        ("proctor run agent.py -s suite --test ", "", ["birthday", "birthplace", "poem"]),
        ("proctor run agent.py --suite=other.json --test ", "", ["one"]),
        ("proctor run --test p", " --suite suite", ["poem"]),
        ("proctor run --test o", " agent.py -s other.json", ["one"]),
        ("proctor run --suite suite --test birthp", ' --agent-cmd "tool {in', ["birthplace"]),
        ("proctor tests suite --test po", "", ["poem"]),
        ("proctor tests --test po", " suite", ["poem"]),
        ("proctor check other.json --test ", "", ["one"]),
        ("proctor tests suite --tags ", "", ["all", "facts", "dates", "texts"]),
        ("proctor tests suite --tags facts,da", "", ["facts,dates"]),
        ("proctor tests suite --tags facts,", "", ["facts,all", "facts,dates", "facts,texts"]),
        ("proctor add runs --suite other.json --test ", "", ["one"]),
        ("proctor tests typed/greetings_eval.py --test ", "", ["hello", "farewell"]),
        ("proctor tests typed --tags ", "", ["short"]),
    ],
)
def test_tests_and_tags_are_those_of_the_suite_on_the_line(
    shell: Shell, line: str, behind: str, offered: list[str]
) -> None:
    """Wherever the suite stands on it, and however unfinished the line is; nothing of a suite is run."""
    assert sorted(offered) == sorted(shell.tab(line, behind))
    assert not list(shell.folder.rglob("it-was-run"))


def test_without_a_suite_on_the_line_it_is_that_of_the_settings(shell: Shell, project: Project) -> None:
    """Relative to their file; without one, the typed suites where they stand by convention."""
    project.write("proctor.toml", 'suite = "other.json"\n')
    named = shell.tab("proctor run agent.py --test ")
    project.write("proctor.toml", 'evals = ["typed/*_eval.py"]\n')

    assert ["one"] == named
    assert ["hello"] == shell.tab("proctor run agent.py --test h")


@pytest.mark.parametrize(
    "source", ["nowhere", "broken.json", "https://example.org/suites.git", "graders.py", "a_eval.py"]
)
def test_where_no_suite_can_be_read_nothing_is_said(shell: Shell, project: Project, source: str) -> None:
    """No message stands in the middle of a line, and nothing is fetched."""
    project.write("broken.json", '{"inputs": [')
    project.write("graders.py", GRADERS)
    project.write("a_eval.py", "def (")

    assert [] == shell.tab(f"proctor run agent.py --suite {source} --test ")


def test_a_suite_that_is_not_usable_yet_is_completed_as_far_as_it_goes(
    shell: Shell, project: Project
) -> None:
    """Somebody may be typing it right now."""
    project.write(
        "half.json", {"inputs": [{"id": "good", "tags": ["t"]}, {"id": "bad", "timeout": -1}, 3, {}]}
    )

    assert ["good", "bad"] == shell.tab("proctor tests half.json --test ")


def test_runs_are_completed_down_to_the_run_directory(shell: Shell, project: Project) -> None:
    """A group goes on with its runs; a run is a whole word."""
    project.write(
        "suite/birthday/graders.py",
        "from proctor import grader\ngraders = grader(lambda output: True, name='yes')\n",
    )
    assert 0 == project.run("agent.py:main", "--test", "birthday", "--grade", out="runs/first").code
    (row, *_) = project("show", "runs/first/birthday", "--history", "--json").json["rounds"]

    assert ["runs/"] == shell.tab("proctor grade ru")
    assert ["runs/first/"] == shell.tab("proctor compare runs/first runs/")
    assert ["runs/first/birthday"] == shell.tab("proctor show runs/first/")
    assert [row["round"]] == shell.tab("proctor retract runs/first/birthday --round ")


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("proctor comp", ["compare", "completion"]),
        ("proctor completion ", ["bash", "fish", "zsh"]),
        ("proctor run agent.py:", ["main", "crash"]),
        ("proctor run cl", ["claude"]),
        ("proctor run --suite o", ["other.json"]),
        ("proctor run --retry error,ti", ["error,timeout"]),
        ("proctor grade --judge-model open", ["openai/", "openrouter/"]),
        ("proctor compare --require host", ["host", "host-version"]),
        ("proctor schema work", ["workdir"]),
        ("proctor run --pass-env PROCTOR_T", ["PROCTOR_TOKEN"]),
    ],
)
def test_what_is_known_is_offered(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, line: str, offered: list[str]
) -> None:
    """Commands, functions of an agent's file, kinds of agent, providers, facets, endings, schemas, variables."""
    shell._environment["PROCTOR_TOKEN"] = "secret"

    found = [word for word in shell.tab(line) if not word.startswith("-")]
    assert sorted(offered) == sorted(found)


def test_every_completer_is_that_of_an_argument() -> None:
    """A name in the tables that no command knows would complete nothing."""
    arguments = {name: {action.dest for action in build_parser(name)._actions} for name in COMMANDS}

    assert set() == set(BY_ARGUMENT) - set().union(*arguments.values())
    assert [] == [
        (command, one)
        for command, names in OTHERWISE.items()
        for one in names
        if one not in arguments[command]
    ]
    assert completer_of("add", "agent") is None


def test_completing_imports_only_the_command_that_is_typed(project: Project) -> None:
    """Somebody waits: neither other commands nor what grades or runs is imported for it."""
    code = (
        "import os, sys\nfrom proctor.cli.main import main\n"
        "import argcomplete.finders as finders\n"
        "original = finders.CompletionFinder.__call__\n"
        "def stop(self, *a, **k):\n"
        "    original(self, *a, **{**k, 'exit_method': lambda code: None, 'output_stream': open(os.devnull, 'w')})\n"
        "finders.CompletionFinder.__call__ = stop\n"
        "main([])\n"
        "print([m for m in sys.modules if m.startswith(('proctor.engine', 'proctor.stores', 'proctor.schemas', "
        "'proctor.cli.run', 'textual', 'openai', 'scipy', 'rapidfuzz'))])"
    )
    line = "proctor tests suite --test "
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project.root,
        env={
            **os.environ,
            "_ARGCOMPLETE": "1",
            "COMP_LINE": line,
            "COMP_POINT": str(len(line)),
            "_ARGCOMPLETE_COMP_WORDBREAKS": " ",
        },
        capture_output=True,
        text=True,
        check=True,
    )

    assert "[]\n" == done.stdout


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_each_shell_gets_code_of_its_own(project: Project, shell_name: str) -> None:
    """That names proctor, and that the shell can read, where it is installed."""
    said = project("completion", shell_name)

    assert 0 == said.code
    assert "proctor" in said.out
    if (
        found := subprocess.run(["which", shell_name], capture_output=True, text=True, check=False)
    ).returncode == 0:
        subprocess.run([found.stdout.strip(), "-n"], input=said.out, text=True, check=True)


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")
def test_fish_asks_for_the_same(shell: Shell) -> None:
    """By its own way of completing, with what each command is for beside it."""
    said = shell._said(
        "fish --no-config -c 'proctor completion fish | source; "
        'complete -C "proctor tests suite --test bir"; complete -C "proctor completi"\''
    )

    assert ["birthday", "birthplace", "completion"] == [line.split("\t")[0] for line in said.splitlines()]
    assert "print what makes a shell complete" in said


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")
def test_zsh_is_told_the_same(shell: Shell) -> None:
    """What its menu is made of, caught where it would be drawn."""
    script = (
        'autoload -Uz compinit; compinit -D -u; eval "$(proctor completion zsh)"; '
        '_describe() { shift; print -l -- "${(@P)1}" }; '
        'words=(proctor); BUFFER="proctor tests --test po suite"; CURSOR=23; _python_argcomplete'
    )
    said = shell._said(f"zsh -f -c {shlex.quote(script)}")

    assert ["poem"] == [line.split(":")[0].strip() for line in said.splitlines()]
