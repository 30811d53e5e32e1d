"""An expression as text, as the parser reads it."""

from __future__ import annotations

import re
from typing import Final

from infospace.data.json_text import dump
from infospace.data.paths import KEY, OWN, Path, show_parts
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

_RESERVED: Final = frozenset(
    {
        *("and", "or", "not", "in", "like", "escape", "between", "is", "case", "when", "then", "else", "end", "as"),
        *("true", "false", "null", "distinct", "asc", "desc", "current_date", "current_timestamp"),
    }
)
_PLAIN: Final = re.compile(KEY.pattern)


def show_path(path: Path) -> str:
    """Write a path as it stands in an expression: a first key that is a word of the language in backticks."""
    first, *rest = path.parts
    if isinstance(first, str) and first not in OWN and (first.lower() in _RESERVED or not _PLAIN.fullmatch(first)):
        ticked = first.replace("`", "``")
        tail = show_parts(("x", *rest))[1:]
        return f"`{ticked}`{tail}"
    return str(path)


def show(node: Expression) -> str:
    """Write an expression; each part of another precedence in parentheses."""
    match node:
        case Constant(None):
            return "NULL"
        case Constant(str() as text):
            doubled = text.replace("'", "''")
            return f"'{doubled}'"
        case Constant(value):
            return dump(value)
        case Field(path):
            return show_path(path)
        case Parameter(name):
            return f"${name}"
        case Star():
            return "*"
        case Call(function, arguments) | Aggregate(function, arguments):
            return f"{function}({', '.join(map(show, arguments))})"
        case Element(value, place):
            computed = isinstance(value, (Call, Aggregate, Cast, Element))
            return f"{show(value) if computed else f'({show(value)})'}[{place}]"
        case Arithmetic(first, rest):
            return _within(first) + "".join(f" {operator} {_within(part)}" for operator, part in rest)
        case Negative(value):
            return f"-({show(value)})" if isinstance(value, Constant) else f"-{_within(value)}"
        case Cast(value, to, attempt):
            return f"{'TRY_CAST' if attempt else 'CAST'}({show(value)} AS {to})"
        case Case(branches, otherwise):
            label = "".join(f" WHEN {show(when)} THEN {show(then)}" for when, then in branches)
            return f"CASE{label} ELSE {show(otherwise)} END"
        case And(parts):
            return " AND ".join(map(_within, parts))
        case Or(parts):
            return " OR ".join(map(_within, parts))
        case Not(IsNull(value)):
            return f"{_within(value)} IS NOT NULL"
        case Not(part):
            return f"NOT {_within(part)}"
        case _:
            return _condition(node)


def _condition(node: Compare | In | InList | Like | Between | IsNull) -> str:
    match node:
        case Compare(by, left, right):
            return f"{_within(left)} {by} {_within(right)}"
        case In(value, items):
            return f"{_within(value)} IN ({', '.join(map(show, items))})"
        case InList(value, items):
            return f"{_within(value)} IN {show(items)}"
        case Like(value, pattern, escape):
            tail = "" if escape is None else f" ESCAPE {show(Constant(escape))}"
            return f"{_within(value)} LIKE {_within(pattern)}{tail}"
        case Between(value, low, high):
            return f"{_within(value)} BETWEEN {_within(low)} AND {_within(high)}"
        case IsNull(value):
            return f"{_within(value)} IS NULL"


def _within(node: Expression) -> str:
    simple = (Constant, Field, Parameter, Call, Element, Aggregate, Cast)
    return show(node) if isinstance(node, simple) else f"({show(node)})"
