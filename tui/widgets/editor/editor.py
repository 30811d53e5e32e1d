"""Where a plan is written: JSON in colours, pairs of brackets, marks at what is wrong, stops and where a run rests."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.document._wrapped_document import WrappedDocument
from textual.geometry import Offset
from textual.message import Message
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import Document, TextAreaTheme

from planner.editor.text_patch import changed_range
from tui.text.format import Colours
from tui.widgets.editor.highlight import Part, parts_of
from tui.widgets.writing_area import WritingArea

CLOSING = {"{": "}", "[": "]", '"': '"'}
STYLES: Mapping[Part, str] = {"key": "primary", "text": "success", "number": "warning", "word": "warning"}
Location = tuple[int, int]
"""A line and a column, 0-based."""
ELSEWHERE = ("f6", "f7")
"""Keys of a text that are those of places here."""


class MeasuredDocument(WrappedDocument):
    """A wrapped text that knows its height: Textual's counts all lines anew for every line that it draws."""

    @property
    def height(self) -> int:
        """The lines of the wrapped text."""
        return len(self._offset_to_line_info)


@dataclass(frozen=True, slots=True)
class MarkedRange:
    """A stretch of the text that is wrong, and whether that is an error."""

    start: int
    end: int
    error: bool


class EditorTheme(TextAreaTheme):
    """The theme of the app, whose line of the cursor leaves the text its colours."""

    def apply_css(self, text_area: TextArea) -> None:
        """Take the colours of the app."""
        super().apply_css(text_area)
        if self.cursor_line_style is not None:
            self.cursor_line_style = Style(bgcolor=self.cursor_line_style.bgcolor)


