"""A whole number as somebody typed it."""

from __future__ import annotations


def whole_number(text: str) -> int | None:
    """Return the number, None for what is none, or has more digits than Python reads."""
    try:
        return int(text)
    except ValueError:
        return None
