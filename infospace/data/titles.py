"""What a resource is called where it is shown: one rule for lists, search results, the screen and provenance.

Its `title` (front matter, or the first heading of level 1 of a Markdown file); else its name; else `title` in its JSON;
else the name of the file that it is; else how its text begins, without markup.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from infospace.core.json_types import JSON
from infospace.core.resources import Location

LINES = 50
"""Lines of a text that are looked at for one that says something."""

LINE = 1_000
"""Characters of a line that are looked at."""

_TAG = re.compile(r"<!--[^>]*-->|</?[A-Za-z!][^<>]*(?:>|$)")
_BLOCK = re.compile(r"(?:\s|#+|>|[-*+](?=\s)|`{3,}\w*|~{3,}\w*|\[[ xX]\](?=\s))+")
_HEADING = re.compile(r"^ {0,3}(?:(?P<fence>`{3,}|~{3,})|(?P<level>#{1,6})(?=[ \t])).{0,1000}", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_WIKI = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")


def title_of(metadata: Mapping[str, Any], name: str | None, content: JSON, location: Location | None) -> str | None:
    """Return the title of a Note; None where nothing says one. Of a text, its beginning is enough for `content`."""
    for candidate in (metadata.get("title"), name, content.get("title") if isinstance(content, Mapping) else None):
        if (title := text_of_title(candidate)) is not None:
            return title
    if location is not None and not location.part:
        return PurePosixPath(location.path).stem
    return first_line(content) if isinstance(content, str) else None


def text_of_title(value: JSON) -> str | None:
    """Return a title as text: a number, such as the year of `title: 2026`, is one too; None for what says nothing."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value.strip() else None


def aliases_of(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the other names of a Note: `aliases` of its metadata, or `alias`, a text or a list of texts."""
    results: dict[str, None] = {}
    for key in ("aliases", "alias"):
        value = metadata.get(key)
        texts = value if isinstance(value, (list, tuple)) else [value]
        results |= dict.fromkeys(text.strip() for text in texts if isinstance(text, str) and text.strip())
    return tuple(results)


def headings_at(text: str, place: int) -> tuple[str, ...]:
    """Return the headings of a Markdown text under which a place stands, the outermost first.

    A heading that begins at the place is one of them. Lines within fences of code are none.
    """
    path: list[tuple[int, str]] = []
    fence = ""
    for match in _HEADING.finditer(text):
        if match.start() > place:
            break
        if match["fence"]:
            mark = match["fence"]
            if not fence:
                fence = mark
            elif mark[0] == fence[0] and len(mark) >= len(fence):
                fence = ""
        elif not fence:
            level = len(match["level"])
            while path and path[-1][0] >= level:
                path.pop()
            path.append((level, match[0]))
    return tuple(plain for _, line in path if (plain := _plain(line)))


def first_line(text: str) -> str | None:
    """Return the first line of a text that says something, without the marks of Markdown and HTML."""
    start = 0
    for _ in range(LINES):
        end = text.find("\n", start)
        line = text[start : len(text) if end < 0 else end]
        if (plain := _plain(line[:LINE])) and any(map(str.isalnum, plain)):
            return plain
        if end < 0:
            break
        start = end + 1
    stripped = text[:LINE].strip().partition("\n")[0]
    return stripped if stripped and stripped[0] not in "#<" else None


def beginning(text: str, most: int) -> str:
    """Return how a text begins on one line, without the marks of Markdown and HTML."""
    plain = (_plain(line[:LINE]) for line in text[:most].split("\n"))
    return " ".join(line for line in plain if line) or text[:most].strip()


def _plain(line: str) -> str:
    line = _TAG.sub(" ", line)
    marks = _BLOCK.match(line)
    line = line[marks.end() :] if marks else line
    line = _WIKI.sub(r"\1", _LINK.sub(r"\1", line)).replace("**", "").replace("`", "")
    return " ".join(line.rstrip("#").split()) if marks and "#" in marks[0] else " ".join(line.split())
