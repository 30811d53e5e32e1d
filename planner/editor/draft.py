"""The text of a plan as it is being written: what the check says of it, and where in the text that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from infospace.core.errors import InvalidJSON
from infospace.core.json_types import JSON
from infospace.data.json_source_map import JsonNode, Member, member_at, nearest_spot, spot_at, spot_of
from infospace.space import Space
from planner.execute.start import check_plan
from planner.language.plan import Plan, Step, every_step
from planner.language.problems import Problem
from planner.parse.text import Document, is_line, read_plan
from planner.sessions.lines import check_lines

OF_THE_KEY = ("unknown-argument", "unknown-key", "unwanted-out")
"""Problems that are about a key rather than about what stands under it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A problem, and from where to where in the text it is."""

    problem: Problem
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class StepRange:
    """A step, and from where to where in the text it is written."""

    step: Step
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Draft:
    """A text, what it says, and what is wrong with it.

    `plan` is None where the text cannot be read, and where it is JSON Lines, of which `lines` tells.
    """

    text: str
    document: JSON = None
    plan: Plan | None = None
    lines: bool = False
    steps: Sequence[StepRange] = ()
    """Every step of the plan, at any depth, in document order."""
    marks: Sequence[Mark] = ()

    @property
    def errors(self) -> int:
        """How many of the problems are errors."""
        return sum(mark.problem.severity == "error" for mark in self.marks)

    def step_at(self, offset: int) -> StepRange | None:
        """Return the innermost step that a place lies in, else the last that begins before it."""
        before = [one for one in self.steps if one.start <= offset]
        inside = [one for one in before if offset <= one.end]
        return inside[-1] if inside else before[-1] if before else None

    def of(self, pointer: str) -> StepRange | None:
        """Return the step of a pointer."""
        return next((one for one in self.steps if one.step.pointer == pointer), None)


def check_draft(space: Space, text: str, forked: str | None = None) -> Draft:
    """Read a text and check what it says against the space as it is; `forked` is the run that it is to be a fork of.

    Raises nothing but what the space raises.
    """
    if not text.strip():
        return Draft(text)
    try:
        read = read_plan(text)
        if isinstance(read, Document):
            # A head alone is a session whose steps are still to be written.
            values = [read.value] if is_line(read.value) else []
        else:
            values = [value for _, value in read.lines]
    except InvalidJSON as error:
        return Draft(text, marks=(_unread(text, error),))
    lines = bool(values)
    root = spot_of(text, lines=lines)
    if isinstance(read, Document) and not lines:
        plan, problems = check_plan(space, read.value, forked)
        return Draft(text, read.value, plan, False, _written(root, plan), _marked(root, text, problems.found))
    return Draft(text, values, None, True, (), _marked(root, text, check_lines(space, values)))


def _written(root: JsonNode | None, plan: Plan) -> list[StepRange]:
    results = []
    for step in every_step(plan.steps):
        spot = spot_at(root, step.pointer)
        if spot is not None:
            results.append(StepRange(step, spot.start, spot.end))
    return results


def marked(draft: Draft, problems: Sequence[Problem]) -> Draft:
    """Return a draft with other problems in their places: those for which a run of it was refused."""
    return replace(draft, marks=_marked(spot_of(draft.text, lines=draft.lines), draft.text, problems))


def _unread(text: str, error: InvalidJSON) -> Mark:
    problem = Problem("unreadable", error.pointer, error.message, error.hint)
    if error.place is None:
        return _mark(spot_of(text), text, problem)
    line, column = error.place
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    at = min(start + column - 1, len(text))
    if at >= len(text) or text[at] in "\r\n":
        before = len(text[:at].rstrip())
        return Mark(problem, max(0, before - 1), before)
    return Mark(problem, at, at + 1)


def _marked(root: JsonNode | None, text: str, problems: Sequence[Problem]) -> list[Mark]:
    marks = [_mark(root, text, problem) for problem in problems]
    return sorted(marks, key=lambda mark: (mark.start, mark.problem.severity != "error"))


def _mark(root: JsonNode | None, text: str, problem: Problem) -> Mark:
    """Find what a problem is about: a key, a value; of a step or another object, what tells it; else what is around."""
    member = member_at(root, problem.pointer)
    if member is not None and problem.code in OF_THE_KEY:
        return Mark(problem, member.start, member.end)
    spot = spot_at(root, problem.pointer)
    if spot is None and member is not None:
        return Mark(problem, member.start, member.end)
    spot = spot or nearest_spot(root, problem.pointer)
    if spot is None:
        return Mark(problem, 0, len(text))
    told = _type_member(spot)
    if told is not None:
        return Mark(problem, told.start, told.last)
    end = text.find("\n", spot.start, spot.end)
    return Mark(problem, spot.start, spot.end if end < 0 or spot.kind == "string" else spot.start + 1)


def _type_member(spot: JsonNode) -> Member | None:
    """Return the member that tells what an object is."""
    member = spot.member("type") if spot.kind == "object" else None
    return member if member is not None and member.value is not None and member.value.kind == "string" else None
