"""What can be opened to be written on: a file, a saved plan, an example, an empty plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from tui.dialogs.base import Dialog
from tui.text.paths import lies_there, path_of


@dataclass(frozen=True, slots=True)
class PlanSource:
    """Something that can be opened: `name` is a path, `plan:NAME`, `example:NAME`, or "" for an empty plan."""

    name: str
    about: str = ""

    @property
    def label(self) -> str:
        """How it is called in the list."""
        return self.name or "an empty plan"


class OpenPlanDialog(Dialog[str | None]):
    """Asks what is to be opened: a path is typed, the rest is chosen from a list that what is typed filters."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "cancel"),
        Binding("down", "move(1)", show=False),
        Binding("up", "move(-1)", show=False),
    ]

    def __init__(self, sources: Sequence[PlanSource]) -> None:
        super().__init__()
        self._sources = sources
        self._shown: list[PlanSource] = []

    def compose(self) -> ComposeResult:
        """A field, and the list."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Open"
            yield Static("the path of a file, or one of these:", classes="question")
            yield Input(placeholder="digest.json", compact=True)
            yield OptionList(compact=True)
            with Horizontal(classes="buttons"):
                yield Button("Open (⏎)", id="open", variant="primary", compact=True)
                yield Button("Cancel", id="cancel", compact=True)

    def on_mount(self) -> None:
        """Begin with the field."""
        self.query_one(Input).focus()
        self._filter("")

    def on_input_changed(self, event: Input.Changed) -> None:
        self._filter(event.value)

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        self._shown = [
            source
            for source in self._sources
            if all(word in f"{source.label} {source.about}".casefold() for word in words)
        ]
        choices = self.query_one(OptionList)
        choices.set_options(Option(_row(source), id=str(self._sources.index(source))) for source in self._shown)
        choices.highlighted = None
        choices.display = bool(self._shown)

    def action_move(self, by: int) -> None:
        """Go through the list."""
        choices = self.query_one(OptionList)
        if self._shown:
            now = -1 if choices.highlighted is None else choices.highlighted
            choices.highlighted = max(-1, min(len(self._shown) - 1, now + by)) if now + by >= 0 else None

    def on_input_submitted(self) -> None:
        """Open what is chosen or typed."""
        self._submit()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Open it, or leave it."""
        if event.button.id == "open":
            self._submit()
        else:
            self.dismiss(None)

    def _submit(self) -> None:
        """Give what is chosen, else the path; what names no file, and one thing of the list, means that."""
        at, typed = self.query_one(OptionList).highlighted, self.query_one(Input).value.strip()
        if at is not None:
            self.dismiss(self._shown[at].name)
        elif typed and len(self._shown) == 1 and not lies_there(path_of(typed)):
            self.dismiss(self._shown[0].name)
        elif typed:
            self.dismiss(typed)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open what was clicked."""
        self.dismiss(self._sources[int(event.option_id or 0)].name)


def _row(source: PlanSource) -> Text:
    return Text.assemble(source.label, ("  " + " ".join(source.about.split())[:200], "dim"), no_wrap=True)
