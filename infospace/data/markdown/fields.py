"""Inline fields, and what tasks say of time and priority: in brackets, or by the signs of the Tasks plugin.

`key:: value` alone on a line, `[key:: value]` and `(key:: value)` anywhere; what is code, raw HTML or a comment has
been masked before.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from infospace.core.json_types import JSON

_KEY = r"[^\W_](?:[\w /.&'-]{0,58}[\w.&'])?"
_BRACKETS = re.compile(rf"\[(?P<key>{_KEY})::[ \t]*(?P<value>(?:\[\[[^\[\]\n]*\]\]|[^\[\]\n])*)\]")
_PARENTHESES = re.compile(rf"\((?P<key>{_KEY})::[ \t]*(?P<value>(?:\([^()\n]*\)|[^()\n])*)\)")
_LINE = re.compile(rf"^[ \t]*[*_]{{0,3}}(?P<key>{_KEY})[*_]{{0,3}}::(?:[ \t]+(?P<value>[^\n]*))?$", re.MULTILINE)

_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_REAL = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,17}")
_LINKS = re.compile(r"\[\[[^\[\]]+\]\](?:\s*,\s*\[\[[^\[\]]+\]\])+")
_LINK = re.compile(r"\[\[[^\[\]]+\]\]")

_DATE = r"\ufe0f?[ \t]*(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})"
_DATED: Final[Mapping[str, str]] = {
    "📅": "due",
    "📆": "due",
    "🗓": "due",
    "⏳": "scheduled",
    "⌛": "scheduled",
    "✅": "completed",
    "🛫": "start",
    "➕": "created",
    "❌": "cancelled",
}
_SIGNED_DATE = re.compile(rf"(?P<sign>[{''.join(_DATED)}]){_DATE}")
_PRIORITIES: Final[Mapping[str, str]] = {"🔺": "highest", "⏫": "high", "🔼": "medium", "🔽": "low", "⏬": "lowest"}
_SIGNED_PRIORITY = re.compile(rf"[{''.join(_PRIORITIES)}]\ufe0f?")
_REPEATED = re.compile(rf"🔁\ufe0f?[ \t]*(?P<rule>[^\n{''.join(_DATED)}{''.join(_PRIORITIES)}#\[\]()]+)")
_KNOWN: Final[Mapping[str, str]] = {
    "due": "due",
    "scheduled": "scheduled",
    "completion": "completed",
    "completed": "completed",
    "done": "completed",
    "priority": "priority",
}
_ISO = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)


@dataclass(frozen=True, slots=True)
class InlineField:
    """A field with its place: offsets of the content of its block, from the key's bracket or line to its end."""

    key: str
    value: str
    start: int
    end: int
    of_line: bool


@dataclass(slots=True)
class Timing:
    """What a task says of time and priority, the fields that it has besides, and its text without the first."""

    text: str
    due: str | None = None
    scheduled: str | None = None
    completed: str | None = None
    priority: str | None = None
    fields: dict[str, JSON] = field(default_factory=dict)


def fields_in(content: str, masked: str) -> list[InlineField]:
    """Return the fields of a block's content in their order; `masked` is as long, and has nothing hidden in it."""
    if "::" not in masked:
        return []
    bracketed = list(_BRACKETS.finditer(masked))
    taken = _Spans(match.span() for match in bracketed)
    bracketed += [match for match in _PARENTHESES.finditer(masked) if not taken.meet(*match.span())]
    taken = _Spans(match.span() for match in bracketed)
    lines = [match for match in _LINE.finditer(masked) if not taken.meet(match.start("key"), match.start("key") + 1)]
    fields = [_field(match, content, of_line=False) for match in bracketed]
    fields += [_field(match, content, of_line=True) for match in lines]
    return sorted(fields, key=lambda one: one.start)


def _field(match: re.Match[str], content: str, *, of_line: bool) -> InlineField:
    start, end = match.span("value")
    value = "" if start < 0 else content[start:end].strip()
    return InlineField(match["key"], value, match.start(), match.end(), of_line)


