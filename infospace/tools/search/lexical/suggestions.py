"""Names in filters that no tool has: what was probably meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from infospace.core.tool import Tool
from infospace.data.paths import nearest
from infospace.tools.scope import Filters

_NAMED: Final = {
    "servers": "no tool here is of a server {}",
    "categories": "no tool here is of a category {}",
    "tags": "no tool here has a tag {}",
    "exclude_tags": "no tool here has a tag {}",
    "visibility": "no tool here is of a visibility {}",
    "teams": "no tool here is of a team {}",
}


def unmatched(filters: Filters, tools: Sequence[Tool]) -> list[str]:
    """Say of each name in filters that none of the tools has what is nearest to it, or which there are."""
    results: list[str] = []
    for key, message in _NAMED.items():
        expected: tuple[str, ...] = getattr(filters, key)
        if not expected:
            continue
        there = sorted({name for tool in tools for name in _names(key, tool) if name})
        folded = {name.casefold() for name in there} if key == "categories" else set(there)
        strange = [name for name in expected if (name.casefold() if key == "categories" else name) not in folded]
        results += [f"{message.format(repr(name))[:200]}; {_suggest_name(name, there)}" for name in strange]
    return results


def _names(key: str, tool: Tool) -> Sequence[str]:
    match key:
        case "servers":
            return (tool.server,)
        case "categories":
            return (tool.category,)
        case "visibility":
            return (tool.visibility,)
        case "teams":
            return (tool.team,)
    return tool.tags


def _suggest_name(name: str, there: Sequence[str]) -> str:
    near = nearest(name, there)
    if near is not None:
        return f"did you mean {near!r}?"
    return f"there are {', '.join(there[:8])}{', …' if len(there) > 8 else ''}" if there else "there are none"
