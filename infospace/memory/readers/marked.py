"""Markdown: front matter to metadata, the body as it is written."""

from __future__ import annotations

from infospace.memory.files import decode
from infospace.memory.markdown import parse
from infospace.memory.readers import Whole


def read(data: bytes, name: str) -> Whole:
    """Read Markdown. Raises Invalid for what is no text, and for a front matter that cannot be read."""
    parsed = parse(decode(data, name))
    return Whole(parsed.text, parsed.metadata, parsed.links)
