"""What stands in front of a place until it is answered or closed: help, a question, a line to be written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from rich.style import Style
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.events import Click
from textual.screen import ScreenResultType
from textual.widgets import Button, Input, Markdown, Static

from infospace.core.errors import InfospaceError
from tui.dialogs.base import Dialog

if TYPE_CHECKING:
    from tui.app import InfospaceApp


class ClosableDialog(Dialog[ScreenResultType]):
    """A dialog in which nothing is written: a click beside it closes it, as escape does."""

    def on_click(self, event: Click) -> None:
        if self.get_widget_at(event.screen_x, event.screen_y)[0] is self:
            event.stop()
            self.dismiss(None)


class HelpDialog(ClosableDialog[None]):
    """What a place is for, and its keys."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,f1,question_mark", "dismiss", "close")]

    def __init__(
        self,
        title: str,
        text: str,
        tables: Mapping[str, Sequence[tuple[str, str]]],
        pages: Mapping[str, str] | None = None,
    ) -> None:
        """`pages`: those of the documentation that a click opens, each with a line about it."""
        super().__init__()
        self._title = title
        self._pages = pages
        self._text = text
        self._tables = tables

    def compose(self) -> ComposeResult:
        """The text, which may be longer than the screen."""
        with VerticalScroll(classes="dialog -tall") as dialog:
            dialog.border_title = self._title
            dialog.border_subtitle = "escape, or a click beside it, closes"
            yield Markdown(self._text, open_links=False)
            for heading, rows in self._tables.items():
                yield Static(heading, classes="question")
                yield Static(_table(rows), classes="keys")
            if self._pages is not None:
                yield Static("Pages (a click opens one; so does ^p, then its name)", classes="question", markup=False)
                yield Static(_links(self._pages), classes="pages")

    def on_mount(self) -> None:
        """Let the keys scroll it."""
        self.query_one(VerticalScroll).focus()

    def action_open_page(self, topic: str) -> None:
        """Open a page of the documentation in front of this."""
        cast("InfospaceApp", self.app).open_page(topic)


def _table(rows: Sequence[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for key, does in rows:
        table.add_row(Text(key), Text(does))
    return table


def _links(pages: Mapping[str, str]) -> Table:
    """Return the links as one table: as a Markdown list they would be four widgets a page, slow to lay out."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for topic, summary in pages.items():
        link = Style(underline=True, meta={"@click": f"screen.open_page({topic!r})"})
        table.add_row(Text.assemble((topic, link)), Text(summary))
    return table


class ConfirmDialog(Dialog[bool]):
    """A question that is answered with yes or no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "answer(False)", "no"),
        Binding("y", "answer(True)", "yes"),
        Binding("left,right", "other", show=False),
    ]

    def __init__(self, question: str, detail: str = "", *, yes: str = "Yes", no: str = "No") -> None:
        super().__init__()
        self._question = question
        self._detail = detail
        self._words = (yes, no)

    def compose(self) -> ComposeResult:
        """The question, what it means, and the two answers."""
        yes, no = self._words
        with Vertical(classes="dialog"):
            yield Static(self._question, classes="question", markup=False)
            if self._detail:
                yield Static(self._detail, classes="detail", markup=False)
            with Horizontal(classes="buttons"):
                yield Button(f"{yes} (y)", id="yes", variant="warning", compact=True)
                yield Button(f"{no} (n)", id="no", compact=True)

    def on_mount(self) -> None:
        """What changes nothing is at hand."""
        self.query_one("#no").focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)

    def action_other(self) -> None:
        """Go to the other button."""
        self.focus_next("Button")


class LineDialog(Dialog[str | None]):
    """A line that is asked for; None when nothing is given. What `check` refuses is said, and asked for again."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "cancel")]

    def __init__(
        self, question: str, detail: str = "", value: str = "", check: Callable[[str], object] | None = None
    ) -> None:
        super().__init__()
        self._question = question
        self._detail = detail
        self._value = value
        self._check = check

    def compose(self) -> ComposeResult:
        """The question, and a field for the answer."""
        with Vertical(classes="dialog"):
            yield Static(self._question, classes="question", markup=False)
            if self._detail:
                yield Static(self._detail, classes="detail", markup=False)
            yield Input(self._value)
            with Horizontal(classes="buttons"):
                yield Button("OK (⏎)", id="ok", variant="primary", compact=True)
                yield Button("Cancel", id="cancel", compact=True)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Give the line, or nothing."""
        if event.button.id == "ok":
            self._submit()
        else:
            self.dismiss(None)

    def on_input_submitted(self) -> None:
        self._submit()

    def _submit(self) -> None:
        """Give the line, if it is one."""
        text = self.query_one(Input).value
        try:
            if self._check is not None:
                self._check(text)
        except InfospaceError as error:
            cast("InfospaceApp", self.app).report_error(error)
        else:
            self.dismiss(text)
