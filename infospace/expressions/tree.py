"""What an expression is made of, once read: one closed union, `Expression`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from infospace.data.paths import Path

Comparator: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">="]
Operator: TypeAlias = Literal["+", "-", "*", "/", "%", "||"]
TypeName: TypeAlias = Literal["text", "number", "integer", "boolean"]


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, string, boolean or null that stands in the text."""

    value: bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class Field:
    """What the resource has at `path`; null where it has nothing."""

    path: Path


@dataclass(frozen=True, slots=True)
class Parameter:
    """The value given for the reference `name`, written `$name`."""

    name: str


@dataclass(frozen=True, slots=True)
class Star:
    """`*` as all that `count` and `complete` take."""


@dataclass(frozen=True, slots=True)
class Call:
    """A function of values, by its name in `functions.FUNCTIONS`."""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Element:
    """`value[place]`: an element of a computed list, from 0, negative from the end; null where there is none."""

    value: Expression
    place: int


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A function of what many resources have, by its name in `aggregates.AGGREGATES`."""

    function: str
    arguments: tuple[Expression, ...]
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Operators of one precedence in a row, from the left: `first`, then each operator with what follows it."""

    first: Expression
    rest: tuple[tuple[Operator, Expression], ...]


@dataclass(frozen=True, slots=True)
class Negative:
    """A number with the other sign."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Cast:
    """`CAST(value AS to)`; null for a value that cannot be cast where it is only an `attempt` (TRY_CAST)."""

    value: Expression
    to: TypeName
    attempt: bool


@dataclass(frozen=True, slots=True)
class Case:
    """`CASE WHEN condition THEN value … ELSE otherwise END`; null where none is true and there is no ELSE."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class And:
    """AND of two or more."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """OR of two or more."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """NOT; unknown stays unknown."""

    part: Expression


@dataclass(frozen=True, slots=True)
class Compare:
    """Two values and how they are compared."""

    by: Comparator
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class In:
    """`value IN (…)`."""

    value: Expression
    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class InList:
    """`value IN $list`: the elements of a list that is given."""

    value: Expression
    items: Parameter


@dataclass(frozen=True, slots=True)
class Like:
    """`value LIKE pattern`, without regard to case; `escape` is one character or None."""

    value: Expression
    pattern: Expression
    escape: str | None


@dataclass(frozen=True, slots=True)
class Between:
    """`value BETWEEN low AND high`, both ends included."""

    value: Expression
    low: Expression
    high: Expression


@dataclass(frozen=True, slots=True)
class IsNull:
    """Null or missing: never unknown."""

    value: Expression


Expression: TypeAlias = (
    Constant
    | Field
    | Parameter
    | Star
    | Call
    | Element
    | Aggregate
    | Arithmetic
    | Negative
    | Cast
    | Case
    | And
    | Or
    | Not
    | Compare
    | In
    | InList
    | Like
    | Between
    | IsNull
)


def children(node: Expression) -> tuple[Expression, ...]:
    """Return what stands directly within an expression, in order of the text."""
    match node:
        case Constant() | Field() | Parameter() | Star():
            return ()
        case Call(arguments=parts) | Aggregate(arguments=parts) | And(parts) | Or(parts):
            return parts
        case Arithmetic(first, rest):
            return (first, *(part for _, part in rest))
        case Negative(value) | Cast(value) | Element(value) | IsNull(value) | Not(value):
            return (value,)
        case Case(branches, otherwise):
            return (*(part for branch in branches for part in branch), otherwise)
        case Compare(_, left, right):
            return (left, right)
        case In(value, items):
            return (value, *items)
        case InList(value, items):
            return (value, items)
        case Like(value, pattern):
            return (value, pattern)
        case Between(value, low, high):
            return (value, low, high)
