"""Markdown: front matter to metadata, the body as it is written."""

from __future__ import annotations

from infospace.files.formats import FileContent
from infospace.files.markdown import parse_any
from infospace.files.walk import decode


def read(data: bytes, name: str) -> FileContent:
    """Read Markdown; a front matter that cannot be read is part of the text. Raises Invalid for what is no text."""
    parsed = parse_any(decode(data, name))
    return FileContent(parsed.text, parsed.metadata, parsed.links, parsed.lines, parsed.warning)
