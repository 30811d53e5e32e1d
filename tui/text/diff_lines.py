"""A comparison of two runs for a person: what went in red, what came in green."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import unified_diff
from itertools import islice
from typing import Any

from infospace.core.plural import pluralize
from infospace.journal.rows import RunRow, StepRow
from planner.inspect.diff import Difference, Outcome, SetDiff, StepDifference, duration_ms
from planner.inspect.diff_side import Item
from tui.text.output import Output
from tui.text.render import content_text, snippet

SHOWN = 10
"""Items, or lines of a content, that are shown of each difference."""

_STYLES = {"+": "green", "-": "red", "@": "cyan"}

Line = tuple[str, str | None]


def show_difference(difference: Difference, out: Output) -> None:
    """Print how two runs differ, for a person."""
    *lines, last = difference_lines(difference)
    for line, style in lines:
        out.text(line, style)
    if difference.lost:
        out.talk(f"what was given cannot be compared of {', '.join(difference.lost[:SHOWN])}: it was removed", "yellow")
    out.talk(*last)


def difference_lines(difference: Difference) -> Iterator[Line]:
    """Give a comparison as lines with their styles: who is compared, what differs, and how much is alike."""
    yield f"{difference.before.run} → {difference.after.run}  {_ends(difference.before, difference.after)}", "bold"
    yield from _lines(difference)
    steps = f"{difference.alike:,} step{'' if difference.alike == 1 else 's'} alike"
    plans = "; the plans differ" if difference.replanned else ""
    yield f"{'the same: ' if difference.same else ''}{steps}{plans}", "dim"


def _lines(difference: Difference) -> Iterator[Line]:
    if difference.ended and difference.before.reason != difference.after.reason:
        for mark, reason in (("-", difference.before.reason), ("+", difference.after.reason)):
            if reason:
                yield f"{mark} {reason}", _STYLES[mark]
    for name, outcome in difference.inputs:
        yield f"~ the input ${name}", "yellow"
        yield from _outcome(outcome)
    for step in difference.steps:
        yield from _step(step)
    if difference.result is not None:
        yield "~ the result", "yellow"
        yield from _outcome(difference.result)


def _ends(before: RunRow, after: RunRow) -> str:
    status = before.status if before.status == after.status else f"{before.status} → {after.status}"
    return f"{status}  {_seconds(before)} → {_seconds(after)}"


def _seconds(run: RunRow) -> str:
    took = duration_ms(run)
    return "not ended" if took is None else f"{took / 1000:.2f} s"


def _step(step: StepDifference) -> Iterator[Line]:
    if step.before is None or step.after is None:
        row, mark = (step.after, "+") if step.before is None else (step.before, "-")
        yield f"{mark} {'' if row is None else _named(row)}", _STYLES[mark]
        return
    changes = ", ".join(change for change in step.changes if change != "outcome")
    yield f"~ {_named(step.after)}" + (f"  ({changes})" if changes else ""), "yellow"
    if "type" in step.changes:
        yield f"    was {step.before.type}", None
    if "status" in step.changes or "reason" in step.changes:
        for mark, row in (("-", step.before), ("+", step.after)):
            text = f": {snippet(row.reason)}" if row.reason else ""
            yield f"    {mark} {row.status}{text}", _STYLES[mark]
    if step.outcome is not None:
        yield from _outcome(step.outcome)


def _named(row: StepRow) -> str:
    return f"{row.position} {row.type}" + (f" → ${row.out}" if row.out else "")


def _outcome(outcome: Outcome) -> Iterator[Line]:
    if isinstance(outcome, SetDiff):
        yield from _items("-", outcome.went)
        yield from _items("+", outcome.came)
        if outcome.reordered:
            yield "    what stayed is in another order", None
        return
    if outcome.what == "kind":
        yield f"    gave {_text(outcome.before)}, gives {_text(outcome.after)} now", None
        return
    before, after = (_text(value).splitlines() for value in (outcome.before, outcome.after))
    changed = list(islice(unified_diff(before, after, n=0, lineterm=""), 2, None))
    if len(before) <= 1 and len(after) <= 1:
        changed = [line for line in changed if line[:1] != "@"]
    if outcome.what != "content":
        yield f"    {outcome.what}:", None
    for line in islice(changed, SHOWN):
        yield f"    {snippet(line) if line[:1] == '@' else line[:1] + ' ' + snippet(line[1:])}", _STYLES.get(line[:1])
    if len(changed) > SHOWN:
        yield f"    … and {pluralize(len(changed) - SHOWN, 'more line')}", "dim"


def _items(mark: str, items: Sequence[Item]) -> Iterator[Line]:
    for item in items[:SHOWN]:
        yield f"    {mark} {item.id}  {item.title}".rstrip(), _STYLES[mark]
    if len(items) > SHOWN:
        yield f"    {mark} … and {len(items) - SHOWN:,} more", _STYLES[mark]


def _text(value: Any) -> str:
    return "nothing" if value is None else content_text(value)
