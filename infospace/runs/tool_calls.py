"""Calls of tools in a run: journalled before and after, charged, and never made twice where that could do harm."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from infospace.clock import now
from infospace.errors import BudgetSpent, InfospaceError, Unrecorded, Waiting
from infospace.jsonvalue import JSON
from infospace.resources import Made
from infospace.runs.journal import CallRow, CallStatus
from infospace.tools.tool import Tool, ToolAnswer, ToolFailed

DOUBT: Mapping[str, JSON] = {
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


class Past(Protocol):
    """What an earlier part of the run left."""

    def call(self, position: str, digest: bytes) -> CallRow | None:
        """Take the next call that a step made with these arguments, None when it made no more."""

    def answered(self, position: str) -> bool:
        """Whether something was answered to a step."""

    def answer(self, position: str) -> JSON:
        """Return what was answered to a step."""


class ToolCalls:
    """The calls of tools of one run. `most` is its budget, None without limit; `record` commits a row."""

    def __init__(
        self, most: int | None, record: Callable[[CallRow], object], number: Callable[[], int], past: Past | None = None
    ) -> None:
        self.count = 0
        """How many calls were made."""
        self.only = False
        """Whether nothing is called that has no record."""
        self._most = most
        self._record = record
        self._number = number
        self._past = past

    async def make(
        self, tool: Tool, arguments: Mapping[str, Any], made: Made, call: Callable[[], Awaitable[ToolAnswer]]
    ) -> ToolAnswer:
        """Make a call, or take its answer from an earlier part of the run.

        One that was begun there and is not known to have ended is made again where the tool only reads or is
        idempotent; else Waiting asks what became of it. Raises BudgetSpent, and what the call raises.
        """
        key, position = digest_of(tool, arguments), made.step or ""
        past = None if self._past is None else self._past.call(position, key)
        if past is not None and past.status == "success":
            return _answer_of(past.answer)
        if self.only:
            raise Unrecorded(f"the earlier run did not call {tool.full_name} so here", hint="`--live` calls it now")
        if past is not None and past.status == "failed":
            raise ToolFailed(past.reason or f"{tool.full_name} failed")
        if past is not None and not (tool.read_only or tool.idempotent):
            told = self._told(tool, position)
            if told is not None:
                return told
        if self._most is not None and self.count >= self._most:
            hint = '"budget": {"tool_calls": …}'
            raise BudgetSpent(f"the budget of {self._most:,} tool_calls is spent", hint=hint)
        self.count += 1
        return await self._made(tool, key, made, call)

    def _told(self, tool: Tool, position: str) -> ToolAnswer | None:
        """Return what a person said of a call in doubt; None says to make it again."""
        if self._past is None or not self._past.answered(position):
            question = f"{tool.full_name} was being called when the run broke off; did it have its effect?"
            raise Waiting(position, "doubt", question, DOUBT)
        said = self._past.answer(position)
        if isinstance(said, dict) and "failed" in said:
            raise ToolFailed(f"{tool.full_name} failed: {said['failed']}")
        return ToolAnswer(structured=said["result"]) if isinstance(said, dict) and "result" in said else None

    async def _made(self, tool: Tool, key: bytes, made: Made, call: Callable[[], Awaitable[ToolAnswer]]) -> ToolAnswer:
        sequence, started, clock = self._number(), now(), time.perf_counter()

        def journal(status: CallStatus, answer: JSON = None, error: BaseException | None = None) -> None:
            if made.run is None:
                return
            kind = error.kind if isinstance(error, InfospaceError) else "cancelled" if error else None
            self._record(
                CallRow(
                    run=made.run,
                    sequence=sequence,
                    position=made.step or "",
                    kind="tool",
                    target=tool.full_name,
                    digest=key,
                    status=status,
                    started=started,
                    duration_ms=0.0 if status == "started" else round((time.perf_counter() - clock) * 1000, 3),
                    answer=answer,
                    reason=(str(error) or "the call was broken off") if error else None,
                    error=kind,
                )
            )

        journal("started")
        try:
            answer = await call()
        except InfospaceError as error:
            journal("failed", error=error)
            raise
        journal(
            "success",
            {"blocks": [dict(b) for b in answer.blocks], "structured": answer.structured, "is_error": answer.is_error},
        )
        return answer


def digest_of(tool: Tool, arguments: Mapping[str, Any]) -> bytes:
    """Return the SHA-256 of all that a call's answer depends on."""
    text = json.dumps([tool.full_name, dict(arguments)], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _answer_of(kept: JSON) -> ToolAnswer:
    if not isinstance(kept, dict):
        return ToolAnswer()
    blocks: Any = kept.get("blocks", ())
    return ToolAnswer(blocks, kept.get("structured"), bool(kept.get("is_error")))
