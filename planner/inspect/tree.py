"""A run as a tree: its steps as they were written, what became of each, and what ran inside of it.

Steps stand at their positions (`4`, `4#2`, `4.do[3].2`). What stands between a step and those in it is a part: a
block (`4.then`), an item or a round (`4.do[3]`), a branch (`4.branches[1]`), a handler (`4.on_fail`, `4[2].on_fail`),
a saved plan (`4/`). A loop of very many has its items in pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from infospace.core.clock import seconds
from infospace.core.position import Part, Position, attempt_at
from infospace.journal.rows import StepRow
from planner.language.plan import Block, ForEach, If, Parallel, Plan, Step, While, every_step
from planner.language.problems import Problem
from planner.parse.positions import block_of

PAGE = 100
"""Items of a loop on one page."""
PAGED = 2 * PAGE
"""Items from which on there are pages."""

_ROUNDS = ("do", "body")
_NOUNS: Mapping[str, str] = {"do": "item", "body": "round", "branches": "branch"}

State: TypeAlias = Literal["", "started", "success", "failed", "skipped", "suspended"]
"""What became of a step; "" where it was not begun."""


@dataclass(slots=True)
class TimeSpan:
    """What is known of all that ran in a part: from when to when (seconds since 1970), and how it went."""

    begin: float
    end: float
    executions: int = 0
    failed: int = 0
    going: int = 0
    waiting: int = 0

    @property
    def state(self) -> State:
        """How it went, in one word."""
        if self.going:
            return "started"
        return "suspended" if self.waiting else "failed" if self.failed else "success"


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A place in the tree: a step, a part of one, a page of parts, or a problem of the check."""

    key: str
    """Tells it from the others: a step's position, a part's, `4.do[1-100]`, or that and the number of a problem."""
    kind: Literal["step", "part", "page", "problem"]
    depth: int
    step: Step | None = None
    problem: Problem | None = None
    title: str = ""
    part: Part | None = None
    """Of a part itself, of a page the first that could stand on it."""


