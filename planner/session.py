"""A session: a run that is written step by step. Each step is checked against what is bound, then run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from infospace.errors import Conflict
from infospace.jsonvalue import JSON
from infospace.runs.journal import RunStatus
from infospace.space import Space
from planner.check import Checker
from planner.check_conditions import whole
from planner.environment import Variable
from planner.events import Emit
from planner.failure import Failure, Stopped, sentence
from planner.known import KnownSpace
from planner.outcome import RunResult
from planner.parse import parse_head
from planner.plan import Ask, Plan, Step, Wait, every_step
from planner.problems import Problem, Problems, a_kind, join
from planner.read import is_head
from planner.run import Run
from planner.start import bind_inputs
from planner.steps import parse_step
from planner.suspending import Suspension
from planner.waiting import LONGEST_SLEEP


def check_lines(space: Space, lines: Sequence[JSON]) -> list[Problem]:
    """Check the lines of a session one after the other, without running any. Pointers begin with the line's index."""
    problems = Problems()
    with space.store.reading() as snapshot:
        checker = Checker(space.catalogue, KnownSpace(snapshot), problems)
        number, most, head = 0, None, None
        for index, line in enumerate(lines):
            if index == 0 and is_head(line) and isinstance(line, dict):
                head = _read_head(line, problems)
                checker.inputs(head)
                most = head.budget.depth
                continue
            number += 1
            step = parse_step(line, f"/{index}", str(number), problems)
            if step is not None:
                checker.block((step,), most=most)
        if head is not None:
            checker.result(head, "/0/result")
    return problems.found


def _read_head(head: JSON, problems: Problems) -> Plan:
    if head is None:
        return Plan(())
    if not isinstance(head, dict):
        problems.error("not-a-plan", "/0", f"the head of a session is an object, not {a_kind(head)}", '{"goal": "…"}')
        return Plan(())
    for key in ("steps", "plan"):
        if key in head:
            problems.error("unknown-key", join("/0", key), f"the head of a session has no {key!r}", "one step a line")
    plan = parse_head(head, problems, "/0")
    if plan.result is not None and whole(plan.result) is None:
        says = f"`result` is one `$variable`, not {plan.result!r:.60}"
        problems.error("bad-value", "/0/result", says, '"result": "$report"')
    return plan


def refuse_suspending(plan: Plan, problems: Problems) -> None:
    """Refuse what would suspend a session: its next line would wait with it."""
    for step in every_step(plan.steps):
        pointer = join(step.pointer, "type")
        match step.form:
            case Ask():
                problems.error(
                    "unsupported", pointer, "a session cannot be suspended", "ask before the line is written"
                )
            case Wait(condition, seconds) if condition is not None or not _short(seconds):
                says = f"a session waits for at most {LONGEST_SLEEP} seconds, and for no condition"
                problems.error("unsupported", pointer, says, '"seconds": 5')


def _short(seconds: JSON) -> bool:
    return isinstance(seconds, (int, float)) and seconds <= LONGEST_SLEEP


class Session:
    """An open run. Steps given to it are checked with what is bound, run, and stay bound.

    It ends with the first step that is refused or fails, with `end`, or with `cancel`.
    """

    def __init__(
        self,
        space: Space,
        emit: Emit,
        head: JSON = None,
        inputs: Mapping[str, JSON] | None = None,
        approve: Sequence[str] = (),
    ) -> None:
        self._space = space
        self._problems = Problems()
        plan = _read_head(head, self._problems)
        with space.store.reading() as snapshot:
            checker = Checker(space.catalogue, KnownSpace(snapshot), self._problems)
            checker.inputs(plan)
            bound = bind_inputs(plan, inputs or {}, snapshot, self._problems)
        self._plan = plan
        self._warnings: list[Problem] = []
        self._run = Run(space, plan, emit, self._warnings, approve)
        self._variables: dict[str, Variable] = checker.env.variables
        self._count = 0
        self._lines = 1 if head is not None else 0
        self._seconds = 0.0
        self._ended = not self._problems.ok
        if not self._ended:
            self._run.open("session", bound)

    async def step(self, line: JSON) -> RunResult | None:
        """Check and run one step. Returns the end of the session where it was refused or failed, else None.

        Raises Conflict when the session has ended already.
        """
        if not self._problems.ok:
            return RunResult(None, "refused", problems=self._problems.found)
        self._still_open()
        problems = Problems()
        parsed = parse_step(line, f"/{self._lines}", str(self._count + 1), problems)
        with self._space.store.reading() as snapshot:
            checker = Checker(self._space.catalogue, KnownSpace(snapshot), problems)
            checker.env.variables = dict(self._variables)
            if parsed is not None:
                checker.block((parsed,), most=self._plan.budget.depth)
                for inner in (Plan((parsed,)), *checker.plans.values()):
                    refuse_suspending(inner, problems)
                self._run.plans |= checker.plans
        self._lines += 1
        if parsed is None or not problems.ok:
            refused = self._close("refused", "a step was refused by the check")
            return replace(refused, problems=problems.found)
        self._warnings += problems.found
        self._count += 1
        try:
            failure = await self._within(parsed)
        except Stopped as stop:
            self._ended = True
            return self._run.stopped(stop)
        except Suspension as suspension:
            asked = "; ".join(f"step {one.step} asks to {one.question}" for one in suspension.pending)
            return self._close("failed", f"{asked} A session cannot wait for an answer: `approve` it before")
        self._variables = {
            name: replace(variable, doubt=None, handled=False)
            for name, variable in checker.env.variables.items()
            if name in self._run.scope.own
        }
        return None if failure is None else self._close("failed", sentence(failure))

    async def _within(self, step: Step) -> Failure | None:
        limit, started = self._plan.budget.seconds, time.perf_counter()
        try:
            return await self._run.within(None if limit is None else max(0.0, limit - self._seconds), (step,))
        finally:
            self._seconds += time.perf_counter() - started

    def end(self) -> RunResult:
        """End the session well; its result is the last value. Raises Conflict when it has ended already."""
        if not self._problems.ok:
            return RunResult(None, "refused", problems=self._problems.found)
        self._still_open()
        self._ended = True
        return self._run.conclude()

    def cancel(self) -> RunResult:
        """End the session where it stands. Raises Conflict when it has ended already."""
        self._still_open()
        return self._close("cancelled", "the session was cancelled")

    def refuse(self, reason: str) -> RunResult:
        """End the session at something that is no step. Raises Conflict when it has ended already."""
        self._still_open()
        return self._close("refused", reason)

    def _still_open(self) -> None:
        if self._ended:
            raise Conflict("the session has ended already", hint="open another one")

    def _close(self, status: RunStatus, reason: str) -> RunResult:
        self._ended = True
        return self._run.close(status, None, reason)
