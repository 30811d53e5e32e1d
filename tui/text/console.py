"""The console of `rich`, through which nothing goes that would command a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from tui.text.output import escape_controls


class SafeConsole(Console):
    """Shows all text as `escape_controls` has it, whoever made it."""

    def render_str(self, text: str, **how: Any) -> Text:
        """Take a text as it may be shown."""
        return super().render_str(escape_controls(text), **how)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render to segments, whose text is shown as it may be."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(escape_controls(segment.text), segment.style)
