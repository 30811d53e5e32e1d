"""Doors to a run: check a document against a space, run it, and follow what happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from infospace.core import batch_notes
from infospace.core.bounds import Room, bounded, measure, measure_table
from infospace.core.errors import BudgetExceeded, NotFound
from infospace.core.ids import Kind, is_id
from infospace.core.json_types import JSON
from infospace.core.resources import Collection, Resource, is_resource
from infospace.journal.forks import first_of
from infospace.journal.queue_rows import DEFAULT_QUEUE
from infospace.journal.rows import Entry
from infospace.schema.value_text import describe_schema
from infospace.space import Space
from infospace.store.protocol import Snapshot
from planner.check.checker import check
from planner.check.space_facts import SnapshotFacts
from planner.execute.run import Run
from planner.journal.commit_order import SuspendRequest
from planner.journal.events import Emit, Event, RunFinished
from planner.journal.result import NOT_BEGUN, RunResult
from planner.language.plan import Input, Plan, Table
from planner.language.problems import Problem, Problems
from planner.parse.schemas import first_violation, row_violation

FROM_FILE = 'a table is read from a file for an input declared as {"kind": "Collection"}'
"""What is said where `@FILE` is given to another input."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan that has passed the check, with what its inputs are bound to."""

    plan: Plan
    bound: Mapping[str, Resource | Table | JSON]
    warnings: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """A plan that has not; nothing happened."""

    problems: tuple[Problem, ...]

    def to_result(self) -> RunResult:
        """Return the refusal as the outcome of a run that was never begun."""
        return RunResult(None, "refused", problems=self.problems)


def check_plan(
    space: Space, document: JSON, forked: str | None = None, saved_as: str | None = None
) -> tuple[Plan, Problems]:
    """Check a document against the space as it is; inputs may have any value of their schemas.

    Where it is to be a fork of the run `forked`, the names of what that run and its forks made may be given again.
    `saved_as` is the name of the saved plan that it is to be, which it may not run itself.
    """
    with space.store.reading() as snapshot:
        free = None if forked is None else first_of(snapshot, forked)
        return check(document, space.catalogue, SnapshotFacts(snapshot, free=free), saved_as)


def prepare(
    space: Space, document: JSON, inputs: Mapping[str, JSON] | None = None, unseen: str | None = None
) -> Prepared | Refused:
    """Check a document and the inputs for it; say whether it may run. What the run `unseen` made is not there."""
    with space.store.reading() as snapshot:
        plan, problems = check(document, space.catalogue, SnapshotFacts(snapshot, unseen=unseen))
        bound = bind_inputs(plan, inputs or {}, snapshot, problems, unseen)
    results = tuple(problems.found)
    return Prepared(plan, bound, results) if problems.ok else Refused(results)


def bind_inputs(
    plan: Plan, values: Mapping[str, JSON], snapshot: Snapshot, problems: Problems, unseen: str | None = None
) -> dict[str, Resource | Table | JSON]:
    """Return what each input is bound to; problems have the pointer `/inputs/NAME`."""
    bound: dict[str, Resource | Table | JSON] = {}
    for name in values:
        if name not in plan.inputs:
            known = ", ".join(plan.inputs)
            hint = f"it takes {known}" if known else "the plan declares no inputs"
            problems.error("bad-input", f"/inputs/{name}", f"the plan has no input {name!r}", hint)
    for name, declared in plan.inputs.items():
        if name not in values and declared.required:
            fits = declared.kind or describe_schema(declared.schema or {}) or "any value"
            problems.error("missing-input", f"/inputs/{name}", f"the input {name!r} is not given", f"it wants {fits}")
            continue
        if name not in values and problems.below(declared.pointer):
            continue
        value = values.get(name, declared.default)
        if declared.kind is None:
            fault = first_violation(value, declared.schema or {})
            if fault is not None:
                how = FROM_FILE if isinstance(value, str) and value.startswith("@") else None
                problems.error("bad-input", f"/inputs/{name}", f"the input {name!r} does not fit: {fault}", how)
            bound[name] = value
        else:
            resource = _resource(declared, value, snapshot, problems, unseen)
            if resource is not None:
                bound[name] = resource
        _require_room(name, bound.get(name), plan, problems)
    return bound


def _require_room(name: str, value: Resource | Table | JSON, plan: Plan, problems: Problems) -> None:
    """Refuse a value that is more than the plan's budget lets one step make: each input is made as by a step."""
    if is_resource(value):
        return
    rows: Sequence[JSON] = value.rows if isinstance(value, Table) else [cast("JSON", value)]
    items = len(rows) + isinstance(value, Table)
    room = Room(bounded(plan.budget.items, plan.budget.characters))
    try:
        together = isinstance(value, Table) and len(rows) >= batch_notes.MANY  # as `Context.make_notes` counts
        room.require_room(items, (measure_table if together else measure)(rows)[0])
    except BudgetExceeded as error:
        message = f"the input {name!r} does not fit: {error.message}"
        problems.error("bad-input", f"/inputs/{name}", message, error.hint)


