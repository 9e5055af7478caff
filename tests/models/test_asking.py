"""Asking models over a real connection, from a server whose answers are scripted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from proctor.errors import ModelError
from proctor.models import Message, Question, Reply, open_model
from proctor.models.patience import Patience
from tests.judging import scripted_server as scripted
from tests.judging.scripted_server import Asked, Play, ScriptedServer

KEY = "sk-test-0123456789abcdef"
SCHEMA = {
    "type": "object",
    "properties": {"reasoning": {"type": "string", "maxLength": 80}, "score": {"type": "number"}},
    "required": ["reasoning", "score"],
    "additionalProperties": False,
}


def question(text: str = "Is it so?", **more: Any) -> Question:
    return Question(messages=(Message("system", "Be strict."), Message("user", text)), **more)


class Waits:
    """Keeps what was waited for, and does not wait."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    @property
    def patience(self) -> Patience:
        return Patience(sleep=self.seconds.append, draw=lambda: 0.5)


def ask(
    server: ScriptedServer,
    asked: Question | None = None,
    waits: Waits | None = None,
    provider: str = "openai",
) -> Reply:
    environment = {f"{provider.upper()}_BASE_URL": server.base_url, f"{provider.upper()}_API_KEY": KEY}
    model = open_model(f"{provider}/m", environment, patience=(waits or Waits()).patience)
    return model.ask(asked or question())


def failure(script: list[Play | str], **more: Any) -> ModelError:
    with ScriptedServer(script) as server, pytest.raises(ModelError) as caught:
        ask(server, **more)
    return caught.value


def test_a_question_arrives_as_it_was_asked() -> None:
    """Messages, settings, key; and the reply says what was used."""
    asked = question(temperature=0.0, seed=7, max_tokens=50, settings={"reasoning_effort": "low"})
    with ScriptedServer([scripted.answer("yes", tokens_in=11, tokens_out=2)]) as server:
        reply = ask(server, asked)

    sent = server.asked[0].body
    assert [("system", "Be strict."), ("user", "Is it so?")] == [
        (message["role"], message["content"]) for message in sent["messages"]
    ]
    assert (0.0, 7, 50, "low") == (
        sent["temperature"],
        sent["seed"],
        sent["max_completion_tokens"],
        sent["reasoning_effort"],
    )
    assert KEY == server.asked[0].key
    assert ("yes", "m", "openai", 11, 2) == (
        reply.text,
        reply.model,
        reply.provider,
        reply.tokens_in,
        reply.tokens_out,
    )
    assert 0 < reply.latency_s < 60
    assert not reply.is_refusal
    assert not reply.is_cut


def test_what_is_not_given_is_not_sent() -> None:
    with ScriptedServer(["yes"]) as server:
        ask(server)

    assert {"model", "messages"} == set(server.asked[0].body)


def test_a_schema_is_sent_without_the_keywords_that_the_provider_does_not_know() -> None:
    """OpenAI's constrained output refuses `maxLength`; a local grammar needs it."""
    with ScriptedServer(["{}", "{}"]) as server:
        ask(server, question(schema=SCHEMA))
        ask(server, question(schema=SCHEMA), provider="local")

    openai, local = (asked.schema for asked in server.asked)
    assert SCHEMA == local
    assert openai is not None
    assert {"type": "string"} == openai["properties"]["reasoning"]


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ("Unsupported value: 'temperature' does not support 0 with this model.", "temperature"),
        ("This response_format type is unavailable now", "response_format"),
        ("json_schema is not supported by this model", "response_format"),
        ("Unrecognized request argument supplied: seed", "seed"),
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens"),
    ],
)
def test_a_field_that_a_model_refuses_is_left_away_from_then_on(said: str, field: str) -> None:
    """It costs one refusal in the life of the process, and the answer is there all the same."""
    asked = question(schema=SCHEMA, temperature=0.0, seed=1, max_tokens=9)

    def play(request: Asked) -> Play | str:
        return scripted.failure(400, said) if field in request.body else "fine"

    with ScriptedServer(play) as server:
        environment = {"LOCAL_BASE_URL": server.base_url}
        model = open_model("local/m", environment)
        answers = [model.ask(asked).text for _ in range(3)]

    assert ["fine"] * 3 == answers
    assert [True, False, False, False] == [field in request.body for request in server.asked]


