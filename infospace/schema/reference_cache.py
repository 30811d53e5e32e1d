"""What came of following references, kept while one value is held against one schema."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

Referred: TypeAlias = "dict[tuple[int, int], tuple[Any, Any, list[Any]]]"
"""What came of references, by the ids of the schema that refers and of the value; both are kept, and so are the ids."""

REFERRED: ContextVar[Referred | None] = ContextVar("REFERRED", default=None)


@contextmanager
def referring() -> Iterator[None]:
    """Follow each reference of a schema once for each part of a value, in as many schemas of it as it stands.

    Definitions that refer to each other several times would else be held against a value exponentially often.
    """
    token = REFERRED.set({})
    try:
        yield
    finally:
        REFERRED.reset(token)