@dataclass(slots=True)
class RunTree:
    """The tree of a plan, with what is known of a run of it; of a session, the plan grows."""

    plan: Plan
    rows: dict[str, StepRow] = field(default_factory=dict)
    """Executions that ended, by position."""
    going: dict[str, float] = field(default_factory=dict)
    """When executions began that have not ended, by position (seconds since 1970)."""
    spans: dict[str, TimeSpan] = field(default_factory=dict)
    """What ran, by part."""
    problems: Mapping[str, Sequence[Problem]] = field(default_factory=dict)
    """What the check says, by the pointer of the step that it is about; `""` is the plan as a whole."""
    _parts: dict[str, dict[str, Part]] = field(default_factory=dict)
    """The parts of a step in which something ran, by its position."""
    _attempts: dict[str, int] = field(default_factory=dict)
    _when: tuple[float, float] | None = None
    """From when to when all of it ran, where that is known."""

    # What happened

    def ended(self, row: StepRow) -> None:
        """Take an execution that ended."""
        begin = seconds(row.started)
        before = self.rows.get(row.position)
        self.rows[row.position] = row
        was_going = self.going.pop(row.position, None) is not None
        self._when = None if before is not None else self._stretched(begin, begin + row.duration_ms / 1000)
        for span in self._spans(row.position, begin):
            span.going -= was_going
            span.end = max(span.end, begin + row.duration_ms / 1000)
            span.executions += before is None
            for status, sign in ((row.status, 1), *([(before.status, -1)] if before is not None else [])):
                span.failed += sign * (status == "failed" and not (row.extra.get("handled")))
                span.waiting += sign * (status == "suspended")

    def began(self, position: str, at: float) -> None:
        """Take an execution that began."""
        if position in self.going:
            return
        self.going[position] = at
        self._when = self._stretched(at, at)
        for span in self._spans(position, at):
            span.going += 1

    def _spans(self, position: str, begin: float) -> Iterator[TimeSpan]:
        """The parts that a position lies in, innermost first; they are made where they are not known."""
        step = Position.parse(position)
        self._attempted(step)
        for part in step.parts:
            span = self.spans.get(part.text)
            if span is None:
                span = self.spans[part.text] = TimeSpan(begin, begin)
            else:
                span.begin = min(span.begin, begin)
            self._parts.setdefault(part.holder.text, {})[part.text] = part
            self._attempted(part.holder)
            yield span

    def _attempted(self, step: Position) -> None:
        if step.attempt > 1:
            first = step.first.text
            self._attempts[first] = max(self._attempts.get(first, 1), step.attempt)

    def state(self, key: str) -> State:
        """Return what became of a step, or of a part."""
        if key in self.going:
            return "started"
        if key in self.rows:
            return self.rows[key].status
        span = self.spans.get(key)
        return "" if span is None else span.state

    @property
    def begin(self) -> float | None:
        """When the first step began (seconds since 1970), None before."""
        return None if self._ran is None else self._ran[0]

    @property
    def end(self) -> float | None:
        """When the last of those that ended did."""
        return None if self._ran is None else self._ran[1]

    @property
    def _ran(self) -> tuple[float, float] | None:
        if self._when is None and (own := list(self._own())):
            self._when = min(begin for begin, _ in own), max(end for _, end in own)
        return self._when

    def _stretched(self, begin: float, end: float) -> tuple[float, float] | None:
        """Return when all of it ran, with one more execution; None where the time before is to be found anew."""
        return None if self._when is None else (min(self._when[0], begin), max(self._when[1], end))

    def _own(self) -> Iterator[tuple[float, float]]:
        """When the plan's own steps, and what is in them, began and ended."""
        for label in self._labels("", self.plan.steps):
            if label in self.rows:
                begin = seconds(self.rows[label].started)
                yield begin, begin + self.rows[label].duration_ms / 1000
            elif label in self.going:
                yield self.going[label], self.going[label]
            yield from ((span.begin, span.end) for part in self._parts.get(label, ()) if (span := self.spans[part]))

    # The tree

    def top(self) -> list[TreeNode]:
        """Return what is wrong with the plan as a whole, and its steps."""
        return [*self._problem_nodes("", "", 0), *self._block("", self.plan.steps, 0)]

    def children(self, node: TreeNode) -> list[TreeNode]:
        """Return what is in a node."""
        depth = node.depth + 1
        if node.kind == "page":
            return [self._part(node.step, part, depth) for part in self._on_page(node.part)]
        if node.part is not None and node.step is not None:
            return self._block(node.part.prefix, block_of(self.plan, node.step, node.part), depth)
        if node.kind == "step" and node.step is not None:
            return [*self._problem_nodes(node.key, node.step.pointer, depth), *self._inside(node.step, node.key, depth)]
        return []

    def has_children(self, node: TreeNode) -> bool:
        """Whether anything is in a node."""
        if node.kind != "step" or node.step is None:
            return node.kind != "problem"
        inner = isinstance(node.step.form, (If, While, ForEach, Parallel)) or isinstance(node.step.on_fail, tuple)
        return inner or node.key in self._parts or bool(self.problems.get(node.step.pointer))

    def path_to(self, position: str) -> list[str]:
        """Return the keys of the nodes that a position lies in, outermost first."""
        results: list[str] = []
        for part in Position.parse(position).parts:
            results += [part.text, *self._page_of(part), part.holder.text]
        return results[::-1]

    def _block(self, prefix: str, block: Block, depth: int) -> list[TreeNode]:
        by_label = {step.label: step for step in block}
        nodes = []
        for label, step in by_label.items():
            nodes += [TreeNode(position, "step", depth, step) for position in self._tried(prefix + label)]
        return nodes

    def _labels(self, prefix: str, block: Block) -> Iterator[str]:
        for step in block:
            yield from self._tried(prefix + step.label)

    def _tried(self, position: str) -> list[str]:
        return [attempt_at(position, attempt) for attempt in range(1, self._attempts.get(position, 1) + 1)]

    def _inside(self, step: Step, position: str, depth: int) -> list[TreeNode]:
        here, known = Position.parse(position), list(self._parts.get(position, {}).values())
        loops = sorted((part for part in known if part.block in _ROUNDS), key=_number)
        others = [part for part in known if part.block not in _ROUNDS]
        value: list[Part] = []
        match step.form:
            case If() if not others and position not in self.rows:
                value = [here.inside("then"), here.inside("else")]
            case Parallel(branches):
                value = [here.inside("branches", number) for number in range(1, len(branches) + 1)]
            case ForEach() | While() if not loops and position not in self.rows:
                value = [here.inside("do" if isinstance(step.form, ForEach) else "body", 1)]
        if len(loops) > PAGED:
            nodes = self._pages(step, loops, depth)
        else:
            nodes = [self._part(step, part, depth) for part in loops]
        rest = list(dict.fromkeys([*value, *others]))
        return [*nodes, *(self._part(step, part, depth) for part in rest)]

    def _pages(self, step: Step, loops: Sequence[Part], depth: int) -> list[TreeNode]:
        firsts = dict.fromkeys((_number(part) - 1) // PAGE * PAGE + 1 for part in loops)
        pages = [loops[0].holder.inside(loops[0].block, first) for first in firsts]
        return [TreeNode(_key(page), "page", depth, step, title=_listed(page), part=page) for page in pages]

    def _on_page(self, page: Part | None) -> list[Part]:
        if page is None:
            return []
        first = _number(page)
        parts = (page.holder.inside(page.block, number) for number in range(first, first + PAGE))
        return [part for part in parts if part.text in self.spans]

    def _page_of(self, part: Part) -> list[str]:
        beside = self._parts.get(part.holder.text, {}).values()
        paged = part.block in _ROUNDS and sum(1 for one in beside if one.block in _ROUNDS) > PAGED
        return [_key(_page(part))] if paged else []

    def _part(self, step: Step | None, part: Part, depth: int) -> TreeNode:
        return TreeNode(part.text, "part", depth, step, title=_title(part), part=part)

    def _problem_nodes(self, key: str, pointer: str, depth: int) -> list[TreeNode]:
        problems = self.problems.get(pointer, ())
        return [TreeNode(f"{key}!{number}", "problem", depth, problem=one) for number, one in enumerate(problems)]


def by_step(plan: Plan, problems: Iterable[Problem]) -> dict[str, list[Problem]]:
    """Return problems by the pointer of the innermost step that they are about, `""` where that is none."""
    pointers = {step.pointer for step in every_step(plan.steps)}
    results: dict[str, list[Problem]] = {}
    for problem in problems:
        pointer = problem.pointer
        while pointer and pointer not in pointers:
            pointer = pointer.rpartition("/")[0]
        results.setdefault(pointer, []).append(problem)
    return results


def _number(part: Part) -> int:
    return part.number or 1


def _page(part: Part) -> Part:
    """The first part that could stand on the page of another."""
    return part.holder.inside(part.block, (_number(part) - 1) // PAGE * PAGE + 1)


def _key(page: Part) -> str:
    return f"{page.holder}.{page.block}[{page.number}-{_number(page) + PAGE - 1}]"


def _listed(page: Part) -> str:
    word, first = "items" if page.block == "do" else "rounds", _number(page)
    return f"{word} {first:,} to {first + PAGE - 1:,}"


def _title(part: Part) -> str:
    if part.block == "plan":
        return "its steps"
    if part.number is None:
        return part.block
    if part.block == "on_fail":
        return f"on_fail of item {part.number}"
    return f"{_NOUNS[part.block]} {part.number:,}"


def outline(plan: Plan, rows: Sequence[StepRow] = (), problems: Iterable[Problem] = ()) -> RunTree:
    """Return the tree of a plan and of the executions of a run of it."""
    tree = RunTree(plan, problems=by_step(plan, problems))
    for row in rows:
        tree.ended(row)
    return tree
