"""A run as a tree: its steps as they were written, what became of each, and what ran inside of it.

Steps stand at their positions (`4`, `4#2`, `4.do[3].2`). What stands between a step and those in it is a part: a
block (`4.then`), an item or a round (`4.do[3]`), a branch (`4.branches[1]`), a handler (`4.on_fail`, `4[2].on_fail`),
a saved plan (`4/`). A loop of very many has its items in pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from infospace.runs.journal import StepRow
from planner.plan import Block, ForEach, If, Parallel, Plan, Saved, Step, While, every_step
from planner.problems import Problem

PAGE = 100
"""Items of a loop on one page."""
PAGED = 2 * PAGE
"""Items from which on there are pages."""

_PART = re.compile(r"(\.then|\.else|\.body\[\d+\]|\.do\[\d+\]|\.branches\[\d+\]|(?:\[\d+\])?\.on_fail)\.|/")
_ROUND = re.compile(r"(.*)\.(do|body)\[(\d+)\]")
_ATTEMPT = re.compile(r"(.*)#(\d+)")

State: TypeAlias = Literal["", "started", "success", "failed", "skipped", "suspended"]
"""What became of a step; "" where it was not begun."""


@dataclass(slots=True)
class Span:
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
class Node:
    """A place in the tree: a step, a part of one, a page of parts, or a problem of the check."""

    key: str
    """Tells it from the others: a step's position, a part's, `4.do[1-100]`, or that and the number of a problem."""
    kind: Literal["step", "part", "page", "problem"]
    depth: int
    step: Step | None = None
    problem: Problem | None = None
    title: str = ""


@dataclass(slots=True)
class Outline:
    """The tree of a plan, with what is known of a run of it; of a session, the plan grows."""

    plan: Plan
    rows: dict[str, StepRow] = field(default_factory=dict)
    """Executions that ended, by position."""
    going: dict[str, float] = field(default_factory=dict)
    """When executions began that have not ended, by position (seconds since 1970)."""
    spans: dict[str, Span] = field(default_factory=dict)
    """What ran, by part."""
    problems: Mapping[str, Sequence[Problem]] = field(default_factory=dict)
    """What the check says, by the pointer of the step that it is about; `""` is the plan as a whole."""
    _parts: dict[str, dict[str, None]] = field(default_factory=dict)
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

    def rested(self) -> None:
        """Nothing goes on any more: what had begun and was not told to have ended did not count."""
        self._when = None
        for position in list(self.going):
            del self.going[position]
            for span in self._spans(position, None):
                span.going -= 1

    def _spans(self, position: str, begin: float | None) -> Iterator[Span]:
        """The parts that a position lies in, innermost first; they are made where they are not known."""
        self._attempted(position)
        part = part_of(position)
        while part:
            span = self.spans.get(part)
            if span is None:
                span = self.spans[part] = Span(begin or 0.0, begin or 0.0)
            elif begin is not None:
                span.begin = min(span.begin, begin)
            holder = holder_of(part)
            self._parts.setdefault(holder, {})[part] = None
            self._attempted(holder)
            yield span
            part = part_of(holder)

    def _attempted(self, position: str) -> None:
        attempt = _ATTEMPT.fullmatch(position)
        if attempt is not None:
            self._attempts[attempt[1]] = max(self._attempts.get(attempt[1], 1), int(attempt[2]))

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

    def top(self) -> list[Node]:
        """Return what is wrong with the plan as a whole, and its steps."""
        return [*self._told("", "", 0), *self._block("", self.plan.steps, 0)]

    def children(self, node: Node) -> list[Node]:
        """Return what is in a node."""
        depth = node.depth + 1
        if node.kind == "page":
            return [self._part(node.step, part, depth) for part in self._on_page(node.key)]
        if node.kind == "part" and node.step is not None:
            return self._block(_prefix(node.key), self._block_of(node.step, node.key), depth)
        if node.kind == "step" and node.step is not None:
            return [*self._told(node.key, node.step.pointer, depth), *self._inside(node.step, node.key, depth)]
        return []

    def has_children(self, node: Node) -> bool:
        """Whether anything is in a node."""
        if node.kind != "step" or node.step is None:
            return node.kind != "problem"
        inner = isinstance(node.step.form, (If, While, ForEach, Parallel)) or isinstance(node.step.on_fail, tuple)
        return inner or node.key in self._parts or bool(self.problems.get(node.step.pointer))

    def path_to(self, position: str) -> list[str]:
        """Return the keys of the nodes that a position lies in, outermost first."""
        found: list[str] = []
        part = part_of(position)
        while part:
            holder = holder_of(part)
            found += [part, *self._page_of(part), holder]
            part = part_of(holder)
        return found[::-1]

    def _block(self, prefix: str, block: Block, depth: int) -> list[Node]:
        by_label = {step.label: step for step in block}
        nodes = []
        for label, step in by_label.items():
            nodes += [Node(position, "step", depth, step) for position in self._tried(prefix + label)]
        return nodes

    def _labels(self, prefix: str, block: Block) -> Iterator[str]:
        for step in block:
            yield from self._tried(prefix + step.label)

    def _tried(self, position: str) -> list[str]:
        return [position, *(f"{position}#{attempt}" for attempt in range(2, self._attempts.get(position, 1) + 1))]

    def _inside(self, step: Step, position: str, depth: int) -> list[Node]:
        known = list(self._parts.get(position, ()))
        loops = [part for part in known if _ROUND.fullmatch(part)]
        others = [part for part in known if not _ROUND.fullmatch(part)]
        match step.form:
            case If():
                written = [f"{position}.{word}" for word in ("then", "else")] if not others else []
                if position in self.rows:
                    written = []
            case Parallel(branches):
                written = [f"{position}.branches[{number}]" for number in range(1, len(branches) + 1)]
            case ForEach() | While() if not loops and position not in self.rows:
                written = [f"{position}.{'do' if isinstance(step.form, ForEach) else 'body'}[1]"]
            case _:
                written = []
        if len(loops) > PAGED:
            nodes = self._pages(step, position, loops, depth)
        else:
            nodes = [self._part(step, part, depth) for part in sorted(loops, key=_number)]
        rest = list(dict.fromkeys([*written, *others]))
        return [*nodes, *(self._part(step, part, depth) for part in rest)]

    def _pages(self, step: Step, position: str, loops: Sequence[str], depth: int) -> list[Node]:
        name = loops[0][len(position) + 1 :].partition("[")[0]
        pages = sorted({(_number(part) - 1) // PAGE for part in loops})
        word = "items" if name == "do" else "rounds"
        return [
            Node(
                f"{position}.{name}[{page * PAGE + 1}-{(page + 1) * PAGE}]",
                "page",
                depth,
                step,
                title=_listed(word, page),
            )
            for page in pages
        ]

    def _on_page(self, key: str) -> list[str]:
        head, _, bounds = key.rpartition("[")
        first, _, last = bounds.rstrip("]").partition("-")
        parts = (f"{head}[{number}]" for number in range(int(first), int(last) + 1))
        return [part for part in parts if part in self.spans]

    def _page_of(self, part: str) -> list[str]:
        found = _ROUND.fullmatch(part)
        if found is None or sum(1 for one in self._parts.get(found[1], ()) if _ROUND.fullmatch(one)) <= PAGED:
            return []
        page = (int(found[3]) - 1) // PAGE
        return [f"{found[1]}.{found[2]}[{page * PAGE + 1}-{(page + 1) * PAGE}]"]

    def _part(self, step: Step | None, part: str, depth: int) -> Node:
        return Node(part, "part", depth, step, title=_title(part))

    def _block_of(self, step: Step, part: str) -> Block:
        """The steps that are written in a part of a step."""
        name = part[len(holder_of(part)) :]
        if name.endswith(".on_fail"):
            return step.on_fail if isinstance(step.on_fail, tuple) else ()
        match step.form:
            case If(_, then, otherwise):
                return then if name == ".then" else otherwise
            case While(_, body):
                return body
            case ForEach():
                return step.form.do
            case Parallel(branches):
                number = _number(part)
                return branches[number - 1] if number <= len(branches) else ()
            case Saved():
                plan = self.plan.plans.get(step.form.name)
                return () if plan is None else plan.steps
        return ()

    def _told(self, key: str, pointer: str, depth: int) -> list[Node]:
        problems = self.problems.get(pointer, ())
        return [Node(f"{key}!{number}", "problem", depth, problem=one) for number, one in enumerate(problems)]


def part_of(position: str) -> str:
    """Return the innermost part that a step's position lies in, "" for one of the plan's own steps."""
    parts = list(_PART.finditer(position))
    if not parts:
        return ""
    end = parts[-1].end()
    return position[:end] if position[end - 1] == "/" else position[: end - 1]


def holder_of(part: str) -> str:
    """Return the position of the step that a part belongs to."""
    if part.endswith("/"):
        return part[:-1]
    return part[: list(_PART.finditer(f"{part}."))[-1].start()]


def holds(position: str, other: str) -> bool:
    """Whether the step at one position has another position in it."""
    return other.startswith(position) and other[len(position) : len(position) + 1] in {".", "/", "["}


def seconds(moment: str) -> float:
    """Return a time of the journal in seconds since 1970."""
    return datetime.fromisoformat(moment).timestamp()


def by_step(plan: Plan, problems: Iterable[Problem]) -> dict[str, list[Problem]]:
    """Return problems by the pointer of the innermost step that they are about, `""` where that is none."""
    pointers = {step.pointer for step in every_step(plan.steps)}
    found: dict[str, list[Problem]] = {}
    for problem in problems:
        pointer = problem.pointer
        while pointer and pointer not in pointers:
            pointer = pointer.rpartition("/")[0]
        found.setdefault(pointer, []).append(problem)
    return found


def _prefix(part: str) -> str:
    return part if part.endswith("/") else f"{part}."


def _number(part: str) -> int:
    return int(part[part.rindex("[") + 1 : -1])


def _listed(word: str, page: int) -> str:
    return f"{word} {page * PAGE + 1:,} to {(page + 1) * PAGE:,}"


def _title(part: str) -> str:
    name = part[len(holder_of(part)) :]
    if name == "/":
        return "its steps"
    if name.endswith(".on_fail"):
        return f"on_fail of item {_number(name.removesuffix('.on_fail'))}" if name.startswith("[") else "on_fail"
    word, bracket, _ = name[1:].partition("[")
    if not bracket:
        return word
    noun = {"do": "item", "body": "round", "branches": "branch"}[word]
    return f"{noun} {_number(name):,}"


def outline(plan: Plan, rows: Sequence[StepRow] = (), problems: Iterable[Problem] = ()) -> Outline:
    """Return the tree of a plan and of the executions of a run of it."""
    tree = Outline(plan, problems=by_step(plan, problems))
    for row in rows:
        tree.ended(row)
    return tree
