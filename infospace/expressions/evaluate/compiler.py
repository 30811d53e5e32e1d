"""Expressions as closures: made once, called for every resource."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias, assert_never

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.data.like import like
from infospace.data.paths import ABSENT, Path, Readable, kind_of, reader
from infospace.expressions.compare import MIRRORED, TESTS, Verdict, compare, kind_word
from infospace.expressions.evaluate.arithmetic import (
    OPERATIONS,
    cast_of,
    computation_of,
    concat,
    concatenation_of,
    negative_of,
    operated,
)
from infospace.expressions.evaluate.closures import ConditionEvaluator, Getter
from infospace.expressions.evaluate.conditions import (
    all_of,
    any_of,
    between,
    comparison_with_constant,
    in_list,
    is_among,
    negation_of,
    truth_of,
)
from infospace.expressions.evaluate.function_calls import (
    call_with_one,
    call_with_several,
    coalesce,
    concat_ws,
    element_of,
    parameter_of,
)
from infospace.expressions.functions import CASTS, FUNCTIONS
from infospace.expressions.mismatch import Evaluation
from infospace.expressions.show import show
from infospace.expressions.tree import (
    Aggregate,
    And,
    Arithmetic,
    Between,
    Call,
    Case,
    Cast,
    Comparator,
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
    Operator,
    Or,
    Parameter,
    Star,
)

FieldReader: TypeAlias = Callable[[Path], Getter]
"""Makes the closure that reads a path."""


_DIRECT: Final = frozenset({(int, int), (float, float), (int, float), (float, int), (str, str)})
"""Types of two values that compare as they are."""
_CHAIN: Final = 64
"""Operators in a row that are closures within closures."""


def compile_expression(node: Expression) -> Getter:
    """Make the closure that gives the value of an expression."""
    return Compiler().value(node)


def compile_condition(node: Expression) -> ConditionEvaluator:
    """Make the closure that judges one resource; a missing place of a parameter is null in it."""
    return Compiler(lenient=True).condition(node)


def _read_field(path: Path) -> Getter:
    find = reader(path)

    def field(resource: Readable, _given: Evaluation) -> JSON:
        value = find(resource)
        return None if value is ABSENT else value

    return field


class Compiler:
    """Makes closures of the parts of one expression."""

    def __init__(
        self,
        *,
        lenient: bool = False,
        fields: FieldReader = _read_field,
        aggregates: Callable[[Aggregate], Getter] | None = None,
    ) -> None:
        """`lenient` makes a parameter's missing place null; `fields` and `aggregates` say how those are read."""
        self._lenient = lenient
        self._fields = fields
        self._plain = fields is _read_field
        self._aggregates = aggregates

    def value(self, node: Expression) -> Getter:
        """Make the closure that gives what `node` is."""
        match node:
            case Constant(constant):
                return lambda _resource, _given: constant
            case Field(path):
                return self._fields(path)
            case Parameter(name):
                return parameter_of(name, lenient=self._lenient)
            case Call():
                return self._call(node)
            case Element(value, place):
                return element_of(self.value(value), place, show(node))
            case Aggregate():
                if self._aggregates is None:
                    raise Invalid(f"`{show(node)}` is an aggregate, which `group` makes of many items")
                return self._aggregates(node)
            case Arithmetic(first, rest):
                return self._arithmetic(node, first, rest)
            case Negative(value):
                return negative_of(self.value(value), show(node))
            case Cast(value, to, attempt):
                return cast_of(self.value(value), CASTS[to], show(node), attempt=attempt)
            case Case():
                return self._case(node)
            case Star():
                return lambda _resource, _given: None
            case And() | Or() | Not() | Compare() | In() | InList() | Like() | Between() | IsNull():
                return self.condition(node)
            case _:
                assert_never(node)

    def condition(self, node: Expression) -> ConditionEvaluator:
        """Make the closure that says whether `node` is true."""
        match node:
            case And(parts):
                return all_of([self.condition(part) for part in parts])
            case Or(parts):
                return any_of([self.condition(part) for part in parts])
            case Not(part):
                return negation_of(self.condition(part))
            case Compare(by, left, right):
                return self._compare(by, left, right)
            case In():
                return self._in(node)
            case InList(value, items):
                return in_list(self.value(value), self.value(items), show(node))
            case Like():
                return self._like(node)
            case Between(value, low, high):
                return between(self.value(value), self.value(low), self.value(high), show(node))
            case IsNull(value):
                get = self._leniently(value)
                return lambda resource, given: get(resource, given) is None
            case _:
                return truth_of(self.value(node), show(node))

    def _leniently(self, node: Expression) -> Getter:
        """Make a closure in which a missing place of a parameter is null."""
        return Compiler(lenient=True, fields=self._fields, aggregates=self._aggregates).value(node)

    def _call(self, node: Call) -> Getter:
        text, name = show(node), node.function
        match name:
            case "coalesce":
                return coalesce([self._leniently(argument) for argument in node.arguments])
            case "concat_ws":
                return concat_ws([self.value(argument) for argument in node.arguments], text)
            case "complete":
                return self._complete(node)
            case "today":
                return lambda _resource, given: given.present()[0]
            case "now":
                return lambda _resource, given: given.present()[1]
        function = FUNCTIONS[name]
        assert function.apply is not None  # noqa: S101 - those without are above
        getters = [self.value(argument) for argument in node.arguments]
        kinds = [function.accepts(place) for place in range(len(getters))]
        if len(getters) == 1:
            return call_with_one(name, function.apply, getters[0], kinds[0], text)
        return call_with_several(name, function.apply, getters, kinds, text)

    def _complete(self, node: Call) -> Getter:
        if not isinstance(node.arguments[0], Star):
            getters = [self.value(argument) for argument in node.arguments]
            return lambda resource, given: all(get(resource, given) is not None for get in getters)

        def complete(resource: Readable, evaluation: Evaluation) -> bool:
            content = resource.content
            if not isinstance(content, dict):
                return content is not None
            return all(content.get(key) is not None for key in evaluation.fields)

        return complete

    def _arithmetic(self, node: Expression, first: Expression, rest: Sequence[tuple[Operator, Expression]]) -> Getter:
        text = show(node)
        if len(rest) >= _CHAIN:
            return self._long(text, first, rest)
        result = self.value(first)
        for operator, part in rest:
            result = (
                concatenation_of(result, self.value(part), text)
                if operator == "||"
                else computation_of(operator, result, self.value(part), text)
            )
        return result

    def _long(self, text: str, first: Expression, rest: Sequence[tuple[Operator, Expression]]) -> Getter:
        """Make one closure of a row of so many operators that closures within closures would exhaust the stack."""
        get_first = self.value(first)
        steps = [(concat if operator == "||" else OPERATIONS[operator], self.value(part)) for operator, part in rest]

        def row(resource: Readable, evaluation: Evaluation) -> JSON:
            value = get_first(resource, evaluation)
            for apply, get in steps:
                value = operated(apply, value, get(resource, evaluation), evaluation, text)
            return value

        return row

    def _case(self, node: Case) -> Getter:
        branches = [(self.condition(when), self.value(then)) for when, then in node.branches]
        otherwise = self.value(node.otherwise)

        def case(resource: Readable, evaluation: Evaluation) -> JSON:
            for when, then in branches:
                if when(resource, evaluation):
                    return then(resource, evaluation)
            return otherwise(resource, evaluation)

        return case

    def _compare(self, by: Comparator, left: Expression, right: Expression) -> ConditionEvaluator:
        text = show(Compare(by, left, right))
        if self._plain:
            match left, right:
                case Field(path), Constant(str() | int() | float() as known):
                    return comparison_with_constant(by, path, known, text)
                case Constant(str() | int() | float() as known), Field(path):
                    return comparison_with_constant(MIRRORED[by], path, known, text)
        get_left, get_right, test = self.value(left), self.value(right), TESTS[by]

        def both(resource: Readable, evaluation: Evaluation) -> Verdict:
            one, other = get_left(resource, evaluation), get_right(resource, evaluation)
            types = type(one), type(other)
            if types in _DIRECT:
                return test(one, other)
            return compare(by, one, other, evaluation.tally, text)

        return both

    def _in(self, node: In) -> ConditionEvaluator:
        get, text = self.value(node.value), show(node)
        getters = [self.value(item) for item in node.items if not isinstance(item, Constant)]
        known = [item.value for item in node.items if isinstance(item, Constant)]
        by_kind: dict[str, set[JSON]] = {}
        for item in known:
            by_kind.setdefault(kind_of(item), set()).add(item)
        has_null = "null" in by_kind
        count = {kind: sum(kind_of(item) == kind for item in known) for kind in by_kind if kind != "null"}
        total = sum(count.values())

        def contained(resource: Readable, evaluation: Evaluation) -> Verdict:
            value = get(resource, evaluation)
            if value is None:
                return None
            kind = kind_of(value)
            likes = by_kind.get(kind)
            if likes is not None and value in likes:
                return True
            alike = total == count.get(kind, 0)
            others = [] if alike else [item for item in known if kind_of(item) not in (kind, "null")]
            items = [get_item(resource, evaluation) for get_item in getters]
            return is_among(value, kind, items, others, evaluation, text, unknown=has_null)

        return contained

    def _like(self, node: Like) -> ConditionEvaluator:
        get, escape, text = self.value(node.value), node.escape, show(node)
        match node.pattern:
            case Constant(str() as pattern):
                fits = like(pattern, escape)

                def fixed(resource: Readable, evaluation: Evaluation) -> Verdict:
                    value = get(resource, evaluation)
                    if isinstance(value, str):
                        return fits(value)
                    if value is not None:
                        evaluation.tally.wrong(text, f"looks at {kind_word(value)}, not at text", value)
                    return None

                return fixed
        get_pattern = self.value(node.pattern)

        def varying(resource: Readable, evaluation: Evaluation) -> Verdict:
            value, pattern = get(resource, evaluation), get_pattern(resource, evaluation)
            if isinstance(value, str) and isinstance(pattern, str):
                return like(pattern, escape)(value)
            if value is not None and pattern is not None:
                evaluation.tally.wrong(text, f"compares {kind_word(value)} with {kind_word(pattern)}", value, pattern)
            return None

        return varying
