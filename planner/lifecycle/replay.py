"""Running a run once more, with what was outside taken from its record, in a space that is thrown away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
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
from infospace.store.protocol import ResourceSummary, Snapshot, Store
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


def _restore_what_was_read(
    store: Store, rows: Sequence[StepRow], own: Mapping[str, str | None], catalogue: Catalogue
) -> dict[str, dict[int, int]]:
    """Give what a run read, and others made, the version that it first read, with the items a Collection then had.

    `own` are the steps that made what the run itself made: a replay makes that again, but for what came of a read.
    What was purged since is nowhere, and stays so. Return by id which new version is like which earlier one.
    """
    read: dict[str, int | None] = {}
    for row in sorted(rows, key=lambda row: row.sequence):
        entry = catalogue.find(row.type)
        for use in row.uses:
            if use.id not in own:
                read.setdefault(use.id, use.version)
        gave = row.resource if entry is not None and entry.effect == "reads" else None
        if gave is not None and own.get(gave, row.position) == row.position:
            read.setdefault(gave, row.version)
    with store.reading() as snapshot:
        changes = list(_to_versions(snapshot, read))
    store.commit(changes)
    with store.reading() as snapshot:
        now = snapshot.briefs([change.id for change in changes])
        return {brief.id: {brief.version: change.version or 1} for brief, change in zip(now, changes, strict=True)}


def _to_versions(snapshot: Snapshot, read: Mapping[str, int | None]) -> Iterator[Restore]:
    """Give what brings resources to the versions that were read, with the items that were removed from them since."""
    asked, left = set(read), list(read)
    while left:
        inside: dict[str, None] = {}
        for now in _briefs(snapshot, left):
            then = read.get(now.id) or now.version
            if now.alive and then == now.version:
                continue
            try:
                resource = snapshot.get(now.id, then)
            except NotFound:
                continue
            yield Restore(now.id, then)
            if isinstance(resource, Collection):
                inside |= dict.fromkeys(member.id for member in resource.members if member.id not in asked)
        left = list(inside)
        asked.update(left)


def _briefs(snapshot: Snapshot, identifiers: Sequence[str]) -> list[ResourceSummary]:
    """Return what is told of resources, without those that were purged."""
    results: list[ResourceSummary] = []
    with suppress(NotFound):
        return snapshot.briefs(identifiers)
    for identifier in identifiers:
        with suppress(NotFound):
            results += snapshot.briefs([identifier])
    return results


async def replay(
    space: Space, run: str, emit: Emit = lambda _event: None, *, recorded: bool = False, live: bool = False
) -> Replayed:
    """Replay a run: answers of calls and of people, and the clock, come from its record; times of waiting are over.

    Reads are made on the space as it is now, with `recorded` taken from the record too, with what they gave as it was;
    a name that a step writes to means what it means now. What is written goes to a
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
        own = {product.of.id: product.created_by.step for product in products if product.of.version == 1}
        restored = _restore_what_was_read(store, rows, own, space.catalogue) if recorded else {}
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
