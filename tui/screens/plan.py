"""The steps of the run that is open, as it goes on or as it was recorded.

Each step has a sign (`✓` success, `✗` failed, `·` skipped, `…` waiting, `▶` going on, `○` not begun), the kind and
size of what it gave, how long it took, what it does outside of itself, and a bar over the time of the whole run: bars
side by side are steps that ran side by side.

What ran inside of a step folds: `←` and `→`, or space. The items of a very long loop are in pages. In a plan that is
refused the problems stand below their steps; on one of them, `u` mends it, and the plan is checked again.
"""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from infospace.core.position import Position, holds
from infospace.data.json_source_map import parts_of
from planner.inspect.tree import RunTree, TreeNode
from tui.runtime.run_model import RunModel
from tui.screens.run_screen import RunScreen
from tui.tables.steps_table import StepTree, effects
from tui.text.fix_text import format_fix
from tui.text.output import escape_controls as safely
from tui.text.table_model import WIDE
from tui.widgets.lazy_table import LazyTable

NO_STEPS = "the plan has no steps"
BEHIND = 0.25
"""Seconds between two drawings while steps go on."""


class Plan(RunScreen):
    """The step tree of a run."""

    FIRST = "LazyTable"
    REASON = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "step", "Step", tooltip="opens the step: its arguments, its result, its calls"),
        *RunScreen.ACTIONS,
        Binding("space", "fold", "Fold", tooltip="folds or unfolds what is in a step"),
        Binding("right", "unfold(True)", "Unfold, go in", show=False, tooltip="unfolds, then goes in"),
        Binding("left", "unfold(False)", "Fold, go out", show=False, tooltip="folds, then goes out"),
        Binding("e", "all", "Unfold all", show=False, tooltip="unfolds everything; again folds everything"),
        Binding("t", "timeline", "Timeline", tooltip="shows bars over time instead of kinds and sizes"),
        Binding("l", "follow", "Follow", tooltip="keeps the cursor on the running step"),
        Binding("n", "next", "Next failure", tooltip="goes to the next failure, problem or waiting step"),
        Binding("u", "use", "Use fix", tooltip="uses the fix of the problem, and checks again"),
        Binding("c", "check", "Check", show=False, tooltip="checks the plan against the space as it is now"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._tree = StepTree(effects(lambda: self.infospace.space.catalogue))
        self._timeline = False
        self._follows = True

    def body(self) -> ComposeResult:
        """The tree, and a few words on the step at the cursor."""
        yield LazyTable(empty="")
        with VerticalScroll(id="about", can_focus=False):
            yield Static("", markup=False)

    def on_mount(self) -> None:
        """Draw what goes on a few times a second."""
        super().on_mount()
        self.set_interval(BEHIND, self._refresh_running)

    def show_run(self, subject: RunModel | None, *, afresh: bool) -> None:
        tree = self._tree
        tree.colours = self.infospace.colours
        grid, at = self.query_one(LazyTable), None
        if subject is None:
            tree.outline, tree.nodes = None, []
            grid.empty = ""
        else:
            tree.update(subject.outline, afresh=afresh)
            grid.empty = NO_STEPS
            at = self._follow_running(subject.outline) or (self.infospace.chosen if afresh else None)
            if at is not None and afresh:
                tree.unfold_to(at)
        self._lay_out()
        grid.show(tree, tree.columns, at=at)
        self._about()

    def _refresh_running(self) -> None:
        outline = self._tree.outline
        if self.is_current and outline is not None and outline.going:
            self.query_one(LazyTable).refresh()

    def _lay_out(self) -> None:
        wide = self.size.width >= WIDE
        self._tree.columns = StepTree.ALL if wide else StepTree.BARS if self._timeline else StepTree.DETAILS

    def on_resize(self) -> None:
        """Show as many columns as there is room for."""
        self._lay_out()
        self.query_one(LazyTable).show(self._tree, self._tree.columns)

    def is_action_available(self, action: str) -> bool:
        """Whether something can be done at the cursor, or with the run."""
        outline, subject, node = self._tree.outline, self.infospace.subject, self._node
        match action:
            case "timeline":
                return self.size.width < WIDE and subject is not None and subject.run is not None
            case "follow":
                return subject is not None and subject.run is not None and not subject.ended
            case "use":
                return node is not None and node.problem is not None and node.problem.fix is not None
            case "step":
                return node is not None and node.kind == "step"
            case "all" | "unfold(True)" | "unfold(False)":
                return outline is not None and any(outline.has_children(one) for one in self._tree.nodes)
            case "fold":
                return outline is not None and node is not None and outline.has_children(node)
            case "next":
                return outline is not None and self._needs_somebody(outline)
            case "check":
                return subject is not None
        return super().is_action_available(action)

    def _needs_somebody(self, outline: RunTree) -> bool:
        bad = any(row.status in {"failed", "suspended"} for row in outline.rows.values())
        return bad or any(node.problem is not None for node in self._tree.nodes)

    # Following

    def _follow_running(self, outline: RunTree) -> str | None:
        """Return the innermost step that goes on for longest, unfolded, where it is followed."""
        if not self._follows or not outline.going:
            return None
        inner = [one for one in outline.going if not any(holds(one, other) for other in outline.going)]
        first = min(inner, key=lambda position: outline.going[position])
        self._tree.follow(first)
        return first

    def action_follow(self) -> None:
        """Stay with what goes on, or not."""
        self._follows = not self._follows
        self.notify("Following the step that goes on." if self._follows else "Not following.")

    # The cursor

    @property
    def _node(self) -> TreeNode | None:
        grid = self.query_one(LazyTable)
        return self._tree.nodes[grid.cursor] if grid.cursor < len(self._tree.nodes) else None

    def on_lazy_table_highlighted(self) -> None:
        """Choose the step at the cursor, and say something of it."""
        node = self._node
        if node is not None and node.kind == "step":
            self.infospace.chosen = node.key
        self._about()

    def on_lazy_table_chosen(self) -> None:
        """Open the step, or fold the part."""
        self.action_step()

    def action_step(self) -> None:
        """Open the step at the cursor."""
        node = self._node
        if node is None:
            return
        if node.kind == "step":
            self.infospace.chosen = node.key
            self.app.call_later(self.infospace.action_go, "step")
        else:
            self.action_fold()

    def _about(self) -> None:
        self.query_one("#about Static", Static).update(self._render_about())

    def _render_about(self) -> Text:
        node, outline = self._node, self._tree.outline
        if node is None or outline is None:
            return Text("")
        if node.problem is not None:
            problem = node.problem
            text = Text.assemble((f"{problem.code} {self._format_place(problem.pointer)}: ", "bold")).append(
                safely(problem.message)
            )
            if problem.hint:
                text.append(f"\n→ {safely(problem.hint)}", "dim")
            if problem.fix is not None:
                text.append(f"\nu fixes it: {safely(format_fix(problem.fix))}", "dim")
            return text
        row = outline.rows.get(node.key)
        if row is None:
            span = outline.spans.get(node.key)
            return Text("" if span is None else f"{span.executions:,} executions, {span.failed:,} failed", "dim")
        if row.reason:
            return Text(safely(row.reason), self.infospace.colours.get("error", ""))
        return Text(safely(row.value))

    def _format_place(self, pointer: str) -> str:
        """Say where in the plan something is: `in step 2, target`."""
        steps = [node for node in self._tree.nodes if node.step is not None and _is_inside(node.step.pointer, pointer)]
        if not steps:
            return f"at {pointer}" if pointer else "in the document"
        inner = max(steps, key=lambda node: len(node.step.pointer) if node.step is not None else 0)
        assert inner.step is not None  # noqa: S101 - those without one were left out
        rest = parts_of(pointer[len(inner.step.pointer) :])
        return f"in step {inner.key}{', ' if rest else ''}{', '.join(rest)}"

    # Folding

    def action_fold(self) -> None:
        node = self._node
        if node is not None:
            self._fold(node, unfolded=not self._tree.is_open(node.key))

    def action_unfold(self, unfolded: bool) -> None:
        """Unfold and go in, or fold and go out."""
        node, outline, grid = self._node, self._tree.outline, self.query_one(LazyTable)
        if node is None or outline is None:
            return
        inner = outline.has_children(node)
        if unfolded and inner and self._tree.is_open(node.key):
            grid.cursor += 1
        elif unfolded and inner:
            self._fold(node, unfolded=True)
        elif not unfolded and inner and self._tree.is_open(node.key):
            self._fold(node, unfolded=False)
        elif not unfolded:
            above = (place for place in range(grid.cursor - 1, -1, -1) if self._tree.nodes[place].depth < node.depth)
            grid.cursor = next(above, grid.cursor)

    def _fold(self, node: TreeNode, *, unfolded: bool) -> None:
        self._follows = self._follows and unfolded
        self._tree.fold(node.key, unfolded=unfolded)
        self.query_one(LazyTable).show(self._tree)

    def action_all(self) -> None:
        """Unfold everything, or fold it."""
        outline = self._tree.outline
        if outline is None:
            return
        folded = any(outline.has_children(node) and not self._tree.is_open(node.key) for node in self._tree.nodes)
        if folded:
            self._tree.unfold_all()
        else:
            self._tree.fold_all()
        self.query_one(LazyTable).show(self._tree)

    def action_timeline(self) -> None:
        """Show bars, or kinds and sizes."""
        self._timeline = not self._timeline
        self._lay_out()
        self.query_one(LazyTable).show(self._tree, self._tree.columns)

    # What is wrong

    def action_next(self) -> None:
        """Go to the next place that needs somebody."""
        outline, grid = self._tree.outline, self.query_one(LazyTable)
        if outline is None:
            return
        for position, row in outline.rows.items():
            if row.status in {"failed", "suspended"} and Position.parse(position).part:
                self._tree.unfold_to(position)
        grid.show(self._tree)
        count = len(self._tree.nodes)
        for by in range(1, count + 1):
            node = self._tree.nodes[(grid.cursor + by) % count]
            if node.problem is not None or (node.kind == "step" and outline.state(node.key) in {"failed", "suspended"}):
                grid.cursor = (grid.cursor + by) % count
                return
        self.notify("Nothing failed, and nothing waits.")

    def action_check(self) -> None:
        """Check the plan of the run against the space as it is now."""
        subject = self.infospace.subject
        if subject is not None:
            self.infospace.open_plan(subject.document)

    def action_use(self) -> None:
        """Use the fix of the problem at the cursor."""
        node, subject = self._node, self.infospace.subject
        if node is None or subject is None or node.problem is None or node.problem.fix is None:
            self.notify("There is no fix here.", severity="warning")
            return
        from planner.language.json_patch import apply_patch

        self.infospace.open_plan(apply_patch(subject.document, node.problem.fix))


def _is_inside(step: str, pointer: str) -> bool:
    return pointer == step or pointer.startswith(f"{step}/")
