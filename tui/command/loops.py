"""Which steps of long loops are shown."""

from __future__ import annotations

import re

ROUNDS = 10
"""Rounds of a loop whose steps are shown; of later ones those that did not end well."""
_ROUND = re.compile(r"\.(?:do|body)\[(\d+)\]")


def late_loop(position: str) -> str | None:
    """Return the outermost loop around a step that is in a round too late to be shown, None where there is none."""
    for found in _ROUND.finditer(position):
        if int(found[1]) > ROUNDS:
            return position[: found.start()]
    return None
