"""A query read into its tree: clauses here, each expression in them by the reader of expressions.

Closed by construction: a clause, join, function or statement that is not built here is an error that says what there
is. Imports sqlglot; import it late.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypeVar

from sqlglot import TokenType

from infospace.core.errors import ExpressionInvalid
from infospace.core.plural import pluralize
from infospace.data.paths import OWN, Path
from infospace.expressions.expression import MAX_EXPRESSION_CHARACTERS, walk
from infospace.expressions.functions import AGGREGATES
from infospace.expressions.grammar_check import DEEPEST
from infospace.expressions.parse import parse_words
from infospace.expressions.query.tokens import (
    CLAUSES,
    WINDOWS,
    is_word,
    near_clause,
    own_alias,
    own_name,
    tokenize_query,
)
from infospace.expressions.query.tree import (
    MARK,
    Among,
    Derived,
    Exists,
    Frame,
    Inner,
    Join,
    JoinKind,
    Output,
    Query,
    Scalar,
    Select,
    Sort,
    Source,
    Stars,
    Table,
    Union,
    Unnest,
    Variable,
    Window,
    sources_of,
)
from infospace.expressions.refused import Refused
from infospace.expressions.tokens import Kind, Word
from infospace.expressions.tree import Aggregate, Expression, Parameter
from infospace.expressions.tree import Field as FieldNode

T = TypeVar("T")

NAME: Final = "`sql`"
MOST_TABLES: Final = 16
"""Tables of one SELECT."""
_SUBSELECT: Final = "(SELECT …)"
_BEGINS: Final = "a query begins with SELECT, or WITH name AS (SELECT …)"
_WHOLE: Final = "a query is SELECT … FROM … WHERE … GROUP BY … HAVING … ORDER BY … LIMIT …"
_INSTEAD: Final = {
    "INTERSECT": "`intersection` gives what two Collections have in common",
    "EXCEPT": "NOT EXISTS (SELECT …), or `difference`",
    "USING": "write ON a.key = b.key",
    "NATURAL": "write JOIN … ON a.key = b.key",
    "QUALIFY": "put the window function into a subselect, and WHERE around it",
    "WINDOW": "write what is between the parentheses at each OVER (…)",
    "LATERAL": "UNNEST(alias.list) AS element needs no LATERAL",
    "INTO": "a query changes nothing: `name` keeps its result",
    "FETCH": "write LIMIT",
}
_JOINS: Final[dict[str, JoinKind]] = {
    "INNER": "inner",
    "LEFT": "left",
    "RIGHT": "right",
    "FULL": "full",
    "CROSS": "cross",
    "JOIN": "inner",
}


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query; `variables` are the references that it reads as tables, `parameters` those that it takes values for."""

    text: str
    query: Query = field(repr=False)
    variables: tuple[str, ...]
    parameters: tuple[str, ...]
    tables: tuple[str, ...]
    """The space's own tables that it reads."""
    named: tuple[str, ...] = ()
    """Other tables that it reads: Collections by the names that they have in the space."""


@lru_cache(maxsize=256)
def parse_query(text: str) -> ParsedQuery:
    """Read a query; raises `ExpressionInvalid`: what was found, at which character, and what is allowed."""
    from infospace.expressions.query.space_tables import TABLES

    if len(text) > MAX_EXPRESSION_CHARACTERS:
        message = f"{NAME} has {len(text):,} characters, more than {MAX_EXPRESSION_CHARACTERS:,}"
        raise ExpressionInvalid(
            message, hint="pass long lists as parameters: id IN $list", position=MAX_EXPRESSION_CHARACTERS
        )
    try:
        parser = _Parser(tokenize_query(text))
        query = parser.whole()
    except Refused as error:
        raise error.named(NAME, text) from error
    except RecursionError as error:
        raise Refused("is nested too deeply", "WITH names what is nested", 0).named(NAME, text) from error
    sources = sources_of(query)
    variables = dict.fromkeys(source.reference for source in sources if isinstance(source, Variable))
    tables = dict.fromkeys(name for name in parser.tables if name.lower() not in parser.common)
    own = tuple(name for name in tables if name.lower() in TABLES)
    names = tuple(name for name in tables if name.lower() not in TABLES)
    return ParsedQuery(text, query, tuple(variables), tuple(dict.fromkeys(parser.parameters)), own, names)


