"""What an earlier run asked of a language model, and how it was answered: a replay asks the record."""

from __future__ import annotations

import sys
from collections import deque
from dataclasses import replace

from infospace.core.errors import NotRecorded, ReplayedFailure
from infospace.journal.id_mapping import ReplaySource
from infospace.journal.rows import CANCELLED, CallRow
from infospace.llm.model import Message, OnText, Reply, Request
from infospace.llm.prompts import reworded


class RecordedModel:
    """The language model of a replay: it has the name of the one that was asked, and is never asked itself."""

    context = sys.maxsize
    """Nothing is too long that was asked."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def complete(self, request: Request, on_text: OnText | None = None) -> Reply:
        """Raise NotRecorded: a replay asks no model."""
        del request, on_text
        raise unrecorded(self.name)


def unrecorded(model: str) -> NotRecorded:
    """Return what is said of a question of which there is no record."""
    return NotRecorded(f"the earlier run did not ask this of {model}", hint="`--live` asks it now")


class RecordedCalls:
    """The answers and failures of a run. Questions are told with the ids that it gave out, answers with ours."""

    def __init__(self, earlier: ReplaySource) -> None:
        self.only = earlier.only
        self.ids = earlier.ids
        self._earlier = earlier
        self._replies: dict[bytes, deque[Reply]] = {}
        self._failures: dict[tuple[str, bytes], deque[CallRow]] = {}
        self._turns: dict[str, deque[Reply]] = {}
        """The answers of each step, in their order."""
        rows = [row for row in earlier.calls if row.kind == "llm"]
        self.models = list(dict.fromkeys(row.target for row in rows))
        """The models that were asked."""
        for row in rows:
            if row.status == "success" and isinstance(row.answer, str):
                reply = Reply(row.answer, row.tokens)
                self._replies.setdefault(row.digest, deque()).append(reply)
                self._turns.setdefault(row.position, deque()).append(reply)
            else:
                self._failures.setdefault((row.position, row.digest), deque()).append(row)

    async def reply(self, model: str, request: Request, position: str) -> Reply | None:
        """Return how a question of a step was answered, None where it was not asked.

        Raises ReplayedFailure where it failed there. One that was not answered before it was broken off never
        returns, and raises ReplayInterrupted where its step was broken off with it.

        What asks for a plan tells what the space holds, which the run itself has changed since: it is answered as the
        step was answered at that turn.
        """
        turn = self._turns[position].popleft() if request.strict and self._turns.get(position) else None
        for question in dict.fromkeys((model, *self.models)):
            result = await self._of(question, request, position)
            if result is not None:
                return result
        if turn is None or not self.only:
            return None
        return replace(turn, text=self.ids.later(turn.text))

    async def _of(self, model: str, request: Request, position: str) -> Reply | None:
        key = self._key(model, request)
        failures, replies = self._failures.get((position, key)), self._replies.get(key)
        if failures:
            failed = failures.popleft()
            if failed.error not in (None, CANCELLED):
                raise ReplayedFailure(failed.reason or f"{model} did not answer", failed.error or ReplayedFailure.kind)
            if not replies and self.only:
                await self._earlier.replay_interruption(position)
        if not replies:
            return None
        return replace(replies[0], text=self.ids.later(replies[0].text))

    def forget(self, model: str, request: Request) -> None:
        """Leave out an answer that could not be used: the next one was given when it was asked again."""
        for question in dict.fromkeys((model, *self.models)):
            replies = self._replies.get(self._key(question, request))
            if replies:
                replies.popleft()
                return

    def _key(self, model: str, request: Request) -> bytes:
        messages: list[Message] = [
            {**message, "content": reworded(message["content"], self.ids.earlier)} for message in request.messages
        ]
        return replace(request, messages=tuple(messages)).digest(model)
