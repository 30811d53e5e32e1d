"""Calls that a server has not answered yet: what it asks in them, what it tells, and how they go on and end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    ErrorData,
    LoggingMessageNotificationParams,
)

from infospace.core.tool import ToolAnswer, ToolFailed
from infospace.tools.mcp.dialogue.conversation import (
    SamplingRefused,
    SamplingRequest,
    ServerAnswer,
    ServerQuestion,
    Talk,
    ToolInputRequired,
)
from infospace.tools.mcp.dialogue.open_calls import OpenCall, OpenCalls

FORM: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}}
CONTEXT: Any = None
"""What the client says of the request, which nobody looks at."""


class Person:
    """Answers what a server asks by a list; what is not in it yet is to be asked. Keeps what it hears."""

    def __init__(
        self, *answers: ServerAnswer, key: str = "k", sampled: Any = ("text", "model"), may: Any = True
    ) -> None:
        self.key = key
        self.asked: list[ServerQuestion | SamplingRequest] = []
        self.heard: list[tuple[Any, ...]] = []
        self._answers = list(answers)
        self._sampled = sampled
        self._may = may

    def answer(self, question: ServerQuestion) -> ServerAnswer | None:
        """Answer."""
        self.asked.append(question)
        return self._answers.pop(0) if self._answers else None

    def may_sample(self, request: SamplingRequest) -> bool | None:
        """Allow, or not."""
        self.asked.append(request)
        if isinstance(self._may, Exception):
            raise self._may
        may: bool | None = self._may
        return may

    async def sample(self, request: SamplingRequest) -> tuple[str, str]:
        """Answer as a model does."""
        del request
        if isinstance(self._sampled, Exception):
            raise self._sampled
        answered: tuple[str, str] = self._sampled
        return answered

    def on_log(self, level: str, text: str) -> None:
        """Keep it."""
        self.heard.append((level, text))

    def on_progress(self, done: float, total: float | None, text: str) -> None:
        """Keep it."""
        self.heard.append((done, total, text))


def calls() -> OpenCalls:
    return OpenCalls(lambda: ("hush-hush",))


def talk(person: Person | None) -> Talk:
    return Talk(person, asyncio.get_running_loop())


def during(person: Person | None, ask: Any) -> Any:
    """Return what comes of `ask(calls, call)` while a call is open."""

    async def go() -> Any:
        opened, found = calls(), []

        async def asking(call: OpenCall) -> ToolAnswer:
            found.append(await ask(opened, call))
            return ToolAnswer(structured=1)

        assert await opened.make(talk(person), asking) == ToolAnswer(structured=1)
        return found[0]

    return asyncio.run(go())


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (ServerAnswer("accept", {"name": "Ada"}), ElicitResult(action="accept", content={"name": "Ada"})),
        (ServerAnswer("accept"), ElicitResult(action="accept", content=None)),
        (ServerAnswer("decline"), ElicitResult(action="decline", content=None)),
        (ServerAnswer("cancel"), ElicitResult(action="cancel", content=None)),
    ],
)
def test_a_question_is_answered_as_the_person_does(answer: ServerAnswer, expected: ElicitResult) -> None:
    """No secret stands in it, and nothing that cannot be kept."""
    person = Person(answer)
    form = ElicitRequestFormParams(message="who has hush-hush\ud800?", requested_schema=FORM)
    assert during(person, lambda opened, _: opened.elicit(CONTEXT, form)) == expected
    assert person.asked == [ServerQuestion("who has •••\ufffd?", FORM)]


def test_a_question_that_sends_to_an_address_has_no_form() -> None:
    """Equal questions of one call are counted; those of another schema are others."""
    person = Person(*[ServerAnswer("accept")] * 4)
    at = ElicitRequestURLParams(message="go", url="https://x.org", elicitation_id="1")
    form = ElicitRequestFormParams(message="go", requested_schema=FORM)

    async def four_times(opened: OpenCalls, call: OpenCall) -> None:
        for params in (at, form, at, form):
            await opened.answer(call, params)

    during(person, four_times)
    address = "https://x.org"
    assert person.asked == [
        ServerQuestion("go", None, address),
        ServerQuestion("go", FORM),
        ServerQuestion("go", None, address, 1),
        ServerQuestion("go", FORM, None, 1),
    ]
    assert len({question.digest for question in person.asked if isinstance(question, ServerQuestion)}) == 4


def test_where_no_call_is_open_nobody_answers() -> None:
    """Nor in a call in which nobody is there."""
    form = ElicitRequestFormParams(message="who?", requested_schema=FORM)
    sampling = CreateMessageRequestParams.model_validate({"messages": [], "maxTokens": 5})
    told = LoggingMessageNotificationParams(level="info", data="x")

    async def alone() -> None:
        opened = calls()
        assert await opened.elicit(CONTEXT, form) == ElicitResult(action="cancel")
        assert await opened.sample(CONTEXT, sampling) == ErrorData(
            code=INVALID_REQUEST, message="nothing is called now, so no language model answers"
        )
        await opened.log(told)

    asyncio.run(alone())

    async def nobody(opened: OpenCalls, call: OpenCall) -> Any:
        await opened.log(told)
        await opened.progress(call)(1, None, None)
        return [
            await opened.answer(call, form),
            await opened.sampled(call, sampling),
            await opened.elicit(CONTEXT, form),
        ]

    cancelled = ElicitResult(action="cancel")
    refused = ErrorData(code=INVALID_REQUEST, message="nobody allowed that a language model answers")
    assert during(None, nobody) == [cancelled, refused, cancelled]


TEXT = {"role": "user", "content": {"type": "text", "text": "hi\ud800"}}
PICTURE = {"role": "user", "content": {"type": "image", "data": "aGk=", "mimeType": "image/png"}}
BOTH = {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}


def sampling(*messages: Any, **members: Any) -> CreateMessageRequestParams:
    return CreateMessageRequestParams.model_validate({"messages": list(messages), "maxTokens": 5, **members})


@pytest.mark.parametrize(
    ("person", "params", "expected"),
    [
        (Person(may=False), sampling(TEXT), (INVALID_REQUEST, "nobody allowed that a language model answers")),
        (Person(may=SamplingRefused("no model")), sampling(TEXT), (INVALID_REQUEST, "no model")),
        (Person(sampled=SamplingRefused("too dear")), sampling(TEXT), (INVALID_REQUEST, "too dear")),
        (
            Person(sampled=ValueError("it broke")),
            sampling(TEXT),
            (INTERNAL_ERROR, "the language model did not answer: it broke"),
        ),
        (
            Person(sampled=ValueError("x" * 3_000)),
            sampling(TEXT),
            (INTERNAL_ERROR, f"the language model did not answer: {'x' * 1_965}"),
        ),
        (Person(), sampling(TEXT, PICTURE), (INVALID_REQUEST, "the language model takes text, and no image")),
    ],
)
def test_why_no_model_answers_is_said(
    person: Person, params: CreateMessageRequestParams, expected: tuple[int, str]
) -> None:
    answered = during(person, lambda opened, _: opened.sample(CONTEXT, params))
    assert (answered.code, answered.message) == expected


def test_a_model_answers_where_that_is_allowed() -> None:
    """What it is asked is text, each block for itself, the server's own words first."""
    person = Person()
    answered = during(person, lambda opened, _: opened.sample(CONTEXT, sampling(TEXT, BOTH, systemPrompt="be\ud800")))
    assert isinstance(answered, CreateMessageResult)
    assert (answered.role, answered.model, answered.stop_reason) == ("assistant", "model", "endTurn")
    assert answered.content.model_dump(exclude_none=True) == {"type": "text", "text": "text"}
    said: Any = (("system", "be\ufffd"), ("user", "hi\ufffd"), ("assistant", "a"), ("assistant", "b"))
    assert person.asked == [SamplingRequest(said, 5)]


