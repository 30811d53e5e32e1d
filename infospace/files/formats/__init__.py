"""Files as Notes: one module a format, loaded when a file of that format comes.

A whole file is one Note, or each of its rows is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from posixpath import splitext

from infospace.core.json_types import JSON
from infospace.data.markdown.body import Link
from infospace.data.titles import aliases_of, text_of_title
from infospace.files.walk import FileToImport, read_bytes


@dataclass(frozen=True, slots=True)
class FileContent:
    """What a file holds for one Note."""

    content: JSON
    metadata: dict[str, JSON]
    links: tuple[Link, ...] = ()
    lines: int = 0
    """How many stand before the content, as a front matter does."""
    warning: str = ""
    """What could not be understood, though the file was read."""

    @property
    def title(self) -> str | None:
        """The title by which links may call the Note."""
        return text_of_title(self.metadata.get("title"))

    @property
    def aliases(self) -> tuple[str, ...]:
        """What links may call the Note besides."""
        return aliases_of(self.metadata)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a file, known again by `digest`. `load` gives its content, or raises Invalid."""

    number: int
    digest: bytes
    load: Callable[[], JSON]


_MODULES = {
    ".md": "markdown_file",
    ".markdown": "markdown_file",
    ".json": "json",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
}
"""Suffixes in lower case and the module that reads them; any other file is plain text."""

ROWS = frozenset({".jsonl", ".ndjson", ".csv"})
"""Suffixes of files that hold a Note a row."""


def format_of(path: Path | str) -> str:
    """Return the name of the format that a file is read as."""
    return _MODULES.get(splitext(str(path))[1].lower(), "text")


def has_rows(path: Path | str) -> bool:
    """Whether each row of such a file is a Note."""
    return splitext(str(path))[1].lower() in ROWS


def read(file: FileToImport) -> tuple[bytes, Callable[[], FileContent]]:
    """Return the digest of a file, and what makes its Note; what is the same need not be taken apart.

    Raises NotFound when it is not there any more, Invalid when it cannot be read; and so does the second.
    """
    data = read_bytes(file.path)
    module = import_module(f"infospace.files.formats.{format_of(file.path)}")
    beside: bytes = module.beside(file.path) if hasattr(module, "beside") else b""
    digest = sha256(data + b"\0" + beside if beside else data).digest()

    def whole() -> FileContent:
        result: FileContent = module.read(data, file.path.name, beside) if beside else module.read(data, file.path.name)
        return result

    return digest, whole


def read_rows(file: FileToImport) -> Sequence[Row]:
    """Return the rows of a file. Raises NotFound when it is not there any more, Invalid when it cannot be read."""
    module = import_module(f"infospace.files.formats.{format_of(file.path)}")
    rows: Sequence[Row] = module.rows(read_bytes(file.path), file.path.name)
    return rows


def row_digest(text: str) -> bytes:
    """Return the digest of a row, which no whole file has."""
    return sha256(b"row\0" + text.encode()).digest()
