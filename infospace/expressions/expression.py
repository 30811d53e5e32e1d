"""Expressions ready to be evaluated, as the parser reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal

from infospace.core.bounds import timed_if_many
from infospace.core.errors import ExpressionInvalid, Invalid, WhereInvalid
from infospace.core.json_types import JSON
from infospace.data.paths import ABSENT, Path, Readable, reader
from infospace.expressions.evaluate import ConditionEvaluator, Getter, compile_condition, compile_expression
from infospace.expressions.mismatch import Evaluation, ItemMismatches, Mismatch, TypeMismatches
from infospace.expressions.tree import And, Call, Expression, Field, IsNull, Not, Or, Parameter, Star, children

MAX_EXPRESSION_CHARACTERS: Final = 32_768
"""Characters of an expression: the slowest of this length is read in about half a second."""
WHERE: Final = "`where`"


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text of the language. `paths` are what it reads, each once, in order; `parameters` what it takes values for.

    Parameters are as written without `$` (`hits[0].metadata.score`); `tree` is what it says.
    """

    text: str
    paths: tuple[Path, ...]
    parameters: tuple[str, ...]
    tree: Expression = field(repr=False)

    @property
    def reads_clock(self) -> bool:
        """Whether `today()` or `now()` stands in it."""
        return any(isinstance(node, Call) and node.function in ("today", "now") for node in walk(self.tree))

    @property
    def reads_all(self) -> bool:
        """Whether `complete(*)` stands in it."""
        return any(isinstance(node, Star) for node in walk(self.tree))


@dataclass(frozen=True, slots=True)
class Where(Parsed):
    """A condition over resources."""

    judge: ConditionEvaluator = field(repr=False, compare=False)

    def match(
        self, resource: Readable, parameters: Mapping[str, Any], tally: TypeMismatches | None = None
    ) -> bool | None:
        """Judge one resource: True, False, or None for unknown (which selects nothing).

        `tally` counts what had no result; AND and OR stop as soon as they are decided. Raises `PathNotFound` for a
        parameter without a value, `Invalid` for one that is no LIKE pattern.
        """
        return self.judge(resource, Evaluation(parameters, TypeMismatches() if tally is None else tally))


@dataclass(frozen=True, slots=True)
class Formula(Parsed):
    """An expression that gives a value: `get` of a resource and an `Evaluation`."""

    get: Getter = field(repr=False, compare=False)

    @property
    def path(self) -> Path | None:
        """The path that it is as a whole; None of what is computed."""
        return self.tree.path if isinstance(self.tree, Field) else None


@dataclass(frozen=True, slots=True)
class SortKey(Formula):
    """What items are sorted by, and the order that the text says itself."""

    order: Literal["asc", "desc"] | None = None


@lru_cache(maxsize=256)
def parse_where(text: str) -> Where:
    """Read a `where`; raises `WhereInvalid`: what was found, at which character, and what is allowed."""
    tree = _read(text, WHERE, condition=True)
    return Where(text, *_reads(tree), tree, compile_condition(tree))


@lru_cache(maxsize=256)
def parse_condition(text: str, name: str = "the condition") -> Where:
    """Read a condition, which errors call `name`; raises `ExpressionInvalid`."""
    tree = _read(text, name, condition=True)
    return Where(text, *_reads(tree), tree, compile_condition(tree))


@lru_cache(maxsize=256)
def parse_expression(text: str, name: str = "the expression") -> Formula:
    """Read an expression, which errors call `name`; raises `ExpressionInvalid`."""
    tree = _read(text, name)
    return Formula(text, *_reads(tree), tree, compile_expression(tree))


_PLACE = re.compile(r"[\w.@\[\]\"'-]*")
"""A text that is meant to be a path, right or wrong."""


@lru_cache(maxsize=256)
def parse_path_or_expression(text: str, name: str = "the expression") -> Formula:
    """Read a path, whatever words of the language are in it, else an expression.

    Raises `Invalid` for what is neither, at a path as `Path.parse` has it, else `ExpressionInvalid`.
    """
    _refuse_long(text, name)
    try:
        tree: Expression = Field(Path.parse(text.strip()))
    except Invalid:
        if _PLACE.fullmatch(text):
            raise
        tree = _read(text, name)
    return Formula(text, *_reads(tree), tree, compile_expression(tree))


_ORDERED = re.compile(r"(?P<key>.*\S)\s+(?P<order>asc|desc)\s*", re.IGNORECASE | re.DOTALL)


