"""One call of what is outside, as the journal has it: written before its effect, and again when it has ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from infospace.core.clock import now
from infospace.core.errors import InfospaceError
from infospace.core.json_types import JSON
from infospace.core.resources import CreatedBy
from infospace.journal.rows import CANCELLED, CallKind, CallRow, CallStatus

ASKED = "asked"
"""The kind of a call that did not fail, but was left open with a question of the other side."""

Record: TypeAlias = Callable[[CallRow], object]
"""Commits a row of the journal."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that a step makes. Without `record`, and outside of runs, nothing of it is journalled.

    The fields are those of a `CallRow`; `made` says by which step of which run.
    """

    record: Record | None
    created_by: CreatedBy
    sequence: int
    kind: CallKind
    target: str
    digest: bytes
    request: JSON
    _started: str = field(default_factory=now)
    _clock: float = field(default_factory=time.perf_counter)

    def record_start(self) -> None:
        """Journal that it is made now: from here on it may have its effect."""
        self._write("started")

    def record_answer(self, answer: JSON, tokens: int = 0) -> None:
        """Journal what it answered, and what question and answer cost together."""
        self._write("success", tokens=tokens, answer=answer)

    def record_failure(self, error: BaseException) -> None:
        """Journal that it came to nothing, and why."""
        kind = error.kind if isinstance(error, InfospaceError) else CANCELLED
        self._write("failed", reason=str(error) or "the call was broken off", error=kind)

    def record_question(self, question: str) -> None:
        """Journal that it was left open with a question, and is made again once that is answered."""
        self._write("failed", reason=question, error=ASKED)

    def _write(
        self,
        status: CallStatus,
        *,
        tokens: int = 0,
        answer: JSON = None,
        reason: str | None = None,
        error: str | None = None,
    ) -> None:
        if self.record is None or self.created_by.run is None:
            return
        self.record(
            CallRow(
                run=self.created_by.run,
                sequence=self.sequence,
                position=self.created_by.step or "",
                kind=self.kind,
                target=self.target,
                digest=self.digest,
                status=status,
                started=self._started,
                duration_ms=0.0 if status == "started" else round((time.perf_counter() - self._clock) * 1000, 3),
                tokens=tokens,
                answer=answer,
                reason=reason,
                error=error,
                request=self.request,
            )
        )
