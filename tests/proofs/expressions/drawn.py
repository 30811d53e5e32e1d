"""Random expressions of the language, typed as an engine wants them, and random rows for them to be computed of.

Types: `small` are whole numbers that a double holds, `int` whole numbers of any size, `double` numbers with a point,
`number` either (and small), `dyadic` doubles whose sums are exact, `text`, `date` (a text, mostly an ISO date),
`bool`, `ints`, `texts`. What is of no size is not mixed with doubles: an engine would round it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from infospace.data.paths import Path
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

TODAY, NOW = "2026-11-23", "2026-11-23T09:30:05Z"
LETTERS: Final = "aAbBzéÉжЖ日🎉 _%.,-'1"
WORDS: Final = ("", "a", "Ab", "12", "-3.5", " 7 ", "1e3", "true", " FALSE ", "x y", "b%", "a_b", "\tz ", ".5", "5.")
DATES: Final = (
    *("2024-02-29", "2023-12-31", "2026-01-31", "2000-02-28", "1999-12-31T23:59:59", "2026-11-23T09:30:05Z"),
    *("2024-03-01 00:15", "2026-06-30T12:00:00+02:00", "0001-01-01", "9999-12-31", "2026-02-30", "soon", "2026-1-5"),
)
FORMS: Final = ("%Y-%m-%d", "%A %-d %B", "%a %d %b %y", "%j", "%G-W%V-%u", "%H:%M:%S", "%I %p", "100%%", "%f")
PATTERNS: Final = ("a", "[a-z]+", r"(\w)(\w)", "^a", "b*", r"\d+", ".", "é|日", "(?i)A", r"\pL", "", "x$")
GROUPED: Final = {r"(\w)(\w)": 2}
COLUMNS: Final = {
    "small": ("n", "m", "o.k"),
    "int": ("big", "n"),
    "double": ("x", "y", "o.x"),
    "dyadic": ("y",),
    "number": ("x", "n"),
    "text": ("s", "t", "o.s"),
    "date": ("d", "e"),
    "bool": ("p", "q"),
    "ints": ("ints",),
    "texts": ("texts",),
}
PARAMETERS: Final[dict[str, Any]] = {
    "n": 3,
    "x": 0.25,
    "s": "aB",
    "none": None,
    "ints": [1, 2, None],
    "few": [0, 3],
    "no": [],
    "texts": ["a", "Ab", ""],
}


def draw_row(chance: random.Random) -> dict[str, Any]:
    """Make the content of one item; a third of its places are null."""

    def maybe(value: Any) -> Any:
        return None if chance.random() < 0.2 else value

    def text() -> str:
        if chance.random() < 0.4:
            return chance.choice(WORDS)
        return "".join(chance.choice(LETTERS) for _ in range(chance.randint(0, 6)))

    def small() -> int:
        return chance.choice((0, 1, -1, chance.randint(-20, 20), chance.randint(-1000, 1000)))

    def dyadic() -> float:
        return chance.randint(-4000, 4000) / 8

    def double() -> float:
        made = (dyadic(), chance.uniform(-100, 100), round(chance.uniform(-9, 9), 3), 0.5, -0.0, 2.5, 1.005)
        return chance.choice((*made, chance.uniform(-1, 1) * 10.0 ** chance.randint(-9, 14)))

    row = {
        "n": maybe(small()),
        "m": small(),
        "big": maybe(chance.choice((small(), chance.randint(-(10**18), 10**18), chance.randint(-(10**30), 10**30)))),
        "x": maybe(double()),
        "y": maybe(dyadic()),
        "s": maybe(text()),
        "t": text(),
        "p": maybe(chance.random() < 0.5),
        "q": chance.random() < 0.5,
        "d": maybe(chance.choice(DATES)),
        "e": f"{chance.randint(1900, 2100)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}",
        "ints": maybe([maybe(small()) for _ in range(chance.randint(0, 4))]),
        "texts": maybe([maybe(text()) for _ in range(chance.randint(0, 3))]),
        "o": maybe({"k": small(), "x": maybe(double()), "s": text()}),
    }
    return {key: value for key, value in row.items() if value is not None or chance.random() < 0.7}


Leaf = Callable[[str], Expression]


@dataclass
class Drawer:
    """Draws expressions of a type. `leaf` draws what stands at their ends."""

    chance: random.Random
    leaf: Leaf = field(init=False)
    many: bool = False
    """Whether a field can only stand in an aggregate."""

    def __post_init__(self) -> None:
        self.leaf = self.place

    def element(self, of: str, wanted: str) -> Expression:
        """One element of a list."""
        return self.leaf(wanted) if self.many else Field(Path((of, self.chance.randint(-2, 2))))

    def one(self, *makers: Callable[[], Expression]) -> Expression:
        return self.chance.choice(makers)()

    def place(self, wanted: str) -> Expression:
        """A field, a constant or a parameter."""
        if self.chance.random() < 0.6:
            return column(self.chance.choice(COLUMNS[wanted]))
        return self.constant(wanted)

    def constant(self, wanted: str) -> Expression:
        chance = self.chance
        match wanted:
            case "small":
                small = [0, 1, 2, 3, 7, -1, -4, chance.randint(-99, 99)]
                return chance.choice([*(Constant(value) for value in small), Parameter("n"), Parameter("none")])
            case "int":
                return Constant(chance.choice((0, 1, 10, -3, 10**18, 2**64, -(2**53) - 1, chance.randint(0, 10**20))))
            case "double" | "number" | "dyadic":
                values = (0.5, 2.25, 1e-3, 100.0, 1.005, 0.1) if wanted != "dyadic" else (0.5, 2.25, 100.0, 0.125)
                return chance.choice([*(Constant(value) for value in values), Parameter("x")])
            case "text":
                return chance.choice([*(Constant(word) for word in WORDS), Parameter("s"), Constant("日🎉é")])
            case "date":
                return chance.choice([*(Constant(date) for date in DATES[:6]), Call("today", ()), Call("now", ())])
            case "bool":
                return chance.choice((Constant(True), Constant(False), Constant(None)))
            case "ints":
                return Parameter("ints")
        return chance.choice((Parameter("texts"), Call("split", (self.place("text"), Constant(chance.choice(", _b"))))))

    def draw(self, wanted: str, depth: int) -> Expression:
        """Draw an expression of a type, at most so deep."""
        if depth <= 0 or self.chance.random() < 0.12:
            return self.leaf(wanted)
        if self.chance.random() < 0.12:
            return self.chosen(wanted, depth)
        found: Expression = getattr(self, f"_{wanted}")(depth - 1)
        return found

    def chosen(self, wanted: str, depth: int) -> Expression:
        """CASE, or coalesce, of things of a type."""
        parts = tuple(self.draw(wanted, depth - 1) for _ in range(self.chance.randint(2, 3)))
        if self.chance.random() < 0.4:
            return Call("coalesce", parts)
        branches = tuple((self.draw("bool", depth - 1), part) for part in parts[1:])
        return Case(branches, self.chance.choice((Constant(None), parts[0])))

    def extreme(self, wanted: str, depth: int) -> Expression:
        parts = tuple(self.draw(wanted, depth) for _ in range(self.chance.randint(1, 3)))
        return Call(self.chance.choice(("least", "greatest")), parts)

    def row_of(self, wanted: str, operators: str, depth: int) -> Arithmetic:
        signs = self.chance.choices(operators.split(), k=self.chance.choice((1, 1, 1, 2)))
        return Arithmetic(self.draw(wanted, depth), tuple((sign, self.draw(wanted, depth)) for sign in signs))  # type: ignore[misc]

    def _small(self, depth: int) -> Expression:
        return self.one(
            lambda: self.row_of("small", "+ -", min(depth, 2)),
            lambda: Arithmetic(self.leaf("small"), (("*", self.leaf("small")),)),
            lambda: Arithmetic(self.draw("small", depth), (("%", self.draw("small", depth)),)),
            lambda: Negative(self.draw("small", depth)),
            lambda: Call("abs", (self.draw("small", depth),)),
            lambda: Call("length", (self.draw(self.chance.choice(("text", "texts", "ints")), depth),)),
            lambda: Call(self.chance.choice(("year", "month", "day", "weekday")), (self.draw("date", depth),)),
            lambda: Call("days", (self.draw("date", depth), self.draw("date", depth))),
            lambda: Cast(self.draw("bool", depth), "integer", self.chance.random() < 0.5),
            lambda: Call("power", (self.leaf("small"), Constant(self.chance.randint(0, 4)))),
            lambda: self.element("ints", "small"),
            lambda: self.extreme("small", depth),
        )

    def _int(self, depth: int) -> Expression:
        return self.one(
            lambda: self.row_of("int", "+ -", depth),
            lambda: Arithmetic(self.leaf("int"), (("*", self.leaf("small")),)),
            lambda: self.row_of("int", "%", depth),
            lambda: Negative(self.draw("int", depth)),
            lambda: Call("abs", (self.draw("int", depth),)),
            lambda: Call("round", (self.draw("number", depth),)),
            lambda: Call("round", (self.draw("int", depth), Constant(self.chance.randint(-3, 2)))),
            lambda: Call(self.chance.choice(("floor", "ceil")), (self.draw("number", depth),)),
            lambda: Cast(self.draw("number", depth), "integer", attempt=True),
            lambda: Cast(self.draw("text", depth), "integer", attempt=True),
            lambda: self.extreme("int", depth),
            lambda: self.draw("small", depth),
        )

    def _double(self, depth: int) -> Expression:
        mixed = self.chance.choice(("double", "small"))
        return self.one(
            lambda: self.row_of("double", self.chance.choice(("+ -", "*")), depth),
            lambda: Arithmetic(self.draw("double", depth), (("+", self.draw(mixed, depth)),)),
            lambda: Arithmetic(self.draw(mixed, depth), (("*", self.draw("double", depth)),)),
            lambda: Arithmetic(self.draw("double", depth), (("/", self.draw("double", depth)),)),
            lambda: Arithmetic(self.draw("double", depth), (("%", self.draw("double", depth)),)),
            lambda: Negative(self.draw("double", depth)),
            lambda: Call("abs", (self.draw("double", depth),)),
            lambda: Call("round", (self.draw("double", depth), Constant(self.chance.randint(0, 5)))),
            lambda: Call("sqrt", (self.draw("number", depth),)),
            lambda: Call("power", (self.leaf("double"), Constant(self.chance.choice((2, 3, 0.5, -1))))),
            lambda: self.extreme("double", depth),
        )

    def _dyadic(self, depth: int) -> Expression:
        return self.one(
            lambda: self.row_of("dyadic", "+ -", min(depth, 1)),
            lambda: Arithmetic(self.leaf("dyadic"), (("*", self.leaf("small")),)),
            lambda: Negative(self.draw("dyadic", depth)),
        )

    def _number(self, depth: int) -> Expression:
        return self.one(
            lambda: self.draw("double", depth),
            lambda: self.draw("small", depth),
            lambda: Arithmetic(self.draw("small", depth), (("/", self.draw("small", depth)),)),
            lambda: self.row_of("number", self.chance.choice(("+ -", "/")), depth),
            lambda: Cast(self.draw("text", depth), "number", self.chance.random() < 0.5),
            lambda: Call("greatest", (self.draw("small", depth), self.draw("double", depth))),
        )

    def printed(self, depth: int) -> Expression:
        """What `||` and CAST to text take, of which the text is known."""
        doubles = () if self.many else ("double",)  # what many have may begin with 0.0 or with -0.0, which are one
        return self.draw(self.chance.choice(("text", "small", "int", "bool", *doubles)), depth)

    def _text(self, depth: int) -> Expression:
        chance = self.chance
        pattern = chance.choice(PATTERNS)
        group = (Constant(chance.randint(0, GROUPED[pattern])),) if pattern in GROUPED else ()
        flags = chance.choice(((), (Constant("g"),)))
        new = Constant(chance.choice(("-", "", r"[\1]" if pattern in GROUPED else "é")))
        return self.one(
            lambda: Arithmetic(self.printed(depth), (("||", self.printed(depth)),)),
            lambda: Call(chance.choice(("lower", "upper", "trim", "initcap")), (self.draw("text", depth),)),
            lambda: Call("substr", (self.draw("text", depth), self.draw("small", 0))),
            lambda: Call("substr", (self.draw("text", depth), self.draw("small", 0), self.draw("small", 0))),
            lambda: Call("replace", tuple(self.draw("text", depth) for _ in range(3))),
            lambda: Cast(self.printed(depth), "text", chance.random() < 0.5),
            lambda: Call("concat_ws", (self.draw("text", 0), *(self.printed(depth) for _ in range(2)))),
            lambda: Call("concat_ws", (Constant(","), self.draw(chance.choice(("texts", "ints")), depth))),
            lambda: Call("format", (self.draw("number", depth), Constant(chance.randint(0, 4)))),
            lambda: Call("format", (self.draw("int", depth), Constant(chance.randint(0, 2)))),
            lambda: Call("regexp_extract", (self.draw("text", depth), Constant(pattern), *group)),
            lambda: Call("regexp_replace", (self.draw("text", depth), Constant(pattern), new, *flags)),
            lambda: Call("strftime", (self.draw("date", depth), Constant(chance.choice(FORMS)))),
            lambda: self.element("texts", "text"),
            lambda: Element(self.draw("texts", depth), chance.choice((0, 1, -1, 4, -4))),
            lambda: self.extreme("text", depth),
            lambda: self.draw("date", depth),
        )

    def _date(self, depth: int) -> Expression:
        days = Constant(self.chance.choice((0, 1, -1, 30, 365, -400, 29)))
        return self.one(
            lambda: Call("date_add", (self.draw("date", depth), days)),
            lambda: Call("date_add", (self.draw("date", depth), self.leaf("small"))),
            lambda: self.extreme("date", depth),
        )

    def _bool(self, depth: int) -> Expression:
        chance = self.chance
        kind = chance.choice(("small", "int", "number", "text", "date"))
        comparator = chance.choice(("=", "!=", "<", "<=", ">", ">="))
        listed = chance.choice(("bool", "ints", "texts"))

        def draw(depth: int = depth) -> Expression:
            return self.draw(kind, depth)

        return self.one(
            lambda: Compare(comparator, draw(), draw()),  # type: ignore[arg-type]
            lambda: Compare(comparator, draw(), draw()),  # type: ignore[arg-type]
            lambda: Compare(chance.choice(("=", "!=")), self.draw(listed, depth), self.draw(listed, depth)),
            self.ill_typed,
            lambda: And(tuple(self.draw("bool", depth) for _ in range(chance.randint(2, 3)))),
            lambda: Or(tuple(self.draw("bool", depth) for _ in range(chance.randint(2, 3)))),
            lambda: Not(self.draw("bool", depth)),
            lambda: IsNull(self.draw(chance.choice((kind, "bool", "ints")), depth)),
            lambda: Between(draw(), draw(), draw()),
            lambda: In(draw(), tuple(self.draw(kind, 0) for _ in range(chance.randint(1, 4)))),
            lambda: In(self.draw("small", depth), (self.constant("small"), self.constant("text"))),
            lambda: InList(self.draw("small", depth), Parameter(chance.choice(("ints", "few", "no")))),
            lambda: InList(self.draw("text", depth), Parameter(chance.choice(("texts", "no")))),
            lambda: self.like(depth),
            lambda: Call("starts_with", (self.draw("text", depth), self.draw("text", depth))),
            lambda: Call("contains", (self.draw("text", depth), self.draw("text", depth))),
            lambda: Call("contains", (self.draw("ints", depth), self.draw("small", depth))),
            lambda: Call("contains", (self.draw("texts", depth), self.draw("text", depth))),
            lambda: Call("matches", (self.draw("text", depth), Constant(chance.choice(PATTERNS)))),
            lambda: Call("complete", (draw(), self.draw("text", depth))),
            lambda: Cast(self.draw(chance.choice(("text", "small", "bool")), depth), "boolean", attempt=True),
        )

    def like(self, depth: int) -> Expression:
        pattern = "".join(self.chance.choice("aAbéÉ%%__🎉.\\") for _ in range(self.chance.randint(0, 4)))
        if self.chance.random() < 0.2:
            return Like(self.draw("text", depth), self.draw("text", 0), None)
        if self.chance.random() < 0.3:
            return Like(self.draw("text", depth), Constant(f"{pattern}!%!_!!"), "!")
        return Like(self.draw("text", depth), Constant(pattern), None)

    def ill_typed(self) -> Expression:
        """A comparison of values of two types, which is unknown."""
        one, other = self.chance.sample(("small", "text", "bool", "ints"), 2)
        return Compare(self.chance.choice(("=", "!=", "<")), self.draw(one, 0), self.draw(other, 0))

    def _ints(self, depth: int) -> Expression:
        return self.chosen("ints", depth)

    def _texts(self, depth: int) -> Expression:
        if self.chance.random() < 0.5:
            return Call("split", (self.draw("text", depth), self.draw("text", 0)))
        return self.chosen("texts", depth)


def column(written: str) -> Field:
    """A field by its path."""
    return Field(Path(tuple(written.split("."))))


def over_items(chance: random.Random) -> Expression:
    """An expression over items."""
    kinds = ("small", "int", "double", "number", "text", "date", "bool", "bool", "ints", "texts")
    drawer = Drawer(chance)
    if chance.random() < 0.01:
        return Call("complete", (Star(),))
    return drawer.draw(chance.choice(kinds), chance.randint(1, 4))


def over_many(chance: random.Random) -> Expression:
    """An expression over aggregates."""
    within, outer = Drawer(chance), Drawer(chance, many=True)

    def aggregate(wanted: str) -> Expression:
        depth = chance.randint(0, 2)
        if chance.random() < 0.2 and wanted not in ("ints", "texts"):
            return within.constant(wanted)
        match wanted:
            case "small" | "int":
                counted = within.draw(chance.choice(("small", "text", "bool", "double")), depth)
                return chance.choice(
                    (
                        Aggregate("count", ()),
                        Aggregate("count", (counted,)),
                        Aggregate("count_distinct", (counted,)),
                        Aggregate("sum", (within.draw("small", depth),)),
                        Aggregate(chance.choice(("min", "max", "first", "last")), (within.draw(wanted, depth),)),
                    )
                )
            case "double" | "dyadic" | "number":
                value = (within.draw("dyadic", depth),)
                quarter = (Constant(chance.choice((0, 0.25, 0.5, 0.75, 1))),)
                means = (Aggregate("avg", value), Aggregate("median", value), Aggregate("quantile", value + quarter))
                plain = Aggregate(chance.choice(("sum", "min", "max", "first", "last")), value)
                whole = Aggregate(chance.choice(("avg", "median")), (within.draw("small", depth),))
                return chance.choice((*means, plain, *((whole,) if wanted == "number" else ())))
            case "bool":
                name = chance.choice(("bool_or", "bool_and", "first", "last", "min", "max"))
                return Aggregate(name, (within.draw("bool", depth),))
            case "ints":
                return Aggregate("list", (within.draw("small", depth),))
            case "texts":
                return Aggregate("list", (within.draw("text", depth),))
        return Aggregate(chance.choice(("min", "max", "first", "last")), (within.draw(wanted, depth),))

    outer.leaf = aggregate
    wanted = chance.choice(("small", "int", "double", "number", "text", "date", "bool", "ints", "texts"))
    return outer.draw(wanted, chance.randint(0, 2))
