"""The client, against an endpoint on loopback: whatever that does is a reply or one sentence."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any

import pytest
from chatting import Endpoint, Fail, Flood, Hang, Raw, Say

from infospace import BadResponse, RequestRejected, Unreachable
from infospace.llm.client import connect
from infospace.llm.model import Reply, Request

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def ask(text: str = "Hello?", **wanted: Any) -> Reply:
    """One call, through a client of its own."""
    return asyncio.run(connect().complete(Request(({"role": "user", "content": text},), **wanted)))


def test_an_answer_comes_with_the_tokens_that_the_endpoint_counted(endpoint: Endpoint) -> None:
    """The request holds the model and the messages, and nothing that endpoints may not know."""
    endpoint.say(Say("Hi.", usage={"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}))
    assert ask() == Reply("Hi.", 9)
    assert endpoint.requests == [{"model": "made", "messages": [{"role": "user", "content": "Hello?"}]}]
    assert endpoint.keys == ["Bearer none"]


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (None, 4),
        ({"prompt_tokens": 7, "completion_tokens": 2}, 9),
        ({"total_tokens": -5}, 4),
        ({"total_tokens": "many"}, 4),
        ({"total_tokens": True}, 4),
        ([1, 2], 4),
    ],
)
def test_tokens_are_characters_by_four_where_the_endpoint_counts_none_or_nonsense(
    endpoint: Endpoint, usage: Any, tokens: int
) -> None:
    """Six characters of question and eight of answer are four tokens, rounded up."""
    endpoint.say(Say("Hi there", usage=usage))
    assert ask().tokens == tokens


def test_a_busy_and_a_failing_endpoint_are_asked_again(endpoint: Endpoint) -> None:
    """After the wait that it asks for; here none to speak of."""
    endpoint.say(Fail(429, "slow down"), Fail(503, "starting"), "Here.")
    assert ask().text == "Here."
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Fail(429, "slow down"), r"takes no more requests now \(429\): slow down \(3 attempts\)"),
        (Fail(500, "out of order"), r"failed with 500: out of order \(3 attempts\)"),
        (Raw(b'{"choices": [', missing=100), r"cannot be reached, or broke off: .*\(3 attempts\)"),
    ],
)
def test_an_endpoint_that_stays_so_is_given_up_after_three_attempts(
    endpoint: Endpoint, answer: Any, message: str
) -> None:
    """The sentence says what was wrong, and how often it was tried."""
    endpoint.answers = lambda _request: answer
    with pytest.raises(Unreachable, match=message):
        ask()
    assert len(endpoint.requests) == 3


def test_an_endpoint_that_asks_for_an_hour_is_not_waited_for(endpoint: Endpoint) -> None:
    """The sentence says how long it asked for."""
    endpoint.say(Fail(429, "quota", {"retry-after": "3600"}))
    with pytest.raises(Unreachable, match=r"\(429\), and asks to wait 3600 s: quota"):
        ask()
    assert len(endpoint.requests) == 1


def test_an_endpoint_that_hangs_is_left_after_the_time_out(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFOSPACE_LLM_TIMEOUT", "0.05")
    monkeypatch.setenv("INFOSPACE_LLM_RETRIES", "0")
    endpoint.say(Hang())
    with pytest.raises(Unreachable, match=r"did not answer within 0\.05 seconds \(INFOSPACE_LLM_TIMEOUT"):
        ask()


def test_an_endpoint_that_is_not_there_is_said_to_be_unreachable(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing listens on port 9."""
    monkeypatch.setenv("INFOSPACE_LLM_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("INFOSPACE_LLM_RETRIES", "0")
    with pytest.raises(Unreachable, match=r"http://127\.0\.0\.1:9/v1 cannot be reached, or broke off: ConnectError"):
        ask()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Fail(401, "bad key"), r"does not take the key \(401\): bad key \(INFOSPACE_LLM_KEY is the key\)"),
        (Fail(403, "no access"), r"does not take the key \(403\): no access \(INFOSPACE_LLM_KEY is the key\)"),
        (Fail(404, "no such model"), r"no such model or path, for 'made' \(404\): no such model"),
        (Fail(400, "too long", code="context_length_exceeded"), r"does not take the request \(400\): too long"),
        (Raw(b'{"error": {"message": "no credit"}}'), "does not take the request: no credit$"),
        (Raw(b'{"error": {"detail": "no credit"}}'), "does not take the request: no credit$"),
        (Raw(b'{"error": "no credit"}'), "does not take the request: no credit$"),
    ],
)
def test_what_the_endpoint_declines_is_said_at_once(endpoint: Endpoint, answer: Any, message: str) -> None:
    """Asking again would not help."""
    endpoint.say(answer)
    with pytest.raises(RequestRejected, match=message):
        ask(schema=SCHEMA)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Raw(b'{"choices": [{"message": {"cont'), "the answer of .* ends inside a string .*: it seems cut off"),
        (Raw(b"<html>Welcome</html>", "text/html"), "the answer of .* is not JSON: it begins with '<html>"),
        (Raw(b""), "the answer of .* is empty"),
        (Raw(b'{"choices": []}'), "answered without any choice"),
        (Raw(b'{"choices": null}'), "answered without any choice"),
        (Raw(b"[1]"), "answered without any choice"),
        (Raw(b'{"choices": [{"message": null}]}'), "answered with nothing"),
        (Say(""), "answered with nothing"),
        (Say(None), "answered with nothing"),
        (Say("<think>Hm, well.</think>\n"), "answered with nothing"),
        (Say("The beginning of", finish="length"), "cut off at what its endpoint allows"),
        (Say(None, refusal="I cannot help with that."), "the model refused: I cannot help with that"),
        (Say("", finish="content_filter"), "the content filter of .* held the answer back"),
    ],
)
def test_an_answer_that_cannot_be_used_is_one_sentence(endpoint: Endpoint, answer: Any, message: str) -> None:
    """A body that is cut off or no completion, no text, a text that is cut off, a refusal."""
    endpoint.say(answer)
    with pytest.raises(BadResponse, match=message):
        ask()