def test_a_request_that_is_bad_for_another_reason_is_not_asked_again() -> None:
    with ScriptedServer([scripted.failure(400, "context length exceeded")]) as server:
        with pytest.raises(ModelError) as caught:
            ask(server, question(temperature=0.0))

        assert "bad_request" == caught.value.kind
        assert 1 == len(server.asked)


@pytest.mark.parametrize(
    ("play", "is_refusal", "is_cut", "text"),
    [
        (scripted.refusal("I will not."), True, False, "I will not."),
        (scripted.filtered(), True, False, ""),
        (scripted.cut('{"reasoning": "it'), False, True, '{"reasoning": "it'),
    ],
)
def test_a_refusal_and_a_cut_are_told(play: Play, is_refusal: bool, is_cut: bool, text: str) -> None:
    with ScriptedServer([play]) as server:
        reply = ask(server)

    assert (is_refusal, is_cut, text) == (reply.is_refusal, reply.is_cut, reply.text)


def test_tokens_that_the_provider_does_not_count_are_unknown_and_not_0() -> None:
    with ScriptedServer([scripted.answer("yes", has_usage=False)]) as server:
        reply = ask(server)

    assert (None, None, None) == (reply.tokens_in, reply.tokens_out, reply.cost_usd)


@pytest.mark.parametrize(
    ("plays", "waits"),
    [
        # 1 s and 2 s, of which half is left to chance: with a draw of 0.5, three quarters.
        ([scripted.rate_limited(), scripted.rate_limited()], [0.75, 1.5]),
        ([scripted.failure(500), scripted.failure(529, "Overloaded")], [0.75, 1.5]),
        # 7 s as asked, and up to a second so that not all come back at once: 7 + 0.75 x 0.5.
        ([scripted.rate_limited("7")], [7.375]),
        ([scripted.failure(503, retry_after="2")], [2.375]),
        ([scripted.hang_up()], [0.75]),
        ([scripted.malformed()], [0.75]),
        ([scripted.answer("", raw=b'{"choices": []}')], [0.75]),
    ],
)
def test_what_passes_is_waited_out(plays: list[Play], waits: list[float]) -> None:
    """Rate limits, overload, a broken connection, half an answer."""
    waited = Waits()
    with ScriptedServer([*plays, "yes"]) as server:
        assert "yes" == ask(server, waits=waited).text

    assert waits == pytest.approx(waited.seconds)


@pytest.mark.parametrize(
    ("play", "kind"),
    [
        (scripted.failure(401, f"Incorrect API key provided: {KEY}"), "auth"),
        (scripted.failure(403), "auth"),
        (scripted.failure(402, "Insufficient credits"), "out_of_credit"),
        (scripted.out_of_credit(), "out_of_credit"),
        (scripted.failure(404, "The model `m` does not exist"), "not_found"),
        (scripted.failure(422, "cannot be processed"), "bad_request"),
        (scripted.rate_limited("3600"), "rate_limit"),
    ],
)
def test_what_does_not_pass_is_said_at_once(play: Play, kind: str) -> None:
    """Each with its kind and a remedy, without a key."""
    waited = Waits()
    error = failure([play], waits=waited)

    assert kind == error.kind
    assert [] == waited.seconds
    assert error.fix
    assert KEY not in str(error)


def test_patience_ends() -> None:
    waited = Waits()
    error = failure([scripted.failure(500)] * 6, waits=waited)

    assert "unavailable" == error.kind
    assert [0.75, 1.5, 3.0, 6.0, 12.0] == pytest.approx(waited.seconds)


def test_a_key_that_a_provider_repeats_in_its_message_is_not_shown() -> None:
    error = failure([scripted.failure(400, f"header with {KEY} is odd")])

    assert "header with *** is odd" in str(error)


