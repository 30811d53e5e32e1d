"""The runs of a space as rows of a table: filtered by what is typed, with how far they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from rich.text import Text

from infospace.core.plural import pluralize
from infospace.journal.rows import FINISHED, RunHead, RunStats
from planner.journal.lease import is_live
from tui.text.format import Colours, between, count, format_duration, format_time, sign, single_line
from tui.text.table_model import Column


class RunList:
    """Implements `Rows`. What it does not know of a run that is to be shown it puts on `wanted`."""

    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("", 1),
        Column("run", 8),
        Column("kind", 7, wide=120),
        Column("status", 12),
        Column("goal", None, least=16),
        Column("steps", 9, "right", narrow=6),
        Column("time", 9, "right", narrow=8),
        Column("cost", 26, "right", narrow=9),
        Column("began", 14, wide=100),
    )

    def __init__(self) -> None:
        self.heads: list[RunHead] = []
        """All runs, latest first."""
        self.shown: list[RunHead] = []
        """Those that fit what was typed."""
        self.marked: list[str] = []
        """Those that are to be compared, in the order in which they were marked; at most two."""
        self.wanted: set[str] = set()
        self.colours: Colours = {}
        self.matched_by_body = 0
        """How many of those that are shown have the text only in what is in them."""
        self._tallies: dict[str, RunStats] = {}
        self._words: list[str] = []
        self._body_matches: frozenset[str] = frozenset()

    def update(self, heads: Sequence[RunHead]) -> None:
        """Take the runs as they are now."""
        self.heads = list(heads)
        present_runs = {head.run for head in heads}
        self.marked = [run for run in self.marked if run in present_runs]
        self._apply_filter()

    def mark(self, run: str) -> str | None:
        """Mark a run, or take its mark away; return the run that lost its mark to it, since two are compared."""
        if run in self.marked:
            self.marked.remove(run)
            return None
        self.marked.append(run)
        return self.marked.pop(0) if len(self.marked) > 2 else None

    def merge(self, tallies: Mapping[str, RunStats]) -> None:
        """Take how far some runs are."""
        self._tallies.update(tallies)
        self.wanted -= tallies.keys()

    def filter(self, text: str, bodies: Iterable[str] = ()) -> None:
        """Show the runs of which head or body fits: those that have all the words, and those of `bodies`."""
        self._words = text.lower().split()
        self._body_matches = frozenset(bodies)
        self._apply_filter()

    def _apply_filter(self) -> None:
        words = self._words
        if not words:
            self.shown, self.matched_by_body = self.heads, 0
            return
        by_head = {head.run for head in self.heads if all(word in _searchable_text(head) for word in words)}
        self.shown = [head for head in self.heads if head.run in by_head or head.run in self._body_matches]
        self.matched_by_body = len(self.shown) - len(by_head)

    def unfinished(self, places: range) -> list[str]:
        """Return the runs at some places whose steps are not all done."""
        return [head.run for head in self.shown[places.start : places.stop] if head.status not in FINISHED]

    def head(self, run: str) -> RunHead | None:
        """Return a run, None where it is not there."""
        return next((head for head in self.heads if head.run == run), None)

    # As rows

    def __len__(self) -> int:
        return len(self.shown)

    def key(self, index: int) -> str:
        """Return the id of a run."""
        return self.shown[index].run

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        """Return what is told of a run."""
        head = self.shown[index]
        tally = self._tallies.get(head.run)
        if tally is None:
            self.wanted.add(head.run)
        state = state_of(head)
        status = sign(state, self.colours).append(f" {'broken off' if state == 'left' else state}")
        mark = Text("●", self.colours.get("accent", "")) if head.run in self.marked else Text(" ")
        goal = Text(single_line(head.goal)) if head.goal else Text("(no goal)", "dim")
        if (
            self._words
            and head.run in self._body_matches
            and not all(word in _searchable_text(head) for word in self._words)
        ):
            goal = Text("≈ ", "dim").append_text(goal)
        return [
            mark,
            head.run,
            head.kind,
            status,
            goal,
            steps_of(head, tally),
            format_duration(time_of(head)),
            cost_of(tally, widths[_COST_COLUMN]),
            Text(format_time(head.started), "dim"),
        ]


_COST_COLUMN = next(index for index, column in enumerate(RunList.COLUMNS) if column.title == "cost")


def state_of(head: RunHead) -> str:
    """Return the status of a run; `left` of one that is running, and whose owner is gone."""
    return "left" if head.status == "running" and not is_live(head) else head.status


def time_of(head: RunHead) -> float:
    """Return the milliseconds that a run took; of one that rested, those in which it ran."""
    spent = head.spent.get("seconds")
    if spent is not None and head.status != "running":
        return spent * 1000
    return between(head.started, head.ended if head.status != "running" or is_live(head) else head.heartbeat)


def steps_of(head: RunHead, tally: RunStats | None) -> str:
    """Return how many of a plan's steps are done; of what has none, how many executions there were."""
    if tally is None:
        return ""
    if head.kind != "plan" or not tally.steps:
        return f"{tally.executions:,}"
    return f"{tally.ended:,}/{tally.steps:,}"


def cost_of(tally: RunStats | None, room: int) -> str:
    """Return what a run asked of others: calls of models and tools, and tokens; in little room, one of them."""
    if tally is None:
        return ""
    words = [(tally.llm_calls, "llm call"), (tally.tool_calls, "tool call"), (tally.tokens, "token")]
    whole = ", ".join(pluralize(number, noun) for number, noun in words if number)
    if len(whole) <= room:
        return whole
    return f"{count(tally.tokens)} tok" if tally.tokens else pluralize(tally.llm_calls + tally.tool_calls, "call")


def _searchable_text(head: RunHead) -> str:
    return f"{head.run} {head.kind} {head.status} {head.goal} {head.reason or ''}".lower()
