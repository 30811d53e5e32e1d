"""Plain text: itself, with line feeds for line ends."""

from __future__ import annotations

from infospace.files.formats import FileContent
from infospace.files.walk import decode


def read(data: bytes, name: str) -> FileContent:
    """Read text. Raises Invalid when it is binary, or in no encoding that says what it is."""
    return FileContent(decode(data, name).replace("\r\n", "\n").replace("\r", "\n"), {})