def test_what_a_server_tells_is_handed_on_without_secrets() -> None:
    """Of a long text the beginning, and of one call five hundred messages."""
    person = Person()

    async def tell(opened: OpenCalls, call: OpenCall) -> None:
        for data in ("hush-hush, you", {"a": "hush-hush"}, "x" * 2_001):
            await opened.log(LoggingMessageNotificationParams(level="warning", data=data))
        on_progress = opened.progress(call)
        await on_progress(1, 3, "half of hush-hush\ud800")
        await on_progress(2.5, None, None)
        await on_progress(3, 3, "y" * 2_001)
        for number in range(495):
            await on_progress(number, None, "")

    during(person, tell)
    assert person.heard[:6] == [
        ("warning", "•••, you"),
        ("warning", "{'a': '•••'}"),
        ("warning", "x" * 2_000),
        (1, 3, "half of •••\ufffd"),
        (2.5, None, ""),
        (3, 3, "y" * 2_000),
    ]
    assert person.heard[6:] == [(number, None, "") for number in range(494)], "one more was told"


def test_a_call_waits_for_a_person_and_goes_on_with_the_answer() -> None:
    """Made again under its key; under another key it is another call. Meanwhile its clock stands still."""
    question = ElicitRequestFormParams(message="who?", requested_schema=FORM)

    async def go() -> None:
        opened = calls()
        begun: list[OpenCall] = []
        limits: list[asyncio.Timeout] = []

        async def asking(call: OpenCall) -> ToolAnswer:
            begun.append(call)
            async with call.deadlines.time_limit(60) as limit:
                limits.append(limit)
                answered = await opened.answer(call, question)
                assert limit.when() is not None
                return ToolAnswer(structured=answered.action)

        with pytest.raises(ToolInputRequired) as first:
            await opened.make(talk(Person()), asking)
        assert first.value.question == ServerQuestion("who?", FORM)
        with pytest.raises(ToolInputRequired):
            await opened.make(talk(Person(key="other")), asking)
        assert [limit.when() for limit in limits] == [None, None]
        with pytest.raises(ToolInputRequired):
            await opened.make(talk(Person()), asking)
        answered = await opened.make(talk(Person(ServerAnswer("decline"))), asking)
        assert (answered.structured, len(begun)) == ("decline", 2)
        again = await opened.make(talk(Person(ServerAnswer("accept"))), asking)
        assert (again.structured, len(begun)) == ("accept", 3)
        opened.close()
        await asyncio.sleep(0)
        ended = begun[1].task
        assert ended is not None
        await asyncio.wait([ended])
        assert ended.cancelled()

    asyncio.run(go())


