"""Whether what a program hands over as a plan is JSON at all: what has no form there is told with its place."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from infospace.data.json_text import MAX_DEPTH
from planner.language.problems import Problems, join

_LONE = re.compile("[\ud800-\udfff]")
_HINT = "JSON has texts, finite numbers, true, false, null, lists, and objects with text keys"
_TEXT = "a character beyond U+FFFF is one code point, or two escapes in a row"


def check_writable(document: Any, problems: Problems, pointer: str = "") -> bool:
    """Whether a value is JSON; says where it is not."""
    if _is_writable(document, 0):
        return True
    good = True
    for place, message, hint in _violations(document, pointer, 0):
        problems.error("not-json", place, message, hint)
        good = False
    return good


_SHORT = 10**18
"""A whole number below this has fewer digits than any limit on them."""


def _is_writable(value: Any, depth: int) -> bool:
    """Whether a value is JSON, by its plain types alone; False also where only a longer look tells."""
    kind = type(value)
    if kind is str:
        return _is_text(value)
    if value is None or kind is bool:
        return True
    if kind is int:
        return bool(-_SHORT < value < _SHORT)
    if kind is float:
        return isfinite(value)
    if depth == MAX_DEPTH:
        return False
    if kind is list:
        return all(_is_writable(item, depth + 1) for item in value)
    return kind is dict and all(
        type(key) is str and _is_text(key) and _is_writable(item, depth + 1) for key, item in value.items()
    )


def _is_text(text: str) -> bool:
    return text.isascii() or _LONE.search(text) is None


def _violations(value: Any, pointer: str, depth: int) -> Iterator[tuple[str, str, str]]:
    match value:
        case str():
            if match := _LONE.search(value):
                yield pointer, f"a text holds the lone surrogate {match[0]!r}, which has no UTF-8 form", _TEXT
        case None | bool():
            return
        case int():
            yield from _long(value, pointer)
        case float():
            if not isfinite(value):
                yield pointer, f"the number is {value}, which JSON has no form for", _HINT
        case list() | tuple() | Mapping() if depth == MAX_DEPTH:
            yield pointer, f"this is nested more than {MAX_DEPTH} deep", "fewer lists and objects in one another"
        case list() | tuple():
            for index, item in enumerate(value):
                yield from _violations(item, join(pointer, index), depth + 1)
        case Mapping():
            for key, item in value.items():
                if not isinstance(key, str):
                    yield pointer, f"a key of an object is a text, not {key!r:.40}", _HINT
                elif match := _LONE.search(key):
                    message = f"the key {key!r:.60} holds the lone surrogate {match[0]!r}, which has no UTF-8 form"
                    yield pointer, message, _TEXT
                else:
                    yield from _violations(item, join(pointer, key), depth + 1)
        case _:
            yield pointer, f"a value of the type {type(value).__name__} has no form in JSON", _HINT


def _long(number: int, pointer: str) -> Iterator[tuple[str, str, str]]:
    most = sys.get_int_max_str_digits()
    if most and abs(number) >= 10**most:
        yield pointer, f"a whole number has more than {most:,} digits", "a text keeps the digits"
