"""Dates and times as ISO 8601 texts: read, moved, taken apart and written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from infospace.expressions.mismatch import OperandError

_ISO: Final = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[T ](?P<time>[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.(?P<fraction>[0-9]{1,9}))?)?)"
    r"(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DIRECTIVE: Final = re.compile(r"%(-?)(.)", re.DOTALL)


@lru_cache(maxsize=4096)
def parse_date(text: str) -> datetime:
    """Read an ISO date, or date and time; raises OperandError. A zone is kept; of seconds, six digits are."""
    match = _ISO.fullmatch(text.strip())
    if match is None:
        raise OperandError("is not a date such as 2026-04-01 or 2026-04-01T09:30:00Z")
    value = match["date"]
    if match["time"]:
        clock, _, fraction = match["time"].partition(".")
        zone = (match["zone"] or "").replace("Z", "+00:00")
        value += f"T{clock}" + (f".{fraction[:6]:0<6}" if fraction else "") + zone
    try:
        return datetime.fromisoformat(value)
    except ValueError as error:
        raise OperandError("is not a day of the calendar, or no time of a day") from error


def date_add(text: str, days: int) -> str:
    """Return the date, or the time, so many days later, written as it was."""
    result = parse_date(text)
    try:
        moved = (result.date() + timedelta(days)).isoformat()
    except OverflowError as error:
        raise OperandError("leaves the years 1 to 9999") from error
    return moved + text.strip()[10:]


def days(start: str, end: str) -> int:
    """Return how many days the date of `end` is after that of `start`."""
    return (parse_date(end).date() - parse_date(start).date()).days


def year(text: str) -> int:
    """Return the year of a date or a point in time."""
    return parse_date(text).year


def month(text: str) -> int:
    """Return the month, 1 to 12."""
    return parse_date(text).month


def day(text: str) -> int:
    """Return the day of the month, 1 to 31."""
    return parse_date(text).day


def weekday(text: str) -> int:
    """Return the day of the week, 1 (Monday) to 7."""
    return parse_date(text).isoweekday()


def strftime(text: str, form: str) -> str:
    """Write a date by a pattern, with English names whatever the machine's language; raises OperandError."""
    moment = parse_date(text)
    return _DIRECTIVE.sub(lambda found: _written(moment, found[2], padded=not found[1]), form)


def _written(moment: datetime, letter: str, *, padded: bool) -> str:
    number = _NUMBERS.get(letter)
    if number is not None:
        of, width = number
        return str(of(moment)).rjust(width if padded else 0, "0")
    match letter:
        case "%":
            return "%"
        case "A":
            return DAYS[moment.weekday()]
        case "a":
            return DAYS[moment.weekday()][:3]
        case "B":
            return MONTHS[moment.month - 1]
        case "b":
            return MONTHS[moment.month - 1][:3]
        case "p":
            return "AM" if moment.hour < 12 else "PM"
        case "F":
            return moment.date().isoformat()
        case "T":
            return moment.strftime("%H:%M:%S")
    there = " ".join(f"%{one}" for one in (*_NUMBERS, *"AaBbpFT"))
    raise OperandError(f"has no pattern %{letter} for dates: there are {there}")


_NUMBERS: Final[Mapping[str, tuple[Callable[[datetime], int], int]]] = {
    "Y": (lambda moment: moment.year, 4),
    "m": (lambda moment: moment.month, 2),
    "d": (lambda moment: moment.day, 2),
    "y": (lambda moment: moment.year % 100, 2),
    "H": (lambda moment: moment.hour, 2),
    "I": (lambda moment: moment.hour % 12 or 12, 2),
    "M": (lambda moment: moment.minute, 2),
    "S": (lambda moment: moment.second, 2),
    "f": (lambda moment: moment.microsecond, 6),
    "j": (lambda moment: moment.timetuple().tm_yday, 3),
    "u": (lambda moment: moment.isoweekday(), 1),
    "V": (lambda moment: moment.isocalendar().week, 2),
    "G": (lambda moment: moment.isocalendar().year, 4),
}
