"""Aggregates: what is computed of many resources at once, such as `count` or `round(avg(metadata.score), 2)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import fsum
from types import MappingProxyType
from typing import Any, Final, TypeAlias, cast

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.data.order import equality_key, order_key
from infospace.data.paths import Path, Readable
from infospace.expressions.columns import Chosen
from infospace.expressions.compare import kind_word
from infospace.expressions.evaluate import Compiler, Getter, compile_expression
from infospace.expressions.expression import Parsed, walk
from infospace.expressions.functions import AGGREGATES
from infospace.expressions.mismatch import Evaluation, Mismatch, OperandError, TypeMismatches
from infospace.expressions.show import show
from infospace.expressions.tree import Aggregate as AggregateNode
from infospace.expressions.tree import Expression, Field, Parameter, Star

EXACT: Final = 2**53
"""Up to here every whole number is a float too (IEEE 754, binary64)."""

Reckoner: TypeAlias = Callable[[Sequence[Readable], Evaluation, Mapping[Path, JSON]], JSON]
"""Gives what is computed of resources, which all have the values that are given of some paths."""

MAX_AGGREGATE_CHARACTERS: Final = 1_000
"""Characters of an aggregate."""
_FORMS: Final = "there are count, " + ", ".join(form for _, _, form in AGGREGATES.values())


@dataclass(frozen=True, slots=True)
class Aggregate(Parsed):
    """An expression over aggregates. `outside` are the paths that stand in none of them: only what is grouped by."""

    outside: tuple[Path, ...] = ()
    compute: Reckoner = field(repr=False, compare=False, default=lambda _items, _given, _keys: None)

    def of(
        self, items: Sequence[Readable], evaluation: Evaluation, keys: Mapping[Path, JSON] = MappingProxyType({})
    ) -> JSON:
        """Compute it of resources; `keys` gives values of the paths `outside`.

        Null and missing values do not count, for nothing but `count`. Equal values are one JSON value (1 is 1.0, not
        true or "1"). `min` and `max` go by the order of `sort`. `sum`, `avg`, `median` and `quantile` are exact for
        whole numbers, else rounded once, and null where there is no number, as `min` and `max` are where there is no
        value.
        """
        return self.compute(items, evaluation, keys)


def make_aggregate(node: AggregateNode) -> Reckoner:
    """Make what computes one aggregate of resources."""
    name, text = node.function, show(node)
    if not node.arguments:
        return lambda items, _given, _keys: len(items)
    argument = node.arguments[0]
    get = compile_expression(argument)
    reckon = _RECKON[name]
    others = [compile_expression(argument) for argument in node.arguments[1:]]

    def compute(items: Sequence[Readable], evaluation: Evaluation) -> JSON:
        if isinstance(items, Chosen):
            values = items.values(get, argument, evaluation)
        else:
            values = [value for item in items if (value := get(item, evaluation)) is not None]
        try:
            more = [other(items[0], evaluation) for other in others] if items else [None for _ in others]
            return reckon(values, evaluation.tally, text, *more)
        except OverflowError:
            evaluation.tally.wrong(text, "is beyond what a number holds")
        except OperandError as error:
            evaluation.tally.wrong(text, str(error))
        return None

    def of(items: Sequence[Readable], evaluation: Evaluation, _keys: Mapping[Path, JSON]) -> JSON:
        try:
            return compute(items, evaluation)
        except Mismatch as error:
            error.item = _first_wrong(compute, items, evaluation)
            raise

    return of


def _first_wrong(
    compute: Callable[[Sequence[Readable], Evaluation], JSON], items: Sequence[Readable], evaluation: Evaluation
) -> Readable | None:
    """Return the first of the items of which alone an aggregate has no result either."""
    for item in items:
        try:
            compute([item], evaluation)
        except Mismatch:
            return item
    return None


def _numbers(values: list[JSON], tally: TypeMismatches, text: str) -> tuple[int, list[float], int]:
    """The sum of the whole numbers, the others, and how many they are together."""
    types = set(map(type, values))
    if types == {int}:
        return sum(cast("list[int]", values)), [], len(values)
    if types == {float}:
        return 0, cast("list[float]", values), len(values)
    whole, rest, count = 0, [], 0
    for value in values:
        match value:
            case bool():
                pass
            case int():
                whole += value
                count += 1
                continue
            case float():
                rest.append(value)
                count += 1
                continue
        tally.wrong(text, f"takes numbers, not {kind_word(value)}", value)
    return whole, rest, count


def _sum(values: list[JSON], tally: TypeMismatches, text: str) -> JSON:
    whole, rest, count = _numbers(values, tally, text)
    if not count:
        return None
    return _added(whole, rest) if rest else whole


def _avg(values: list[JSON], tally: TypeMismatches, text: str) -> JSON:
    whole, rest, count = _numbers(values, tally, text)
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


def _quantile(values: list[JSON], tally: TypeMismatches, text: str, part: JSON) -> JSON:
    """The value at a part of the way from the smallest to the largest, between two by their distance."""
    if isinstance(part, bool) or not isinstance(part, (int, float)) or not 0 <= part <= 1:
        if part is None:
            return None
        raise OperandError("takes a number from 0 to 1 as its second argument")
    numbers: list[Any] = []
    for value in values:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            numbers.append(value)
        else:
            tally.wrong(text, f"takes numbers, not {kind_word(value)}", value)
    if not numbers:
        return None
    numbers.sort()
    place = Fraction(part) * (len(numbers) - 1)
    low = int(place)
    if place == low:
        return cast("JSON", numbers[low])
    below, above = Fraction(numbers[low]), Fraction(numbers[low + 1])
    result = below + (above - below) * (place - low)
    whole = result.denominator == 1 and isinstance(numbers[low], int) and isinstance(numbers[low + 1], int)
    return int(result) if whole else float(result)


def _median(values: list[JSON], tally: TypeMismatches, text: str) -> JSON:
    return _quantile(values, tally, text, 0.5)


def _truths(values: list[JSON], tally: TypeMismatches, text: str) -> list[bool]:
    results = []
    for value in values:
        if isinstance(value, bool):
            results.append(value)
        else:
            tally.wrong(text, f"takes true and false, not {kind_word(value)}", value)
    return results


def _any(values: list[JSON], tally: TypeMismatches, text: str) -> JSON:
    results = _truths(values, tally, text)
    return any(results) if results else None


def _every(values: list[JSON], tally: TypeMismatches, text: str) -> JSON:
    results = _truths(values, tally, text)
    return all(results) if results else None


def _ordered_by(values: list[JSON]) -> Callable[[JSON], Any] | None:
    """Return what values are ordered by: numbers alone, and texts alone, by themselves."""
    types = set(map(type, values))
    return None if types <= {int, float} or types == {str} else order_key


_RECKON: Final[dict[str, Callable[..., JSON]]] = {
    "count": lambda values, _tally, _text: len(values),
    "count_distinct": lambda values, _tally, _text: len({equality_key(value) for value in values}),
    "sum": _sum,
    "avg": _avg,
    "median": _median,
    "quantile": _quantile,
    "min": lambda values, _tally, _text: min(values, key=_ordered_by(values), default=None),
    "max": lambda values, _tally, _text: max(values, key=_ordered_by(values), default=None),
    "first": lambda values, _tally, _text: values[0] if values else None,
    "last": lambda values, _tally, _text: values[-1] if values else None,
    "bool_or": _any,
    "bool_and": _every,
    "list": lambda values, _tally, _text: values,
}


@lru_cache(maxsize=256)
def parse_aggregate(text: str) -> Aggregate:
    """Read an aggregate; raises `Invalid`, which says what there is and what may have been meant."""
    from infospace.expressions.parse import parse
    from infospace.expressions.refused import Refused

    if not text.strip():
        raise Invalid("an aggregate is empty", hint=_FORMS)
    if len(text) > MAX_AGGREGATE_CHARACTERS:
        raise Invalid(f"an aggregate has {len(text):,} characters, more than {MAX_AGGREGATE_CHARACTERS:,}", hint=_FORMS)
    if text.strip().lower() == "count":
        return _aggregate(text, AggregateNode("count", ()))
    try:
        tree, _ = parse(text, aggregates=True)
    except Refused as error:
        raise _refused(text, error) from error
    if not any(isinstance(node, AggregateNode) for node in walk(tree)):
        raise _not_an_aggregate(text, tree)
    for node in walk(tree):
        if isinstance(node, AggregateNode) and any(
            isinstance(inner, AggregateNode) for argument in node.arguments for inner in walk(argument)
        ):
            message = f"{text!r:.60} is not an aggregate: it has an aggregate inside another"
            raise Invalid(message, hint="`group` twice, one after another")
    return _aggregate(text, tree)


def _not_an_aggregate(text: str, tree: Expression) -> Invalid:
    word = str(tree.path.parts[0]).lower() if isinstance(tree, Field) and len(tree.path.parts) == 1 else ""
    if word in AGGREGATES:
        return Invalid(f"{text!r:.60} is not an aggregate: {word} needs a path", hint=f"such as {word}(metadata.score)")
    return Invalid(f"{text!r:.60} is not an aggregate: it computes nothing of many items", hint=_FORMS)


def _refused(text: str, error: Any) -> Invalid:
    refused = error.named("it", text)
    hint = error.hint or _FORMS
    if refused.suggestion is not None:
        quote = '"' if '"' not in refused.suggestion else "`"
        hint = f"did you mean {quote}{refused.suggestion}{quote}?"
    invalid = Invalid(f"{text!r:.60} is not an aggregate: {refused.message}", hint=hint)
    invalid.suggestion = refused.suggestion
    return invalid


def _aggregate(text: str, tree: Expression) -> Aggregate:
    nodes = walk(tree)
    paths = dict.fromkeys(node.path for node in nodes if isinstance(node, Field))
    parameters = dict.fromkeys(node.name for node in nodes if isinstance(node, Parameter))
    return Aggregate(text, tuple(paths), tuple(parameters), tree, _outside(text, tree), _reckoner(tree))


def _outside(text: str, tree: Expression) -> tuple[Path, ...]:
    from infospace.expressions.tree import children

    results: dict[Path, None] = {}
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, Field):
            results[node.path] = None
        elif isinstance(node, Star):
            message = f"{text!r:.60} is not an aggregate: `complete(*)` looks at one item, and here are many"
            raise Invalid(message, hint="count(CASE WHEN complete(*) THEN 1 END) counts the items that are complete")
        elif not isinstance(node, AggregateNode):
            left.extend(reversed(children(node)))
    return tuple(results)


class _Row:
    """What expressions over aggregates are evaluated of: each aggregate is computed when it is first asked for.

    So a branch of CASE that is not taken has no mismatch.
    """

    __slots__ = ("_given", "_items", "_keys", "_known")

    def __init__(self, items: Sequence[Readable], evaluation: Evaluation, keys: Mapping[Path, JSON]) -> None:
        self._items = items
        self._keys = keys
        self._given = evaluation
        self._known: dict[int, JSON] = {}

    def value(self, place: int, reckon: Reckoner) -> JSON:
        """Return what stands at a place, which `reckon` computes."""
        if place not in self._known:
            self._known[place] = reckon(self._items, self._given, self._keys)
        return self._known[place]


def _reckoner(tree: Expression) -> Reckoner:
    """Make what computes an expression over aggregates: each of them at most once."""
    if isinstance(tree, AggregateNode):
        return make_aggregate(tree)
    places: dict[str, int] = {}

    def part(node: Expression, reckon: Reckoner) -> Getter:
        place = places.setdefault(show(node), len(places))
        return lambda row, _given: cast("_Row", row).value(place, reckon)

    def grouped(path: Path) -> Getter:
        """A path outside: all items have one value there, which is given or is that of the first."""
        get = compile_expression(Field(path))

        def value(items: Sequence[Readable], evaluation: Evaluation, keys: Mapping[Path, JSON]) -> JSON:
            if path in keys:
                return keys[path]
            return get(items[0], evaluation) if items else None

        return part(Field(path), value)

    outer = Compiler(fields=grouped, aggregates=lambda node: part(node, make_aggregate(node))).value(tree)
    return lambda items, given, keys: outer(cast("Any", _Row(items, given, keys)), given)
