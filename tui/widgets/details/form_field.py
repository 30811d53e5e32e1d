"""One argument of a tool in a form: what it is, its field, what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Paste
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Select, Static, Switch, TextArea

from tui.text.format import single_line
from tui.text.output import escape_controls
from tui.widgets.details.form_fields import NOTHING, Field, value_of, written
from tui.widgets.writing_area import WritingArea

ABOUT = 300
"""Characters of a description that are shown beside a field."""


class Toggle(Horizontal):
    """A switch that may also be left alone: backspace takes back what was said."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("backspace,delete", "leave_out", show=False)]

    def __init__(self, begins: Any) -> None:
        super().__init__()
        self._begins = begins
        self.value: Any = begins

    def compose(self) -> ComposeResult:
        """The switch, and what it says."""
        yield Switch(value=self._begins is True, animate=False)
        yield Static("", markup=False)

    def on_mount(self) -> None:
        """Say what it says."""
        self._show_value()

    def on_switch_changed(self, event: Switch.Changed) -> None:
        """Take what was said."""
        event.stop()
        if event.value or self.value is not NOTHING:
            self.value = event.value
        self._show_value()

    def action_leave_out(self) -> None:
        self.value = NOTHING
        self.query_one(Switch).value = False
        self._show_value()

    def _show_value(self) -> None:
        message = {True: "yes", False: "no"}.get(self.value, "not given; space says yes, and again no")
        self.query_one(Static).update(message)


class PasteInput(Input):
    """A line; pasting several makes a text of it."""

    class Several(Message):
        """Several lines were pasted."""

        def __init__(self, field: PasteInput, text: str) -> None:
            super().__init__()
            self.field = field
            self.text = text

    def on_paste(self, event: Paste) -> None:
        """Give several lines to who can take them."""
        if "\n" in event.text.rstrip("\n"):
            event.prevent_default()
            event.stop()
            before, after = self.value[: self.cursor_position], self.value[self.cursor_position :]
            self.post_message(self.Several(self, f"{before}{event.text}{after}"))


class FormField(Vertical):
    """One argument: what it is, its field, what is wrong with it."""

    def __init__(self, field: Field, begins: Any) -> None:
        super().__init__(classes="slot")
        self.field = field
        self._begins = begins

    def compose(self) -> ComposeResult:
        """What it is, its field, what is wrong with it."""
        field = self.field
        star = ("*", "bold") if field.required else ("", "")
        about = f"  {escape_controls(field.about[:ABOUT])}" if field.about else ""
        yield Static(
            Text.assemble((single_line(field.name), "bold"), star, (f"  {field.fits}", "italic"), (about, "dim"))
        )
        yield self._create_input(self._begins)
        yield Static("", classes="wrong", markup=False)

    def on_mount(self) -> None:
        """Nothing is wrong yet."""
        self.wrong(())

    def _create_input(self, begins: Any) -> Widget:
        field = self.field
        if field.shape == "switch":
            return Toggle(begins if isinstance(begins, bool) else NOTHING)
        if field.shape == "choice":
            texts = [json.dumps(option, ensure_ascii=False) for option in field.options]
            at = Select.NULL if begins is NOTHING else json.dumps(begins, ensure_ascii=False)
            labels = [(single_line(written(option)), text) for option, text in zip(field.options, texts, strict=True)]
            chosen = at if at in texts else Select.NULL
            return Select(labels, value=chosen, prompt="not given", compact=True)
        if field.shape == "json" and begins is not NOTHING:
            return area(json.dumps(begins, ensure_ascii=False, indent=2))
        text = "" if begins is NOTHING else written(begins)
        if field.shape == "json" or "\n" in text:
            return area(text, single_line(field.hint) or _placeholder(field))
        return PasteInput(text, placeholder=single_line(field.hint), compact=True)

    async def on_paste_input_several(self, event: PasteInput.Several) -> None:
        """Make a text of a line."""
        event.stop()
        text = area(event.text)
        await self.mount(text, after=event.field)
        await event.field.remove()
        text.focus()

    @property
    def value(self) -> Any:
        """The value, NOTHING where none is given. Raises InvalidJSON."""
        widget = self.query("Toggle, Select, Input, TextArea").first()
        match widget:
            case Toggle():
                return widget.value
            case Select():
                return NOTHING if widget.value is Select.NULL else json.loads(str(widget.value))
            case TextArea():
                return value_of(self.field, widget.text)
        assert isinstance(widget, Input)  # noqa: S101 - there are no others
        return value_of(self.field, widget.value)

    def wrong(self, message: Sequence[str]) -> None:
        """Say what is wrong."""
        label = self.query_one(".wrong", Static)
        label.update(escape_controls("; ".join(message)))
        label.display = bool(message)


def area(text: str, placeholder: str = "") -> TextArea:
    """Return a field of several lines."""
    return WritingArea(text, language=None, compact=True, tab_behavior="focus", placeholder=placeholder)


def _placeholder(field: Field) -> str:
    if field.shape != "json":
        return ""
    if field.texts:
        return "text, or JSON"
    return 'JSON: ["one", "another"]' if field.fits.startswith("a list of texts") else "JSON"
