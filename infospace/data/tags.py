"""Tags of Notes: how a property has them, and what `a/b` counts as."""

from __future__ import annotations

from collections.abc import Iterable

from infospace.core.json_types import JSON
from infospace.data.json_text import dump


def tags_of(value: JSON) -> tuple[str, ...]:
    """Read tags as a property has them: a list, or a text with commas; none where it is anything else."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        return ()
    texts = (one if isinstance(one, str) else dump(one) for one in value if isinstance(one, (str, int, float)))
    cleaned = (text.strip().removeprefix("#").strip() for text in texts)
    return tuple(dict.fromkeys(tag for tag in cleaned if tag))


def with_parents(tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags with those above them: `a/b` is also `a`."""
    results: dict[str, None] = {}
    for tag in tags:
        parts = tag.split("/")
        results |= dict.fromkeys("/".join(parts[: depth + 1]) for depth in range(len(parts)) if parts[depth])
    return tuple(results)
