"""Which notes are listed: a folder and a tag, chosen from trees of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from tui.dialogs.common import ClosableDialog
from tui.tables.note_places import NotePlaces, NotesFilter, PlaceRows
from tui.widgets.lazy_table import LazyTable

if TYPE_CHECKING:
    from tui.app import InfospaceApp


class NoteFilterDialog(ClosableDialog[NotesFilter | None]):
    """Asks for a folder or a tag; None where nothing changes. Choosing what counts already takes it away."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "cancel"),
        Binding("down", "to_list", show=False),
    ]

    def __init__(self, places: NotePlaces, within: NotesFilter) -> None:
        super().__init__()
        self._rows = PlaceRows(places, within)
        self._within = within

    def compose(self) -> ComposeResult:
        """A field that filters, and the folders and tags."""
        with Vertical(classes="dialog -tall -pick") as dialog:
            dialog.border_title = "Which notes?"
            dialog.border_subtitle = "type to filter; enter chooses; again takes it away; escape leaves"
            yield Input(placeholder="a folder or a tag")
            yield LazyTable(PlaceRows.COLUMNS, empty="no such folder or tag")

    def on_mount(self) -> None:
        """Begin with the line that counts."""
        self._rows.accent = cast("InfospaceApp", self.app).colours.get("accent", "")
        at = f"folder:{self._within.folder}" if self._within.folder is not None else f"tag:{self._within.tag}"
        self.query_one(LazyTable).show(self._rows, at=at if self._within else "all:")
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show what has the words; the first of them is at hand."""
        self._rows.filter(event.value)
        grid = self.query_one(LazyTable)
        grid.show(self._rows, at=self._rows.key(0) if len(self._rows) and event.value else None)

    def on_input_submitted(self) -> None:
        """Choose the line at the cursor."""
        self.query_one(LazyTable).action_choose()

    def action_to_list(self) -> None:
        """Go to the list, one line further."""
        grid = self.query_one(LazyTable)
        grid.focus()
        grid.action_move(1)

    def on_lazy_table_chosen(self, event: LazyTable.Chosen) -> None:
        self.dismiss(self._rows.choose(event.index))