@lru_cache(maxsize=256)
def parse_sort_key(text: str) -> SortKey:
    """Read a path or an expression with `asc` or `desc` behind it, or with neither; raises `ExpressionInvalid`.

    What is a path as a whole is one, whatever words of the language are in it (`case`, `due-date`).
    """
    from infospace.expressions.parse import parse_words
    from infospace.expressions.refused import Refused
    from infospace.expressions.tokens import Kind, tokenize

    _refuse_long(text, "the sort key")
    order: Literal["asc", "desc"] | None = None
    ordered = _ORDERED.fullmatch(text)
    for key, last in ((text, ""), (ordered["key"], ordered["order"].lower()) if ordered else (text, "")):
        with suppress(Invalid):
            tree: Expression = Field(Path.parse(key.strip()))
            order = None if not last else "asc" if last == "asc" else "desc"
            return SortKey(text, *_reads(tree), tree, compile_expression(tree), order)
    try:
        _refuse_other_orders(text)
        words: Sequence[Any] = tokenize(text)
        last = words[-1].text.lower() if len(words) > 1 else ""
        ends = len(words) > 1 and words[-2].kind in (Kind.VALUE, Kind.CLOSE, Kind.ELEMENT, Kind.END)
        if last in ("asc", "desc") and ends:
            order, words = ("asc" if last == "asc" else "desc"), words[:-1]
        tree = parse_words(words)
    except Refused as error:
        raise error.named("the sort key", text) from error
    return SortKey(text, *_reads(tree), tree, compile_expression(tree), order)


_LONG_ORDER: Final = re.compile(r"(?<=\s)(?P<order>desc|asc)ending\s*$", re.IGNORECASE)
_NULLS: Final = re.compile(r"(?<=\s)nulls\s+(?:first|last)\s*$", re.IGNORECASE)
_SEVERAL: Final = re.compile(r"[^()\[\]'\"]*,[^()\[\]'\"]*")


def _refuse_other_orders(text: str) -> None:
    """Raise Refused for an order as it is written elsewhere."""
    from infospace.data.json_text import dump
    from infospace.expressions.refused import Refused

    if (long := _LONG_ORDER.search(text)) is not None:
        edit = (long.start(), len(text), long["order"].lower())
        raise Refused(f"ends with {long[0]!r} (character {long.start()})", "it is asc or desc", long.start(), edit=edit)
    if (nulls := _NULLS.search(text)) is not None:
        message = f"ends with {nulls[0]!r} (character {nulls.start()})"
        raise Refused(message, '"nulls": "first" is an argument of its own; last is the default', nulls.start())
    if _SEVERAL.fullmatch(text):
        listed = dump([part.strip() for part in text.split(",")])
        at = text.index(",")
        raise Refused(f"has a comma (character {at})", f"several keys are a list: {listed}", at)


def parameters_in(text: str) -> tuple[str, ...]:
    """Return the references that a text of the language takes values for; none where it cannot be read."""
    from infospace.expressions.refused import Refused
    from infospace.expressions.tokens import tokenize

    if "$" not in text or len(text) > MAX_EXPRESSION_CHARACTERS:
        return ()
    try:
        words = tokenize(text)
    except Refused:
        return ()
    return tuple(dict.fromkeys(word.value.name for word in words if isinstance(word.value, Parameter)))


def _read(text: str, name: str, *, condition: bool = False) -> Expression:
    _refuse_long(text, name)
    from infospace.expressions.parse import parse
    from infospace.expressions.refused import Refused

    try:
        tree, _ = parse(text, condition=condition)
    except Refused as error:
        raise error.named(name, text) from error
    return tree


def _refuse_long(text: str, name: str) -> None:
    if len(text) > MAX_EXPRESSION_CHARACTERS:
        kind = WhereInvalid if name == WHERE else ExpressionInvalid
        message = f"{name} has {len(text):,} characters, more than {MAX_EXPRESSION_CHARACTERS:,}"
        raise kind(message, hint="pass a long list as a parameter: id IN $list", position=MAX_EXPRESSION_CHARACTERS)


def walk(tree: Expression) -> list[Expression]:
    """Return an expression and all that stands in it, in order of the text."""
    results, left = [], [tree]
    while left:
        node = left.pop()
        results.append(node)
        left.extend(reversed(children(node)))
    return results


def guarded_parameters(tree: Expression) -> frozenset[str]:
    """Return the parameters of which a place may be missing: those that stand in `coalesce` and IS NULL alone."""
    inside, outside = _by_guard(tree)
    return frozenset(node.name for node in inside - outside if isinstance(node, Parameter))


def guarded_paths(tree: Expression) -> frozenset[Path]:
    """Return the paths that an item may be without: those that stand in `coalesce` and IS NULL alone."""
    inside, outside = _by_guard(tree)
    return frozenset(node.path for node in inside - outside if isinstance(node, Field))


