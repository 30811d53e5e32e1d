"""A run as it happens, for a person: a line a step, what is said, and the result at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from infospace.core.ids import is_id
from infospace.core.plural import pluralize
from infospace.journal.rows import StepRow
from planner.journal.events import (
    Event,
    Progressed,
    RunFinished,
    RunStarted,
    Spoke,
    StepFinished,
    StepRanAhead,
    StepStarted,
)
from planner.journal.result import RunResult
from tui.command.common.loop_limit import late_loop
from tui.command.runs.check import show_problems
from tui.text.format import MARKS
from tui.text.output import Output
from tui.text.pending import show_pending
from tui.text.render import (
    content_text,
    format_certificate,
    format_tool_search,
    hits_table,
    is_cached,
    is_hit,
    items_table,
    searched_words,
    snippet,
)

CONTAINERS = ("if", "while", "for-each", "parallel")
"""Forms whose own line comes before those of the steps in them."""


class EventPrinter:
    """Prints events; made for one run."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._status: Any = None
        self._run = ""
        self._untold: dict[str, int] = {}
        self._drafted = 0
        """Characters of drafts that came since the last step ended."""
        self._ahead: set[str] = set()
        """Positions of steps that were shown as they ran ahead."""

    def __call__(self, event: Event) -> None:
        match event:
            case RunStarted(run=self._run):
                pass  # a session, which is told once, begins anew with each call
            case RunStarted():
                self._run = event.run
                self._out.talk(f"{event.run}  {event.goal}".rstrip(), "bold")
            case StepStarted():
                if late_loop(event.position):
                    self._wait(f"{event.position} {event.type}")
                elif event.type in CONTAINERS:
                    out = f" → ${event.out}" if event.out else ""
                    self._out.talk(f"  {'  ' * event.nesting}▸ {event.position} {event.type}{out}")
                else:
                    self._wait(f"{event.position} {event.type}")
            case Progressed():
                of = f" of {event.total:,}" if event.total else ""
                self._wait(f"{event.position} {event.what} {event.done:,}{of}")
            case Spoke(kind="draft"):
                self._drafted += len(event.text)
                self._wait(f"{event.position} the model writes: {self._drafted:,} characters")
            case Spoke():
                self._done()
                if event.kind == "say":
                    self._out.talk(f"    {event.text}", "bold")
                elif event.kind == "log":
                    self._out.talk(f"    {event.text}", "dim")
            case StepRanAhead():
                self._ahead.add(event.row.position)
                self._ended(event.row, event.nesting)
            case StepFinished():
                ahead = event.row.position in self._ahead and not event.row.extra.get("ahead")
                self._ahead.discard(event.row.position)
                if not ahead:
                    self._ended(event.row, event.nesting)
            case RunFinished():
                self._done()

    def _ended(self, row: StepRow, nesting: int) -> None:
        is_shown = row.status != "success" or "would" in row.extra
        loop = None if is_shown else late_loop(row.position)
        if loop is not None:
            self._untold[loop] = self._untold.get(loop, 0) + 1
            return
        self._done()
        self._drafted = 0
        untold = self._untold.pop(row.position, 0)
        if untold:
            steps = f"{untold:,} more step{'s' * (untold != 1)} of later rounds"
            self._out.talk(f"  {'  ' * nesting}  … {steps}", "dim")
        self._step(row, nesting)

    def _step(self, row: StepRow, nesting: int) -> None:
        if row.type in CONTAINERS and row.status == "success" and row.out is None:
            return
        mark, style = MARKS.get(row.status, ("?", "red"))
        line = Text("  " + "  " * nesting)
        line.append(f"{mark} ", style)
        line.append(f"{row.position} {row.type}")
        if row.out and row.resource:
            line.append(f" → ${row.out}", "cyan")
        text = row.reason if row.status != "success" else "" if row.type in ("say", "think") else row.value
        if text:
            room = max(20, self._out.side.width - line.cell_len - 12)
            line.append("  " + snippet(text, room), "dim" if row.status == "success" else style)
        if row.duration_ms >= 100:
            line.append(f"  {row.duration_ms / 1000:.1f} s", "dim")
        if is_cached(row.extra):
            line.append("  cached", "dim")
        self._out.side.print(line, overflow="ellipsis", no_wrap=True, soft_wrap=False)
        if row.expect and not _is_frame(row.expect):
            self._out.talk(f"    {'  ' * nesting}expected: {row.expect}", "dim")
        would = row.extra.get("would")
        if isinstance(would, dict):
            self._out.talk(f"    {'  ' * nesting}{_format_dry_effect(would)}", "cyan")
        failed = row.extra.get("failed")
        if isinstance(failed, list) and failed:
            items = pluralize(int(str(row.extra["of"])), "item")
            message = f"{len(failed):,} of {items} failed; the first, {failed[0]['reason']}"
            self._out.talk(f"    {'  ' * nesting}{message}", "yellow")
        certificate = row.extra.get("certificate")
        if isinstance(certificate, dict):
            self._out.talk(f"    {'  ' * nesting}{format_certificate(certificate)}", "dim")
        finding = format_tool_search(row.extra)
        if finding is not None:
            self._out.talk(f"    {'  ' * nesting}{finding}", "yellow")

    def _wait(self, what: str) -> None:
        if not self._out.side.is_terminal:
            return
        if self._status is None:
            self._status = self._out.side.status(what)
            self._status.start()
        else:
            self._status.update(what)

    def _done(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None


def _is_frame(expect: str) -> bool:
    """Whether a line of a session says of itself what it is for, as lines do that nobody wrote as steps."""
    from planner.sessions.lines import FRAMES

    return expect in FRAMES


def _format_dry_effect(would: dict[str, Any]) -> str:
    """Say what a step of a dry run would do."""
    from infospace.data.json_text import dump
    from infospace.data.result import truncate
    from tui.text.fix_text import dry_verb

    name = f", named {would['name']!r}" if "name" in would else ""
    asks = ", and would ask before" if would.get("asks") else ""
    return f"would {dry_verb(would)}{asks}: {truncate(dump(_named(would['arguments'])), 600)}{name}"


def _named(value: Any) -> Any:
    """Return arguments with a resource as its id and how it begins, which says enough to a person."""
    match value:
        case {"id": str(identifier), "kind": str(), "value": str(begins), **more} if not more and is_id(identifier):
            return f"{identifier} ({snippet(begins, 60)})"
        case dict():
            return {key: _named(one) for key, one in value.items()}
        case list():
            return [_named(one) for one in value]
    return value


def _result_words(result: RunResult) -> Sequence[str]:
    """The words that the search looked for which made the result, if one did."""
    created = result.result and result.result.resource_id
    return next((searched_words(row.extra) for row in result.steps if created and row.resource == created), ())


def show_result(result: RunResult, out: Output, *, quiet: bool = False) -> None:
    """Show how a run ended, and what it answers."""
    if result.status == "refused":
        show_problems(result.problems, out)
        errors = sum(problem.severity == "error" for problem in result.problems)
        if result.run is None:
            what = "the plan is refused, and nothing was run"
        elif result.steps and all(row.extra.get("ahead") for row in result.steps):
            what = "the plan is refused, and nothing of it was done"
        else:
            what = f"{result.run} stops at a refused step; what was run before it stays"
        out.talk(f"{what}: {errors} error{'s' * (errors != 1)}", "red")
        return
    show_problems([problem for problem in result.problems if problem.severity == "warning"], out)
    if result.reason is not None:
        out.talk(f"{result.status}: {result.reason}", "yellow" if result.status == "success" else "red")
    show_pending(result.run, result.pending, out, told=result.reason is not None)
    if result.result is None or quiet:
        return
    data: Any = result.result.data
    if isinstance(data, list) and (result.result.resource_id or "").startswith("Collection"):
        if not data:
            out.talk("the result is an empty collection", "dim")
        elif all(is_hit(item) for item in data):
            out.result.print(hits_table(data, _result_words(result)))
        else:
            out.result.print(items_table(data))
        return
    out.text(content_text(data))
