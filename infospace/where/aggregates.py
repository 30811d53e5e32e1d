"""Aggregates: what is reckoned of many resources at once, such as `count` or `avg(metadata.score)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import fsum
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.data.order import equality_key, order_key
from infospace.data.paths import ABSENT, Path, Readable, reader
from infospace.schema.combine import list_of, nullable
from infospace.schema.infer import Schema, types_of

if TYPE_CHECKING:
    from infospace.where import TypeMismatches

Reckoning: TypeAlias = Literal["count", "count_distinct", "sum", "avg", "min", "max", "list"]
Reckoner: TypeAlias = "Callable[[Sequence[Readable], TypeMismatches], JSON]"

EXACT = 2**53
"""Up to here every whole number is a float too (IEEE 754, binary64)."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """What is reckoned, and of the values at which path; `count` alone has none."""

    reckoning: Reckoning
    path: Path | None = None

    def __str__(self) -> str:
        """Write it as `parse_aggregate` reads it."""
        return self.reckoning if self.path is None else f"{self.reckoning}({self.path})"

    @property
    def input_schema(self) -> Schema | None:
        """The schema that values at the path must be able to fit; None where any will do."""
        return {"type": ["number", "null"]} if self.reckoning in {"sum", "avg"} else None

    def result_schema(self, value: Schema | None) -> Schema | None:
        """Return the schema of what is reckoned of values with a schema."""
        match self.reckoning:
            case "count" | "count_distinct":
                return {"type": "integer"}
            case "sum":
                whole = "number" not in types_of(value)
                return {"type": ["integer" if whole else "number", "null"]}
            case "avg":
                return {"type": ["number", "null"]}
            case "list":
                return list_of(value)
            case _:
                return nullable(value)

    def reckoner(self) -> Reckoner:
        """Make what reckons it of resources. Null and missing values do not count, for nothing but `count`.

        Equal values are one JSON value (1 is 1.0, not true or "1"). `min` and `max` go by the order of `sort`.
        `sum` and `avg` leave values that are no numbers out, and tally them; they are exact for whole numbers,
        else rounded once, and null where there is no number, as `min` and `max` are where there is no value.
        Raises Invalid for a sum beyond what a number holds.
        """
        if self.path is None:
            return lambda items, _tally: len(items)
        find, reckon, text = reader(self.path), _RECKON[self.reckoning], str(self)

        def of(items: Sequence[Readable], tally: TypeMismatches) -> JSON:
            found = [find(item) for item in items]
            values: list[JSON] = [value for value in found if value is not ABSENT and value is not None]
            try:
                return reckon(values, tally)
            except OverflowError as error:
                raise Invalid(f"{text} is beyond what a number holds", hint="numbers go to about 1.8e308") from error

        return of


def _count_distinct(values: list[JSON], _tally: TypeMismatches) -> JSON:
    return len({equality_key(value) for value in values})


def _numbers(values: list[JSON], tally: TypeMismatches) -> tuple[int, list[float], int]:
    """The sum of the whole numbers, the others, and how many they are together."""
    whole, rest, count = 0, [], 0
    for value in values:
        match value:
            case bool():
                continue
            case int():
                whole += value
            case float():
                rest.append(value)
            case _:
                continue
        count += 1
    tally.mismatches += len(values) - count
    return whole, rest, count


def _sum(values: list[JSON], tally: TypeMismatches) -> JSON:
    whole, rest, count = _numbers(values, tally)
    if not count:
        return None
    return _added(whole, rest) if rest else whole


def _avg(values: list[JSON], tally: TypeMismatches) -> JSON:
    whole, rest, count = _numbers(values, tally)
    if not count:
        return None
    if rest:
        return float(_exact(whole, rest) / count)
    return whole // count if whole % count == 0 else whole / count


def _added(whole: int, rest: list[float]) -> float:
    if abs(whole) <= EXACT:
        try:
            return fsum((whole, *rest))
        except OverflowError:
            return float(_exact(whole, rest))
    return float(_exact(whole, rest))


def _exact(whole: int, rest: list[float]) -> Fraction:
    return sum(map(Fraction, rest), Fraction(whole))


def _min(values: list[JSON], _tally: TypeMismatches) -> JSON:
    return min(values, key=order_key, default=None)


def _max(values: list[JSON], _tally: TypeMismatches) -> JSON:
    return max(values, key=order_key, default=None)


_RECKON: dict[Reckoning, Callable[[list[JSON], TypeMismatches], JSON]] = {
    "count": lambda values, _tally: len(values),
    "count_distinct": _count_distinct,
    "sum": _sum,
    "avg": _avg,
    "min": _min,
    "max": _max,
    "list": lambda values, _tally: cast("JSON", values),
}


@lru_cache(maxsize=256)
def parse_aggregate(text: str) -> Aggregate:
    """Read an aggregate; raises `Invalid`, which says what there is and what may have been meant."""
    from infospace.where.parse_aggregate import parse

    return Aggregate(*parse(text))
