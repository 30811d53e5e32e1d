"""Progress of long work on a terminal: what, how far, how fast, how long still."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from infospace.core.listener import Speech
from tui.text.pace import RateMeter


class ProgressBars:
    """A listener that draws a bar for each kind of work."""

    def __init__(self, console: Console) -> None:
        pace = TextColumn("{task.fields[pace]}", style="dim", markup=False)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), pace)
        self._progress = Progress(*columns, console=console, transient=True)
        self._tasks: dict[str, TaskID] = {}
        self._paces: dict[str, RateMeter] = {}

    def message(self, kind: Speech, text: str) -> None:
        """Show something said, above the bars."""
        if kind == "say":
            self._progress.console.print(text, markup=False, highlight=False)

    def progress(self, done: int, total: int, what: str) -> None:
        work = what.partition(";")[0]
        if work not in self._tasks:
            self._tasks[work] = self._progress.add_task("", total=total, pace="")
            self._paces[work] = RateMeter()
        pace = self._paces[work]
        pace.mark(done)
        self._progress.update(
            self._tasks[work],
            description=escape(what),
            completed=done,
            total=total,
            pace=pace.format_rate(total - done),
        )

    def __enter__(self) -> ProgressBars:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()
