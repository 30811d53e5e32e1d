"""The tools around one, drawn: what gives what it takes on the left, what takes what it gives on the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tui.text.output import escape_controls

NOTHING = "no tool gives what it takes, and none takes what it gives, as far as their schemas say"


def draw_neighbours(results: Mapping[str, Any]) -> list[str]:
    """Return the lines of the picture of a tool and its neighbours, as `neighbourhood` has them."""
    lines = [
        *_side(results["before"], "from"),
        f"▶ {escape_controls(results['tool_name'])}",
        *_side(results["after"], "to"),
    ]
    return lines if len(lines) > 1 else [lines[0], f"  {NOTHING}"]


def _side(flows: Sequence[Mapping[str, Any]], end: str) -> list[str]:
    """The lines of one side: a tool, the place and the argument, and how sure it is."""
    if not flows:
        return []
    names = [escape_controls(str(flow[end])) for flow in flows]
    data = [f"{escape_controls(_place(flow))} → {escape_controls(str(flow['argument']))}" for flow in flows]
    name_width, data_width = max(map(len, names)), max(map(len, data))
    corners = ["┌", *"├" * (len(flows) - 1)] if end == "from" else [*"├" * (len(flows) - 1), "└"]
    return [
        f"  {corner}─ {name:<{name_width}}  {what:<{data_width}}  {flow['score']:>4.0%}".rstrip()
        for corner, name, what, flow in zip(corners, names, data, flows, strict=True)
    ]


def _place(flow: Mapping[str, Any]) -> str:
    return str(flow["place"]).lstrip(".") or "all of it"
