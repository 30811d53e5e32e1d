"""Progress of long work on a terminal: what, how far, how fast, how long still."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from infospace.view import Speech


class _Rate(TextColumn):
    def __init__(self) -> None:
        super().__init__("")

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="dim")


class Bars:
    """A listener that draws a bar for each kind of work."""

    def __init__(self, console: Console) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=console, transient=True)
        self._tasks: dict[str, TaskID] = {}

    def speech(self, kind: Speech, text: str) -> None:
        """Show something said, above the bars."""
        if kind == "say":
            self._progress.console.print(text, markup=False, highlight=False)

    def progress(self, done: int, total: int, what: str) -> None:
        """Move a bar."""
        work = what.partition(";")[0]
        if work not in self._tasks:
            self._tasks[work] = self._progress.add_task("", total=total)
        self._progress.update(self._tasks[work], description=escape(what), completed=done, total=total)

    def __enter__(self) -> Bars:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()
