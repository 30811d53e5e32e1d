"""What endpoints do that is hard to take, for both protocols, whole and streamed, over real HTTP."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import httpx2
import pytest
from chatting import Endpoint, Fail, Hang, Raw, Say

from infospace import BadResponse, LanguageModelError, Unreachable
from infospace.llm.bounds import refuse_long_wait
from infospace.llm.client import connect
from infospace.llm.model import Reply, Request

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


LATE = "Fri, 01 Jan 2100 00:00:00 GMT"


@pytest.fixture(params=["openai", "anthropic"])
def api(request: pytest.FixtureRequest, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> str:
    """An endpoint that speaks a protocol."""
    if request.param == "anthropic":
        monkeypatch.setenv("INFOSPACE_LLM_API", "anthropic")
        monkeypatch.setenv("INFOSPACE_LLM_URL", endpoint.url.removesuffix("/v1"))
    return str(request.param)


@pytest.fixture(params=["whole", "streamed"])
def pieces(request: pytest.FixtureRequest) -> list[str] | None:
    return [] if request.param == "streamed" else None


def ask(pieces: list[str] | None = None, **more: Any) -> Reply:
    request = Request(({"role": "user", "content": "Hello?"},), **more)
    return asyncio.run(connect().complete(request, None if pieces is None else pieces.append))


def usage(api: str) -> dict[str, int]:
    names = ("prompt_tokens", "completion_tokens") if api == "openai" else ("input_tokens", "output_tokens")
    return {**dict(zip(names, (11, 4), strict=True)), **({"total_tokens": 15} if api == "openai" else {})}


def test_usage_is_counted(endpoint: Endpoint, api: str, pieces: list[str] | None) -> None:
    endpoint.say(Say("a long answer in pieces " * 3, usage=usage(api)))
    assert ask(pieces).tokens == 15
    assert pieces is None or len(pieces) > 2


def test_a_structured_answer_is_asked_for_and_comes(endpoint: Endpoint, api: str, pieces: list[str] | None) -> None:
    endpoint.say('{"n": 1}')
    assert json.loads(ask(pieces, schema=SCHEMA).text) == {"n": 1}
    (asked,) = endpoint.requests
    found = asked["response_format"]["json_schema"] if api == "openai" else asked["output_config"]["format"]
    assert found["schema"] == SCHEMA


def test_a_busy_endpoint_is_asked_again_when_it_says(endpoint: Endpoint, api: str, pieces: list[str] | None) -> None:
    """`Retry-After` in seconds, as HTTP has it: no sooner, and not much later."""
    endpoint.say(Fail(429, "slow down", {"retry-after": "1"}), "Here.")
    began = time.monotonic()
    assert ask(pieces).text == "Here."
    assert 1 <= time.monotonic() - began < 20
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize(("asks", "told"), [("3600", "3600 s"), (LATE, f"until {LATE}")])
def test_a_longer_wait_is_told_and_not_waited_for(
    endpoint: Endpoint, api: str, pieces: list[str] | None, asks: str, told: str
) -> None:
    """Seconds, or a date."""
    endpoint.say(*[Fail(429, "quota", {"retry-after": asks})] * 3)
    began = time.monotonic()
    with pytest.raises(Unreachable, match=rf"\(429\), and asks to wait {told}: quota"):
        ask(pieces)
    assert time.monotonic() - began < 60


@pytest.mark.parametrize(
    ("asks", "is_refused"),
    [
        ("0", False),
        ("120", False),
        ("120.5", True),
        (LATE, True),
        ("Thu, 01 Jan 1970 00:00:00 GMT", False),
        ("soon", False),
        ("", False),
    ],
)
def test_a_wait_of_more_than_two_minutes_is_refused(asks: str, is_refused: bool) -> None:
    response = httpx2.Response(429, headers={"retry-after": asks})
    asyncio.run(refuse_long_wait(response))
    assert (response.headers.get("x-should-retry") == "false") is is_refused


def test_an_endpoint_that_hangs_is_given_up(
    endpoint: Endpoint, api: str, pieces: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INFOSPACE_LLM_TIMEOUT", "0.2")
    monkeypatch.setenv("INFOSPACE_LLM_RETRIES", "0")
    endpoint.say(Hang())
    with pytest.raises(Unreachable, match=r"did not answer within 0\.2 seconds"):
        ask(pieces)


def test_a_piece_is_told_before_the_next_one_comes(
    endpoint: Endpoint, api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The endpoint sends the rest when it was."""
    monkeypatch.setenv("INFOSPACE_LLM_RETRIES", "0")
    endpoint.pieces, endpoint.holds_before = 2, "lo"
    endpoint.say("a long one")
    pieces: list[str] = []

    def tell(text: str) -> None:
        pieces.append(text)
        endpoint.goes_on.release()

    reply = asyncio.run(connect().complete(Request(({"role": "user", "content": "Hello?"},)), tell))
    assert (reply.text, pieces) == ("a long one", ["a ", "lo", "ng", " o", "ne"])


