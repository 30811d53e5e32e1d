"""What a resource counts as in sets, which for a search result is not its own id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def of_evidence(source: str, start: int | None, end: int | None, *, passage: bool) -> str:
    """Return the identity of a search result: its source's id; of a passage, that and its range."""
    return f"{source}[{start}:{end}]" if passage else source


def of_own_evidence(identifier: str, content: Any) -> str:
    """Return the identity of a search result with content of its own: `server/tool`, else its source's id."""
    metadata = content.get("metadata") if isinstance(content, Mapping) else None
    if not isinstance(metadata, Mapping):
        return identifier
    server, tool, source = metadata.get("server"), metadata.get("tool"), metadata.get("source_id")
    if isinstance(server, str) and isinstance(tool, str):
        return tool if tool.startswith(f"{server}/") else f"{server}/{tool}"
    return source if isinstance(source, str) else identifier
