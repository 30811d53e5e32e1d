"""Markdown to be read: laid out a piece at a time, off the event loop, as far as it is looked at."""

from __future__ import annotations

import asyncio
import io
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar, cast

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, Markdown, MarkdownElement
from rich.segment import Segment
from rich.theme import Theme
from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.worker import Worker

from tui.runtime.workers import guarded
from tui.text.output import escape_controls
from tui.widgets.text_view import COPIED

if TYPE_CHECKING:
    from tui.app import InfospaceApp

PIECE = 6_000
"""Characters from which on a piece ends at the next place where it may."""
AHEAD = 3
"""Screens below what is in sight that are laid out."""
MAX_PIECE_CHARACTERS = 100_000
"""Characters at which a piece ends, wherever that is."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_DEFINITION = re.compile(r" {0,3}\[[^\]]+\]:\s*\S")
_GOES_ON = re.compile(r"\s|[-*+>|]|\d+[.)]")
"""How a line begins that may belong to what stands above the blank line before it."""


class MarkdownView(ScrollView, can_focus=True):
    """A text in Markdown."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", show=False),
        Binding("down,j", "scroll_down", show=False),
        Binding("home,g", "scroll_home", show=False),
        Binding("end,G", "bottom", show=False),
    ]

    def __init__(self, *, name: str = "") -> None:
        super().__init__(id=name or None)
        self.text = ""
        self._lines: list[Strip] = []
        self._starts: list[int] = []
        """Where the lines of each piece begin."""
        self._width = 0
        self._whole = True
        """Whether all is laid out."""
        self._to_end = False
        self._more = asyncio.Event()
        self._worker: Worker[None] | None = None

    @property
    def infospace(self) -> InfospaceApp:
        return cast("InfospaceApp", self.app)

    def read(self, text: str) -> None:
        """Show a text from its beginning."""
        if text == self.text and self._lines:
            return
        self.text = text
        self._starts = []
        self.scroll_to(y=0, animate=False, force=True)
        self._begin()

    def _begin(self) -> None:
        self._to_end = False
        self._width = self.scrollable_content_region.width
        if self._width > 1:
            work = guarded(self.infospace, self._lay_out, self.text, self._width)
            self._worker = self.run_worker(work, group="paper", exclusive=True)

    def on_resize(self, event: Resize) -> None:
        """Lay it out anew; what is in sight stays there."""
        del event
        if self.scrollable_content_region.width != self._width:
            self._begin()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Go on with what comes near."""
        super().watch_scroll_y(old_value, new_value)
        self._more.set()

    def action_bottom(self) -> None:
        """Lay out all of it, and go to its end."""
        self._to_end = True
        self._more.set()
        self.scroll_end(animate=False)

    def copied(self) -> tuple[str, bool]:
        """Return what is to be copied, and whether that is all."""
        return self.text[:COPIED], len(self.text) <= COPIED

    async def _lay_out(self, text: str, width: int) -> None:
        dark, colours = self.app.current_theme.dark, dict(self.infospace.colours)
        parts = await asyncio.to_thread(lambda: list(pieces(text)))
        lines: list[Strip] = []
        starts: list[int] = []
        for place, part in enumerate(parts):
            if self._lines is lines:
                await self._needed()
            piece = await asyncio.to_thread(rendered, part, width, colours, dark=dark)
            starts.append(len(lines))
            lines += piece
            whole = place == len(parts) - 1
            top = None
            if self._lines is not lines:  # those of another width are shown until what is in sight of them is laid out
                top = self._place_among(lines, starts)
                if not whole and (top is None or len(lines) < top + self.size.height):
                    continue
                self._lines, self._starts = lines, starts
            self._whole = whole
            self.virtual_size = Size(width, len(self._lines) + (not self._whole))
            self._refresh_scrollbars()  # see LazyTable
            self.refresh()
            if self._to_end:
                self.scroll_end(animate=False)
            elif top is not None:
                self.scroll_to(y=top, animate=False)
        if not parts:
            self._lines, self._starts, self._whole = [], [], True
            self.virtual_size = Size(width, 0)
            self.refresh()

    def _place_among(self, lines: list[Strip], starts: list[int]) -> int | None:
        """Return where the first line in sight is among lines of another width, None if that is not laid out yet."""
        top = round(self.scroll_offset.y)
        piece = bisect_right(self._starts, top) - 1
        if piece < 0:
            return 0
        if piece >= len(starts):
            return None
        start, end = [*self._starts, len(self._lines)][piece : piece + 2]
        new_start, new_end = [*starts, len(lines)][piece : piece + 2]
        return new_start + round((top - start) / max(1, end - start) * (new_end - new_start))

    async def _needed(self) -> None:
        """Wait until somebody comes near to what is not laid out."""
        while not self._to_end and len(self._lines) > self.scroll_offset.y + AHEAD * max(10, self.size.height):
            self._more.clear()
            await self._more.wait()

    def render_line(self, y: int) -> Strip:
        """Draw a line in sight."""
        index = y + round(self.scroll_offset.y)
        width = self.scrollable_content_region.width
        if index < len(self._lines):
            return self._lines[index].apply_style(self.rich_style).adjust_cell_length(width, self.rich_style)
        if index == len(self._lines) and not self._whole:
            return Strip([Segment("…", self.rich_style)]).adjust_cell_length(width, self.rich_style)
        return Strip.blank(width, self.rich_style)


class _Title(Heading):
    """A heading at the left."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _Written(Markdown):
    """Markdown whose headings stand at the left."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {**Markdown.elements, "heading_open": _Title}


def rendered(text: str, width: int, colours: dict[str, str], *, dark: bool) -> list[Strip]:
    """Return Markdown as lines of that width. For a thread."""
    accent, primary, second = (colours.get(name, "") for name in ("accent", "primary", "secondary"))
    styles = {
        **{f"markdown.h{level}": f"bold {primary}" for level in range(1, 7)},
        "markdown.h1": f"bold underline {primary}",
        "markdown.code": accent or "bold",
        "markdown.link": f"underline {second}",
        "markdown.link_url": f"underline {second}",
        "markdown.item.bullet": accent or "bold",
        "markdown.item.number": accent or "bold",
        "markdown.block_quote": "italic",
        "markdown.hr": "dim",
        "markdown.table.border": "dim",
        "markdown.table.header": "bold",
    }
    console = Console(
        width=width, file=io.StringIO(), force_terminal=True, color_system="truecolor", theme=Theme(styles), emoji=False
    )
    theme = "ansi_dark" if dark else "ansi_light"
    value = _Written(text, code_theme=theme, inline_code_theme=theme)
    lines = console.render_lines(value, console.options, pad=False)
    strips = [Strip(Segment(segment.text, segment.style) for segment in line) for line in lines]
    while strips and not strips[0].text.strip():
        strips.pop(0)
    return [*strips, Strip([])] if strips else []


def pieces(text: str) -> Iterator[str]:
    """Cut Markdown between its blocks, with what its links refer to in every piece."""
    lines = escape_controls(text.expandtabs(4)).split("\n")
    referred = "\n".join(line for line in _outside(lines) if _DEFINITION.match(line))
    tail = f"\n\n{referred}" if referred else ""
    part: list[str] = []
    size, fence, blank = 0, "", False
    for line in lines:
        cuts = size >= PIECE and not fence and blank and line.strip() and not _GOES_ON.match(line)
        if cuts or size >= MAX_PIECE_CHARACTERS:
            yield "\n".join(part) + tail
            part, size = [], 0
        fence = _fence(line, fence)
        blank = not line.strip()
        part.append(line)
        size += len(line) + 1
    if any(line.strip() for line in part):
        yield "\n".join(part) + tail


def _outside(lines: Iterable[str]) -> Iterator[str]:
    """Give the lines that stand in no fence."""
    fence = ""
    for line in lines:
        before, fence = fence, _fence(line, fence)
        if not before and not fence:
            yield line


def _fence(line: str, fence: str) -> str:
    """Return the fence that is open behind a line, when `fence` was open before it."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    if not fence:
        return match[1]
    closes = match[1][0] == fence[0] and len(match[1]) >= len(fence) and not line[match.end() :].strip()
    return "" if closes else fence
