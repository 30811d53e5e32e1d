"""The check of a document that is still arriving: which of its leading steps may run before all of it is there.

Those may that are complete, make and read at most, and have no error in what stands before them and in themselves.
The first that may not is a gate: nothing after it is looked at before the whole is there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from infospace.core.json_types import JSON
from infospace.core.resources import Resource
from infospace.space import Space
from infospace.store.protocol import Snapshot
from planner.check.checker import Checker
from planner.check.environment import Environment
from planner.check.space_facts import SnapshotFacts
from planner.execute.start import bind_inputs
from planner.language.plan import Plan, Step, Table
from planner.language.problems import Problems, join
from planner.order.dependencies import DependencyAnalysis
from planner.parse.document import parse_head
from planner.parse.incremental_json import IncrementalDocument, Place
from planner.parse.steps import parse_step

InputsOf: TypeAlias = Callable[[JSON], Mapping[str, JSON]]
"""The inputs of a run, by what the document declares under `inputs`."""


class Prefix:
    """What is known of a plan by what stands before its gate."""

    def __init__(self, space: Space, given: InputsOf) -> None:
        self.plan: Plan | None = None
        """The head, without steps; None before the list of steps begins."""
        self.bound: dict[str, Resource | Table | JSON] = {}
        """What the inputs are bound to that were declared before the steps."""
        self.steps: list[JSON] = []
        """The steps that may run, as they were read."""
        self.plans: dict[str, Plan] = {}
        """The saved plans that they name, directly or not."""
        self.order = DependencyAnalysis(space.catalogue, self.plans)
        self._space = space
        self._given = given
        self._env = Environment()
        self._ids: set[str] = set()
        self._gated = False

    def next_steps(self, arrived: IncrementalDocument, run: str | None) -> list[Step]:
        """Return the steps that may run now and were not told before; `run` is the run of those that were.

        None is told of a document that has come to its end: all of it is there to be checked.
        """
        if self._gated or not arrived.is_plan or arrived.place is Place.CLOSED:
            return []
        results: list[Step] = []
        with self._space.store.reading() as snapshot:
            plan = self.plan = self.plan or self._head(arrived, snapshot)
            facts = SnapshotFacts(snapshot, unseen=run)
            for raw in () if self._gated else arrived.steps[len(self.steps) :]:
                step = self._step(raw, arrived.pointer, plan.budget.depth, facts)
                if step is None:
                    self._gated = True
                    break
                results.append(step)
                self.steps.append(raw)
        return results

    def _head(self, arrived: IncrementalDocument, snapshot: Snapshot) -> Plan:
        problems, declared = Problems(), arrived.head.get("inputs", {})
        head = parse_head(arrived.head, problems) if arrived.pointer else Plan(())
        checker = Checker(self._space.catalogue, SnapshotFacts(snapshot), problems)
        checker.inputs(head)
        if "inputs" in arrived.head or not arrived.pointer:
            self.bound = bind_inputs(head, self._given(declared), snapshot, problems)
        self._env, self._gated = checker.env, not problems.ok
        return Plan((), head.goal, head.inputs, budget=head.budget)

    def _step(self, raw: JSON, pointer: str, depth: int, facts: SnapshotFacts) -> Step | None:
        """Read and check the next step after those before it; None where it may not run."""
        problems, index = Problems(), len(self.steps)
        step = parse_step(raw, join(pointer, index), str(index + 1), problems)
        if step is None or not problems.ok or step.id in self._ids:
            return None
        checker = Checker(self._space.catalogue, facts, problems)
        checker.env, checker.plans = self._env, self.plans
        checker.block((step,), most=depth)
        if not problems.ok or not self.order.is_read_only(step):
            return None
        if step.id is not None:
            self._ids.add(step.id)
        return step
