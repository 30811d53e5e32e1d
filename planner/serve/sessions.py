"""Sessions by name. Each is one run, whose calls queue; it outlives the process, with all that it has bound."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from infospace.clock import now
from infospace.errors import Conflict, Invalid, NotFound
from infospace.ids import Kind
from infospace.jsonvalue import JSON
from infospace.memory.changes import Change, GiveName, MakeNote, Revise
from infospace.memory.store import Snapshot
from infospace.names import name_fault, normalised
from infospace.resources import Made, Note
from infospace.runs.journal import CloseRun, RunRow
from infospace.space import Space
from planner.check import Checker
from planner.environment import Variable
from planner.events import Emit
from planner.known import KnownSpace
from planner.lease import is_live
from planner.mend import mended
from planner.outcome import RunResult
from planner.plan import Block, Plan, every_step
from planner.problems import Problem, Problems
from planner.serve.record import is_over, living
from planner.serve.session_run import SessionRun
from planner.session import refuse_suspending
from planner.steps import parse_block

PREFIX = "_session:"
"""What the name of the Note begins with that says which run a session is: infrastructure, left out of discovery."""


class Sessions:
    """The sessions of a space, as far as this process runs them."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._queues: dict[str, asyncio.Lock] = {}
        self._known: dict[str, SessionRun] = {}

    def run_of(self, name: str) -> str | None:
        """Return the id of the run that an open session is; None where there is none of that name. Raises Invalid."""
        with self._space.store.reading() as snapshot:
            _, row = _find(snapshot, _full(name))
        return None if row is None or is_over(row) else row.run

    async def play(self, name: str, steps: JSON, emit: Emit) -> RunResult:
        """Check all the steps with what the session has bound, then run them; a new name opens a session.

        Refused steps have done nothing, and leave the session as it was. Raises Conflict where another process is
        running steps of the session.
        """
        full = _full(name)
        async with self._queues.setdefault(full, asyncio.Lock()):
            run = self._taken(full, name)
            try:
                block, plans, problems = self._checked(run, steps)
            except BaseException:
                self._rest(run)
                raise
            if not problems.ok:
                bound = living(self._space, run.scope.own)
                self._rest(run)
                return RunResult(run.id or None, "refused", bindings=bound, problems=problems.found)
            if not run.id:
                self._open(run, full)
            outcome = await run.play(block, plans, emit)
            return replace(outcome, problems=problems.found)

    def _taken(self, full: str, name: str) -> SessionRun:
        """Return the session's run, owned by this process; or one that is not opened yet."""
        with self._space.store.reading() as snapshot:
            _, row = _find(snapshot, full)
        if row is None or is_over(row):
            self._known.pop(full, None)
            return SessionRun(self._space, name)
        if is_live(row):
            says = f"the session {name!r} is running steps elsewhere ({row.owner})"
            raise Conflict(says, hint=f"get_run {row.run} says when it rests; or take another name")
        run = self._known.get(full)
        if run is None or run.id != row.run:
            run = SessionRun(self._space, name)
        run.take(row)
        with self._space.store.reading() as snapshot:
            row = snapshot.run(row.run)
            if not run.id or row.steps != len(run.steps):
                owner, run = run.owner, SessionRun(self._space, name)
                run.recall(row, snapshot.steps(row.run), snapshot.calls(row.run), owner)
        self._known[full] = run
        return run

    def _rest(self, run: SessionRun) -> None:
        """Put a run that was taken, and ran nothing, back to rest as it was."""
        if run.id:
            with self._space.store.reading() as snapshot:
                row = snapshot.run(run.id)
            entry = CloseRun(run.id, "suspended", now(), row.result, row.reason, row.spent)
            self._space.store.commit([], [entry])

    def _open(self, run: SessionRun, full: str) -> None:
        """Open a session: its run, and the Note that says which run it is, in one transaction."""
        store = self._space.store
        run.id = store.new_id("run")
        made = Made(run.id, None, "session")
        with store.reading() as snapshot:
            note, _ = _find(snapshot, full)
        changes: list[Change]
        if note is None:
            identifier = store.new_id(Kind.NOTE)
            changes = [MakeNote(identifier, {"run": run.id}, kept=True, made=made), GiveName(identifier, full)]
        else:
            changes = [Revise(note.id, {"run": run.id}, if_version=note.version, made=made)]
        run.begin(changes)
        self._known[full] = run

    def _checked(self, run: SessionRun, raw: JSON) -> tuple[Block, Mapping[str, Plan], Problems]:
        """Check steps against what is bound, all of them before any is run. Pointers begin with the step's index."""
        with self._space.store.reading() as snapshot:
            known = KnownSpace(snapshot)
            shapes = {name: known.shape(identifier) for name, identifier in run.scope.own.items()}
            bound = {name: Variable(shape) for name, shape in shapes.items() if shape is not None}

            def check(steps: JSON) -> tuple[Block, Checker, Problems]:
                problems = Problems()
                block = parse_block(steps, "", problems, run.count + 1)
                checker = Checker(self._space.catalogue, known, problems)
                checker.env.variables = dict(bound)
                checker.block(block, most=run.plan.budget.depth)
                for inner in (Plan(block), *checker.plans.values()):
                    refuse_suspending(inner, problems)
                return block, checker, problems

            block, checker, problems = check(raw)
            if not problems.ok:

                def errors(patched: JSON) -> list[Problem]:
                    return [problem for problem in check(patched)[2].found if problem.severity == "error"]

                count = sum(1 for _ in every_step(block))
                problems.found[:] = mended(raw, problems.found, count, errors)
        return block, checker.plans, problems


def _full(name: str) -> str:
    """Return the name of the Note of a session. Raises Invalid for what cannot be a name."""
    full = PREFIX + normalised(name)
    fault = name_fault(name) or name_fault(full)
    if fault is not None:
        raise Invalid(f"a session cannot be called {name!r:.60}: {fault.says}", hint=fault.hint)
    return full


def _find(snapshot: Snapshot, full: str) -> tuple[Note[Any] | None, RunRow | None]:
    identifier = snapshot.named(full)
    if identifier is None:
        return None, None
    note = snapshot.get(identifier)
    if not isinstance(note, Note) or not isinstance(note.content, dict):
        raise Conflict(
            f"{identifier} has the name {full!r}, and is no record of a session", hint="give it another name"
        )
    try:
        return note, snapshot.run(str(note.content.get("run")))
    except NotFound:
        return note, None
