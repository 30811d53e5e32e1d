"""What a suspended run asks, and where it is answered: choices where the schema has them, else a field."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from infospace.core.errors import InvalidJSON
from infospace.core.json_types import JSON
from infospace.data.json_text import read_json
from infospace.schema.validate import first_violation
from infospace.tools.approvals import parse_question
from planner.journal.suspension import Pending
from tui.dialogs.base import Dialog
from tui.text.format import json_as_prose, single_line
from tui.text.output import escape_controls
from tui.text.pending import describe_schema, meanings, value_of

NAME = 24
"""Columns of the name of an argument."""

DOUBTFUL = {
    "repeat": ("Make the call again", "repeat"),
    "result": ("It had its effect; its result is …", None),
    "failed": ("It failed; the reason is …", None),
}
"""What may be said of a call in doubt."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a step."""

    step: str
    value: JSON


class QuestionDialog(Dialog[Answer | None]):
    """Asks the first of the questions that a run waits for; None where nothing is answered."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "later")]

    def __init__(self, run: str, questions: Sequence[Pending]) -> None:
        super().__init__()
        self._run = run
        self._pending = questions[0]
        self._more = len(questions) - 1
        self._choices = choices_of(self._pending)
        self._key: str | None = None
        """What the written text is of an answer that is an object: `result`, `failed`."""

    def compose(self) -> ComposeResult:
        """The question, its choices or a field, and what does not fit."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = f"{self._run} asks, step {self._pending.step}"
            dialog.border_subtitle = f"and {self._more} more" if self._more else "escape: later"
            with VerticalScroll(classes="question"):
                yield Static(_render_question(self._pending), markup=False)
            if self._choices:
                yield OptionList(*(Option(label, id=str(index)) for index, (label, _) in enumerate(self._choices)))
            else:
                yield Input(prefilled(self._pending.schema), placeholder=self._expected())
            yield Static("", classes="wrong", markup=False)
            with Horizontal(classes="buttons"):
                yield Button("Answer", id="answer", variant="primary", compact=True)
                yield Button("Later", id="later", compact=True)

    def on_mount(self) -> None:
        """Begin with the answer."""
        self.query_one("OptionList, Input").focus()

    def _expected(self) -> str:
        return describe_schema(self._pending.schema)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Answer, or leave it for later."""
        if event.button.id == "later":
            self.dismiss(None)
            return
        field = self.query(Input)
        if field:
            self._written(field.first().value)
        else:
            self.query_one(OptionList).action_select()

    async def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer with a choice; one that needs words asks for them."""
        label, value = self._choices[event.option_index]
        if self._key is not None:
            return
        if not isinstance(value, _Words):
            self._submit(value)
            return
        self._key = value.key
        await event.option_list.remove()
        dialog = self.query_one(".dialog", Vertical)
        field = Input(placeholder=label)
        await dialog.mount(field, before=self.query_one(".wrong"))
        field.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with what was written."""
        self._written(event.value)

    def _written(self, text: str) -> None:
        if self._key == "failed":
            self._submit({"failed": text})
        elif self._key is not None:
            self._submit({self._key: value_of(text, None)})
        else:
            self._submit(value_of(text, self._pending))

    def _submit(self, value: JSON) -> None:
        schema = self._pending.schema
        fault = None if schema is None else first_violation(value, schema, formats=True)
        if fault is not None:
            self.query_one(".wrong", Static).update(f"That does not fit: {fault}")
            return
        self.dismiss(Answer(self._pending.step, value))


def prefilled(schema: Mapping[str, Any] | None) -> str:
    """Return what stands in the field at first: of a form the values that it begins with, as JSON; else nothing."""
    fields = (schema or {}).get("properties")
    parts = fields.items() if isinstance(fields, Mapping) else ()
    values = {name: part["default"] for name, part in parts if isinstance(part, Mapping) and "default" in part}
    return json.dumps(values, ensure_ascii=False) if values else ""


def _render_question(pending: Pending) -> RenderableType:
    """Return the question; that about a call with its arguments in lines of their own, for whoever reads no JSON."""
    parsed = parse_question(pending.question) if pending.kind == "approve" else None
    if parsed is None or not parsed[1]:
        return escape_controls(pending.question)
    question, arguments = parsed
    table = Table.grid(padding=(0, 2))
    table.add_column(style="not bold dim", no_wrap=True, max_width=NAME)
    table.add_column(style="not bold", overflow="fold")
    for name, value in arguments.items():
        table.add_row(single_line(name), Text(_format_value(value)))
    return Group(f"{escape_controls(question.removesuffix('?'))}, with", table)


def _format_value(value: JSON) -> str:
    """Return a value in words; a text that could be taken for another value stands in quotes."""
    if not isinstance(value, str):
        return json_as_prose(value)
    try:
        read_json(value, what="a value")
    except InvalidJSON:
        return escape_controls(value) or '""'
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class _Words:
    """A choice that needs words, which stand in an object under a key."""

    key: str


def choices_of(pending: Pending) -> list[tuple[str, Any]]:
    """Return the answers that a question admits, each with its label; none where there are too many to be listed."""
    if pending.kind == "doubt":
        return [(label, value if value is not None else _Words(key)) for key, (label, value) in DOUBTFUL.items()]
    values = _values(pending.schema)
    texts = meanings(pending.schema)
    return list(zip(texts if len(texts) == len(values) > 1 else map(_label, values), values, strict=True))


def _values(schema: Mapping[str, Any] | None) -> list[Any]:
    """Return the values that a schema lists."""
    if not schema:
        return []
    if "enum" in schema:
        return list(schema["enum"])
    if "const" in schema:
        return [schema["const"]]
    if schema.get("type") == "boolean":
        return [True, False]
    for key in ("oneOf", "anyOf"):
        parts = schema.get(key)
        if isinstance(parts, list):
            listed = [_values(part) if isinstance(part, Mapping) else [] for part in parts]
            return [value for values in listed for value in values] if all(listed) else []
    return []


def _label(value: JSON) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