def test_parts_of_text_are_joined_and_reasoning_in_front_is_left_out(endpoint: Endpoint) -> None:
    """As some servers send them."""
    endpoint.say(Say([{"type": "text", "text": "One "}, {"type": "text", "text": "two."}]))
    assert ask().text == "One two."
    endpoint.say(Say("<think>It asks for two.</think>\n\nTwo."))
    assert ask().text == "Two."
    about = f"{'The mark of thoughts: ' * 10}<think>so</think>, and <think>so</think>."
    endpoint.say(Say(about), Say(f"<think>About thoughts.</think>{about}"))
    assert [ask().text, ask().text] == [about, about]


def test_a_form_that_is_refused_is_not_tried_again(endpoint: Endpoint) -> None:
    """By JSON Schema, then as a JSON object, then as text; remembered for the process."""
    endpoint.refuses = {"json_schema", "json_object"}
    assert ask(schema=SCHEMA).text == "A sensible answer."
    assert [request.get("response_format", {}).get("type") for request in endpoint.requests] == [
        "json_schema",
        "json_object",
        None,
    ]
    assert endpoint.requests[0]["response_format"]["json_schema"]["schema"] == SCHEMA
    ask(schema=SCHEMA)
    assert len(endpoint.requests) == 4


@pytest.mark.parametrize("status", [400, 415, 422, 501])
def test_a_form_is_refused_by_any_status_that_says_so(endpoint: Endpoint, status: int) -> None:
    endpoint.say(Fail(status, "what is response_format?", {"x-should-retry": "false"}), '{"n": 1}')
    assert ask(schema=SCHEMA).text == '{"n": 1}'
    assert [request["response_format"]["type"] for request in endpoint.requests] == ["json_schema", "json_object"]


def test_a_request_that_is_refused_in_every_form_teaches_nothing(endpoint: Endpoint) -> None:
    """The form was not at fault: the next call begins with the schema again."""
    endpoint.say(*[Fail(400, "the messages are strange")] * 3)
    with pytest.raises(RequestRejected, match="the messages are strange"):
        ask(schema=SCHEMA)
    assert ask(schema=SCHEMA).text == '{"n": 1}'
    assert endpoint.requests[-1]["response_format"]["type"] == "json_schema"


def test_the_limit_is_called_as_the_endpoint_wants_it_called(endpoint: Endpoint) -> None:
    """Newer models want `max_completion_tokens`; also that is remembered."""
    endpoint.say(Fail(400, "Unsupported parameter: use 'max_completion_tokens' instead."), "Short.", "Short.")
    assert ask(max_tokens=5).text == "Short."
    ask(max_tokens=6)
    limits = [(r.get("max_tokens"), r.get("max_completion_tokens")) for r in endpoint.requests]
    assert limits == [(5, None), (None, 5), (None, 6)]


def test_an_endpoint_that_wants_what_it_refuses_is_left(endpoint: Endpoint) -> None:
    """Each name of the limit is tried once."""
    endpoint.answers = lambda _body: Fail(400, "max_completion_tokens is not what it was")
    with pytest.raises(RequestRejected, match=r"does not take the request \(400\)"):
        ask(max_tokens=5)
    assert len(endpoint.requests) == 2


def test_calls_at_once_share_connections_and_none_is_left_open(endpoint: Endpoint) -> None:
    """Four at once and four after them go over four connections; the next loop opens its own."""
    model = connect()
    endpoint.together = threading.Barrier(4)

    async def two_rounds() -> None:
        async def twice(number: int) -> None:
            for _ in range(2):
                await model.complete(Request(({"role": "user", "content": str(number)},)))

        async with asyncio.TaskGroup() as group:
            for number in range(4):
                group.create_task(twice(number))

    asyncio.run(two_rounds())
    assert (len(endpoint.requests), endpoint.peak, endpoint.connections) == (8, 4, 4)
    endpoint.together = None
    asyncio.run(model.complete(Request(({"role": "user", "content": "once more"},))))
    assert endpoint.connections == 5


