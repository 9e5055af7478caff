"""Each kind of agent from end to end, as a user types it."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.agents.agency_tool import AGENT, install_agency
from tests.agents.endpoints import behaving, chatting, completion, saying, serving
from tests.conftest import Project

GRADERS = "from proctor import ExactMatch\ngraders = ExactMatch()"


def birthday(project: Project) -> None:
    project.test("birthday", GRADERS, input="when?", expected="when?")


def facts(project: Project, run: str = "group/birthday"):
    return json.loads((project.root / run / "run.json").read_text())


def test_http_endpoint_is_run_graded_and_recorded_without_its_secrets(project: Project) -> None:
    """Options, whole output, exit code; the URL's secrets are nowhere in the group."""
    birthday(project)
    with serving(behaving) as server:
        url = f"{server.url.replace('//', '//me:password-1@')}/echo?token=hidden-query-1"
        said = project.run(url, "--header", "X-Tenant: 7", "--grade")

    shown = f"{server.url}/echo?token=..."
    assert 0 == said.code, said
    assert f"{shown} on suite: 1 trial, 1 at once\n" == said.err
    assert "birthday  1.000  pass" in said.out
    assert ("http", shown) == (facts(project)["agent"]["kind"], facts(project)["agent"]["label"])
    written = b"".join(
        path.read_bytes() for path in project.root.rglob("*") if path.is_file() and "group" in str(path)
    )
    assert b"password-1" not in written
    assert b"hidden-query-1" not in written


def test_endpoint_that_is_not_there_is_found_before_anything_is_written(project: Project) -> None:
    """Exit code 1, one sentence, and no group."""
    birthday(project)
    with serving(behaving) as server:
        gone = server.url
    said = project.run(gone)

    assert 1 == said.code
    assert "cannot be reached" in said.err
    assert "Start the endpoint" in said.err
    assert not (project.root / "group").exists()


def test_endpoint_that_has_too_many_requests_is_no_failure_of_the_agent(project: Project) -> None:
    """Exit code 3; `--resume` runs the trial again."""
    birthday(project)
    answers = [(429, {"Retry-After": "1"}, b"slow down"), (200, {"Content-Type": "text/plain"}, b"when?")]
    with serving(lambda server, asked: answers[min(len(server.asked), 2) - 1]) as server:
        first = project.run(server.url)
        second = project.run(server.url, "--resume", "--grade")

    assert (3, 0) == (first.code, second.code), (first, second)
    assert "harness-failure (provider: rate_limit)" in first.out
    assert "It has had too many requests (429 Too Many Requests). It said: slow down" in first.out
    assert "mean 1.000" in second.out


def test_chat_endpoint_leaves_a_trace_that_proctor_saw_itself(project: Project) -> None:
    """Prompt, parameters, answer; and the call with its tokens is in the run's trace."""
    birthday(project)
    project.write("system.md", "Answer with the question.")
    with serving(chatting) as server:
        url = f"{server.url}/v1/chat/completions"
        said = project.run(
            url, "--model", "echo", "--system", "system.md", "--param", "temperature=0", "--grade"
        )

    assert 0 == said.code, said
    assert "mean 1.000" in said.out
    (asked,) = (body for _, _, body in server.asked)
    assert (0, "Answer with the question.") == (asked["temperature"], asked["messages"][0]["content"])
    trace = (project.root / "group/birthday/trace.jsonl").read_text()
    assert "echo-2026" in trace
    assert "gen_ai.usage.input_tokens" in trace


