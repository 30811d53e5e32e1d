"""PDF: its text by pages, where the extra `pdf` is installed."""

from __future__ import annotations

import io
import logging
from typing import TYPE_CHECKING

from infospace.core.errors import Invalid
from infospace.core.installation import install_hint
from infospace.core.json_types import JSON
from infospace.files.formats import FileContent

if TYPE_CHECKING:
    from pypdf import PdfReader


def read(data: bytes, name: str) -> FileContent:
    """Read a PDF, a blank line between pages; `metadata.pages` counts them, the title is the document's own.

    Raises Invalid without the extra, and for what is locked, damaged, or holds no text.
    """
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ImportError:
        raise Invalid(f"{name!r} is a PDF, and nothing here reads those", hint=install_hint("pdf")) from None
    if not data:
        return FileContent("", {})
    logging.getLogger("pypdf").addHandler(logging.NullHandler())
    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted:
            raise Invalid(f"{name!r} is locked with a password", hint="save a copy without one")
        text = "\n\n".join(page.extract_text().strip() for page in reader.pages).strip()
        metadata = _metadata(reader)
    except (PyPdfError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise Invalid(f"{name!r} is not a PDF that can be read: {error}", hint="open it, and save it again") from None
    if not text:
        raise Invalid(f"{name!r} holds no text", hint="pages that were scanned must be recognised first")
    return FileContent(text.replace("\0", ""), metadata)


def _metadata(reader: PdfReader) -> dict[str, JSON]:
    known: dict[str, JSON] = {"pages": len(reader.pages)}
    title = reader.metadata.title if reader.metadata is not None else None
    if title and title.strip():
        known = {"title": title.strip(), **known}
    return known
