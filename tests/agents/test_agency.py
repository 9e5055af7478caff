"""`.agency` files, with a stand-in for the tool that compiles them and a real Node.js."""

from __future__ import annotations

import json
import shutil
import threading
from dataclasses import replace

import pytest

from proctor.agents.agency import AgencyAgent
from proctor.errors import AgentError
from proctor.host.cancel import Cancel
from proctor.ports import Surroundings
from proctor.records.run import Ending, Limits
from proctor.records.suite import Test
from tests.agents.agency_tool import AGENT, install_agency
from tests.agents.conftest import HERE
from tests.agents.endpoints import saying, serving

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="compiled modules run in Node.js")

NODES = """
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { greeting } from "./lib/words.js";

export async function main(given) { return { data: `${greeting} ${given}`, messages: {} }; }
export const __mainNodeParams = ["given"];
export async function alone() { return { data: [1, { a: null }] }; }
export const __aloneNodeParams = [];
export async function two(one, other) { return { data: one }; }
export const __twoNodeParams = ["one", "other"];
export async function bare(given) { return given; }
export async function succeeds() { return { data: { __type: "resultType", success: true, value: 7 } }; }
export async function fails() { return { data: { __type: "resultType", success: false, error: "no luck" } }; }
export async function nan() { return { data: { score: NaN } }; }
export async function leaves() { process.exit(5); }
export async function killed() { process.kill(process.pid, "SIGKILL"); }
export async function where() {
  writeFileSync("left-behind", "x");
  return { data: [process.cwd(), process.env.PROCTOR_WORKDIR] };
}
export async function remembers() {
  const file = new URL("memory", import.meta.url);
  appendFileSync(file, "x");
  return { data: readFileSync(file, "utf8") };
}
export async function asks() { return { data: [{ type: "interrupt", left: 2 }, { type: "interrupt", left: 2 }] }; }
export function hasInterrupts(data) { return Array.isArray(data) && data[0]?.type === "interrupt"; }
export async function respondToInterrupts(interrupts, responses) {
  const left = interrupts[0].left - 1;
  return { data: left > 0 ? [{ type: "interrupt", left }] : responses.map((one) => one.type) };
}
export async function tells() {
  const { log } = JSON.parse(process.env.AGENCY_CONFIG_OVERRIDES);
  const line = (span_id, data) => appendFileSync(log.logFile, JSON.stringify({ trace_id: "t", span_id, data }) + "\\n");
  const timestamp = "2026-03-01T00:00:02.000Z";
  line("p", { type: "promptCompletion", model: "m-1", usage: { inputTokens: 5, outputTokens: 2 },
    cost: { totalCost: 0.5 }, timeTaken: 1500, timestamp });
  line("s", { type: "toolCallStart", toolName: "search", args: { q: "rain" }, timestamp });
  line("s", { type: "toolCall", toolName: "search", output: "wet", timeTaken: 10, timestamp });
  return { data: "told" };
}
"""


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    (folder / "lib").mkdir(parents=True)
    (folder / "agent.agency").write_text(NODES)
    (folder / "lib" / "words.js").write_text('export { greeting } from "./more.js";')
    (folder / "lib" / "more.js").write_text('export const greeting = "hello";')
    (folder / "secret.txt").write_text("nobody imports this")
    install_agency(folder)
    return folder


@pytest.fixture
def agent(project):
    return lambda node="main", **more: AgencyAgent(
        f"agent.agency:{node}", launch_dir=project, command=more.get("command", "./agency-tool")
    )


@pytest.mark.parametrize(
    ("node", "given", "output"),
    [
        ("main", {"input": "you"}, "hello you"),
        ("alone", {}, [1, {"a": None}]),
        ("bare", {"input": {"b": "ü"}}, {"b": "ü"}),
        ("succeeds", {}, 7),
    ],
)
def test_output_is_what_the_node_returns(agent, attempt, node, given, output):
    """Its data, the value of a result; text as text and anything else as JSON."""
    ended = attempt(agent(node), Test(id="t", **given))

    assert (Ending.OK, output) == (ended.ending, ended.output)


@pytest.mark.parametrize(
    ("node", "ending", "kind", "says"),
    [
        ("fails", Ending.ERROR, "failure", "no luck"),
        ("nan", Ending.ERROR, "not-json", "NaN"),
        ("leaves", Ending.ERROR, "no-return", "exit code 5"),
        ("killed", Ending.KILLED, "killed", "SIGKILL"),
    ],
)
def test_what_goes_wrong_in_a_node_is_told(agent, attempt, node, ending, kind, says):
    """A failed result, what is no JSON, a process that ends."""
    ended = attempt(agent(node), Test(id="t"))

    assert (ending, kind) == (ended.ending, ended.defect.type)
    assert says in ended.defect.message


def test_node_stands_in_the_workdir(agent, attempt, place_for):
    """What it writes is left there."""
    test = Test(id="t")
    place = place_for(test)
    ended = attempt(agent("where"), test, place=place)

    assert [str(place.workdir)] * 2 == ended.output
    assert ["left-behind"] == [path.name for path in place.workdir.iterdir()]


def test_approval_is_given_where_it_is_asked_for(agent, attempt):
    """Nobody is there to ask; each interrupt is approved until the node returns."""
    assert ["approve"] == attempt(agent("asks"), Test(id="t")).output


def test_nothing_is_written_beside_the_users_files_or_read_by_another_trial(agent, project, place_for):
    """Compiled and called in copies: a node that writes beside its own code begins anew each time."""
    before = sorted(path.name for path in project.rglob("*"))
    one = agent("remembers")
    test = Test(id="t")

    one.prepare([test], HERE)
    outputs = [one.attempt(test, place_for(test), Limits(timeout_s=20), Cancel()).output for _ in range(2)]
    one.close()

    assert ["x", "x"] == outputs
    assert before == sorted(path.name for path in project.rglob("*"))


