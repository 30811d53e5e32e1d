"""Calls of tools in a run: journalled before and after, charged, and never made twice where that could do harm."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from infospace.core.errors import BudgetExceeded, InfospaceError, InputRequired, NotRecorded, ReplayedFailure
from infospace.core.json_types import JSON
from infospace.core.position import first_attempt
from infospace.core.resources import CreatedBy
from infospace.core.tool import NotAllowed, NotCalled, Tool, ToolAnswer, ToolFailed
from infospace.journal.answer_cache import AnswerCache, addressed
from infospace.journal.external_call import ASKED, Call, Record
from infospace.journal.id_mapping import ReplaySource, rename_ids
from infospace.journal.rows import CallRow
from infospace.tools.approvals import APPROVAL_SCHEMA, question, repeat_question

IN_DOUBT_SCHEMA: Mapping[str, JSON] = {
    "oneOf": [
        {"const": "repeat"},
        {"type": "object", "properties": {"result": {}}, "required": ["result"], "additionalProperties": False},
        {
            "type": "object",
            "properties": {"failed": {"type": "string"}},
            "required": ["failed"],
            "additionalProperties": False,
        },
    ]
}
"""What may be said of a call in doubt: make it again, what it answered, or that it failed and why."""

REPEAT: Mapping[str, JSON] = {
    "enum": ["once", "no"],
    "description": "once: it is called again; no: it is not called, and the step fails",
}
"""What may be said of a call that the run has made already: an answer holds for that call alone."""


class PriorCalls(Protocol):
    """What an earlier part of the run left."""

    def call(self, position: str, digest: bytes) -> CallRow | None:
        """Take the next call that a step made with these arguments, None when it made no more."""

    def find_made_call(self, digest: bytes) -> str | None:
        """Return the position of a call with these arguments that has, or may have, had its effect.

        That of a call in a run which this one was forked from ends with the run: `4 of run_7`.
        """

    def answered(self, key: str) -> bool:
        """Whether something was answered that is kept under this."""

    def answer(self, key: str) -> JSON:
        """Return what was answered."""


class Allowed(Protocol):
    """Says of a tool whether it may be called without asking."""

    def __call__(self, tool: Tool, *, by_name: bool) -> bool:
        """Without `by_name` only where it was allowed as it is now."""


class ToolCalls:
    """The calls of tools of one run.

    `max_calls` is its budget, None without limit; `record` commits a row.
    """

    def __init__(
        self,
        max_calls: int | None,
        record: Record,
        number: Callable[[], int],
        allowed: Allowed,
        prior_calls: PriorCalls | None = None,
    ) -> None:
        self.count = 0
        """How many calls were made."""
        self.replay_source: ReplaySource | None = None
        """In a replay, the run that is replayed."""
        self.can_ask = True
        """Whether there is anybody to be asked."""
        self.asks_again = False
        """Whether a call that was made already, and is not idempotent, is asked about: a model writes the steps."""
        self.answers: AnswerCache | None = None
        """Where the answers of tools that only read are kept across runs."""
        self._max_calls = max_calls
        self._record = record
        self._number = number
        self._allowed = allowed
        self._prior_calls = prior_calls
        self._first_definitions: dict[str, bytes] = {}
        """The definition of each tool when this run first called it: an approval by name holds for it alone."""
        self._calls_by_digest: dict[bytes, str] = {}
        """The positions of calls that are made here, or were, by the digest of tool and arguments."""

    def limit(self, max_calls: int | None) -> None:
        """Take the limit of a budget that was not known before."""
        self._max_calls = max_calls

    def answer_to(self, key: str) -> tuple[bool, JSON]:
        """Return whether something was answered that is kept under a key, and what."""
        is_known = self._prior_calls is not None and self._prior_calls.answered(key)
        return is_known, self._prior_calls.answer(key) if is_known and self._prior_calls is not None else None

    def allows(self, tool: Tool) -> bool:
        """Whether a tool may be called without asking."""
        return self._allowed(tool, by_name=True)

    async def make(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        created_by: CreatedBy,
        call: Callable[[Tool], Awaitable[ToolAnswer]],
        current: Callable[[], Awaitable[Tool]],
    ) -> ToolAnswer:
        """Make a call, or take its answer from an earlier part of the run.

        `current` starts the tool's server and returns the tool as that lists it then, or raises; a tool that says
        something else of itself is asked about once more.

        One that was begun there and is not known to have ended is made again where the tool only reads or is
        idempotent; else InputRequired asks what became of it. It also asks before a call that nobody has allowed, and
        with `asks_again` before one that was made already and is not idempotent.
        Raises NotAllowed where that was answered with no, BudgetExceeded, and what the call raises, or raised then;
        in a replay also NotRecorded and ReplayInterrupted.
        """
        digest, position = self._digest(tool, arguments), created_by.step or ""
        recorded = await self._recorded_answer(tool, digest, position)
        if recorded is not None:
            return recorded
        if self._replay_only:
            raise NotRecorded(f"the earlier run did not call {tool.full_name} so here", hint="`--live` calls it now")
        earlier = self._earlier_position(tool, digest, position)
        if earlier is None:
            self._must_be_allowed(tool, arguments, position)
        else:
            self._must_be_repeated(tool, arguments, position, earlier)
        cached = self._cached(tool, arguments, created_by, digest)
        if cached is not None:
            return cached
        if self._max_calls is not None and self.count >= self._max_calls:
            hint = '"budget": {"tool_calls": …}'
            raise BudgetExceeded(f"the budget of {self._max_calls:,} tool_calls is spent", hint=hint)
        # No await stands between the look at `_calls_by_digest` and this entry: of two equal calls at once one is
        # asked about.
        self._calls_by_digest.setdefault(digest, position)
        try:
            answer = await self._checked_call(tool, arguments, created_by, digest, call, current)
        except (InputRequired, NotAllowed, NotCalled):
            self._forget(digest, position)
            raise
        if answer.is_error:
            self._forget(digest, position)
        elif self._uses_cache(tool) and self.answers is not None:
            self.answers.keep("tool", addressed(tool.digest, digest), _written(answer))
        return answer

    def _uses_cache(self, tool: Tool) -> bool:
        return self.answers is not None and self.replay_source is None and tool.read_only

    def _cached(
        self, tool: Tool, arguments: Mapping[str, Any], created_by: CreatedBy, digest: bytes
    ) -> ToolAnswer | None:
        """Return what an earlier run was answered, which is journalled as an answer of this one."""
        if not self._uses_cache(tool) or self.answers is None:
            return None
        stored = self.answers.find("tool", addressed(tool.digest, digest))
        if not isinstance(stored, dict):
            return None
        call = Call(self._record, created_by, self._number(), "tool", tool.full_name, digest, dict(arguments))
        call.record_answer(stored)
        return replace(self._answer_of(stored), cached=True)

    async def _checked_call(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        created_by: CreatedBy,
        digest: bytes,
        call: Callable[[Tool], Awaitable[ToolAnswer]],
        current: Callable[[], Awaitable[Tool]],
    ) -> ToolAnswer:
        """Call the tool as its server lists it now; one that says something else of itself is asked about."""
        try:
            listed_now = await current()
        except NotCalled as error:
            self._journalled(tool, arguments, created_by, digest).record_failure(error)
            raise
        if listed_now.digest != tool.digest or listed_now is not tool:
            self._must_be_allowed(listed_now, arguments, created_by.step or "")
        return await self._make_call(self._journalled(tool, arguments, created_by, digest), lambda: call(listed_now))

    def _earlier_position(self, tool: Tool, digest: bytes, position: str) -> str | None:
        """Return where a call was made already that must not be made twice unasked; an attempt again is the same."""
        if not self.asks_again or tool.read_only or tool.idempotent:
            return None
        places = (
            self._calls_by_digest.get(digest),
            None if self._prior_calls is None else self._prior_calls.find_made_call(digest),
        )
        return next(
            (place for place in places if place is not None and first_attempt(place) != first_attempt(position)), None
        )

    def _forget(self, digest: bytes, position: str) -> None:
        """Take note that a call had no effect: its tool was not reached, or said that it failed."""
        if self._calls_by_digest.get(digest) == position:
            del self._calls_by_digest[digest]

    def _must_be_repeated(self, tool: Tool, arguments: Mapping[str, Any], position: str, earlier: str) -> None:
        """Ask about a call that was made already, unless that was answered: what is allowed by name is not enough."""
        subject = hashlib.sha256(tool.digest + digest_of(tool, arguments)).hexdigest()[:16]
        key = f"{first_attempt(position)}?again-{subject}"
        if self._prior_calls is not None and self._prior_calls.answered(key):
            if self._prior_calls.answer(key) == "no":
                raise NotAllowed(f"{tool.full_name} was not called again: asked about it, somebody said no")
            return
        if not self.can_ask:
            message = (
                f"{tool.full_name} was called with these arguments by step {earlier}, and nobody can be asked here"
            )
            raise NotAllowed(message, hint="give it other arguments, or call it in another run")
        about_tool = {"tool": tool.full_name, "digest": tool.digest.hex()}
        question = repeat_question(tool, arguments, earlier)
        raise InputRequired(position, "approve", question, REPEAT, key=key, about=about_tool)

    def _journalled(self, tool: Tool, arguments: Mapping[str, Any], created_by: CreatedBy, digest: bytes) -> Call:
        self.count += 1
        return Call(self._record, created_by, self._number(), "tool", tool.full_name, digest, dict(arguments))

    @property
    def _replay_only(self) -> bool:
        return self.replay_source is not None and self.replay_source.only

    def _digest(self, tool: Tool, arguments: Mapping[str, Any]) -> bytes:
        """Return the digest of a call; in a replay that which the call had in the earlier run."""
        if self.replay_source is None:
            return digest_of(tool, arguments)
        ids = self.replay_source.ids
        return digest_of(tool, {name: rename_ids(value, ids.earlier) for name, value in arguments.items()})

    async def _recorded_answer(self, tool: Tool, digest: bytes, position: str) -> ToolAnswer | None:
        """Return what the record has of a call, or somebody said of it where it is in doubt; None: make it now."""
        broken = False
        while self._prior_calls is not None and (past := self._prior_calls.call(position, digest)) is not None:
            if past.status == "success":
                return self._answer_of(past.answer)
            if past.status == "failed" and past.error == ASKED:
                # It waited for an answer, and nothing else: it is made again, and goes on with that.
                continue
            if past.status == "failed":
                raise ReplayedFailure(past.reason or f"{tool.full_name} failed", past.error or ToolFailed.kind)
            broken = True
            if self._must_ask_about(tool, f"{position}!{past.sequence}"):
                resolved = self._resolve_in_doubt(tool, position, past.sequence)
                if resolved is not None:
                    return resolved
        if broken and self.replay_source is not None and self.replay_source.only:
            await self.replay_source.replay_interruption(position)
        return None

    def _must_ask_about(self, tool: Tool, key: str) -> bool:
        """Whether it is said, or to be asked, what became of a call in doubt: a replay takes what was said then."""
        if self.replay_source is not None:
            return self._prior_calls is not None and self._prior_calls.answered(key)
        return not (tool.read_only or tool.idempotent)

    def _resolve_in_doubt(self, tool: Tool, position: str, sequence: int) -> ToolAnswer | None:
        """Return what somebody said of a call in doubt; None says to make it again."""
        key = f"{position}!{sequence}"
        if self._prior_calls is None or not self._prior_calls.answered(key):
            question = f"{tool.full_name} was being called when the run broke off; did it have its effect?"
            raise InputRequired(position, "doubt", question, IN_DOUBT_SCHEMA, key=key, about={"tool": tool.full_name})
        answer = self._with_own_ids(self._prior_calls.answer(key))
        if isinstance(answer, dict) and "failed" in answer:
            raise ToolFailed(f"{tool.full_name} failed: {answer['failed']}")
        return ToolAnswer(structured=answer["result"]) if isinstance(answer, dict) and "result" in answer else None

    def _must_be_allowed(self, tool: Tool, arguments: Mapping[str, Any], position: str) -> None:
        """Ask about a call, unless that was answered: an answer holds for this tool as it is and these arguments.

        A step that is attempted again makes the same call.
        """
        first = self._first_definitions.setdefault(tool.full_name, tool.digest)
        if self._allowed(tool, by_name=tool.digest == first):
            return
        subject = hashlib.sha256(tool.digest + digest_of(tool, arguments)).hexdigest()[:16]
        key = f"{first_attempt(position)}?{subject}"
        if self._prior_calls is not None and self._prior_calls.answered(key):
            if self._prior_calls.answer(key) == "no":
                raise NotAllowed(f"{tool.full_name} was not called: asked about it, somebody said no")
            return
        if not self.can_ask:
            message = f"{tool.full_name} is asked about before it is called, and nobody can be asked here"
            raise NotAllowed(message, hint="answered with `always` in a run, it is not asked about any more")
        about_tool = {"tool": tool.full_name, "digest": tool.digest.hex()}
        raise InputRequired(position, "approve", question(tool, arguments), APPROVAL_SCHEMA, key=key, about=about_tool)

    def _answer_of(self, stored: JSON) -> ToolAnswer:
        if not isinstance(stored, dict):
            return ToolAnswer()
        blocks: Any = self._with_own_ids(stored.get("blocks", []))
        return ToolAnswer(blocks, self._with_own_ids(stored.get("structured")), bool(stored.get("is_error")))

    def _with_own_ids(self, value: JSON) -> JSON:
        """Return what is in the record, in a replay with the ids that are given out now."""
        return value if self.replay_source is None else rename_ids(value, self.replay_source.ids.later)

    async def _make_call(self, call: Call, make: Callable[[], Awaitable[ToolAnswer]]) -> ToolAnswer:
        call.record_start()
        try:
            answer = await make()
        except InputRequired as asked:
            call.record_question(asked.question)
            raise
        except InfospaceError as error:
            call.record_failure(error)
            raise
        call.record_answer(_written(answer))
        return answer


def _written(answer: ToolAnswer) -> JSON:
    blocks: Any = [dict(block) for block in answer.blocks]
    return {"blocks": blocks, "structured": answer.structured, "is_error": answer.is_error}


def digest_of(tool: Tool, arguments: Mapping[str, Any]) -> bytes:
    """Return the SHA-256 of all that a call's answer depends on."""
    text = json.dumps([tool.full_name, dict(arguments)], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
