"""Lines that are read, wrapped at the width of their table; some of them lead somewhere."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.events import Resize

from infospace.journal.rows import Use
from tui.text.table_model import Column
from tui.widgets.lazy_table import LazyTable
from tui.widgets.text_view import wrapped


class LinkedRows:
    """Implements `Rows` over lines of cells, of which each may lead somewhere."""

    def __init__(self, lines: Sequence[tuple[Sequence[Text | str], Use | None]]) -> None:
        self.lines = lines

    def __len__(self) -> int:
        return len(self.lines)

    def key(self, index: int) -> str:
        """Return the place of a line."""
        return str(index)

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        """Return the cells of a line."""
        del widths
        return self.lines[index][0]


class WrappedRows:
    """Implements `Rows` over lines, broken at a width."""

    def __init__(self, lines: Sequence[tuple[Text, Use | None]], width: int) -> None:
        self.rows: list[tuple[Text, Use | None]] = []
        for text, use in lines:
            if text.cell_len <= width or text.spans:
                self.rows.append((text, use))
            else:
                self.rows += [(Text(piece, text.style), use) for piece in wrapped(text.plain, width)]

    def __len__(self) -> int:
        return len(self.rows)

    def key(self, index: int) -> str:
        """Return the place of a row."""
        return str(index)

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        del widths
        return [self.rows[index][0]]


class LineTable(LazyTable):
    """A table of lines; its title is that of its only column."""

    def __init__(self, *, name: str) -> None:
        super().__init__([Column("", None, least=10)], name=name)
        self._lines: Sequence[tuple[Text, Use | None]] = ()
        self._wrapped = WrappedRows((), 80)

    def show_lines(self, lines: Sequence[tuple[Text, Use | None]], title: str) -> None:
        """Show lines from their beginning."""
        self._lines = lines
        self.columns = (Column(title, None, least=10),)
        self._wrap()
        self.cursor = 0
        self.scroll_to(y=0, animate=False, force=True)

    def on_resize(self, event: Resize) -> None:
        super().on_resize(event)
        self._wrap()

    def _wrap(self) -> None:
        self._wrapped = WrappedRows(self._lines, max(10, self.scrollable_content_region.width))
        self.show(self._wrapped)

    @property
    def leads_to(self) -> Use | None:
        """Where the line at the cursor leads."""
        rows = self._wrapped.rows
        return rows[self.cursor][1] if self.cursor < len(rows) else None

    def copied(self) -> str:
        """Return the lines as text."""
        return "\n".join(text.plain for text, _ in self._lines)
