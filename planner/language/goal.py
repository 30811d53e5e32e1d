"""The goal of a run: that of its plan, with its inputs filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

from infospace.core.json_types import JSON
from infospace.core.resources import Note, Resource, is_resource, text_of
from infospace.data.result import LABEL, display_name, truncate
from planner.language.plan import Table

_INPUT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""An input in a goal. Nothing else in one is read."""


def filled(goal: str, inputs: Mapping[str, Resource | Table | JSON]) -> str:
    """Return a goal with the texts of inputs, cut where they are long; of a Collection or a Relation what it is called.

    What is no input stays as it is written, and what is filled in is not read again.
    """
    return _INPUT.sub(lambda found: _text(inputs[found[1]]) if found[1] in inputs else found[0], goal)


def _text(value: Resource | Table | JSON) -> str:
    if isinstance(value, Table):
        text = f"{len(value.rows):,} row{'' if len(value.rows) == 1 else 's'}"
    elif is_resource(value):
        text = text_of(value.content) if isinstance(value, Note) and not value.evidence else display_name(value)
    else:
        text = text_of(cast("JSON", value))
    return truncate(" ".join(text.split()), 2 * LABEL)