def asked_parameters(tree: Expression) -> frozenset[str]:
    """Return the parameters that stand in `coalesce` or IS NULL, wherever else they stand."""
    return frozenset(node.name for node in _by_guard(tree)[0] if isinstance(node, Parameter))


def known_parameters(tree: Expression, *, true: bool) -> frozenset[str]:
    """Return the parameters that are known not to be null where a condition is true, or where it is not."""
    match tree:
        case IsNull(Parameter(name)):
            return frozenset() if true else frozenset({name})
        case Not(IsNull(Parameter(name))):
            return frozenset({name}) if true else frozenset()
        case Not(part):
            return known_parameters(part, true=False) if true else frozenset()
        case And(parts) | Or(parts):
            results = [known_parameters(part, true=true) for part in parts]
            return frozenset().union(*results) if isinstance(tree, And) == true else frozenset.intersection(*results)
    return frozenset()


def _by_guard(tree: Expression) -> tuple[set[Field | Parameter], set[Field | Parameter]]:
    """Return what is read in `coalesce` or IS NULL, and what is read anywhere else."""
    inside: set[Field | Parameter] = set()
    outside: set[Field | Parameter] = set()
    left = [(tree, False)]
    while left:
        node, guarded = left.pop()
        if isinstance(node, (Field, Parameter)):
            (inside if guarded else outside).add(node)
        guards = isinstance(node, IsNull) or (isinstance(node, Call) and node.function == "coalesce")
        left.extend((child, guarded or guards) for child in children(node))
    return inside, outside


def evaluate_each(formula: Formula, items: Sequence[Readable], evaluation: Evaluation) -> list[JSON]:
    """Return what an expression gives of each item; a Mismatch names the item."""
    from infospace.expressions.columns import HOLE, column

    get, values = formula.get, column(formula.tree, items, evaluation)
    for place in timed_if_many([place for place, value in enumerate(values) if value is HOLE]):
        item = items[place]
        try:
            values[place] = get(item, evaluation)
        except Mismatch as error:
            raise error.of(f"item {place + 1} ({item.id})") from error
    return values


def values_at(path: Path, items: Sequence[Readable]) -> list[JSON]:
    """Return what items have at a path, null of what has nothing there."""
    return evaluate_each(_path_formula(path), items, Evaluation())


@lru_cache(maxsize=256)
def _path_formula(path: Path) -> Formula:
    tree = Field(path)
    return Formula(str(path), (path,), (), tree, compile_expression(tree))


def match_each(where: Where, items: Sequence[Readable], evaluation: Evaluation) -> list[bool | None]:
    """Return for each item whether it satisfies a condition, None where that is unknown; the tally counts items."""
    from infospace.expressions.columns import HOLE, column

    judge, tally = where.judge, evaluation.tally
    verdicts = column(where.tree, items, evaluation, condition=True)
    holes = [place for place, verdict in enumerate(verdicts) if verdict is HOLE]
    counting = tally if isinstance(tally, ItemMismatches) else None
    for place in timed_if_many(holes):
        if counting is not None:
            counting.begin()
        verdicts[place] = judge(items[place], evaluation)
    if counting is not None:
        counting.skip(len(items) - len(holes))
    return verdicts


def keys_of(items: Sequence[Readable], formulas: Iterable[Parsed]) -> tuple[str, ...]:
    """Return the keys that any item's content has, in order of first appearance, where `complete(*)` asks for them."""
    if not any(formula.reads_all for formula in formulas):
        return ()
    from infospace.expressions.columns import contents_of

    results: dict[str, None] = {}
    for content in contents_of(items):
        if isinstance(content, Mapping):
            results.update(dict.fromkeys(content))
    return tuple(results)


def absent_paths(items: Sequence[Readable], formulas: Iterable[Parsed]) -> str:
    """Say which paths of expressions no item has; "" where there is no such path, or no item."""
    paths = dict.fromkeys(path for formula in formulas for path in formula.paths) if items else {}
    absent = [path for path, find in ((path, reader(path)) for path in paths) if all(find(i) is ABSENT for i in items)]
    return f"no item has {', '.join(f'`{path}`' for path in absent)}" if absent else ""


def _reads(tree: Expression) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    nodes = walk(tree)
    paths = dict.fromkeys(node.path for node in nodes if isinstance(node, Field))
    parameters = dict.fromkeys(node.name for node in nodes if isinstance(node, Parameter))
    return tuple(paths), tuple(parameters)


class EmptyRecord:
    """What an expression over variables alone is evaluated of: it has no places."""

    id = ""
    name = location = None
    content: JSON = None
    metadata: Mapping[str, JSON] = {}
    created = updated = ""
