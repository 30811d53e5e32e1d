"""An aggregate read by sqlglot's parser: a call of one function with one path, or `count`.

Imports sqlglot; import it late.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, cast, get_args

from sqlglot import TokenType, exp

from infospace.core.errors import Invalid, WhereInvalid
from infospace.data.paths import KEY, Path, nearest
from infospace.where.aggregates import Reckoning
from infospace.where.ast import Field
from infospace.where.parse import read_sql
from infospace.where.tokens import Word, tokenize

FUNCTIONS: Final[tuple[str, ...]] = get_args(Reckoning)
AGGREGATES: Final = "there are count, " + ", ".join(f"{name}(path)" for name in FUNCTIONS)
LONGEST: Final = 1_000
"""Characters of an aggregate."""

_OTHERS: Final = {
    **dict.fromkeys(("average", "mean"), "avg"),
    **dict.fromkeys(("array_agg", "collect", "group_concat", "values"), "list"),
    **dict.fromkeys(("distinct", "nunique", "unique"), "count_distinct"),
    **dict.fromkeys(("len", "length", "n", "size"), "count"),
    **dict.fromkeys(("add", "total"), "sum"),
}


def parse(text: str) -> tuple[Reckoning, Path | None]:
    """Read `text`; gives the function and the path. Raises `Invalid`."""
    if not text.strip():
        raise Invalid("an aggregate is empty", hint=AGGREGATES)
    if len(text) > LONGEST:
        raise Invalid(f"an aggregate has {len(text):,} characters, more than {LONGEST:,}", hint=AGGREGATES)
    try:
        words = [_star(word) for word in tokenize(text, FUNCTIONS)]
        tree = read_sql(words)
    except WhereInvalid as error:
        raise _refused(text) from error
    match tree:
        case exp.Literal() if _name(words) == "count":
            return "count", None
        case exp.Anonymous(expressions=[] | [exp.Star()]) if words[0].text == "count":
            return "count", None
        case exp.Anonymous(expressions=[exp.Literal()]) if len(words) == 4 and isinstance(words[2].value, Field):
            return cast("Reckoning", words[0].text), words[2].value.path
    raise _refused(text)


def _star(word: Word) -> Word:
    return replace(word, type=TokenType.STAR) if word.text == "*" else word


def _name(words: Sequence[Word]) -> str | None:
    [first, *rest] = words
    plain = not rest and isinstance(first.value, Field) and len(first.value.path.parts) == 1
    return first.text.lower() if plain else None


def _refused(text: str) -> Invalid:
    """Say what an aggregate may have been meant to be."""
    message = f"{text!r:.60} is no aggregate"
    start = len(text) - len(text.lstrip())
    found = KEY.match(text, start)
    name, rest = (found[0], text[found.end() :]) if found else ("", "")
    lower = name.lower()
    if lower in FUNCTIONS and not rest.strip(" ()*"):
        return Invalid(f"{message}: {lower} needs a path", hint=f"such as {lower}(metadata.score)")
    if lower == "count" and "distinct" in rest.lower():
        return Invalid(message, hint="distinct values are counted by count_distinct(path)")
    near = _OTHERS.get(lower) or nearest(lower, FUNCTIONS)
    if near is None or lower in FUNCTIONS:
        return Invalid(message, hint=AGGREGATES)
    mended = f"{near}{rest}".strip()
    quote = '"' if '"' not in mended else "`"
    return Invalid(message, hint=f"did you mean {quote}{mended}{quote}?")
