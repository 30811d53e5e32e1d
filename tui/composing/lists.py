"""The lists beside a draft: what is wrong with it, and where its runs stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text

from planner.draft import Mark
from tui.widgets.rows import Column
from tui.wording import Colours, line


class Flaws:
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
        return f"{problem.pointer} {problem.code} {problem.says}"

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        """Return what is told of a problem; ⚒ is for one that can be mended by a key."""
        del widths
        problem = self.marks[index].problem
        error = problem.severity == "error"
        style = self._colours.get("error" if error else "warning", "")
        fix = Text("⚒ ^f", self._colours.get("accent", "")) if problem.fix is not None else ""
        return [Text("✗" if error else "!", style), str(self._lines[index]), line(problem.says), fix]


class Stops:
    """Implements `Rows` over the stops of a draft: lines with their steps, and conditions."""

    COLUMNS: ClassVar[tuple[Column, ...]] = (Column("", 1), Column("stops", None))

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
        return [Text("●", self._colours.get("error", "")), line(self.told[index][1])]