def test_calls_of_the_statelog_reach_the_trace(agent, attempt, place_for):
    """Model calls and tool calls are told to the trial's trace endpoint, with its token, in its trace."""
    test = Test(id="t")
    place = place_for(test)
    with serving(saying({})) as server:
        told = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": server.url,
            "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20abc",
            "TRACEPARENT": f"00-{'a' * 32}-{'b' * 16}-01",
        }
        ended = attempt(agent("tells"), test, place=replace(place, environment={**place.environment, **told}))
    ((path, headers, document),) = server.asked
    ((resource),) = document["resourceSpans"]
    spans = resource["scopeSpans"][0]["spans"]
    said = [
        {pair["key"]: next(iter(pair["value"].values())) for pair in span["attributes"]} for span in spans
    ]

    assert ("told", "/v1/traces", "Bearer abc") == (ended.output, path, headers["authorization"])
    assert {("a" * 32, "b" * 16)} == {(span["traceId"], span["parentSpanId"]) for span in spans}
    assert ("m-1", "5", "2", 0.5) == tuple(
        said[0][f"gen_ai.{name}"]
        for name in ("request.model", "usage.input_tokens", "usage.output_tokens", "usage.cost")
    )
    assert 1_500_000_000 == int(spans[0]["endTimeUnixNano"]) - int(spans[0]["startTimeUnixNano"])
    assert ("search", {"q": "rain"}, "wet") == (
        said[1]["gen_ai.tool.name"],
        json.loads(said[1]["gen_ai.tool.call.arguments"]),
        said[1]["gen_ai.tool.call.result"],
    )


def test_trace_endpoint_that_hangs_does_not_hold_the_trial(agent, attempt, place_for):
    """The result is written before the last calls are told, and telling them ends in a few seconds."""
    test = Test(id="t")
    place = place_for(test)
    release = threading.Event()
    with serving(lambda server, asked: (release.wait(60), (200, {}, b""))[1]) as server:
        environment = {**place.environment, "OTEL_EXPORTER_OTLP_ENDPOINT": server.url}
        ended = attempt(
            agent("tells"), test, place=replace(place, environment=environment), limits=Limits(timeout_s=60)
        )
        release.set()

    assert (Ending.OK, "told") == (ended.ending, ended.output)


# What is found before the run


def prepared(agent, *tests):

    try:
        agent.prepare(tests or [Test(id="t", input="x")], HERE)
    finally:
        agent.close()


def test_tool_that_is_named_wrongly_is_said(agent):
    """A quotation mark that is never closed."""
    with pytest.raises(AgentError, match="never closed"):
        prepared(agent(command="'npx agency"))


def test_tool_that_is_not_installed_is_said_with_how_to_get_it(agent):
    """And where its name can be set."""
    with pytest.raises(AgentError, match=r"(?s)no-such-tool.*npm install.*agency_cmd.*PROCTOR_AGENCY_CMD"):
        prepared(agent(command="no-such-tool"))


def test_node_js_that_is_not_installed_is_said(agent, tmp_path):
    """It is another program than the tool."""
    with pytest.raises(AgentError, match=r"Node\.js"):
        agent().prepare([Test(id="t", input="x")], Surroundings(environment={"PATH": str(tmp_path)}))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("syntax error", r"(?s)does not compile.*unexpected token"),
        ("writes nothing", r"(?s)wrote no agent.js.*compiled"),
        ('import { a } from "./missing.agency";', r"imports './missing.agency'"),
        ("throw new Error('at import');", r"Importing agent.agency failed: Error: at import"),
        ("export const = 1;", r"Importing agent.agency failed: SyntaxError"),
        ("process.exit(3);", r"exit code 3"),
        ("export const main = 1;", r"has no node 'main'"),
    ],
)
def test_file_that_cannot_be_called_is_found_before_the_run(agent, project, content, says):
    """It does not compile, imports what is not there, fails when it is imported, or has no such node."""
    (project / "agent.agency").write_text(content)
    with pytest.raises(AgentError, match=says):
        prepared(agent())


def test_node_that_is_nearly_right_is_offered(agent):
    """Did you mean."""
    with pytest.raises(AgentError, match="Did you mean 'alone'"):
        prepared(agent("alon"))


@pytest.mark.parametrize(
    ("node", "given"), [("alone", {"input": "x"}), ("main", {}), ("two", {"input": "x"})]
)
def test_tests_that_a_node_cannot_take_are_found_before_the_run(agent, node, given):
    """A node takes the input, or nothing where there is none."""
    with pytest.raises(AgentError, match="test 'odd'"):
        prepared(agent(node), Test(id="odd", **given))


def test_identity_goes_by_all_that_is_imported(agent, project):
    """A change in what is imported makes another agent; other files do not, nor the folder."""
    before = agent().identity
    (project / "secret.txt").write_text("changed")

    assert before == agent().identity
    assert ("agency", "agent.agency:main") == (before.kind, before.label)
    (project / "lib" / "more.js").write_text('export const greeting = "hi";')
    assert before.digest != agent().identity.digest


def test_modules_of_the_project_are_found(project, attempt):
    """What npm installed beside the project is there for the compiled module."""
    package = project / "node_modules" / "words"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"name": "words", "type": "module", "exports": "./index.js"}')
    (package / "index.js").write_text('export const word = "found";')
    (project / "agent.agency").write_text(
        AGENT + 'import { word } from "words";\nexport const main = () => word;'
    )
    agent = AgencyAgent("agent.agency", launch_dir=project, command="./agency-tool")

    assert "found" == attempt(agent, Test(id="t")).output