def test_calls_that_are_broken_off_leave_no_connection_open(
    endpoint: Endpoint, recwarn: pytest.WarningsRecorder
) -> None:
    """One of four is declined, and the others are cancelled wherever they are, often enough to meet every place."""
    endpoint.answers = lambda body: Fail(403, "no") if body["messages"][0]["content"] == "1" else "yes"
    model = connect()

    async def one_round() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(4):
                group.create_task(model.complete(Request(({"role": "user", "content": str(number)},))))

    gc.collect()
    gc.freeze()  # what there is by now is not gone through fifteen times
    for _ in range(15):
        with pytest.raises(ExceptionGroup, match="unhandled errors in a TaskGroup"):
            asyncio.run(one_round())
        gc.collect()
    assert not [warning for warning in recwarn if warning.category is ResourceWarning]


KEY = "sk-proj-0123456789abcdef"


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_an_error_that_quotes_the_key_is_told_without_it(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """Nor is the beginning of it left where the sentence is cut."""
    monkeypatch.setenv("INFOSPACE_LLM_KEY", KEY)
    monkeypatch.setenv("INFOSPACE_LLM_RETRIES", "0")
    for said in (f"Incorrect API key provided: {KEY}, sorry", f"{'x ' * 94}{KEY}"):
        endpoint.say(Fail(status, said))
        with pytest.raises((RequestRejected, Unreachable)) as caught:
            ask()
        assert said[:20] in str(caught.value)
        assert KEY[:8] not in str(caught.value)


def test_a_url_that_holds_a_key_is_told_without_it(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who logs in, and what its query says."""
    monkeypatch.setenv("INFOSPACE_LLM_RETRIES", "0")
    monkeypatch.setenv("INFOSPACE_LLM_URL", endpoint.url.replace("http://", f"http://me:{KEY}@"))
    endpoint.say(Fail(500, "broken"))
    with pytest.raises(Unreachable) as caught:
        ask()
    assert "http://•••@127.0.0.1" in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_without_end_is_read_as_far_as_it_is_taken(endpoint: Endpoint, packed: bool) -> None:
    """In one sentence, asked once; the rest is never fetched."""
    endpoint.say(Flood(2**30, packed=packed))
    with pytest.raises(BadResponse, match="answers with more than 64 MB, which are not taken"):
        ask()
    assert len(endpoint.requests) == 1
    assert packed or endpoint.flooded < 2**27


def test_an_error_without_end_is_read_for_its_beginning(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """The status is told all the same."""
    monkeypatch.setenv("INFOSPACE_LLM_RETRIES", "0")
    endpoint.say(Flood(2**30, status=500))
    with pytest.raises(Unreachable, match="failed with 500"):
        ask()
    assert endpoint.flooded < 2**27


def test_a_streamed_answer_comes_in_pieces_and_adds_up(endpoint: Endpoint) -> None:
    """With the tokens that the endpoint counted at its end."""
    text = "a long answer, in pieces, " * 10
    endpoint.say(Say(text, usage={"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}))
    pieces: list[str] = []
    reply = asyncio.run(connect().complete(Request(({"role": "user", "content": "x"},)), pieces.append))
    assert reply == Reply(text, 9)
    assert "".join(pieces) == text
    assert len(pieces) > 3


def test_an_endpoint_that_knows_no_stream_options_is_asked_without(endpoint: Endpoint) -> None:
    endpoint.say(Fail(400, "unknown field stream_options"), "Hi.", "Ho.")
    for text in ("Hi.", "Ho."):
        pieces: list[str] = []
        assert asyncio.run(connect().complete(Request(({"role": "user", "content": "x"},)), pieces.append)).text == text
    assert ["stream_options" in request for request in endpoint.requests] == [True, False, False]


def test_an_endpoint_without_streams_answers_whole(endpoint: Endpoint) -> None:
    endpoint.no_streams = True
    endpoint.say("Hi.")
    pieces: list[str] = []
    assert asyncio.run(connect().complete(Request(({"role": "user", "content": "x"},)), pieces.append)).text == "Hi."
    assert pieces == ["Hi."]


def test_a_stream_that_is_cut_off_is_no_answer(endpoint: Endpoint) -> None:
    """What came of it was shown."""
    endpoint.cuts_after = 3
    endpoint.say("a long answer in pieces " * 20)
    pieces: list[str] = []
    with pytest.raises((BadResponse, Unreachable), match="broke off"):
        asyncio.run(connect().complete(Request(({"role": "user", "content": "x"},)), pieces.append))
    assert (len(pieces), "".join(pieces)) == (3, ("a long answer in pieces " * 20)[: 3 * endpoint.pieces])
