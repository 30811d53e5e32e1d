"""A tree of the language as SQL of DuckDB, and rows as a table of it.

Each operation is one of the engine's, or a macro where the engine means something else by it. What has no result for
its values is null, as where mismatches are counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import duckdb

from infospace.expressions.tree import (
    Aggregate,
    And,
    Arithmetic,
    Between,
    Call,
    Case,
    Cast,
    Compare,
    Constant,
    Element,
    Expression,
    Field,
    In,
    InList,
    IsNull,
    Like,
    Negative,
    Not,
    Or,
    Parameter,
    Star,
)

WHOLE, REAL, TEXT, TRUTH = "HUGEINT", "DOUBLE", "VARCHAR", "BOOLEAN"
SqlType: TypeAlias = str | None
"""A type of the engine; None of a null."""

COLUMNS: Final = {
    **dict.fromkeys(("n", "m", "big"), WHOLE),
    **dict.fromkeys(("x", "y"), REAL),
    **dict.fromkeys(("s", "t", "d", "e"), TEXT),
    **dict.fromkeys(("p", "q"), TRUTH),
    "ints": "HUGEINT[]",
    "texts": "VARCHAR[]",
    "o": "STRUCT(k HUGEINT, x DOUBLE, s VARCHAR)",
}
_INNER: Final = {"k": WHOLE, "x": REAL, "s": TEXT}
_BLANKS: Final = "' ' || chr(9) || chr(10) || chr(13)"
_DATE: Final = r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?"
_NUMBER: Final = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?"

_FAR: Final = 4_294_967_295
"""The last place in a text that the engine takes; no text here is so long."""

MACROS: Final = rf"""
finite(v) AS CASE WHEN isfinite(v) THEN v END
stripped(v) AS trim(v, {_BLANKS})
decimal_of(v) AS TRY_CAST(CAST(v AS VARCHAR) AS DECIMAL(38, 22))
rounded(v, digits) AS
    CASE WHEN abs(v) >= 9007199254740992 THEN v
         ELSE CAST(CAST(round(decimal_of(v), digits) AS VARCHAR) AS DOUBLE) END
least_of(v, w) AS CASE WHEN v IS NULL OR w IS NULL THEN NULL ELSE least(v, w) END
greatest_of(v, w) AS CASE WHEN v IS NULL OR w IS NULL THEN NULL ELSE greatest(v, w) END
power_of(v, k) AS CASE WHEN v < 0 AND k != floor(k) THEN NULL ELSE TRY(power(v, k)) END
day_of(v) AS CASE WHEN regexp_full_match(stripped(v), '{_DATE}') THEN TRY_CAST(substr(stripped(v), 1, 10) AS DATE) END
moment_of(v) AS
    CASE WHEN day_of(v) IS NOT NULL THEN TRY_CAST(
        replace(regexp_extract(stripped(v), '^.{{10}}([T ]\d{{2}}:\d{{2}}(:\d{{2}})?)?'), 'T', ' ') AS TIMESTAMP) END
moved(v, k) AS
    CASE WHEN abs(k) < 4000000 AND year(day_of(v) + CAST(k AS INTEGER)) BETWEEN 1 AND 9999
         THEN strftime(day_of(v) + CAST(k AS INTEGER), '%Y-%m-%d') || substr(stripped(v), 11) END
near(k) AS CASE WHEN k > {_FAR} THEN {_FAR} ELSE k END
substr_from(v, k) AS substr(v, CASE WHEN k < 1 THEN 1 ELSE CAST(near(k) AS BIGINT) END)
substr_of(v, k, l) AS
    CASE WHEN l < 0 THEN NULL
         WHEN k < 1 THEN substr(v, 1, CASE WHEN k + l < 1 THEN 0 ELSE CAST(near(k + l - 1) AS BIGINT) END)
         ELSE substr(v, CAST(near(k) AS BIGINT), CAST(near(l) AS BIGINT)) END
number_of(v) AS CASE WHEN regexp_full_match(stripped(v), '{_NUMBER}') THEN finite(TRY_CAST(stripped(v) AS DOUBLE)) END
whole_of(v) AS CASE WHEN v = floor(v) THEN TRY(CAST(v AS HUGEINT)) END
whole_of_text(v) AS
    CASE WHEN lower(stripped(v)) = 'true' THEN 1
         WHEN lower(stripped(v)) = 'false' THEN 0
         WHEN regexp_full_match(stripped(v), '[+-]?\d+') THEN TRY_CAST(stripped(v) AS HUGEINT)
         ELSE whole_of(number_of(v)) END
