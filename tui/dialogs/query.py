"""Asking the notes one SELECT: a line with completion, its rows as a table, and what is kept of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.suggester import Suggester
from textual.widgets import Button, Input, Static

from infospace.core.bounds import OutOfTime, Stop, stopped_by
from infospace.core.errors import InfospaceError, Invalid
from infospace.core.ids import Kind, kind_of
from infospace.core.json_types import JSON
from infospace.core.names import validate_name
from infospace.core.plural import pluralize
from infospace.core.resources import Collection, Note, Resource
from planner.editor.complete_query import QueryOffers, complete_query
from tui.dialogs.base import Dialog
from tui.dialogs.common import LineDialog
from tui.runtime.workers import begin
from tui.tables.query_rows import QueryRows
from tui.text.format import single_line
from tui.widgets.lazy_table import LazyTable

if TYPE_CHECKING:
    from infospace import Space
    from infospace.data.properties import Property
    from infospace.store.protocol import Snapshot
    from tui.app import InfospaceApp

EXAMPLE = "SELECT title, words FROM notes ORDER BY words DESC LIMIT 20"
_OFFERED = 24
"""Offers that are shown."""
_MOST_KEPT = 200
"""Collections with a name that are offered."""
_LOOKED_AT = 20
"""Items of each whose fields are offered."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query gave: its rows, and what is to be known of them; or why it gave none."""

    rows: Sequence[Mapping[str, JSON]] = ()
    remark: str = ""
    reason: str | None = None


