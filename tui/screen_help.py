"""The help of a place: what it is for, and all keys; and the pages of the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from textual.binding import Binding

from tui.base_screen import BaseScreen
from tui.dialogs.common import HelpDialog
from tui.help import PAGES, page
from tui.screen_registry import numbered

EVERYWHERE = (
    *((f"F{number}, {number}", f"{entry.title}: {entry.summary}") for number, entry in numbered()),
    ("", "the numbers alone go there where nothing is being written"),
    ("^p", "the command palette: all that can be done here; themes. A click on the place's name opens it too"),
    ("tab, ⇧tab", "to the next, or the previous part of the place"),
    ("esc", "out of a field, or a dialog"),
    ("?, F1", "this help; F1 from within a field too"),
    ("^q", "leaves"),
)
"""What keys do in every place."""


def help_of(place: BaseScreen) -> HelpDialog:
    """Return the help of a place, to be shown."""
    tables = {"Keys here": _keys(place), "Keys everywhere": EVERYWHERE}
    return HelpDialog(f"Help: {type(place).__name__}", place.help, tables, PAGES)


def page_help(topic: str) -> HelpDialog:
    """Return a page of the documentation, to be shown."""
    return HelpDialog(f"Help: {topic}", page(topic), {})


def _displayed(place: BaseScreen, binding: Binding) -> str:
    """Return the keys of a binding as they are shown."""
    if binding.key_display:
        return binding.key_display
    return ", ".join(place.app.get_key_display(replace(binding, key=key)) for key in binding.key.split(","))


def _keys(place: BaseScreen) -> Sequence[tuple[str, str]]:
    """Return the keys of a place, and what each does."""
    return [(_displayed(place, binding), binding.tooltip or binding.description) for binding in place.key_bindings()]