class _Parser:
    """Reads words from the first to the last."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words = words
        self._at = 0
        self._depth = 0
        self._inner: list[dict[str, Inner]] = [{}]
        self._marks = 0
        self._unnamed = 0
        """More than 0 within a subselect of an expression, whose outputs need no names."""
        self.parameters: list[str] = []
        self.tables: list[str] = []
        self.common: set[str] = set()

    def whole(self) -> Query:
        if not self._words:
            raise Refused("is empty", "such as SELECT title FROM notes ORDER BY modified DESC LIMIT 5", 0)
        if not is_word(self._words[0], "SELECT", "WITH") and self._words[0].kind is not Kind.OPEN:
            raise self._refuse("a query", _BEGINS)
        if self._words[-1].text == ";":
            self._words = self._words[:-1]
        query = self._query()
        if self._word is not None:
            hint = "there is one SELECT, and no other statement after it" if self._word.text == ";" else None
            raise self._refuse("the end of the query", hint)
        return query

    @property
    def _word(self) -> Word | None:
        return self._words[self._at] if self._at < len(self._words) else None

    def _peek(self, ahead: int = 1) -> Word | None:
        return self._words[self._at + ahead] if self._at + ahead < len(self._words) else None

    def _take(self, *texts: str) -> bool:
        if is_word(self._word, *texts):
            self._at += 1
            return True
        return False

    def _need(self, text: str, hint: str | None = None) -> None:
        if not self._take(text):
            raise self._refuse(text, hint)

    def _need_kind(self, kind: Kind, due: str) -> None:
        if self._word is None or self._word.kind is not kind:
            raise self._refuse(due)
        self._at += 1

    def _refuse(self, due: str, hint: str | None = None) -> Refused:
        word = self._word
        if word is None:
            last = self._words[-1]
            message = f"ends where {due} was expected, after {last.text[:40]!r} (character {last.start})"
            return Refused(message, hint or _WHOLE, last.start)
        upper = word.text.upper()
        near = near_clause(word.text) if isinstance(word.value, FieldNode) else None
        offer = f"did you mean {near}?" if near is not None and upper not in CLAUSES else None
        message = f"has {word.text[:40]!r} (character {word.start}) where {due} was expected"
        return Refused(message, _INSTEAD.get(upper) or hint or offer or _WHOLE, word.start)

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            at = self._word.start if self._word else 0
            message = f"nests deeper than {DEEPEST} SELECTs (character {at})"
            raise Refused(message, "WITH names what is nested", at)

    def _query(self) -> Query:
        self._deeper()
        common = self._with() if self._take("WITH") else ()
        body: Select | Union = self._operand()
        while self._take("UNION"):
            keep_all = self._take("ALL")
            if not keep_all:
                self._take("DISTINCT")
            body = Union(body, self._operand(), keep_all)
        self._inner.append({})
        order = self._order() if self._take("ORDER") else ()
        limit = self._limit() if self._take("LIMIT") else None
        offset = self._expression("OFFSET") if self._take("OFFSET") else None
        self._depth -= 1
        return Query(body, common, order, limit, offset, self._inner.pop())

    def _limit(self) -> Expression:
        begins = self._word
        limit = self._expression("LIMIT")
        comma, count = self._word, self._peek()
        if begins is not None and comma is not None and comma.kind is Kind.COMMA and count is not None:
            suggestion = f"{count.text} OFFSET {begins.text}"
            message = f"has ',' (character {comma.start}) after LIMIT"
            edit = (begins.start, count.start + len(count.text), suggestion)
            raise Refused(message, f"write LIMIT {suggestion}", comma.start, edit=edit)
        return limit

    def _named_query(self) -> Query:
        self._unnamed, before = 0, self._unnamed
        query = self._query()
        self._unnamed = before
        return query

    def _with(self) -> tuple[tuple[str, Query], ...]:
        if is_word(self._word, "RECURSIVE") and not is_word(self._peek(), "AS"):
            raise self._refuse("a name", "WITH is not recursive here")
        results: list[tuple[str, Query]] = []
        while True:
            start = self._word.start if self._word else 0
            name = self._name("a name")
            if any(name.lower() == before.lower() for before, _ in results):
                raise Refused(f"has two SELECTs called {name!r} in WITH (character {start})", None, start)
            self._need("AS", "WITH name AS (SELECT …) SELECT …")
            self._need_kind(Kind.OPEN, "`(`")
            before = len(self.tables)
            results.append((name, self._named_query()))
            if any(table.lower() == name.lower() for table in self.tables[before:]) and name.lower() not in self.common:
                raise Refused(f"has {name!r} (character {start}), which reads itself", "WITH is not recursive", start)
            self._need_kind(Kind.CLOSE, "`)`")
            self.common.add(name.lower())
            if self._word is None or self._word.kind is not Kind.COMMA:
                return tuple(results)
            self._at += 1

    def _operand(self) -> Select | Union:
        if self._word is not None and self._word.kind is Kind.OPEN:
            self._at += 1
            self._deeper()
            body: Select | Union = self._operand()
            while self._take("UNION"):
                keep_all = self._take("ALL")
                body = Union(body, self._operand(), keep_all)
            self._need_kind(Kind.CLOSE, "`)`")
            self._depth -= 1
            return body
        self._need("SELECT", _BEGINS)
        self._inner.append({})
        distinct = self._take("DISTINCT")
        if not distinct:
            self._take("ALL")
        outputs = self._list(self._output)
        self._need("FROM", "such as FROM $rows, or FROM notes")
        sources = self._sources()
        where = self._condition("WHERE") if self._take("WHERE") else None
        group: tuple[Expression, ...] = ()
        if self._take("GROUP"):
            self._need("BY")
            group = tuple(self._list(lambda: self._expression("GROUP BY")))
        having = self._condition("HAVING") if self._take("HAVING") else None
        return Select(tuple(outputs), tuple(sources), distinct, where, group, having, self._inner.pop())

    def _list(self, one: Callable[[], T]) -> list[T]:
        results = [one()]
        while self._word is not None and self._word.kind is Kind.COMMA:
            self._at += 1
            results.append(one())
        return results

    def _name(self, due: str) -> str:
        word = self._word
        if word is None or not isinstance(word.value, FieldNode) or len(word.value.path.parts) != 1:
            raise self._refuse(due, "a name that is a word of SQL, or has blanks, stands in double quotes")
        [name] = word.value.path.parts
        if not isinstance(name, str) or name in OWN:
            raise self._refuse(due)
        self._at += 1
        return name

    # Outputs

    def _output(self) -> Output | Stars:
        word = self._word
        start = word.start if word else 0
        if word is not None and word.text == "*" and word.kind is Kind.OPERATOR:
            self._at += 1
            return Stars(None, start)
        if word is not None and word.kind is Kind.OTHER and word.text.endswith(".*"):
            self._at += 1
            return Stars(word.text[:-2], start)
        words = self._collect("the SELECT list")
        name: str | None = None
        if len(words) > 1 and _is_name(words[-1]) and words[-2].kind in _ENDS_VALUE:
            name, words = str(words[-1].value.path.parts[0]), words[:-1]  # type: ignore[union-attr]
        tree = self._parse(words, start)
        if name is None and self._take("AS"):
            name = self._name("a name")
        if name is None:
            name = f"{MARK}{start}" if self._unnamed else own_name(tree, start, words)
        return Output(name, tree, start)

    def _order(self, end: str = "") -> tuple[Sort, ...]:
        self._need("BY")
        return tuple(self._list(lambda: self._sort(end)))

    def _sort(self, end: str) -> Sort:
        start = self._word.start if self._word else 0
        words = self._collect("ORDER BY", end)
        descending = nulls_first = False
        if len(words) > 2 and _spells(words[-2], "NULLS") and _spells(words[-1], "FIRST", "LAST"):
            nulls_first, words = words[-1].text.upper() == "FIRST", words[:-2]
        if len(words) > 1 and words[-2].kind in _ENDS_VALUE and _spells(words[-1], "ASC", "DESC"):
            descending, words = words[-1].text.upper() == "DESC", words[:-1]
        return Sort(self._parse(words, start), descending, nulls_first)

    # Tables

    def _sources(self) -> list[Join]:
        results = [Join("cross", self._source(), None)]
        while True:
            if self._word is not None and self._word.kind is Kind.COMMA:
                self._at += 1
                results.append(Join("cross", self._source(), None))
            elif is_word(self._word, *_JOINS):
                results.append(self._join())
            else:
                break
        aliases: dict[str, int] = {}
        for join in results:
            key = join.source.alias.lower()
            if key in aliases:
                at = join.source.start
                message = f"has two tables called {join.source.alias!r} (character {at})"
                raise Refused(message, "give one an alias: FROM $x a JOIN $x b", at)
            aliases[key] = join.source.start
        if len(results) > MOST_TABLES:
            raise Refused(
                f"has {len(results)} tables in one SELECT, more than {MOST_TABLES}", None, results[-1].source.start
            )
        return results

    def _join(self) -> Join:
        assert self._word is not None  # noqa: S101 - asked before
        kind = _JOINS[self._word.text.upper()]
        if not self._take("JOIN"):
            self._at += 1
            if kind in ("left", "right", "full"):
                self._take("OUTER")
            self._need("JOIN")
        source = self._source()
        if kind == "cross":
            return Join(kind, source, None)
        if isinstance(source, Unnest) and not is_word(self._word, "ON"):
            return Join(kind, source, None)
        self._need("ON", "a JOIN says ON what, such as ON a.id = b.owner; CROSS JOIN gives every pair")
        return Join(kind, source, self._condition("ON"))

    def _source(self) -> Source:
        word = self._word
        if word is None:
            raise self._refuse("a table", "a table is $x, notes, UNNEST(alias.list) or (SELECT …)")
        start = word.start
        if word.kind is Kind.OPEN:
            self._at += 1
            query = self._named_query()
            self._need_kind(Kind.CLOSE, "`)`")
            return Derived(query, self._alias() or f"{MARK}{start}", start)
        if is_word(word, "UNNEST"):
            return self._unnest(start)
        if isinstance(word.value, Parameter):
            self._at += 1
            return Variable(word.value.name, self._alias() or own_alias(word.value.name), start)
        if isinstance(word.value, FieldNode) and len(word.value.path.parts) == 1:
            name = self._name("a table")
            self.tables.append(name)
            return Table(name, self._alias() or name, start)
        raise self._refuse("a table", "a table is $x, notes, UNNEST(alias.list) or (SELECT …)")

    def _unnest(self, start: int) -> Source:
        self._at += 1
        self._need_kind(Kind.OPEN, "`(`")
        word = self._word
        if word is not None and isinstance(word.value, Parameter):
            self._at += 1
            self._need_kind(Kind.CLOSE, "`)`")
            return Variable(word.value.name, self._alias() or own_alias(word.value.name), start)
        if word is None or not isinstance(word.value, FieldNode):
            raise self._refuse("a path of a list", "such as FROM $orders o, UNNEST(o.items) AS i")
        self._at += 1
        self._need_kind(Kind.CLOSE, "`)`")
        path = word.value.path
        last = path.parts[-1]
        alias = self._alias() or (str(last) if isinstance(last, str) else "")
        if not alias:
            raise self._refuse("a name", "such as UNNEST(o.items) AS i")
        return Unnest(path, alias, start)

    def _alias(self) -> str | None:
        if self._take("AS"):
            return self._name("a name")
        word = self._word
        if word is not None and _is_name(word):
            return self._name("a name")
        return None

    # Expressions

    def _condition(self, clause: str) -> Expression:
        start = self._word.start if self._word else 0
        return self._parse(self._collect(clause), start, condition=True)

    def _expression(self, clause: str, end: str = "") -> Expression:
        start = self._word.start if self._word else 0
        return self._parse(self._collect(clause, end), start)

    def _parse(self, words: list[Word], start: int, *, condition: bool = False, nested: bool = False) -> Expression:
        tree = parse_words(words, condition=condition, aggregates=True)
        for node in walk(tree):
            if isinstance(node, Parameter) and not node.name.startswith(MARK):
                self.parameters.append(node.name)
            if isinstance(node, Aggregate) and not nested:
                for argument in node.arguments:
                    if any(isinstance(inner, Aggregate) for inner in walk(argument)):
                        message = f"has an aggregate within another ({node.function}, after character {start})"
                        raise Refused(message, "compute the inner one in a subselect", start)
        return tree

    def _collect(self, clause: str, end: str = "") -> list[Word]:
        """Take the words of one expression, with a word each for window functions and subselects.

        `end` is a word that ends it behind a value; as a name it is a column, as long as a value is due.
        """
        words: list[Word] = []
        opened = 0
        while (word := self._word) is not None:
            if word.kind is Kind.OPEN and is_word(self._peek(), "SELECT", "WITH"):
                self._subselect(words)
                continue
            if word.kind is Kind.CALL and (window := self._window()) is not None:
                words.append(window)
                continue
            if opened == 0 and word.kind in (Kind.COMMA, Kind.CLOSE):
                break
            if opened == 0 and words and words[-1].kind in _ENDS_VALUE and is_word(word, end):
                break
            if word.kind is Kind.OTHER and not is_word(word, "EXISTS"):
                if word.text.upper() in CLAUSES and opened == 0:
                    break
                raise self._refuse("a value")
            if is_word(word, "EXISTS") and not (self._peek() is not None and self._peek().kind is Kind.OPEN):  # type: ignore[union-attr]
                raise self._refuse("a value", "EXISTS (SELECT …)")
            opened += (word.kind is Kind.OPEN) - (word.kind is Kind.CLOSE)
            words.append(word)
            self._at += 1
        if not words:
            raise self._refuse(f"an expression of {clause}")
        return words

    def _mark(self, inner: Inner, words: str) -> str:
        self._marks += 1
        name = f"{MARK}{self._marks} {words}"
        self._inner[-1][name] = inner
        return name

    def _subselect(self, words: list[Word]) -> None:
        opening = self._word
        assert opening is not None  # noqa: S101 - asked before
        self._at += 1
        self._unnamed, before = 1, self._unnamed
        query = self._query()
        self._unnamed = before
        self._need_kind(Kind.CLOSE, "`)`")
        value: FieldNode | Parameter
        if words and words[-1].kind is Kind.IN:
            value = Parameter(self._mark(Among(query), _SUBSELECT))
        elif words and is_word(words[-1], "EXISTS"):
            words.pop()
            value = FieldNode(Path((self._mark(Exists(query), f"EXISTS {_SUBSELECT}"),)))
        else:
            value = FieldNode(Path((self._mark(Scalar(query), _SUBSELECT),)))
        words.append(Word(Kind.VALUE, TokenType.NUMBER, _SUBSELECT, opening.start, value))

    def _window(self) -> Word | None:
        """Read a call that OVER follows, or a function of windows, which it has to follow."""
        call = self._word
        assert call is not None  # noqa: S101 - asked before
        end = self._closing(self._at + 1)
        over = self._words[end + 1] if end is not None and end + 1 < len(self._words) else None
        if not is_word(over, "OVER"):
            if call.text in WINDOWS:
                message = f"has {call.text} (character {call.start}) without OVER"
                raise Refused(message, f"such as {call.text}(…) OVER (PARTITION BY a ORDER BY b)", call.start)
            return None
        if call.text not in WINDOWS and call.text not in AGGREGATES:
            message = f"has {call.text} (character {call.start}) with OVER, and it is not a function of windows"
            raise Refused(message, f"there are {', '.join((*WINDOWS, *AGGREGATES))}", call.start)
        arguments = self._window_arguments(call)
        self._need("OVER")
        self._need_kind(Kind.OPEN, "`(` after OVER")
        partition: tuple[Expression, ...] = ()
        if self._take("PARTITION"):
            self._need("BY")
            partition = tuple(self._list(lambda: self._expression("PARTITION BY", "ROWS")))
        order = self._order("ROWS") if self._take("ORDER") else ()
        frame = self._frame() if self._take("ROWS") else None
        self._need_kind(Kind.CLOSE, "`)`")
        words = f"{call.text}(…) OVER (…)"
        value = FieldNode(Path((self._mark(Window(call.text, arguments, partition, order, frame), words),)))
        return Word(Kind.VALUE, TokenType.NUMBER, words, call.start, value)

    def _window_arguments(self, call: Word) -> tuple[Expression, ...]:
        self._at += 1
        if call.text in AGGREGATES:
            end = self._closing(self._at)
            assert end is not None  # noqa: S101 - OVER stands behind it
            words = [call, *self._words[self._at : end + 1]]
            self._at = end + 1
            return (self._parse(words, call.start, nested=True),)
        self._need_kind(Kind.OPEN, "`(`")
        arguments: list[Expression] = []
        if self._word is not None and self._word.kind is not Kind.CLOSE:
            arguments = self._list(lambda: self._expression(call.text))
        self._need_kind(Kind.CLOSE, "`)`")
        least, most = WINDOWS[call.text]
        if not least <= len(arguments) <= most:
            message = f"has {call.text} (character {call.start}) with {pluralize(len(arguments), 'argument')}"
            raise Refused(message, f"it takes {least}" if least == most else f"it takes {least} to {most}", call.start)
        return tuple(arguments)

    def _frame(self) -> Frame:
        start = self._word.start if self._word else 0
        between = self._word is not None and self._word.kind is Kind.BETWEEN
        if between:
            self._at += 1
        low = self._edge("PRECEDING")
        high: int | None = 0
        if between:
            self._need_kind(Kind.AND, "AND")
            high = self._edge("FOLLOWING")
        if low is not None and high is not None and low > high:
            message = f"has a window whose rows end before they begin (character {start})"
            raise Refused(message, "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", start)
        return Frame(low, high)

    def _edge(self, unbounded: str) -> int | None:
        """Read an edge of a window; without bound it lies on the side that it begins, or ends, at."""
        if self._take("UNBOUNDED"):
            self._need(unbounded, "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING")
            return None
        if self._take("CURRENT"):
            self._need("ROW")
            return 0
        word = self._word
        value = getattr(word.value, "value", None) if word is not None else None
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 1_000_000:
            raise self._refuse("a number of rows", "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW")
        self._at += 1
        if self._take("PRECEDING"):
            return -value
        self._need("FOLLOWING", "PRECEDING or FOLLOWING")
        return value

    def _closing(self, at: int) -> int | None:
        """Return the place of the `)` of the `(` at a place."""
        opened = 0
        for place in range(at, len(self._words)):
            kind = self._words[place].kind
            opened += (kind is Kind.OPEN) - (kind is Kind.CLOSE)
            if opened == 0:
                return place if place > at else None
        return None


_ENDS_VALUE: Final = frozenset({Kind.VALUE, Kind.CLOSE, Kind.END})


def _is_name(word: Word) -> bool:
    return (
        isinstance(word.value, FieldNode)
        and len(word.value.path.parts) == 1
        and isinstance(word.value.path.parts[0], str)
        and not word.value.path.parts[0].startswith((MARK, "@"))
    )


def _spells(word: Word, *texts: str) -> bool:
    return _is_name(word) and word.text.upper() in texts
