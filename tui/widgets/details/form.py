"""The arguments of a tool as a form: a field for each, with what is wrong with it beside it; or all of them as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from textual.app import ComposeResult
from textual.containers import Container, Horizontal, VerticalScroll
from textual.message import Message
from textual.widgets import Button, Input, Label, Static, TextArea

from infospace.core.errors import InvalidJSON
from infospace.core.json_types import JSON
from infospace.core.tool import Tool
from infospace.data.json_text import read_json
from tui.text.output import escape_controls
from tui.widgets.details.form_field import FormField, area
from tui.widgets.details.form_fields import NOTHING, Field, FieldErrors, field_errors, fields_of

SECONDS = "30"
"""How long a call may last where nobody says otherwise."""


class Form(Container):
    """The arguments for a tool. `Submitted` tells that they fit, and are to be used."""

    class Submitted(Message):
        """The arguments, and the milliseconds that a call may last."""

        def __init__(self, tool: Tool, arguments: dict[str, JSON], timeout_ms: int) -> None:
            super().__init__()
            self.tool = tool
            self.arguments = arguments
            self.timeout_ms = timeout_ms

    class ListingRequested(Message):
        """What a server can do is to be listed."""

        def __init__(self, tool: Tool) -> None:
            super().__init__()
            self.tool = tool

    def __init__(self) -> None:
        super().__init__(id="form")
        self.tool: Tool | None = None
        self._fields: list[Field] = []
        self._example = 0
        self._whole = False

    def compose(self) -> ComposeResult:
        """The fields, or all of it as JSON; then what can be done."""
        yield VerticalScroll(id="slots", can_focus=False)
        yield Static("", id="wrong", classes="wrong", markup=False)
        with Horizontal(id="doing"):
            yield Button("Call (^r)", id="give", variant="primary", compact=True)
            yield Button("as JSON", id="whole", compact=True)
            yield Button("Example", id="example", compact=True)
            yield Label("at most", classes="lasts")
            yield Input(SECONDS, id="seconds", classes="lasts", compact=True, type="number")
            yield Label("s", classes="lasts")

    async def show(self, tool: Tool, values: Mapping[str, JSON] | None = None) -> None:
        """Show a tool's fields with what is given, else with its first example, else with defaults."""
        self.tool = None
        self._fields = fields_of(tool.input_schema)
        self._example = 0
        self._whole = not self._fields and not _takes_nothing(tool)
        self.query_one("#example").display = bool(tool.examples)
        self.query_one("#give", Button).label = "List it (^r)" if tool.kind == "server" else "Call (^r)"
        self.query(".lasts").set(display=tool.kind != "server")
        self.query_one("#whole").display = bool(self._fields)
        start = values if values is not None else tool.examples[0] if tool.examples else None
        await self._fill(start)
        if tool.kind == "server":
            message = f"What the server {tool.server} can do is not known yet. Listing it starts it, or asks it."
            self.query_one("#slots Static", Static).update(escape_controls(message))
        self.tool = tool

    async def _fill(self, values: Mapping[str, JSON] | None) -> None:
        slots = self.query_one("#slots", VerticalScroll)
        self._wrong(FieldErrors({}, ()))
        self.query_one("#whole", Button).label = "as fields" if self._whole else "as JSON"
        async with self.batch():
            await slots.remove_children()
            if self._whole:
                start = values if values is not None else self._beginning()
                whole = area(json.dumps(dict(start), ensure_ascii=False, indent=2))
                whole.add_class("-whole")
                await slots.mount(whole)
            elif not self._fields:
                await slots.mount(Static("It takes no arguments.", classes="none"))
            else:
                await slots.mount(*(FormField(field, self._begins(field, values)) for field in self._fields))

    def _begins(self, field: Field, values: Mapping[str, JSON] | None) -> Any:
        return field.begins if values is None else values.get(field.name, NOTHING)

    def _beginning(self) -> dict[str, JSON]:
        return {field.name: field.begins for field in self._fields if field.begins is not NOTHING}

    def focus_inside(self) -> None:
        """Begin with the first field."""
        result = self.query("#slots Input, #slots Select, #slots Switch, #slots TextArea, #give")
        result.first().focus()

    # What is given

    def values(self) -> tuple[dict[str, JSON], FieldErrors]:
        """Return the arguments as far as they can be read, and everything that is wrong with them."""
        assert self.tool is not None  # noqa: S101 - a form without a tool is not shown
        arguments, unread, others = self._read()
        faults = field_errors(self.tool.input_schema, arguments, [field.name for field in self._fields])
        results = {name: message for name, message in faults.fields.items() if name not in unread} | unread
        if self._whole:
            messages = [f"{name}: {one}" for name, message in results.items() for one in message]
            return arguments, FieldErrors({}, [*others, *(() if others else (*messages, *faults.others))])
        return arguments, FieldErrors(results, [*others, *faults.others])

    def _read(self) -> tuple[dict[str, JSON], dict[str, Sequence[str]], list[str]]:
        arguments: dict[str, JSON] = {}
        unread: dict[str, Sequence[str]] = {}
        if self._whole:
            try:
                read = read_json(self.query_one("#slots TextArea", TextArea).text, what="this")
            except InvalidJSON as error:
                return {}, {}, [str(error)]
            if not isinstance(read, dict):
                return {}, {}, ["the arguments are a JSON object"]
            return read, {}, []
        for slot in self.query(FormField):
            try:
                value = slot.value
            except InvalidJSON as error:
                unread[slot.field.name] = [str(error)]
                continue
            if value is not NOTHING:
                arguments[slot.field.name] = value
        return arguments, unread, []

    def _milliseconds(self) -> int | None:
        try:
            return max(1, round(float(self.query_one("#seconds", Input).value) * 1000))
        except (ValueError, OverflowError):
            return None

    def submit(self) -> None:
        """Give the arguments, or say everything that is wrong with them."""
        if self.tool is None:
            return
        if self.tool.kind == "server":
            self.post_message(self.ListingRequested(self.tool))
            return
        arguments, faults = self.values()
        milliseconds = self._milliseconds()
        if milliseconds is None:
            faults = FieldErrors(faults.fields, [*faults.others, "how many seconds may it last?"])
        self._wrong(faults)
        if not faults and milliseconds is not None:
            self.post_message(self.Submitted(self.tool, arguments, milliseconds))

    def show_error(self, message: str) -> None:
        """Say what is wrong with all of it."""
        self._wrong(FieldErrors({}, [message]))

    def _wrong(self, faults: FieldErrors) -> None:
        first = None
        for slot in self.query(FormField):
            message = faults.fields.get(slot.field.name, ())
            slot.wrong(message)
            first = slot if message and first is None else first
        label = self.query_one("#wrong", Static)
        label.update(escape_controls("; ".join(faults.others)))
        label.display = bool(faults.others)
        if first is not None:
            first.query("Switch, Select, Input, TextArea").first().focus()
            first.scroll_visible(animate=False)

    # What can be done

    async def on_button_pressed(self, event: Button.Pressed) -> None:
        """Give them, or fill them in otherwise."""
        event.stop()
        if event.button.id == "give":
            self.submit()
        elif event.button.id == "example":
            await self.example()
        else:
            await self.turn()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the next field; from the last, give them."""
        event.stop()
        fields = list(self.query("#slots Input, #slots Select, #slots Switch, #slots TextArea"))
        if event.input not in fields or event.input is fields[-1]:
            self.submit()
        else:
            fields[fields.index(event.input) + 1].focus()

    async def example(self) -> None:
        """Fill in the next example."""
        if self.tool is not None and self.tool.examples:
            self._example = (self._example + 1) % len(self.tool.examples)
            await self._fill(self.tool.examples[self._example])

    async def turn(self) -> None:
        """Go from fields to JSON, or back; what is written stays."""
        arguments, unread, others = self._read()
        if unread or others:
            self._wrong(FieldErrors(unread, others))
            return
        homeless = [name for name in arguments if name not in {field.name for field in self._fields}]
        if self._whole and homeless:
            self.show_error(f"there is no field for {', '.join(homeless)}")
            return
        self._whole = not self._whole
        await self._fill(arguments)
        self.focus_inside()


def _takes_nothing(tool: Tool) -> bool:
    return tool.kind != "tool" or tool.input_schema.get("additionalProperties") is False
