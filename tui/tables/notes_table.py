"""What the place Notes lists, as rows of a table: read as it comes into sight."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text

from tui.tables.notes_query import NotesList, NotesQuery, label_of, modified_of, path_of, tags_of
from tui.tables.task_rows import IN_LIST, in_list, today
from tui.text.format import Colours, count, format_time, single_line
from tui.text.table_model import Column

if TYPE_CHECKING:
    from infospace.store.protocol import ResourceSummary

SCORE = Column("score", 6)
ID = Column("id", 14, narrow=11)
TITLE = Column("title", None, least=24)
PATH = Column("path", None, wide=56, least=20)
TAGS = Column("tags", 18, wide=64, narrow=14)
SIZE = Column("size", 9, "right", wide=100)
UPDATED = Column("updated", 11, wide=48)
REMARK = Column("why", None, least=24)

PLAIN = (ID, TITLE, TAGS, SIZE, UPDATED)
FOUND = (SCORE, ID, TITLE, TAGS, UPDATED)
MODIFIED = Column("modified", 11, wide=76)
FILED = (ID, TITLE, PATH, replace(TAGS, wide=100), replace(SIZE, wide=120), MODIFIED)
"""Where notes came from files, their paths stand before what there is less room for."""
FOUND_FILED = (SCORE, ID, replace(TITLE, least=22), PATH, replace(TAGS, wide=100), replace(MODIFIED, wide=84))
OTHERS = (replace(ID, narrow=None), TITLE, SIZE, UPDATED)
STALE = (replace(ID, narrow=None), replace(TITLE, width=26, narrow=20), REMARK)
EMPTY = {
    "notes": "no notes yet: a adds files",
    "all notes": "no notes yet: a adds files",
    "collections": "no Collections: plans make them",
    "relations": "no Relations: links between notes, and plans, make them",
    "stale": "nothing is stale",
    "tasks": "no tasks: lines such as `- [ ] call Ada` in notes make them",
}
"""What is said where nothing is listed."""


class NoteList:
    """Implements `Rows`. What is to be read of a resource in sight it puts on `wanted`."""

    def __init__(self) -> None:
        self.listed = NotesList(NotesQuery(), (), "", 0)
        self.ids: Sequence[str] = ()
        self.wanted: set[str] = set()
        self.colours: Colours = {}
        self.sorted_by: tuple[str, bool] | None = None
        """The title of the column, and whether downwards."""
        self._briefs: dict[str, ResourceSummary | None] = {}
        self._fresh: set[str] = set()
        self._today = ""
        """The day when it was listed: what was due before is late."""

    def update(self, listed: NotesList) -> None:
        """List something else. What was read of it before is shown until it is read again."""
        self._today = today()
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

    def merge(self, asked: Iterable[str], briefs: Iterable[ResourceSummary]) -> bool:
        """Take what was read; what was asked for and is not among it was removed for good. Whether that is news."""
        results: dict[str, ResourceSummary | None] = dict.fromkeys(asked)
        results |= {brief.id: brief for brief in briefs}
        news = any(self._briefs.get(one, "unread") != brief for one, brief in results.items())
        self._briefs |= results
        self._fresh |= results.keys()
        self.wanted -= results.keys()
        return news

    def brief(self, identifier: str) -> ResourceSummary | None:
        """Return what was read of a resource."""
        return self._briefs.get(identifier)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns; the one that is sorted by has an arrow."""
        columns = self._columns
        if self.sorted_by is None:
            return columns
        title, downwards = self.sorted_by
        arrow = "▼" if downwards else "▲"
        return tuple(
            replace(column, title=f"{title} {arrow}") if column.title == title else column for column in columns
        )

    @property
    def _columns(self) -> tuple[Column, ...]:
        sought = self.listed.sought
        if sought.what == "stale":
            return STALE
        if sought.what == "tasks":
            return IN_LIST
        filed = self.listed.filed
        if self.listed.hits:
            return FOUND_FILED if filed and sought.what == "notes" else FOUND
        if sought.what in ("collections", "relations"):
            return OTHERS
        return FILED if filed else PLAIN

    # As rows

    def __len__(self) -> int:
        return len(self.ids)

    def key(self, index: int) -> str:
        """Return the id of a resource."""
        return str(self.ids[index])

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        """Return what is told of a resource, or of a task."""
        del widths
        if self.listed.tasks:
            return in_list(self.listed.tasks[index], self.colours, self._today)
        identifier = self.key(index)
        if identifier not in self._fresh:
            self.wanted.add(identifier)
        brief = self._briefs.get(identifier)
        return [self._cell(column, identifier, brief) for column in self._columns]

    def _cell(self, column: Column, identifier: str, brief: ResourceSummary | None) -> Text:
        if column.title == "id":
            return Text(identifier, "dim")
        if column.title == "title":
            return self._title(identifier)
        if column is SCORE:
            score = self.listed.hits[identifier].score
            return Text("" if score is None else f"{score:.3f}", self.colours.get("accent", ""))
        if column is REMARK:
            return Text(single_line(self.listed.remarks[identifier]), "dim")
        if brief is None:
            return Text("")
        if column.title == "tags":
            return Text(single_line(tags_of(brief)), self.colours.get("secondary", ""))
        if column is PATH:
            return Text(single_line(path_of(brief)), "dim")
        if column.title == "size":
            return Text(count(brief.size), "dim")
        at = modified_of(brief) if column.title == "modified" else brief.updated
        return Text(format_time(at)[:-3], "dim")

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