def _resource(
    declared: Input, value: JSON, snapshot: Snapshot, problems: Problems, unseen: str | None
) -> Resource | Table | None:
    pointer = f"/inputs/{declared.name}"
    if isinstance(value, list) and declared.kind == Kind.COLLECTION:
        fault = row_violation(value, declared.items)
        if fault is not None:
            problems.error("bad-input", pointer, f"the input {declared.name!r} does not fit: {fault}")
            return None
        return Table(value)
    if not isinstance(value, str):
        expected = f"the id or name of a {declared.kind}" + (", or a list" if declared.kind == Kind.COLLECTION else "")
        problems.error(
            "bad-input",
            pointer,
            f"the input {declared.name!r} is {expected}, not {value!r:.40}",
        )
        return None
    identifier = value if is_id(value) else snapshot.named(value)
    resource = None
    if identifier is not None:
        with suppress(NotFound):
            resource = snapshot.get(identifier)
    if resource is None or (unseen is not None and resource.created_by.run == unseen):
        problems.error(
            "bad-input", pointer, f"the input {declared.name!r} is {value!r}, and nothing has that id or name"
        )
        return None
    if resource.kind != declared.kind:
        problems.error(
            "bad-input",
            pointer,
            f"the input {declared.name!r} is a {declared.kind}, and {value!r} is a {resource.kind}",
        )
        return None
    if isinstance(resource, Collection) and declared.items is not None:
        contents = [item.content for item in snapshot.get_many([member.id for member in resource.members])]
        fault = row_violation(contents, declared.items)
        if fault is not None:
            problems.error("bad-input", pointer, f"the input {declared.name!r} does not fit: {fault}")
            return None
    return resource


def enqueue(
    space: Space,
    prepared: Prepared,
    queue: str = DEFAULT_QUEUE,
    priority: int = 0,
    approve: Sequence[str] = (),
    also: Callable[[str], Sequence[Entry]] = lambda _run: (),
) -> str:
    """Journal the run of a prepared plan for a worker to take, and return its id: from then on it is not lost.

    `also` is given that id, and returns what is committed with it or not at all.
    """
    run = Run(space, prepared.plan, lambda _event: None, prepared.warnings, approve)
    return run.enqueue(prepared.bound, queue, priority, also)


def stream(
    space: Space, prepared: Prepared, halt: SuspendRequest | None = None, approve: Sequence[str] = ()
) -> AsyncIterator[Event]:
    """Run a prepared plan; its events as they happen, `RunFinished` last.

    Closing the iterator early cancels the run, which is journalled as cancelled. `halt`, once set, lets the steps
    under way end and suspends the run; broken off, it ends the run as cancelled, and the stream with it. The tools of
    `approve` (`server/tool`, `server/*`) are called without asking; raises Invalid for what is no such name.
    """

    async def course(emit: Emit, halted: SuspendRequest) -> RunResult:
        run = Run(space, prepared.plan, emit, prepared.warnings, approve)
        run.halt = halted
        return await run.run(prepared.bound)

    return events(course, halt)


async def events(
    course: Callable[[Emit, SuspendRequest], Coroutine[Any, Any, RunResult]], halt: SuspendRequest | None = None
) -> AsyncIterator[Event]:
    """Iterate over what a run tells; `course` runs it. Ends, closes and halts as `stream` says."""
    queue: asyncio.Queue[Event | None] = asyncio.Queue()
    halt = halt or SuspendRequest()
    task = asyncio.create_task(course(queue.put_nowait, halt))
    halt.hold(task)
    task.add_done_callback(lambda _done: queue.put_nowait(None))
    has_ended = False
    try:
        while (event := await queue.get()) is not None:
            has_ended = has_ended or isinstance(event, RunFinished)
            yield event
        if task.cancelled() and not has_ended and (halt.now or halt.broken):
            yield RunFinished(RunResult(None, "cancelled", reason=NOT_BEGUN))
        elif not (task.cancelled() and has_ended):
            task.result()
    finally:
        if not task.done():
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def run(
    space: Space, document: JSON, inputs: Mapping[str, JSON] | None = None, approve: Sequence[str] = ()
) -> RunResult:
    """Check and run a plan; a refused one answers with its problems. `approve` is that of `stream`."""
    prepared = prepare(space, document, inputs)
    if isinstance(prepared, Refused):
        return prepared.to_result()
    return await Run(space, prepared.plan, lambda _event: None, prepared.warnings, approve).run(prepared.bound)


def run_sync(
    space: Space, document: JSON, inputs: Mapping[str, JSON] | None = None, approve: Sequence[str] = ()
) -> RunResult:
    """Do what `run` does, for callers without an event loop."""
    return asyncio.run(run(space, document, inputs, approve))
