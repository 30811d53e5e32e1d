"""What differs between two runs, told on both sides: what went in red, what came in green."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from rich.text import Text

from infospace.core.ids import is_id
from infospace.journal.rows import RunRow, RunStats, StepRow, Use
from planner.inspect.diff import Outcome, SetDiff, arguments_of
from tui.tables.run_diff import Comparison, DiffRow, format_run_duration
from tui.text.format import Colours, preview_as_prose, single_line
from tui.text.output import escape_controls
from tui.text.render import content_text

if TYPE_CHECKING:
    from planner.inspect.diff_side import Item

MOST_ITEMS = 2_000
"""Items of a side that are told."""
MOST_LINES = 2_000
"""Lines of a content that are told; of longer ones, so many of what is different."""
MAX_COMPARED_CHARACTERS = 200_000
"""Characters of a content that is compared line by line."""

Line = tuple[Text, Use | None]
"""A line, and what it leads to; version 0 is the one that is current."""


def render_pair(comparison: Comparison, pair: DiffRow, colours: Colours) -> tuple[list[Line], list[Line]]:
    """Tell a row on both sides. For a thread: what is long is compared."""
    if pair.key == "runs":
        first, second = comparison.runs
        sides = [list(_run(run, tally)) for run, tally in zip((first, second), comparison.run_stats, strict=True)]
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


def _run(run: RunRow, tally: RunStats | None) -> Iterator[str]:
    yield f"status: {run.status}"
    if run.reason:
        yield f"reason: {single_line(run.reason)}"
    yield f"goal: {single_line(run.goal) or 'none'}"
    yield f"took: {format_run_duration(run) or 'not ended'}"
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
        [(Text(text, "" if text in second else colours.get("error", "bold")), None) for text in before],
        [(Text(text, "" if text in first else colours.get("success", "bold")), None) for text in after],
    )


def _steps(comparison: Comparison, pair: DiffRow, colours: Colours) -> tuple[list[Line], list[Line]]:
    """Tell how a step ended on both sides, and the arguments that differ."""
    sides: list[list[str]] = []
    for row, other in ((pair.before, pair.after), (pair.after, pair.before)):
        sides.append(["this run has no such step"] if row is None else list(_step(row, other)))
    raw = [
        None if row is None else arguments_of(run, row)
        for run, row in zip(comparison.runs, (pair.before, pair.after), strict=True)
    ]
    for name in dict.fromkeys([*(raw[0] or {}), *(raw[1] or {})]):
        values = [None if one is None or name not in one else _json(one[name]) for one in raw]
        if values[0] != values[1] or pair.before is None or pair.after is None:
            for side, value in zip(sides, values, strict=True):
                side.extend([f"{name}: {value}"] if value is not None else [])
    return _beside(sides[0], sides[1], colours)


def _step(row: StepRow, other: StepRow | None) -> Iterator[str]:
    if other is None or (row.type, row.out) != (other.type, other.out):
        yield row.type + (f" → ${row.out}" if row.out else "")
    if other is None or row.reason or row.status != other.status:
        yield row.status + (f": {single_line(row.reason)}" if row.reason else "")
    theirs = set() if other is None else {(use.id, use.version) for use in other.uses}
    for use in row.uses[:20] if other is not None else ():
        if (use.id, use.version) not in theirs:
            yield f"read {use.id} version {use.version}"


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _outcome(outcome: Outcome, colours: Colours) -> tuple[list[Line], list[Line]]:
    if isinstance(outcome, SetDiff):
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
    results: list[Line] = [(Text(f"{len(items):,} {word}", "underline"), None)]
    results += [
        (Text.assemble((f"{mark} {item.id}  ", colour), preview_as_prose(item.title)), _leads(item))
        for item in items[:MOST_ITEMS]
    ]
    if len(items) > MOST_ITEMS:
        results.append((Text(f"… and {len(items) - MOST_ITEMS:,} more", "dim"), None))
    return results


def _leads(item: Item) -> Use | None:
    return Use(item.id, 0) if is_id(item.id) else None


def _text(value: Any) -> str:
    return "" if value is None else content_text(value)


def _lines(before: str, after: str, colours: Colours) -> tuple[list[Line], list[Line]]:
    """Tell two texts line by line, beside each other; what is different is coloured."""
    first, second = before[:MAX_COMPARED_CHARACTERS].splitlines(), after[:MAX_COMPARED_CHARACTERS].splitlines()
    red, green = colours.get("error", "bold"), colours.get("success", "bold")
    one: list[Line] = []
    other: list[Line] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, first, second, autojunk=True).get_opcodes():
        style = ("dim", "dim") if tag == "equal" else (red, green)
        for left, right in zip_longest(first[i1:i2], second[j1:j2], fillvalue=""):
            one.append((Text(_shown(left), style[0]), None))
            other.append((Text(_shown(right), style[1]), None))
    for side, whole in ((one, before), (other, after)):
        if len(side) > MOST_LINES or len(whole) > MAX_COMPARED_CHARACTERS:
            del side[MOST_LINES:]
            side.append((Text(f"… the rest of {len(whole):,} characters is not shown here", "italic"), None))
    return one, other


def _shown(text: str) -> str:
    return escape_controls(text.expandtabs(4))
