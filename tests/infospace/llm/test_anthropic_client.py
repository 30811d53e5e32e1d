"""Anthropic's Messages, against an endpoint on loopback: the same replies and sentences as of other endpoints."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from chatting import Endpoint, Fail, Flood, Hang, Raw, Say

from infospace import BadResponse, Invalid, NotConfigured, RequestRejected, Unreachable
from infospace.llm.client import connect
from infospace.llm.model import Message, Reply, Request
from infospace.llm.settings import configured

FULL = Raw(
    b'{"type": "message", "content": [{"type": "text", "text": "x"}], "stop_reason": "model_context_window_exceeded"}'
)
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.fixture
def messages(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    """The endpoint, asked in the way of Messages."""
    monkeypatch.setenv("INFOSPACE_LLM_API", "anthropic")
    monkeypatch.setenv("INFOSPACE_LLM_URL", endpoint.url.removesuffix("/v1"))
    monkeypatch.setenv("INFOSPACE_LLM_KEY", "sk-ant-secret")
    return endpoint


def ask(text: str = "Hello?", pieces: list[str] | None = None, system: str = "", **wanted: Any) -> Reply:
    asked: list[Message] = [{"role": "system", "content": system}] if system else []
    asked.append({"role": "user", "content": text})
    return asyncio.run(connect().complete(Request(tuple(asked), **wanted), None if pieces is None else pieces.append))


def test_a_text_comes_with_the_tokens_that_were_counted(messages: Endpoint) -> None:
    messages.say(Say("Hi.", usage={"input_tokens": 7, "output_tokens": 2, "cache_read_input_tokens": 4}))
    assert ask(system="Be short.") == Reply("Hi.", 13)
    (request,) = messages.requests
    assert request["system"] == "Be short."
    assert request["messages"] == [{"role": "user", "content": "Hello?"}]
    assert request["max_tokens"] > 0
    assert messages.keys == ["Bearer sk-ant-secret"]


def test_all_that_the_system_says_stands_apart_from_the_turns(messages: Endpoint) -> None:
    said: list[Message] = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "Hello?"},
        {"role": "assistant", "content": "Hi."},
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "And you?"},
    ]
    asyncio.run(connect().complete(Request(tuple(said))))
    (request,) = messages.requests
    assert request["system"] == "Be short.\n\nBe kind."
    assert request["messages"] == [said[1], said[2], said[4]]


def test_a_schema_is_asked_for_as_the_format_of_the_output(messages: Endpoint) -> None:
    messages.say('{"n": 1}')
    assert ask(schema=SCHEMA).text == '{"n": 1}'
    assert messages.requests[0]["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}}


def test_where_that_is_not_known_a_tool_is_forced_and_then_words_alone(messages: Endpoint) -> None:
    """And what was found is not tried again."""
    messages.say(Fail(400, "output_config: extra inputs are not permitted"), '{"n": 2}', '{"n": 3}')
    assert json.loads(ask(schema=SCHEMA).text) == {"n": 2}
    assert messages.requests[1]["tool_choice"] == {"type": "tool", "name": "answer"}
    assert json.loads(ask(schema=SCHEMA).text) == {"n": 3}
    assert len(messages.requests) == 3
    messages.say(Fail(400, "tools are not supported"), '{"n": 4}')
    assert ask(schema=SCHEMA).text == '{"n": 4}'
    assert "tools" not in messages.requests[-1]


def test_a_model_that_allows_fewer_tokens_is_asked_for_so_many(messages: Endpoint) -> None:
    messages.say(Fail(400, "max_tokens: 16384 > 4096, which is the maximum allowed"), "Hi.")
    assert ask().text == "Hi."
    assert messages.requests[-1]["max_tokens"] == 4096


def test_a_limit_that_was_asked_for_is_not_changed(messages: Endpoint) -> None:
    messages.say(Fail(400, "max_tokens: 5000 > 4096, which is the maximum allowed"))
    with pytest.raises(RequestRejected, match="5000 > 4096"):
        ask(max_tokens=5_000)
    assert len(messages.requests) == 1


@pytest.mark.parametrize("forced", [False, True])
def test_a_streamed_answer_comes_in_pieces_and_adds_up(messages: Endpoint, forced: bool) -> None:
    text = json.dumps({"n": 1, "why": "x" * 100})
    if forced:
        messages.say(Fail(400, "output_config is not known"))
    messages.say(Say(text, usage={"input_tokens": 3, "output_tokens": 5}))
    pieces: list[str] = []
    reply = ask(pieces=pieces, schema=SCHEMA)
    assert json.loads(reply.text) == json.loads(text)
    assert "".join(pieces) == text
    assert len(pieces) > 3
    assert reply.tokens == 8


def test_an_endpoint_without_streams_answers_whole(messages: Endpoint) -> None:
    messages.no_streams = True
    messages.say("Hi.")
    pieces: list[str] = []
    assert ask(pieces=pieces).text == "Hi."
    assert pieces == ["Hi."]


def test_a_stream_that_is_cut_off_is_no_answer(messages: Endpoint) -> None:
    messages.cuts_after = 4
    messages.say("a long answer in pieces " * 20)
    with pytest.raises((BadResponse, Unreachable), match="broke off"):
        ask(pieces=[])


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (Say("x", finish="length"), BadResponse, "cut off at what the model allows"),
        (FULL, BadResponse, "cut off at what the model allows"),
        (Say("x", refusal="no"), BadResponse, "the model refused"),
        (Say(""), BadResponse, "answered with nothing"),
        (Fail(401, "bad sk-ant-secret"), RequestRejected, r"does not take the key \(401\)"),
        (Fail(404, "no such model"), RequestRejected, "no such model or path"),
        (Fail(429, "slow down"), Unreachable, r"takes no more requests now \(429\)"),
        (Fail(529, "overloaded"), Unreachable, "failed with 529"),
        (Raw(b"<html>"), BadResponse, "not JSON"),
        (Raw(b"{}"), BadResponse, "without any content"),
        (Flood(100 * 2**20), BadResponse, "more than 64 MB"),
    ],
)
def test_whatever_goes_wrong_is_one_sentence(messages: Endpoint, answer: Any, error: type, message: str) -> None:
    messages.say(*[answer] * 3)
    with pytest.raises(error, match=message) as caught:
        ask()
    assert "sk-ant-secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_endpoint_that_hangs_is_given_up(messages: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFOSPACE_LLM_TIMEOUT", "0.2")
    monkeypatch.setenv("INFOSPACE_LLM_RETRIES", "0")
    messages.say(Hang(), Hang())
    with pytest.raises(Unreachable, match=r"did not answer within 0\.2 seconds"):
        ask()
    with pytest.raises(Unreachable, match=r"did not answer within 0\.2 seconds"):
        ask(pieces=[])


@pytest.mark.parametrize(
    ("given", "api", "url"),
    [
        ({"MODEL": "claude-x"}, "anthropic", "https://api.anthropic.com"),
        ({"MODEL": "gpt-x"}, "openai", "https://api.openai.com/v1"),
        ({"MODEL": "gpt-x", "URL": "https://eu.api.anthropic.com"}, "anthropic", "https://eu.api.anthropic.com"),
        ({"MODEL": "claude-x", "URL": "http://localhost:1/v1"}, "openai", "http://localhost:1/v1"),
        ({"MODEL": "x", "API": "anthropic", "URL": "http://localhost:1"}, "anthropic", "http://localhost:1"),
    ],
)
def test_what_an_endpoint_speaks_is_told_by_its_url_or_the_models_name(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], api: str, url: str
) -> None:
    """A vendor's key goes to its own endpoint alone."""
    for name in ("MODEL", "URL", "API", "KEY"):
        monkeypatch.delenv(f"INFOSPACE_LLM_{name}", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "openai's")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "anthropic's")
    for name, value in given.items():
        monkeypatch.setenv(f"INFOSPACE_LLM_{name}", value)
    settings = configured()
    assert (settings.api, settings.url) == (api, url)
    assert settings.key == ("none" if "URL" in given else f"{api}'s")


def test_an_unknown_api_and_a_missing_model_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MODEL", "URL", "KEY", "API"):
        monkeypatch.delenv(f"INFOSPACE_LLM_{name}", raising=False)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("INFOSPACE_LLM_API", "cohere")
    with pytest.raises(Invalid, match="INFOSPACE_LLM_API is 'cohere'"):
        configured()
    monkeypatch.setenv("INFOSPACE_LLM_API", "anthropic")
    with pytest.raises(NotConfigured, match=r"INFOSPACE_LLM_MODEL and INFOSPACE_LLM_URL \(or ANTHROPIC_API_KEY\)"):
        configured()
