"""Ids: `Note_12`, `Collection_7`, `Relation_3`, `run_2`. Never used twice in a space."""

from __future__ import annotations

import re
from enum import StrEnum


class Kind(StrEnum):
    """The three kinds of resource, and nothing else."""

    NOTE = "Note"
    COLLECTION = "Collection"
    RELATION = "Relation"


_ID = re.compile(r"(Note|Collection|Relation)_([1-9][0-9]{0,17})")
ID_IN_TEXT = re.compile(
    r"(?:(?<![A-Za-z0-9_])|(?<=\\[bfnrt]))(?:Note|Collection|Relation)_[1-9][0-9]{0,17}(?![A-Za-z0-9_])"
)
"""An id of a resource among other words, which may be written as JSON: `n` in `\\nNote_1` is no letter of a word."""

_RUN = re.compile(r"run_([1-9][0-9]{0,17})")


def is_id(text: str) -> bool:
    """Whether a text is shaped like the id of a resource."""
    return _ID.fullmatch(text) is not None


def kind_of(identifier: str) -> Kind:
    """Return the kind that an id names; the id must be one."""
    return Kind(identifier.partition("_")[0])


def number_of(identifier: str) -> int:
    """Return the number in an id of a resource or a run, the order of making within its kind."""
    return int(identifier.rpartition("_")[2])


def is_run_id(text: str) -> bool:
    """Whether a text is shaped like the id of a run."""
    return _RUN.fullmatch(text) is not None
