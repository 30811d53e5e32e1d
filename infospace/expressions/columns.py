"""Expressions over many items at once: a loop of Python that is written for the expression, and compiled once.

The loop computes what values of the expected types give, and null of null. Of anything else (another type, what is
beyond a number, an operation without a result) it gives `HOLE`, and the closure of `evaluate` decides from the
beginning. So there is one meaning, that of the closures, and what has no result is counted and told by them alone.
An expression for which no loop is written is all holes. All that is written into the code are operators and names
of this module: keys, constants and functions stand in its namespace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final, overload

from infospace.core.bounds import check_time
from infospace.core.errors import PathNotFound
from infospace.core.json_types import JSON
from infospace.data.like import like
from infospace.data.paths import ABSENT, OWN, Path, Readable, kind_of, reader
from infospace.expressions.evaluate import OPERATIONS, Getter
from infospace.expressions.functions import (
    CASTS,
    FUNCTIONS,
    MAX_TEXT,
    concatenated,
    joined,
)
from infospace.expressions.mismatch import Evaluation, OperandError
from infospace.expressions.tree import (
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
    Or,
    Parameter,
    children,
)


class _Hole:
    """The type of `HOLE`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "HOLE"


HOLE: Final = _Hole()
"""Stands where the closure is to be asked."""
MIN_COMPILED_ITEMS: Final = 64
"""Items of which the closure is asked at once: to write and compile a loop takes longer."""