def test_a_call_that_ends_while_nobody_waits_is_made_anew() -> None:
    """And one that is cancelled is broken off at the server, too; a failure is that of the call."""

    async def go() -> None:
        opened = calls()
        question = ElicitRequestFormParams(message="who?", requested_schema=FORM)
        held = asyncio.Event()

        async def asking(call: OpenCall) -> ToolAnswer:
            waiting = asyncio.create_task(opened.answer(call, question))
            await held.wait()
            waiting.cancel()
            return ToolAnswer(structured="late")

        with pytest.raises(ToolInputRequired):
            await opened.make(talk(Person()), asking)
        held.set()
        await asyncio.sleep(0.01)
        anew = await opened.make(talk(Person(ServerAnswer("accept"))), answering(5))
        assert anew.structured == 5

        stopped = asyncio.Event()

        async def long(call: OpenCall) -> ToolAnswer:
            del call
            try:
                await asyncio.sleep(60)
            finally:
                stopped.set()
            return ToolAnswer()

        making = asyncio.create_task(opened.make(talk(Person()), long))
        await asyncio.sleep(0.01)
        making.cancel()
        with pytest.raises(asyncio.CancelledError):
            await making
        assert stopped.is_set()

        async def failing(call: OpenCall) -> ToolAnswer:
            raise ToolFailed("it broke")

        with pytest.raises(ToolFailed, match="it broke"):
            await opened.make(talk(None), failing)

    asyncio.run(go())


def answering(value: int) -> Any:
    async def ask(call: OpenCall) -> ToolAnswer:
        del call
        return ToolAnswer(structured=value)

    return ask


def test_a_question_is_that_of_the_call_that_is_open_longest() -> None:
    """In which somebody is there; and while somebody signs in the clocks of all stand still."""

    async def go() -> None:
        opened = calls()
        first, second = Person(key="1"), Person(key="2")
        go_on = asyncio.Event()

        limits: list[asyncio.Timeout] = []

        async def waiting(call: OpenCall) -> ToolAnswer:
            async with call.deadlines.time_limit(60) as limit:
                limits.append(limit)
                await go_on.wait()
            return ToolAnswer()

        making = [asyncio.create_task(opened.make(talk(person), waiting)) for person in (None, first, second)]
        await asyncio.sleep(0.01)
        await opened.log(LoggingMessageNotificationParams(level="info", data="x"))
        assert (first.heard, second.heard) == ([("info", "x")], [])
        with opened.paused():
            assert [limit.when() for limit in limits] == [None] * 3
        assert None not in [limit.when() for limit in limits]
        go_on.set()
        assert await asyncio.gather(*making) == [ToolAnswer()] * 3

    asyncio.run(go())
