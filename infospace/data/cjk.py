"""Scripts that put no spaces between words: Han, kana, Hangul, Thai, Lao, Burmese, Khmer.

A run of them is indexed as its overlapping pairs of characters, and its last character alone: 全文検索 as 全文 文検
検索 索. So what stands inside a run is found: a query's run by its pairs, a single character by what begins with it.
The same is done to what is stored and to what is asked; other scripts are left as they are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from operator import add

_MIXED = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3005, 0x3007), (0x3040, 0x312F))
"""Thai and Lao, Burmese, Khmer, Han's marks, kana and bopomofo, with signs among them that are no part of a word."""

_WHOLE = r"\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003fffd"
"""Han, Hangul, kana's other forms: characters and nothing else (https://www.unicode.org/charts/)."""


def _of(category: str) -> str:
    """The characters of the mixed ranges whose category begins so."""
    characters = (chr(code) for first, last in _MIXED for code in range(first, last + 1))
    return "".join(character for character in characters if unicodedata.category(character)[0] == category)


@cache
def _run_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_of('L')}{_of('N')}{_of('M')}{_WHOLE}]+")


@cache
def _unit_pattern() -> re.Pattern[str]:
    """A character with the marks upon it."""
    marks = _of("M")
    return re.compile(f"[^{marks}][{marks}]*|[{marks}]+")


def paired(text: str) -> str:
    """Return a text to be indexed: each run as its pairs, between blanks."""
    return _run_pattern().sub(_indexed, text)


def _indexed(run: re.Match[str]) -> str:
    units = _unit_pattern().findall(run[0])
    return f" {' '.join((*map(add, units, units[1:]), units[-1]))} "


def parts(word: str) -> Iterator[str]:
    """Return what to look for when a word is asked for: the pairs of its runs, and what stands between them."""
    begin = 0
    for run in _run_pattern().finditer(word):
        if begin < run.start():
            yield word[begin : run.start()]
        units = _unit_pattern().findall(run[0])
        yield from map(add, units, units[1:]) if len(units) > 1 else units
        begin = run.end()
    if begin < len(word):
        yield word[begin:]


def is_single(part: str) -> bool:
    """Whether a part is a single character of such a script, which whatever begins with it has."""
    return _run_pattern().fullmatch(part) is not None and len(_unit_pattern().findall(part)) == 1


@cache
def word_pattern() -> re.Pattern[str]:
    """Return what a word is made of: letters and digits, and the marks upon them, as full text has them."""
    codes = (*range(0x0300, 0x3100), *range(0xA66F, 0xAC00), *range(0xFB1E, 0xFE30))
    marks = (chr(code) for code in codes if unicodedata.category(chr(code)) in ("Mn", "Mc"))
    return re.compile(f"(?:[^\\W_]|[{''.join(marks)}])+")