capitals(v) AS
    coalesce(list_aggregate(list_transform(regexp_extract_all(v, '[\pL\pN]+|[^\pL\pN]+'),
        lambda w: upper(substr(w, 1, 1)) || lower(substr(w, 2))), 'string_agg', ''), CASE WHEN v = '' THEN '' END)
cut(v, w) AS CASE WHEN v IS NULL OR w IS NULL THEN NULL WHEN w = '' THEN [v] ELSE string_split(v, w) END
found(v, pattern, digits) AS CASE WHEN regexp_matches(v, pattern) THEN regexp_extract(v, pattern, digits) END
written(v, digits) AS
    (CASE WHEN round(decimal_of(v), digits) < 0 THEN '-' ELSE '' END)
    || format('{{:,}}', CAST(split_part(CAST(abs(round(decimal_of(v), digits)) AS VARCHAR), '.', 1) AS HUGEINT))
    || (CASE WHEN digits = 0 THEN ''
             ELSE '.' || split_part(CAST(abs(round(decimal_of(v), digits)) AS VARCHAR), '.', 2) END)
known(v) AS list_filter(v, lambda w: w IS NOT NULL)
"""
"""What the engine has not, or means otherwise."""


def connect() -> duckdb.DuckDBPyConnection:
    """An engine with the macros. What stands in one several times is computed once: in a list of one.

    But for `digits` and `pattern`, which are constants.
    """
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("PRAGMA disable_optimizer")
    for macro in MACROS.strip().replace("\n    ", " ").split("\n"):
        head, _, body = macro.partition(" AS ")
        names = [name for name in re.findall(r"\w+", head)[1:] if name not in ("digits", "pattern")]
        if any(len(re.findall(rf"\b{name}\b", body)) > 1 for name in names):
            for name in names:
                body = re.sub(rf"\b{name}\b", f"it.{name}", body)
            held = ", ".join(f"{name}: {name}" for name in names)
            body = f"(list_transform([{{{held}}}], lambda it: {body})[1])"
        connection.execute(f"CREATE MACRO {head} AS {body}")
    return connection


def fill(connection: duckdb.DuckDBPyConnection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Make the table `t` of the rows; a missing place is null."""
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    connection.execute(f"CREATE OR REPLACE TABLE t (i INTEGER, {columns})")
    made = []
    for place, row in enumerate(rows):
        values = ", ".join(literal(row.get(name), kind) for name, kind in COLUMNS.items())
        made.append(f"({place}, {values})")
    if made:
        connection.execute(f"INSERT INTO t VALUES {', '.join(made)}")  # noqa: S608


def literal(value: Any, kind: str) -> str:
    """A value as SQL, of a type."""
    match value:
        case None:
            return f"CAST(NULL AS {kind})"
        case bool():
            return str(value).upper()
        case int() | float():
            return f"CAST('{value!r}' AS {kind})"
        case str():
            return quoted(value)
        case list():
            inner = kind.removesuffix("[]")
            return f"CAST([{', '.join(literal(item, inner) for item in value)}] AS {kind})"
        case dict():
            parts = ", ".join(f"{key}: {literal(value.get(key), kind)}" for key, kind in _INNER.items())
            return f"{{{parts}}}"
    raise TypeError(value)


