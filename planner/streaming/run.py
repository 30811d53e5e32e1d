"""Running a plan that streams in: nothing has an effect before all of it has passed the check.

Leading steps that only make and read start as soon as they are complete; what they came to counts once the whole
document is there and has passed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence

from infospace.core.errors import InvalidJSON
from infospace.core.json_types import JSON
from infospace.space import Space
from planner.execute.run import Run
from planner.execute.start import Prepared, Refused, events, prepare
from planner.journal.commit_order import SuspendRequest
from planner.journal.events import Emit, Event, RunFinished
from planner.journal.result import RunResult
from planner.language.problems import Problem
from planner.parse.incremental_json import IncrementalDocument
from planner.parse.text import Lines, read_plan, unreadable
from planner.streaming.deferred_run import DeferredRun
from planner.streaming.prefix_check import InputsOf, Prefix
from planner.streaming.speculative import SpeculativeRun

INTERRUPTED = "interrupted before the document had arrived whole; nothing of it was done"


def stream_arriving(
    space: Space,
    chunks: AsyncIterable[bytes],
    inputs: Mapping[str, JSON] | InputsOf | None = None,
    halt: SuspendRequest | None = None,
    approve: Sequence[str] = (),
) -> AsyncIterator[Event]:
    """Run a document as its bytes come in, cut anywhere; its events as they happen, `RunFinished` last.

    A refused one ends so too; its run has an id when something ran ahead. `inputs` may be a function of what the
    document declares under `inputs`. Closing the iterator early cancels the run. `halt`, once set, suspends the run
    if the document is whole, and else ends it as cancelled. `approve` is that of `stream`.
    """
    given: InputsOf = inputs if callable(inputs) else lambda _declared: inputs or {}

    async def course(emit: Emit, halted: SuspendRequest) -> RunResult:
        return await _Arriving(space, given, emit, halted, approve).result(chunks)

    return events(course, halt)


class _Arriving:
    def __init__(self, space: Space, given: InputsOf, emit: Emit, halt: SuspendRequest, approve: Sequence[str]) -> None:
        self._space = space
        self._approve = approve
        self._given = given
        self._emit = emit
        self._halt = halt
        self._prefix = Prefix(space, given)
        self._ahead: SpeculativeRun | None = None

    async def result(self, chunks: AsyncIterable[bytes]) -> RunResult:
        try:
            text = await self._read_all(chunks)
            if text is None:
                return await self._cancelled(INTERRUPTED)
            prepared = self._prepared(text)
            if isinstance(prepared, Refused):
                return await self._refused(prepared)
            if self._ahead is not None:
                await self._ahead.set_plan(prepared)
        except asyncio.CancelledError:
            await self._cancelled("the run was cancelled")
            raise
        except BaseException as error:
            await self._cancelled(f"the document broke off: {type(error).__name__}: {error}")
            raise
        if self._ahead is not None:
            return await self._ahead.run_to_end()
        run = Run(self._space, prepared.plan, self._emit, prepared.warnings, self._approve)
        run.halt = self._halt
        return await run.run(prepared.bound)

    async def _read_all(self, chunks: AsyncIterable[bytes]) -> bytes | None:
        """Take chunks to their end, running ahead; return all of them, None when the run is halted before."""
        arrived, iterator = IncrementalDocument(), aiter(chunks)
        halted = asyncio.create_task(self._halt.requested.wait())
        coming: asyncio.Task[bytes | None] | None = None
        try:
            while True:
                coming = asyncio.create_task(_next(iterator))
                await asyncio.wait({coming, halted}, return_when=asyncio.FIRST_COMPLETED)
                if not coming.done():
                    return None
                chunk = coming.result()
                if chunk is None:
                    return arrived.text
                arrived.feed(chunk)
                await self._run_ahead(arrived)
        finally:
            tasks = [task for task in (halted, coming) if task is not None and not task.done()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def _opened(self) -> str | None:
        """The run, where anything ran ahead."""
        return None if self._ahead is None else self._ahead.id

    async def _run_ahead(self, arrived: IncrementalDocument) -> None:
        steps, plan = self._prefix.next_steps(arrived, self._opened), self._prefix.plan
        if not steps or plan is None:
            return
        if self._ahead is None:
            run = DeferredRun(self._space, plan, self._emit, approve=self._approve)
            run.halt = self._halt
            ahead = SpeculativeRun(run, self._prefix)
            await ahead.open()
            self._ahead = ahead
        self._ahead.add(steps)

    def _prepared(self, text: bytes) -> Prepared | Refused:
        try:
            read = read_plan(text)
        except InvalidJSON as error:
            return Refused((unreadable(error),))
        if isinstance(read, Lines):
            message = "these are the lines of a session, not the document of a plan"
            return Refused((Problem("not-a-plan", "", message, '{"steps": [ … ]}'),))
        declared = read.value.get("inputs", {}) if isinstance(read.value, dict) else {}
        return prepare(self._space, read.value, self._given(declared), self._opened)

    async def _refused(self, refused: Refused) -> RunResult:
        if self._ahead is not None:
            return await self._ahead.refuse(refused.problems)
        return self._emit_finished(refused.to_result())

    async def _cancelled(self, reason: str) -> RunResult:
        if self._ahead is not None:
            return await self._ahead.cancel(reason)
        return self._emit_finished(RunResult(None, "cancelled", reason=reason))

    def _emit_finished(self, result: RunResult) -> RunResult:
        self._emit(RunFinished(result))
        return result


async def _next(chunks: AsyncIterator[bytes]) -> bytes | None:
    return await anext(chunks, None)
