"""A table of any length: of its rows only those in sight are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.text.table_model import GAP, Column, NoRows, Rows, width_of


class LazyTable(ScrollView, can_focus=True):
    """A table with a cursor. `empty` is said where it has no rows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home,g", "first", show=False),
        Binding("end,G", "last", show=False),
        Binding("enter", "choose", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "lazy-table--header",
        "lazy-table--cursor",
        "lazy-table--resting",
        "lazy-table--empty",
    }

    cursor: reactive[int] = reactive(0)
    """The index of the row at the cursor."""

    class Highlighted(Message):
        """The cursor is on another row, or on another thing in the same row.

        `moved` says whether it was moved, rather than other rows shown. `index` is of `rows`, in whose place others
        may be shown by the time that this is handled.
        """

        def __init__(self, grid: LazyTable, index: int, key: str, *, moved: bool = True) -> None:
            super().__init__()
            self.grid = grid
            self.rows = grid.rows
            self.index = index
            self.key = key
            self.moved = moved

        @property
        def control(self) -> LazyTable:
            return self.grid

    class Chosen(Highlighted):
        """A row was chosen: by enter, or by a second click."""

    class Titled(Message):
        """Somebody clicked the title of a column."""

        def __init__(self, grid: LazyTable, column: int) -> None:
            super().__init__()
            self.grid = grid
            self.column = column

        @property
        def control(self) -> LazyTable:
            return self.grid

    class Drawn(Message):
        """Rows were drawn that were not in sight before."""

        def __init__(self, grid: LazyTable) -> None:
            super().__init__()
            self.grid = grid

        @property
        def control(self) -> LazyTable:
            return self.grid

    def __init__(self, columns: Sequence[Column] = (), *, empty: str = "", name: str = "") -> None:
        super().__init__(id=name or None)
        self.columns: tuple[Column, ...] = tuple(columns)
        self.rows: Rows = NoRows()
        self.empty = empty
        self._widths: list[int] = []
        self._at = ""
        """The key at the cursor, or that it is to be at."""
        self._told = ""
        """The key that was told last."""
        self._showing = False
        """Whether other rows are being shown."""

    # What is shown

    def show(self, rows: Rows, columns: Sequence[Column] | None = None, *, at: str | None = None) -> None:
        """Show other rows, with the cursor at a key.

        Without one it stays on the row of the same key, or at its place where there is none.
        """
        self._showing = True
        self._at = self._at if at is None else at
        if columns is not None:
            self.columns = tuple(columns)
        self.rows = rows
        count = len(rows)
        index = min(self.cursor, max(0, count - 1))
        if self._at and count and rows.key(index) != self._at:
            index = next((place for place in range(count) if rows.key(place) == self._at), index)
        self._lay_out()
        self.call_after_refresh(self.post_message, self.Drawn(self))
        if index != self.cursor:
            self.cursor = index
        elif at is not None:
            self._in_sight()
        self._told = "" if at is not None else self._told
        self._post_highlighted()
        self._showing = False
        self.refresh()

    @property
    def key(self) -> str | None:
        """The key of the row at the cursor, None where there are no rows."""
        return self.rows.key(self.cursor) if self.cursor < len(self.rows) else None

    def go_to(self, key: str) -> bool:
        """Put the cursor on the row of a key; return whether there is one."""
        for index in range(len(self.rows)):
            if self.rows.key(index) == key:
                self.cursor = index
                return True
        return False

    # Where it is

    @property
    def in_sight(self) -> range:
        """The indices of the rows in sight."""
        top = round(self.scroll_offset.y)
        return range(top, min(len(self.rows), top + max(0, self.scrollable_content_region.height - 1)))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Tell that others came into sight."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.call_after_refresh(self.post_message, self.Drawn(self))

    def validate_cursor(self, cursor: int) -> int:
        """Keep it on a row."""
        return max(0, min(cursor, len(self.rows) - 1))

    def watch_cursor(self) -> None:
        """Bring the row into sight, and tell."""
        self._in_sight()
        self._post_highlighted()
        self.refresh()

    def _post_highlighted(self) -> None:
        key = self.key
        if key is None:
            return
        self._at = key
        if key != self._told:
            self._told = key
            self.post_message(self.Highlighted(self, self.cursor, key, moved=not self._showing))

    def _in_sight(self) -> None:
        height = max(1, self.scrollable_content_region.height - 1)
        top = round(self.scroll_offset.y)
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, force=True)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False, force=True)

    def action_move(self, by: int) -> None:
        """Go up or down."""
        self.cursor += by

    def action_page(self, by: int) -> None:
        """Go up or down by what is in sight."""
        self.cursor += by * max(1, self.scrollable_content_region.height - 2)

    def action_first(self) -> None:
        """Go to the first row."""
        self.cursor = 0

    def action_last(self) -> None:
        """Go to the last row."""
        self.cursor = len(self.rows) - 1

    def action_choose(self) -> None:
        """Choose the row at the cursor."""
        key = self.key
        if key is not None:
            self.post_message(self.Chosen(self, self.cursor, key))

    def on_click(self, event: Click) -> None:
        """Go to the row that was clicked; choose it when it was clicked twice."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        if offset.y == 0:
            column = self._column_at(offset.x + round(self.scroll_offset.x))
            if column is not None:
                self.post_message(self.Titled(self, column))
            return
        index = offset.y - 1 + round(self.scroll_offset.y)
        if index < len(self.rows):
            self.cursor = index
            if event.chain == 2:
                self.action_choose()

    def _column_at(self, x: int) -> int | None:
        start = 0
        for index, width in enumerate(self._widths):
            if width and start <= x < start + width:
                return index
            start += width + GAP if width else 0
        return None

    # How it looks

    def on_resize(self, event: Resize) -> None:
        """Lay the columns out anew."""
        del event
        self._lay_out()
        self._in_sight()
        self.refresh()

    def _lay_out(self) -> None:
        room = self.scrollable_content_region.width
        shown = [column for column in self.columns if column.wide <= room]
        taken = {column: width_of(column, room) for column in shown if column.width is not None}
        rest = room - sum(taken.values()) - GAP * (len(shown) - 1)
        share = rest // max(1, len(shown) - len(taken))
        self._widths = [
            0 if column not in shown else taken.get(column, max(column.least, share)) for column in self.columns
        ]
        total = sum(width + GAP for width in self._widths if width) - GAP
        self.virtual_size = Size(max(room, total), len(self.rows) + 1)
        # Textual skips its check of the scrollbars when scroll and size change together, so it is made here.
        self._refresh_scrollbars()

    def render_line(self, y: int) -> Strip:
        """Draw the titles, or the row that is in sight there."""
        width = self.scrollable_content_region.width
        if len(self._widths) != len(self.columns):
            return Strip.blank(width, self.rich_style)
        left = round(self.scroll_offset.x)
        if y == 0:
            titles = [Text(column.title) for column in self.columns]
            return self._drawn(titles, self.get_component_rich_style("lazy-table--header"), left, width)
        index = y - 1 + round(self.scroll_offset.y)
        if index >= len(self.rows):
            style = self.rich_style
            if index == 0 and self.empty:
                return self._drawn_text(
                    Text(self.empty), style + self.get_component_rich_style("lazy-table--empty"), 0, width
                )
            return Strip.blank(width, style)
        cells = self.rows.cells(index, self._widths)
        style = self.rich_style
        if index == self.cursor:
            style += self.get_component_rich_style("lazy-table--cursor" if self.has_focus else "lazy-table--resting")
        return self._drawn(cells, style, left, width)

    def _drawn(self, cells: Sequence[Text | str], style: Style, left: int, width: int) -> Strip:
        if len(cells) == 1:
            only = Text().append_text(cells[0]) if isinstance(cells[0], Text) else Text(cells[0])
            only.truncate(width, overflow="ellipsis")
            return self._drawn_text(only, style, left, width)
        line = Text(no_wrap=True, end="")
        first = True
        for cell, room, column in zip(cells, self._widths, self.columns, strict=True):
            if not room:
                continue
            text = cell.copy() if isinstance(cell, Text) else Text(cell)
            text.truncate(room, overflow="ellipsis")
            blank = room - text.cell_len
            if not first:
                line.append(" " * GAP)
            first = False
            line.append(" " * blank if column.align == "right" else "")
            line.append_text(text)
            line.append(" " * blank if column.align == "left" else "")
        return self._drawn_text(line, style, left, width)

    def _drawn_text(self, line: Text, style: Style, left: int, width: int) -> Strip:
        line.end = ""
        segments = [
            Segment(segment.text, style + segment.style if segment.style else style)
            for segment in line.render(self.app.console)
        ]
        return Strip(segments).crop_extend(left, left + width, style)
