"""The rows of a query as a table: its outputs as columns, sorted when asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich.text import Text

from infospace.core.ids import is_id
from infospace.core.json_types import JSON
from tui.tables.collection_table import LOOKED_AT, WIDEST, cell, rank
from tui.text.table_model import Column


class QueryRows:
    """Implements `Rows` over the rows of a query, which are all at hand; of those in sight cells are made."""

    def __init__(self, rows: Sequence[Mapping[str, JSON]]) -> None:
        self._rows = rows
        self._order = list(range(len(rows)))
        self._names = list(rows[0]) if rows else []
        self.sorted_by: tuple[int, bool] | None = None
        """The column, and whether downwards."""
        self._columns = [Column("#", max(3, len(f"{len(rows):,}")), "right"), *map(self._column, self._names)]

    def _column(self, name: str) -> Column:
        values = [row[name] for row in self._rows[:LOOKED_AT]]
        widest = max((len(cell(value)) for value in values), default=0)
        given = [value for value in values if value is not None]
        numbers = bool(given) and all(isinstance(value, (int, float)) for value in given)
        last = name == self._names[-1]
        width = None if last and not numbers else min(WIDEST, max(len(name) + 2, widest))
        return Column(name, width, "right" if numbers else "left", least=20)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, the one that it is sorted by with an arrow."""
        if self.sorted_by is None:
            return tuple(self._columns)
        at, downwards = self.sorted_by
        arrow = "▼" if downwards else "▲"
        return tuple(
            replace(column, title=f"{column.title} {arrow}") if place == at else column
            for place, column in enumerate(self._columns)
        )

    def __len__(self) -> int:
        return len(self._order)

    def key(self, index: int) -> str:
        """Return the place of a row."""
        return str(self._order[index])

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        """Return the cells of a row."""
        del widths
        place = self._order[index]
        return [Text(f"{place + 1:,}", "dim"), *(cell(self._rows[place][name]) for name in self._names)]

    def leads_to(self, index: int) -> str | None:
        """Return the first id of a resource in a row, None where it has none."""
        values = self._rows[self._order[index]].values()
        return next((value for value in values if isinstance(value, str) and is_id(value)), None)

    def sort(self, column: int) -> None:
        """Sort by a column, the other way round when it is sorted by that."""
        downwards = self.sorted_by == (column, False)
        self._order = list(range(len(self._rows)))
        if column:
            name = self._names[column - 1]
            self._order.sort(key=lambda place: rank(self._rows[place][name]), reverse=downwards)
        elif downwards:
            self._order.reverse()
        self.sorted_by = (column, downwards)

    def copied(self) -> str:
        """Return all rows as lines of tab-separated cells."""
        lines = ["\t".join(self._names)]
        lines += ["\t".join(cell(self._rows[place][name]) for name in self._names) for place in self._order]
        return "\n".join(lines)
