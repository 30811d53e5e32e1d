"""Two runs beside each other: what differs between them as rows of a table, and each of these told on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text

from infospace.core.plural import pluralize
from infospace.journal.rows import RunRow, RunStats, StepRow
from planner.inspect.diff import Difference, Outcome, SetDiff, StepDifference, diff, duration_ms, pair_steps
from tui.tables.runs_table import cost_of
from tui.text.format import Colours, format_duration, sign, single_line
from tui.text.table_model import Column

if TYPE_CHECKING:
    from infospace.store.protocol import Snapshot


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A row: the runs themselves, an input, a step on both sides, or the result; None of a side that has it not."""

    key: str
    before: StepRow | None = None
    after: StepRow | None = None
    difference: StepDifference | None = None
    outcome: Outcome | None = None

    @property
    def position(self) -> str | None:
        """The position of the step, None of what is no step."""
        row = self.after or self.before
        return None if row is None else row.position

    @property
    def differs(self) -> bool:
        """Whether it is not the same on both sides."""
        return self.difference is not None or self.outcome is not None


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Two runs, what differs, and what they asked of others."""

    found: Difference
    pairs: tuple[DiffRow, ...]
    run_stats: tuple[RunStats | None, RunStats | None]

    @property
    def runs(self) -> tuple[RunRow, RunRow]:
        return self.found.before, self.found.after


def compare(snapshot: Snapshot, before: str, after: str) -> Comparison:
    """Compare two runs. For a thread. Raises NotFound for a run that is not there."""
    result = diff(snapshot, before, after)
    different = {
        (step_difference.position, _sequence(step_difference.before), _sequence(step_difference.after)): step_difference
        for step_difference in result.steps
    }
    pairs = [DiffRow("runs")]
    pairs += [DiffRow(f"input ${name}", outcome=outcome) for name, outcome in result.inputs]
    for place, (position, one, other) in enumerate(pair_steps(snapshot.steps(before), snapshot.steps(after))):
        key = (position, _sequence(one), _sequence(other))
        difference = different.get(key)
        outcome = None if difference is None else difference.outcome
        pairs.append(DiffRow(f"{place}:{position}", one, other, difference, outcome))
    if result.result is not None:
        pairs.append(DiffRow("result", outcome=result.result))
    tallies = snapshot.run_stats([before, after])
    return Comparison(result, tuple(pairs), (tallies.get(before), tallies.get(after)))


def _sequence(row: StepRow | None) -> int | None:
    return None if row is None else row.sequence


class DiffRows:
    """Implements `Rows` over what differs, or over everything."""

    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("", 1),
        Column("step", None, least=24),
        Column("differs in", 34, narrow=28),
        Column("before", 9, "right"),
        Column("after", 9, "right"),
    )

    def __init__(self, comparison: Comparison, colours: Colours, *, everything: bool) -> None:
        self.comparison = comparison
        steps = [pair for pair in comparison.pairs if pair.position is not None]
        everything = everything or not any(pair.differs for pair in steps)
        self.shown = [pair for pair in comparison.pairs if everything or pair.differs or pair.key == "runs"]
        self._colours = colours

    def __len__(self) -> int:
        return len(self.shown)

    def key(self, index: int) -> str:
        """Return what tells a row from the others."""
        return self.shown[index].key

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        """Return what is told of a row."""
        del widths
        pair = self.shown[index]
        if pair.key == "runs":
            before, after = self.comparison.runs
            ended = "status" if before.status != after.status else "reason" if self.comparison.found.ended else ""
            return [
                self._mark(bool(ended)),
                Text("the runs", "bold"),
                ended,
                format_run_duration(before),
                format_run_duration(after),
            ]
        if pair.position is None:
            return [self._mark(differs=True), Text(pair.key, "bold"), _changed_in(pair.outcome), "", ""]
        row = pair.after or pair.before
        name = "" if row is None else f"{row.position} {row.type}" + (f" → ${row.out}" if row.out else "")
        times = ["" if one is None else format_duration(one.duration_ms) for one in (pair.before, pair.after)]
        if pair.before is None or pair.after is None:
            colour = self._colours.get("success" if pair.before is None else "error", "bold")
            mark, only = ("+", "only after") if pair.before is None else ("−", "only before")
            return [Text(mark, colour), Text(name, colour), only, *times]
        if pair.difference is None:
            return [Text("="), Text(name, "dim"), Text("", "dim"), *times]
        changes = [_changed_in(pair.outcome)] if pair.outcome is not None else []
        changes += [change for change in pair.difference.changes if change != "outcome"]
        return [self._mark(differs=True), name, ", ".join(changes), *times]

    def _mark(self, differs: bool) -> Text:
        return Text("~", self._colours.get("warning", "bold")) if differs else Text("=")


def _changed_in(outcome: Outcome | None) -> str:
    if isinstance(outcome, SetDiff):
        counts = [f"+{len(outcome.came):,}"] * bool(outcome.came) + [f"−{len(outcome.went):,}"] * bool(outcome.went)
        return f"items {' '.join(counts)}" if counts else "order"
    return "" if outcome is None else outcome.what


def format_run_duration(run: RunRow) -> str:
    """Return how long a run took, nothing while it has not ended."""
    spent = duration_ms(run)
    return "" if spent is None else format_duration(spent)


def render_run(run: RunRow, tally: RunStats | None, colours: Colours) -> Text:
    """Say on a line what a run was, took and cost."""
    text = Text(no_wrap=True, overflow="ellipsis").append(f"{run.run} ", "bold").append_text(sign(run.status, colours))
    text.append(f" {run.status}  {format_run_duration(run) or 'not ended'}  ")
    cost = cost_of(tally, 80)
    return text.append(f"{cost}  " if cost else "", colours.get("secondary", "")).append(single_line(run.goal), "dim")


def format_summary(comparison: Comparison) -> str:
    """Say how much is different."""
    difference = comparison.found
    if difference.same:
        return f"the same: {pluralize(difference.alike, 'step')} alike" + (
            "; the plans differ" if difference.replanned else ""
        )
    one = len(difference.steps) == 1
    texts = [f"{pluralize(len(difference.steps), 'step')} {'differs' if one else 'differ'}, {difference.alike:,} alike"]
    if difference.replanned:
        texts.append("the plans differ")
    if difference.lost:
        texts.append(f"what {pluralize(len(difference.lost), 'step')} gave was removed")
    return "; ".join(texts)