def test_bare_model_is_asked_where_the_environment_says(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`model:PROVIDER/NAME`; a key that is not set is said before anything is written."""
    birthday(project)
    with serving(saying(completion("when?"))) as server:
        monkeypatch.setenv("LOCAL_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("LOCAL_API_KEY", "key-of-mine-123")
        said = project.run("model:local/small", "--grade")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    unset = project.run("model:openai/gpt-5-mini", out="other")

    assert (0, 1) == (said.code, unset.code), (said, unset)
    assert "mean 1.000" in said.out
    assert "OPENAI_API_KEY" in unset.err
    assert not (project.root / "other").exists()


@pytest.mark.skipif(shutil.which("node") is None, reason="compiled Agency modules run in Node.js")
def test_agency_file_is_compiled_by_the_tool_that_is_configured(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The setting names it, the variable comes before; without either it is `agency`, which is not installed here."""
    birthday(project)
    tool = install_agency(project.root)
    project.write("agent.agency", AGENT)
    missing = project.run("agent.agency:echo", out="missing")
    project.write("proctor.toml", 'agency_cmd = "./agency-tool"\n')
    said = project.run("agent.agency:echo", "--grade")
    monkeypatch.setenv("PROCTOR_AGENCY_CMD", "./no-such-tool")
    wrong = project.run("agent.agency:echo", out="wrong")
    monkeypatch.setenv("PROCTOR_AGENCY_CMD", f"'{tool}'")

    assert (1, 0, 1, 0) == (
        missing.code,
        said.code,
        wrong.code,
        project.run("agent.agency:echo", out="again").code,
    )
    assert "npm install -g agency-lang" in missing.err
    assert "mean 1.000" in said.out
    assert "no './no-such-tool'" in wrong.err


def test_fresh_interpreters_are_said_once_of_all_trials(project: Project) -> None:
    """Not once a trial, and in no record of a trial."""
    birthday(project)
    project.write(
        "threads.py",
        """
        import threading, time
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        def main(given):
            return given
        """,
    )
    said = project.run("threads.py", "--trials", 3)
    asked = project.run("threads.py", "--fresh", out="asked")

    assert (0, 1, 0) == (said.code, said.err.count("fresh interpreter"), asked.err.count("fresh interpreter"))
    assert "notes" not in facts(project, "group/birthday--1")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("agent.py", "--header", "A: b"), "--header belongs to an HTTP endpoint"),
        (("agent.py", "--stdin"), "--stdin belongs to a command"),
        (("noop", "--fresh"), "--fresh belongs to a Python function"),
        (("http://127.0.0.1:1/", "--model", "m"), "--model belongs to a chat endpoint"),
        (("soluton",), "Did you mean 'solution'"),
        (("file:///etc/passwd",), "http://HOST"),
    ],
)
def test_what_does_not_go_together_is_said(project: Project, words: tuple[str, ...], says: str) -> None:
    """Exit code 1, and a sentence that says whose option it is."""
    birthday(project)
    said = project.run(*words)

    assert 1 == said.code
    assert says in said.err


TELLS = """
import { appendFileSync } from "node:fs";
import { word } from "words";
export async function main(given) {
  const { log } = JSON.parse(process.env.AGENCY_CONFIG_OVERRIDES);
  const data = { type: "promptCompletion", model: "m-1", usage: { inputTokens: 5, outputTokens: 2 },
    cost: { totalCost: 0.5 }, timeTaken: 10, timestamp: new Date().toISOString() };
  appendFileSync(log.logFile, JSON.stringify({ trace_id: "t", span_id: "s", data }) + "\\n");
  return { data: word };
}
"""
CONFINED = pytest.param(
    ("--sandbox", "bwrap"), marks=pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
)


@pytest.mark.skipif(shutil.which("node") is None, reason="compiled Agency modules run in Node.js")
@pytest.mark.parametrize("words", [(), CONFINED])
def test_agency_file_finds_its_modules_and_tells_of_its_calls(
    project: Project, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """With a sandbox and without: what npm installed is seen, and what it says of itself is in the trace."""
    project.test("birthday", GRADERS, input="when?", expected="found")
    monkeypatch.setenv("PROCTOR_AGENCY_CMD", str(install_agency(project.root)))
    project.write("agent.agency", TELLS)
    project.write("node_modules/words/package.json", {"name": "words", "type": "module", "exports": "./a.js"})
    project.write("node_modules/words/a.js", 'export const word = "found";')
    said = project.run("agent.agency", "--grade", *words)

    assert 0 == said.code, said
    assert "mean 1.000" in said.out
    shown = project("show", "group/birthday").out
    assert "m-1" in shown
    assert "0.5" in shown


@pytest.mark.parametrize("words", [(), CONFINED])
def test_solutions_run_alike_in_a_sandbox(project: Project, words: tuple[str, ...]) -> None:
    """Their scripts are seen there, and the suite is not."""
    birthday(project)
    project.write("suite/birthday/solution.sh", 'cat "$PROCTOR_INPUT"; ls / >&2')
    said = project.run("solution", "--grade", *words)

    assert 0 == said.code, said
    assert "mean 1.000" in said.out


@pytest.mark.parametrize("words", [CONFINED])
def test_endpoint_is_not_held_by_a_sandbox_and_that_is_said(project: Project, words: tuple[str, ...]) -> None:
    """Once: nobody is to think that it was kept apart."""
    birthday(project)
    with serving(behaving) as server:
        said = project.run(f"{server.url}/echo", "--trials", 2, *words)

    assert 0 == said.code, said
    assert 1 == said.err.count("does not hold it")
