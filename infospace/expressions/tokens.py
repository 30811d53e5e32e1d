"""An expression cut into words: sqlglot's tokens, with each path and each parameter made one word.

Imports sqlglot; import it late.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from itertools import takewhile
from typing import ClassVar, Final

from sqlglot import Tokenizer, TokenType
from sqlglot.errors import TokenError

from infospace.core.errors import Invalid
from infospace.data.misspelling import is_misspelling
from infospace.data.paths import KEY, nearest, parse_suffix, read_path
from infospace.expressions.functions import AGGREGATES, FUNCTIONS, INSTEAD, SYNONYMS
from infospace.expressions.refused import LISTS, Refused
from infospace.expressions.tree import Constant, Field, Parameter, Star

VALUES: Final = (
    "a value is a path, a number, a string in quotes, TRUE, FALSE, NULL, a $parameter, CASE, CAST or a function such as"
    " lower(title)"
)
CONDITIONS: Final = "operators are + - * / % ||, = != < <= > >=, IN, LIKE, BETWEEN, IS NULL, AND, OR, NOT"
CASTS: Final = ("cast", "try_cast")
TYPES: Final = ("text", "number", "integer", "boolean")
_OTHER_TYPES: Final = {
    **dict.fromkeys(("varchar", "char", "string", "str"), "text"),
    **dict.fromkeys(("double", "float", "real", "numeric", "decimal"), "number"),
    **dict.fromkeys(("int", "bigint", "smallint", "signed"), "integer"),
    "bool": "boolean",
}


class Kind(Enum):
    """What part a word plays in the grammar."""

    VALUE = auto()
    CALL = auto()
    CAST = auto()
    OPEN = auto()
    CLOSE = auto()
    ELEMENT = auto()
    """`[0]` behind the `)` of what is computed."""
    COMMA = auto()
    COMPARE = auto()
    OPERATOR = auto()
    AND = auto()
    OR = auto()
    NOT = auto()
    IN = auto()
    LIKE = auto()
    ESCAPE = auto()
    BETWEEN = auto()
    IS = auto()
    CASE = auto()
    WHEN = auto()
    THEN = auto()
    ELSE = auto()
    END = auto()
    AS = auto()
    TYPE = auto()
    DISTINCT = auto()
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class TypeWord:
    """The type of a CAST."""

    name: str


@dataclass(frozen=True, slots=True)
class Word:
    """One word: as written, from `start`; `type` is what sqlglot's parser takes it for."""

    kind: Kind
    type: TokenType
    text: str
    start: int
    value: Constant | Field | Parameter | Star | TypeWord | None = None