def test_an_answer_that_does_not_come_is_a_timeout_and_is_not_waited_for_twice() -> None:
    with ScriptedServer([scripted.slow(30)]) as server:
        with pytest.raises(ModelError) as caught:
            ask(server, question(timeout_s=0.2))

        assert "timeout" == caught.value.kind
        assert 1 == len(server.asked)


def test_an_address_where_nobody_listens_is_said_with_the_address() -> None:
    with ScriptedServer([]) as server:
        base_url = server.base_url
    model = open_model("local/m", {"LOCAL_BASE_URL": base_url}, patience=Waits().patience)
    with pytest.raises(ModelError) as caught:
        model.ask(question())

    assert "unavailable" == caught.value.kind
    assert base_url in str(caught.value)


def test_a_provider_that_turns_questions_away_is_asked_fewer_at_once() -> None:
    """Forty threads ask a server that takes three at once: every one gets its answer."""
    lock, inside = threading.Lock(), 0
    refusals = 0

    def play(_: Asked) -> Play | str:
        nonlocal inside, refusals
        with lock:
            inside += 1
            too_many = inside > 3
            refusals += too_many
        threading.Event().wait(0.02)
        with lock:
            inside -= 1
        return scripted.rate_limited("0.05") if too_many else "yes"

    with ScriptedServer(play) as server:
        model = open_model(
            "local/m", {"LOCAL_BASE_URL": server.base_url}, patience=Patience(tries=30, first_wait_s=0.05)
        )
        with ThreadPoolExecutor(40) as pool:
            answers = list(pool.map(lambda _: model.ask(question()).text, range(40)))

    assert ["yes"] * 40 == answers
    assert refusals > 0
    assert server.most_at_once <= 10  # 8 at the start, one more for each round that went well


def test_models_of_one_server_share_its_client() -> None:
    with ScriptedServer(lambda asked: asked.model) as server:
        environment = {"LOCAL_BASE_URL": server.base_url}
        patience = Patience()
        opened = [
            open_model(name, environment, patience=patience) for name in ("local/a", "local:b", "local/a")
        ]
        names = [model.ask(question()).text for model in opened]

    assert ["a", "b", "a"] == names
    assert 1 == len({id(model._server) for model in opened})  # pyright: ignore


@pytest.mark.parametrize(
    ("name", "environment", "kind", "said"),
    [
        ("gpt-5", {}, "not_found", "PROVIDER/NAME"),
        ("opnai/gpt-5", {}, "not_found", "Did you mean 'openai'?"),
        ("vllm/qwen", {}, "not_found", "VLLM_BASE_URL"),
        ("openai/gpt-5", {}, "no_key", "OPENAI_API_KEY"),
        ("anthropic:claude-opus-4", {"ANTHROPIC_API_KEY": " "}, "no_key", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-3-flash", {}, "no_key", "GEMINI_API_KEY"),
    ],
)
def test_a_model_that_cannot_be_asked_says_what_to_set(
    name: str, environment: dict[str, str], kind: str, said: str
) -> None:
    with pytest.raises(ModelError) as caught:
        open_model(name, environment)

    assert kind == caught.value.kind
    assert said in str(caught.value)


@pytest.mark.parametrize("provider", ["openai", "google", "mistral", "groq", "openrouter", "ollama", "vllm"])
def test_every_provider_is_asked_where_its_variable_says(provider: str) -> None:
    """And with its key, where it has one."""
    with ScriptedServer(["yes"]) as server:
        assert "yes" == ask(server, provider=provider).text

    assert server.asked[0].path.startswith("/v1/chat/completions")


@pytest.mark.parametrize(
    "of", [lambda server: server.origin, lambda server: server.origin.removeprefix("http://")]
)
def test_ollama_is_found_by_its_own_variable(of: Callable[[ScriptedServer], str]) -> None:
    """OLLAMA_HOST is a host and a port, or a URL, without the path of the OpenAI-compatible side."""
    with ScriptedServer(["yes"]) as server:
        model = open_model("ollama/llama3:8b", {"OLLAMA_HOST": of(server)})
        assert "yes" == model.ask(question()).text

    assert "llama3:8b" == server.asked[0].model
