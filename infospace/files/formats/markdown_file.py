"""Markdown: front matter to metadata, the body as it is written."""

from __future__ import annotations

from infospace.files.formats import FileContent
from infospace.files.markdown import parse
from infospace.files.walk import decode


def read(data: bytes, name: str) -> FileContent:
    """Read Markdown. Raises Invalid for what is no text, and for a front matter that cannot be read."""
    parsed = parse(decode(data, name))
    return FileContent(parsed.text, parsed.metadata, parsed.links, parsed.lines)