class QuerySuggester(Suggester):
    """Completes the word at the end of a line."""

    def __init__(self, offers: Callable[[str], QueryOffers]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._offers = offers

    async def get_suggestion(self, value: str) -> str | None:
        """Return the line with its last word completed."""
        result = self._offers(value)
        begun = result.start < len(value) or value.rstrip().upper().endswith(("FROM", "JOIN"))
        return value[: result.start] + result.texts[0] if result.texts and begun else None


class QueryDialog(Dialog[list[str]]):
    """Asks queries until it is closed; gives the runs that kept something, to be undone.

    One query runs at a time: a later one, or closing, stops it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "close"),
        Binding("down", "to_table", show=False),
        Binding("ctrl+s", "keep", "keep", priority=True),
        Binding("ctrl+t", "save", "save as plan", priority=True),
        Binding("ctrl+y", "copy", "copy", show=False),
    ]

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self._text = text
        self._runs: list[str] = []
        self._stop = Stop()
        self._properties: Mapping[str, Property] = {}
        self._named_collections: Mapping[str, Sequence[str]] = {}
        """The columns of Collections that have a name, by it."""
        self._rows = QueryRows([])
        self._asked: str | None = None
        """The query whose rows are shown."""

    @property
    def infospace(self) -> InfospaceApp:
        return cast("InfospaceApp", self.app)

    def compose(self) -> ComposeResult:
        """The line, what may stand there or what is wrong, the rows, and what can be done with them."""
        with Vertical(classes="dialog -tall -query") as dialog:
            dialog.border_title = "Query"
            dialog.border_subtitle = "enter asks; → completes; ↓ to the rows, enter opens one; escape closes"
            yield Input(self._text, placeholder=EXAMPLE, suggester=QuerySuggester(self._offers), compact=True)
            yield Static("", id="offers", markup=False)
            yield Static("", classes="wrong", markup=False)
            yield LazyTable(empty="rows stand here", name="rows")
            with Horizontal(classes="buttons"):
                yield Static("", id="count", markup=False)
                yield Button("Keep (^s)", id="keep", variant="primary", compact=True)
                yield Button("Save as plan (^t)", id="save", compact=True)

    def on_mount(self) -> None:
        """Begin with the line; the properties of the notes are asked for behind it."""
        self.query_one(Input).focus()
        begin(self, self.infospace, self._learn, group="learn")
        if self._text:
            self._ask(self._text)

    def on_unmount(self) -> None:
        """Stop what goes on."""
        self._stop.now = True

    async def _learn(self) -> None:
        self._properties, self._named_collections = await asyncio.to_thread(
            self.infospace.read_snapshot, lambda one: (one.properties(), _named_collections(one))
        )
        self._show_offers(self.query_one(Input).value)

    # The line

    def _offers(self, text: str) -> QueryOffers:
        from infospace.authoring.queries import columns_by_table

        own = columns_by_table()
        stored = {name: columns for name, columns in self._named_collections.items() if name.lower() not in own}
        return complete_query(text, len(text), {**own, **stored}, self._properties)

    def _show_offers(self, text: str) -> None:
        offers = self._offers(text).texts[:_OFFERED] if text else ()
        self.query_one("#offers", Static).update("  ".join(map(single_line, offers)))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Say what may stand there; what was wrong may not be so any more."""
        self.query_one(".wrong", Static).update("")
        self._show_offers(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self._ask(event.value)

    def _ask(self, text: str) -> None:
        self._stop.now = True
        self._stop = Stop()
        begin(self, self.infospace, self._answer, text or EXAMPLE, self._stop, group="ask")

    async def _answer(self, text: str, stop: Stop) -> None:
        if not self.query_one(Input).value:
            self.query_one(Input).value = text
        self.query_one("#count", Static).update("…")
        answer = await asyncio.to_thread(_run, self.infospace.space, text, self._properties, stop)
        if answer is None or stop is not self._stop:
            return
        self.query_one(".wrong", Static).update(answer.reason or answer.remark)
        self.query_one("#offers", Static).update("")
        if answer.reason is not None:
            self.query_one("#count", Static).update("")
            return
        self._rows, self._asked = QueryRows(answer.rows), text
        grid = self.query_one(LazyTable)
        grid.empty = "no rows"
        grid.show(self._rows, self._rows.columns)
        count = len(answer.rows)
        self.query_one("#count", Static).update(f"{count:,} row{'s' * (count != 1)}")

    # The rows

    def action_to_table(self) -> None:
        """Go to the rows."""
        self.query_one(LazyTable).focus()

    def action_leave(self) -> None:
        """From the rows back to the line; from there, close."""
        if self.query_one(LazyTable).has_focus:
            self.query_one(Input).focus()
        else:
            self.dismiss(self._runs)

    def on_lazy_table_titled(self, event: LazyTable.Titled) -> None:
        """Sort by the column."""
        self._rows.sort(event.column)
        self.query_one(LazyTable).show(self._rows, self._rows.columns)

    def on_lazy_table_chosen(self, event: LazyTable.Chosen) -> None:
        """Show the note of the row: the first id in it."""
        identifier = self._rows.leads_to(event.index) if event.index < len(self._rows) else None
        if identifier is None:
            self.notify("This row has no id: SELECT @id, … FROM notes, or note FROM items.", severity="warning")
            return
        self.dismiss(self._runs)
        self.infospace.open_note(identifier)

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self._rows.copied())
        self.notify(f"Copied {pluralize(len(self._rows), 'row')}.")

    # What is kept

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "keep":
            self.action_keep()
        else:
            self.action_save()

    def action_keep(self) -> None:
        """Ask for a name, and keep the rows under it, as a Collection."""
        self._keep("A name for the rows, as a Collection", _keep_rows)

    def action_save(self) -> None:
        """Ask for a name, and save the query as a plan."""
        self._keep("A name for the plan that asks this", _save_plan)

    def _keep(self, question: str, keep: Callable[[Space, str, str], tuple[str | None, str]]) -> None:
        text = self._asked
        if text is None:
            self.notify("Ask something first: enter.", severity="warning")
            return

        async def work() -> None:
            name = await self.app.push_screen_wait(LineDialog(question, single_line(text), check=validate_name))
            if name is None:
                return
            run, message = await asyncio.to_thread(keep, self.infospace.space, text, name)
            if run is not None:
                self._runs.append(run)
            self.notify(message, markup=False)

        begin(self, self.infospace, work, group="keep")


def _named_collections(snapshot: Snapshot) -> Mapping[str, Sequence[str]]:
    """Return the Collections that have a name, with the fields of their first items."""
    results: dict[str, Sequence[str]] = {}
    for name in snapshot.names():
        identifier = snapshot.named(name)
        if name.startswith("_") or identifier is None or kind_of(identifier) is not Kind.COLLECTION:
            continue
        if len(results) == _MOST_KEPT:
            break
        collection = cast("Collection[Resource]", snapshot.get(identifier))
        items = snapshot.get_many([member.id for member in collection.members[:_LOOKED_AT]])
        fields = (item.content if isinstance(item, Note) and isinstance(item.content, dict) else () for item in items)
        results[name] = tuple(dict.fromkeys(key for keys in fields for key in keys))
    return results


def _run(space: Space, text: str, properties: Mapping[str, Property], stop: Stop) -> Answer | None:
    """Ask one query; None where it was stopped. For a thread, whose context ends with it."""
    from infospace.authoring.queries import analyse, parse_query
    from infospace.context.invoke import call_directly
    from primitives.query import query

    stopped_by(stop)
    with suppress(OutOfTime):
        try:
            doubts = analyse(parse_query(text), {}, lambda _name: None, properties).doubts
        except InfospaceError as error:
            return Answer(reason=str(error))
        context = space.context(scratch=True)
        result = asyncio.run(call_directly(query, {"sql": text}, context))
        if result.status != "success":
            return Answer(reason=result.reason)
        rows: Any = result.data
        remarks = [
            *context.remarks,
            *(f"{doubt.message} ({doubt.hint})" if doubt.hint else doubt.message for doubt in doubts),
        ]
        return Answer(rows, "; ".join(remarks))
    return None


def _plan(text: str, name: str | None = None) -> dict[str, JSON]:
    step: dict[str, JSON] = {"type": "query", "sql": text, "out": "$rows"}
    return {"goal": "Ask the notes", "steps": [step if name is None else {**step, "name": name}], "result": "$rows"}


def _keep_rows(space: Space, text: str, name: str) -> tuple[str | None, str]:
    from planner.execute.start import run_sync

    result = run_sync(space, _plan(text, name))
    if result.status != "success":
        message = "; ".join(problem.message for problem in result.problems) or result.reason
        raise Invalid(f"nothing was kept: {message}")
    return result.run, f"Kept as {name}. u undoes it, when this is closed."


def _save_plan(space: Space, text: str, name: str) -> tuple[str | None, str]:
    from planner.parse.saved_plans import save_plan

    save_plan(space, name, _plan(text))
    return None, f"Saved as plan:{name}."
