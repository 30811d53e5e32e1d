"""Conditions that were written as code, such as `len($hits) > 0`: what they say in the language."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from infospace.core.errors import Invalid, InvalidJSON
from infospace.data.json_text import read_json

_REFERENCE = r"(?P<target>\$\{?[A-Za-z_][\w.\[\]-]*\}?)"
_LENGTH = re.compile(
    rf"(?:len|length|size|count)\(\s*{_REFERENCE}\s*\)\s*(?P<op>==|!=|>=|<=|>|<)\s*(?P<number>[01])", re.IGNORECASE
)
_COMPARED = re.compile(rf"{_REFERENCE}\s*(?P<op>===?|!=|>=|<=|>|<|=)\s*(?P<value>.+)", re.DOTALL)
_CALLED = re.compile(
    rf"(?P<not>not\s+|!\s*)?(?:(?P<word>bound|exists|empty|is_empty|has_value)\(\s*)?{_REFERENCE}\s*\)?", re.IGNORECASE
)
_SAID = re.compile(rf"{_REFERENCE}\s+is\s+(?P<not>not\s+)?(?P<word>bound|empty)", re.IGNORECASE)
_TYPES = {
    "==": "equals",
    "===": "equals",
    "=": "equals",
    "!=": "not_equals",
    ">": "greater_than",
    "<": "less_than",
    ">=": "gte",
    "<=": "lte",
}
_WORDS = {"bound": "bound", "exists": "bound", "empty": "empty", "is_empty": "empty", "has_value": "has_value"}
_SEVERAL: Final = object()
"""What is no value that is compared with as it stands."""


def condition_from_text(text: str) -> dict[str, Any] | None:
    """Return the condition that a text says, None where that is not plain."""
    text = text.strip().rstrip(";")
    match = _LENGTH.fullmatch(text)
    if match is not None:
        return _emptiness(_plain(match["target"]), match["op"], int(match["number"]))
    match = _SAID.fullmatch(text)
    if match is not None:
        document = {"type": match["word"].lower(), "target": _plain(match["target"])}
        return {"type": "not", "of": document} if match["not"] else document
    match = _COMPARED.fullmatch(text)
    value = _SEVERAL if match is None else _value(match["value"].strip())
    if match is not None and value is not _SEVERAL:
        return {"type": _TYPES[match["op"]], "target": _plain(match["target"]), "value": value}
    match = _CALLED.fullmatch(text)
    if match is None:
        return None
    document = {"type": _WORDS[(match["word"] or "has_value").lower()], "target": _plain(match["target"])}
    return {"type": "not", "of": document} if match["not"] else document


def _plain(reference: str) -> str:
    return "$" + reference.strip("${}")


def _emptiness(target: str, operator: str, number: int) -> dict[str, Any] | None:
    """What is said of a length, where it is only whether there is anything."""
    empty = {"type": "empty", "target": target}
    if (operator, number) in ((">", 0), (">=", 1), ("!=", 0)):
        return {"type": "not", "of": empty}
    return empty if (operator, number) in (("==", 0), ("<", 1), ("<=", 0)) else None


def _value(text: str) -> Any:
    """Return what one word or one quoted text is, `_SEVERAL` for an expression of several, and for what is no value."""
    if text[:1] in ("'", '"'):
        inner = text[1:-1]
        return inner if len(text) > 1 and text[-1] == text[0] and text[0] not in inner else _SEVERAL
    if re.search(r"[\s()]", text):
        return _SEVERAL
    if text == "None":
        return None
    try:
        return read_json(text.lower() if text in ("True", "False") else text)
    except InvalidJSON:
        return _SEVERAL


def with_words(text: str, read: Callable[[str], object]) -> str | None:
    """Return an expression with AND, OR and = for the signs that other languages have for them.

    `read` raises `Invalid` for what is none. `||` joins texts in this language, so that it is OR only where it cannot
    do that: where it is not plain which is meant, nothing is returned.
    """
    # Of a run of spaces only the first begins one: looking from each of them would take their square.
    joining = rewritten(text, lambda part: re.sub(r"(?<!\s)\s*&&\s*", " AND ", part).replace("===", "="))
    choosing = rewritten(joining, lambda part: re.sub(r"(?<!\s)\s*\|\|\s*", " OR ", part))
    meanings = [one for one in dict.fromkeys((joining, choosing)) if one != text and _is_read(one, read)]
    return meanings[0] if len(meanings) == 1 else None


def rewritten(text: str, outside: Callable[[str], str], inside: Callable[[str], str] = lambda quoted: quoted) -> str:
    """Return an expression with what stands outside of quotes, and what is quoted, with its quotes, written anew."""
    from infospace.expressions.tokens import QUOTED

    results, reach = [], 0
    for quoted in QUOTED.finditer(text):
        results += [outside(text[reach : quoted.start()]), inside(quoted[0])]
        reach = quoted.end()
    return "".join((*results, outside(text[reach:])))


def _is_read(text: str, read: Callable[[str], object]) -> bool:
    try:
        read(text)
    except Invalid:
        return False
    return True
