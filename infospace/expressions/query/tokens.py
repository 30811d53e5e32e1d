"""A query cut into words: those of expressions, and those of clauses, which are no names.

Imports sqlglot; import it late.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from sqlglot import TokenType

from infospace.core.errors import Invalid
from infospace.data.paths import KEY, OWN, Path, nearest, read_path
from infospace.expressions.query.tree import MARK
from infospace.expressions.refused import Refused
from infospace.expressions.tokens import QUOTED, Cutter, Kind, Word
from infospace.expressions.tree import Aggregate, Call, Expression, Field

CLAUSES: Final = frozenset(
    {
        *("SELECT", "DISTINCT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "BY", "LIMIT", "OFFSET", "UNION", "ON"),
        *("JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "WITH", "AS", "OVER", "EXISTS", "USING", "NATURAL"),
        *("INTERSECT", "EXCEPT", "QUALIFY", "WINDOW", "LATERAL", "INTO", "FETCH"),
    }
)
"""Words of clauses; a column of such a name is written in quotes."""
WINDOWS: Final = {
    "row_number": (0, 0),
    "rank": (0, 0),
    "dense_rank": (0, 0),
    "percent_rank": (0, 0),
    "cume_dist": (0, 0),
    "ntile": (1, 1),
    "lag": (1, 3),
    "lead": (1, 3),
    "first_value": (1, 1),
    "last_value": (1, 1),
}
"""Functions of windows alone: how many arguments each takes at least and at most."""
_STARS: Final = re.compile(rf"(?P<alias>{KEY.pattern})\.\*")
_OWN: Final = re.compile(rf"(?P<alias>{KEY.pattern})\.(?=@)")
_CALL: Final = re.compile(r"\s*\(")


def tokenize_query(text: str) -> list[Word]:
    """Cut `text` into words; raises `Refused` at what is no word of the language."""
    if "\0" in text:
        raise Refused("has a character 0", None, text.index("\0"))
    return _QueryCutter(QUOTED.sub(_ticked, text)).words()


def _ticked(quoted: re.Match[str]) -> str:
    """Write a name in double quotes in backticks, so that each character stays in its place."""
    result = quoted[0]
    if not result.startswith('"') or "`" in result:
        return result
    if len(result) == 2:
        raise Refused(f'has an empty name "" (character {quoted.start()})', "a text is written '…'", quoted.start())
    if '""' in result[1:-1]:
        message = f"has a name with a quote in it (character {quoted.start()})"
        raise Refused(message, "such a name is written in backticks", quoted.start())
    return f"`{result[1:-1]}`"


class _QueryCutter(Cutter):
    """Cuts a query: words of clauses are no names, `o.*` and `o.@id` are one word."""

    def _read_name(self, start: int, key: str, *, after_value: bool) -> tuple[Word, int]:
        text, end, upper = self._text, start + len(key), key.upper()
        deeper = text.startswith((".", "["), end)
        stars = _STARS.match(text, start)
        if stars is not None:
            return Word(Kind.OTHER, TokenType.UNKNOWN, stars[0], start), stars.end()
        own = _OWN.match(text, start)
        if own is not None:
            return self._own_of(own, start)
        if upper in CLAUSES and not deeper and not self._is_of_expression(upper, after_value=after_value):
            return Word(Kind.OTHER, TokenType.UNKNOWN, key, start), end
        if _CALL.match(text, end) and (key.lower() in WINDOWS or upper == "UNNEST"):
            kind = Kind.OTHER if upper == "UNNEST" else Kind.CALL
            return Word(kind, TokenType.VAR, key.lower(), start), end
        return super()._read_name(start, key, after_value=after_value)

    def _is_of_expression(self, upper: str, *, after_value: bool) -> bool:
        if upper == "DISTINCT":
            return self._begins_aggregate()
        return upper == "AS" and after_value and bool(self._opened) and self._opened[-1] is Kind.CAST

    def _own_of(self, own: re.Match[str], start: int) -> tuple[Word, int]:
        try:
            path, end = read_path(self._text, own.end(), backticks=True)
        except Invalid as error:
            message = f"has {self._text[start : start + 20]!r} (character {start}), which is not a path"
            raise Refused(message, error.hint, start) from error
        whole = Path((own["alias"], *path.parts))
        return Word(Kind.VALUE, TokenType.NUMBER, self._text[start:end], start, Field(whole)), end


def is_word(word: Word | None, *texts: str) -> bool:
    """Whether a word stands there as itself, whatever its case: one of clauses, or a plain name such as `ASC`."""
    if word is None or word.text.upper() not in texts:
        return False
    return word.kind is Kind.OTHER or isinstance(word.value, Field)


def near_clause(text: str) -> str | None:
    """Return the word of clauses that a word was probably meant to be."""
    return nearest(text.upper(), CLAUSES)


def own_alias(reference: str) -> str:
    """Return what a table is called that has no alias: the variable."""
    return reference.split(".", 1)[0].split("[", 1)[0]


def own_name(tree: Expression, start: int, words: Sequence[Word]) -> str:
    """Return what an output is called that has no name: the last key of its path; `id` of `@id`."""
    if isinstance(tree, Field):
        last = tree.path.parts[-1]
        if isinstance(last, str) and not last.startswith(MARK):
            return last.removeprefix("@") if last in OWN else last
    message = f"has an output without a name (character {start})"
    name = tree.function if isinstance(tree, (Aggregate, Call)) else None
    end = words[-1].start + len(words[-1].text)
    edit = None if name is None else (end, end, f" AS {name}")
    raise Refused(message, f"every output is named: … AS {name or 'total'}", start, edit=edit)
