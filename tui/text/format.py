"""How numbers, times and states are told on the screen."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from rich.text import Text

from infospace.core.json_types import JSON
from infospace.core.plural import pluralize
from infospace.journal.schedule_rows import Schedule

MARKS = {"success": ("✓", "green"), "failed": ("✗", "red"), "skipped": ("·", "yellow"), "suspended": ("…", "yellow")}
"""The sign and the terminal's colour of each state of a step."""

SIGNS: Mapping[str, tuple[str, str]] = {
    "success": ("✓", "success"),
    "stopped": ("■", "success"),
    "failed": ("✗", "error"),
    "refused": ("⊘", "error"),
    "cancelled": ("×", "warning"),
    "skipped": ("·", "warning"),
    "suspended": ("…", "warning"),
    "running": ("▶", "accent"),
    "left": ("!", "warning"),
    "started": ("▶", "accent"),
    "": ("○", ""),
}
"""A sign for each state of a run or a step, and the name of its colour. `left`: running, and its owner is gone."""

Colours = Mapping[str, str]
"""Colours of the theme by name."""


def sign(state: str, colours: Colours) -> Text:
    """Return the sign of a state in its colour."""
    mark, colour = SIGNS.get(state, ("?", "error"))
    return Text.assemble((mark, colours.get(colour, "dim")))


def format_duration(milliseconds: float) -> str:
    """Return a duration: `<0.1 ms`, `0.4 ms`, `340 ms`, `3.4 s`, `2:05 min`, `1:02:05 h`."""
    if milliseconds < 0.05:
        return "<0.1 ms"
    if milliseconds < 10:
        return f"{milliseconds:.1f} ms"
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02d} min"
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d} h"


def count(number: float) -> str:
    """Return a number of things in at most seven characters: `12,345`, `1.2 M`."""
    return f"{number:,.0f}" if number < 1_000_000 else f"{number / 1e6:,.1f} M"


def format_bytes(size: int) -> str:
    """Return so many bytes: `12 kB`, `3.4 MB`."""
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size / 1e3:,.0f} kB"


def between(begin: str, end: str | None) -> float:
    """Return the milliseconds between two times, or from one to now."""
    last = datetime.now(UTC) if end is None else datetime.fromisoformat(end)
    return max(0.0, (last - datetime.fromisoformat(begin)).total_seconds() * 1000)


def format_time(at: str) -> str:
    """Return a time as the people here read it: `04-01 09:30:00`."""
    return datetime.fromisoformat(at).astimezone().strftime("%m-%d %H:%M:%S")


def format_time_in(zone: str, at: str) -> str:
    """Return a time as a clock in a time zone shows it: `Thu 2026-11-26 03:10 CET`."""
    from zoneinfo import ZoneInfo

    return datetime.fromisoformat(at).astimezone(ZoneInfo(zone)).strftime("%a %Y-%m-%d %H:%M %Z")


def next_scheduled(schedules: Sequence[Schedule]) -> str:
    """Return which schedule is due next, and when, as `next digest, Thu 2026-11-26 03:10 CET`; "" where there is none.

    Where all of them are paused, it says so.
    """
    due = [(schedule.due, schedule) for schedule in schedules if schedule.due is not None]
    if not due:
        return f"{pluralize(len(schedules), 'schedule')} paused" if schedules else ""
    moment, first = min(due, key=lambda one: one[0])
    return f"next {single_line(first.name)}, {format_time_in(first.zone, moment)}"


def json_as_prose(value: JSON, *, inside: bool = False) -> str:
    """Return JSON on a line for whoever does not know JSON: `name: Ada, born: 1815, tags: (a, b)`."""
    match value:
        case str():
            return single_line(value) or "(empty)"
        case dict() | list() if not value:
            return "none"
        case dict():
            text = ", ".join(f"{single_line(key)}: {json_as_prose(one, inside=True)}" for key, one in value.items())
        case list():
            text = ", ".join(json_as_prose(one, inside=True) for one in value)
        case _:
            return json.dumps(value)
    return f"({text})" if inside else text


def preview_as_prose(text: str) -> str:
    """Return how a Note begins on a line; where that is JSON, perhaps not all of it, in words."""
    if text[:1] in ("{", "["):
        from pydantic_core import from_json

        with suppress(ValueError):
            return json_as_prose(from_json(text, allow_partial=True))
    return single_line(text)


def question_line(question: str) -> str:
    """Return what a run asks on a line; the arguments of a call in words."""
    from infospace.tools.approvals import ARGUMENTS_SEPARATOR, parse_question

    parsed = parse_question(question)
    return (
        single_line(question)
        if parsed is None
        else f"{single_line(parsed[0]).removesuffix('?')}{ARGUMENTS_SEPARATOR}{json_as_prose(dict(parsed[1]))}?"
    )


def single_line(text: str) -> str:
    """Return a text on one line, without what could command a terminal."""
    from tui.text.output import escape_controls

    return escape_controls(" ".join(text[:2000].split()))
