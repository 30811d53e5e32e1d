"""What one query gathers while its SQL is written: typed values, values as parameters, functions, tables, names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Final

from infospace.core.bounds import Stop
from infospace.core.errors import Invalid, PathNotFound
from infospace.core.json_types import JSON
from infospace.data.json_text import dump
from infospace.expressions.mismatch import Clock
from infospace.expressions.query.columns import DIGITS, EXACT, KIND_NAMES, NUMBERS, Rows, Type, any_key

STRUCT: Final = "STRUCT(v STRUCT(k UTINYINT, d DOUBLE, r HUGEINT, s VARCHAR), o VARCHAR)"
"""The engine's type of a value of mixed kinds."""
KINDS: Final[Mapping[Type, int]] = {Type.INT: 0, Type.FLOAT: 0, Type.NUM: 0, Type.TEXT: 1, Type.BOOL: 2, Type.LIST: 3}
WORDS: Final[Mapping[Type, str]] = {
    Type.INT: "numbers",
    Type.FLOAT: "numbers",
    Type.NUM: "numbers",
    Type.TEXT: "text",
    Type.BOOL: "true or false",
    Type.LIST: "lists",
    Type.ANY: "mixed values",
    Type.NULL: "null",
}
"""What a type holds, as words of a sentence."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A value as SQL, and its type.

    `most` bounds a whole number; `element` is the type of a list's elements, `kinds` what a mixed value may be. `whole`
    is SQL that says of a `NUM` whether the language has it as a whole number, which is written without a point: None
    where that is whether it has no fraction, `UNSURE` where it is not known.
    """

    sql: str
    type: Type
    most: int | None = None
    element: Type | None = None
    kinds: frozenset[str] = frozenset(KIND_NAMES)
    whole: str | None = None

    @property
    def is_number(self) -> bool:
        """Whether it is a number of one of the engine's types."""
        return self.type in NUMBERS

    @property
    def is_small(self) -> bool:
        """Whether it is a whole number that a double holds as it is."""
        return self.type is Type.INT and self.most is not None and self.most <= EXACT

    @property
    def tells_whole(self) -> bool:
        """Whether SQL says of a number without a fraction whether it is a whole one of the language."""
        return self.type is Type.NUM and self.whole not in (None, UNSURE)


NULL: Final = Typed("NULL", Type.NULL)
UNSURE: Final = "?"
_FAILING: Final = re.compile(r"\berror\(|\bf[0-9]+\(|::HUGEINT")
_COLUMN: Final = re.compile(r"(?<![$\w])[a-eg-z][0-9]+\b")


def may_fail(sql: str) -> bool:
    """Whether the engine may fail on a row at which it evaluates this: by `error`, a function of ours, or digits."""
    return _FAILING.search(sql) is not None


def is_null(sql: str, *, negated: bool = False) -> str:
    """Write IS NULL, or IS NOT NULL. Of what is never null the engine would leave out also what may fail."""
    if may_fail(sql):
        return f"({sql}) IS {'' if negated else 'NOT '}DISTINCT FROM NULL"
    return f"({sql}) IS {'NOT ' if negated else ''}NULL"


def first_of(values: Sequence[str]) -> str:
    """Return SQL for the first of the values that is not null.

    Where one of the later ones may fail it is CASE: the engine evaluates what stands several times within COALESCE once
    for every row, also where nothing needs it.
    """
    if not any(map(may_fail, values[1:])):
        return f"COALESCE({', '.join(values)})"
    result = "".join(f" WHEN ({value}) IS NOT NULL THEN {value}" for value in values[:-1])
    return f"CASE{result} ELSE {values[-1]} END"


def wholeness(value: Typed) -> str:
    """Return SQL for whether a number is a whole one of the language, or `UNSURE`."""
    if value.type is Type.INT:
        return "TRUE"
    if value.type is Type.FLOAT:
        return "FALSE"
    return value.whole or f"(({value.sql}) = trunc({value.sql}))"


def all_whole(values: Sequence[Typed], *more: str) -> str:
    """Return SQL for whether all of some numbers are whole ones of the language, and more is so; or `UNSURE`."""
    parts = [part for part in dict.fromkeys(map(wholeness, values)) if part != "TRUE"]
    if UNSURE in parts:
        return UNSURE
    return " AND ".join(f"({part})" for part in (*parts, *more)) or "TRUE"


def chosen_whole(values: Sequence[Typed], conditions: Sequence[str]) -> str:
    """Return SQL for whether the number is whole that the first condition that holds chooses, else the last one.

    `UNSURE` where that is not known of one.
    """
    parts = ["FALSE" if value.type is Type.NULL else wholeness(value) for value in values]
    if UNSURE in parts:
        return UNSURE
    chosen = "".join(f" WHEN {when} THEN {part}" for when, part in zip(conditions, parts, strict=False))
    return f"CASE{chosen} ELSE {parts[-1]} END" if chosen else parts[-1]


