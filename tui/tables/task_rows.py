"""The tasks of notes, `- [ ]`: read from the space's own table `items`, and told on lines."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.text import Text

from infospace.core.json_types import JSON
from tui.text.format import Colours, single_line
from tui.text.table_model import Column

if TYPE_CHECKING:
    from infospace.store.protocol import Snapshot

TODO, DONE = " ", "x"
SIGNS = {" ": "☐", "x": "☑", "X": "☑", "-": "☒", ">": "▷"}
"""How the usual statuses are shown; another one stands as it is written."""
_COLUMNS = ("note", "line", "text", "status", "done", "due", "scheduled", "priority", "section")


@dataclass(frozen=True, slots=True)
class Task:
    """A task: its Note, the line of the file that it is in, and what is known of it; `done` as `items` has it."""

    note: str
    line: int
    text: str
    status: str
    done: bool
    due: str | None
    scheduled: str | None
    priority: str | None
    section: str | None
    title: str = ""
    path: str = ""

    @property
    def key(self) -> str:
        """What tells it from the others: the Note and the line."""
        return f"{self.note}:{self.line}"

    @property
    def open(self) -> bool:
        """Whether it is still to be done: neither done nor given up."""
        return not self.done and self.status != "-"

    @property
    def turned(self) -> str:
        """The status that it gets by a key: done, or to be done again."""
        return TODO if self.done else DONE


def tasks_of(snapshot: Snapshot, numbers: Collection[int] | None = None) -> list[Task]:
    """Return the tasks of some Notes or of all, by Note and line. For a thread."""
    return [Task(*row) for row in _rows(snapshot, numbers)]


def _rows(snapshot: Snapshot, numbers: Collection[int] | None) -> Iterator[tuple[Any, ...]]:
    from infospace.expressions.query.preselect import ColumnTest

    among = () if numbers is None else (("note", numbers),)
    table = snapshot.space_table("items", (ColumnTest("kind", "=", ("task",)),), among)
    return zip(*(table.column(name) for name in _COLUMNS), strict=True)


def all_tasks(snapshot: Snapshot, words: Sequence[str], numbers: Collection[int] | None) -> list[Task]:
    """Return tasks with the titles and paths of their Notes: open ones first, by due date, that have all the words."""
    rows = list(_rows(snapshot, numbers))
    if not rows:
        return []
    notes = snapshot.space_table("notes", (), () if numbers is None else (("@id", numbers),))
    ids: list[Any] = notes.column("@id")
    titles, paths = (map(_word, notes.column(name)) for name in ("title", "path"))
    titles_by_id = dict(zip(ids, zip(titles, paths, strict=True), strict=True))
    tasks = (Task(*row, *titles_by_id.get(row[0], ("", ""))) for row in rows)
    results = [task for task in tasks if not words or _has(task, words)]
    return sorted(results, key=lambda task: (not task.open, task.due is None, task.due or ""))


def _word(value: JSON) -> str:
    return "" if value is None else str(value)


def _has(task: Task, words: Sequence[str]) -> bool:
    text = f"{task.text} {task.section or ''} {task.title} {task.path} {task.due or ''}".casefold()
    return all(word in text for word in words)


def today() -> str:
    """Return the day that it is here, as due dates are written."""
    from datetime import datetime

    return datetime.now().astimezone().date().isoformat()


def sign_of(task: Task, colours: Colours) -> Text:
    """Return the box of a task: `☐` to be done, `☑` done."""
    style = colours.get("success", "") if task.done else "dim" if not task.open else colours.get("accent", "")
    return Text(SIGNS.get(task.status, task.status), style)


def text_of(task: Task) -> Text:
    """Return what is to be done; what is done or given up is dim."""
    return Text(single_line(task.text) or "(empty)", "" if task.open else "dim strike" if task.status == "-" else "dim")


def due_of(task: Task, colours: Colours, day: str) -> Text:
    """Return when it is due; what is late stands out."""
    due = task.due or (f"({task.scheduled})" if task.scheduled else "")
    late = task.open and task.due is not None and task.due < day
    return Text(single_line(due), colours.get("error", "bold") if late else "dim")


BOX = Column("", 1)
DUE = Column("due", 12, wide=40)
IN_LIST = (BOX, Column("task", None, least=24), DUE, Column("note", 26, narrow=20, wide=60))
"""The columns of the list of all tasks."""
IN_NOTE = (
    BOX,
    Column("task", None, least=24),
    DUE,
    Column("section", 20, wide=64, narrow=16),
    Column("line", 5, "right", wide=56),
)
"""Those of the tasks of one Note."""


def in_list(task: Task, colours: Colours, day: str) -> Sequence[Text | str]:
    """Return the cells of a task among all."""
    return [sign_of(task, colours), text_of(task), due_of(task, colours, day), Text(single_line(task.title), "dim")]


def in_note(task: Task, colours: Colours, day: str) -> Sequence[Text | str]:
    """Return the cells of a task beside its Note."""
    section = Text(single_line(task.section or ""), "dim")
    return [sign_of(task, colours), text_of(task), due_of(task, colours, day), section, Text(f"{task.line:,}", "dim")]
