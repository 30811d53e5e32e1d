"""What every variable of the run that is open was bound to, at any moment of it.

The slider goes over the moments: `←` and `→` to the one before and the next, with shift ten at once, home and end to
the first and the last; `,` and `.` do so from everywhere. Below it stand the variables that could be seen then: those
of a loop's body or a branch only while something ran in it.

Beside them is what the variable at the cursor was, at that version: a Collection as a table. Click a title, or press
`s`, to sort it; enter on an item opens it in Notes, and `v` the whole: where it came from, and what was made of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.widgets import Static

from infospace.core.errors import NotFound
from infospace.core.ids import Kind, kind_of
from infospace.core.plural import pluralize
from infospace.core.resources import Collection
from planner.inspect.variable_history import Binding as Bound
from planner.inspect.variable_history import VariableHistory
from tui.runtime.run_model import RunModel
from tui.screens.run_screen import RunScreen
from tui.tables.notes_query import label_of
from tui.text.format import Colours, single_line
from tui.text.step_text import size_of
from tui.text.table_model import Column, NoRows
from tui.widgets.details.resource_data import ResourceData
from tui.widgets.lazy_table import LazyTable
from tui.widgets.slider import Slider

if TYPE_CHECKING:
    from infospace.store.protocol import Snapshot


SHORT = 200
"""Characters, as it is stored, up to which the beginning of a Note is all of it."""


class BindingRows:
    """Implements `Rows` over what was bound at a moment."""

    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("variable", 16),
        Column("is", 14, narrow=13),
        Column("size", 17, wide=60, narrow=14),
        Column("value", None, least=12),
        Column("of step", 14, narrow=10),
    )

    def __init__(
        self, bindings: Sequence[Bound], told: Sequence[tuple[str, str]], fresh: str | None, colours: Colours
    ) -> None:
        self.bindings = bindings
        self._told = told
        """The size and the beginning of each."""
        self._fresh = fresh
        self._colours = colours

    def __len__(self) -> int:
        return len(self.bindings)

    def key(self, index: int) -> str:
        """Return a variable's name."""
        return self.bindings[index].name

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        """Return what is told of a variable."""
        del widths
        bound = self.bindings[index]
        size, begins = self._told[index]
        new = bound.name == self._fresh
        style = self._colours.get("accent" if new else "primary", "")
        by = {"input": "input", "item": "item"}.get(bound.step, bound.step)
        return [
            Text(f"${bound.name}", style),
            bound.id,
            Text(size, "dim"),
            single_line(begins),
            Text(by, "dim"),
        ]