class _Spans:
    """Spans that do not overlap, sorted, so that an overlap is found by bisection."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        ordered = sorted(spans)
        self._starts = [start for start, _ in ordered]
        self._ends = [end for _, end in ordered]

    def meet(self, start: int, end: int) -> bool:
        """Whether one of them shares a character with what stands from `start` to before `end`."""
        before = bisect_left(self._starts, end)
        return before > 0 and self._ends[before - 1] > start


def collect(fields: Iterator[InlineField]) -> dict[str, JSON]:
    """Return fields by key; a key that comes several times has the list of its values."""
    results: dict[str, list[JSON]] = {}
    for one in fields:
        results.setdefault(one.key, []).append(value_of(one.value))
    return {key: values[0] if len(values) == 1 else values for key, values in results.items()}


def value_of(text: str) -> JSON:
    """Return what a value means: a number, true or false, a list of links, null where it is empty; else the text."""
    if not text:
        return None
    if text in ("true", "false"):
        return text == "true"
    if _WHOLE.fullmatch(text):
        return int(text)
    if _REAL.fullmatch(text):
        return float(text)
    return list(_LINK.findall(text)) if _LINKS.fullmatch(text) else text


def read_task(content: str, masked: str) -> Timing:
    """Take the dates, the priority and the other fields out of an item's content.

    A field in brackets wins over signs that stand in it, as with Dataview: they are a part of its value.
    """
    if masked.isascii() and "::" not in masked:
        return Timing(content.strip())
    fields = fields_in(content, masked)
    timing = Timing(content, fields=collect(iter(fields)))
    bracketed = [one for one in fields if not one.of_line]
    cut_spans: list[tuple[int, int]] = []
    for one in bracketed:
        known = _KNOWN.get(one.key.lower())
        value = one.value.removeprefix("[[").removesuffix("]]").strip()
        if known is not None and _set_timing(timing, known, value.lower() if known == "priority" else value):
            cut_spans.append((one.start, one.end))
    taken = _Spans((one.start, one.end) for one in bracketed)

    def signs(pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        return (match for match in pattern.finditer(masked) if not taken.meet(*match.span()))

    dates = signs(_SIGNED_DATE)
    cut_spans += (dated.span() for dated in dates if _set_timing(timing, _DATED[dated["sign"]], dated["date"]))
    for mark in signs(_SIGNED_PRIORITY):
        timing.priority = timing.priority or _PRIORITIES[mark[0][0]]
        cut_spans.append(mark.span())
    if repeated := next(signs(_REPEATED), None):
        timing.fields.setdefault("repeat", repeated["rule"].strip())
        cut_spans.append(repeated.span())
    timing.text = _without(content, cut_spans)
    return timing


def _set_timing(timing: Timing, what: str, value: str) -> bool:
    """Keep a date or a priority, the first of its kind; whether it is one."""
    if what == "priority":
        timing.priority = timing.priority or value or None
        return bool(value)
    if not is_date(value):
        return False
    if what in ("due", "scheduled", "completed"):
        setattr(timing, what, getattr(timing, what) or value)
    else:
        timing.fields.setdefault(what, value)
    return True


def is_date(text: str) -> bool:
    """Whether a text is an ISO date, with a time of the day or without."""
    if not _ISO.fullmatch(text):
        return False
    try:
        date.fromisoformat(text[:10])
    except ValueError:
        return False
    return True


def _without(content: str, cut_spans: list[tuple[int, int]]) -> str:
    """Return the text without the spans, which may overlap, and with one blank for each run of them."""
    pieces: list[str] = []
    end = 0
    for start, span_end in sorted(cut_spans):
        if piece := content[end:start].strip(" \t"):
            pieces.append(piece)
        end = max(end, span_end)
    pieces.append(content[end:].strip(" \t"))
    return " ".join(pieces).strip()
