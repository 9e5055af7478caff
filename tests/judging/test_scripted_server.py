"""The scripted model server speaks the protocol, so that tests against it prove something about real clients."""

from __future__ import annotations

import http.client
import json
import threading
from contextlib import closing
from typing import Any

import pytest

from tests.judging import scripted_server as scripted
from tests.judging.scripted_server import ScriptedServer

SCHEMA = {"type": "object", "properties": {"score": {"type": "number"}}}


def ask(server: ScriptedServer, **body: Any) -> tuple[int, dict[str, str], Any]:
    host, port = server.origin.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=30)
    sent = {"model": "m", "messages": [{"role": "user", "content": "Is it so?"}], **body}
    connection.request("POST", "/v1/chat/completions", json.dumps(sent), {"Authorization": "Bearer sesame"})
    with closing(connection), connection.getresponse() as response:
        headers = {name.lower(): value for name, value in response.getheaders()}
        received = response.read()
    return response.status, headers, received


def message_of(received: bytes) -> dict[str, Any]:
    return json.loads(received)["choices"][0]["message"]


def test_plays_are_given_in_order_and_what_was_asked_is_kept() -> None:
    with ScriptedServer(["one", scripted.answer("two", tokens_in=7, tokens_out=3)]) as server:
        first, second, third = ask(server), ask(server), ask(server)

    assert "one" == message_of(first[2])["content"]
    assert "two" == message_of(second[2])["content"]
    assert {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10} == json.loads(second[2])["usage"]
    assert 400 == third[0]
    assert ["Is it so?"] * 3 == [asked.prompt for asked in server.asked]
    assert "sesame" == server.asked[0].key


def test_a_function_answers_according_to_what_is_asked() -> None:
    with ScriptedServer(lambda asked: asked.prompt.upper()) as server:
        assert "IS IT SO?" == message_of(ask(server)[2])["content"]


def test_an_insisting_client_gets_the_answer_as_a_call_of_its_tool() -> None:
    tools = [{"type": "function", "function": {"name": "verdict", "parameters": SCHEMA}}]
    with ScriptedServer(['{"score": 1}']) as server:
        message = message_of(ask(server, tools=tools, tool_choice="required")[2])

    assert None is message["content"]
    assert {"name": "verdict", "arguments": '{"score": 1}'} == message["tool_calls"][0]["function"]
    assert SCHEMA == server.asked[0].schema


def test_a_schema_in_the_response_format_is_seen() -> None:
    response_format = {"type": "json_schema", "json_schema": {"name": "v", "schema": SCHEMA}}
    with ScriptedServer(["{}"]) as server:
        ask(server, response_format=response_format)

    assert SCHEMA == server.asked[0].schema


def test_faults_of_a_provider_look_like_a_providers() -> None:
    plays = [
        scripted.rate_limited("2"), scripted.out_of_credit(), scripted.failure(500), scripted.refusal("No."),
        scripted.filtered(), scripted.cut('{"sco'), scripted.malformed(),
    ]  # fmt: skip
    with ScriptedServer(plays) as server:
        limited, broke, broken, refused, filtered, cut, malformed = (ask(server) for _ in plays)

    assert (429, "2") == (limited[0], limited[1]["retry-after"])
    assert "insufficient_quota" == json.loads(broke[2])["error"]["code"]
    assert 500 == broken[0]
    assert (None, "No.") == (message_of(refused[2])["content"], message_of(refused[2])["refusal"])
    assert "content_filter" == json.loads(filtered[2])["choices"][0]["finish_reason"]
    assert "length" == json.loads(cut[2])["choices"][0]["finish_reason"]
    with pytest.raises(ValueError):
        json.loads(malformed[2])


def test_a_connection_can_break_in_the_middle() -> None:
    with ScriptedServer([scripted.hang_up()]) as server, pytest.raises(http.client.IncompleteRead):
        ask(server)


def test_slow_answers_run_side_by_side_and_do_not_hold_up_the_end() -> None:
    with ScriptedServer(lambda _: scripted.slow(60)) as server:
        threads = [threading.Thread(target=ask, args=(server,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        while len(server.asked) < 3:
            threading.Event().wait(0.01)
    for thread in threads:
        thread.join(20)

    assert not any(thread.is_alive() for thread in threads)
    assert 3 == server.most_at_once
