"""Where a fork is described: the step from which the plan is run anew, and the plan as it is to be."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Label, Select, Static, TextArea

from infospace.errors import InfospaceError
from infospace.jsontext import read_json
from infospace.jsonvalue import JSON
from planner.problems import Patch, replace
from tui.widgets.dialog import Dialog


@dataclass(frozen=True, slots=True)
class Forked:
    """From which step on, and what is changed."""

    step: str
    patch: Patch


class Fork(Dialog[Forked | None]):
    """Asks for a step of a plan, and lets the plan be changed from there on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "cancel"),
        Binding("ctrl+s", "fork", "fork", priority=True),
    ]

    def __init__(self, run: str, document: JSON, labels: Sequence[tuple[str, str]], step: str | None) -> None:
        super().__init__()
        self._run = run
        self._document = document
        self._labels = [(f"{label}  {type_}", label) for label, type_ in labels]
        self._step = step if step in {label for label, _ in labels} else labels[0][0]

    def compose(self) -> ComposeResult:
        """The step, the plan, and what is wrong with it."""
        with Vertical(classes="dialog -tall") as dialog:
            dialog.border_title = f"Fork {self._run}"
            with Horizontal(classes="field"):
                yield Label("run anew from step")
                yield Select(self._labels, value=self._step, allow_blank=False, compact=True)
            yield Static("Steps before it are taken as they were. Change the plan from it on:", classes="detail -close")
            written = json.dumps(self._document, ensure_ascii=False, indent=2)
            yield TextArea(written, language=None, show_line_numbers=True, tab_behavior="indent", compact=True)
            yield Static("", classes="wrong", markup=False)
            with Horizontal(classes="buttons"):
                yield Button("Fork (^s)", id="fork", variant="primary", compact=True)
                yield Button("Cancel", id="cancel", compact=True)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Fork, or leave it."""
        if event.button.id == "fork":
            self.action_fork()
        else:
            self.dismiss(None)

    def action_fork(self) -> None:
        """Give the change, if the plan can be read."""
        try:
            document = read_json(self.query_one(TextArea).text)
        except InfospaceError as error:
            self.query_one(".wrong", Static).update(str(error))
            return
        step = str(self.query_one(Select).value)
        self.dismiss(Forked(step, [] if document == self._document else replace("", document)))
