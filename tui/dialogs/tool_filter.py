"""Which tools are listed: by their servers, categories and tags, and by what they take and give."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.segment import Segment
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.strip import Strip
from textual.widgets import Button, Input, Label, SelectionList, Static
from textual.widgets.selection_list import Selection

from infospace.core.errors import Invalid
from infospace.tools.scope import NO_FILTERS, Filters
from infospace.tools.search.types import ANY_TYPES, TypeQuery, read_type
from tui.dialogs.base import Dialog
from tui.text.format import single_line

Choice = tuple[str, str]
"""What it is by (`server`, `category`, `tag`), and which."""

FIELDS = {"server": "servers", "category": "categories", "tag": "tags"}


@dataclass(frozen=True, slots=True)
class ToolFilter:
    """Which tools are listed: what they are, and what they take and give."""

    filters: Filters = NO_FILTERS
    types: TypeQuery = ANY_TYPES


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


class ToolFilterDialog(Dialog[ToolFilter | None]):
    """Asks which tools are to be listed; None where nothing changes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "cancel"),
        Binding("enter", "show", "list", priority=True),
    ]

    def __init__(self, names: Mapping[str, Sequence[tuple[str, int]]], chosen: ToolFilter) -> None:
        super().__init__()
        self._names = names
        self._filters = chosen.filters
        self._types = chosen.types

    def compose(self) -> ComposeResult:
        """All that there is to choose from."""
        with Vertical(classes="dialog -sifting") as dialog:
            dialog.border_title = "Which tools?"
            dialog.border_subtitle = "space chooses, enter lists, escape leaves"
            yield FilterList(*self._selections())
            with Horizontal(classes="field"):
                yield Label("takes")
                yield Input(_written(self._types.input), placeholder=TYPE_HINT, id="takes", compact=True)
            with Horizontal(classes="field"):
                yield Label("gives")
                yield Input(_written(self._types.output), placeholder=TYPE_HINT, id="gives", compact=True)
            yield Static("", classes="wrong", markup=False)
            yield Static("Of several servers any will do, and so of categories and of tags.", classes="detail -close")
            with Horizontal(classes="buttons"):
                yield Button("List", id="show", variant="primary", compact=True)
                yield Button("All tools", id="all", compact=True)
                yield Button("Cancel", id="cancel", compact=True)

    def _selections(self) -> list[Selection[Choice]]:
        results = []
        for by, names in self._names.items():
            chosen = getattr(self._filters, FIELDS[by])
            for name, number in names:
                label = Text.assemble((f"{by:<9} ", "dim"), single_line(name), (f"  {number:,}", "dim"))
                results.append(Selection(label, (by, name), name in chosen))
        return results

    def on_mount(self) -> None:
        """Begin with the names."""
        self.query_one(SelectionList).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """List them, all of them, or leave it."""
        if event.button.id == "show":
            self._submit()
        else:
            self.dismiss(ToolFilter() if event.button.id == "all" else None)

    def action_show(self) -> None:
        """List them; on a button, do what it says."""
        focused = self.focused
        if isinstance(focused, Button):
            focused.press()
        else:
            self._submit()

    def _submit(self) -> None:
        chosen: list[Choice] = self.query_one(SelectionList).selected
        values = {FIELDS[by]: [name for one, name in chosen if one == by] for by in FIELDS}
        try:
            types = TypeQuery(*(self._type(name) for name in ("takes", "gives")))
        except Invalid as error:
            self.query_one(".wrong", Static).update(single_line(error.message))
        else:
            self.dismiss(ToolFilter(Filters.model_validate(values), types))

    def _type(self, name: str) -> Mapping[str, Any] | None:
        """Return the type that stands in a field, None where it is empty. Raises Invalid."""
        text = self.query_one(f"#{name}", Input).value.strip()
        return read_type(text, name) if text else None


TYPE_HINT = "a JSON type, or a JSON Schema"


def _written(schema: Mapping[str, Any] | None) -> str:
    """Return a type as it is written in a field."""
    if schema is None:
        return ""
    return str(schema["type"]) if list(schema) == ["type"] else json.dumps(schema, ensure_ascii=False)


def format_filters(chosen: ToolFilter) -> str:
    """Return filters in a few words."""
    filters, types = chosen.filters, chosen.types
    texts = [f"{by} {' or '.join(getattr(filters, name))}" for by, name in FIELDS.items() if getattr(filters, name)]
    texts += [f"{label} {_written(one)}" for label, one in (("takes", types.input), ("gives", types.output)) if one]
    return single_line(", ".join(texts)) or "all tools"
