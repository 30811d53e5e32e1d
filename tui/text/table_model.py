"""What a table shows: its columns, and rows that are made when they come into sight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from rich.text import Text

WIDE = 120
"""Characters from which on a table is wide."""
GAP = 1
"""Blank characters between two columns."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: `width` in characters, None takes what the others leave; it is left out of a table below `wide`.

    In a table below `WIDE` its width is `narrow`, where that is given.
    """

    title: str
    width: int | None = None
    align: Literal["left", "right"] = "left"
    wide: int = 0
    narrow: int | None = None
    least: int = 8
    """The least width of a column that takes what is left."""


class Rows(Protocol):
    """What a table shows."""

    def __len__(self) -> int:
        """How many rows there are."""

    def key(self, index: int) -> str:
        """Return what tells a row from the others, also when rows come and go."""

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        """Return the cells of a row, one for each column, or one that goes over all of them.

        A column that is left out has the width 0.
        """


class NoRows:
    """A table without rows."""

    def __len__(self) -> int:
        return 0

    def key(self, index: int) -> str:
        raise IndexError(index)

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        raise IndexError(index, widths)


def width_of(column: Column, room: int) -> int:
    """Return the width of a column in a table of so many characters."""
    return column.narrow if column.narrow is not None and room < WIDE else column.width or 0