class Variables(RunScreen):
    """The variables of a run, over time."""

    FIRST = "LazyTable"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("comma", "scrub(-1)", "Before", key_display=",", tooltip="to the moment before"),
        Binding("full_stop", "scrub(1)", "Next", key_display=".", tooltip="to the next moment"),
        Binding("enter", "open", "Look", show=False, tooltip="goes into the value at the cursor"),
        Binding("s", "sort", "Sort", tooltip="sorts a value that is a table by the next column"),
        Binding("w", "where", "Its step", tooltip="opens the step that bound the variable"),
        Binding("y", "copy", "Copy", tooltip="copies the value"),
        Binding("v", "note", "In Notes", show=False, tooltip="opens the value, or an item of it, in Notes"),
        *RunScreen.ACTIONS,
    ]

    def __init__(self) -> None:
        super().__init__()
        self._moments: VariableHistory | None = None
        self._chosen: str | None = None
        """The step that was chosen when this was shown last."""
        self._names: BindingRows | None = None

    def body(self) -> ComposeResult:
        """The slider, the variables, and the value of one of them."""
        with Horizontal(id="time"):
            yield Slider()
            yield Static("", id="moment")
        with Container(id="halves"):
            yield LazyTable(BindingRows.COLUMNS, empty="nothing is bound yet", name="bindings")
            yield ResourceData(name="value")

    def shown(self) -> None:
        """Go to the step that was chosen meanwhile."""
        super().shown()
        chosen = self.infospace.chosen
        if chosen is not None and chosen != self._chosen and self._moments is not None:
            self._chosen = chosen
            self.query_one(Slider).value = self._moments.moment_of(chosen) or self.query_one(Slider).value

    def show_run(self, subject: RunModel | None, *, afresh: bool) -> None:
        """Go over a run; of another one, to its end."""
        if subject is None or subject.run is None:
            self._moments, self._names = None, None
            for group in ("moments", "at", "value"):
                self.workers.cancel_group(self, group)
            self.query_one("#bindings", LazyTable).show(NoRows())
            self.query_one("#value", ResourceData).show_text("")
            self.query_one("#moment", Static).update("")
            return
        self.do(self._read, subject, afresh, group="moments")

    async def _read(self, subject: RunModel, afresh: bool) -> None:
        moments = await asyncio.to_thread(self._replayed, subject)
        slider = self.query_one(Slider)
        at_end = slider.value == slider.most
        self._moments = moments
        slider.most = len(moments)
        chosen, self._chosen = self.infospace.chosen, self.infospace.chosen
        there = moments.moment_of(chosen) if chosen is not None and chosen != _first(subject) else 0
        if afresh:
            slider.value = there or slider.most
        elif at_end:
            slider.value = slider.most
        self._at(slider.value)

    def _replayed(self, subject: RunModel) -> VariableHistory:
        """Return the moments of a run; for a thread."""
        known: dict[tuple[str, int], list[str]] = {}

        def members(identifier: str, version: int) -> list[str]:
            if (identifier, version) not in known:
                with self.infospace.space.store.reading() as snapshot:
                    resource = snapshot.get(identifier, version)
                ids = [member.id for member in resource.members] if isinstance(resource, Collection) else []
                known[identifier, version] = ids
            return known[identifier, version]

        assert subject.run is not None  # noqa: S101 - only runs have moments
        return VariableHistory(subject.plan, subject.run, subject.rows, members)

    # Moments

    def on_slider_moved(self, event: Slider.Moved) -> None:
        self._at(event.value)

    def action_scrub(self, by: int) -> None:
        """Go to another moment."""
        self.query_one(Slider).value += by

    def _at(self, moment: int) -> None:
        moments, subject = self._moments, self.infospace.subject
        if moments is None or subject is None or moment > len(moments):
            return
        self.do(self._show, moments, subject, moment, group="at")

    def _bound_at(
        self, moments: VariableHistory, subject: RunModel, moment: int
    ) -> tuple[Sequence[Bound], list[tuple[str, str]]]:
        """Return what is bound at a moment, with the size and the beginning of each; for a thread."""
        bindings = moments.after(moment)
        with self.infospace.space.store.reading() as snapshot:
            return bindings, [_size_and_preview(snapshot, subject, bound) for bound in bindings]

    async def _show(self, moments: VariableHistory, subject: RunModel, moment: int) -> None:
        bindings, previews = await asyncio.to_thread(self._bound_at, moments, subject, moment)
        row = moments.ended[moment - 1] if moment else None
        fresh = None if row is None or row.status != "success" else row.out
        self._names = BindingRows(bindings, previews, fresh, self.infospace.colours)
        grid = self.query_one("#bindings", LazyTable)
        grid.show(self._names)
        text = "at the beginning" if row is None else f"after {row.position} {row.type}"
        self.query_one("#moment", Static).update(Text(f"{moment:,} of {len(moments):,}, {text}", no_wrap=True))
        self._value()
        self.refresh_bindings()

    def is_action_available(self, action: str) -> bool:
        """Whether something can be done at this moment, or with the variable at the cursor."""
        bound, subject = self._bound, self.infospace.subject
        match action:
            case "scrub(-1)" | "scrub(1)":
                return self._moments is not None and len(self._moments) > 0
            case "where":
                return bound is not None and subject is not None and subject.row(bound.step) is not None
            case "open" | "copy" | "note":
                return bound is not None
            case "sort":
                return self.query_one("#value", ResourceData).table is not None
        return super().is_action_available(action)

    # The variable at the cursor

    @property
    def _bound(self) -> Bound | None:
        grid = self.query_one("#bindings", LazyTable)
        result = self._names
        return result.bindings[grid.cursor] if result is not None and grid.cursor < len(result) else None

    def on_lazy_table_highlighted(self, event: LazyTable.Highlighted) -> None:
        """Show what the variable was."""
        if event.grid.id == "bindings":
            self._value()

    def on_lazy_table_chosen(self, event: LazyTable.Chosen) -> None:
        """Go into the value."""
        if event.grid.id == "bindings":
            self.action_open()
        else:
            self.action_note()

    def _value(self) -> None:
        bound, data = self._bound, self.query_one("#value", ResourceData)
        if bound is None:
            data.show_text("")
        else:
            self.do(data.show, bound.id, bound.version, group="value")

    def action_open(self) -> None:
        """Go into the value."""
        self.query_one("#value", ResourceData).focus_inside()

    def action_note(self) -> None:
        """Open the value in Notes, or the item of it at the cursor."""
        self.open_in_notes(self.query_one("#value", ResourceData).pointed)

    def action_sort(self) -> None:
        """Sort the value, where it is a table."""
        self.query_one("#value", ResourceData).sort()

    def action_where(self) -> None:
        """Open the step that bound the variable."""
        bound, subject = self._bound, self.infospace.subject
        if bound is None or subject is None or subject.row(bound.step) is None:
            self.notify("No step bound it.", severity="warning")
            return
        self.infospace.chosen = bound.step
        self.app.call_later(self.infospace.action_go, "step")

    def action_copy(self) -> None:
        text, whole = self.query_one("#value", ResourceData).copied()
        self.app.copy_to_clipboard(text)
        self.notify(
            f"Copied {pluralize(len(text), 'character')}."
            if whole
            else f"Copied the first {pluralize(len(text), 'character')}."
        )


def _size_and_preview(snapshot: Snapshot, subject: RunModel, bound: Bound) -> tuple[str, str]:
    """Return the size and the beginning of what is bound: as its step told, else as it is stored."""
    row = subject.row(bound.step)
    if row is not None and row.resource == bound.id:
        return size_of(row), row.value
    try:
        brief = snapshot.briefs([bound.id])[0]
    except NotFound:
        return "", "(not there any more)"
    if brief.version != (bound.version or brief.version):
        return "", ""
    if kind_of(bound.id) is Kind.COLLECTION:
        return pluralize(brief.size, "item"), label_of(brief)
    return pluralize(len(brief.begins) if brief.size <= SHORT else brief.size, "character"), label_of(brief)


def _first(subject: RunModel) -> str | None:
    """The step at which whoever looks at a plan begins."""
    return subject.plan.steps[0].label if subject.plan.steps else None
