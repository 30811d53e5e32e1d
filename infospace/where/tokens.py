"""A `where` cut into words: sqlglot's tokens, with each path and each parameter made one word.

Imports sqlglot; import it late.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import takewhile
from typing import Final, get_args

from sqlglot import TokenType
from sqlglot.errors import TokenError

from infospace.core.errors import Invalid, WhereInvalid
from infospace.data.paths import KEY, nearest, parse_suffix, read_path
from infospace.where.ast import Constant, Field, Function, Parameter
from infospace.where.tokenizer import tokens

VALUES: Final = (
    "a value is a path, a number, a string in quotes, TRUE, FALSE, NULL, a $parameter or one of the"
    " functions " + ", ".join(get_args(Function))
)
CONDITIONS: Final = "conditions are = != < <= > >=, IN, LIKE, BETWEEN, IS NULL, joined by AND, OR, NOT"


class Kind(Enum):
    """What part a word plays in the grammar."""

    VALUE = auto()
    CALL = auto()
    OPEN = auto()
    CLOSE = auto()
    COMMA = auto()
    COMPARE = auto()
    AND = auto()
    OR = auto()
    NOT = auto()
    IN = auto()
    LIKE = auto()
    ESCAPE = auto()
    BETWEEN = auto()
    IS = auto()
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class Word:
    """One word: as written, from `start`; `type` is what sqlglot's parser takes it for."""

    kind: Kind
    type: TokenType
    text: str
    start: int
    value: Constant | Field | Parameter | None = None


