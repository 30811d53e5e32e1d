"""Calls in which a server asks back: such a call stays open while a person is asked, and goes on with the answer.

The earlier protocol has the server ask over the connection; it does not always say for which call. A question is then
that of the call that is open longest. In the later protocol the call itself is answered with the questions.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from mcp.client.context import ClientRequestContext
from mcp.shared.dispatcher import ProgressFnT
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    LoggingMessageNotificationParams,
    TextContent,
)

from infospace.core.redaction import hidden
from infospace.core.tool import ToolAnswer
from infospace.tools.mcp.deadlines import Deadlines
from infospace.tools.mcp.dialogue.conversation import (
    Conversation,
    SamplingRefused,
    SamplingRequest,
    ServerAnswer,
    ServerQuestion,
    Talk,
    ToolInputRequired,
)
from infospace.tools.mcp.sanitize import sanitize

LONGEST_WAIT_S = 24 * 3600.0
"""Seconds for which a call stays open while somebody is asked."""
MAX_LOG_CHARACTERS = 2_000
"""Characters of a message for a log that are handed on."""
MOST_TOLD = 500
"""Messages and steps of progress of one call that are handed on."""


@dataclass(eq=False)
class OpenCall:
    """A call that a server has not answered yet, and who answers what it asks meanwhile."""

    talk: Talk
    task: asyncio.Task[ToolAnswer] | None = None
    asked: asyncio.Future[ServerQuestion | SamplingRequest] | None = None
    """What it waits for a person with."""
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    """Whether it was made again, and what was answered is known."""
    questions: Counter[str] = field(default_factory=Counter)
    deadlines: Deadlines = field(default_factory=Deadlines)
    """How long it may last, the time apart in which a person is waited for."""
    heard: int = 0

    def hears(self) -> Conversation | None:
        """Return who hears what the server tells; None once that is more than is handed on."""
        self.heard += 1
        return self.talk.conversation if self.heard <= MOST_TOLD else None


class OpenCalls:
    """The calls of one connection. All of it happens in the loop of the connection."""

    def __init__(self, secrets: Callable[[], tuple[str, ...]]) -> None:
        self._secrets = secrets
        self._open: list[OpenCall] = []
        self._waiting: dict[str, OpenCall] = {}
        """Those in which a person is asked, by the key of the conversation."""

    async def make(self, talk: Talk, ask: Callable[[OpenCall], Coroutine[Any, Any, ToolAnswer]]) -> ToolAnswer:
        """Make a call, or go on with the open one of the same key. Raises ToolInputRequired, and what `ask` raises."""
        conversation = talk.conversation
        call = None if conversation is None else self._waiting.pop(conversation.key, None)
        if call is None or call.task is None or call.task.done():
            call = OpenCall(talk)
            self._open.append(call)
            call.task = asyncio.create_task(ask(call))
            call.task.add_done_callback(partial(self._ended, call))
        else:
            call.talk = talk
        call.asked = asyncio.get_running_loop().create_future()
        call.answered.set()
        try:
            ends: list[asyncio.Future[Any]] = [call.task, call.asked]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            call.task.cancel()
            await asyncio.gather(call.task, return_exceptions=True)
            raise
        if call.task.done():
            return call.task.result()
        assert conversation is not None  # noqa: S101 - without one nobody is asked
        self._waiting[conversation.key] = call
        raise ToolInputRequired(call.asked.result())

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clocks of all open calls, as while somebody signs in: every one waits for that."""
        with ExitStack() as stack:
            for call in self._open:
                stack.enter_context(call.deadlines.paused())
            yield

    def _ended(self, call: OpenCall, task: asyncio.Task[ToolAnswer]) -> None:
        self._open.remove(call)
        if not task.cancelled():
            # Nobody may be left who makes it again, and hears how it ended.
            task.exception()

    def close(self) -> None:
        """Break off the calls that wait for a person."""
        for call in self._waiting.values():
            if call.task is not None:
                call.task.cancel()
        self._waiting.clear()

    # What a server asks

    async def elicit(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        """Answer a question that came over the connection."""
        del context
        call = self._longest_open()
        return await self.answer(call, params) if call is not None else ElicitResult(action="cancel")

    async def answer(self, call: OpenCall, params: ElicitRequestParams) -> ElicitResult:
        """Answer a question of a call, when somebody has."""
        form = isinstance(params, ElicitRequestFormParams)
        schema: Any = sanitize(params.requested_schema) if isinstance(params, ElicitRequestFormParams) else None
        message = hidden(str(sanitize(params.message)), self._secrets())
        question = ServerQuestion(message, schema, None if form else str(getattr(params, "url", "")))
        asked = ServerQuestion(question.message, schema, question.url, call.questions[question.digest])
        call.questions[question.digest] += 1
        answer: ServerAnswer | None = await self._when_known(
            call, asked, lambda conversation: conversation.answer(asked)
        )
        if answer is None:
            return ElicitResult(action="cancel")
        content: Any = None if answer.content is None else dict(answer.content)
        return ElicitResult(action=answer.reaction, content=content)

    async def sample(
        self, context: ClientRequestContext, params: CreateMessageRequestParams
    ) -> CreateMessageResult | ErrorData:
        """Have the language model answer a server, where somebody allows it."""
        del context
        call = self._longest_open()
        if call is None:
            return ErrorData(code=INVALID_REQUEST, message="nothing is called now, so no language model answers")
        return await self.sampled(call, params)

    async def sampled(self, call: OpenCall, params: CreateMessageRequestParams) -> CreateMessageResult | ErrorData:
        """Have the language model answer a call, where somebody allows it."""
        try:
            request = _request_of(params)
            if not await self._when_known(call, request, lambda one: one.may_sample(request)):
                return ErrorData(code=INVALID_REQUEST, message="nobody allowed that a language model answers")
            conversation = call.talk.conversation
            if conversation is None:
                return ErrorData(code=INVALID_REQUEST, message="nobody is there to ask a language model")
            future = asyncio.run_coroutine_threadsafe(conversation.sample(request), call.talk.loop)
            text, model = await asyncio.wrap_future(future)
        except SamplingRefused as refused:
            return ErrorData(code=INVALID_REQUEST, message=str(refused))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the model is said, and the server goes on
            return ErrorData(
                code=INTERNAL_ERROR, message=f"the language model did not answer: {error}"[:MAX_LOG_CHARACTERS]
            )
        return CreateMessageResult(
            role="assistant", content=TextContent(type="text", text=text), model=model, stop_reason="endTurn"
        )

    async def log(self, params: LoggingMessageNotificationParams) -> None:
        """Hand on a message for a log."""
        call = self._longest_open()
        conversation = None if call is None else call.hears()
        if conversation is not None:
            data = sanitize(params.data)
            text = data if isinstance(data, str) else str(data)
            conversation.on_log(params.level, hidden(text, self._secrets())[:MAX_LOG_CHARACTERS])

    def progress(self, call: OpenCall) -> ProgressFnT:
        """Return what hears how far a call has come."""

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            conversation = call.hears()
            if conversation is not None:
                conversation.on_progress(
                    progress, total, hidden(str(sanitize(message or "")), self._secrets())[:MAX_LOG_CHARACTERS]
                )

        return on_progress

    async def _when_known(self, call: OpenCall, question: Any, look: Callable[[Conversation], Any]) -> Any:
        """Return what a conversation says; while it does not know, the call waits for a person, and no clock runs."""
        with ExitStack() as stack:
            while True:
                if call.talk.conversation is None:
                    return None
                value = look(call.talk.conversation)
                if value is not None:
                    return value
                if call.asked is None or call.asked.done():
                    return None
                call.answered.clear()
                call.asked.set_result(question)
                stack.enter_context(call.deadlines.paused())
                try:
                    async with asyncio.timeout(LONGEST_WAIT_S):
                        await call.answered.wait()
                except TimeoutError:
                    return None
                stack.close()

    def _longest_open(self) -> OpenCall | None:
        return next((open_call for open_call in self._open if open_call.talk.conversation is not None), None)


def _request_of(params: CreateMessageRequestParams) -> SamplingRequest:
    """Return what is asked of a model. Raises SamplingRefused for what is no text."""
    if getattr(params, "tools", None):
        message = "the language model is asked without tools"
        raise SamplingRefused(message)
    messages: list[Any] = [("system", str(sanitize(params.system_prompt)))] if params.system_prompt else []
    for sampling_message in params.messages:
        blocks = sampling_message.content if isinstance(sampling_message.content, list) else [sampling_message.content]
        for block in blocks:
            if not isinstance(block, TextContent):
                message = f"the language model takes text, and no {block.type}"
                raise SamplingRefused(message)
            messages.append((sampling_message.role, str(sanitize(block.text))))
    return SamplingRequest(tuple(messages), params.max_tokens)
