"""Putting a run to rest on purpose: before a step, once a condition holds, after each step.

A run that is paused is suspended, durably: its journal has all that was done, and `resume` goes on with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from infospace.core.errors import InfospaceError, Invalid, InvalidJSON
from infospace.core.json_types import JSON
from infospace.core.position import Position, holds
from infospace.core.resources import CreatedBy
from infospace.data.json_text import read_json
from planner.execute.arguments import Resolver
from planner.execute.conditions import ConditionEvaluator
from planner.execute.variables import Unbound
from planner.language.plan import Condition, Step, every_test
from planner.language.problems import Problems
from planner.parse.condition_text import condition_from_text
from planner.parse.conditions import parse_condition

if TYPE_CHECKING:
    from planner.execute.frame import Frame
    from planner.execute.run import Run


@dataclass(frozen=True, slots=True)
class BreakpointHit:
    """Where a run rests: the step that would begin next, by position and pointer, and why it does not."""

    position: str
    pointer: str
    why: str

    def __str__(self) -> str:
        return f"paused before step {self.position}: {self.why}"


@dataclass(slots=True)
class ConditionBreakpoint:
    """A condition at which a run is put to rest, as it was written. It counts when it comes to hold."""

    text: str
    condition: Condition
    held: bool = False

    @classmethod
    def read(cls, text: str) -> ConditionBreakpoint:
        """Read a condition of the language: an expression, JSON, or words such as `$hits is empty`. Raises Invalid."""
        answer: JSON = condition_from_text(text) or text
        if text.lstrip().startswith("{"):
            try:
                answer = read_json(text, what="the condition")
            except InvalidJSON as error:
                message = f"{text!r} says no condition"
                raise Invalid(message, hint='`$hits is empty`, or {"type": "empty", "target": "$hits"}') from error
        problems = Problems()
        condition = parse_condition(answer, "", problems)
        errors = [one for one in problems.found if one.severity == "error"]
        if condition is None or errors:  # what is no condition at all is an error, too
            raise Invalid(errors[0].message, hint=errors[0].hint)
        if any(test.type == "tool_condition" for test in every_test(condition)):
            raise Invalid("a breakpoint cannot ask a tool", hint="its condition only reads variables")
        return cls(text, condition)


@dataclass(slots=True)
class Breakpoints:
    """When a run is to be put to rest. It goes with the run from its start through every time it is resumed.

    `steps` are pointers into the plan itself; what runs inside of a saved plan is one step.
    """

    steps: set[str] = field(default_factory=set)
    when: list[ConditionBreakpoint] = field(default_factory=list)
    each: bool = False
    """Before every step but the first that begins."""
    until: str | None = None
    """After the step of this pointer."""
    paused: BreakpointHit | None = None
    """Where it rests."""
    _run: Run | None = None
    _free: bool = False
    _target: str | None = None
    _passed: set[str] = field(default_factory=set)
    _begun: set[str] = field(default_factory=set)

    def resume(self, *, each: bool = False, until: str | None = None) -> None:
        """Say how it goes on from here: by one step, up to a step, or to where it is put to rest for a reason."""
        self.each, self.until, self._target = each, until, None
        self._free = each or self.paused is not None
        self.paused = None

    async def should_pause(self, run: Run, step: Step, frame: Frame) -> bool:
        """Whether the run is to rest before a step that would begin; where it is, is in `paused` then."""
        if run is not self._run:
            self._load_begun_forms(run)
        position = frame.prefix + step.label
        done = run.record is not None and run.record.row(position) is not None
        if done or "/" in position or position in self._passed or position in self._begun:
            return False
        came = [when for when in self.when if await self._became_true(when, run, position, step, frame)]
        why = self._why(step, position, came)
        if self._free or why is None:
            self._free = False
            self._passed.add(position)
            return False
        self.paused = BreakpointHit(position, step.pointer, why)
        return True

    def _load_begun_forms(self, run: Run) -> None:
        """Take note of the forms that an earlier part of the run has begun, also of those in which a step waits."""
        self._run, self._begun = run, set()
        for position in () if run.record is None else run.record.positions:
            self._begun.update(part.holder.text for part in Position.parse(position).parts)

    def _why(self, step: Step, position: str, came: list[ConditionBreakpoint]) -> str | None:
        if self._target is not None and not holds(self._target, position):
            return f"step {self._target} has ended"
        if self.until == step.pointer:
            self._target = position
        if step.pointer in self.steps:
            return "a breakpoint"
        if came:
            return f"{came[0].text} holds"
        return "step by step" if self.each else None

    async def _became_true(self, when: ConditionBreakpoint, run: Run, position: str, step: Step, frame: Frame) -> bool:
        """Whether a condition holds that did not at the step before."""
        context = run.space.context(CreatedBy(run.id, position, step.type))
        reading = run.reading(position, frame.clock)
        context.clock = lambda: reading
        before = when.held
        try:
            when.held = await ConditionEvaluator(context, Resolver(context, frame.scope, run.extras)).evaluate(
                when.condition
            )
        except (Unbound, InfospaceError):
            when.held = False
        return when.held and not before
