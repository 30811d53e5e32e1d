"""A `where` read by sqlglot's parser into our own tree; whatever is not in the tree is an error.

Imports sqlglot; import it late.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from sqlglot import Token, TokenType, exp
from sqlglot.errors import ParseError
from sqlglot.parser import Parser

from infospace.core.errors import Invalid, WhereInvalid
from infospace.where.ast import (
    And,
    Between,
    Call,
    Comparator,
    Compare,
    Condition,
    Constant,
    Function,
    In,
    IsNull,
    Like,
    Not,
    Or,
    Parameter,
    Truth,
    Value,
)
from infospace.where.functions import TAKES
from infospace.where.grammar_check import check_grammar
from infospace.where.like import like
from infospace.where.tokens import CONDITIONS, VALUES, Kind, Word, tokenize

LONGEST: Final = 32_768
"""Characters of a `where`: the slowest of this length is read in about half a second."""

_NO_CHAIN: Final = "comparisons are joined by AND; a range is BETWEEN low AND high"

_COMPARISONS: Final[dict[type[exp.Expr], Comparator]] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}


def parse(text: str) -> tuple[Condition, tuple[Word, ...]]:
    """Read `text`; gives the condition and the words. Raises `WhereInvalid` with the character at fault."""
    if len(text) > LONGEST:
        message = f"`where` has {len(text):,} characters, more than {LONGEST:,}"
        raise WhereInvalid(message, hint="pass a long list as a parameter: has($list, id)", position=LONGEST)
    words = tokenize(text)
    check_grammar(words)
    return _Reader(words).condition(read_sql(words)), tuple(words)


def read_sql(words: Sequence[Word]) -> exp.Expr:
    """Read words by sqlglot; raises `WhereInvalid`."""
    tokens = [_token(words, place) for place in range(len(words))]
    try:
        [tree] = Parser().parse_into(exp.Condition, tokens)
    except ParseError as error:
        place = error.errors[0].get("col") if error.errors else None
        raise _not_of_the_language(words[place or 0]) from error
    except RecursionError as error:
        message = "`where` nests too deeply to be read by a program that is itself nested so deeply"
        raise WhereInvalid(message, hint="AND and OR in a row need no parentheses", position=0) from error
    if tree is None:
        raise _not_of_the_language(words[0])
    return tree


def _token(words: Sequence[Word], place: int) -> Token:
    """Make the token that sqlglot's parser sees: values and functions by their place among the words."""
    word = words[place]
    name = {Kind.VALUE: str(place), Kind.CALL: f"call{place}"}.get(word.kind, word.text)
    after_escape = place > 0 and words[place - 1].kind is Kind.ESCAPE
    return Token(TokenType.STRING if after_escape else word.type, name, line=1, col=place)


def _not_of_the_language(word: Word) -> WhereInvalid:
    message = f"`where` cannot be read at {word.text[:40]!r} (character {word.start})"
    return WhereInvalid(message, hint=CONDITIONS, position=word.start)


