"""Tools and servers as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text

from infospace.tools.injection_signs import injection_signs
from infospace.tools.search.results import FINEST, ToolHit
from tui.tables.tools_query import ServerStatus, ToolsList, ToolsQuery, key_of
from tui.text.format import Colours, count, format_duration, single_line
from tui.text.table_model import Column

STATES = {
    "running": ("●", "success"),
    "listed": ("✓", "success"),
    "failed": ("✗", "error"),
    "wrong": ("✗", "error"),
    "never listed": ("?", "warning"),
    "disabled": ("-", ""),
}
"""A sign for each state of a server, and the name of its colour."""


class ToolRows:
    """Implements `Rows` over tools. `!` marks one whose words instruct the model, `↑` one that stands higher."""

    PLAIN: ClassVar[tuple[Column, ...]] = (
        Column("", 1),
        Column("tool", 38, narrow=30),
        Column("says", None, least=12),
        Column("calls", 5, "right", wide=70),
        Column("mean", 8, "right", wide=70),
    )
    FOUND: ClassVar[tuple[Column, ...]] = (
        Column("", 1),
        Column("score", 6),
        Column("tool", 38, narrow=30),
        Column("found by", 14, wide=70),
        Column("says", None, least=12),
    )

    def __init__(self) -> None:
        self.listed = ToolsList(ToolsQuery(), (), "")
        self.colours: Colours = {}
        self._signs: dict[str, bool] = {}
        self._least = 0.0
        """How much every one of them is lifted in the order."""

    def update(self, listed: ToolsList) -> None:
        self.listed = listed
        self._signs.clear()
        self._least = min((_lift(hit) for hit in listed.hits.values()), default=0.0)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns: a search has scores."""
        return self.FOUND if self.listed.hits else self.PLAIN

    def __len__(self) -> int:
        return len(self.listed.tools)

    def key(self, index: int) -> str:
        """Return the kind and the full name of a tool."""
        return key_of(self.listed.tools[index])

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        """Return what is told of a tool."""
        del widths
        tool = self.listed.tools[index]
        key = key_of(tool)
        if key not in self._signs:
            self._signs[key] = bool(injection_signs(tool))
        mark = Text("!", self.colours.get("warning", "")) if self._signs[key] else Text("")
        name = Text.assemble((f"{tool.server}/", "dim"), single_line(tool.name))
        if not tool.connected:
            name.stylize("italic")
        if tool.kind == "server":
            name = Text.assemble(("server ", self.colours.get("secondary", "")), (single_line(tool.server), "italic"))
        elif tool.kind != "tool":
            name = Text.assemble((f"{tool.kind} ", self.colours.get("secondary", "")), name)
        text = "" if tool.kind != "server" else "never listed: c lists it. "
        message = Text(f"{text}{single_line(tool.title or tool.description)}", "dim")
        hit = self.listed.hits.get(key)
        if hit is not None:
            guess = self.listed.no_match
            score = Text(f"{hit.score:.3f}", "dim italic" if guess else self.colours.get("accent", ""))
            score.append("↑" if _lift(hit) > self._least else "", "dim")
            return [mark, score, name, Text(", ".join(hit.matched_by) or "a guess", "dim"), message]
        use = self.listed.uses.get((tool.server, tool.name)) if tool.kind == "tool" else None
        if use is None:
            return [mark, name, message, "", ""]
        return [mark, name, message, count(use.execution_count), format_duration(use.mean_ms)]


def _lift(hit: ToolHit) -> float:
    """How much higher a tool stands in the order than its score says."""
    return round(sum(adjustment.by for adjustment in hit.adjustments), FINEST)


class ServerRows:
    """Implements `Rows` over servers."""

    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("", 1),
        Column("server", 22, narrow=14),
        Column("state", 12),
        Column("tools", 5, "right"),
        Column("calls", 6, "right", wide=75),
        Column("mean", 8, "right", wide=60),
        Column("p95", 8, "right", wide=75),
        Column("about", None, least=10),
    )

    def __init__(self) -> None:
        self.servers: Sequence[ServerStatus] = ()
        self.colours: Colours = {}

    def __len__(self) -> int:
        return len(self.servers)

    def key(self, index: int) -> str:
        """Return the name of a server, or the file that cannot be read."""
        return self.servers[index].name

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        """Return what is told of a server."""
        del widths
        one = self.servers[index]
        mark, colour = STATES[one.state]
        coloured = self.colours.get(colour, "dim")
        about = one.reason or (one.server.description or one.server.title if one.server is not None else "")
        numbers = ["", "", ""]
        if one.use is not None:
            numbers = [
                count(one.use.execution_count),
                format_duration(one.use.mean_ms),
                format_duration(one.use.p95_ms),
            ]
        return [
            Text(mark, coloured),
            single_line(one.name),
            Text(one.state, coloured),
            "" if one.server is None else f"{one.server.tools:,}",
            *numbers,
            Text(single_line(about), coloured if one.reason else "dim"),
        ]
