"""Chat endpoints and bare models, with a real server that speaks the protocol."""

from __future__ import annotations

import json

import pytest

from proctor.agents.chat import ChatDialect
from proctor.agents.http_agent import HttpAgent
from proctor.agents.model_agent import ModelAgent
from proctor.errors import AgentError, ModelError, UsageError
from proctor.host.cancel import Cancel
from proctor.ports import Surroundings
from proctor.records.run import Ending, Limits
from proctor.records.suite import Test
from tests.agents.endpoints import completion, saying, serving

TALK = [
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": "two"},
    {"role": "user", "content": "three"},
]


def chat(server, **options):
    url = f"{server.url}/v1/chat/completions"
    return HttpAgent(url, dialect=ChatDialect("127.0.0.1", **options))


def model(server, **options):
    environment = {"LOCAL_BASE_URL": f"{server.url}/v1", "LOCAL_API_KEY": "key-of-mine-1"}
    return ModelAgent("local/small", environment=environment, **options)


BOTH = pytest.mark.parametrize("kind", [lambda server, **more: chat(server, model="small", **more), model])


@pytest.fixture
def once(place_for):
    """One prepared trial: the attempt, and the spans of the trial's own trace."""

    def run(agent, given="hello", **more):
        test = Test(id="t", input=given, **more)
        place = place_for(test)
        agent.prepare([test], Surroundings(environment={}))
        attempt = agent.attempt(test, place, Limits(timeout_s=30), Cancel())
        lines = place.own_trace.read_text().splitlines() if place.own_trace.exists() else []
        return attempt, [attributes(json.loads(line)) for line in lines]

    return run


def attributes(document):
    (resource,) = document["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    (span,) = scope["spans"]
    found = {pair["key"]: next(iter(pair["value"].values())) for pair in span["attributes"]}
    return found | {"name": span["name"], "status": span.get("status", {}).get("message")}


# What is asked


@BOTH
def test_input_is_what_the_user_says(once, kind):
    """Text as it is, an object as compact JSON, after the system prompt; the parameters beside it."""
    with serving(saying(completion("a"))) as server:
        agent = kind(server, system="Be brief.", params={"temperature": 0, "max_tokens": 5, "top_p": 0.5})
        once(agent)
        once(agent, {"b": 1, "a": "ü"})
    (_, _, first), (_, _, second) = server.asked

    assert [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}] == first[
        "messages"
    ]
    assert '{"b":1,"a":"ü"}' == second["messages"][1]["content"]
    assert ("small", 0, 0.5) == (first["model"], first["temperature"], first["top_p"])
    assert 5 in (first.get("max_tokens"), first.get("max_completion_tokens"))
    assert not first.get("stream")


@BOTH
def test_list_of_messages_is_the_conversation(once, kind):
    """A list of roles and texts goes as it is; any other list is JSON that the user says."""
    with serving(saying(completion("a"))) as server:
        agent = kind(server, system="S")
        once(agent, TALK)
        once(agent, [{"role": "user"}])
    (_, _, first), (_, _, second) = server.asked

    assert [{"role": "system", "content": "S"}, *TALK] == first["messages"]
    assert '[{"role":"user"}]' == second["messages"][1]["content"]


def test_chat_without_a_model_names_none(once):
    """A server of one agent need not be told which."""
    with serving(saying(completion("a"))) as server:
        once(chat(server))

    assert {"messages"} == set(server.asked[0][2])


@BOTH
@pytest.mark.parametrize("more", [{}, {"input": ""}, {"input": TALK[:2]}])
def test_test_that_asks_nothing_is_found_before_the_run(kind, more):
    """No input, an empty one, and a conversation in which the user has not the last word."""
    with serving(saying(completion("a"))) as server, pytest.raises(AgentError, match="test 'empty'"):
        kind(server).prepare([Test(id="empty", **more)], Surroundings(environment={}))

    assert [] == server.asked


@BOTH
@pytest.mark.parametrize("name", ["messages", "stream", "model"])
def test_fields_that_are_ours_are_refused(kind, name):
    """They would make another request than the one that is recorded."""
    with serving(saying(completion("a"))) as server, pytest.raises(UsageError, match=name):
        kind(server, params={name: 1})


# What comes back, and what is recorded of it


@BOTH
def test_call_is_recorded_with_what_it_used(once, kind):
    """A span of the semantic conventions: who was asked what, what came, how many tokens."""
    with serving(saying(completion("the answer"))) as server:
        attempt, (span,) = once(kind(server))

    assert (Ending.OK, "the answer") == (attempt.ending, attempt.output)
    assert "chat small" == span["name"]
    assert ("chat", "small", "echo-2026") == (
        span["gen_ai.operation.name"],
        span["gen_ai.request.model"],
        span["gen_ai.response.model"],
    )
    assert ("7", "3") == (span["gen_ai.usage.input_tokens"], span["gen_ai.usage.output_tokens"])
    said = json.loads(span["gen_ai.output.messages"])
    assert [{"type": "text", "content": "the answer"}] == said[0]["parts"]
    assert [{"type": "text", "content": "hello"}] == json.loads(span["gen_ai.input.messages"])[0]["parts"]


