"""A session: a run that is written step by step. Each step is checked against what is bound, then run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from infospace.jsonvalue import JSON
from infospace.space import Space
from planner.check import Checker
from planner.environment import Variable
from planner.events import Emit
from planner.failure import sentence
from planner.known import KnownSpace
from planner.outcome import RunResult
from planner.parse import parse_head, parse_step
from planner.plan import Plan
from planner.problems import Problem, Problems
from planner.read import is_head
from planner.run import Run
from planner.start import bind_inputs


def check_lines(space: Space, lines: Sequence[JSON]) -> list[Problem]:
    """Check the lines of a session one after the other, without running any. Pointers begin with the line's index."""
    problems = Problems()
    with space.store.reading() as snapshot:
        checker = Checker(space.catalogue, KnownSpace(snapshot), problems)
        number = 0
        for index, line in enumerate(lines):
            if index == 0 and is_head(line) and isinstance(line, dict):
                checker.inputs(parse_head(line, problems))
                continue
            number += 1
            step = parse_step(line, f"/{index}", str(number), problems)
            if step is not None:
                checker.block((step,))
    return problems.found


class Session:
    """An open run. Steps given to it are checked with what is bound, run, and stay bound."""

    def __init__(self, space: Space, emit: Emit, head: JSON = None, inputs: Mapping[str, JSON] | None = None) -> None:
        self._space = space
        self._problems = Problems()
        plan = parse_head(head, self._problems) if isinstance(head, dict) else Plan(())
        with space.store.reading() as snapshot:
            bound = bind_inputs(plan, inputs or {}, snapshot, self._problems)
        self._run = Run(space, plan, emit)
        self._variables: dict[str, Variable] = {}
        self._count = 0
        self._lines = 1 if head is not None else 0
        if self._problems.ok:
            self._run.open("session", bound)
            with space.store.reading() as snapshot:
                checker = Checker(space.catalogue, KnownSpace(snapshot), self._problems)
                checker.inputs(plan)
            self._variables = checker.env.variables

    async def step(self, line: JSON) -> RunResult | None:
        """Check and run one step. Returns the end of the session where it was refused or failed, else None."""
        if not self._problems.ok:
            return RunResult(None, "refused", problems=self._problems.found)
        problems = Problems()
        parsed = parse_step(line, f"/{self._lines}", str(self._count + 1), problems)
        with self._space.store.reading() as snapshot:
            checker = Checker(self._space.catalogue, KnownSpace(snapshot), problems)
            checker.env.variables = dict(self._variables)
            if parsed is not None:
                checker.block((parsed,))
        self._lines += 1
        if parsed is None or not problems.ok:
            refused = self._run.close("refused", None, "a step was refused by the check")
            return replace(refused, problems=problems.found)
        self._count += 1
        failure = await self._run.block((parsed,))
        self._variables = {
            name: replace(variable, doubt=None, handled=False)
            for name, variable in checker.env.variables.items()
            if name in self._run.scope.own
        }
        if failure is None:
            return None
        return self._run.close("failed", None, sentence(failure))

    def end(self) -> RunResult:
        """End the session well; its result is the last value."""
        if not self._problems.ok:
            return RunResult(None, "refused", problems=self._problems.found)
        return self._run.conclude()

    def cancel(self) -> RunResult:
        """End the session where it stands."""
        return self._run.close("cancelled", None, "the session was cancelled")
