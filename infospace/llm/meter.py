"""What one run asks of a language model: each question once, charged, and journalled before and after."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from infospace.core.errors import BadResponse, BudgetExceeded
from infospace.core.plural import pluralize
from infospace.core.resources import CreatedBy
from infospace.journal.answer_cache import AnswerCache, addressed
from infospace.journal.external_call import Call, Record
from infospace.journal.id_mapping import IdMapping, ReplaySource
from infospace.journal.rows import CallRow
from infospace.llm.model import LanguageModel, OnText, Reply, Request, estimate
from infospace.llm.recorded import RecordedCalls, unrecorded
from infospace.tools.journalled_calls import ToolCalls

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _PendingCall:
    """A call under way, and how many wait for its answer."""

    task: asyncio.Task[Reply]
    waiting: int = 0


class Meter:
    """The calls of one run. Limits are those of its budget; None is no limit.

    `record` commits the rows of calls that steps of a run make; without it, and outside of runs, nothing is
    journalled. Equal calls, at once or later, are made and charged once; a call that failed is made again.
    """

    def __init__(self, llm_calls: int | None = None, tokens: int | None = None, record: Record | None = None) -> None:
        self.calls = 0
        """How many calls were made, failed ones too."""
        self.tokens = 0
        """How many tokens they cost, as far as that is known."""
        self.tools: ToolCalls | None = None
        """The calls of tools of the same run."""
        self.counterparts: IdMapping | None = None
        """In a replay, the ids that the earlier run gave out."""
        self._llm_calls = llm_calls
        self._limit = tokens
        self._record = record
        self._sequence = 0
        self._promised = 0
        self._recall: RecordedCalls | None = None
        self._answered = 0
        self.answers: AnswerCache | None = None
        """Where answers are kept across runs; a replay has its own record of them."""
        self._answers: dict[bytes, Reply] = {}
        self._going: dict[bytes, _PendingCall] = {}

    def limit(self, llm_calls: int | None, tokens: int | None, tool_calls: int | None) -> None:
        """Take the limits of a budget that was not known before."""
        self._llm_calls, self._limit = llm_calls, tokens
        if self.tools is not None:
            self.tools.limit(tool_calls)

    @property
    def spent(self) -> dict[str, float]:
        """What was spent, by the names of the budget; empty where nothing was."""
        return {"llm_calls": self.calls, "tokens": self.tokens} if self.calls else {}

    async def call(
        self, model: LanguageModel, request: Request, created_by: CreatedBy, on_text: OnText | None = None
    ) -> tuple[Reply, bool]:
        """Return the answer to a request of a step, and whether a call was made for it.

        `on_text` is handed the pieces of an answer that is not known yet as they come.

        Raises LanguageModelError, BudgetExceeded; in a replay NotRecorded, ReplayedFailure and ReplayInterrupted.
        """
        known = None if self._recall is None else await self._recall.reply(model.name, request, created_by.step or "")
        if known is not None:
            return known, False
        key = request.digest(model.name)
        if key in self._answers:
            return self._answers[key], False
        going = self._going.get(key)
        first = going is None
        if going is None and (cached := self._cached(model, request, key, created_by)) is not None:
            if on_text is not None:
                on_text(cached.text)
            return cached, False
        if going is None and self._recall is not None and self._recall.only:
            raise unrecorded(model.name)
        if going is None:
            promised = self._charge(request)
            going = _PendingCall(
                asyncio.create_task(self._make_call(model, request, key, created_by, promised, on_text))
            )
            self._going[key] = going
        going.waiting += 1
        try:
            return await asyncio.shield(going.task), first
        finally:
            going.waiting -= 1
            if not going.waiting:
                self._going.pop(key, None)
                if not going.task.done():
                    going.task.cancel()
                    await asyncio.gather(going.task, return_exceptions=True)

    def _cached(self, model: LanguageModel, request: Request, key: bytes, created_by: CreatedBy) -> Reply | None:
        """Return what an earlier run was answered, which is journalled as an answer that cost nothing."""
        if self.answers is None or self._recall is not None:
            return None
        text = self.answers.find("llm", _address(model, key))
        if not isinstance(text, str):
            return None
        call = Call(self._record, created_by, self.number(), "llm", model.name, key, request.to_json())
        call.record_answer(text)
        self._answers[key] = Reply(text, 0)
        return Reply(text, 0, cached=True)

    def forget(self, model: LanguageModel, request: Request) -> None:
        """Forget an answer that could not be used, so that it can be asked for again."""
        if self.answers is not None:
            self.answers.forget("llm", _address(model, request.digest(model.name)))
        self._answers.pop(request.digest(model.name), None)
        if self._recall is not None:
            self._recall.forget(model.name, request)

    def remember(self, calls: Sequence[CallRow]) -> None:
        """Take up the calls of an earlier part of the run: they are charged, numbered, and not made again."""
        for row in calls:
            self._sequence = max(self._sequence, row.sequence)
            if row.kind != "llm":
                continue
            self.calls += 1
            self.tokens += row.tokens
            if row.status == "success" and isinstance(row.answer, str):
                self._answered += 1
                self._answers[row.digest] = Reply(row.answer, row.tokens)

    def recall(self, earlier: ReplaySource) -> None:
        """Answer what an earlier run asked as it was answered then."""
        self.counterparts = earlier.ids
        self._recall = RecordedCalls(earlier)

    def number(self) -> int:
        """Return the number of the run's next call of what is outside, whatever its kind."""
        self._sequence += 1
        return self._sequence

    def _charge(self, request: Request) -> int:
        """Take a call from the budget; return the tokens that it is taken for, until it is answered.

        Those are the messages' alone, or what calls of the run have cost on average where that is more.
        """
        if self._llm_calls is not None and self.calls >= self._llm_calls:
            raise BudgetExceeded(
                f"the budget of {self._llm_calls:,} llm_calls is spent", hint='"budget": {"llm_calls": …}'
            )
        usual = self.tokens // self._answered if self._answered else 0
        expected, spent = max(estimate(request.messages), usual), self.tokens + self._promised
        if self._limit is not None and spent + expected > self._limit:
            left = max(0, self._limit - spent)
            why = f"is too small: {left:,} are left, and the next call takes about {expected:,}" if left else "is spent"
            raise BudgetExceeded(
                f"the budget of {pluralize(self._limit, 'token')} {why}", hint='"budget": {"tokens": …}'
            )
        self.calls += 1
        self._promised += expected
        return expected

    async def _make_call(
        self,
        model: LanguageModel,
        request: Request,
        key: bytes,
        created_by: CreatedBy,
        promised: int,
        on_text: OnText | None,
    ) -> Reply:
        call = Call(self._record, created_by, self.number(), "llm", model.name, key, request.to_json())
        try:
            call.record_start()
            reply = await (model.complete(request) if on_text is None else model.complete(request, on_text))
        except BaseException as error:
            _log.info("the model %s gave no answer in step %s: %s", model.name, created_by.step, type(error).__name__)
            self.tokens += promised if isinstance(error, BadResponse) else 0
            call.record_failure(error)
            raise
        finally:
            self._promised -= promised
        _log.info("the model %s answered in step %s: %d tokens", model.name, created_by.step, reply.tokens)
        self.tokens += reply.tokens
        self._answered += 1
        call.record_answer(reply.text, reply.tokens)
        self._answers[key] = reply
        if self.answers is not None and self._recall is None:
            self.answers.keep("llm", _address(model, key), reply.text)
        return reply


def _address(model: LanguageModel, key: bytes) -> bytes:
    """Return the digest of a request with its endpoint: models of one name at two endpoints may be two."""
    settings = getattr(model, "settings", None)
    return addressed(getattr(settings, "url", ""), key)