class Editor(WritingArea, inherit_bindings=False):
    """A text of JSON. Places in it are characters."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(one for one in TextArea.BINDINGS if isinstance(one, Binding) and one.key not in ELSEWHERE),
    ]

    class Typed(Message):
        """Somebody typed a sign, or took one back; `number` counts them."""

        def __init__(self, sign: str, number: int) -> None:
            super().__init__()
            self.sign = sign
            self.number = number

    class Clicked(Message):
        """Somebody clicked beside a line."""

        def __init__(self, line: int) -> None:
            super().__init__()
            self.line = line

    class Steered(Message):
        """A key went to the offers at the cursor."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    STEERS = ("up", "down", "pageup", "pagedown", "tab", "enter", "escape")

    def __init__(self, text: str = "") -> None:
        super().__init__(text, show_line_numbers=True, tab_behavior="indent", compact=True, max_checkpoints=500)
        self.register_theme(EditorTheme("quiet"))
        self.theme = "quiet"
        self.indent_width = 2
        self.offering = False
        """Whether offers stand at the cursor, to which some keys go."""
        self.expecting = False
        """Whether it is being found out what may stand at the cursor: a tab, or enter, is for what is found."""
        self.typed = 0
        """How many signs were typed, or taken back."""
        self.held_for_offers: Callable[[], None] = lambda: None
        """Holds the keys behind such a key."""
        self._written_for: tuple[str, Location] | None = None
        """The text and the cursor behind a `$` that was put there: who types it then means that one."""
        self.colours: Colours = {}
        self._flaws: dict[int, list[tuple[int, int, bool]]] = {}
        self._stops: frozenset[int] = frozenset()
        self._here: int | None = None

    def _set_document(self, text: str, language: str | None) -> None:
        super()._set_document(text, language)
        self.wrapped_document.__class__ = MeasuredDocument  # made by Textual; a second one would wrap everything again

    # Places

    @property
    def plain_document(self) -> Document:
        """The document, which is a plain one."""
        assert isinstance(self.document, Document)  # noqa: S101 - no language is ever set
        return self.document

    @property
    def offset_of_cursor(self) -> int:
        """Where the cursor is."""
        return self.plain_document.get_index_from_location(self.cursor_location)

    def go_to(self, place: int) -> None:
        """Put the cursor at a place, and that into the middle of what is seen."""
        self.move_cursor(self.plain_document.get_location_from_index(min(place, len(self.text))), center=True)

    def located(self, places: Iterable[int]) -> list[tuple[int, int]]:
        """Return the line and the column of each of many places, 0-based; one behind the end is at the end."""
        document = self.plain_document
        lines, gap = document.lines, len(document.newline)
        starts = list(accumulate((len(line) + gap for line in lines), initial=0))[:-1]
        rows = [(bisect_right(starts, place) - 1, place) for place in places]
        return [(row, min(place - starts[row], len(lines[row]))) for row, place in rows]

    def lines_of(self, places: Iterable[int]) -> list[int]:
        """Return the line of each place, 0-based."""
        return [row for row, _ in self.located(places)]

    # Changing

    def put(self, start: int, end: int, text: str, cursor: int | None = None) -> None:
        """Replace a stretch of the text, which is one thing to be undone; the cursor goes to a place after that."""
        document = self.plain_document
        self.history.checkpoint()
        self.replace(text, document.get_location_from_index(start), document.get_location_from_index(end))
        self.history.checkpoint()
        if cursor is not None:
            self.move_cursor(self.plain_document.get_location_from_index(cursor))
            self._written_for = (self.text, self.cursor_location) if text[: cursor - start].endswith('"$') else None

    def become(self, text: str) -> None:
        """Change what differs from another text, and nothing else."""
        before = self.text
        if text != before:
            start, end, new = changed_range(before, text)
            self.put(start, end, new)

    def grow(self, text: str) -> None:
        """Change what differs from a text that is arriving: all of it is one thing to be undone; its end is seen."""
        before = self.text
        if text != before:
            start, end, new = changed_range(before, text)
            document = self.plain_document
            self.replace(new, document.get_location_from_index(start), document.get_location_from_index(end))
            self.move_cursor(self.plain_document.get_location_from_index(start + len(new)))

    def paste(self, text: str) -> None:
        """Put a text in place of what is selected, as one thing to be undone; the cursor goes behind it."""
        self.history.checkpoint()
        self.move_cursor(self.replace(text, *self.selection).end_location)
        self.history.checkpoint()

    async def on_key(self, event: events.Key) -> None:
        """Steer the offers; close brackets and quotes, and keep the indentation."""
        if event.key.startswith("alt+"):
            event.prevent_default()
            return
        takes_key = self.expecting and event.key in ("tab", "enter")
        if takes_key or (self.offering and event.key in self.STEERS):
            event.stop()
            event.prevent_default()
            if takes_key:
                self.held_for_offers()
            self.post_message(self.Steered(event.key))
            return
        sign = event.character if event.is_printable else event.key
        if sign is not None and self.selection.is_empty and self._paired(sign):
            event.stop()
            event.prevent_default()
        # A backspace deletes once its binding runs, which is after this: only then is it told. What follows it is held.
        if event.key == "backspace":
            self._expect_offers()
        elif event.is_printable and event.character is not None:
            self._expect_offers()
            self.post_message(self.Typed(event.character, self.typed))

    def _expect_offers(self) -> None:
        self.typed += 1
        self.expecting = True

    def _paired(self, sign: str) -> bool:
        """Do what a sign does besides being put in; return whether it was all that it does."""
        row, column = self.cursor_location
        line = self.plain_document.get_line(row)
        after, inside = line[column : column + 1], _in_text(line[:column])
        if sign == "enter":
            self.break_line()
            return True
        if sign == "$" and self._written_for == (self.text, self.cursor_location):
            self._written_for = None
            return True
        if sign == '"' and inside and after == '"':
            self.move_cursor((row, column + 1))
            return True
        if sign in "}]" and not inside and after == sign and not line[column + 1 :].strip(" ,]}"):
            self.move_cursor((row, column + 1))
            return True
        closing = CLOSING.get(sign)
        if closing is None or inside or (after and after not in " ,]}:"):
            return False
        self.insert(sign + closing, maintain_selection_offset=False)
        self.move_cursor((row, column + 1))
        return True

    def break_line(self) -> None:
        """Begin a new line where the cursor is; between two brackets it gets one of its own."""
        row, column = self.cursor_location
        line = self.plain_document.get_line(row)
        margin = line[: len(line) - len(line.lstrip(" "))][:column]
        before, after = line[:column].rstrip()[-1:], line[column:].lstrip()[:1]
        inner = margin + " " * self.indent_width if before in CLOSING and before != '"' else margin
        if before in CLOSING and after == CLOSING[before] and before != '"':
            self.insert(f"\n{inner}\n{margin}", maintain_selection_offset=False)
            self.move_cursor((row + 1, len(inner)))
        else:
            self.insert(f"\n{inner}", maintain_selection_offset=False)

    def action_delete_left(self) -> None:
        """Delete the sign before the cursor, and the closing one with it where there is nothing between them."""
        row, column = self.cursor_location
        line = self.plain_document.get_line(row)
        pair = line[column - 1 : column + 1] if column else ""
        if self.selection.is_empty and len(pair) == 2 and CLOSING.get(pair[0]) == pair[1]:
            self.delete((row, column - 1), (row, column + 1), maintain_selection_offset=False)
        else:
            super().action_delete_left()
        self.post_message(self.Typed("", self.typed))

    async def on_mouse_down(self, event: events.MouseDown) -> None:
        """Tell of a click on the numbers."""
        if event.x < self.gutter_width + self.gutter.left:
            event.stop()
            event.prevent_default()
            row, _ = self.get_target_document_location(event)
            self.post_message(self.Clicked(row))

    # Drawing

    def mark(self, flaws: Sequence[MarkedRange], stops: Sequence[int], here: int | None) -> None:
        """Show what is wrong, where runs stop, and where one rests."""
        begun, ended = self.located(flaw.start for flaw in flaws), self.located(flaw.end for flaw in flaws)
        self._flaws = {}
        for flaw, (row, column), (last_row, last) in zip(flaws, begun, ended, strict=True):
            end = last if last_row == row else len(self.plain_document.get_line(row))
            self._flaws.setdefault(row, []).append((column, max(end, column + 1), flaw.error))
        self._stops = frozenset(self.lines_of(stops))
        self._here = None if here is None else self.lines_of([here])[0]
        self.notify_style_update()
        self.refresh()

    def get_line(self, line_index: int) -> Text:
        """Return a line in its colours."""
        line = super().get_line(line_index)
        for part, start, end in parts_of(line.plain):
            style = f"bold {self.colours.get('accent', '')}" if part == "reference" else self.colours.get(STYLES[part])
            if style:
                line.stylize(style, start, end)
        for start, end, error in self._flaws.get(line_index, ()):
            line.stylize(f"underline {self.colours.get('error' if error else 'warning', '')}", start, end)
        return line

    @property
    def gutter_width(self) -> int:
        """The width of the numbers, with a mark on either side."""
        return super().gutter_width + 1

    def render_line(self, y: int) -> Strip:
        """Draw a line with its number and marks."""
        strip = super().render_line(y)
        top = y + round(self.scroll_offset.y)
        if top >= self.wrapped_document.height:
            return strip
        row, column = self.wrapped_document.offset_to_location(Offset(0, top))
        return Strip.join([self._numbers(row, first=column == 0), strip.crop(self.gutter_width)])

    def _numbers(self, row: int, *, first: bool) -> Strip:
        width, now = self.gutter_width, row == self.cursor_location[0]
        base = self.get_component_rich_style("text-area--cursor-gutter" if now else "text-area--gutter")
        if not first:
            return Strip([Segment(" " * width, base)], width)
        flaws = self._flaws.get(row, [])
        error = any(wrong for *_, wrong in flaws)
        colour = "error" if error else "warning"
        style = base + Style.parse(self.colours.get(colour, "")) if flaws else base
        stop = "▶" if row == self._here else "●" if row in self._stops else " "
        at = base + Style.parse(self.colours.get("accent" if row == self._here else "error", ""))
        sign = ("✗" if error else "!") if flaws else " "
        number = f"{row + 1:>{width - 3}}"
        return Strip([Segment(stop, at), Segment(number, style), Segment(f"{sign} ", style)], width)


def _in_text(before: str) -> bool:
    """Whether a place in a line is inside of a JSON string, by what stands before it there."""
    inside, escaped = False, False
    for sign in before:
        if escaped:
            escaped = False
        elif sign == "\\" and inside:
            escaped = True
        elif sign == '"':
            inside = not inside
    return inside
