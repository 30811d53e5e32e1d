"""Whether the words of an expression can follow one another, said in words when they cannot.

sqlglot's parser accepts far more than this language and says less about what it refuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from infospace.data.paths import KEY
from infospace.expressions.functions import AGGREGATES, FUNCTIONS
from infospace.expressions.refused import Refused
from infospace.expressions.tokens import CONDITIONS, VALUES, Kind, Word
from infospace.expressions.tree import Field, Parameter, Star

DEEPEST: Final = 24
"""How deep parentheses, CASE, NOT and minus may nest: sqlglot's parser takes up to 28 of Python's frames for each."""

_JOINS: Final = {Kind.AND, Kind.OR, Kind.COMPARE, Kind.LIKE, Kind.BETWEEN, Kind.OPERATOR}
_NEGATED: Final = {Kind.IN, Kind.LIKE, Kind.BETWEEN}
_A_VALUE: Final = "a value"
_A_RANGE: Final = "the AND of BETWEEN"
_AN_OPERATOR: Final = "an operator or the end"
_FOREIGN: Final = {"SELECT", "EXISTS", "WITH", "DISTINCT", "INTERVAL", "ANY", "ALL", "WHERE"}
_INSTEAD: Final = {
    "^": "write power(a, b)",
    "&": "write AND; texts are joined by ||",
    "|": "write OR; texts are joined by ||",
    "!": "write NOT, or !=",
    ";": "there is one expression, and nothing after it",
    **dict.fromkeys(":{", "a parameter is written $name"),
    "?": "CASE WHEN condition THEN value ELSE value END; a parameter is written $name",
    "INTERVAL": "date_add(today(), -7) is the day a week ago",
    "EMPTY": 'x IS NOT NULL, or an object: {"type": "empty", "target": "$x"}',
    "#": "there are no comments",
    "SELECT": "there is one expression; a SELECT is none",
    "WHERE": "the word WHERE is left out",
    **dict.fromkeys(("REGEXP", "RLIKE", "SIMILAR", "MATCHES", "MATCH"), "matches(text, pattern) finds one of RE2"),
    "GLOB": "LIKE with % and _",
    **dict.fromkeys(("CONTAINS", "INCLUDES", "HAS"), "contains(text or list, value), or LIKE '%part%'"),
    **dict.fromkeys(("ISNULL", "NOTNULL"), "IS NULL or IS NOT NULL"),
    "DIV": "floor(a / b)",
    "MOD": "write %",
    **dict.fromkeys(("THEN", "ELSE", "END", "WHEN"), "CASE WHEN condition THEN value ELSE value END"),
}


def check_grammar(words: Sequence[Word]) -> None:
    """Raise `Refused` at the first word that cannot stand where it stands."""
    _Order(words).check()


@dataclass(slots=True)
class _Open:
    """What is open at a place: the word that opened it, the levels it counts for, and what it waits for."""

    place: int
    levels: int
    within: Kind | None = None
    """The kind of what holds it: CALL, CAST, IN, CASE, or None of mere parentheses and of the whole."""
    range: bool = False
    """Whether a BETWEEN waits for its AND."""
    stage: Kind = Kind.CASE
    """Of a CASE, its latest word."""


class _Order:
    """One pass over the words: at each place either a value is due or what may follow one."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words = words
        self._open = [_Open(-1, 0)]
        self._levels = 0
        self._nots = 0

    @property
    def _top(self) -> _Open:
        return self._open[-1]

    def check(self) -> None:
        place, value_due = 0, True
        while place < len(self._words):
            place, value_due = self._value(place) if value_due else self._after_value(place)
        if value_due:
            raise self._refuse(place, _A_VALUE)
        if self._top.range:
            raise self._refuse(place, _A_RANGE)
        if len(self._open) > 1:
            opening = self._words[self._top.place]
            if self._top.within is Kind.CASE:
                raise Refused(f"has a CASE (character {opening.start}) without its END", _INSTEAD["END"], opening.start)
            raise Refused(f"has a `(` (character {opening.start}) that is not closed", position=opening.start)

    def _value(self, place: int) -> tuple[int, bool]:
        word = self._words[place]
        match word.kind:
            case Kind.VALUE if not isinstance(word.value, Star) or self._takes_star(place):
                self._nots = 0
                return place + 1, False
            case Kind.CALL if self._kind(place + 2) is Kind.CLOSE and _may_be_empty(word.text):
                return place + 3, False
            case Kind.CALL | Kind.CAST:
                return self._enter(place + 1, word.kind), True
            case Kind.DISTINCT if self._top.within is Kind.CALL and self._top.place == place - 1:
                return place + 1, True
            case Kind.OPEN:
                return self._enter(place, None), True
            case Kind.CASE:
                self._enter(place, Kind.CASE)
                return (place + 2, True) if self._stage(place + 1, Kind.WHEN) else (place + 1, True)
            case Kind.NOT:
                return self._prefix(place)
            case Kind.OPERATOR if word.text == "-":
                return self._prefix(place)
            case _:
                raise self._refuse(place, _A_VALUE)

    def _takes_star(self, place: int) -> bool:
        return self._words[place - 2].text in ("count", "complete") and self._kind(place + 1) is Kind.CLOSE

    def _prefix(self, place: int) -> tuple[int, bool]:
        self._refuse_deep(place)
        self._nots += 1
        return place + 1, True

    def _after_value(self, place: int) -> tuple[int, bool]:
        kind = self._words[place].kind
        if kind is Kind.ELEMENT and self._kind(place - 1) in (Kind.CLOSE, Kind.ELEMENT):
            return place + 1, False
        if kind is Kind.OPERATOR:
            return place + 1, True
        if kind is Kind.NOT and self._kind(place + 1) in _NEGATED:
            place += 1
            kind = self._words[place].kind
        if self._top.range:
            if kind is not Kind.AND:
                raise self._refuse(place, _A_RANGE)
            self._top.range = False
        elif kind is Kind.BETWEEN:
            self._top.range = True
        if kind in _JOINS:
            return place + 1, True
        match kind:
            case Kind.IN if self._kind(place + 1) is Kind.OPEN:
                return self._enter(place + 1, Kind.IN), True
            case Kind.IN if self._is_parameter(place + 1):
                return place + 2, False
            case Kind.IN:
                hint = "IN ('a', 'b'); whether a list has an element is contains(list, value)"
                raise self._refuse(place + 1, "a list in parentheses, or a $parameter", hint)
            case Kind.IS:
                return self._after_is(place + 1), False
            case Kind.ESCAPE:
                return self._after_escape(place + 1), False
            case Kind.AS:
                return self._after_as(place + 1), False
            case Kind.COMMA if self._top.within in (Kind.CALL, Kind.IN):
                return place + 1, True
            case Kind.CLOSE if len(self._open) > 1 and self._top.within not in (Kind.CASE, Kind.CAST):
                self._leave()
                return place + 1, False
            case Kind.WHEN | Kind.THEN | Kind.ELSE if self._stage(place, kind):
                return place + 1, True
            case Kind.END if self._stage(place, kind):
                self._leave()
                return place + 1, False
            case Kind.CLOSE if self._top.within is Kind.CAST:
                raise self._refuse(place, "AS and a type", "such as CAST(price AS number)")
            case _:
                raise self._refuse(place, _AN_OPERATOR)

    _FOLLOWS: Final = {
        Kind.WHEN: (Kind.CASE, Kind.THEN),
        Kind.THEN: (Kind.WHEN,),
        Kind.ELSE: (Kind.THEN,),
        Kind.END: (Kind.THEN, Kind.ELSE),
    }

    def _stage(self, place: int, expected: Kind) -> bool:
        """Take the next word of the innermost CASE, if it is the wanted one and can follow."""
        top = self._top
        if self._kind(place) is not expected or top.within is not Kind.CASE:
            return False
        if top.stage not in self._FOLLOWS[expected]:
            return False
        top.stage = expected
        return True

    def _enter(self, place: int, within: Kind | None) -> int:
        self._refuse_deep(place)
        self._open.append(_Open(place, 1 + self._nots, within))
        self._levels += 1 + self._nots
        self._nots = 0
        return place + 1

    def _leave(self) -> None:
        self._levels -= self._open.pop().levels

    def _refuse_deep(self, place: int) -> None:
        if self._levels + self._nots >= DEEPEST:
            at = self._words[place].start
            message = f"nests deeper than {DEEPEST} levels of parentheses, CASE and NOT (character {at})"
            raise Refused(message, "AND and OR in a row need no parentheses", at)

    def _after_is(self, place: int) -> int:
        if self._kind(place) is Kind.NOT:
            place += 1
        if place >= len(self._words) or self._words[place].text.upper() != "NULL":
            raise self._refuse(place, "NULL or NOT NULL", "other values are compared by = and !=")
        return place + 1

    def _after_escape(self, place: int) -> int:
        if place >= len(self._words) or self._words[place].text[0] not in "'\"":
            raise self._refuse(place, "one character in quotes", "such as ESCAPE '!'")
        return place + 1

    def _after_as(self, place: int) -> int:
        if self._kind(place) is not Kind.TYPE:
            raise self._refuse(place, "a type", "there are text, number, integer, boolean")
        if self._kind(place + 1) is not Kind.CLOSE:
            raise self._refuse(place + 1, "the `)` of CAST")
        self._leave()
        return place + 2

    def _kind(self, place: int) -> Kind | None:
        return self._words[place].kind if place < len(self._words) else None

    def _is_parameter(self, place: int) -> bool:
        return place < len(self._words) and isinstance(self._words[place].value, Parameter)

    def _refuse(self, place: int, due: str, hint: str | None = None) -> Refused:
        if place >= len(self._words):
            return self._refuse_end(due, hint)
        word, before = self._words[place], self._words[place - 1] if place else None
        if before is not None and due == _AN_OPERATOR and before.text.upper() in _FOREIGN:
            word, due = before, _A_VALUE
        elif self._words[0].text.upper() == "SELECT":
            word, due, hint = self._words[0], _A_VALUE, _INSTEAD["SELECT"]
        special = self._instead(place) if due == _AN_OPERATOR else _INSTEAD.get(word.text.upper())
        hint = special if word is self._words[place] and special else hint
        hint = hint or _INSTEAD.get(word.text.upper(), VALUES if due == _A_VALUE else CONDITIONS)
        if due == _A_VALUE and KEY.fullmatch(word.text) and word.kind not in {Kind.VALUE, Kind.CALL, Kind.CAST}:
            hint = f"a field of that name is written `{word.text}`"
        message = f"has {_cut(word.text)} (character {word.start}) where {due} was expected"
        return Refused(message, hint, word.start)

    def _instead(self, place: int) -> str | None:
        """Return what is written instead of the word at a place, which stands behind a value."""
        word, before = self._words[place], self._words[place - 1] if place else None
        if word.kind is Kind.OPEN and before is not None and isinstance(before.value, Field):
            *path, name = before.text.split(".")
            if path and name.lower() in {*FUNCTIONS, *AGGREGATES}:
                return f"a function stands before what it takes: {name.lower()}({'.'.join(path)}, …)"
        return _INSTEAD.get(word.text.upper())

    def _refuse_end(self, due: str, hint: str | None) -> Refused:
        if not self._words:
            return Refused("is empty", "such as metadata.score > 0.5 AND status = 'open'", 0)
        last = self._words[-1]
        message = f"ends where {due} was expected, after {_cut(last.text)} (character {last.start})"
        return Refused(message, hint or (VALUES if due == _A_VALUE else None), last.start)


def _may_be_empty(name: str) -> bool:
    function = FUNCTIONS.get(name)
    return function.needed == 0 and not function.more if function is not None else AGGREGATES[name][0] == 0


def _cut(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}…")
