"""Patterns: RE2's syntax, found in linear time whatever the pattern."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON


def compile_pattern(pattern: JSON) -> Any:
    """Return a compiled RE2 pattern: no look-around, no back-references. Raises Invalid."""
    if not isinstance(pattern, str):
        raise Invalid(f"a pattern is text, not {pattern!r:.40}")
    return _compiled(pattern)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        message = error.args[0] if error.args else error
        text = message.decode() if isinstance(message, bytes) else str(message)
        raise Invalid(
            f"{pattern!r:.60} is not a pattern: {text}",
            hint="the syntax is RE2's: no look-around, no back-references",
        ) from None
