"""What a `where` is made of, once read: two closed unions, `Value` and `Condition`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from infospace.data.paths import Path

Comparator: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">="]
Function: TypeAlias = Literal["lower", "upper", "length", "abs", "coalesce", "has"]


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
class Call:
    """A function of values; `has` gives a boolean."""

    function: Function
    arguments: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class And:
    """AND of two or more."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """OR of two or more."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """NOT; unknown stays unknown."""

    part: Condition


@dataclass(frozen=True, slots=True)
class Compare:
    """Two values and how they are compared."""

    by: Comparator
    left: Value
    right: Value


@dataclass(frozen=True, slots=True)
class In:
    """`value IN (…)`."""

    value: Value
    items: tuple[Constant | Parameter, ...]


@dataclass(frozen=True, slots=True)
class Like:
    """`value LIKE pattern`, without regard to case; `escape` is one character or None."""

    value: Value
    pattern: Value
    escape: str | None


@dataclass(frozen=True, slots=True)
class Between:
    """`value BETWEEN low AND high`, both ends included."""

    value: Value
    low: Value
    high: Value


@dataclass(frozen=True, slots=True)
class IsNull:
    """Null or missing: never unknown."""

    value: Value


@dataclass(frozen=True, slots=True)
class Truth:
    """A value that stands as a condition and counts when it is a JSON boolean."""

    value: Value


Value: TypeAlias = Constant | Field | Parameter | Call
Condition: TypeAlias = And | Or | Not | Compare | In | Like | Between | IsNull | Truth
