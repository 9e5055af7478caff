"""`proctor run`: what an agent finds of the suite and of the operator, and what is said and recorded of that."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.conftest import Project
from tests.host.sandboxes import programs

CANARY = "canary" + "-5f0d"
SEARCH = '''
import json, os, sys
from pathlib import Path

WORD = b"canary" + b"-5f0d"

def look():
    """Where the word is found: in all that the agent is given, and in all that it leads to."""
    found, named = [], []
    def see(where, content):
        if WORD in content: found.append(where)
    def read(path):
        try: return Path(path).read_bytes()
        except OSError: return b""
    see("environment", json.dumps(dict(os.environ)).encode() + read("/proc/self/environ"))
    see("arguments", json.dumps(sys.argv).encode() + read("/proc/self/cmdline"))
    see("memory map", read("/proc/self/maps"))
    for descriptor in os.listdir("/proc/self/fd"):
        see(f"open file {descriptor}", read(f"/proc/self/fd/{descriptor}"))
        try: named.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        except OSError: pass
    # All files that a path leads to which it is given, and those beside and above where it stands.
    named += [os.getcwd(), *os.environ.values()]
    for text in list(named):
        named += text.split(":")
    for path in {Path(text) for text in named if text.startswith(("/tmp/", "/proctor"))}:
        for folder in (path, *path.parents):
            if folder in (Path("/"), Path("/tmp")) or "pytest" in folder.name or "_" in folder.name[:5]: break
            for file in ([folder] if folder.is_file() else folder.rglob("*") if folder.is_dir() else []):
                if file.is_file() and not file.is_symlink() and file.suffix != ".py":
                    see(str(file), read(file))
    # The server of functions, whose child this may be, was told nothing of the suite.
    parent = os.getppid()
    told = read(f"/proc/{parent}/cmdline")
    if b"zygote" in told:
        see("the server", told + read(f"/proc/{parent}/environ"))
        found.extend(name for name in ("suite", "group") if f"/{name}".encode() in told)
    return found

def main(text):
    return look()

if __name__ == "__main__":
    print(json.dumps(look()))
'''


@pytest.fixture
def secretive(project: Project) -> Project:
    """A suite in which every part that an agent must not see holds a word; its own inputs and files do not."""
    for name in ("mine", "other"):
        project.test(
            name,
            f"# {CANARY}\nfrom proctor import grader\ngraders = [grader(lambda output: True, name='{CANARY}')]\n",
            expected=CANARY,
            goal=CANARY,
            metadata={"note": CANARY},
            description=CANARY,
        )
        project.write(f"suite/{name}/holdout/secret.txt", CANARY)
        project.write(f"suite/{name}/solution.sh", f"echo {CANARY}")
        project.write(f"suite/{name}/files/own.txt", "of the agent")
    project.write("search.py", SEARCH)
    return project


@pytest.mark.parametrize("agent", [["search.py"], ["--agent-cmd", "python search.py"]])
@pytest.mark.parametrize("sandbox", ["none", "bwrap"])
def test_the_suite_cannot_be_found_from_where_the_agent_stands(secretive, agent, sandbox):
    """Not in its workdir, environment, arguments or open files, and in no file that these lead to."""
    if sandbox == "bwrap":
        programs()
    said = secretive("run", *agent, "--suite", "suite", "--out", "group", "--sandbox", sandbox, "-n", 2)

    assert 0 == said.code, said
    for name in ("mine", "other"):
        output = json.loads((secretive.root / "group" / name / "run.json").read_text())["output"]
        assert [] == (json.loads(output) if isinstance(output, str) else output)


def test_the_search_would_find_it(secretive):
    """It finds the word when it is in a file of the workdir, in a variable, or an argument."""
    (secretive.root / "suite/mine/files/own.txt").write_text(CANARY)
    secretive(
        "run",
        "--agent-cmd",
        f"env WORD={CANARY} python search.py {CANARY}",
        "--suite",
        "suite",
        "--test",
        "mine",
        "--out",
        "group",
    )
    found = json.loads(json.loads((secretive.root / "group/mine/run.json").read_text())["output"])

    assert {"environment", "arguments"} <= set(found)
    assert any(where.endswith("workdir/own.txt") for where in found)


def test_what_is_not_protected_is_said_in_one_line(project):
    project.test("a")
    said = project.run()

    assert 1 == said.err.count("no sandbox: the agent can do what you can, files and network included\n")
    assert "no sandbox" not in project.run("noop", out="other").err


def test_a_withheld_key_is_told_with_what_lets_it_in(project, monkeypatch):
    """Once; the agent does not have it, and the record names it."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-real-key-0000")
    monkeypatch.setenv("GITHUB_TOKEN", "not a real token")
    project.test("a")
    project.write(
        "agent.py", "import os\ndef main(text): return [os.environ.get('OPENAI_API_KEY'), os.environ['HOME']]"
    )
    said = project.run()
    facts = json.loads((project.root / "group/a/run.json").read_text())

    assert "withheld: OPENAI_API_KEY; --pass-env OPENAI_API_KEY lets it in\n" in said.err
    assert facts["output"][0] is None
    assert {"OPENAI_API_KEY", "GITHUB_TOKEN"} <= set(facts["isolation"]["withheld"])
    assert "home" not in facts["isolation"]  # private, as it is when nothing else is said


