"""An expression read by sqlglot's parser into our own tree; whatever is not in the tree is an error.

Paths, parameters, functions and types are one word each before the parser sees them, so that it decides
nothing but what belongs together. Imports sqlglot; import it late.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from sqlglot import Token, TokenType, exp
from sqlglot.errors import ParseError
from sqlglot.parser import Parser

from infospace.core.errors import Invalid
from infospace.data.like import like
from infospace.expressions.functions import AGGREGATES, FUNCTIONS
from infospace.expressions.grammar_check import check_grammar
from infospace.expressions.refused import Refused
from infospace.expressions.tokens import CONDITIONS, VALUES, Kind, TypeWord, Word, tokenize
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
    TypeName,
)

_NO_CHAIN: Final = "comparisons are joined by AND; a range is BETWEEN low AND high"

_COMPARISONS: Final[dict[type[exp.Expr], Comparator]] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_ARITHMETIC: Final[dict[type[exp.Expr], Operator]] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.DPipe: "||",
}
_TERMS: Final = (exp.Add, exp.Sub)
_FACTORS: Final = (exp.Mul, exp.Div, exp.Mod)
_BINARY: Final = frozenset({"this", "expression"})
_ARGUMENTS: Final[dict[type[exp.Expr], frozenset[str]]] = {
    **dict.fromkeys((*_COMPARISONS, *_ARITHMETIC, exp.And, exp.Or), _BINARY),
    exp.DPipe: _BINARY | {"safe"},
    exp.Div: _BINARY | {"typed", "safe"},
    **dict.fromkeys((exp.Paren, exp.Not, exp.Neg), frozenset({"this"})),
    **dict.fromkeys((exp.Like, exp.Escape, exp.Is), _BINARY | {"negate"}),
    exp.In: frozenset({"this", "expressions"}),
    exp.Between: frozenset({"this", "low", "high"}),
    exp.Case: frozenset({"this", "ifs", "default"}),
    exp.If: frozenset({"this", "true"}),
    exp.Literal: frozenset({"this", "is_string"}),
    exp.Anonymous: frozenset({"this", "expressions"}),
}
"""The nodes of sqlglot that are read, each with the arguments that it may have."""


def parse(text: str, *, condition: bool = False, aggregates: bool = False) -> tuple[Expression, tuple[Word, ...]]:
    """Read `text`, as a `condition` or as any value; gives the tree and the words.

    Raises `Refused` at a character; at an aggregate where `aggregates` is not said.
    """
    words = tokenize(text)
    return parse_words(words, condition=condition, aggregates=aggregates), words


def parse_words(words: Sequence[Word], *, condition: bool = False, aggregates: bool = False) -> Expression:
    """Read words that are cut already; raises `Refused`."""
    check_grammar(words)
    reader, tree = Reader(words, aggregates=aggregates), _read_sql(words)
    return reader.condition(tree) if condition else reader.read(tree)


def _read_sql(words: Sequence[Word]) -> exp.Expr:
    tokens = list(sql_tokens(words))
    try:
        [tree] = Parser().parse_into(exp.Condition, tokens)
    except ParseError as error:
        place = error.errors[0].get("col") if error.errors else None
        raise _not_of_the_language(words[place or 0]) from error
    except RecursionError as error:
        message = "is nested too deeply to be read by a program that is itself nested so deeply"
        raise Refused(message, "AND and OR in a row need no parentheses", 0) from error
    if tree is None:
        raise _not_of_the_language(words[0])
    return tree


def sql_tokens(words: Sequence[Word]) -> list[Token]:
    """Return what sqlglot's parser sees: values and functions by their place among the words, types as values.

    What an element is taken of is the argument of a function in its place: `split(a, ',')[0]` as `f(split(a, ','))`.
    """
    result: list[Token] = []
    opened: list[int] = []
    start = 0
    for place, word in enumerate(words):
        if word.kind is Kind.DISTINCT:
            continue
        if word.kind is Kind.OPEN:
            opened.append(len(result) - (place > 0 and words[place - 1].kind in {Kind.CALL, Kind.CAST}))
        elif word.kind is Kind.CLOSE and opened:
            start = opened.pop()
        elif word.kind is Kind.ELEMENT:
            result[start:start] = [_sign(place, word.type, f"call{place}"), _sign(place, TokenType.L_PAREN, "(")]
            result.append(_sign(place, TokenType.R_PAREN, ")"))
            continue
        called = word.kind in {Kind.CALL, Kind.CAST}
        name = f"call{place}" if called else str(place) if word.kind in {Kind.VALUE, Kind.TYPE} else word.text
        after = words[place - 1].kind if place else None
        token = Token(TokenType.STRING if after is Kind.ESCAPE else word.type, name, line=1, col=place)
        if after is Kind.IN and word.kind is Kind.VALUE:
            result += [_sign(place, TokenType.L_PAREN, "("), token, _sign(place, TokenType.R_PAREN, ")")]
        else:
            result.append(token)
    return result


def _sign(place: int, type_: TokenType, text: str) -> Token:
    return Token(type_, text, line=1, col=place)


def _not_of_the_language(word: Word) -> Refused:
    return Refused(f"cannot be read at {word.text[:40]!r} (character {word.start})", CONDITIONS, word.start)


class Reader:
    """Turns sqlglot's tree into ours; the numbers in it are places among the words."""

    def __init__(self, words: Sequence[Word], *, aggregates: bool = False) -> None:
        self._words = words
        self._aggregates = aggregates

    def read(self, node: exp.Expr) -> Expression:
        """Read one node and what stands in it; raises `Refused` for what the language has not."""
        allowed = _ARGUMENTS.get(type(node))
        if allowed is None or any(value and key not in allowed for key, value in node.args.items()):
            raise self._refuse(node, "an expression of the language")
        if type(node) in _ARITHMETIC:
            return self._arithmetic(node)
        match node:
            case exp.Paren():
                return self.read(node.this)
            case exp.And() | exp.Or():
                return self._joined(node)
            case exp.Not():
                return Not(self.condition(node.this))
            case exp.Neg():
                return Negative(self.read(node.this))
            case exp.Is():
                return self._negated(node, IsNull(self.read(node.this)))
            case exp.In():
                return self._in(node)
            case exp.Between():
                return Between(self.operand(node.this), self.read(node.args["low"]), self.read(node.args["high"]))
            case exp.Like():
                return self._negated(node, self._like(node, None))
            case exp.Escape() if isinstance(node.this, exp.Not):
                return Not(self._like(node.this.this, self._escape(node)))
            case exp.Escape():
                return self._negated(node.this, self._like(node.this, self._escape(node)))
            case exp.Case():
                return self._case(node)
            case exp.Anonymous():
                return self._call(node)
            case exp.Literal():
                return self._value(node)
        return Compare(_COMPARISONS[type(node)], self.operand(node.this), self.operand(node.expression))

    def condition(self, node: exp.Expr) -> Expression:
        """Read what has to be true or false."""
        result = self.read(node)
        if isinstance(result, Constant) and not (result.value is None or isinstance(result.value, bool)):
            raise self._refuse(node, "a condition")
        if isinstance(result, (Arithmetic, Negative)):
            raise self._refuse(node, "a condition", "compare the number, or the text, with a value")
        if isinstance(result, Call) and FUNCTIONS[result.function].gives not in ("any", "boolean"):
            raise self._refuse(node, "a condition", f"compare what {result.function} gives")
        return result

    def operand(self, node: exp.Expr) -> Expression:
        """Read one side of a comparison, which is no comparison itself where it stands in no parentheses."""
        bare = (*_COMPARISONS, exp.In, exp.Between, exp.Like, exp.Escape, exp.Is, exp.Not, exp.And, exp.Or)
        if isinstance(node, bare):
            raise self._refuse(node, "a value", _NO_CHAIN)
        return self.read(node)

    def _value(self, node: exp.Expr) -> Expression:
        value = self._word(node).value
        if value is None or isinstance(value, TypeWord):
            raise self._refuse(node, "a value")
        return value

    def _joined(self, node: exp.Expr) -> Expression:
        joined, parts = type(node), []
        while type(node) is joined:
            parts.append(self.condition(node.expression))
            node = node.this
        parts.append(self.condition(node))
        result = And if joined is exp.And else Or
        return result(tuple(reversed(parts)))

    def _arithmetic(self, node: exp.Expr) -> Expression:
        alike: tuple[type[exp.Expr], ...] = next(
            (kinds for kinds in (_TERMS, _FACTORS) if isinstance(node, kinds)), (exp.DPipe,)
        )
        rest: list[tuple[Operator, Expression]] = []
        while isinstance(node, alike):
            rest.append((_ARITHMETIC[type(node)], self.operand(node.expression)))
            node = node.this
        return Arithmetic(self.operand(node), tuple(reversed(rest)))

    def _negated(self, node: exp.Expr, condition: Expression) -> Expression:
        return Not(condition) if node.args.get("negate") else condition

    def _in(self, node: exp.Expr) -> Expression:
        value = self.operand(node.this)
        items = tuple(self.read(item) for item in node.expressions)
        if len(items) == 1 and isinstance(items[0], Parameter):
            place = self._place(node.expressions[0])
            if self._words[place - 1].kind is Kind.IN:
                return InList(value, items[0])
        return In(value, items)

    def _case(self, node: exp.Case) -> Expression:
        branches = []
        whole = None if node.this is None else self.operand(node.this)
        for branch in node.args["ifs"]:
            when = self.condition(branch.this) if whole is None else Compare("=", whole, self.operand(branch.this))
            branches.append((when, self.read(branch.args["true"])))
        default = node.args.get("default")
        return Case(tuple(branches), Constant(None) if default is None else self.read(default))

    def _like(self, node: exp.Expr, escape: str | None) -> Like:
        pattern = self.operand(node.expression)
        if isinstance(pattern, Constant) and isinstance(pattern.value, str):
            try:
                like(pattern.value, escape)
            except Invalid as error:
                at = self._start(node.expression)
                raise Refused(f"has a pattern: {error.message} (character {at})", error.hint, at) from error
        return Like(self.operand(node.this), pattern, escape)

    def _escape(self, node: exp.Escape) -> str:
        value = self.read(node.expression)
        if isinstance(value, Constant) and isinstance(value.value, str) and len(value.value) == 1:
            return value.value
        raise self._refuse(node.expression, "one character in quotes", "such as ESCAPE '!'")

    def _call(self, node: exp.Anonymous) -> Expression:
        place = int(node.name.removeprefix("call"))
        word = self._words[place]
        if word.kind is Kind.CAST:
            value, type_ = node.expressions
            to = self._word(type_).value
            assert isinstance(to, TypeWord)  # noqa: S101 - the grammar has a type there
            return Cast(self.read(value), cast("TypeName", to.name), attempt=word.text == "try_cast")
        arguments = tuple(self.read(argument) for argument in node.expressions)
        if word.kind is Kind.ELEMENT:
            assert isinstance(word.value, Constant)  # noqa: S101 - the words have a position there
            return Element(arguments[0], int(str(word.value.value)))
        if word.text in AGGREGATES:
            return self._aggregate(word, place, arguments)
        function = FUNCTIONS[word.text]
        count = len(arguments)
        if count < function.needed or (count > len(function.takes) and not function.more) or not _fits(word, arguments):
            message = f"has {word.text} (character {word.start}) with {count} argument{'' if count == 1 else 's'}"
            raise Refused(message, f"it is {function.written(word.text)}", word.start)
        return Call(word.text, arguments)

    def _aggregate(self, word: Word, place: int, arguments: tuple[Expression, ...]) -> Expression:
        if not self._aggregates:
            message = f"has {word.text!r} (character {word.start}), which is made of many items"
            raise Refused(message, "`group` makes it: without `by`, of all items", word.start)
        least, most, example = AGGREGATES[word.text]
        distinct = place + 2 < len(self._words) and self._words[place + 2].kind is Kind.DISTINCT
        stars = sum(isinstance(argument, Star) for argument in arguments)
        if stars and word.text == "count" and not distinct:
            arguments = ()
        if not least <= len(arguments) <= most or (distinct and word.text != "count"):
            message = f"has {word.text} (character {word.start}) with other arguments"
            raise Refused(message, f"it is {example}", word.start)
        if distinct:
            return Aggregate("count_distinct", arguments)
        return Aggregate(word.text, arguments)

    def _word(self, node: exp.Expr) -> Word:
        return self._words[int(node.name.removeprefix("call"))]

    def _place(self, node: exp.Expr) -> int:
        """Return the place of the first word of a node."""
        leaves = node.find_all(exp.Literal, exp.Anonymous)
        return min((int(leaf.name.removeprefix("call")) for leaf in leaves), default=0)

    def _start(self, node: exp.Expr) -> int:
        return self._words[self._place(node)].start

    def _refuse(self, node: exp.Expr, due: str, hint: str | None = None) -> Refused:
        """Say which part is not what is due; a part of one word by that word."""
        word = self._words[self._place(node)]
        single = isinstance(node, (exp.Literal, exp.Anonymous))
        result = repr(word.text[:40]) if single else "a value" if due == "a condition" else "a condition"
        message = f"has {result} (character {word.start}) where {due} was expected"
        return Refused(message, hint or (VALUES if due == "a value" else CONDITIONS), word.start)


def _fits(word: Word, arguments: tuple[Expression, ...]) -> bool:
    return word.text == "complete" or not any(isinstance(argument, Star) for argument in arguments)
