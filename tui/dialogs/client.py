"""As whom the tools are looked at: oneself, a client that a configuration names, or one of a scope that is written."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from pydantic import ValidationError
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid as Cells
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from infospace.core.errors import InfospaceError
from infospace.tools.scope import EVERYTHING, Scope
from planner.server.access import Access
from planner.server.config import callers_of
from tui.dialogs.base import Dialog
from tui.runtime.workers import begin
from tui.text.format import single_line
from tui.text.output import escape_controls
from tui.text.paths import path_of

if TYPE_CHECKING:
    from tui.app import InfospaceApp

BOUNDS = {
    "include_servers": "only servers",
    "exclude_servers": "no servers",
    "include_tags": "only tags",
    "exclude_tags": "no tags",
    "include_names": "only names like",
    "exclude_names": "no names like",
}
"""What a scope can be written by here, and how it is called."""

REMEMBERED = "tools.config"
SOMEBODY = "a client of this scope"


class ClientDialog(Dialog[Access | None]):
    """Asks as whom; the access of nobody in particular where it is oneself, None where nothing changes."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "cancel")]

    def __init__(self, access: Access | None) -> None:
        super().__init__()
        self._scope = EVERYTHING if access is None else access.scope
        self._callers: Sequence[Access] = ()

    @property
    def infospace(self) -> InfospaceApp:
        return cast("InfospaceApp", self.app)

    def compose(self) -> ComposeResult:
        """A file and who is in it; or a scope; what is wrong."""
        with Vertical(classes="dialog -seeing") as dialog:
            dialog.border_title = "What would a client see?"
            dialog.border_subtitle = "escape leaves"
            yield Label("The file that `infospace serve --config` reads, and who is in it")
            yield Input(self.infospace.memory.get(REMEMBERED, ""), placeholder="a JSON file", id="config", compact=True)
            yield OptionList(id="callers")
            yield Label("or a scope of your own: several with commas, names by pattern (^git_)")
            with Cells(id="bounds"):
                for name, message in BOUNDS.items():
                    yield Label(message)
                    yield Input(", ".join(getattr(self._scope, name) or ()), id=name, compact=True)
            yield Static("", classes="wrong", markup=False)
            with Horizontal(classes="buttons"):
                yield Button("Look", id="look", variant="primary", compact=True)
                yield Button("As myself", id="myself", compact=True)
                yield Button("Cancel", id="cancel", compact=True)

    async def on_mount(self) -> None:
        """Read the file, if one is remembered."""
        self.query_one("#callers").display = False
        self.query_one("#config").focus()
        if self.query_one("#config", Input).value:
            begin(self, self.infospace, self._read, group="seeing")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Read the file; take the scope."""
        if event.input.id == "config":
            begin(self, self.infospace, self._read, group="seeing")
        else:
            self._submit()

    async def _read(self) -> None:
        field = self.query_one("#config", Input)
        text = field.value.strip()
        wrong, options = self.query_one(".wrong", Static), self.query_one("#callers", OptionList)
        wrong.update("")
        options.clear_options()
        self._callers = ()
        if text:
            try:
                self._callers = await asyncio.to_thread(lambda: callers_of(path_of(text)))
            except InfospaceError as error:
                wrong.update(escape_controls(str(error)))
            else:
                self.infospace.remember(REMEMBERED, text)
        options.add_options([Option(_caller(access)) for access in self._callers])
        options.display = bool(self._callers)
        if self._callers:
            options.highlighted = 0
            if field.has_focus:
                options.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Look as this client, where the file is not being read again."""
        if event.option_index < len(self._callers):
            self.dismiss(self._callers[event.option_index])

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Look by the scope, as oneself, or leave it."""
        if event.button.id == "look":
            self._submit()
        else:
            self.dismiss(Access("", EVERYTHING) if event.button.id == "myself" else None)

    def _submit(self) -> None:
        value = {name: _names(self.query_one(f"#{name}", Input).value) for name in BOUNDS}
        values: dict[str, Any] = {name: names for name, names in value.items() if names}
        try:
            self.dismiss(Access(SOMEBODY, Scope(**values)))
        except ValidationError as error:
            messages = [f"{BOUNDS[str(one['loc'][0])]}: {one['msg']}" for one in error.errors()]
            self.query_one(".wrong", Static).update(escape_controls("; ".join(messages)))


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for part in text.split(",") if (name := part.strip()))


def _caller(access: Access) -> Text:
    bounds = ", ".join(
        f"{message} {' '.join(getattr(access.scope, name))}"
        for name, message in BOUNDS.items()
        if getattr(access.scope, name)
    )
    hidden = "tools hidden behind the doors" if access.hide_underlying_tools else "tools listed by themselves"
    return Text.assemble(
        (single_line(access.caller), "bold"), (f"  {single_line(bounds) or 'everything'}; {hidden}", "dim")
    )
