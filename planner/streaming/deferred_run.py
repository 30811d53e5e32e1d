"""A run that is opened before its plan has arrived whole: its document is null until then."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from infospace.core.bounds import Room, bounded
from infospace.core.json_types import JSON
from infospace.core.resources import CreatedBy, Resource
from infospace.journal.rows import SetDocument
from planner.execute.arguments import input_resource
from planner.execute.run import Run
from planner.journal.result import RunResult
from planner.language.goal import filled
from planner.language.plan import Plan, Table
from planner.language.problems import Problem


class DeferredRun(Run):
    """A run of which only the head of the plan is known at first."""

    def begin(self, bound: Mapping[str, Resource | Table | JSON]) -> None:
        """Open it with the inputs that are known."""
        self.open("plan", bound)
        self._inputs = dict(self.scope.own)

    def set_plan(
        self, plan: Plan, bound: Mapping[str, Resource | Table | JSON], warnings: Sequence[Problem], spent: float
    ) -> None:
        """Take the whole plan, with what its inputs are bound to, and journal it.

        `spent` are the seconds in which steps of it ran ahead.
        """
        self.plan, self._warnings = plan, warnings
        self.plans.clear()
        self.plans.update(plan.plans)
        budget = plan.budget
        self.journal.most = budget.steps
        self.bounds = bounded(budget.items, budget.characters)
        self.meter.limit(budget.llm_calls, budget.tokens, budget.tool_calls)
        self._spent, self._began = spent, time.perf_counter()
        context = self.space.context(CreatedBy(self.id, None, "input"))
        for name, value in bound.items():
            if name in self._inputs:
                continue
            context.room = Room(self.bounds)
            self._inputs[name] = input_resource(context, value)
            self.scope.bind(name, self._inputs[name])
        plans = {name: inner.document for name, inner in self.plans.items()}
        self.goal = filled(plan.goal, bound)
        entry = SetDocument(self.id, self.goal, plan.document, self._inputs, plans)
        self.space.store.commit(context.changes, [entry])

    def discard(self) -> None:
        """Unbind all variables and inputs, as if no step had run."""
        self._inputs.clear()
        self.scope.own.clear()
        self.scope.causes.clear()
        self.frame.latest.resource = None

    def refuse(self, problems: Sequence[Problem]) -> RunResult:
        """End it, since its document was refused."""
        self._warnings = problems
        return self.close("refused", None, "its document was refused, and nothing of it was done")
