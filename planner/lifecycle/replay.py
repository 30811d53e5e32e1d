"""Running a run once more, with what was outside taken from its record, in a space that is thrown away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from infospace.contract.catalogue import Catalogue
from infospace.core.errors import Conflict, NotFound
from infospace.core.resources import Collection
from infospace.journal.forks import inherited_steps
from infospace.journal.id_mapping import IdMapping, ReplaySource
from infospace.journal.origin import Product
from infospace.journal.rows import FINISHED, StepRow
from infospace.llm.recorded import RecordedModel
from infospace.space import Space
from infospace.store.changes import FreeName, Restore
from infospace.store.protocol import Snapshot, Store
from infospace.tools.approvals import allowed
from infospace.tools.journalled_calls import ToolCalls
from planner.execute.run import Run
from planner.inspect.diff import Difference, diff
from planner.journal.events import Emit, Event, RunStarted
from planner.journal.recorded import RecordedRun
from planner.journal.result import RunResult
from planner.lifecycle.resume import plan_of
from planner.sessions.replay import replay_lines, session_as_plan


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of a replay: the outcome as JSON, with ids that are nowhere any more, and what differs."""

    result: RunResult
    document: dict[str, Any]
    difference: Difference
    why: str | None = None
    """Why it differs, where that is known: a step read the space, which has changed since the run."""


WRITE_PLAN = "write-plan"
"""The step in which a model writes a plan, which is checked against the space as it stands."""


def _free_names(store: Store, products: Sequence[Product]) -> None:
    """Take the names of what a run itself made away: a plan that gives them was right before they were taken."""
    result = {product.of.id for product in products if product.of.version == 1}
    with store.reading() as snapshot:
        own = [holder for name in snapshot.names() if (holder := snapshot.named(name)) in result]
    if own:
        store.commit([FreeName(identifier) for identifier in own])


def _restore_what_was_read(store: Store, rows: Sequence[StepRow], catalogue: Catalogue) -> dict[str, dict[int, int]]:
    """Give what a run read the version that it first read, with the items that a Collection then had.

    What was purged since is nowhere, and stays so. Return by id which new version is like which earlier one.
    """
    read: dict[str, int | None] = {}
    for row in sorted(rows, key=lambda row: row.sequence):
        entry = catalogue.find(row.type)
        for use in row.uses:
            read.setdefault(use.id, use.version)
        if row.resource is not None and entry is not None and entry.effect == "reads":
            read.setdefault(row.resource, row.version)
    with store.reading() as snapshot:
        changes = {one.id: one for identifier in read for one in _to_version(snapshot, identifier, read)}
    store.commit(list(changes.values()))
    with store.reading() as snapshot:
        return {one.id: {snapshot.get(one.id).version: one.version or 1} for one in changes.values()}


def _to_version(snapshot: Snapshot, identifier: str, read: Mapping[str, int | None]) -> Iterator[Restore]:
    """Give what brings a resource, and items that were removed from it, to the versions that were read."""
    then = read.get(identifier)
    try:
        now = snapshot.briefs([identifier])[0]
        resource = snapshot.get(identifier, then or now.version)
    except NotFound:
        return
    if now.alive and resource.version == now.version:
        return
    yield Restore(identifier, resource.version)
    if isinstance(resource, Collection):
        for member in resource.members:
            yield from _to_version(snapshot, member.id, read)


async def replay(
    space: Space, run: str, emit: Emit = lambda _event: None, *, recorded: bool = False, live: bool = False
) -> Replayed:
    """Replay a run: answers of calls and of people, and the clock, come from its record; times of waiting are over.

    Reads are made on the space as it is now, with `recorded` taken from the record too. What is written goes to a
    copy of the space that is thrown away. A call without a record fails; with `live` it is made, if it was approved
    then or always may be: nobody is asked. Raises NotFound, and Conflict for what is neither of a plan nor a session.
    """
    with space.store.overlay() as store:
        inner = Space(store)
        inner.tools = space.tools
        if "language_model" in vars(space):
            inner.language_model = space.language_model
        with store.reading() as snapshot:
            row, rows, calls = snapshot.run(run), snapshot.steps(run), snapshot.calls(run)
            answers, products = snapshot.answers(run), snapshot.products([run])
            before = inherited_steps(snapshot, run)
        calls, answers, products = [*calls, *before.calls], {**before.answers, **answers}, [*before.products, *products]
        if row.kind not in ("plan", "session"):
            message = f"{run} is not a run of a plan or a session, and cannot be replayed"
            raise Conflict(message, hint="`infospace runs` lists them")
        if any(step.type == WRITE_PLAN for step in rows):
            _free_names(store, products)
        restored = _restore_what_was_read(store, rows, space.catalogue) if recorded else {}
        past = RecordedRun(rows, calls, answers)
        plan = plan_of(row) if row.kind == "plan" else session_as_plan(row, past)
        again = Run(inner, plan, lambda event: emit(_as_replay_event(event, run)))
        again.replayed, again.recorded = past, recorded
        again.recall_clock(past, row.started)
        if row.status in FINISHED:
            again.broken_off = (row.status, None, row.reason)
        earlier = ReplaySource(calls, IdMapping(products), past.broken_off, only=not live)
        again.meter.recall(earlier)
        questions = [call.target for call in calls if call.kind == "llm"]
        if questions and not live:
            inner.language_model = RecordedModel(questions[-1])
        again.meter.tools = ToolCalls(
            again.plan.budget.tool_calls,
            again.record_call,
            again.meter.number,
            lambda tool, *, by_name: allowed(store, tool, run, by_name=by_name),
            past,
        )
        again.meter.tools.replay_source, again.meter.tools.can_ask = earlier, False
        context = inner.context()
        bound = {name: context.get(identifier) for name, identifier in row.inputs.items()}
        result = await (again.run(bound) if row.kind == "plan" else replay_lines(again, row, past, bound))
        with store.reading() as snapshot:
            difference = diff(snapshot, run, again.id, same_inputs=True, restored=restored)
        named = replace(difference, after=replace(difference.after, run=_name(run)))
        why = None if recorded else _why(difference, space.catalogue)
        return Replayed(result, {**result.to_json(), "run": None, "of": run}, named, why)


def _why(difference: Difference, catalogue: Catalogue) -> str | None:
    """Say which step was first to read otherwise what the space has by now."""
    for step in difference.steps:
        row = step.after or step.before
        entry = None if row is None else catalogue.find(row.type)
        if row is not None and entry is not None and entry.effect == "reads":
            return (
                f"step {step.position} ({row.type}) reads the space as it is now, which has changed since "
                f"{difference.before.run} began, by its own writes too; --recorded takes what it read from the record"
            )
    return None


def _as_replay_event(event: Event, run: str) -> Event:
    """Name the run that is replayed: the id of the replay is nowhere any more when it has ended."""
    return RunStarted(_name(run), event.goal) if isinstance(event, RunStarted) else event


def _name(run: str) -> str:
    return f"replay of {run}"
