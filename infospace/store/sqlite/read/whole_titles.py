"""Which Notes are called exactly as a query is: by their whole title, or by an alias."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from infospace.data.cjk import word_pattern

MOST_TITLES: Final = 200
"""Notes that have all words of a query and are compared with it, the best by BM25. Words in a title weigh most."""


def spelled(text: str) -> Sequence[str]:
    """Return the words of a title as they are compared: in order, in small letters, without what stands between."""
    return word_pattern().findall(text.lower())


def having_title(query: str, titles: Mapping[int, str]) -> tuple[int, ...]:
    """Return the numbers of the Notes of which the query is a whole title; `titles` has those of each in lines."""
    expected = spelled(query)
    called = (
        number for number, lines in titles.items() if any(spelled(line) == expected for line in lines.split("\n"))
    )
    return tuple(sorted(called)) if expected else ()
