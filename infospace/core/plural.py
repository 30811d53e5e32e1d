"""A number with its noun, as people read it."""

from __future__ import annotations


def pluralize(number: int, noun: str, plural: str | None = None) -> str:
    """Return `1 note`, `2,000 notes`; `plural` is the noun where it is not made by an `s`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
