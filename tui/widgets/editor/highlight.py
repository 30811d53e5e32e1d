"""The parts of a line of JSON, to be coloured: keys, texts, references in them, numbers and words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

Part: TypeAlias = Literal["key", "text", "reference", "number", "word"]

_TOKEN = re.compile(
    r'(?P<text>"(?:[^"\\]|\\.)*"?)(?P<key>\s*:)?|(?P<number>-?\d[\d.eE+-]*)|(?P<word>true|false|null)(?!\w)'
)
_REFERENCE = re.compile(r"\$\{[A-Za-z_][^}\"]*\}?|(?<![^\W_])(?<!\$)\$[A-Za-z_]\w*(?:\.@?[\w-]+|\[[^\]]*\])*")


def parts_of(line: str) -> Iterator[tuple[Part, int, int]]:
    """Iterate over the parts of a line with their places; no text of JSON goes on in the next line."""
    for match in _TOKEN.finditer(line):
        kind = match.lastgroup
        if match["text"] is None:
            yield "number" if kind == "number" else "word", match.start(), match.end()
            continue
        start, end = match.span("text")
        if match["key"] is not None:
            yield "key", start, end
            continue
        yield "text", start, end
        for inner in _REFERENCE.finditer(line, start, end):
            if line[inner.start() - 1] != "$":
                yield "reference", inner.start(), inner.end()
