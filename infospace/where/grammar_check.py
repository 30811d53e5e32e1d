"""Whether the words of a `where` can follow one another, said in words when they cannot.

sqlglot's parser accepts far more than this language and says less about what it refuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from infospace.core.errors import WhereInvalid
from infospace.data.paths import KEY
from infospace.where.tokens import CONDITIONS, VALUES, Kind, Word

DEEPEST: Final = 24
"""How deep parentheses and NOT may nest: sqlglot's parser takes up to 28 of Python's frames for each."""

_JOINS: Final = {Kind.AND, Kind.OR, Kind.COMPARE, Kind.LIKE, Kind.BETWEEN}
_NEGATED: Final = {Kind.IN, Kind.LIKE, Kind.BETWEEN}
_A_VALUE: Final = "a value"
_A_RANGE: Final = "the AND of BETWEEN"
_AN_OPERATOR: Final = "AND, OR, a comparison or the end"
_FOREIGN: Final = {"SELECT", "CASE", "CAST", "EXISTS", "WITH", "DISTINCT", "INTERVAL", "ANY", "ALL", "WHERE"}
_INSTEAD: Final = {
    **dict.fromkeys("+-*/%^~", "there is no arithmetic and no comment"),
    "&": "write AND",
    "|": "write OR",
    "!": "write NOT, or !=",
    ";": "a `where` is one expression",
    **dict.fromkeys(":?{#", "a parameter is written $name"),
    "WHERE": "the word WHERE is left out",
    "ILIKE": "LIKE ignores case already",
    **dict.fromkeys(("REGEXP", "RLIKE", "GLOB", "SIMILAR", "MATCHES", "MATCH"), "LIKE with % and _"),
    **dict.fromkeys(("CONTAINS", "INCLUDES"), "has(list, value), or LIKE '%part%'"),
    **dict.fromkeys(("ISNULL", "NOTNULL"), "IS NULL or IS NOT NULL"),
}


def check_grammar(words: Sequence[Word]) -> None:
    """Raise `WhereInvalid` at the first word that cannot stand where it stands."""
    _Order(words).check()


class _Order:
    """One pass over the words: at each place either a value is due or what may follow one."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words = words
        self._open: list[tuple[int, int]] = []  # of each `(`: its place, and the levels it counts for
        self._levels = 0
        self._nots = 0
        self._ranges: list[int] = []  # how many `(` were open at each BETWEEN that waits for its AND

    def check(self) -> None:
        place, value_due = 0, True
        while place < len(self._words):
            step = self._value(place) if value_due else self._after_value(place)
            place, value_due = step
        if value_due:
            raise self._refuse(place, _A_VALUE)
        if self._ranges and self._ranges[-1] == len(self._open):
            raise self._refuse(place, _A_RANGE)
        if self._open:
            opening = self._words[self._open[-1][0]]
            message = f"`where` has a `(` (character {opening.start}) that is not closed"
            raise WhereInvalid(message, position=opening.start)

    def _value(self, place: int) -> tuple[int, bool]:
        match self._words[place].kind:
            case Kind.VALUE:
                self._nots = 0
                return place + 1, False
            case Kind.CALL:
                return self._enter(place + 1), True
            case Kind.OPEN:
                return self._enter(place), True
            case Kind.NOT:
                self._refuse_deep(place)
                self._nots += 1
                return place + 1, True
            case _:
                raise self._refuse(place, _A_VALUE)

    def _after_value(self, place: int) -> tuple[int, bool]:
        kind = self._words[place].kind
        if kind is Kind.NOT and self._kind(place + 1) in _NEGATED:
            place += 1
            kind = self._words[place].kind
        if self._ranges and self._ranges[-1] == len(self._open):
            if kind is not Kind.AND:
                raise self._refuse(place, _A_RANGE)
            self._ranges.pop()
        elif kind is Kind.BETWEEN:
            self._ranges.append(len(self._open))
        if kind in _JOINS:
            return place + 1, True
        match kind:
            case Kind.IN if self._kind(place + 1) is Kind.OPEN:
                return self._enter(place + 1), True
            case Kind.IN:
                raise self._refuse(
                    place + 1, "a list in parentheses", "whether a list has an element is has(list, value)"
                )
            case Kind.IS:
                return self._after_is(place + 1), False
            case Kind.ESCAPE:
                return self._after_escape(place + 1), False
            case Kind.COMMA if self._in_list():
                return place + 1, True
            case Kind.CLOSE if self._open:
                self._levels -= self._open.pop()[1]
                return place + 1, False
            case _:
                raise self._refuse(place, _AN_OPERATOR)

    def _enter(self, place: int) -> int:
        self._refuse_deep(place)
        self._open.append((place, 1 + self._nots))
        self._levels += 1 + self._nots
        self._nots = 0
        return place + 1

    def _refuse_deep(self, place: int) -> None:
        if self._levels + self._nots >= DEEPEST:
            at = self._words[place].start
            message = f"`where` nests deeper than {DEEPEST} levels of parentheses and NOT (character {at})"
            raise WhereInvalid(message, hint="AND and OR in a row need no parentheses", position=at)

    def _in_list(self) -> bool:
        if not self._open:
            return False
        before = self._open[-1][0] - 1
        return self._kind(before) in {Kind.CALL, Kind.IN} if before >= 0 else False

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

    def _kind(self, place: int) -> Kind | None:
        return self._words[place].kind if place < len(self._words) else None

    def _refuse(self, place: int, due: str, hint: str | None = None) -> WhereInvalid:
        if place >= len(self._words):
            return self._refuse_end(due, hint)
        word, before = self._words[place], self._words[place - 1] if place else None
        if before is not None and due == _AN_OPERATOR and before.text.upper() in _FOREIGN:
            word, due = before, _A_VALUE
        hint = hint or _INSTEAD.get(word.text.upper(), VALUES if due == _A_VALUE else CONDITIONS)
        if due == _A_VALUE and KEY.fullmatch(word.text) and word.kind not in {Kind.VALUE, Kind.CALL}:
            hint = f"a field of that name is written `{word.text}`"
        message = f"`where` has {_cut(word.text)} (character {word.start}) where {due} was expected"
        return WhereInvalid(message, hint=hint, position=word.start)

    def _refuse_end(self, due: str, hint: str | None) -> WhereInvalid:
        if not self._words:
            return WhereInvalid("`where` is empty", hint="such as metadata.score > 0.5 AND status = 'open'", position=0)
        last = self._words[-1]
        message = f"`where` ends where {due} was expected, after {_cut(last.text)} (character {last.start})"
        return WhereInvalid(message, hint=hint or (VALUES if due == _A_VALUE else None), position=last.start)


def _cut(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}…")