def test_a_stream_that_falls_silent_is_given_up(endpoint: Endpoint, api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its first piece, which was shown; it is waited for longer where a busy machine is late with that."""
    monkeypatch.setenv("INFOSPACE_LLM_RETRIES", "0")
    endpoint.pieces, endpoint.holds_before = 2, "lo"
    pieces: list[str] = []
    for seconds in (0.5, 5, 50):
        monkeypatch.setenv("INFOSPACE_LLM_TIMEOUT", str(seconds))
        endpoint.say("a long answer " * 10)
        began = time.monotonic()
        with pytest.raises(Unreachable, match=f"did not answer within {seconds:g} seconds"):
            ask(pieces)
        assert time.monotonic() - began < seconds + 20
        if pieces:
            break
    assert pieces == ["a "]


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_stream_that_is_cut_is_no_answer(endpoint: Endpoint, api: str, after: int) -> None:
    """However little, or much, of it came, which was shown."""
    endpoint.cuts_after, endpoint.pieces = after, 2
    endpoint.say(*["a long answer in pieces " * 20] * 3)
    pieces: list[str] = []
    with pytest.raises((BadResponse, Unreachable), match="broke off"):
        ask(pieces)
    before = 0 if api == "openai" else 2
    assert pieces == ["a ", "lo", "ng"][: max(0, after - before)]


def test_a_refusal_is_told(endpoint: Endpoint, api: str) -> None:
    endpoint.say(Say(None, refusal="I cannot help with that."))
    with pytest.raises(BadResponse, match="the model refused"):
        ask()


def test_a_refusal_in_a_stream_is_told(endpoint: Endpoint, api: str) -> None:
    """Chat completions stream its words, Messages its reason to stop."""
    if api == "openai":
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "made"}
        parts = [
            {**chunk, "choices": [{"index": 0, "delta": {"refusal": "I cannot "}}]},
            {**chunk, "choices": [{"index": 0, "delta": {"refusal": "help."}, "finish_reason": "stop"}]},
        ]
        body = "".join(f"data: {json.dumps(part)}\n\n" for part in parts) + "data: [DONE]\n\n"
        endpoint.say(Raw(body.encode(), "text/event-stream"))
    else:
        endpoint.say(Say(None, refusal="no"))
    with pytest.raises(BadResponse, match=r"the model refused"):
        ask([])


def test_an_error_in_the_midst_of_a_stream_is_told(
    endpoint: Endpoint, api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both protocols send one as an event."""
    monkeypatch.setenv("INFOSPACE_LLM_RETRIES", "0")
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "overloaded"}}
    endpoint.say(Raw(f"event: error\ndata: {json.dumps(error)}\n\n".encode(), "text/event-stream"))
    with pytest.raises(LanguageModelError) as caught:
        ask([])
    assert "overloaded" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "body", [b"", b"data: {\n\n", b"data: []\n\n", b"data: 7\n\n", b"nonsense\n\n", b"\xff\xfe\n\n"]
)
def test_a_stream_of_nonsense_is_one_sentence(endpoint: Endpoint, api: str, body: bytes) -> None:
    endpoint.answers = lambda _request: Raw(body, "text/event-stream")
    with pytest.raises(LanguageModelError) as caught:
        ask([])
    assert "\n" not in str(caught.value)
