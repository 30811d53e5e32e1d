"""Texts that look like references and are none: a `$` that is itself, and how other systems write a place.

| written | where `x` is bound |
|---|---|
| `Pa$x`, `$$$x` | a `$` after a letter, a digit or `$` is itself |
| `{{x.title}}`, `{{ x | upper }}` | templates of others |
| `$.x.title` | JSONPath |
| `<x.title>`; `<x>` as the whole text | a place to be filled in |
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from infospace.core.errors import Invalid
from infospace.data.paths import parse_suffix
from planner.language.references import NAME

_PATH = r"(?:\.@?[\w-]+|\[[^\]\s]*\])"
_LOOKS = re.compile(
    r"\$\{[^}]*\}"
    r"|(?<![^\W_])(?<!\$)\$\$(?=[A-Za-z_])"
    rf"|(?:(?<=[^\W_])|(?<=\$))\$(?P<beside>[A-Za-z_]\w*{_PATH}*)"
    rf"|\{{\{{\s*(?P<braces>[A-Za-z_]\w*{_PATH}*)\s*(?:\|[^{{}}]*)?\}}\}}"
    rf"|\$\.(?P<jsonpath>[A-Za-z_]\w*{_PATH}*)"
    rf"|<(?P<angles>[A-Za-z_]\w*{_PATH}*)>"
)


class Lookalike(NamedTuple):
    """What looks like a reference: a sentence that says so, and what would be one."""

    message: str
    hint: str


def lookalikes(text: str, bound: Collection[str]) -> Iterator[Lookalike]:
    """Iterate over what in a text looks like a reference to something bound, each once."""
    if "$" not in text and "{{" not in text and "<" not in text:
        return
    seen = set()
    for match in _LOOKS.finditer(text):
        kind = match.lastgroup
        if kind is None or match[0] in seen:
            continue
        raw = _reference(match[kind])
        name = NAME.match(raw)
        whole = match[0] == text
        if name is None or name[0] not in bound or (kind == "angles" and not whole and name[0] == raw):
            continue
        seen.add(match[0])
        yield _lookalike(match[0], raw, kind, whole=whole)


def _lookalike(text: str, raw: str, kind: str, *, whole: bool) -> Lookalike:
    label = text if len(text) <= len(raw) + 20 else f"{text[: len(raw) + 20]}…"
    name = raw.partition(".")[0].partition("[")[0]
    message = f"`{label}` is text here, though ${name} is bound"
    if kind == "beside":
        message = f"`{label}` is text here: a `$` after a letter, a digit or `$` begins no reference"
    hint = f"`${{{raw}}}` is the text of ${raw}"
    return Lookalike(message, f"`${raw}` is the value; {hint}" if whole and kind != "beside" else hint)


def _reference(text: str) -> str:
    """As much of a name and a path as can be read."""
    name = NAME.match(text)
    if name is None:
        return ""
    try:
        return text[: parse_suffix(text, name.end())[1]]
    except Invalid:
        return name[0]
