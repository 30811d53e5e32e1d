"""The functions of expressions: what each takes and gives, and how it is done.

Null gives null, and a type that does not fit has no result, but for the functions that are evaluated by
themselves (`coalesce`, `concat_ws`, `complete`, `today`, `now`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import cache, lru_cache
from typing import Any, Final

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.core.regex import compile_pattern
from infospace.core.resources import text_of
from infospace.data.json_text import dump, same
from infospace.data.paths import kind_of
from infospace.expressions import dates
from infospace.expressions.compare import kind_word
from infospace.expressions.mismatch import OperandError

MAX_BITS: Final = 1024
"""Bits of a whole number, which is as large as a double may be."""
MAX_TEXT: Final = 10_000_000
"""Characters that one function may make."""


@dataclass(frozen=True, slots=True)
class Function:
    """One function: the kinds of its arguments, of which `least` are needed, and the JSON type that it gives.

    With `more`, any number of arguments of the last kind may follow. `apply` takes values that fit, never null; it is
    None where the evaluator does it. An argument's kind is one of `KINDS`.
    """

    takes: tuple[str, ...]
    gives: str
    apply: Callable[..., JSON] | None
    least: int = -1
    more: bool = False

    @property
    def needed(self) -> int:
        """How many arguments it needs."""
        return len(self.takes) if self.least < 0 else self.least

    def written(self, name: str) -> str:
        """Write a call as an example: `substr(text, start, length)`."""
        words = [word.split(":")[0] for word in self.takes]
        return f"{name}({', '.join([*words, '…'] if self.more else words)})"

    def accepts(self, place: int) -> str:
        """Return the kind of the argument at a place."""
        return self.takes[min(place, len(self.takes) - 1)].split(":")[-1]


KINDS: Final[Mapping[str, frozenset[str]]] = {
    "text": frozenset({"string"}),
    "date": frozenset({"string"}),
    "number": frozenset({"number"}),
    "whole": frozenset({"number"}),
    "list": frozenset({"list"}),
    "text or list": frozenset({"string", "list"}),
    "number or text": frozenset({"number", "string"}),
    "any": frozenset({"null", "boolean", "number", "string", "list", "object"}),
}


def whole(value: int | float) -> int:
    """Return a number as a whole number; raises OperandError where it is none."""
    if isinstance(value, float):
        if not value.is_integer():
            raise OperandError("takes a whole number")
        return int(value)
    return value


def checked(value: int | float) -> int | float:
    """Return a number that was computed; raises OperandError for one beyond what a number holds."""
    if isinstance(value, float):
        if math.isfinite(value):
            return value
    elif value.bit_length() <= MAX_BITS:
        return value
    raise OperandError("is beyond what a number holds")


def _rounded(value: float, digits: int = 0) -> int | float:
    if abs(digits) > 400:
        raise OperandError("takes at most 400 digits")
    if isinstance(value, int):
        if digits >= 0:
            return value
    elif 0 <= digits < len(_SHORT) and abs(value) < _SHORT[digits]:
        # Python's rounding is exact for the number as it is held, which lies on the same side of the middle between
        # two results as the number that is written, unless that is the middle itself or nearly so.
        near = round(value, digits)
        if abs(value - near) < 0.49 * 10.0**-digits:
            return near + 0.0
    rounded = _decimal(value).quantize(_place(digits), context=_HALF_UP)
    # A negative number that is rounded to zero is 0, not -0.0; one that is rounded up may be beyond a double.
    return checked(float(rounded) + 0.0 if isinstance(value, float) else int(rounded))


_SHORT: Final = tuple(10.0 ** (12 - digits) for digits in range(7))
"""By digits behind the point, below which size the distance from a result is exact to a thousandth of its place."""

_HALF_UP: Final = Context(prec=1200, rounding=ROUND_HALF_UP)
"""Digits enough for any double with 400 behind the point; to make one takes longer than to round."""


@cache
def _place(digits: int) -> Decimal:
    return Decimal(1).scaleb(-digits)


def _decimal(value: float) -> Decimal:
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def round_number(value: float, *digits: int) -> int | float:
    """Round half away from zero, by the digits that a number is written with; without digits to a whole number."""
    return _rounded(value, digits[0]) if digits else int(_rounded(value))


def power(base: float, exponent: float) -> int | float:
    """Raise to a power; whole numbers stay whole where the exponent is whole and not negative."""
    if isinstance(base, int) and isinstance(exponent, int) and exponent >= 0:
        if abs(base) > 1 and (base.bit_length() - 1) * exponent > MAX_BITS:
            raise OperandError("is beyond what a number holds")
        return checked(base**exponent)
    try:
        value = float(base) ** float(exponent)
    except ZeroDivisionError as error:
        raise OperandError("divides by zero") from error
    except OverflowError as error:
        raise OperandError("is beyond what a number holds") from error
    if isinstance(value, complex):
        raise OperandError("is not a real number")
    return checked(value)


def sqrt(value: float) -> float:
    """Return the square root; raises OperandError for a negative number."""
    if value < 0:
        raise OperandError("takes a number that is not negative")
    try:
        return math.sqrt(value)
    except OverflowError as error:
        raise OperandError("is beyond what a number holds") from error


def substr(text: str, start: int, *length: int) -> str:
    """Return the characters from a place, which is 1 at the beginning, as SQL has it."""
    if length and length[0] < 0:
        raise OperandError("takes a length that is not negative")
    end = start - 1 + length[0] if length else len(text)
    return text[max(0, start - 1) : max(0, end)]


def replace(text: str, old: str, new: str) -> str:
    """Replace every occurrence; of nothing, nothing is replaced."""
    if not old:
        return text
    _bound(len(text) + text.count(old) * max(0, len(new) - len(old)))
    return text.replace(old, new)


def initcap(text: str) -> str:
    """Write each word with one capital letter, its first."""
    return _WORD.sub(lambda found: found[0][:1].title() + found[0][1:].lower(), text)


_WORD: Final = re.compile(r"[^\W_]+")


def split(text: str, separator: str) -> JSON:
    """Cut a text at each separator; where that is empty, nothing is cut."""
    return list(text.split(separator)) if separator else [text]


def contains(held: JSON, value: JSON) -> bool:
    """Say whether a text has a part, or a list an equal element."""
    if isinstance(held, str):
        if not isinstance(value, str):
            raise OperandError("looks for text in a text")
        return value in held
    kind = kind_of(value)
    assert isinstance(held, (list, tuple))  # noqa: S101 - its kind is looked at before
    return any(kind_of(item) == kind and same(value, item) for item in held)


def formatted(value: float, digits: int) -> str:
    """Write a number with commas between thousands and so many digits behind the point."""
    if not 0 <= digits <= 400:
        raise OperandError("takes 0 to 400 digits")
    rounded = _decimal(value).quantize(_place(digits), context=_HALF_UP)
    return f"{abs(rounded) if rounded == 0 else rounded:,f}"


@lru_cache(maxsize=256)
def _pattern(pattern: str) -> Any:
    try:
        return compile_pattern(pattern)
    except Invalid as error:
        raise OperandError(f"takes a pattern of RE2: {error.message}") from error


def matches(text: str, pattern: str) -> bool:
    """Say whether a pattern is found anywhere in a text."""
    return _pattern(pattern).search(text) is not None


def regexp_extract(text: str, pattern: str, *group: int) -> JSON:
    """Return what a pattern, or a group of it, finds first; null where it finds nothing."""
    compiled, number = _pattern(pattern), group[0] if group else 0
    if not 0 <= number <= compiled.groups:
        raise OperandError(f"takes a group from 0 to {compiled.groups}")
    value = compiled.search(text)
    extracted: str | None = None if value is None else value.group(number)
    return extracted


def regexp_replace(text: str, pattern: str, new: str, flags: str = "") -> str:
    r"""Replace what a pattern finds first, with the flag `g` all of it; `\1` is what its first group found."""
    if flags not in ("", "g"):
        raise OperandError("takes the flag 'g' alone, which replaces all")
    compiled = _pattern(pattern)
    groups, refers = compiled.groups, "\\" in new
    parts: list[str] = []
    end = size = 0
    for value in compiled.finditer(text):
        first, last = value.span()
        if parts and first == last == end:
            continue  # as RE2 replaces: nothing is found at the end of what was found before
        raw = _filled(new, value, groups) if refers else new
        parts += [text[end:first], raw]
        size += len(raw)
        _bound(size)
        end = last
        if not flags:
            break
    return "".join([*parts, text[end:]])


def _filled(new: str, value: Any, groups: int) -> str:
    return _BACK.sub(lambda back: _group(value, back[1], groups), new)


_BACK: Final = re.compile(r"\\([0-9\\])")


def _group(value: Any, digit: str, groups: int) -> str:
    if digit == "\\":
        return "\\"
    if int(digit) > groups:
        raise OperandError(f"has no group {digit}: the pattern has {groups}")
    return value.group(int(digit)) or ""


def _bound(characters: int) -> None:
    if characters > MAX_TEXT:
        raise OperandError(f"makes a text of more than {MAX_TEXT:,} characters")


def least(*values: Any) -> Any:
    """Return the smallest of numbers, or of texts."""
    return min(_alike(values))


def greatest(*values: Any) -> Any:
    """Return the largest of numbers, or of texts."""
    return max(_alike(values))


def _alike(values: Sequence[Any]) -> Sequence[Any]:
    if len({kind_of(value) for value in values}) > 1:
        raise OperandError("takes numbers, or texts, and not both")
    return values


def _absolute(value: float) -> float:
    return abs(value)


def joined(separator: str, values: Sequence[JSON]) -> str:
    """Join texts, numbers and booleans, and those of lists, without nulls. Raises OperandError for anything else."""
    parts: list[str] = []
    for value in values:
        if isinstance(value, (list, tuple)):
            parts.extend(written(item) for item in value if item is not None)
        elif value is not None:
            parts.append(written(value))
    _bound(sum(map(len, parts)) + len(separator) * len(parts))
    return separator.join(parts)


def written(value: JSON) -> str:
    """Return a text as it is, a number or a boolean as JSON writes it; raises OperandError for anything else."""
    kind = type(value)
    if kind is str:
        return value  # type: ignore[return-value]  # its type is looked at
    if kind is float:
        return repr(value)
    if kind_of(value) not in ("string", "number", "boolean"):
        raise OperandError("joins texts, numbers and booleans")
    return text_of(value)


def concatenated(one: JSON, other: JSON) -> str:
    """Write two texts, numbers or booleans one after the other; raises OperandError for anything else."""
    first, second = written(one), written(other)
    _bound(len(first) + len(second))
    return first + second


_NUMERIC: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_LONGEST_NUMBER: Final = 400
_TRUTHS: Final = {"true": True, "false": False}
_NO: Final = {"number": "number", "integer": "whole number", "boolean": "boolean"}


def _to_text(value: JSON) -> JSON:
    return text_of(value) if isinstance(value, (str, bool, int, float)) else dump(value)


def _to_number(value: JSON) -> JSON:
    return _number(value, "number")


def _number(value: JSON, to: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise OperandError(f"cannot cast {kind_word(value)} to {to}")
    return value if not isinstance(value, str) else _parsed(value, to)


def _parsed(text: str, to: str) -> int | float:
    raw = text.strip()
    if not _NUMERIC.fullmatch(raw) or len(raw) > _LONGEST_NUMBER:
        raise OperandError(f"cannot cast a text that is not a {_NO[to]}")
    if set(raw) & set(".eE"):
        result = float(raw)
        if not math.isfinite(result):
            raise OperandError("is beyond what a number holds")
        return result
    return checked(int(raw))


def _to_integer(value: JSON) -> JSON:
    return _whole(value, "integer")


def _whole(value: JSON, to: str) -> int:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str) and value.strip().lower() in _TRUTHS:
        return int(_TRUTHS[value.strip().lower()])
    number = _number(value, to)
    if isinstance(number, float) and not number.is_integer():
        raise OperandError(f"cannot cast a number with a fraction to {to}")
    return int(number)


def _to_boolean(value: JSON) -> JSON:
    return _whole(value, "boolean") != 0


CASTS: Final[dict[str, Callable[[JSON], JSON]]] = {
    "text": _to_text,
    "number": _to_number,
    "integer": _to_integer,
    "boolean": _to_boolean,
}
"""What CAST makes of values, one function for each type; each raises OperandError for what cannot be cast."""


FUNCTIONS: Final[Mapping[str, Function]] = {
    "coalesce": Function(("value:any",), "any", None, more=True),
    "least": Function(("number or text",), "number or text", least, more=True),
    "greatest": Function(("number or text",), "number or text", greatest, more=True),
    "abs": Function(("number",), "number", _absolute),
    "round": Function(("number", "digits:whole"), "number", round_number, 1),
    "floor": Function(("number",), "integer", math.floor),
    "ceil": Function(("number",), "integer", math.ceil),
    "power": Function(("base:number", "exponent:number"), "number", power),
    "sqrt": Function(("number",), "number", sqrt),
    "lower": Function(("text",), "string", str.lower),
    "upper": Function(("text",), "string", str.upper),
    "trim": Function(("text",), "string", str.strip),
    "length": Function(("text or list",), "integer", len),
    "substr": Function(("text", "start:whole", "length:whole"), "string", substr, 2),
    "replace": Function(("text", "old:text", "new:text"), "string", replace),
    "initcap": Function(("text",), "string", initcap),
    "split": Function(("text", "separator:text"), "list of string", split),
    "concat_ws": Function(("separator:text", "value:any"), "string", None, more=True),
    "starts_with": Function(("text", "beginning:text"), "boolean", str.startswith),
    "contains": Function(("text or list", "value:any"), "boolean", contains),
    "format": Function(("number", "digits:whole"), "string", formatted),
    "matches": Function(("text", "pattern:text"), "boolean", matches),
    "regexp_extract": Function(("text", "pattern:text", "group:whole"), "string or null", regexp_extract, 2),
    "regexp_replace": Function(("text", "pattern:text", "new:text", "flags:text"), "string", regexp_replace, 3),
    "today": Function((), "string", None),
    "now": Function((), "string", None),
    "date_add": Function(("date", "days:whole"), "string", dates.date_add),
    "days": Function(("from:date", "to:date"), "integer", dates.days),
    "strftime": Function(("date", "pattern:text"), "string", dates.strftime),
    "year": Function(("date",), "integer", dates.year),
    "month": Function(("date",), "integer", dates.month),
    "day": Function(("date",), "integer", dates.day),
    "weekday": Function(("date",), "integer", dates.weekday),
    "complete": Function(("*:any",), "boolean", None, more=True),
    "has": Function(("list", "value:any"), "boolean", contains),
}
"""Every function by its name; `has` is what `contains` was called for lists."""

NEVER_NULL: Final = frozenset({"concat_ws", "today", "now", "complete"})
"""Functions that give null for nothing, but for `concat_ws` with a separator that is null."""

AGGREGATES: Final[Mapping[str, tuple[int, int, str]]] = {
    "count": (0, 1, "count(e)"),
    "count_distinct": (1, 1, "count_distinct(e)"),
    "sum": (1, 1, "sum(e)"),
    "avg": (1, 1, "avg(e)"),
    "median": (1, 1, "median(e)"),
    "quantile": (2, 2, "quantile(e, q)"),
    "min": (1, 1, "min(e)"),
    "max": (1, 1, "max(e)"),
    "first": (1, 1, "first(e)"),
    "last": (1, 1, "last(e)"),
    "bool_or": (1, 1, "bool_or(e)"),
    "bool_and": (1, 1, "bool_and(e)"),
    "list": (1, 1, "list(e)"),
}
"""Every aggregate: how many arguments it takes at least and at most, and how it is written."""

SYNONYMS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("average", "mean"), "avg"),
    **dict.fromkeys(("array_agg", "collect"), "list"),
    **dict.fromkeys(("nunique",), "count_distinct"),
    **dict.fromkeys(("len", "char_length", "character_length", "array_length", "strlen"), "length"),
    **dict.fromkeys(("lcase", "lowercase", "tolower"), "lower"),
    **dict.fromkeys(("ucase", "uppercase", "toupper"), "upper"),
    **dict.fromkeys(("ifnull", "nvl"), "coalesce"),
    **dict.fromkeys(("substring",), "substr"),
    **dict.fromkeys(("ceiling",), "ceil"),
    **dict.fromkeys(("pow",), "power"),
    **dict.fromkeys(("startswith", "prefix"), "starts_with"),
    **dict.fromkeys(("strip", "btrim"), "trim"),
    **dict.fromkeys(("regexp_matches", "regexp_like"), "matches"),
    **dict.fromkeys(("every",), "bool_and"),
    "any_value": "first",
    "has": "contains",
}
"""Functions that other dialects call otherwise, and that are just the same."""

_PARTS: Final = "year(d), month(d), day(d) and weekday(d) are parts of a date, strftime(d, '%H:%M') any other"
INSTEAD: Final[Mapping[str, str]] = {
    **dict.fromkeys(("group_concat", "string_agg", "listagg"), "concat_ws(', ', list(x)) joins texts of many"),
    **dict.fromkeys(("extract", "date_part", "datepart"), _PARTS),
    **dict.fromkeys(("datediff", "date_diff", "julianday"), "days(a, b) counts the days from a to b"),
    **dict.fromkeys(("dateadd", "date_sub"), "date_add(d, n) is n days later, or earlier for a negative n"),
    **dict.fromkeys(("to_char", "date_format", "format_date", "date_trunc"), "strftime(d, '%Y-%m') writes a date"),
    **dict.fromkeys(("json_extract", "json_value"), "a place inside of a value is a path: metadata.score, tags[0]"),
    **dict.fromkeys(("iif", "if"), "CASE WHEN … THEN … ELSE … END"),
    "concat": "texts are joined by ||, or by concat_ws('', a, b)",
    "total": "sum(x) adds up",
    **dict.fromkeys(("size", "count_items"), "length(x) counts the elements of a list"),
    **dict.fromkeys(("exists", "defined"), 'x IS NOT NULL; of a variable {"type": "bound", "target": "$x"}'),
    **dict.fromkeys(("isnull", "is_null", "empty", "is_empty", "isempty"), "x IS NULL, or x = ''"),
    **dict.fromkeys(("int", "integer", "to_int", "toint", "parseint"), "CAST(x AS integer)"),
    **dict.fromkeys(("float", "number", "to_number", "tonumber", "parsefloat"), "CAST(x AS number)"),
    **dict.fromkeys(("str", "string", "text", "to_string", "tostring"), "CAST(x AS text)"),
    **dict.fromkeys(("date", "to_date", "date_parse"), "dates are ISO texts: substr(x, 1, 10) is the day of a moment"),
    **dict.fromkeys(("read_csv", "read_json", "read_parquet"), "a table of a file is an input: --input rows=@data.csv"),
}
"""What is written instead of functions of other dialects that are none here."""
