"""The list of tools or of servers: what is searched as one types, what is sifted, what others change meanwhile."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from textual.widgets import Input, Static

from infospace.core.tool import Tool
from infospace.tools.scope import NO_FILTERS, Filters
from infospace.tools.search.results import Mode
from planner.server.access import Access
from tui.dialogs.tool_filter import format_filters
from tui.screens.search_screen import Seeking
from tui.tables.tool_rows import ServerRows, ToolRows
from tui.tables.tools_query import ToolsList, ToolsQuery, key_of, listed, standing
from tui.text.format import single_line
from tui.widgets.cycle_button import Cycle
from tui.widgets.details.server import ServerDetail
from tui.widgets.details.tool import ToolDetail
from tui.widgets.lazy_table import Grid

if TYPE_CHECKING:
    from infospace.core.listener import Listener


class Looking(Seeking[ToolsQuery, ToolsList]):
    """A place with a list of tools or of servers, a field, and two words."""

    def __init__(self) -> None:
        super().__init__()
        self.tools = ToolRows()
        self.servers = ServerRows()
        self.filters: Filters = NO_FILTERS
        self.access: Access | None = None
        """That of the client as which it is looked, None for oneself."""
        self.before: list[Tool] = []
        """What was shown before what was followed to."""

    @property
    def server_detail(self) -> ServerDetail:
        """The server that is shown."""
        return self.query_one(ServerDetail)

    @property
    def detail(self) -> ToolDetail:
        """The tool that is shown."""
        return self.query_one(ToolDetail)

    @property
    def lists_servers(self) -> bool:
        """Whether servers are listed."""
        return self.query_one("#what", Cycle).word == "servers"

    @property
    def half(self) -> ToolDetail | ServerDetail:
        """What is shown of what is chosen."""
        return self.server_detail if self.lists_servers else self.detail

    # Searching

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search when nothing is typed for a moment."""
        if event.input is self.field:
            self.infospace.remember("tools.query", event.value)
            self.seek_soon()

    def on_cycle_turned(self, event: Cycle.Turned) -> None:
        """Search otherwise, or list something else."""
        if event.cycle.id == "mode":
            self.infospace.remember("tools.mode", event.cycle.word)
        else:
            self.query_one("#tool").display = not self.lists_servers
            self.query_one("#server").display = self.lists_servers
            self.grid.cursor = 0
            self.grid.focus()
        self.seek()

    @property
    def current_query(self) -> ToolsQuery:
        """What is asked for now."""
        mode = cast("Mode", self.query_one("#mode", Cycle).word)
        return ToolsQuery(self.field.value, mode, self.filters, self.access)

    def seek(self) -> None:
        """List what is asked for now: servers, or tools."""
        if self.is_mounted and self.lists_servers:
            self.do(self._stand, group="servers")
        else:
            super().seek()

    def find(self, sought: ToolsQuery, listener: Listener) -> ToolsList:
        """Return the tools that are to be listed."""
        return listed(self.infospace.space, sought, listener)

    async def stamp(self, sought: ToolsQuery | None = None) -> object:
        """Return what tells whether there are other tools, or others of the servers running."""
        del sought
        servers = self.infospace.space.tools.servers
        files = None if servers is None else await asyncio.to_thread(servers.follow)
        running = () if servers is None else tuple(sorted(servers.fleet.running().items()))
        return files, running, await self.ask(lambda snapshot: (snapshot.generation, snapshot.tools_generation()))

    def is_overtaken(self, sought: ToolsQuery) -> bool:
        """Whether something else was typed meanwhile, or servers are to be listed."""
        return super().is_overtaken(sought) or self.lists_servers

    def show_results(self, found: ToolsList) -> None:
        """List the tools."""
        before = self.tools.listed.sought
        self.tools.update(found)
        self.grid.empty = "no tool is like that" if found.sought != ToolsQuery() else "no tools"
        afresh = found.sought != before and len(self.tools)
        self.grid.show(self.tools, self.tools.columns, at=self.tools.key(0) if afresh else None)
        if afresh:
            self.grid.cursor = 0
        self.show_message(found.message)
        self.show_filters()
        if not found.tools:
            self.detail.clear()

    async def _stand(self) -> None:
        self._stamp = await self.stamp()
        found = await asyncio.to_thread(standing, self.infospace.space)
        if not self.lists_servers:
            return
        self.servers.servers = found
        self.grid.empty = "no servers: M names an mcp.json"
        self.grid.show(self.servers, ServerRows.COLUMNS)
        bad = sum(one.state in ("failed", "wrong") for one in found)
        runs = sum(one.state == "running" for one in found)
        said = [f"{len(found):,} servers"] + [f"{n:,} {word}" for n, word in ((runs, "running"), (bad, "failed")) if n]
        self.show_message(", ".join(said))
        self._show_server(self.grid.key)
        self.refresh_bindings()

    def show_filters(self) -> None:
        """Say which tools are listed, and as whom one looks."""
        self.query_one("#filters", Static).update(f"{format_filters(self.filters)} ▾")
        self.query_one("#eyes", Static).update(f"as {single_line(self.access.caller) if self.access else 'myself'} ▾")

    def refresh_if_changed(self) -> None:
        """List everything again, where something has changed."""
        looks = any(worker.group in ("look", "servers") and not worker.is_finished for worker in self.workers)
        if self.is_current and not looks and not self._finding:
            self.do(self._check_stamp, group="look", exclusive=False)

    async def _check_stamp(self) -> None:
        if await self.stamp() != self._stamp:
            self.seek()

    # What is shown

    def on_grid_highlighted(self, event: Grid.Highlighted) -> None:
        """Show what the cursor rests on."""
        if event.grid.id != "list":
            return
        if self.lists_servers:
            self._show_server(event.key)
            return
        self.rests(event, lambda: self._show_key(event.key))

    def _show_key(self, key: str) -> None:
        tool = next((tool for tool in self.tools.listed.tools if key_of(tool) == key), None)
        if tool is not None:
            self.before.clear()
            self.do(self.show_it, tool, group="show")

    def follow(self, tool: Tool) -> None:
        """Show a tool that is not the one at the cursor."""
        self.follows()
        self.do(self.show_it, tool, group="show")

    async def show_it(self, tool: Tool) -> None:
        """Show a tool, and what came of its last call."""
        await self.detail.show(tool, self.tools.listed.hits.get(key_of(tool)))
        self.show_reply()
        self.refresh_bindings()

    def _show_server(self, key: str | None) -> None:
        self.server_detail.show(next((one for one in self.servers.servers if one.name == key), None))

    def show_reply(self) -> None:
        """Show what came of the last call of the tool that is shown."""
        raise NotImplementedError

    def show_work(self) -> None:
        """Say what goes on."""
        raise NotImplementedError
