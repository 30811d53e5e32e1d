"""JSON Lines as a session: each line is checked and run before the next is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from infospace.core.errors import InvalidJSON
from infospace.core.json_types import JSON
from infospace.core.resources import Resource
from infospace.journal.rows import StepRow
from infospace.space import Space
from planner.journal.commit_order import SuspendRequest
from planner.journal.events import Emit, Event, RunStarted
from planner.journal.result import RunResult
from planner.language.problems import Problem
from planner.parse.text import is_head
from planner.sessions.check import check_session_line
from planner.sessions.session import Session
from planner.sessions.session_run import CallEnd, SessionRun

UNREAD = "standard input is read no further"


class LineRunner:
    """Lines of a session, which ends at the first that is refused, fails or waits, and after the last.

    One by name stays open for others to go on with, and the outcome is that of these lines.
    """

    def __init__(
        self,
        space: Space,
        emit: Emit,
        name: str | None = None,
        inputs: Mapping[str, JSON] | None = None,
        approve: Sequence[str] = (),
    ) -> None:
        self._space = space
        self._emit = emit
        self._name = name
        self._inputs = inputs
        self._approve = approve
        self._session: Session | None = None
        self._run: SessionRun | None = None
        self._read = 0
        self._started = False
        self._rows: list[StepRow] = []
        self._warnings: list[Problem] = []
        self._value: Resource | None = None
        self._said: list[str] = []

    async def line(self, value: JSON, halt: SuspendRequest | None = None) -> RunResult | None:
        """Check and run the next line, which may be a head where it is the first.

        Returns the end where it was refused, failed or waits; else None. Raises Conflict for a session by name that
        waits already, or runs elsewhere.
        """
        index, self._read = self._read, self._read + 1
        if self._session is None:
            head = value if is_head(value) else None
            refused = await self._begun(head)
            if refused is not None or head is not None:
                return refused
        called = await self._open.call(check_session_line(value, index), self._forward_event, halt)
        self._run, call_end = called.run, called.ended
        if call_end is None:
            return await self._end(CallEnd("refused", reason="a step was refused by the check"), called.problems)
        self._warnings += called.problems
        self._said += [called.said] if called.said else []
        self._rows += called.run.call_rows
        self._value = call_end.result or self._value
        if call_end.status == "success":
            return None
        if call_end.status == "suspended" and call_end.reason is not None:
            call_end = replace(call_end, reason=f"{call_end.reason}; {UNREAD}")
        elif call_end.status == "suspended":
            questions = [pending.step for pending in call_end.pending if pending.kind != "wait"]
            how = f"answer {called.run.id} {questions[0]} …" if questions else f"resume {called.run.id}"
            call_end = replace(call_end, reason=f"{UNREAD}; `infospace {how}` goes on with what was read")
        return await self._end(call_end)

    async def end(self) -> RunResult:
        """End after the last line."""
        refused = None if self._session is not None else await self._begun(None)
        return refused or await self._end(CallEnd("success", self._value))

    async def unreadable(self, error: InvalidJSON) -> RunResult:
        """End at a line that cannot be read: what was run stays, and the line is refused."""
        problem = Problem("unreadable", error.pointer, error.message, error.hint)
        if self._session is None:
            return RunResult(None, "refused", problems=[problem])
        return await self._end(CallEnd("refused", reason=error.message), [problem])

    async def interrupted(self) -> RunResult:
        """End between two lines, with what was run."""
        if self._session is None:
            return RunResult(None, "cancelled", reason=f"interrupted; {UNREAD}")
        open_still = "" if self._name is None else f", and the session {self._name!r} stays open"
        return await self._end(CallEnd("cancelled", self._value, f"interrupted; {UNREAD}{open_still}"))

    @property
    def _open(self) -> Session:
        assert self._session is not None  # noqa: S101 - it was begun
        return self._session

    async def _begun(self, head: JSON) -> RunResult | None:
        """Open the session; return its refusal where something is wrong with its head."""
        session = Session(self._space, self._name, head, self._inputs, self._approve, once=True)
        problems = await session.begin()
        if problems:
            return RunResult(None, "refused", problems=problems)
        self._session = session
        return None

    async def _end(self, call_end: CallEnd, problems: Sequence[Problem] = ()) -> RunResult:
        """End with this: the session too, where it has no name and does not wait."""
        results = problems or self._warnings
        if self._name is None and not call_end.over and call_end.status != "suspended":
            if call_end.status == "success":
                return replace(await self._open.end(self._forward_event), problems=results)
            return replace(
                await self._open.close(call_end.status, call_end.reason or "", self._forward_event), problems=results
            )
        if self._run is None:
            return RunResult(self._open.run, call_end.status, problems=results, reason=call_end.reason)
        reason = "; ".join(text for text in (call_end.reason, *self._said) if text) or None
        result = self._run.outcome(replace(call_end, reason=reason), results, whole=self._name is None)
        return result if self._name is None else replace(result, steps=self._rows)

    def _forward_event(self, event: Event) -> None:
        """Tell of all lines as of one run."""
        if isinstance(event, RunStarted):
            if self._started:
                return
            self._started = True
        self._emit(event)