_CONSTANTS: Final = {"TRUE": Constant(True), "FALSE": Constant(False), "NULL": Constant(None)}
_KEYWORDS: Final = {
    name: (Kind[name], TokenType[name])
    for name in ("AND", "OR", "NOT", "IN", "LIKE", "ESCAPE", "BETWEEN", "IS", "CASE")
}
_IN_CASE: Final = {
    "WHEN": (Kind.WHEN, TokenType.WHEN),
    "THEN": (Kind.THEN, TokenType.THEN),
    "ELSE": (Kind.ELSE, TokenType.ELSE),
    "END": (Kind.END, TokenType.END),
}
_SIGNS: Final = {
    TokenType.L_PAREN: Kind.OPEN,
    TokenType.R_PAREN: Kind.CLOSE,
    TokenType.COMMA: Kind.COMMA,
    **dict.fromkeys(
        (TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE), Kind.COMPARE
    ),
    **dict.fromkeys((TokenType.PLUS, TokenType.STAR, TokenType.SLASH, TokenType.MOD, TokenType.DPIPE), Kind.OPERATOR),
}
_NUMBER = re.compile(r"-?\s*(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TEMPLATE = re.compile(r"\$\{\s*([A-Za-z_][^{}]{0,80}?)\s*\}")
_BRACKETED = re.compile(r"""\[((?:[^\[\]'"]|'[^']*'|"[^"]*")*)\]""")
_ELEMENT = re.compile(r"\[\s*(-?[0-9]{1,15})\s*\]")
_OPENING = re.compile(r"\s*\(")
_LONGEST_NUMBER: Final = 400
QUOTED: Final = re.compile(r"""'[^']*(?:''[^']*)*'(?!')|"[^"]*(?:""[^"]*)*"(?!")|`[^`]*(?:``[^`]*)*`(?!`)""")
"""A text or name in quotes, in which the quote itself is written twice.

Groups are not repeated possessively, since Python before 3.11.5 matches them wrong (CPython issue 106052).
"""
_CLOSED = re.compile(rf"""(?:[^'"`]+|{QUOTED.pattern})*""")
_PRESENT: Final = {"CURRENT_DATE": "today()", "CURRENT_TIMESTAMP": "now()"}
_NO_COMMENT: Final = re.compile(r"--|/\*")


class ExpressionTokenizer(Tokenizer):
    """SQL without comments, commands and almost all keywords: fields may be called `order` or `date`."""

    QUOTES: ClassVar[list[tuple[str, str] | str]] = ["'", '"']
    STRING_ESCAPES: ClassVar[list[str]] = ["'", '"']
    IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ["`"]
    COMMENTS: ClassVar[list[str | tuple[str, str]]] = []
    COMMANDS: ClassVar[set[TokenType]] = set()
    KEYWORDS: ClassVar[dict[str, TokenType]] = {
        "==": TokenType.EQ,
        "!=": TokenType.NEQ,
        "<>": TokenType.NEQ,
        "<=": TokenType.LTE,
        ">=": TokenType.GTE,
        "||": TokenType.DPIPE,
    }
    SINGLE_TOKENS: ClassVar[dict[str, TokenType]] = {
        "(": TokenType.L_PAREN,
        ")": TokenType.R_PAREN,
        ",": TokenType.COMMA,
        "=": TokenType.EQ,
        "<": TokenType.LT,
        ">": TokenType.GT,
        "+": TokenType.PLUS,
        "*": TokenType.STAR,
        "/": TokenType.SLASH,
        "%": TokenType.MOD,
        **dict.fromkeys("-'\"`.[]{}$@!;:&|^~?#\\", TokenType.UNKNOWN),
    }


def _cut_sql(text: str) -> list[tuple[TokenType, str, int, int]]:
    """Cut `text` into (type, text, start, end); raises `sqlglot.errors.TokenError` at an open quote."""
    cut = ExpressionTokenizer().tokenize(text)
    return [(token.token_type, token.text, token.start, token.end + 1) for token in cut]


_VALUES: Final = (Kind.VALUE, Kind.CLOSE, Kind.ELEMENT, Kind.END, Kind.TYPE)
"""The kinds of words that end a value."""


SHORT: Final = 1_000
"""Characters of a text whose words are remembered; those of longer ones would fill the memory."""


def tokenize(text: str) -> tuple[Word, ...]:
    """Cut `text` into words; raises `Refused` at what is no word of the language.

    They are remembered: a check reads the parameters of an expression before it is parsed.
    """
    return _remembered(text) if len(text) <= SHORT else _words_of(text)


def _words_of(text: str) -> tuple[Word, ...]:
    return tuple(Cutter(text).words())


_remembered = lru_cache(maxsize=256)(_words_of)


class Cutter:
    """Cuts one text. CASE and CAST make words of what is a name elsewhere."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words: list[Word] = []
        self._cases = 0
        self._opened: list[Kind | None] = []
        """Of each `(` that is open, the kind of the word before it."""
        self._closed: Kind | None = None
        """Of the latest `)`, the kind of the word before its `(`."""

    def words(self) -> list[Word]:
        """Return the words; raises `Refused` at what is none."""
        reach = 0
        for type_, content, start, end in _tokens(self._text):
            if start < reach:
                continue
            _refuse_gap(self._text, reach, start)
            word, reach = self._word(type_, content, start, end)
            self._enter(word)
            self._words.append(word)
        _refuse_gap(self._text, reach, len(self._text))
        return self._words

    def _enter(self, word: Word) -> None:
        match word.kind:
            case Kind.OPEN:
                self._opened.append(self._words[-1].kind if self._words else None)
            case Kind.CLOSE if self._opened:
                self._closed = self._opened.pop()
            case Kind.CASE:
                self._cases += 1
            case Kind.END:
                self._cases -= 1

    def _after_value(self) -> bool:
        return bool(self._words) and self._words[-1].kind in _VALUES

    def _word(self, type_: TokenType, content: str, start: int, end: int) -> tuple[Word, int]:
        text, after = self._text, self._after_value()
        comment = _NO_COMMENT.match(text, start)
        if comment is not None and type_ is not TokenType.STRING:
            raise Refused(f"has `{comment[0]}` (character {start}), and there are no comments", _AN_OPERATOR, start)
        if type_ is TokenType.STAR and not after and self._words and self._words[-1].kind is Kind.OPEN:
            return _value(text, start, end, Star()), end
        if type_ in _SIGNS:
            return Word(_SIGNS[type_], type_, text[start:end], start), end
        if type_ is TokenType.STRING:
            _refuse_template(text, start, end)
            return _value(text, start, end, Constant(content)), end
        return self._read_other(start, end, after_value=after)

    def _read_other(self, start: int, end: int, *, after_value: bool) -> tuple[Word, int]:
        """Read a number, parameter, keyword, function or path; what is none of them ends at `end`."""
        text = self._text
        if text[start] == "$":
            return _read_parameter(text, start)
        element = _ELEMENT.match(text, start) if self._ends_computed(start) else None
        if element is not None:
            word = Word(Kind.ELEMENT, TokenType.VAR, element[0], start, Constant(int(element[1])))
            return word, element.end()
        if text[start] == "[" and self._words and self._words[-1].kind is Kind.IN:
            raise _bracketed(text, start)
        if text[start] in "@`[":
            return _read_field(text, start)
        if text[start] == "-" and after_value:
            return Word(Kind.OPERATOR, TokenType.DASH, "-", start), end
        key = KEY.match(text, start)
        if key is not None:
            return self._read_name(start, key[0], after_value=after_value)
        number = None if after_value and text[start] == "." else _NUMBER.match(text, start)
        if number is not None:
            return _value(text, start, number.end(), Constant(_number(number[0], start))), number.end()
        if text[start] == "-":
            return Word(Kind.OPERATOR, TokenType.DASH, "-", start), end
        return Word(Kind.OTHER, TokenType.UNKNOWN, text[start:end], start), end

    def _read_name(self, start: int, key: str, *, after_value: bool) -> tuple[Word, int]:
        text, end, upper = self._text, start + len(key), key.upper()
        if upper in _CONSTANTS:
            return _value(text, start, end, _CONSTANTS[upper]), end
        deeper = text.startswith((".", "["), end)
        if upper in _KEYWORDS and not deeper and (after_value or upper != "ESCAPE"):
            return Word(*_KEYWORDS[upper], key, start), end
        if upper in _PRESENT and not deeper:
            suggestion = f"{text[:start]}{_PRESENT[upper]}{text[end:]}"
            hint = f"it is written {_PRESENT[upper]}; a field of that name is written `{key}`"
            raise Refused(f"has {key!r} (character {start})", hint, start, suggestion)
        if upper == "ILIKE" and after_value:
            suggestion = f"{text[:start]}LIKE{text[end:]}"
            raise Refused(f"has {key!r} (character {start})", "LIKE ignores case already", start, suggestion)
        if self._cases and upper in _IN_CASE:
            return Word(*_IN_CASE[upper], key, start), end
        if self._words and self._words[-1].kind is Kind.AS:
            return self._read_type(start, key)
        if upper == "AS" and after_value and self._opened and self._opened[-1] is Kind.CAST:
            return Word(Kind.AS, TokenType.COMMA, key, start), end
        if upper == "DISTINCT" and self._begins_aggregate():
            return Word(Kind.DISTINCT, TokenType.DISTINCT, key, start), end
        if _OPENING.match(text, end):
            return self._read_call(start, key), end
        if key.endswith("-") and text.startswith(">", end):
            message = f"has `->` (character {end - 1})"
            raise Refused(message, "a place in JSON is written metadata.score or tags[0]", end - 1)
        return _read_field(text, start)

    def _ends_computed(self, start: int) -> bool:
        """Whether what is computed ends right before a place: a call, a CAST or parentheses, not the list of an IN."""
        if not self._words:
            return False
        last = self._words[-1]
        if last.start + len(last.text) != start:
            return False
        return last.kind is Kind.ELEMENT or (last.kind is Kind.CLOSE and self._closed is not Kind.IN)

    def _begins_aggregate(self) -> bool:
        before = self._words[-2:]
        return len(before) == 2 and before[1].kind is Kind.OPEN and before[0].text in AGGREGATES

    def _read_call(self, start: int, key: str) -> Word:
        lower = key.lower()
        if lower in CASTS:
            return Word(Kind.CAST, TokenType.VAR, lower, start)
        return Word(Kind.CALL, TokenType.VAR, _function(key, start), start)

    def _read_type(self, start: int, key: str) -> tuple[Word, int]:
        lower = key.lower()
        if lower not in TYPES:
            near = _OTHER_TYPES.get(lower) or nearest(lower, TYPES)
            offer = f"did you mean {near}? " if near else ""
            suggestion = None if near is None else f"{self._text[:start]}{near}{self._text[start + len(key) :]}"
            exact = suggestion if lower in _OTHER_TYPES else None
            message = f"has no type {key[:40]!r} (character {start})"
            raise Refused(message, f"{offer}there are {', '.join(TYPES)}", start, exact)
        return Word(Kind.TYPE, TokenType.NUMBER, key, start, TypeWord(lower)), start + len(key)


_AN_OPERATOR: Final = "a minus between values has blanks around it"


def _bracketed(text: str, start: int) -> Refused:
    """Return the refusal of `IN [1, 2]`."""
    listed = _BRACKETED.match(text, start)
    message = f"has a list in brackets (character {start})"
    edit = None if listed is None else (start, listed.end(), f"({listed[1]})")
    return Refused(message, "it stands in parentheses: IN ('a', 'b')", start, edit=edit)


def _unexpected(text: str, at: int) -> Refused:
    return Refused(f"has {text[at]!r} (character {at})", hint=VALUES, position=at)


def _tokens(text: str) -> Iterable[tuple[TokenType, str, int, int]]:
    try:
        return _cut_sql(text)
    except TokenError as error:
        closed = _CLOSED.match(text)
        at = closed.end() if closed else 0
        if at == len(text):  # what remains is `{#`, which sqlglot takes for a comment of Jinja
            raise _unexpected(text, text.index("{#")) from error
        message = f"has a quote {text[at : at + 1]} (character {at}) that is not closed"
        hint = "inside quotes, the quote itself is written twice"
        raise Refused(message, hint=hint, position=at) from error


def _refuse_gap(text: str, reach: int, start: int) -> None:
    blank = sum(1 for _ in takewhile(str.isspace, text[reach:start]))
    if reach + blank < start:
        raise _unexpected(text, reach + blank)


def _value(text: str, start: int, end: int, value: Constant | Field | Parameter | Star) -> Word:
    return Word(Kind.VALUE, TokenType.NUMBER, text[start:end], start, value)


def _function(name: str, start: int) -> str:
    lower = name.lower()
    if lower in FUNCTIONS or lower in AGGREGATES:
        return lower
    known = [known for known in (*FUNCTIONS, *AGGREGATES) if known != "has"]
    message = f"has no function {name[:40]!r} (character {start})"
    if lower in INSTEAD:
        raise Refused(message, INSTEAD[lower], start)
    near = SYNONYMS.get(lower) or nearest(lower, known)
    hint = f"did you mean {near}?" if near else f"there are {', '.join(known)}"
    suggestion = near if near is not None and (lower in SYNONYMS or is_misspelt(lower, near)) else None
    raise Refused(message, hint, start, renamed=(len(name), suggestion))


_OTHERS: Final = frozenset({"ltrim", "rtrim"})
"""Functions elsewhere that mean something else than those that are written nearly the same here."""


def is_misspelt(name: str, near: str) -> bool:
    """Whether a name is plainly meant to be another: a letter or two apart."""
    return name not in _OTHERS and name[0] == near[0] and is_misspelling(name, near)


def _read_field(text: str, start: int) -> tuple[Word, int]:
    try:
        path, end = read_path(text, start, backticks=True)
    except Invalid as error:
        message = f"has {_cut(text, start)} (character {start}), which is not a path"
        hint = LISTS if text[start] == "[" else error.hint
        raise Refused(message, hint=hint, position=start) from error
    return _value(text, start, end, Field(path)), end


def _read_parameter(text: str, start: int) -> tuple[Word, int]:
    variable = _VARIABLE.match(text, start + 1)
    if variable is None:
        _refuse_template(text, start, len(text))
        message = f"has a `$` (character {start}) without a name"
        hint = "a parameter is written $x, $x.title or $hits[0].metadata.score"
        raise Refused(message, hint=hint, position=start)
    try:
        _, end = parse_suffix(text, variable.end())
    except Invalid as error:
        message = f"has {_cut(text, start)} (character {start}), which is not a place of ${variable[0]}"
        raise Refused(message, hint=error.hint, position=start) from error
    return _value(text, start, end, Parameter(text[start + 1 : end])), end


def _refuse_template(text: str, start: int, end: int) -> None:
    template = _TEMPLATE.search(text, start, end)
    if template is None:
        return
    at = template.start()
    message = f"has {template[0]} (character {at}), but text is never pasted into it"
    raise Refused(message, hint=f"${template[1]} is the value itself, and needs no quotes", position=at)


def _number(text: str, start: int) -> int | float:
    digits = "".join(text.split())
    number: float = float("inf")
    if len(digits) <= _LONGEST_NUMBER:
        number = float(digits) if set(digits) & set(".eE") else int(digits)
    if abs(number) == float("inf"):
        message = f"has {_cut(digits, 0)} (character {start}), beyond what a number holds"
        raise Refused(message, hint="numbers go to about 1.8e308", position=start)
    return number


def _cut(text: str, start: int) -> str:
    return repr(text[start : start + 20] + ("…" if len(text) > start + 20 else ""))