def quoted(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def type_of_value(value: Any) -> SqlType:
    match value:
        case None:
            return None
        case bool():
            return TRUTH
        case int():
            return WHOLE
        case float():
            return REAL
        case str():
            return TEXT
        case list():
            inner = next((found for item in value if (found := type_of_value(item)) is not None), WHOLE)
            return f"{inner}[]"
    raise TypeError(value)


_GIVES: Final = {
    **dict.fromkeys(("floor", "ceil", "length", "days", "year", "month", "day", "weekday"), WHOLE),
    **dict.fromkeys(("sqrt", "power"), REAL),
    **dict.fromkeys(("lower", "upper", "trim", "initcap", "substr", "replace", "concat_ws", "format"), TEXT),
    **dict.fromkeys(("regexp_extract", "regexp_replace", "today", "now", "date_add", "strftime"), TEXT),
    **dict.fromkeys(("starts_with", "contains", "matches", "complete"), TRUTH),
    "split": "VARCHAR[]",
}
_CASTS: Final = {"text": TEXT, "number": REAL, "integer": WHOLE, "boolean": TRUTH}


class Translator:
    """Writes trees as SQL: `parameters` by their names, `fields` are all keys that an item may have."""

    def __init__(self, parameters: Mapping[str, Any], today: str, now: str, fields: Sequence[str]) -> None:
        self._parameters = parameters
        self._present = {"today": quoted(today), "now": quoted(now)}
        self._fields = fields
        self._reckoned: list[str] = []

    def select(self, trees: Sequence[Expression]) -> str:
        """A SELECT of expressions over the rows, in their order."""
        return f"SELECT {', '.join(map(self.write, trees))} FROM t ORDER BY i"  # noqa: S608

    def select_many(self, trees: Sequence[Expression]) -> str:
        """A SELECT of expressions over aggregates, which are computed first: TRY takes none."""
        self._reckoned = []
        outer = ", ".join(map(self.write, trees))
        inner = ", ".join(f"{made} AS a{place}" for place, made in enumerate(self._reckoned))
        return f"SELECT {outer} FROM (SELECT {inner or '0'} FROM t)"  # noqa: S608

    def type_of(self, node: Expression) -> SqlType:
        """The engine's type of what an expression gives."""
        match node:
            case Constant(value):
                return type_of_value(value)
            case Field(path):
                first, *rest = path.parts
                kind = COLUMNS[str(first)]
                if not rest:
                    return kind
                return kind.removesuffix("[]") if isinstance(rest[0], int) else _INNER[rest[0]]
            case Parameter(name):
                return type_of_value(self._parameters[name])
            case Arithmetic(first, rest):
                kind = self.type_of(first)
                for operator, part in rest:
                    if operator == "||":
                        return TEXT
                    kinds = {kind, self.type_of(part)}
                    kind = REAL if operator == "/" or REAL in kinds else WHOLE
                return kind
            case Negative(value):
                return self.type_of(value) or WHOLE
            case Element(value):
                return (self.type_of(value) or TEXT).removesuffix("[]")
            case Cast(_, to):
                return _CASTS[to]
            case Case(branches, otherwise):
                return self.joined([*(then for _, then in branches), otherwise])
            case Call(name, arguments) if name in ("coalesce", "least", "greatest"):
                return self.joined(arguments)
            case Call("power", (base, Constant(int() as exponent))) if exponent >= 0:
                return self.type_of(base) or WHOLE
            case Call(name, arguments) if name in ("abs", "round"):
                if name == "round" and len(arguments) == 1:
                    return WHOLE
                return self.type_of(arguments[0]) or WHOLE
            case Call(name, _):
                return _GIVES[name]
            case Aggregate(name, arguments):
                return self._type_of_many(name, arguments)
        return TRUTH

    def _type_of_many(self, name: str, arguments: Sequence[Expression]) -> SqlType:
        if name in ("count", "count_distinct"):
            return WHOLE
        if name in ("avg", "median", "quantile"):
            return REAL
        if name in ("bool_or", "bool_and"):
            return TRUTH
        inner = self.type_of(arguments[0])
        return f"{inner or WHOLE}[]" if name == "list" else inner

    def joined(self, nodes: Sequence[Expression]) -> SqlType:
        """The type of what is one or the other."""
        kinds = {kind for node in nodes if (kind := self.type_of(node)) is not None}
        if not kinds:
            return None
        return REAL if kinds == {WHOLE, REAL} else kinds.pop()

    def write(self, node: Expression, wanted: SqlType = None) -> str:
        """An expression as SQL; a number or null as what is wanted."""
        kind = self.type_of(node)
        if kind is None:
            return f"CAST(NULL AS {wanted or 'INTEGER'})"
        made = self._write(node)
        return f"CAST({made} AS DOUBLE)" if kind == WHOLE and wanted == REAL else made

    def _several(self, nodes: Sequence[Expression]) -> list[str]:
        kind = self.joined(nodes)
        return [self.write(node, kind) for node in nodes]

    def _write(self, node: Expression) -> str:
        match node:
            case Constant(value):
                return literal(value, type_of_value(value) or "INTEGER")
            case Parameter(name):
                value = self._parameters[name]
                return literal(value, type_of_value(value) or "INTEGER")
            case Field(path):
                first, *rest = path.parts
                if not rest:
                    return str(first)
                place = rest[0]
                if isinstance(place, int):
                    return f"{first}[{place + 1 if place >= 0 else place}]"
                return f"{first}.{place}"
            case Arithmetic():
                return self._arithmetic(node)
            case Negative(value):
                return f"TRY(-({self.write(value, WHOLE)}))"
            case Element(value, place):
                return f"({self.write(value, 'VARCHAR[]')})[{place + 1 if place >= 0 else place}]"
            case Cast(value, to):
                return self._cast(value, to)
            case Case(branches, otherwise):
                kind = self.type_of(node)
                parts = [f"WHEN {self.truth(when)} THEN {self.write(then, kind)}" for when, then in branches]
                return f"CASE {' '.join(parts)} ELSE {self.write(otherwise, kind)} END"
            case Call(name, arguments):
                return self._call(name, arguments)
            case Aggregate(name, arguments):
                self._reckoned.append(self._aggregate(name, arguments))
                return f"a{len(self._reckoned) - 1}"
            case And(parts):
                return "(" + " AND ".join(map(self.truth, parts)) + ")"
            case Or(parts):
                return "(" + " OR ".join(map(self.truth, parts)) + ")"
            case Not(part):
                return f"(NOT {self.truth(part)})"
            case IsNull(value):
                return f"({self.write(value)} IS NULL)"
        return self._condition(node)

    def truth(self, node: Expression) -> str:
        return self.write(node, TRUTH)

    def _condition(self, node: Expression) -> str:
        match node:
            case Compare(by, left, right):
                return self._compared(left, by, right)
            case Between(value, low, high):
                return f"({self._compared(value, '>=', low)} AND {self._compared(value, '<=', high)})"
            case In(value, items):
                return "(" + " OR ".join(self._compared(value, "=", item) for item in items) + ")"
            case InList(value, Parameter(name)):
                items = [self._compared(value, "=", Constant(item)) for item in self._parameters[name]]
                return "(" + " OR ".join(items) + ")" if items else "FALSE"
            case Like(value, pattern, escape):
                tail = "" if escape is None else f" ESCAPE {quoted(escape)}"
                return f"({self.write(value, TEXT)} ILIKE {self.write(pattern, TEXT)}{tail})"
        raise TypeError(node)

    def _compared(self, left: Expression, by: str, right: Expression) -> str:
        kind = self.joined((left, right))
        kinds = {self.type_of(left), self.type_of(right)} - {None}
        ordered = by in ("=", "!=") or kinds <= {WHOLE, REAL, TEXT}
        if (len(kinds) > 1 and kinds != {WHOLE, REAL}) or not ordered:
            return "CAST(NULL AS BOOLEAN)"
        return f"({self.write(left, kind)} {by} {self.write(right, kind)})"

    def _arithmetic(self, node: Arithmetic) -> str:
        made, kind = self.write(node.first, WHOLE), self.type_of(node.first) or WHOLE
        for operator, part in node.rest:
            other, other_kind = self.write(part, WHOLE), self.type_of(part) or WHOLE
            if operator == "||":
                made, kind = f"({self.printed(made, kind)} || {self.printed(other, other_kind)})", TEXT
            elif operator == "/" or REAL in (kind, other_kind):
                made = f"finite(TRY(CAST({made} AS DOUBLE) {operator} CAST({other} AS DOUBLE)))"
                kind = REAL
            else:
                made = f"TRY({made} {operator} {other})"
        return made

    def printed(self, made: str, kind: SqlType) -> str:
        """A value as JSON writes it, text as it is."""
        return made if kind == TEXT else f"CAST({made} AS VARCHAR)"

    def _cast(self, value: Expression, to: str) -> str:
        made, kind = self.write(value, WHOLE), self.type_of(value) or WHOLE
        match to:
            case "text":
                return self.printed(made, kind)
            case "number":
                return f"number_of({made})" if kind == TEXT else self.write(value, REAL)
        whole = f"whole_of_text({made})" if kind == TEXT else f"whole_of({made})" if kind == REAL else made
        if to == "integer":
            return f"CAST({whole} AS HUGEINT)"
        return made if kind == TRUTH else f"({whole} != 0)"

    def _call(self, name: str, arguments: Sequence[Expression]) -> str:
        match name:
            case "coalesce":
                return f"coalesce({', '.join(self._several(arguments))})"
            case "least" | "greatest":
                first, *rest = self._several(arguments)
                for part in rest:
                    first = f"{name}_of({first}, {part})"
                return first
            case "today" | "now":
                return self._present[name]
            case "complete":
                stars = [f"{key} IS NOT NULL" for key in self._fields]
                parts = [
                    f"{self.write(argument)} IS NOT NULL" for argument in arguments if not isinstance(argument, Star)
                ]
                return "(" + " AND ".join(parts or stars) + ")"
            case "concat_ws":
                separator, *rest = arguments
                return f"concat_ws({self.write(separator, TEXT)}, {', '.join(map(self._joinable, rest))})"
            case "contains" if self.type_of(arguments[0]) != TEXT:
                held, value = (self.write(argument, WHOLE) for argument in arguments)
                inner = (self.type_of(arguments[0]) or "").removesuffix("[]")
                value = self.write(arguments[1], inner)
                return f"CASE WHEN {value} IS NOT NULL THEN list_contains(known({held}), {value}) END"
        return self._plain_call(name, arguments)

    def _joinable(self, node: Expression) -> str:
        kind, made = self.type_of(node), self.write(node, TEXT)
        if kind is not None and kind.endswith("[]"):
            return f"list_aggregate(list_transform({made}, lambda w: CAST(w AS VARCHAR)), 'string_agg', ',')"
        return self.printed(made, kind or TEXT)

    def _plain_call(self, name: str, arguments: Sequence[Expression]) -> str:
        numeric = name in ("sqrt", "power")
        whole = self.type_of(arguments[0]) in (WHOLE, None)
        digits = arguments[1].value if len(arguments) > 1 and isinstance(arguments[1], Constant) else 0
        wanted = REAL if numeric else TEXT
        first, *rest = [self.write(arguments[0], WHOLE if name in _NUMERIC and not numeric else wanted)] + [
            self.write(argument, REAL if numeric else WHOLE if name in _COUNTED else TEXT) for argument in arguments[1:]
        ]
        match name:
            case "abs":
                return f"TRY(abs({first}))"
            case "round" if whole:
                return f"TRY(round({first}, {digits}))" if rest else first
            case "round":
                return f"rounded({first}, {digits})" if rest else f"TRY(CAST(rounded({first}, 0) AS HUGEINT))"
            case "floor" | "ceil":
                return first if whole else f"TRY(CAST({name}({first}) AS HUGEINT))"
            case "sqrt":
                return f"CASE WHEN {first} >= 0 THEN sqrt({first}) END"
            case "power":
                made = f"finite(power_of({first}, {rest[0]}))"
                return f"CAST({made} AS HUGEINT)" if whole and isinstance(digits, int) and digits >= 0 else made
            case "format" if whole:
                return f"(format('{{:,}}', {first}) || '{'.' + '0' * int(str(digits)) if digits else ''}')"
            case "format":
                return f"TRY(written({first}, {digits}))"
            case "length":
                return f"CAST(length({first}) AS HUGEINT)"
            case "substr":
                return f"substr_of({first}, {', '.join(rest)})" if len(rest) > 1 else f"substr_from({first}, {rest[0]})"
            case "days":
                return f"CAST(date_diff('day', day_of({first}), day_of({rest[0]})) AS HUGEINT)"
            case "year" | "month" | "day":
                return f"CAST({name}(day_of({first})) AS HUGEINT)"
            case "weekday":
                return f"CAST(isodow(day_of({first})) AS HUGEINT)"
            case "strftime":
                return f"strftime(moment_of({first}), {rest[0]})"
            case "regexp_extract":
                return f"found({first}, {rest[0]}, {digits_of(arguments)})"
        engine = _ENGINE.get(name, name)
        return f"{engine}({', '.join([first, *rest])})"

    def _aggregate(self, name: str, arguments: Sequence[Expression]) -> str:
        if not arguments:
            return "CAST(count(*) AS HUGEINT)"
        value = self.write(arguments[0], TRUTH if name in ("bool_or", "bool_and") else WHOLE)
        match name:
            case "count":
                return f"CAST(count({value}) AS HUGEINT)"
            case "count_distinct":
                return f"CAST(count(DISTINCT {value}) AS HUGEINT)"
            case "quantile":
                return f"CAST(quantile_cont({value}, {self.write(arguments[1])}::DOUBLE) AS DOUBLE)"
            case "median" | "avg":
                return f"CAST({name}({value}) AS DOUBLE)"
            case "first" | "last" | "list":
                held = f"known(list({value} ORDER BY i))"
                return f"coalesce({held}, [])" if name == "list" else f"({held})[{1 if name == 'first' else -1}]"
        return f"{name}({value})"


def digits_of(arguments: Sequence[Expression]) -> str:
    last = arguments[2] if len(arguments) > 2 else None
    return str(last.value) if isinstance(last, Constant) else "0"


_NUMERIC: Final = frozenset({"abs", "round", "floor", "ceil", "sqrt", "power", "format"})
_COUNTED: Final = frozenset({"substr", "date_add", "round", "format"})
_ENGINE: Final = {
    "trim": "stripped",
    "initcap": "capitals",
    "split": "cut",
    "matches": "regexp_matches",
    "date_add": "moved",
}
