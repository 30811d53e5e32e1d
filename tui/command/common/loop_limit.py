"""Which steps of long loops are shown."""

from __future__ import annotations

from infospace.core.position import ROUNDS as LOOPS
from infospace.core.position import Position

ROUNDS = 10
"""Rounds of a loop whose steps are shown; of later ones those that did not end well."""


def late_loop(position: str) -> str | None:
    """Return the outermost loop around a step that is in a round too late to be shown, None where there is none."""
    loops = [part for part in Position.parse(position).parts if part.block in LOOPS]
    return next((part.holder.text for part in reversed(loops) if (part.number or 0) > ROUNDS), None)
