"""The inputs of a plan, to be given before it runs: a field for each, by its schema."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Button, Input, Label, Select, Static

from infospace.core.errors import InfospaceError, InvalidJSON
from infospace.core.json_types import JSON
from infospace.data.json_text import read_json
from infospace.schema.shapes import types_of
from infospace.schema.value_text import describe_schema
from planner.language.plan import Input as Declared
from planner.language.problems import Problem
from tui.dialogs.base import Dialog
from tui.text.paths import path_of

Check = Callable[[Mapping[str, JSON]], Sequence[Problem]]
"""Says what is wrong with the values of inputs."""


class InputsDialog(Dialog[dict[str, JSON] | None]):
    """Asks for the inputs of a plan until they fit; None where nothing is given."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "cancel"),
        Binding("ctrl+r", "give", "run", priority=True),
    ]

    def __init__(self, goal: str, declared: Sequence[Declared], values: Mapping[str, JSON], check: Check) -> None:
        super().__init__()
        self._goal = goal
        self._declared = list(declared)
        self._given = values
        self._check = check

    def compose(self) -> ComposeResult:
        """A field for each input, with what it wants below it."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Inputs"
            if self._goal:
                yield Static(self._goal, classes="question", markup=False)
            with VerticalScroll(classes="inputs", can_focus=False):
                for declared in self._declared:
                    yield Label(self._title(declared), markup=False)
                    yield self._field(declared)
                    yield Static("", classes="wrong", id=f"wrong-{declared.name}", markup=False)
            yield Static("", classes="wrong", id="others", markup=False)
            with Horizontal(classes="buttons"):
                yield Button("Run (^r)", id="run", variant="primary", compact=True)
                yield Button("Cancel", id="cancel", compact=True)

    def on_mount(self) -> None:
        """Begin with the first."""
        self.query("Input, Select").first().focus()

    def _title(self, declared: Declared) -> str:
        schema = declared.schema or {}
        of_kind = f"the id or name of a {declared.kind}"
        if declared.items is not None:
            of_kind = f"a table as @FILE (csv, tsv, json, jsonl), a JSON list, or {of_kind}"
        fits = of_kind if declared.kind else describe_schema(schema) or "any JSON"
        about = schema.get("description")
        need = "" if declared.required else ", not needed"
        return f"{declared.name}: {fits}{need}{f'. {about}' if about else ''}"

    def _field(self, declared: Declared) -> Input | Select[str]:
        is_known = declared.name in self._given
        value = self._given[declared.name] if is_known else declared.default
        options = _options(declared)
        if options:
            texts = [json.dumps(option, ensure_ascii=False) for option in options]
            at = json.dumps(value, ensure_ascii=False)
            chosen = at if (is_known or not declared.required) and at in texts else Select.NULL
            labels = [(_label(option), text) for option, text in zip(options, texts, strict=True)]
            return Select(labels, value=chosen, id=f"input-{declared.name}", compact=True)
        rows = declared.kind is not None and isinstance(value, list)  # a table that was read before is read anew
        label = "" if rows or (value is None and not is_known) else _label(value)
        return Input(label, id=f"input-{declared.name}", compact=True)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Give them, or leave it."""
        if event.button.id == "run":
            self.action_give()
        else:
            self.dismiss(None)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the next field; from the last, give them."""
        fields = list(self.query("Input, Select"))
        if event.input is fields[-1]:
            self.action_give()
        else:
            fields[fields.index(event.input) + 1].focus()

    def action_give(self) -> None:
        """Give them, if they fit."""
        self.run_worker(self._submit(), group="give", exclusive=True)

    async def _submit(self) -> None:
        values = {name: value for one in self._declared for name, value in self._value(one).items()}
        refused = await asyncio.to_thread(_read_tables, self._declared, values)
        for declared in self._declared:
            self.query_one(f"#wrong-{declared.name}", Static).update(refused.get(declared.name, ""))
        if refused:
            return
        problems = await asyncio.to_thread(self._check, values)
        errors = [problem for problem in problems if problem.severity == "error"]
        if not errors:
            self.dismiss(values)
            return
        others = []
        for declared in self._declared:
            own = [problem for problem in errors if problem.pointer.startswith(f"/inputs/{declared.name}")]
            self.query_one(f"#wrong-{declared.name}", Static).update("; ".join(problem.message for problem in own))
        others = [problem.message for problem in errors if not problem.pointer.startswith("/inputs/")]
        self.query_one("#others", Static).update("; ".join(others[:3]))

    def _value(self, declared: Declared) -> dict[str, JSON]:
        field = self.query_one(f"#input-{declared.name}")
        if isinstance(field, Select):
            return {} if field.value is Select.NULL else {declared.name: json.loads(str(field.value))}
        assert isinstance(field, Input)  # noqa: S101 - there are no others
        text = field.value
        if not text and (declared.kind is not None or not declared.required or not _admits_text(declared)):
            return {}
        if _admits_text(declared):
            return {declared.name: text}
        try:
            return {declared.name: read_json(text, what=f"the input {declared.name!r}")}
        except InvalidJSON:
            return {declared.name: text}


def _read_tables(declared: Sequence[Declared], values: dict[str, JSON]) -> dict[str, str]:
    """Read the tables that are given as `@FILE` or as a list into `values`; return what is wrong, by name.

    For a thread.
    """
    from infospace.files.formats.tables import read_table

    refused = {}
    for one in declared:
        value = values.get(one.name)
        if one.items is None or not isinstance(value, str) or value[:1] not in ("@", "["):
            continue
        try:
            if value.startswith("@@"):
                values[one.name] = value[1:]
            elif value.startswith("@"):
                values[one.name] = read_table(path_of(value[1:]), one.items)
            else:
                values[one.name] = read_json(value, what=f"the input {one.name!r}")
        except OSError as error:
            refused[one.name] = f"{value[1:]!r} cannot be read: {error.strerror}"
        except InfospaceError as error:
            refused[one.name] = str(error)
    return refused


def _admits_text(declared: Declared) -> bool:
    return declared.kind is not None or "string" in types_of(declared.schema)


def _options(declared: Declared) -> list[Any]:
    """Return the values that an input's schema lists."""
    schema = declared.schema or {}
    if isinstance(schema.get("enum"), list):
        return list(schema["enum"])
    return [True, False] if schema.get("type") == "boolean" else []


def _label(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