_CONSTANTS: Final = {"TRUE": Constant(True), "FALSE": Constant(False), "NULL": Constant(None)}
_KEYWORDS: Final = {
    name: (Kind[name], TokenType[name]) for name in ("AND", "OR", "NOT", "IN", "LIKE", "ESCAPE", "BETWEEN", "IS")
}
_SIGNS: Final = {
    TokenType.L_PAREN: Kind.OPEN,
    TokenType.R_PAREN: Kind.CLOSE,
    TokenType.COMMA: Kind.COMMA,
    **dict.fromkeys(
        (TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE), Kind.COMPARE
    ),
}
_NUMBER = re.compile(r"-?\s*(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TEMPLATE = re.compile(r"\$\{\s*([A-Za-z_][^{}]{0,80}?)\s*\}")
_OPENING = re.compile(r"\s*\(")
_LONGEST_NUMBER: Final = 400
_QUOTED = re.compile(r"""(?:[^'"`]|'(?:[^']|'')*+'|"(?:[^"]|"")*+"|`(?:[^`]|``)*+`)*+""")
_OTHER_FUNCTIONS: Final = {
    "contains": "has(list, value), or LIKE '%part%'",
    "len": "length",
    "lcase": "lower",
    "ucase": "upper",
    "ifnull": "coalesce",
    "nvl": "coalesce",
}


def tokenize(text: str, functions: Sequence[str] = get_args(Function)) -> list[Word]:
    """Cut `text` into words; raises `WhereInvalid` at what is no word of the language with these functions."""
    words: list[Word] = []
    reach = 0
    for type_, content, start, end in _tokens(text):
        if start < reach:
            continue
        _refuse_gap(text, reach, start)
        after_value = bool(words) and words[-1].kind in {Kind.VALUE, Kind.CLOSE}
        if type_ in _SIGNS:
            word, reach = Word(_SIGNS[type_], type_, text[start:end], start), end
        elif type_ is TokenType.STRING:
            _refuse_template(text, start, end)
            word, reach = _value(text, start, end, Constant(content)), end
        else:
            word, reach = _read_other(text, start, end, functions, after_value=after_value)
        words.append(word)
    _refuse_gap(text, reach, len(text))
    return words


def _unexpected(text: str, at: int) -> WhereInvalid:
    return WhereInvalid(f"`where` has {text[at]!r} (character {at})", hint=VALUES, position=at)


def _tokens(text: str) -> Iterable[tuple[TokenType, str, int, int]]:
    try:
        return tokens(text)
    except TokenError as error:
        closed = _QUOTED.match(text)
        at = closed.end() if closed else 0
        if at == len(text):  # what remains is `{#`, which sqlglot takes for a comment of Jinja
            raise _unexpected(text, text.index("{#")) from error
        message = f"`where` has a quote {text[at : at + 1]} (character {at}) that is not closed"
        hint = "inside quotes, the quote itself is written twice"
        raise WhereInvalid(message, hint=hint, position=at) from error


def _refuse_gap(text: str, reach: int, start: int) -> None:
    blank = sum(1 for _ in takewhile(str.isspace, text[reach:start]))
    if reach + blank < start:
        raise _unexpected(text, reach + blank)


def _value(text: str, start: int, end: int, value: Constant | Field | Parameter) -> Word:
    return Word(Kind.VALUE, TokenType.NUMBER, text[start:end], start, value)


def _read_other(text: str, start: int, end: int, functions: Sequence[str], *, after_value: bool) -> tuple[Word, int]:
    """Read a number, parameter, keyword, function or path; what is none of them ends at `end`."""
    if text[start] == "$":
        return _read_parameter(text, start)
    if text[start] in "@`[":
        return _read_field(text, start)
    key = KEY.match(text, start)
    if key is not None:
        return _read_name(text, start, key[0], functions, after_value=after_value)
    number = None if after_value and text[start] in "-." else _NUMBER.match(text, start)
    if number is None:
        return Word(Kind.OTHER, TokenType.UNKNOWN, text[start:end], start), end
    return _value(text, start, number.end(), Constant(_number(number[0], start))), number.end()


def _read_name(text: str, start: int, key: str, functions: Sequence[str], *, after_value: bool) -> tuple[Word, int]:
    end, upper = start + len(key), key.upper()
    if upper in _CONSTANTS:
        return _value(text, start, end, _CONSTANTS[upper]), end
    if upper in _KEYWORDS and (after_value or upper != "ESCAPE"):
        return Word(*_KEYWORDS[upper], key, start), end
    if _OPENING.match(text, end):
        return Word(Kind.CALL, TokenType.VAR, _function(key, start, functions), start), end
    if key.endswith("-") and text.startswith(">", end):
        message = f"`where` has `->` (character {end - 1})"
        raise WhereInvalid(message, hint="a place in JSON is written metadata.score or tags[0]", position=end - 1)
    return _read_field(text, start)


def _function(name: str, start: int, known: Sequence[str]) -> str:
    lower = name.lower()
    if lower in known:
        return lower
    near = _OTHER_FUNCTIONS.get(lower) or nearest(lower, known)
    offer = f"did you mean {near}? " if near else ""
    message = f"`where` has no function {name[:40]!r} (character {start})"
    raise WhereInvalid(message, hint=f"{offer}there are {', '.join(known)}", position=start)


def _read_field(text: str, start: int) -> tuple[Word, int]:
    try:
        path, end = read_path(text, start, backticks=True)
    except Invalid as error:
        message = f"`where` has {_cut(text, start)} (character {start}), which is no path"
        raise WhereInvalid(message, hint=error.hint, position=start) from error
    return _value(text, start, end, Field(path)), end


def _read_parameter(text: str, start: int) -> tuple[Word, int]:
    variable = _VARIABLE.match(text, start + 1)
    if variable is None:
        _refuse_template(text, start, len(text))
        message = f"`where` has a `$` (character {start}) without a name"
        hint = "a parameter is written $x, $x.title or $hits[0].metadata.score"
        raise WhereInvalid(message, hint=hint, position=start)
    try:
        _, end = parse_suffix(text, variable.end())
    except Invalid as error:
        message = f"`where` has {_cut(text, start)} (character {start}), which is no place of ${variable[0]}"
        raise WhereInvalid(message, hint=error.hint, position=start) from error
    return _value(text, start, end, Parameter(text[start + 1 : end])), end


def _refuse_template(text: str, start: int, end: int) -> None:
    template = _TEMPLATE.search(text, start, end)
    if template is None:
        return
    at = template.start()
    message = f"`where` has {template[0]} (character {at}), but text is never pasted into it"
    raise WhereInvalid(message, hint=f"${template[1]} is the value itself, and needs no quotes", position=at)


def _number(written: str, start: int) -> int | float:
    digits = "".join(written.split())
    number: float = float("inf")
    if len(digits) <= _LONGEST_NUMBER:
        number = float(digits) if set(digits) & set(".eE") else int(digits)
    if abs(number) == float("inf"):
        message = f"`where` has {_cut(digits, 0)} (character {start}), beyond what a number holds"
        raise WhereInvalid(message, hint="numbers go to about 1.8e308", position=start)
    return number


def _cut(text: str, start: int) -> str:
    return repr(text[start : start + 20] + ("…" if len(text) > start + 20 else ""))
