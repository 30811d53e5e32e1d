"""What a search has proved of its result."""

from __future__ import annotations

from infospace.search import proof

__all__ = [
    "proof",
]