def first_whole(sql: str, whole: str, order: str) -> str:
    """Return SQL for whether the first of equal numbers that is not null is whole, in the order of rows."""
    return f"arg_min(CASE WHEN ({sql}) IS NOT NULL THEN {whole} END, {order})"


def renamed(value: Typed, sql: str, whole: str | None = None) -> Typed:
    """Return a value under another name; `whole` is that of its wholeness, where it has one."""
    return replace(value, sql=sql, whole=None if value.whole is None else whole or UNSURE)


@dataclass(frozen=True, slots=True)
class Udf:
    """A function of ours that the engine calls for each row: nulls are given to it, too."""

    call: Callable[..., Any]
    takes: tuple[str, ...]
    gives: str
    folded: bool = True
    """Whether the engine may call it while it plans, and fail there, where nothing but constants is given."""


@dataclass(slots=True)
class Builder:
    """Gathers what a query needs. `parameters` are the values of its `$x`; `rows` its tables, by what they are of."""

    parameters: Mapping[str, JSON | PathNotFound]
    clock: Clock
    values: dict[str, Any] = field(default_factory=dict)
    functions: dict[str, Udf] = field(default_factory=dict)
    tables: dict[str, Rows] = field(default_factory=dict)
    stop: Stop = field(default_factory=Stop)
    """Set when the time is over: functions of ours end then, since the engine looks only behind some thousand rows."""
    clause: str = ""
    """The clause of conditions that is being written."""
    doubtful: set[str] = field(default_factory=set)
    """Clauses in which something may have no result, or had none."""
    absent: dict[str, None] = field(default_factory=dict)
    """Paths that are read and that no item of a table with items has, as written, in order."""
    _known: dict[Any, str] = field(default_factory=dict)
    _numbers: Any = field(default_factory=count)

    def name(self, prefix: str) -> str:
        """Return a name that nothing else in the query has."""
        return f"{prefix}{next(self._numbers)}"

    def parameter(self, value: Any) -> str:
        """Return what stands for a value, which is never written into SQL."""
        name = self.name("p")
        self.values[name] = value
        return f"${name}"

    def doubt(self) -> Callable[[], None]:
        """Return what says that something had no result in the clause that is being written."""
        clause = self.clause
        return lambda: self.doubtful.add(clause)

    def function(self, key: object, udf: Udf, names: Sequence[str] = ("",), *, strict: bool = False) -> str:
        """Return the name of a function; `key` says which it is, `names` is SQL of its arguments.

        One that may fail (`strict`) and is given constants alone is not called before a row needs it.
        """
        if strict and not any(map(_COLUMN.search, names)):
            key, udf = (key, "constant"), replace(udf, folded=False)
        result = self._known.get(key)
        if result is None:
            result = self._known[key] = self.name("f")
            self.functions[result] = udf
        return result

    def table(self, rows: Rows) -> str:
        """Return the name of the table that has these rows."""
        for name, known in self.tables.items():
            if known is rows:
                return name
        name = self.name("s")
        self.tables[name] = rows
        return name

    def constant(self, value: JSON) -> Typed:
        """Return a value as a constant of the query."""
        if value is None:
            return NULL
        if isinstance(value, bool):
            return Typed("TRUE" if value else "FALSE", Type.BOOL)
        if isinstance(value, int):
            return self._whole(value)
        if isinstance(value, float):
            return Typed(f"{self.parameter(value)}::DOUBLE", Type.FLOAT)
        if isinstance(value, str):
            return Typed(f"{self.parameter(value)}::VARCHAR", Type.TEXT)
        kind, _, _, text = any_key(value, "a parameter")
        key = f"{{'k': {kind}::UTINYINT, 'd': 0::DOUBLE, 'r': 0::HUGEINT, 's': {self.parameter(text)}::VARCHAR}}"
        sql = f"{{'v': {key}, 'o': {self.parameter(dump(value))}::VARCHAR}}"
        return Typed(sql, Type.ANY, kinds=frozenset({KIND_NAMES[kind or 0]}))

    @staticmethod
    def _whole(value: int) -> Typed:
        if abs(value) >= DIGITS:
            raise Invalid("a whole number has more than 38 digits, and a query holds none")
        type_ = "BIGINT" if abs(value) < 2**63 else "HUGEINT"
        return Typed(f"'{value}'::{type_}", Type.INT, abs(value))


