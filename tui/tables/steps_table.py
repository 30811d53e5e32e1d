"""The steps of a plan as rows of a table: a tree that is folded, and bars over time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.text import Text

from infospace.core.clock import seconds
from infospace.core.position import Position, attempt_at
from planner.inspect.summaries import format_effect
from planner.inspect.tree import RunTree, TreeNode
from planner.language.plan import Step
from tui.text.format import Colours, format_duration, sign, single_line
from tui.text.step_text import format_result_size
from tui.text.table_model import Column

UNFOLDED = 60
"""Executions up to which a plan is shown unfolded at first."""
SPOKEN = ("say", "think")
"""Steps that give nothing but what they say."""
TWISTY = {True: "▾ ", False: "▸ "}


class StepTree:
    """Implements `Rows`. `effect` says what a step does outside."""

    STEPS = Column("step", None, least=30)
    GAVE = Column("gave", 24, narrow=21)
    TOOK = Column("time", 9, "right")
    EFFECT = Column("effect", 15)
    TIMELINE = Column("", None, least=20)
    DETAILS: ClassVar[tuple[Column, ...]] = (STEPS, GAVE, TOOK)
    BARS: ClassVar[tuple[Column, ...]] = (STEPS, TOOK, TIMELINE)
    ALL: ClassVar[tuple[Column, ...]] = (STEPS, GAVE, EFFECT, TOOK, TIMELINE)

    def __init__(self, effect: Callable[[Step], str]) -> None:
        self.outline: RunTree | None = None
        self.columns: tuple[Column, ...] = self.DETAILS
        self.colours: Colours = {}
        self.nodes: list[TreeNode] = []
        """Those that are to be seen, in their order."""
        self._effect = effect
        self._open: set[str] = set()
        self._followed: set[str] = set()
        """What is unfolded only while it is followed."""

    def update(self, outline: RunTree, *, afresh: bool) -> None:
        """Show a plan; `afresh` when it is another one."""
        self.outline = outline
        if afresh:
            self._open.clear()
            self._followed.clear()
            self._unfold_at_first(outline)
        self.lay_out()

    def _unfold_at_first(self, outline: RunTree) -> None:
        if len(outline.rows) <= UNFOLDED:
            self.unfold_all(most=UNFOLDED)
        bad = [position for position, row in outline.rows.items() if row.status in {"failed", "suspended"}]
        for position in bad[:1]:
            self._open.update(outline.path_to(position))
        for pointer in outline.problems:
            self._open.update(node.key for node in outline.top() if _covers(node, pointer))

    def lay_out(self) -> None:
        """Work out which nodes are to be seen."""
        self.nodes = []
        if self.outline is not None:
            self._walk(self.outline.top())

    def _walk(self, nodes: Sequence[TreeNode]) -> None:
        outline = self.outline
        for node in nodes if outline is not None else ():
            self.nodes.append(node)
            if self.is_open(node.key) and outline is not None and outline.has_children(node):
                self._walk(outline.children(node))

    # Folding

    def is_open(self, key: str) -> bool:
        """Whether what is in a node is to be seen."""
        return key in self._open or key in self._followed

    def fold(self, key: str, *, unfolded: bool) -> None:
        """Fold or unfold a node."""
        if unfolded:
            self._open.add(key)
        else:
            self._open.discard(key)
            self._followed.discard(key)
        self.lay_out()

    def unfold_all(self, most: int = 2_000) -> None:
        """Unfold everything, as far as that gives no more than so many rows."""
        outline = self.outline
        if outline is None:
            return
        left, queue = most, outline.top()
        while queue and left > 0:
            node = queue.pop(0)
            if outline.has_children(node):
                inner = outline.children(node)
                if len(inner) <= left:
                    self._open.add(node.key)
                    left -= len(inner)
                    queue += inner
        self.lay_out()

    def fold_all(self) -> None:
        self._open.clear()
        self._followed.clear()
        self.lay_out()

    def unfold_to(self, position: str) -> None:
        """Unfold what a position lies in."""
        if self.outline is not None:
            self._open.update(self.outline.path_to(position))
            self.lay_out()

    def follow(self, position: str) -> None:
        """Unfold what a position lies in, until another one is followed."""
        if self.outline is not None:
            self._followed = set(self.outline.path_to(position))
            self.lay_out()

    # As rows

    def __len__(self) -> int:
        return len(self.nodes)

    def key(self, index: int) -> str:
        """Return the key of a node."""
        return self.nodes[index].key

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        """Return what is told of a node."""
        node = self.nodes[index]
        if node.problem is not None and self.outline is not None:
            return [self._named(self.outline, node)]
        return [self._cell(column, node, width) for column, width in zip(self.columns, widths, strict=True)]

    def _cell(self, column: Column, node: TreeNode, width: int) -> Text | str:
        outline = self.outline
        if outline is None:
            return ""
        row = outline.rows.get(node.key)
        if column is self.STEPS:
            return self._named(outline, node)
        if column is self.TOOK:
            return self._duration(outline, node)
        if column is self.TIMELINE:
            return self._bar(outline, node, width)
        if column is self.GAVE:
            if row is not None and row.type in SPOKEN:
                return Text(single_line(row.value), "italic")
            return "" if row is None else format_result_size(row)
        return Text(self._effect(node.step), "dim") if node.kind == "step" and node.step is not None else ""

    def _named(self, outline: RunTree, node: TreeNode) -> Text:
        text = Text("  " * node.depth)
        if node.problem is not None:
            bad = node.problem.severity == "error"
            text.append("✗ " if bad else "! ", self.colours.get("error" if bad else "warning", ""))
            text.append(single_line(node.problem.message))
            return text
        text.append(TWISTY[self.is_open(node.key)] if outline.has_children(node) else "  ", "dim")
        if node.kind == "page":
            return text.append(node.title, "dim")
        text.append_text(sign(outline.state(node.key), self.colours)).append(" ")
        if node.kind == "part" or node.step is None:
            return text.append(node.title, "dim")
        text.append(f"{_label(node)} ", "dim").append(node.step.type)
        if node.step.out is not None:
            text.append(f" → ${node.step.out}", self.colours.get("primary", ""))
        return text

    def _duration(self, outline: RunTree, node: TreeNode) -> str:
        begin, end = _times(outline, node.key)
        return "" if begin is None else format_duration((end - begin) * 1000)

    def _bar(self, outline: RunTree, node: TreeNode, width: int) -> Text:
        """Return a bar from when to when, among `width` characters that stand for the whole run."""
        begin, end = _times(outline, node.key)
        first, last = outline.begin, outline.end
        if begin is None or first is None:
            return Text("")
        whole = max(last or first, time.time() if outline.going else first, first + 1e-6) - first
        left = (begin - first) / whole * width
        right = max(left + 0.5, (end - first) / whole * width)
        state = outline.state(node.key)
        colour = {"failed": "error", "suspended": "warning", "skipped": "warning", "started": "accent"}.get(
            state, "primary"
        )
        style = self.colours.get(colour, "")
        start = min(int(left), width - 1)
        full = min(width, max(start + 1, round(right)))
        dim = "dim " if node.kind == "part" else ""
        return Text(" " * start).append(("█" if full - start > 1 else "▌") * (full - start), f"{dim}{style}")


def effects(catalogue_of: Callable[[], object]) -> Callable[[Step], str]:
    """Return what says the effect of a step, asked once for each kind of step."""
    from infospace.contract.catalogue import Catalogue

    known: dict[int, tuple[Step, str]] = {}

    def format_cached(step: Step) -> str:
        if id(step) not in known:
            catalogue = catalogue_of()
            known[id(step)] = step, format_effect(step, catalogue) if isinstance(catalogue, Catalogue) else ""
        return known[id(step)][1]

    return format_cached


def _times(outline: RunTree, key: str) -> tuple[float | None, float]:
    """When something began and ended; None where it did not begin. What goes on ends now."""
    if key in outline.going:
        return outline.going[key], time.time()
    row = outline.rows.get(key)
    if row is not None:
        begin = seconds(row.started)
        return begin, begin + row.duration_ms / 1000
    span = outline.spans.get(key)
    if span is None:
        return None, 0.0
    return span.begin, time.time() if span.going else span.end


def _label(node: TreeNode) -> str:
    step = Position.parse(node.key)
    return attempt_at(step.label, step.attempt)


def _covers(node: TreeNode, pointer: str) -> bool:
    return node.step is not None and (pointer == node.step.pointer or pointer.startswith(f"{node.step.pointer}/"))
