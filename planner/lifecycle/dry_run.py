"""A run that leaves nothing: what computes and reads is run, what would be written or called is shown.

It works on a copy of the space that is thrown away, so that later steps read what earlier ones have written there.
Nothing outside is called: what a call would give is not known, and so is what is made of it, or changed by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from infospace.core.errors import InfospaceError, NotFound
from infospace.core.resources import Resource
from infospace.core.tool import Tool
from infospace.space import Space
from planner.execute.run import Run
from planner.execute.start import Prepared
from planner.journal.events import Emit, Event, RunStarted
from planner.journal.failures import Stopped
from planner.journal.result import RunResult
from planner.lifecycle.dry_run_space import DrySpace, NoCalls, NoModel, Unknown
from planner.lifecycle.dry_run_steps import DryEffects


@dataclass(frozen=True, slots=True)
class DryRun:
    """What came of a dry run: the outcome as far as it is known, and as JSON, with ids that are nowhere any more.

    `document` is the shape of `run --json` with `dry_run` true; a step that would write or call has `would`:
    `{"effect": "writes" or "calls", "arguments": {…}}`, of a `map` the arguments for each item, and with `asks` whether
    somebody would be asked first.
    """

    result: RunResult
    document: dict[str, Any]


async def dry_run(
    space: Space,
    prepared: Prepared,
    emit: Emit = lambda _event: None,
    approve: Sequence[str] = (),
    *,
    data: bool = False,
) -> DryRun:
    """Run a prepared plan so that nothing of it stays. Steps that need what is not known are skipped, and say why.

    `data` gives each step of the document its content. Raises Invalid for `approve`.
    """
    with space.store.overlay() as store:
        inner = DrySpace(store, space)
        run = _Run(inner, prepared, lambda event: emit(_as_dry_run_event(event)), approve)
        result = replace(await run.run(prepared.bound), run=None)
        document = {**result.to_json(Space(store) if data else None), "dry_run": True}
        document["steps"] = [_would(step) for step in document["steps"]]
        return DryRun(result, document)


def _as_dry_run_event(event: Event) -> Event:
    return RunStarted("dry run", event.goal) if isinstance(event, RunStarted) else event


def _would(step: dict[str, Any]) -> dict[str, Any]:
    extra = dict(step["extra"])
    would = extra.pop("would", None)
    return {**step, "extra": extra} if would is None else {**step, "extra": extra, "would": would}


class _Run(Run):
    effects = DryEffects

    def __init__(self, space: DrySpace, prepared: Prepared, emit: Emit, approve: Sequence[str]) -> None:
        super().__init__(space, prepared.plan, emit, prepared.warnings, approve)
        budget = prepared.plan.budget
        self.meter = NoModel(budget.llm_calls, budget.tokens, self.record_call)
        self.meter.tools = NoCalls(None, self.record_call, self.meter.number, _agree_to_nothing)

    def bindings(self) -> dict[str, Resource]:
        """Return what is known of what the plan's own variables are bound to."""
        context, results = self.space.context(), {}
        for name, identifier in self.scope.own.items():
            try:
                results[name] = context.get(identifier)
            except (NotFound, Unknown):
                continue
        return results

    def conclude(self) -> RunResult:
        """End a run whose steps ended well; its result may be among what is not known."""
        try:
            self._result_of(self._result())
        except Unknown as unknown:
            return self.close("success", None, f"the result is not known: {unknown.cause}")
        except InfospaceError:
            pass
        return super().conclude()

    def stopped(self, stop: Stopped) -> RunResult:
        """End a run that a `stop` ended; its answer may be among what is not known."""
        try:
            if stop.resource is not None:
                self._result_of(self.space.context().get(stop.resource))
        except Unknown as unknown:
            result = super().stopped(Stopped(stop.position, stop.status, None))
            return replace(result, reason=f"{stop}; its answer is not known: {unknown.cause}")
        return super().stopped(stop)


def _agree_to_nothing(tool: Tool, *, by_name: bool) -> bool:
    del tool, by_name
    return False
