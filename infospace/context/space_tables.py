"""The space's own tables, opened for one query: each with the rows that the query wants of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from infospace.core.errors import PathNotFound
from infospace.core.json_types import JSON
from infospace.expressions.query.columns import Rows
from infospace.expressions.query.preselect import WantedRows, required_rows
from infospace.expressions.query.space_tables import TABLES, SpaceRows

if TYPE_CHECKING:
    from infospace.expressions import Clock
    from infospace.expressions.query.parse import ParsedQuery
    from infospace.store.protocol import Snapshot, SpaceTable

MAX_CHOSEN_NOTES = 20_000
"""Notes up to which the rows of one table are chosen by those of another."""


def open_tables(
    snapshot: Snapshot, query: ParsedQuery, parameters: Mapping[str, JSON | PathNotFound], clock: Clock
) -> tuple[dict[str, Rows], Callable[[], Iterator[tuple[str, int]]]]:
    """Return the tables by name, and by name and place, and what gives the Notes that were read with versions."""
    names = {name.lower() for name in query.tables}
    opened = _Opened(snapshot, required_rows(query.query, snapshot.testable, parameters, clock), names)
    return opened.rows, opened.used


class _Opened:
    def __init__(self, snapshot: Snapshot, wanted_rows: Mapping[int, WantedRows], names: set[str]) -> None:
        self._snapshot = snapshot
        self._wanted = {start: one for start, one in wanted_rows.items() if one.name in names}
        self._tables: dict[int, SpaceTable] = {}
        self._opening: set[int] = set()
        self.rows: dict[str, Rows] = {}
        whole: dict[str, SpaceTable] = {}
        for start, one in self._wanted.items():
            table = self._table(start)
            if not table.is_filtered:
                table = self._tables[start] = whole.setdefault(one.name, table)
            rows = SpaceRows(one.name, table)
            shared = self.rows.get(one.name)
            if table.is_filtered:
                self.rows[f"{one.name}@{start}"] = rows
            elif shared is None:
                self.rows[one.name] = rows
        for name in TABLES:
            self.rows.setdefault(name, SpaceRows(name, snapshot.space_table(name, (), ())))

    def _table(self, start: int) -> SpaceTable:
        """Open a table once; what it joins by an id, and has few rows, comes first."""
        if start not in self._tables:
            self._opening.add(start)
            one = self._wanted[start]
            among = self._among(one)
            self._tables[start] = self._snapshot.space_table(one.name, one.tests, among)
            self._opening.discard(start)
        return self._tables[start]

    def _among(self, one: WantedRows) -> list[tuple[str, Any]]:
        results = []
        for column, _, start in one.same:
            if start in self._opening or not self._chosen(start):
                continue
            other = self._table(start)
            if other.is_filtered and len(numbers := set(other.numbers)) <= MAX_CHOSEN_NOTES:
                results.append((column, numbers))
        return results

    def _chosen(self, start: int) -> bool:
        """Whether there is a reason to read a table first: it is tested itself."""
        return bool(self._wanted[start].tests)

    def used(self) -> Iterator[tuple[str, int]]:
        """Iterate over the Notes whose rows were read."""
        for table in self._tables.values():
            yield from table.versions().items()