_LARGEST: Final = 400
"""Nodes of an expression that a loop is written for."""
_DEEPEST: Final = 16
"""How deep blocks may stand within blocks."""
_PYTHON: Final[dict[Comparator, str]] = {"=": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_TYPES: Final = {
    "text": "type({0}) is str",
    "date": "type({0}) is str",
    "number": "type({0}) in NUMBERS",
    "whole": "type({0}) is int",
    "list": "type({0}) is list",
    "text or list": "type({0}) in SIZED",
    "number or text": "type({0}) in ORDERED",
    "any": "{0} is not None",
}
"""What holds of the value of an argument of each kind, where a function takes it as it is."""
_NAMESPACE: Final[dict[str, Any]] = {
    "__builtins__": {
        "type": type,
        "len": len,
        "enumerate": enumerate,
        **{kind.__name__: kind for kind in (int, float, str, bool, list, dict, Exception)},
    },
    "ABSENT": ABSENT,
    "HOLE": HOLE,
    "MAX_TEXT": MAX_TEXT,
    # A finite number below this one in size is none that `functions.checked` refuses.
    "MOST": 1e308,
    "NUMBERS": frozenset({int, float}),
    "ORDERED": frozenset({int, float, str}),
    "SIZED": frozenset({str, list}),
    "OperandError": OperandError,
    "check_time": check_time,
    "concatenated": concatenated,
    "divided": OPERATIONS["/"],
    "joined": joined,
    "remainder": OPERATIONS["%"],
}


class _Unwritten(Exception):
    """No loop is written for an expression."""


Column = Callable[[Sequence[JSON], Sequence[Readable], Evaluation], list[Any]]
"""Gives of each item, whose contents come first, its value or `HOLE`."""


class _ByIdentity:
    """A tree as a key: equal trees, as of `1` and `true`, are not one."""

    __slots__ = ("node",)

    def __init__(self, node: Expression) -> None:
        self.node = node

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and other.node is self.node

    def __hash__(self) -> int:
        return id(self.node)


@lru_cache(maxsize=256)
def _column_of(tree: _ByIdentity, names: frozenset[str], *, condition: bool) -> Column | None:
    """Write and compile the loop of an expression, where the parameters `names` have values."""
    try:
        return _Loop(names).compile(tree.node, condition=condition)
    except _Unwritten:
        return None


def column(
    tree: Expression, items: Sequence[Readable], evaluation: Evaluation, *, condition: bool = False
) -> list[Any]:
    """Return what an expression gives of each item, and `HOLE` where the closure is to be asked.

    With `condition` it is True, False or, as None, unknown.
    """
    if len(items) < MIN_COMPILED_ITEMS:
        return [HOLE] * len(items)
    known_names = frozenset(
        name for name, value in evaluation.parameters.items() if not isinstance(value, PathNotFound)
    )
    result = _column_of(_ByIdentity(tree), known_names, condition=condition)
    return [HOLE] * len(items) if result is None else result(contents_of(items), items, evaluation)


def contents_of(items: Sequence[Readable]) -> Sequence[JSON]:
    """Return the contents of items, as they are read where they are read at once."""
    contents = getattr(items, "contents", None)
    return list(map(_CONTENT, items)) if contents is None else contents


_CONTENT: Final = attrgetter("content")


class Chosen(Sequence[Readable]):
    """Some of many items, by their places; what is computed of all of them at once is computed once."""

    __slots__ = ("_columns", "_items", "places")

    def __init__(
        self, items: Sequence[Readable], places: Sequence[int], columns: dict[Getter, list[Any]] | None = None
    ) -> None:
        self._items = items
        self._columns = {} if columns is None else columns
        self.places = places

    def part(self, places: Sequence[int]) -> Chosen:
        """Return others of the same items, which share what was computed."""
        return Chosen(self._items, places, self._columns)

    def values(self, get: Getter, tree: Expression, evaluation: Evaluation) -> list[JSON]:
        """Return what an expression gives of these items, null left out; `get` is its closure."""
        results = self._columns.get(get)
        if results is None:
            results = self._columns[get] = column(tree, self._items, evaluation)
        values = [value for place in self.places if (value := results[place]) is not None]
        if HOLE not in values:
            return values
        items = self._items
        filled = ((get(items[at], evaluation) if results[at] is HOLE else results[at]) for at in self.places)
        return [value for value in filled if value is not None]

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> Readable: ...
    @overload
    def __getitem__(self, index: slice) -> Chosen: ...
    def __getitem__(self, index: int | slice) -> Readable | Chosen:
        if isinstance(index, slice):
            return self.part(self.places[index])
        return self._items[self.places[index]]

    def __iter__(self) -> Iterator[Readable]:
        return (self._items[place] for place in self.places)


class _Loop:
    """Writes the loop of one expression: statements line by line, each value in a variable of its own."""

    def __init__(self, names: frozenset[str]) -> None:
        self._given = names
        self._lines: list[str] = []
        self._names: dict[str, Any] = {}
        self._before: list[str] = []
        self._fields: dict[tuple[Any, ...], str] = {}
        self._depth = 3
        self._count = 0

    def compile(self, tree: Expression, *, condition: bool) -> Column:
        """Return the compiled loop. Raises _Unwritten."""
        self._bound(tree)
        value = self.condition(tree) if condition else self.value(tree)
        body = [*self._reads(), *self._lines]
        code = "\n".join(
            [
                "def column(contents, items, given):",
                *self._before,
                " found = []",
                " append = found.append",
                " for i, c in enumerate(contents):",
                "  if not i & 255: check_time()",
                "  try:",
                *body,
                f"   append({value})",
                # Whatever does not fit is left to the closure, which says what it was.
                "  except Exception: append(HOLE)",
                " return found",
            ]
        )
        namespace = _NAMESPACE | self._names
        exec(compile(code, "<column>", "exec"), namespace)  # noqa: S102 - names and operators of this module alone
        result: Column = namespace["column"]
        return result

    def _bound(self, tree: Expression) -> None:
        left, count = [tree], 0
        while left:
            count += 1
            if count > _LARGEST:
                raise _Unwritten
            left.extend(children(left.pop()))

    # Lines and names

    def _write(self, line: str) -> None:
        self._lines.append(" " * self._depth + line)

    def _new(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def _constant(self, value: object) -> str:
        """Return the name of a value that the code has beside it."""
        name = f"k{len(self._names)}"
        self._names[name] = value
        return name

    def _begin(self, line: str) -> None:
        self._write(line)
        self._depth += 1
        if self._depth > 3 + _DEEPEST:
            raise _Unwritten

    def _end(self) -> None:
        self._depth -= 1

    def _cases(self, result: str, *cases: tuple[str, str]) -> str:
        """Write which value stands where; of a value to which no test applies the closure decides."""
        keyword = "if"
        for test, value in cases:
            self._write(f"{keyword} {test}: {result} = {value}")
            keyword = "elif"
        self._write("else: raise OperandError")
        return result

    # Reading

    def _reads(self) -> list[str]:
        """The lines that read fields, each once."""
        lines = [f"   {name} = c.get({self._constant(parts[0])})" for parts, name in self._fields.items()]
        for parts, name in self._fields.items():
            lines += self._steps(name, parts)
        return ["   if type(c) is not dict: raise OperandError", *lines] if lines else []

    def _steps(self, name: str, parts: tuple[Any, ...]) -> list[str]:
        lines = []
        for part in parts[1:]:
            constant = self._constant(part)
            if isinstance(part, str):
                lines += [f"   if type({name}) is dict: {name} = {name}.get({constant})"]
                lines += [f"   elif {name} is not None: raise OperandError"]
            else:
                lines += [f"   if type({name}) is list: {name} = {_at(name, constant)}"]
                lines += [f"   elif {name} is not None: raise OperandError"]
        return lines

    def _field(self, path: Path) -> str:
        """Return the variable of a place in the content; what may stand elsewhere is read of the item."""
        parts = path.parts
        if not parts:
            return "c"
        if parts == ("content",):
            # Of a text it is the text.
            name = self._new()
            self._write(f"if type(c) is str: {name} = c")
            self._write(f"elif type(c) is dict: {name} = c.get('content')")
            self._write("else: raise OperandError")
            return name
        if not isinstance(parts[0], str) or parts[0] in OWN or parts[0] in ("metadata", "content"):
            name = self._new()
            self._write(f"{name} = {self._constant(reader(path))}(items[i])")
            self._write(f"if {name} is ABSENT: {name} = None")
            return name
        if parts not in self._fields:
            self._fields[parts] = self._new()
        return self._fields[parts]

    # Values

    def value(self, node: Expression) -> str:
        """Write what computes a value; return the variable in which it is."""
        match node:
            case Constant(value):
                return self._constant(value)
            case Field(path):
                return self._field(path)
            case Parameter(name):
                return self._parameter(name)
            case Call():
                return self._call(node)
            case Arithmetic(first, rest):
                left = self.value(first)
                for operator, part in rest:
                    left = self._operated(operator, left, self.value(part))
                return left
            case Element(inner, place):
                value, constant = self.value(inner), self._constant(place)
                return self._cases(
                    self._new(), (f"type({value}) is list", _at(value, constant)), (f"{value} is None", "None")
                )
            case Negative(inner):
                value = self.value(inner)
                return self._cases(
                    self._new(), (f"type({value}) in NUMBERS", f"-{value}"), (f"{value} is None", "None")
                )
            case Cast(inner, to, attempt):
                return self._cast(self.value(inner), self._constant(CASTS[to]), attempt=attempt)
            case Case():
                return self._case(node)
            case And() | Or() | Not() | Compare() | In() | InList() | Like() | Between() | IsNull():
                return self.condition(node)
        raise _Unwritten

    def _parameter(self, name: str) -> str:
        if name not in self._given:
            raise _Unwritten
        variable = self._new()
        self._before.append(f" {variable} = given.parameters[{self._constant(name)}]")
        return variable

    def _call(self, node: Call) -> str:
        name = node.function
        if name == "coalesce":
            return self._coalesce(node.arguments)
        if name in ("today", "now"):
            result = self._new()
            self._write(f"{result} = given.present()[{int(name == 'now')}]")
            return result
        if name == "concat_ws":
            separator, *parts = [self.value(argument) for argument in node.arguments]
            texts = f"joined({separator}, [{', '.join(parts)}])"
            return self._cases(self._new(), (f"{separator} is None", "None"), (f"type({separator}) is str", texts))
        function = FUNCTIONS[name]
        if function.apply is None:
            raise _Unwritten
        values = [self.value(argument) for argument in node.arguments]
        fits = " and ".join(_TYPES[function.accepts(place)].format(value) for place, value in enumerate(values))
        called = f"{self._constant(function.apply)}({', '.join(values)})"
        # The first argument is asked first: where it is null, nothing is wrong with the others.
        return self._cases(self._new(), (fits, called), (f"{values[0]} is None", "None"))

    def _coalesce(self, arguments: Sequence[Expression]) -> str:
        result = self._new()
        self._write(f"{result} = None")
        for argument in arguments:
            self._begin(f"if {result} is None:")
            self._write(f"{result} = {self.value(argument)}")
            self._end()
        return result

    def _operated(self, operator: str, left: str, right: str) -> str:
        result = self._new()
        null = f"{left} is None or {right} is None"
        if operator == "||":
            texts = f"type({left}) is str and type({right}) is str and len({left}) + len({right}) <= MAX_TEXT"
            self._write(f"if {texts}: {result} = {left} + {right}")
            self._write(f"elif {null}: {result} = None")
            self._write(f"else: {result} = concatenated({left}, {right})")
            return result
        inline = {"/": f"divided({left}, {right})", "%": f"remainder({left}, {right})"}
        self._begin(f"if type({left}) in NUMBERS and type({right}) in NUMBERS:")
        self._write(f"{result} = {inline.get(operator, f'{left} {operator} {right}')}")
        self._write(f"if not -MOST < {result} < MOST: raise OperandError")
        self._end()
        self._write(f"elif {null}: {result} = None")
        self._write("else: raise OperandError")
        return result

    def _cast(self, value: str, to: str, *, attempt: bool) -> str:
        result = self._new()
        if not attempt:
            self._write(f"{result} = None if {value} is None else {to}({value})")
            return result
        self._write(f"try: {result} = None if {value} is None else {to}({value})")
        self._write(f"except OperandError: {result} = None")
        return result

    def _case(self, node: Case) -> str:
        result = self._new()
        self._write(f"{result} = HOLE")
        for place, (when, then) in enumerate(node.branches):
            if place:
                self._begin(f"if {result} is HOLE:")
            self._begin(f"if {self.condition(when)}:")
            self._write(f"{result} = {self.value(then)}")
            self._end()
            if place:
                self._end()
        self._begin(f"if {result} is HOLE:")
        self._write(f"{result} = {self.value(node.otherwise)}")
        self._end()
        return result

    # Conditions

    def condition(self, node: Expression) -> str:
        """Write what judges; return the variable in which True, False or None is."""
        match node:
            case And(parts):
                return self._joined(parts, stop="False", on="True")
            case Or(parts):
                return self._joined(parts, stop="True", on="False")
            case Not(part):
                verdict, result = self.condition(part), self._new()
                self._write(f"{result} = None if {verdict} is None else not {verdict}")
                return result
            case Compare(by, left, right):
                return self._compared(by, self._side(left), self._side(right))
            case Between(value, low, high):
                return self._between(self._side(value), self._side(low), self._side(high))
            case In():
                return self._in(node)
            case InList(value, Parameter(name)):
                return self._in_list(self.value(value), self._parameter(name))
            case Like(value, Constant(str() as pattern), escape):
                text, fits = self.value(value), self._constant(like(pattern, escape))
                return self._cases(
                    self._new(), (f"type({text}) is str", f"{fits}({text})"), (f"{text} is None", "None")
                )
            case IsNull(value):
                inner, result = self.value(value), self._new()
                self._write(f"{result} = {inner} is None")
                return result
            case Like():
                raise _Unwritten
        truth = self.value(node)
        return self._cases(self._new(), (f"{truth} is None or type({truth}) is bool", truth))

    def _joined(self, parts: Sequence[Expression], *, stop: str, on: str) -> str:
        """AND and OR: the first that decides ends it; unknown stays where nothing decides."""
        result = self._new()
        self._write(f"{result} = {on}")
        for part in parts:
            self._begin(f"if {result} is not {stop}:")
            verdict = self.condition(part)
            self._write(f"if {verdict} is not {on}: {result} = {verdict}")
            self._end()
        return result

    def _side(self, node: Expression) -> tuple[str, str]:
        """Return the variable of what is compared, and the kind that it is known to have."""
        known = kind_of(node.value) if isinstance(node, Constant) else ""
        return self.value(node), known

    def _compared(self, by: Comparator, left: tuple[str, str], right: tuple[str, str]) -> str:
        (one, kind), (other, other_kind) = left, right
        result, test = self._new(), f"{one} {_PYTHON[by]} {other}"
        null = (f"{one} is None or {other} is None", "None")
        if kind and not other_kind:
            one, other, kind, other_kind = other, one, other_kind, kind
        if other_kind and not kind:
            if other_kind == "boolean" and by in ("=", "!="):
                return self._cases(result, (f"type({one}) is bool", test), null)
            if other_kind not in ("number", "string"):
                raise _Unwritten
            fits = _TYPES["number" if other_kind == "number" else "text"].format(one)
            return self._cases(result, (fits, test), null)
        numbers = f"type({one}) in NUMBERS and type({other}) in NUMBERS"
        texts = f"type({one}) is str and type({other}) is str"
        return self._cases(result, (numbers, test), (texts, test), null)

    def _between(self, value: tuple[str, str], low: tuple[str, str], high: tuple[str, str]) -> str:
        above, below = self._compared(">=", value, low), self._compared("<=", value, high)
        result = self._new()
        self._write(f"if {above} is False: {result} = False")
        self._write(f"else: {result} = {below} if {above} or {below} is False else None")
        return result

    def _in(self, node: In) -> str:
        """One of constants of one kind: any other mixture is left to the closure."""
        known = [item.value for item in node.items if isinstance(item, Constant)]
        kinds = {kind_of(value) for value in known} - {"null"}
        if len(known) < len(node.items) or len(kinds) != 1 or not kinds <= {"number", "string"}:
            raise _Unwritten
        value = self.value(node.value)
        fits = _TYPES["number" if "number" in kinds else "text"].format(value)
        there = f"{value} in {self._constant(frozenset(item for item in known if item is not None))}"
        verdict = f"True if {there} else None" if None in known else there
        return self._cases(self._new(), (fits, verdict), (f"{value} is None", "None"))

    def _in_list(self, value: str, text: str) -> str:
        """One of a list that is given: what stands in it is looked at once."""
        members, types, otherwise = self._new(), self._new(), self._new()
        self._before.append(f" {members}, {types}, {otherwise} = members_of({text})")
        verdict = f"True if {value} in {members} else {otherwise}"
        return self._cases(
            self._new(), (f"type({value}) in {types}", verdict), (f"{types} and {value} is None", "None")
        )


def _at(value: str, place: str) -> str:
    return f"{value}[{place}] if -len({value}) <= {place} < len({value}) else None"


def _members_of(value: JSON) -> tuple[frozenset[Any], frozenset[type], bool | None]:
    """Return the members of a list of numbers or of texts, their types, and what holds of what is none of them.

    Of anything else there are no types, so that no value fits.
    """
    if isinstance(value, (list, tuple)):
        members = [item for item in value if item is not None]
        unknown = None if len(members) < len(value) else False
        results = set(map(type, members))
        for types in (_NAMESPACE["NUMBERS"], frozenset({str})):
            if results and results <= types:
                return frozenset(members), types, unknown
    return frozenset(), frozenset(), None


_NAMESPACE["members_of"] = _members_of