def test_a_key_that_is_passed_reaches_the_agent_and_no_record(project, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-real-key-0000")
    project.test("a")
    project.write("agent.py", "import os\ndef main(text): return os.environ['OPENAI_API_KEY']")
    said = project.run("agent.py", "--pass-env", "OPENAI_API_KEY")
    facts = json.loads((project.root / "group/a/run.json").read_text())

    assert "withheld" not in said.err
    assert "[redacted OPENAI_API_KEY]" == facts["output"]
    assert ["OPENAI_API_KEY"] == facts["isolation"]["passed"]
    shown = project("show", "group/a").out
    assert "passed     OPENAI_API_KEY\n" in shown


def test_the_suite_names_what_its_tests_need(project, monkeypatch):
    """`pass_env` of a suite, and of the settings."""
    monkeypatch.setenv("SERVICE_TOKEN", "one")
    monkeypatch.setenv("OTHER_TOKEN", "two")
    project.test("a")
    project.write("suite/suite.json", {"pass_env": ["SERVICE_TOKEN"]})
    project.write("proctor.toml", 'pass_env = ["OTHER_*"]')
    project.write(
        "agent.py", "import os\ndef main(text): return sorted(n for n in os.environ if n.endswith('_TOKEN'))"
    )
    project.run()

    assert ["OTHER_TOKEN", "SERVICE_TOKEN"] == json.loads((project.root / "group/a/run.json").read_text())[
        "output"
    ]


def test_a_suite_passes_no_patterns(project):
    """A suite of somebody else's must not open the whole environment."""
    project.test("a")
    project.write("suite/suite.json", {"pass_env": ["*"]})
    said = project.run()

    assert 1 == said.code
    assert "'*' is no name of a variable" in said.err.replace('"', "'")


def test_a_name_that_is_not_set_is_told(project):
    project.test("a")

    assert "to be passed, and not set: NOT_THERE" in project.run("agent.py", "--pass-env", "NOT_THERE").err


def test_keep_home_gives_the_operators_own(project, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    project.test("a")
    project.write("agent.py", "import os\ndef main(text): return os.environ['HOME']")
    project.run("agent.py", "--keep-home")
    facts = json.loads((project.root / "group/a/run.json").read_text())

    assert str(tmp_path) == facts["output"]
    assert "kept" == facts["isolation"]["home"]


def test_a_home_is_gone_with_its_trial(project, tmp_path):
    """It is no part of the record, and nothing of it stays in the place for workdirs."""
    project.test("a")
    work = project.root / "work"
    work.mkdir()
    project.write(
        "agent.py", "import os, pathlib\ndef main(text): (pathlib.Path.home() / 'notes').write_text('x')"
    )
    project.run("agent.py", "--work-root", work)

    assert [] == list(work.iterdir())
    assert not list((project.root / "group").rglob("notes"))


def test_the_sandbox_is_recorded_and_shown(project):
    programs()
    project.test("a")
    said = project.run("agent.py", "--sandbox", "bwrap", "--allow-host", "api.example.com")
    isolation = json.loads((project.root / "group/a/run.json").read_text())["isolation"]

    assert "sandbox: bwrap, network: api.example.com\n" in said.err
    assert ("bwrap", "proxy", ["api.example.com"]) == (
        isolation["sandbox"],
        isolation["network"],
        isolation["hosts"],
    )
    assert "sandbox    bwrap, network proxy: api.example.com" in project("show", "group/a").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--network", "none"], "--network none needs a sandbox"),
        (["--allow-host", "a.example"], "--allow-host needs a sandbox"),
        (["--bind-ro", "."], "--bind-ro needs a sandbox"),
        (["--sandbox", "bwrap", "--keep-home"], "the sandbox never shows your home"),
        (
            ["--sandbox", "bwrap", "--network", "host", "--allow-host", "a.example"],
            "--allow-host belongs to --network proxy",
        ),
        (["--sandbox", "bwrap", "--allow-host", "http://a.example"], "is no host"),
        (["--sandbox", "bwrap", "--bind-ro", "nowhere"], "nothing to be shown"),
        (["--pass-env", "A=b"], "no name of a variable"),
        (["--max-memory", "much"], "a size such as 512M or 2G is wanted"),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything_runs(project, words, said):
    project.test("a")
    got = project.run("agent.py", *words)

    assert 1 == got.code
    assert said in got.err
    assert not (project.root / "group").exists()


def test_settings_ask_for_the_sandbox_and_for_limits(project):
    """And a setting that is none of its kinds is told with its line."""
    programs()
    project.test("a")
    project.write(
        "proctor.toml", 'sandbox = "bwrap"\nnetwork = "none"\nmax_memory = "512M"\nmax_cpu_time = 20\n'
    )
    project.run()
    facts = json.loads((project.root / "group/a/run.json").read_text())
    project.write("proctor.toml", 'sandbox = "docker"\n')
    refused = project.run(out="other")

    assert ("bwrap", "none") == (facts["isolation"]["sandbox"], facts["isolation"]["network"])
    assert (512 << 20, 20) == (facts["limits"]["memory_bytes"], facts["limits"]["cpu_s"])
    assert "proctor.toml:1  sandbox is 'docker'" in refused.err


def test_an_agent_in_the_suites_own_folder_runs_and_sees_nothing_beside_it(project):
    """Where the operator stands in the suite itself, the agent's file is shown and the rest is not."""
    programs()
    project.test("a")
    (project.root / "suite/agent.py").write_text(
        "import os\ndef main(text): return sorted(os.listdir(os.path.dirname(__file__)))"
    )
    os.chdir(project.root / "suite")
    project("run", "agent.py", "--suite", ".", "--out", str(project.root / "group"), "--sandbox", "bwrap")

    facts = json.loads((project.root / "group/a/run.json").read_text())
    assert {"agent.py"} == {*facts["output"]} - {"__pycache__"}, facts


def test_nothing_is_left_of_the_sandbox(project):
    """No folder in the temporary space, no process, no mount."""
    programs()
    project.test("a")
    work = project.root / "work"
    work.mkdir()
    before = Path("/proc/self/mountinfo").read_text()
    project.run("agent.py", "--sandbox", "bwrap", "--work-root", work)

    assert [] == list(work.iterdir())
    assert before == Path("/proc/self/mountinfo").read_text()
