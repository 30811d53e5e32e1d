"""One run's calls: each once, charged, and in the journal before and after."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from chatting import Endpoint, Fail, Hang, Say

from infospace import BadResponse, BudgetExceeded, RequestRejected, Space, Unreachable
from infospace.core.resources import CreatedBy
from infospace.journal.rows import CallRow, OpenRun
from infospace.llm.client import connect
from infospace.llm.meter import Meter
from infospace.llm.model import Request

MADE = CreatedBy("run_1", "3.do[2].1", "assess")


def request(text: str = "Hello?", **wanted: Any) -> Request:
    """A request of one message."""
    return Request(({"role": "user", "content": text},), **wanted)


async def call_all(meter: Meter, *requests: Request) -> Sequence[Any]:
    """Make calls at once; their answers, or how they failed."""
    model = connect()
    return await asyncio.gather(*(meter.call(model, one, MADE) for one in requests), return_exceptions=True)


def calls(meter: Meter, *requests: Request) -> list[Any]:
    """Make calls at once; texts, or how they failed."""
    found = asyncio.run(call_all(meter, *requests))
    return [one if isinstance(one, BaseException) else one[0].text for one in found]


def test_equal_calls_are_made_once(endpoint: Endpoint) -> None:
    """Those that are under way at once share one request, and later ones its answer."""
    endpoint.answers = lambda body: f"answer {len(endpoint.requests)} to {body['messages'][0]['content']}"
    meter = Meter()
    assert calls(meter, request(), request(), request()) == ["answer 1 to Hello?"] * 3
    assert calls(meter, request()) == ["answer 1 to Hello?"]
    assert (meter.calls, len(endpoint.requests)) == (1, 1)


@pytest.mark.parametrize("other", [request("Hello!"), request(max_tokens=3), request(schema={"type": "object"})])
def test_calls_that_differ_in_anything_are_made_each(endpoint: Endpoint, other: Request) -> None:
    """Words, schema, or the most tokens; and another run asks again."""
    meter = Meter()
    calls(meter, request(), other)
    calls(Meter(), request())
    assert len(endpoint.requests) == 3


def test_a_call_that_failed_is_made_again(endpoint: Endpoint) -> None:
    """All who shared it fail; who comes later asks anew."""
    endpoint.say(Fail(501, "not now", {"x-should-retry": "false"}))
    meter = Meter()
    first, second = calls(meter, request(), request())
    assert isinstance(first, Unreachable)
    assert first is second
    assert calls(meter, request()) == ["A sensible answer."]


def test_the_calls_of_a_budget_are_counted_and_answers_from_memory_are_not(endpoint: Endpoint) -> None:
    """A failed call counts as one."""
    endpoint.say(Fail(501, "not now", {"x-should-retry": "false"}))
    meter = Meter(llm_calls=2)
    calls(meter, request())
    assert calls(meter, request(), request()) == ["A sensible answer."] * 2
    assert calls(meter, request()) == ["A sensible answer."]
    with pytest.raises(BudgetExceeded, match=r"the budget of 2 llm_calls is spent"):
        asyncio.run(meter.call(connect(), request("other"), MADE))
    assert (meter.spent["llm_calls"], len(endpoint.requests)) == (2, 2)


def test_side_by_side_calls_do_not_spend_a_budget_twice(endpoint: Endpoint) -> None:
    """Of five at once, with three in the budget, three are made."""
    found = calls(Meter(llm_calls=3), *(request(str(number)) for number in range(5)))
    assert [isinstance(one, BudgetExceeded) for one in found] == [False, False, False, True, True]
    assert len(endpoint.requests) == 3


def test_the_tokens_of_a_budget_are_those_that_the_endpoint_counted(endpoint: Endpoint) -> None:
    """The next one is refused where what calls have cost so far does not fit into what is left."""
    endpoint.answers = lambda _body: Say("yes", usage={"total_tokens": 60})
    meter = Meter(tokens=100)
    assert calls(meter, request("a")) == ["yes"]
    (next_,) = calls(meter, request("b"))
    assert "the budget of 100 tokens is too small: 40 are left, and the next call takes about 60" in str(next_)
    assert meter.spent == {"llm_calls": 1, "tokens": 60}


def test_an_answer_that_cannot_be_used_costs_what_was_sent(endpoint: Endpoint) -> None:
    """One that did not come costs nothing."""
    meter = Meter()
    endpoint.say(Say(""), Fail(401, "bad key"))
    assert [type(one) for one in calls(meter, request("x" * 160))] == [BadResponse]
    assert [type(one) for one in calls(meter, request("y" * 160))] == [RequestRejected]
    assert meter.spent == {"llm_calls": 2, "tokens": 40}


def test_messages_under_way_count_before_their_answers_come(endpoint: Endpoint) -> None:
    """Three calls of 40 tokens at once do not fit into 100."""
    found = calls(Meter(tokens=100), *(request(f"{number}" * 160) for number in range(3)))
    assert [type(one) for one in found] == [str, str, BudgetExceeded]


@pytest.fixture
def journalled(space: Space) -> Meter:
    """A meter of a run that the space knows."""
    run = space.store.new_id("run")
    assert run == MADE.run
    space.store.commit([], [OpenRun(run, "plan", "", [], {}, "2026-01-01T00:00:00.000Z", "me")])
    return Meter(record=lambda row: space.store.commit([], [row]))


def rows(space: Space) -> list[CallRow]:
    """The calls in the journal."""
    with space.store.reading() as snapshot:
        return snapshot.calls("run_1")


def test_a_call_is_in_the_journal_before_it_is_made_and_after(
    space: Space, endpoint: Endpoint, journalled: Meter
) -> None:
    """By run, position and digest, with its answer; the row of before is replaced."""
    before: list[CallRow] = []

    def answer(_body: object) -> Say:
        before.extend(rows(space))
        return Say("Hi.", usage={"total_tokens": 9})

    endpoint.answers = answer
    calls(journalled, request(max_tokens=7))
    (started,), (ended,) = before, rows(space)
    digest = request(max_tokens=7).digest("made")
    assert ended.request == started.request == {"messages": [*request().messages], "max_tokens": 7}
    assert (started.status, started.answer, started.digest) == ("started", None, digest)
    assert (ended.sequence, ended.position, ended.kind, ended.target) == (1, "3.do[2].1", "llm", "made")
    assert (ended.status, ended.answer, ended.tokens, ended.digest) == ("success", "Hi.", 9, digest)
    assert ended.started == started.started
    assert ended.duration_ms > 0


def test_calls_of_an_earlier_part_are_charged_and_numbered_and_not_made_again(
    space: Space, endpoint: Endpoint, journalled: Meter
) -> None:
    """In whatever order they stand; one that failed is made again."""
    endpoint.say(Say("Hi.", usage={"total_tokens": 9}), Fail(401, "bad key"))
    calls(journalled, request())
    calls(journalled, request("again"))
    meter = Meter()
    meter.remember(sorted(rows(space), key=lambda row: -row.sequence))
    assert (meter.spent, meter.number()) == ({"llm_calls": 2, "tokens": 9}, 3)
    assert calls(meter, request(), request("again")) == ["Hi.", "A sensible answer."]
    assert (meter.calls, len(endpoint.requests)) == (3, 3)


def test_a_failed_call_is_in_the_journal_with_its_reason(space: Space, endpoint: Endpoint, journalled: Meter) -> None:
    endpoint.say(Fail(401, "bad key"))
    calls(journalled, request(), request("again"))
    failed, ended = sorted(rows(space), key=lambda row: row.status)
    assert (failed.status, failed.error, failed.answer, ended.status) == ("failed", "llm-declined", None, "success")
    assert "bad key" in (failed.reason or "")


def test_a_call_that_nobody_waits_for_any_more_is_broken_off(
    space: Space, endpoint: Endpoint, journalled: Meter
) -> None:
    """The journal says so; whoever asked with others does not take the answer from them."""
    reached = threading.Event()

    def hang(_body: object) -> Hang:
        reached.set()
        return Hang()

    endpoint.answers = hang

    async def leave() -> None:
        model = connect()
        both = [asyncio.create_task(journalled.call(model, request(), MADE)) for _ in range(2)]
        await asyncio.to_thread(reached.wait, 60)
        both[0].cancel()
        await asyncio.wait(both[:1])
        assert not both[1].done()
        assert rows(space)[0].status == "started"
        both[1].cancel()
        await asyncio.wait(both)

    asyncio.run(leave())
    (row,) = rows(space)
    assert (row.status, row.error, row.reason) == ("failed", "cancelled", "the call was broken off")


def test_a_call_that_is_broken_off_gives_its_tokens_back(endpoint: Endpoint) -> None:
    """Whoever asked was cancelled; what is left is there for the next one."""
    meter = Meter(tokens=100)
    endpoint.answers = lambda _body: Hang()

    async def leave() -> None:
        for _ in range(3):
            task = asyncio.create_task(meter.call(connect(), request("x" * 160), MADE))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])

    asyncio.run(leave())
    endpoint.answers = lambda _body: "yes"
    assert calls(meter, request("y" * 160)) == ["yes"]


def test_outside_of_runs_nothing_is_journalled(space: Space, endpoint: Endpoint, journalled: Meter) -> None:
    asyncio.run(journalled.call(connect(), request(), CreatedBy()))
    assert rows(space) == []
    assert len(endpoint.requests) == 1