def key_of(value: Typed) -> str:
    """Return SQL for what a value compares by, among values of mixed kinds."""
    sql = value.sql
    match value.type:
        case Type.ANY:
            return f"({sql}).v"
        case Type.INT:
            rest = "0::HUGEINT" if value.is_small else f"({sql})::HUGEINT - ({sql})::DOUBLE::HUGEINT"
            key = f"{{'k': 0::UTINYINT, 'd': ({sql})::DOUBLE, 'r': {rest}, 's': ''}}"
        case Type.FLOAT | Type.NUM:
            key = f"{{'k': 0::UTINYINT, 'd': ({sql}) + 0.0::DOUBLE, 'r': 0::HUGEINT, 's': ''}}"
        case Type.TEXT:
            key = f"{{'k': 1::UTINYINT, 'd': 0::DOUBLE, 'r': 0::HUGEINT, 's': ({sql})}}"
        case Type.BOOL:
            key = f"{{'k': 2::UTINYINT, 'd': ({sql})::INTEGER::DOUBLE, 'r': 0::HUGEINT, 's': ''}}"
        case Type.NULL:
            return "NULL::STRUCT(k UTINYINT, d DOUBLE, r HUGEINT, s VARCHAR)"
        case Type.LIST:
            raise Invalid(
                "a list that the query makes is compared with nothing", hint="it stands in the SELECT list alone"
            )
    return f"CASE WHEN ({sql}) IS NULL THEN NULL ELSE {key} END"


def sort_key(value: Typed) -> str:
    """Return SQL for what a value is ordered and grouped by."""
    if value.type is Type.ANY:
        return f"({value.sql}).v"
    if value.type in (Type.FLOAT, Type.NUM):
        return f"({value.sql}) + 0.0::DOUBLE"
    if value.type is Type.LIST:
        raise Invalid(
            "a list that the query makes orders and groups nothing", hint="it stands in the SELECT list alone"
        )
    return f"({value.sql})"


def any_of(value: Typed) -> Typed:
    """Return a value as one of mixed kinds."""
    if value.type is Type.ANY:
        return value
    if value.type is Type.NULL:
        return Typed(f"NULL::{STRUCT}", Type.ANY, kinds=frozenset())
    text = f"to_json({value.sql})::VARCHAR" if value.type is Type.TEXT else f"({value.sql})::VARCHAR"
    if value.type is Type.FLOAT:
        text = f"to_json({value.sql})::VARCHAR"
    elif value.type is Type.NUM:
        text = _number_written(value, f"to_json({value.sql})::VARCHAR")
    sql = f"CASE WHEN ({value.sql}) IS NULL THEN NULL ELSE {{'v': {key_of(value)}, 'o': {text}}} END"
    return Typed(sql, Type.ANY, kinds=frozenset({KIND_NAMES[KINDS[value.type]]}))


def _number_written(value: Typed, otherwise: str) -> str:
    whole = wholeness(value if value.whole != UNSURE else replace(value, whole=None))
    small = f"abs({value.sql}) < 1e38"
    return f"CASE WHEN {whole} AND {small} THEN ({value.sql})::HUGEINT::VARCHAR ELSE {otherwise} END"


def number_as_text(value: Typed, otherwise: str, text: str) -> str:
    """Return SQL for a `NUM` as the language writes it; `otherwise` writes one with a point."""
    if value.whole == UNSURE:
        message = f"`{text}` writes a number of which the query does not know whether it is 1 or 1.0"
        raise Invalid(message, hint="format(…, 2), or CAST(… AS integer) first")
    return _number_written(value, otherwise)


def json_of(value: Typed) -> str:
    """Return SQL for a value as JSON text."""
    if value.type is Type.NULL:
        return "NULL::VARCHAR"
    if value.type is Type.LIST:
        return f"to_json({value.sql})::VARCHAR"
    return f"({any_of(value).sql}).o"


def number(value: Typed) -> str:
    """Return SQL for a number as a double."""
    return value.sql if value.type in (Type.FLOAT, Type.NUM) else f"({value.sql})::DOUBLE"


def unify(values: Sequence[Typed]) -> tuple[list[Typed], Type]:
    """Return values as values of one type."""
    types = {value.type for value in values} - {Type.NULL}
    if not types:
        return list(values), Type.NULL
    if len(types) == 1 and types != {Type.LIST}:
        [type_] = types
        return [_null_as(value, type_) for value in values], type_
    whole = [value for value in values if value.type is Type.INT]
    if types <= NUMBERS and all(value.is_small for value in whole):
        return [
            Typed(number(value), Type.NUM, whole=wholeness(value))
            if value.type is not Type.NULL
            else _null_as(value, Type.NUM)
            for value in values
        ], Type.NUM
    if Type.LIST in types:
        if len(types) == 1:
            elements = {value.element for value in values if value.type is Type.LIST}
            if len(elements) == 1:
                return list(values), Type.LIST
        raise Invalid("lists that the query makes meet values of other types", hint="lists stand in the SELECT list")
    return [any_of(value) for value in values], Type.ANY


def _null_as(value: Typed, type_: Type) -> Typed:
    if value.type is not Type.NULL:
        return value
    name = STRUCT if type_ is Type.ANY else type_.value.strip()
    return Typed(f"NULL::{name}", type_, 0 if type_ is Type.INT else None, kinds=frozenset())


def kinds_of(values: Sequence[Typed]) -> frozenset[str]:
    """Return what one of some values of mixed kinds may be."""
    return frozenset().union(*(value.kinds for value in values))
