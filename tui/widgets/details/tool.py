"""A tool with all that there is to know of it, on tabs: what it says, takes and gives; a try; tools like it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static, TabbedContent, TabPane

from infospace.core.json_types import JSON
from infospace.core.tool import Tool
from infospace.tools.search.results import ToolHit
from infospace.tools.search.similar import SimilarTool
from planner.metatools.chaining.tool_graph import neighbourhood
from planner.metatools.lookup import known_tools
from tui.tables.tool_flow import draw_neighbours
from tui.tables.tool_text import ToolInfo, about_tool, head_of, read_tool, schemas_of
from tui.tables.tools_query import key_of
from tui.text.format import single_line
from tui.text.table_model import Column
from tui.widgets.details.form import Form
from tui.widgets.focus_container import FocusContainer
from tui.widgets.lazy_table import LazyTable
from tui.widgets.tabs import StableTabs
from tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from tui.app import InfospaceApp

TABS = ("about", "schema", "try", "answer", "flow", "similar")
SIMILAR = 10
"""Tools like it that are listed, at most."""


class SimilarToolRows:
    """Implements `Rows` over tools that are like another."""

    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("score", 5),
        Column("tool", 34, narrow=26),
        Column("why", None, least=16),
    )

    def __init__(self, similar: Sequence[SimilarTool] = ()) -> None:
        self.found = similar

    def __len__(self) -> int:
        return len(self.found)

    def key(self, index: int) -> str:
        """Return the kind and the full name of a tool."""
        return key_of(self.found[index].tool)

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        """Return what is told of it."""
        del widths
        one = self.found[index]
        return [f"{one.score:.3f}", single_line(one.tool.full_name), Text(single_line(one.reason), "dim")]


class ToolDetail(FocusContainer):
    """A tool, on tabs."""

    def __init__(self) -> None:
        super().__init__(name="tool")
        self.info: ToolInfo | None = None
        self.similar = SimilarToolRows()
        self._hit: ToolHit | None = None
        self._asked: object = None
        """What is being read to be shown, None where nothing is."""
        self._focus_later = False
        """Whether the form is to have the keys as soon as it is made."""
        self._filling = asyncio.Lock()
        self._filled: set[str] = set()
        """The tabs that are made for the tool that is shown."""
        self.given: dict[str, Mapping[str, JSON]] = {}
        """What each tool was called with last, by `key_of`."""

    @property
    def infospace(self) -> InfospaceApp:
        return cast("InfospaceApp", self.app)

    def compose(self) -> ComposeResult:
        """A line that says what it is, and the tabs."""
        yield Static("", id="head")
        with StableTabs(id="tabs"):
            with TabPane("About", id="about"), VerticalScroll():
                yield Static("", id="told")
            with TabPane("Schema", id="schema"):
                yield TextView(name="schemas")
            with TabPane("Try", id="try"):
                yield Form()
            with TabPane("Answer", id="answer"):
                yield Static("", id="came", markup=False)
                yield TextView(name="reply")
            with TabPane("Flow", id="flow"):
                yield TextView(name="neighbours")
            with TabPane("Similar", id="similar"):
                yield Static("", id="without", markup=False)
                yield LazyTable(SimilarToolRows.COLUMNS, empty="no other tool is like it", name="alike")
                yield Static("", id="why", markup=False)

    @property
    def tool(self) -> Tool | None:
        """The tool that is shown."""
        return None if self.info is None else self.info.tool

    @property
    def form(self) -> Form:
        return self.query_one(Form)

    @property
    def tab(self) -> str:
        """The tab that is open."""
        return self.query_one(TabbedContent).active

    def clear(self) -> None:
        self.info = self._asked = None
        self._filled.clear()
        self.query_one("#head", Static).update("")
        self.query_one("#told", Static).update("")
        self.query_one("#schemas", TextView).read("")
        self.query_one("#alike", LazyTable).show(SimilarToolRows())
        self.query_one("#neighbours", TextView).read("")

    async def show(self, tool: Tool, hit: ToolHit | None = None, explained: Sequence[str] = ()) -> None:
        """Show a tool, unless another is to be shown meanwhile, or none.

        `explained` says in lines what the relevance of a hit is made of. What is written in its form stays, where it is
        the one that was shown.
        """
        self._asked = asked = object()
        try:
            info = await asyncio.to_thread(read_tool, self.infospace.space, tool)
        finally:
            overtaken = self._asked is not asked
            if not overtaken:
                self._asked = None
        if overtaken:
            return
        before = self.tool
        self.info, self._hit = info, hit
        colours = self.infospace.colours
        self.query_one("#head", Static).update(head_of(tool, colours))
        self.query_one("#told", Static).update(about_tool(info, hit, colours, explained))
        same = before is not None and key_of(before) == key_of(tool) and before.digest == tool.digest
        self._filled &= {"try", "schema"} if same else set()
        if same and self.form.tool is not None:
            self.form.tool = tool
        if not same:
            self.query_one("#about VerticalScroll").scroll_home(animate=False)
        await self._fill(self.tab)

    @property
    def reads(self) -> bool:
        """Whether a tool is being read to be shown."""
        return self._asked is not None

    # Tabs

    def turn(self, by: int) -> None:
        """Go to another tab, by so many."""
        tabs = self.query_one(TabbedContent)
        self.open_tab(TABS[(TABS.index(tabs.active) + by) % len(TABS)], focus=self.has_focus_within)

    def open_tab(self, name: str, *, focus: bool = True) -> None:
        """Go to a tab."""
        self.query_one(StableTabs).open(name)
        if focus:
            self.focus_soon()

    def cancel_focus(self) -> None:
        """Let the keys go where they go, also when the form is made."""
        super().cancel_focus()
        self._focus_later = False

    def focus_inside(self) -> None:
        """Let the keys go through the tab that is open."""
        if self.tab == "try":
            self._focus_later = self.form.tool is None or self.form.tool is not self.tool
            if self._focus_later:
                self._left = self.screen.focused
            else:
                self.form.focus_inside()
            return
        pane = self.query_one(TabbedContent).active_pane
        if pane is not None:
            pane.query("LazyTable, VerticalScroll, TextView").first().focus()

    def on_tabbed_content_tab_activated(self, event: TabbedContent.TabActivated) -> None:
        """Tell what is on the tab."""
        event.stop()
        self.screen.refresh_bindings()
        self.infospace.do(self._fill, self.tab, group="tool-tab")

    async def _fill(self, tab: str) -> None:
        async with self._filling:
            info = self.info
            if info is None or tab in self._filled:
                return
            if tab == "schema":
                self.query_one("#schemas", TextView).read(schemas_of(info.tool))
            elif tab == "try":
                await self.form.show(info.tool, self.given.get(key_of(info.tool)))
                if self._focus_later and self.tab == "try" and self._is_waited_in():
                    self.focus_inside()
            elif tab == "similar":
                await self._like(info.tool)
            elif tab == "flow":
                await self._around(info.tool)
            if self.info is info:
                self._filled.add(tab)

    async def _around(self, tool: Tool) -> None:
        results = await asyncio.to_thread(neighbourhood, self.infospace.space, tool.full_name)
        if self.tool is tool:
            self.query_one("#neighbours", TextView).read("\n".join(draw_neighbours(results)))

    async def _like(self, tool: Tool) -> None:
        space = self.infospace.space

        def find_similar() -> tuple[list[SimilarTool], str | None]:
            tools = known_tools(space)
            return space.finder.similar(tools if tool in tools else [*tools, tool], tool, SIMILAR)

        similar, without = await asyncio.to_thread(find_similar)
        if self.tool is tool:
            self.similar = SimilarToolRows(similar)
            label = self.query_one("#without", Static)
            label.update(single_line(without or ""))
            label.display = bool(without)
            self.query_one("#why", Static).update("")
            self.query_one("#alike", LazyTable).show(self.similar)

    def on_lazy_table_highlighted(self, event: LazyTable.Highlighted) -> None:
        """Say whole why a tool is like it."""
        if event.grid.id == "alike":
            event.stop()
            if event.rows is self.similar:
                self.query_one("#why", Static).update(single_line(self.similar.found[event.index].reason))

    def reply(self, came: Text, text: str) -> None:
        """Show what came of the last call."""
        self.query_one("#came", Static).update(came)
        self.query_one("#reply", TextView).read(text)