def test_cost_and_cached_tokens_that_the_endpoint_tells_are_recorded(once):
    """What it says itself; without usage nothing is said, and never 0."""
    told = completion("a") | {
        "usage": {
            "prompt_tokens": 9,
            "completion_tokens": 1,
            "cost": 0.25,
            "prompt_tokens_details": {"cached_tokens": 4},
        }
    }
    bare = {"choices": [{"message": {"content": "a"}}]}
    with serving(saying(told)) as server:
        _, (rich,) = once(chat(server, model="m"))
    with serving(saying(bare)) as server:
        attempt, (poor,) = once(chat(server, model="m"))

    assert (0.25, "4") == (rich["gen_ai.usage.cost"], rich["gen_ai.usage.cache_read.input_tokens"])
    assert "a" == attempt.output
    assert [] == [name for name in poor if name.startswith("gen_ai.usage")]


@BOTH
def test_refusal_is_an_answer_and_a_cut_one_is_noted(once, kind):
    """What a model says when it will not is graded like anything else; one that was cut is as far as it got."""
    with serving(saying(completion(None, refusal="I will not."))) as server:
        refused, _ = once(kind(server))
    with serving(saying(completion("as far as", finish="length"))) as server:
        cut, _ = once(kind(server))

    assert (Ending.OK, "I will not.") == (refused.ending, refused.output)
    assert (Ending.OK, "as far as") == (cut.ending, cut.output)
    assert "end is missing" in cut.notes[0]


def test_parts_are_put_together_and_tool_calls_are_noted(once):
    """Content in parts is one text; a call of a tool that nobody runs is no output."""
    parts = completion([{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}])
    with serving(saying(parts)) as server:
        together, _ = once(chat(server))
    with serving(saying(completion(None, tool_calls=[{"id": "1"}]))) as server:
        called, _ = once(chat(server))

    assert "ab" == together.output
    assert (Ending.OK, None, 1) == (called.ending, called.output, len(called.notes))


@pytest.mark.parametrize("answer", [5, [], {"choices": []}, {"error": {"message": "no"}}, {"choices": [{}]}])
def test_what_is_no_completion_is_an_error_that_keeps_it(once, answer):
    """An endpoint that speaks something else at this path."""
    with serving(saying(answer)) as server:
        attempt, _ = once(chat(server))

    assert (Ending.ERROR, "not-chat") == (attempt.ending, attempt.defect.type)
    assert json.loads(attempt.output) == answer


# Whose fault


@BOTH
@pytest.mark.parametrize(
    ("status", "kinds"), [(401, {"auth"}), (402, {"out_of_credit"}), (404, {"not_found"})]
)
def test_provider_that_turns_us_away_is_nobodys_evidence(once, kind, status, kinds):
    """No credentials, no credit, no such model: a harness failure, and a failed call in the trace."""
    error = {"error": {"message": "go away", "type": "x", "code": None, "param": None}}
    with serving(saying(error, status)) as server:
        attempt, (span,) = once(kind(server))

    assert Ending.HARNESS_FAILURE is attempt.ending
    assert attempt.defect.type in kinds
    assert attempt.defect.type == span["error.type"]
    assert span["status"]


@BOTH
def test_request_that_the_provider_cannot_take_is_the_agents(once, kind):
    """Too long a prompt or a setting that the model does not know is part of what is under test."""
    error = {"error": {"message": "context too long", "type": "x", "code": None, "param": None}}
    with serving(saying(error, 400)) as server:
        attempt, _ = once(kind(server))

    assert Ending.ERROR is attempt.ending
    assert "context too long" in attempt.defect.message


def test_key_that_is_not_set_is_found_before_the_run():
    """And so is a provider that nobody knows."""
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        ModelAgent("openai/x", environment={}).prepare(
            [Test(id="t", input="x")], Surroundings(environment={})
        )
    with pytest.raises(ModelError, match="openai"):
        ModelAgent("opnai/x", environment={}).prepare([Test(id="t", input="x")], Surroundings(environment={}))


@pytest.mark.parametrize("params", [{"temperature": "hot"}, {"max_tokens": 1.5}, {"seed": True}])
def test_parameter_of_another_type_is_refused(params):
    """Before anything is asked."""
    with pytest.raises(UsageError, match=next(iter(params))):
        ModelAgent("openai/x", environment={}, params=params)


def test_identity_goes_by_model_prompt_and_parameters():
    """The label is the name; no key is in it."""
    digests = {
        ModelAgent("openai/x", environment={"OPENAI_API_KEY": "k"}, **more).identity.digest
        for more in ({}, {"system": "s"}, {"params": {"temperature": 0}}, {})
    }

    assert 3 == len(digests)
    assert ("model", "openai/x") == (
        ModelAgent("openai/x", environment={}).identity.kind,
        ModelAgent("openai/x", environment={}).identity.label,
    )


@BOTH
def test_call_that_was_not_answered_in_time_is_recorded_as_such(place_for, kind):
    """It may have cost something: a trace without it would say that nothing was asked."""
    test = Test(id="t", input="hello")
    place = place_for(test)
    with serving(lambda server, asked: (server.closing.wait(), (500, {}, b""))[1]) as server:
        agent = kind(server)
        agent.prepare([test], Surroundings(environment={}))
        attempt = agent.attempt(test, place, Limits(timeout_s=0.5), Cancel())
    span = attributes(json.loads(place.own_trace.read_text()))

    assert (Ending.TIMEOUT, "timeout") == (attempt.ending, span["error.type"])
