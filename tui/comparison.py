"""Two runs beside each other: what differs between them as rows of a table, and each of these told on both sides."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text

from infospace.runs.journal import RunRow, StepRow, Tally, Use
from planner.history import Difference, Outcome, Sets, StepDifference, arguments_of, diff, duration_ms, paired
from tui.command.render import content_text
from tui.widgets.grid import Column
from tui.wording import Colours, count, line, many, sign, took

if TYPE_CHECKING:
    from infospace.memory.store import Snapshot
    from planner.sides import Item

MOST_ITEMS = 2_000
"""Items of a side that are told."""
MOST_LINES = 2_000
"""Lines of a content that are told; of longer ones, so many of what is different."""
LONGEST = 200_000
"""Characters of a content that is compared line by line."""

Line = tuple[Text, Use | None]
"""A line, and what it leads to; version 0 is the one that is current."""


@dataclass(frozen=True, slots=True)
class Pair:
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
    pairs: tuple[Pair, ...]
    tallies: tuple[Tally | None, Tally | None]

    @property
    def runs(self) -> tuple[RunRow, RunRow]:
        """The two runs."""
        return self.found.before, self.found.after


def compare(snapshot: Snapshot, before: str, after: str) -> Comparison:
    """Compare two runs. For a thread. Raises NotFound for a run that is not there."""
    found = diff(snapshot, before, after)
    different = {(one.position, _sequence(one.before), _sequence(one.after)): one for one in found.steps}
    pairs = [Pair("runs")]
    pairs += [Pair(f"input ${name}", outcome=outcome) for name, outcome in found.inputs]
    for place, (position, one, other) in enumerate(paired(snapshot.steps(before), snapshot.steps(after))):
        key = (position, _sequence(one), _sequence(other))
        difference = different.get(key)
        outcome = None if difference is None else difference.outcome
        pairs.append(Pair(f"{place}:{position}", one, other, difference, outcome))
    if found.result is not None:
        pairs.append(Pair("result", outcome=found.result))
    tallies = snapshot.tallies([before, after])
    return Comparison(found, tuple(pairs), (tallies.get(before), tallies.get(after)))


def _sequence(row: StepRow | None) -> int | None:
    return None if row is None else row.sequence


# As rows


class Pairs:
    """Implements `Rows` over what differs, or over everything."""

    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("", 1),
        Column("step", None, least=24),
        Column("differs in", 26, narrow=20),
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
            return [self._mark(bool(ended)), Text("the runs", "bold"), ended, _duration(before), _duration(after)]
        if pair.position is None:
            return [self._mark(differs=True), Text(pair.key, "bold"), _changed_in(pair.outcome), "", ""]
        row = pair.after or pair.before
        named = "" if row is None else f"{row.position} {row.type}" + (f" → ${row.out}" if row.out else "")
        times = ["" if one is None else took(one.duration_ms) for one in (pair.before, pair.after)]
        if pair.before is None or pair.after is None:
            colour = self._colours.get("success" if pair.before is None else "error", "bold")
            mark, only = ("+", "only after") if pair.before is None else ("−", "only before")
            return [Text(mark, colour), Text(named, colour), only, *times]
        if pair.difference is None:
            return [Text("="), Text(named, "dim"), Text("", "dim"), *times]
        changes = [_changed_in(pair.outcome)] if pair.outcome is not None else []
        changes += [change for change in pair.difference.changes if change != "outcome"]
        return [self._mark(differs=True), named, ", ".join(changes), *times]

    def _mark(self, differs: bool) -> Text:
        return Text("~", self._colours.get("warning", "bold")) if differs else Text("=")


def _changed_in(outcome: Outcome | None) -> str:
    if isinstance(outcome, Sets):
        counts = [f"+{len(outcome.came):,}"] * bool(outcome.came) + [f"−{len(outcome.went):,}"] * bool(outcome.went)
        return f"items {' '.join(counts)}" if counts else "order"
    return "" if outcome is None else outcome.what


def _duration(run: RunRow) -> str:
    spent = duration_ms(run)
    return "" if spent is None else took(spent)


# Told


def run_said(run: RunRow, tally: Tally | None, colours: Colours) -> Text:
    """Say on a line what a run was, took and cost."""
    text = Text(no_wrap=True, overflow="ellipsis").append(f"{run.run} ", "bold").append_text(sign(run.status, colours))
    text.append(f" {run.status}  {_duration(run) or 'not ended'}  ")
    asked = [] if tally is None else [(tally.llm_calls, "llm"), (tally.tool_calls, "tool"), (tally.tokens, "tok")]
    cost = " ".join(f"{count(number)} {noun}" for number, noun in asked if number)
    return text.append(f"{cost}  " if cost else "", colours.get("secondary", "")).append(line(run.goal), "dim")


def summary_said(comparison: Comparison) -> str:
    """Say how much is different."""
    found = comparison.found
    if found.same:
        return f"the same: {many(found.alike, 'step')} alike" + ("; the plans differ" if found.replanned else "")
    one = len(found.steps) == 1
    said = [f"{many(len(found.steps), 'step')} {'differs' if one else 'differ'}, {found.alike:,} alike"]
    if found.replanned:
        said.append("the plans differ")
    if found.lost:
        said.append(f"what {many(len(found.lost), 'step')} gave was removed")
    return "; ".join(said)


def told(comparison: Comparison, pair: Pair, colours: Colours) -> tuple[list[Line], list[Line]]:
    """Tell a row on both sides. For a thread: what is long is compared."""
    if pair.key == "runs":
        first, second = comparison.runs
        sides = [list(_run(run, tally)) for run, tally in zip((first, second), comparison.tallies, strict=True)]
        return _beside(sides[0], sides[1], colours)
    one: list[Line] = []
    other: list[Line] = []
    if pair.position is not None:
        one, other = _steps(comparison, pair, colours)
    if pair.position in comparison.found.lost:
        for side in (one, other):
            side.append((Text("What it gave was removed in one of the runs, and is not compared.", "italic"), None))
    if pair.outcome is not None:
        before, after = _outcome(pair.outcome, colours)
        one += before
        other += after
    elif pair.before is not None and pair.after is not None and pair.position not in comparison.found.lost:
        for side in (one, other):
            side.append((Text("gave the same", "dim"), None))
    return one, other


def _run(run: RunRow, tally: Tally | None) -> Iterator[str]:
    yield f"status: {run.status}"
    if run.reason:
        yield f"reason: {line(run.reason)}"
    yield f"goal: {line(run.goal) or 'none'}"
    yield f"took: {_duration(run) or 'not ended'}"
    if tally is not None:
        yield f"executions: {tally.executions:,}"
        yield f"calls of language models: {tally.llm_calls:,}"
        yield f"calls of tools: {tally.tool_calls:,}"
        yield f"tokens: {tally.tokens:,}"
    yield f"kind: {run.kind}"


def _beside(before: list[str], after: list[str], colours: Colours) -> tuple[list[Line], list[Line]]:
    """Tell two lists of lines; what only one of them has is coloured."""
    first, second = set(before), set(after)
    return (
        [(Text(said, "" if said in second else colours.get("error", "bold")), None) for said in before],
        [(Text(said, "" if said in first else colours.get("success", "bold")), None) for said in after],
    )


def _steps(comparison: Comparison, pair: Pair, colours: Colours) -> tuple[list[Line], list[Line]]:
    """Tell how a step ended on both sides, and the arguments that differ."""
    sides: list[list[str]] = []
    for row, other in ((pair.before, pair.after), (pair.after, pair.before)):
        sides.append(["this run has no such step"] if row is None else list(_step(row, other)))
    written = [
        None if row is None else arguments_of(run, row)
        for run, row in zip(comparison.runs, (pair.before, pair.after), strict=True)
    ]
    for name in dict.fromkeys([*(written[0] or {}), *(written[1] or {})]):
        values = [None if one is None or name not in one else _json(one[name]) for one in written]
        if values[0] != values[1] or pair.before is None or pair.after is None:
            for side, value in zip(sides, values, strict=True):
                side.extend([f"{name}: {value}"] if value is not None else [])
    return _beside(sides[0], sides[1], colours)


def _step(row: StepRow, other: StepRow | None) -> Iterator[str]:
    if other is None or (row.type, row.out) != (other.type, other.out):
        yield row.type + (f" → ${row.out}" if row.out else "")
    if other is None or row.reason or row.status != other.status:
        yield row.status + (f": {line(row.reason)}" if row.reason else "")
    theirs = set() if other is None else {(use.id, use.version) for use in other.uses}
    for use in row.uses[:20] if other is not None else ():
        if (use.id, use.version) not in theirs:
            yield f"read {use.id} version {use.version}"


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _outcome(outcome: Outcome, colours: Colours) -> tuple[list[Line], list[Line]]:
    if isinstance(outcome, Sets):
        went = _items("−", "went", outcome.went, colours.get("error", "bold"))
        came = _items("+", "came", outcome.came, colours.get("success", "bold"))
        if outcome.reordered:
            for side in (went, came):
                side.append((Text("what stayed is in another order", "italic"), None))
        return went, came
    if outcome.what == "kind":
        return (
            [(Text(f"gave {outcome.before or 'nothing'}", colours.get("error", "bold")), None)],
            [(Text(f"gives {outcome.after or 'nothing'}", colours.get("success", "bold")), None)],
        )
    head: Line = (Text(outcome.what, "underline"), None)
    before, after = _lines(_text(outcome.before), _text(outcome.after), colours)
    return [head, *before], [head, *after]


def _items(mark: str, word: str, items: Sequence[Item], colour: str) -> list[Line]:
    if not items:
        return [(Text(f"nothing {word}", "dim"), None)]
    found: list[Line] = [(Text(f"{len(items):,} {word}", "underline"), None)]
    found += [
        (Text.assemble((f"{mark} {item.id}  ", colour), line(item.title)), _leads(item)) for item in items[:MOST_ITEMS]
    ]
    if len(items) > MOST_ITEMS:
        found.append((Text(f"… and {len(items) - MOST_ITEMS:,} more", "dim"), None))
    return found


def _leads(item: Item) -> Use | None:
    from infospace.ids import is_id

    return Use(item.id, 0) if is_id(item.id) else None


def _text(value: Any) -> str:
    return "" if value is None else content_text(value)


def _lines(before: str, after: str, colours: Colours) -> tuple[list[Line], list[Line]]:
    """Tell two texts line by line, beside each other; what is different is coloured."""
    first, second = before[:LONGEST].splitlines(), after[:LONGEST].splitlines()
    red, green = colours.get("error", "bold"), colours.get("success", "bold")
    one: list[Line] = []
    other: list[Line] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, first, second, autojunk=True).get_opcodes():
        style = ("dim", "dim") if tag == "equal" else (red, green)
        for left, right in zip_longest(first[i1:i2], second[j1:j2], fillvalue=""):
            one.append((Text(_shown(left), style[0]), None))
            other.append((Text(_shown(right), style[1]), None))
    for side, whole in ((one, before), (other, after)):
        if len(side) > MOST_LINES or len(whole) > LONGEST:
            del side[MOST_LINES:]
            side.append((Text(f"… the rest of {len(whole):,} characters is not told here", "italic"), None))
    return one, other


def _shown(text: str) -> str:
    from tui.command.output import shown

    return shown(text.expandtabs(4))
