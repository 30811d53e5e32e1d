"""What the place Notes lists, as rows of a table: read as it comes into sight."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text

from tui.finding import Listed, Sought, label_of, tags_of
from tui.widgets.grid import Column
from tui.wording import Colours, count, line, moment

if TYPE_CHECKING:
    from infospace.memory.store import Brief

SCORE = Column("score", 6)
ID = Column("id", 14, narrow=11)
TITLE = Column("title", None, least=24)
TAGS = Column("tags", 18, wide=64, narrow=14)
SIZE = Column("size", 9, "right", wide=100)
UPDATED = Column("updated", 11, wide=48)
REMARK = Column("why", None, least=24)

PLAIN = (ID, TITLE, TAGS, SIZE, UPDATED)
FOUND = (SCORE, ID, TITLE, TAGS, UPDATED)
STALE = (ID, TITLE, REMARK)


class NoteList:
    """Implements `Rows`. What is to be read of a resource in sight it puts on `wanted`."""

    def __init__(self) -> None:
        self.listed = Listed(Sought(), (), "", 0)
        self.ids: Sequence[str] = ()
        self.wanted: set[str] = set()
        self.colours: Colours = {}
        self.sorted_by: tuple[str, bool] | None = None
        """The title of the column, and whether downwards."""
        self._briefs: dict[str, Brief | None] = {}
        self._fresh: set[str] = set()

    def take(self, listed: Listed) -> None:
        """List something else. What was read of it before is shown until it is read again."""
        self.listed, self.ids = listed, listed.ids
        if len(self._briefs) > 20_000:
            self._briefs.clear()
        self.outdate()

    def outdate(self) -> None:
        """Have everything read again that is in sight."""
        self._fresh.clear()

    def sort(self, ids: Sequence[str], by: tuple[str, bool] | None) -> None:
        """Show the same in another order."""
        self.ids, self.sorted_by = ids, by

    def learn(self, asked: Iterable[str], briefs: Iterable[Brief]) -> bool:
        """Take what was read; what was asked for and is not among it was removed for good. Whether that is news."""
        found: dict[str, Brief | None] = dict.fromkeys(asked)
        found |= {brief.id: brief for brief in briefs}
        news = any(self._briefs.get(one, "unread") != brief for one, brief in found.items())
        self._briefs |= found
        self._fresh |= found.keys()
        self.wanted -= found.keys()
        return news

    def brief(self, identifier: str) -> Brief | None:
        """Return what was read of a resource."""
        return self._briefs.get(identifier)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns; the one that is sorted by has an arrow."""
        columns = STALE if self.listed.sought.what == "stale" else FOUND if self.listed.hits else PLAIN
        if self.sorted_by is None:
            return columns
        title, downwards = self.sorted_by
        arrow = "▼" if downwards else "▲"
        return tuple(
            replace(column, title=f"{title} {arrow}") if column.title == title else column for column in columns
        )

    # As rows

    def __len__(self) -> int:
        return len(self.ids)

    def key(self, index: int) -> str:
        """Return the id of a resource."""
        return str(self.ids[index])

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        """Return what is told of a resource."""
        del widths
        identifier = self.key(index)
        if identifier not in self._fresh:
            self.wanted.add(identifier)
        brief = self._briefs.get(identifier)
        hit = self.listed.hits.get(identifier)
        score = [] if hit is None else [Text(f"{hit.score:.3f}", self.colours.get("accent", ""))]
        if self.listed.sought.what == "stale":
            return [
                Text(identifier, "dim"),
                self._title(identifier),
                Text(line(self.listed.remarks[identifier]), "dim"),
            ]
        name = Text(identifier, "dim")
        if brief is None:
            return [*score, name, self._title(identifier), "", *([] if score else [""]), ""]
        size = [] if score else [Text(count(brief.size), "dim")]
        return [
            *score,
            name,
            self._title(identifier),
            Text(line(tags_of(brief)), self.colours.get("secondary", "")),
            *size,
            Text(moment(brief.updated)[:-3], "dim"),
        ]

    def _title(self, identifier: str) -> Text:
        if identifier not in self._briefs:
            return Text("…", "dim")
        brief = self._briefs[identifier]
        if brief is None:
            return Text("(removed for good)", "dim italic")
        title = Text(label_of(brief))
        if not brief.alive:
            return Text.assemble(("deleted  ", self.colours.get("error", "")), title, style="dim")
        if not brief.kept:
            title.stylize("italic")
        return title
