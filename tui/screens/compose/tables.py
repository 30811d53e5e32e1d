"""The lists beside a draft: what is wrong with it, and where its runs stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text

from planner.editor.draft import Mark
from tui.text.format import Colours, single_line
from tui.text.table_model import Column


class ProblemRows:
    """Implements `Rows` over the problems of a draft, in the order in which they stand in the text."""

    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("", 1),
        Column("line", 4, "right"),
        Column("problem", None),
        Column("", 4),
    )

    def __init__(self, marks: Sequence[Mark], lines: Sequence[int], colours: Colours) -> None:
        self.marks = marks
        self._lines = lines
        self._colours = colours

    def __len__(self) -> int:
        return len(self.marks)

    def key(self, index: int) -> str:
        """Return what tells a problem from the others."""
        problem = self.marks[index].problem
        return f"{problem.pointer} {problem.code} {problem.message}"

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        """Return what is told of a problem; ⚒ is for one that can be mended by a key."""
        del widths
        problem = self.marks[index].problem
        error = problem.severity == "error"
        style = self._colours.get("error" if error else "warning", "")
        fix = Text("⚒ ^f", self._colours.get("accent", "")) if problem.fix is not None else ""
        return [Text("✗" if error else "!", style), str(self._lines[index]), single_line(problem.message), fix]


@dataclass(frozen=True, slots=True)
class ValueRow:
    """What a variable is bound to where a run rests, in a few words; `step` is who bound it."""

    name: str
    id: str
    preview: str
    step: str


class ValueRows:
    """Implements `Rows` over what is bound where a run rests."""

    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("variable", 12),
        Column("value", None, least=16),
        Column("is", 14, narrow=13),
        Column("by step", 10, narrow=8),
    )

    def __init__(self, values: Sequence[ValueRow], fresh: str | None, colours: Colours) -> None:
        self._values = values
        self._fresh = fresh
        """The variable that was bound last."""
        self._colours = colours

    def __len__(self) -> int:
        return len(self._values)

    def key(self, index: int) -> str:
        """Return a variable's name."""
        return self._values[index].name

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        """Return what is told of a variable."""
        del widths
        value = self._values[index]
        style = self._colours.get("accent" if value.name == self._fresh else "primary", "")
        return [
            Text(f"${value.name}", style),
            single_line(value.preview),
            Text(value.id, "dim"),
            Text(value.step, "dim"),
        ]


class BreakpointRows:
    """Implements `Rows` over the stops of a draft: lines with their steps, and conditions."""

    COLUMNS: ClassVar[tuple[Column, ...]] = (Column("", 1), Column("a run rests", None))

    def __init__(self, told: Sequence[tuple[str, str]], colours: Colours) -> None:
        self.told = told
        """A key for each, and what is said of it."""
        self._colours = colours

    def __len__(self) -> int:
        return len(self.told)

    def key(self, index: int) -> str:
        """Return what tells a stop from the others."""
        return self.told[index][0]

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        """Return what is told of a stop."""
        del widths
        return [Text("●", self._colours.get("error", "")), single_line(self.told[index][1])]