class _Reader:
    """Turns sqlglot's tree into ours; the numbers in it are places among the words."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words = words

    def condition(self, node: exp.Expr) -> Condition:
        match node:
            case exp.Paren():
                return self.condition(node.this)
            case exp.And():
                return And(self._flat(node, exp.And))
            case exp.Or():
                return Or(self._flat(node, exp.Or))
            case exp.Not():
                return Not(self.condition(node.this))
            case exp.Is():
                return self._negated(node, self._is_null(node))
            case exp.In() if node.expressions:
                return In(self.value(node.this), tuple(self._item(item) for item in node.expressions))
            case exp.Between():
                low, high = self.value(node.args["low"]), self.value(node.args["high"])
                return Between(self.value(node.this), low, high)
            case exp.Like():
                return self._negated(node, self._like(node, None))
            case exp.Escape() if isinstance(node.this, exp.Not):
                return Not(self._like(node.this.this, self._escape(node)))
            case exp.Escape():
                return self._negated(node.this, self._like(node.this, self._escape(node)))
            case exp.Literal() | exp.Anonymous():
                return self._truth(node)
        by = _COMPARISONS.get(type(node))
        if by is None:
            raise self._refuse(node, "a condition")
        return Compare(by, self.value(node.this), self.value(node.expression))

    def value(self, node: exp.Expr) -> Value:
        match node:
            case exp.Paren():
                return self.value(node.this)
            case exp.Anonymous():
                return self._call(node)
            case exp.Literal():
                value = self._word(node).value
                if value is not None:
                    return value
        raise self._refuse(node, "a value")

    def _flat(self, node: exp.Expr, joined: type[exp.And | exp.Or]) -> tuple[Condition, ...]:
        parts = []
        while isinstance(node, joined):
            parts.append(self.condition(node.expression))
            node = node.this
        parts.append(self.condition(node))
        return tuple(reversed(parts))

    def _negated(self, node: exp.Expr, condition: Condition) -> Condition:
        return Not(condition) if node.args.get("negate") else condition

    def _is_null(self, node: exp.Is) -> IsNull:
        if self.value(node.expression) != Constant(None):
            raise self._refuse(node.expression, "NULL or NOT NULL")
        return IsNull(self.value(node.this))

    def _item(self, node: exp.Expr) -> Constant | Parameter:
        value = self.value(node)
        if isinstance(value, (Constant, Parameter)):
            return value
        raise self._refuse(
            node, "a number, a string or a $parameter", "whether a list has an element is has(list, value)"
        )

    def _like(self, node: exp.Expr, escape: str | None) -> Like:
        pattern = self.value(node.expression)
        if isinstance(pattern, Constant) and isinstance(pattern.value, str):
            try:
                like(pattern.value, escape)
            except Invalid as error:
                at = self._start(node.expression)
                raise WhereInvalid(f"{error.message} (character {at})", hint=error.hint, position=at) from error
        return Like(self.value(node.this), pattern, escape)

    def _escape(self, node: exp.Escape) -> str:
        value = self.value(node.expression)
        if isinstance(value, Constant) and isinstance(value.value, str) and len(value.value) == 1:
            return value.value
        raise self._refuse(node.expression, "one character in quotes", "such as ESCAPE '!'")

    def _truth(self, node: exp.Expr) -> Truth:
        value = self.value(node)
        if isinstance(value, Constant) and not (value.value is None or isinstance(value.value, bool)):
            raise self._refuse(node, "a condition")
        if isinstance(value, Call) and value.function in {"lower", "upper", "length", "abs"}:
            raise self._refuse(node, "a condition", f"compare what {value.function} gives")
        return Truth(value)

    def _call(self, node: exp.Anonymous) -> Call:
        word = self._word(node)
        function = cast("Function", word.text)
        arguments = tuple(self.value(argument) for argument in node.expressions)
        takes = TAKES[function]
        least = len(takes) - ("…" in takes)
        if len(arguments) < least or (len(arguments) > least and "…" not in takes):
            given = "1 argument" if len(arguments) == 1 else f"{len(arguments)} arguments"
            message = f"`where` gives {function} {given} (character {word.start})"
            raise WhereInvalid(message, hint=f"{function}({', '.join(takes)})", position=word.start)
        return Call(function, arguments)

    def _word(self, node: exp.Expr) -> Word:
        return self._words[int(node.name.removeprefix("call"))]

    def _start(self, node: exp.Expr) -> int:
        leaves = node.find_all(exp.Literal, exp.Anonymous)
        return min((self._word(leaf).start for leaf in leaves), default=0)

    def _refuse(self, node: exp.Expr, due: str, hint: str | None = None) -> WhereInvalid:
        single = isinstance(node, (exp.Literal, exp.Anonymous))
        found = repr(self._word(node).text[:40]) if single else "a condition"
        at = self._start(node)
        message = f"`where` has {found} (character {at}) where {due} was expected"
        usual = CONDITIONS if due == "a condition" else VALUES if single else _NO_CHAIN
        return WhereInvalid(message, hint=hint or usual, position=at)
