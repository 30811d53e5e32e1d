"""Where the front matter of a Markdown document lies."""

from __future__ import annotations

import re

_OPENS = re.compile(r"---[ \t]*\n")
_CLOSES = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n\n?|\Z)", re.MULTILINE)
_LIKE_A_MAPPING = re.compile(r"(?:[ \t]*(?:#.*)?\n)*(?:\Z|[ \t]*[{?]|(?![ \t]*(?:#|\n)).*?:(?:\s|\Z))")
_PROPERTY = re.compile(r"[A-Za-z_][\w-]*:(?:[ \t]|\n|\Z)")
_SIGN = re.compile(r"[^\n]")


def find_front(document: str) -> tuple[str, int] | None:
    """Find the front matter, and where the body begins; two rules with prose between them are none."""
    opens = _OPENS.match(document)
    closes = _CLOSES.search(document, opens.end()) if opens else None
    if not opens or not closes:
        return None
    block = document[opens.end() : closes.start()]
    return (block, closes.end()) if _LIKE_A_MAPPING.match(block) else None


def is_unclosed(document: str) -> bool:
    """Whether a document begins as with a front matter, with a property, and no line ends that."""
    opens = _OPENS.match(document)
    return bool(opens and _PROPERTY.match(document, opens.end()) and not _CLOSES.search(document, opens.end()))


def without_front(text: str) -> str:
    """Return a text with spaces for a front matter that stands in it, which no Markdown parser is to read."""
    front = find_front(text) if text.startswith("---") else None
    return text if front is None else _SIGN.sub(" ", text[: front[1]]) + text[front[1] :]
