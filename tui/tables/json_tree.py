"""JSON as a tree that folds: rows of a table, of which only those are worked out that are unfolded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.text import Text

from infospace.core.json_types import JSON
from tui.text.format import Colours, single_line
from tui.text.table_model import Column

OPEN_AT_FIRST = 200
"""Rows up to which everything is unfolded at first."""
CHILDREN_PER_PAGE = 1_000
"""Items of a list, or fields of an object, that are shown at first; the row below them shows more."""


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A value in its place: `path` are the keys and indices that lead there. `more` stands for what is not shown."""

    path: tuple[str | int, ...]
    value: Any
    more: int = 0


class JsonTree:
    """Implements `Rows` over a JSON value."""

    COLUMNS: ClassVar[tuple[Column, ...]] = (Column("value", None, least=20),)

    def __init__(self, value: JSON) -> None:
        self.value = value
        self.colours: Colours = {}
        self.branches: list[TreeRow] = []
        self._open: set[tuple[str | int, ...]] = {()}
        self._most: dict[tuple[str | int, ...], int] = {}
        for depth in range(1, 6):
            deeper = self._open | {branch.path for branch in self._walk() if len(branch.path) < depth}
            if sum(1 for _ in self._walk(deeper, OPEN_AT_FIRST)) > OPEN_AT_FIRST:
                break
            self._open = deeper
        self._lay_out()

    def _lay_out(self) -> None:
        self.branches = list(self._walk())

    def _walk(self, opened: set[tuple[str | int, ...]] | None = None, most: int | None = None) -> Iterator[TreeRow]:
        """Give the branches that are to be seen, at most one more than `most`."""
        unfolded = self._open if opened is None else opened
        ahead = [TreeRow((), self.value)]
        given = 0
        while ahead and (most is None or given <= most):
            branch = ahead.pop()
            given += 1
            yield branch
            if not branch.more and branch.path in unfolded:
                ahead += reversed(self._children(branch))

    def _children(self, branch: TreeRow) -> list[TreeRow]:
        value, path = branch.value, branch.path
        most = self._most.get(path, CHILDREN_PER_PAGE)
        if isinstance(value, dict):
            results = [TreeRow((*path, key), value[key]) for _, key in zip(range(most), value, strict=False)]
        elif isinstance(value, list):
            results = [TreeRow((*path, place), one) for place, one in enumerate(value[:most])]
        else:
            return []
        return [*results, TreeRow((*path, ""), None, len(value) - most)] if len(value) > most else results

    # Folding

    def toggle(self, index: int) -> None:
        """Fold or unfold a row, or show more where that is what it says."""
        branch = self.branches[index]
        if branch.more:
            above = branch.path[:-1]
            self._most[above] = self._most.get(above, CHILDREN_PER_PAGE) * 10
        elif branch.path in self._open:
            self._open.discard(branch.path)
        elif _holds(branch.value):
            self._open.add(branch.path)
        self._lay_out()

    def fold(self, index: int, *, unfold: bool) -> int:
        """Unfold a row, or fold it, or what it stands in; return the row that the cursor belongs on."""
        branch = self.branches[index]
        is_open = branch.path in self._open and _holds(branch.value)
        if unfold != is_open and (unfold or is_open):
            self.toggle(index)
        elif not unfold and branch.path:
            above = branch.path[:-1]
            return next((place for place in range(index, -1, -1) if self.branches[place].path == above), index)
        return index

    # As rows

    def __len__(self) -> int:
        return len(self.branches)

    def key(self, index: int) -> str:
        """Return the path of a row as a text."""
        branch = self.branches[index]
        return json.dumps([*branch.path, bool(branch.more)])

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        """Return a row: its key and its value, or how much it holds."""
        del widths
        branch = self.branches[index]
        text = Text("  " * len(branch.path))
        if branch.more:
            return [text.append(f"… {branch.more:,} more: enter shows them", "italic")]
        folds = _holds(branch.value)
        text.append("" if not folds else "▾ " if branch.path in self._open else "▸ ")
        if branch.path:
            key = branch.path[-1]
            style = "dim" if isinstance(key, int) else self.colours.get("primary", "bold")
            text.append(f"{key + 1}. " if isinstance(key, int) else f"{single_line(key)}: ", style)
        return [text.append_text(self._render_value(branch.value))]

    def _render_value(self, value: JSON) -> Text:
        if isinstance(value, dict):
            return Text(f"{len(value):,} {'field' if len(value) == 1 else 'fields'}", "dim")
        if isinstance(value, list):
            return Text(f"{len(value):,} {'item' if len(value) == 1 else 'items'}", "dim")
        if isinstance(value, str):
            return Text(single_line(value) or '""')
        return Text(json.dumps(value), self.colours.get("accent", ""))

    def format_row(self, index: int) -> str:
        """Return where a row stands, and its value where that is a text or a number."""
        branch = self.branches[index]
        where = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in branch.path).lstrip(".")
        if _holds(branch.value) or branch.more:
            return where
        value = branch.value if isinstance(branch.value, str) else json.dumps(branch.value)
        return f"{where}: {value}" if where else value


def _holds(value: Any) -> bool:
    return isinstance(value, (dict, list)) and bool(value)
