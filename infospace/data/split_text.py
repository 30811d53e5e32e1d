"""A text cut into paragraphs, sentences or lines, or taken for the JSON that it is."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from infospace.core.errors import InvalidJSON
from infospace.core.json_types import JSON
from infospace.data.json_text import read_json, read_json_lines

_BLANK_LINES = re.compile(r"(?:\r\n?|\n)[^\S\r\n]*(?:\r\n?|\n)\s*")
_LINE_END = re.compile(r"\r\n?|\n")
_CLOSING = "\"'’”»)\\]"
_END = re.compile(rf"(?<![.!?…])(?P<sign>[.!?…]++)(?P<closing>[{_CLOSING}]*+)(?=\s|\Z)|[。！？]++[」』”’）]*+")
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘«]*\Z")
_NEXT = re.compile(r"\s*(\S)")
_ELLIPSIS = re.compile(r"\.{2,}|…")
_WORD_BEFORE = 24
"""Characters before a full stop in which the word that it belongs to is looked for."""

ABBREVIATIONS = frozenset({
    "approx", "bzw", "ca", "cf", "dr", "e.g", "figs", "i.e", "mr",
    "mrs", "ms", "mt", "pp", "prof", "resp", "vgl", "vs", "z.b",
})  # fmt: skip
"""Words after which a full stop ends no sentence, in small letters and without their last full stop."""
PERHAPS = frozenset({
    "a.m", "al", "co", "etc", "fig", "inc", "jr", "ltd", "no",
    "p.m", "sr", "st", "u.a", "u.k", "u.s", "usw", "vol",
})  # fmt: skip
"""Words after which a full stop ends no sentence when a small letter or a digit follows."""


def paragraphs(text: str) -> list[str]:
    """Return the stretches of text between blank lines."""
    return _non_blank(_BLANK_LINES.split(text))


def lines(text: str) -> list[str]:
    """Return the lines that are not blank, with the white space in front that they have."""
    return [line.rstrip() for line in _LINE_END.split(text) if line.strip()]


def sentences(text: str) -> list[str]:
    """Return the sentences: one ends at `.`, `!`, `?` or `…` before white space, and at a blank line.

    Closing quotes and brackets behind the sign belong to it; `。`, `！`, `？` need no white space. A full stop ends
    none after a single letter, after a number that begins a line or a sentence, or after a word of `ABBREVIATIONS`,
    nor after one of `PERHAPS` before a small letter or a digit. An ellipsis, or a sign with a quote or bracket
    behind it, ends none before a small letter.
    """
    return [piece for paragraph in paragraphs(text) for piece in _non_blank(_sentences(paragraph))]


def _non_blank(pieces: list[str] | Iterator[str]) -> list[str]:
    return [piece for piece in map(str.strip, pieces) if piece]


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(text):
        if not _continues(text, start, end):
            yield text[start : end.end()]
            start = end.end()
    yield text[start:]


def _continues(text: str, start: int, end: re.Match[str]) -> bool:
    """Whether the sentence that begins at `start` does not end at a sign that could end one."""
    if end["sign"] is None:
        return False
    following = _NEXT.match(text, end.end())
    then = following[1] if following else ""
    if end["closing"] or _ELLIPSIS.fullmatch(end["sign"]):
        return then.islower()
    if end["sign"] != ".":
        return False
    match = _LAST_WORD.search(text, max(start, end.start() - _WORD_BEFORE), end.start())
    word = match[0].lower() if match else ""
    if word.isdecimal():
        line = max(start, text.rfind("\n", start, end.start()) + 1)
        return not text[line : end.start() - len(word)].strip()
    if word in PERHAPS:
        return then.islower() or then.isdecimal()
    return word in ABBREVIATIONS or (len(word) == 1 and word.isalpha())


def json_list(text: str) -> list[JSON] | None:
    """Return the list that a text as a whole is as JSON, or None."""
    if not text.lstrip().startswith("["):
        return None
    try:
        value = read_json(text, what="the text", max_bytes=sys.maxsize)
    except InvalidJSON:
        return None
    return value if isinstance(value, list) else None


def json_lines(text: str) -> list[JSON] | None:
    """Return the objects and lists that the lines of a text are as JSON; None where one is anything else."""
    if text.lstrip()[:1] not in {"{", "["}:
        return None
    try:
        results = [value for _, value in read_json_lines(text, what="the text", max_bytes=sys.maxsize)]
    except InvalidJSON:
        return None
    return results if all(isinstance(value, (list, dict)) for value in results) else None
