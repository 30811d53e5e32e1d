"""Which tools are listed: by their servers, categories and tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.strip import Strip
from textual.widgets import Button, SelectionList, Static
from textual.widgets.selection_list import Selection

from infospace.tools.scope import Filters
from tui.dialogs.base import Dialog
from tui.text.format import single_line

Choice = tuple[str, str]
"""What it is by (`server`, `category`, `tag`), and which."""

FIELDS = {"server": "servers", "category": "categories", "tag": "tags"}


class FilterList(SelectionList[Choice]):
    """A list with a mark before what is chosen, and none before the rest."""

    def render_line(self, y: int) -> Strip:
        """Draw a line; Textual tells what is not chosen by the colour of its mark alone."""
        strip = super().render_line(y)
        at = self.scroll_offset.y + y
        if at >= self.option_count or self.get_option_at_index(at).value in self.selected:
            return strip
        before, mark, *rest = strip
        return Strip([before, Segment(" ", mark.style), *rest])


class ToolFilterDialog(Dialog[Filters | None]):
    """Asks which tools are to be listed; None where nothing changes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "cancel"),
        Binding("enter", "show", "list", priority=True),
    ]

    def __init__(self, names: Mapping[str, Sequence[tuple[str, int]]], filters: Filters) -> None:
        super().__init__()
        self._names = names
        self._filters = filters

    def compose(self) -> ComposeResult:
        """All that there is to choose from."""
        with Vertical(classes="dialog -sifting") as dialog:
            dialog.border_title = "Which tools?"
            dialog.border_subtitle = "space chooses, enter lists, escape leaves"
            yield FilterList(*self._selections())
            yield Static("Of several servers any will do, and so of categories and of tags.", classes="detail -close")
            with Horizontal(classes="buttons"):
                yield Button("List", id="show", variant="primary", compact=True)
                yield Button("All tools", id="all", compact=True)
                yield Button("Cancel", id="cancel", compact=True)

    def _selections(self) -> list[Selection[Choice]]:
        found = []
        for by, names in self._names.items():
            chosen = getattr(self._filters, FIELDS[by])
            for name, number in names:
                label = Text.assemble((f"{by:<9} ", "dim"), single_line(name), (f"  {number:,}", "dim"))
                found.append(Selection(label, (by, name), name in chosen))
        return found

    def on_mount(self) -> None:
        """Begin with the names."""
        self.query_one(SelectionList).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """List them, all of them, or leave it."""
        if event.button.id == "show":
            self._submit()
        else:
            self.dismiss(Filters() if event.button.id == "all" else None)

    def action_show(self) -> None:
        """List them; on a button, do what it says."""
        focused = self.focused
        if isinstance(focused, Button):
            focused.press()
        else:
            self._submit()

    def _submit(self) -> None:
        chosen: list[Choice] = self.query_one(SelectionList).selected
        given = {FIELDS[by]: [name for one, name in chosen if one == by] for by in FIELDS}
        self.dismiss(Filters.model_validate(given))


def format_filters(filters: Filters) -> str:
    """Return filters in a few words."""
    said = [f"{by} {' or '.join(getattr(filters, name))}" for by, name in FIELDS.items() if getattr(filters, name)]
    return single_line(", ".join(said)) or "all tools"
