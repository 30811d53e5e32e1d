"""What can be called: the tools of servers, the space's own primitives, saved plans; and the servers themselves.

Type in the field at the top: the search runs as you type, by meaning, by words or by both (`m`). `score` is how likely
a tool is right, from 0 to 1; where none fits, that is said, and the nearest is a guess. One with `↑` may stand above
a higher score: it is connected or trusted, as About tells. `f` sifts by server, category and tag, and by what a tool
takes and gives; `w` shows what a client of `infospace serve` would see, by its token or by a scope; `v` goes on to the
servers. A server that was never listed stands among the tools: `c` asks it what it can do. What a server says of its
tools is untrusted: `!` marks words that instruct the model.

Of a tool: **About** (whether somebody is asked, how its calls went, who called it last), **Schema**, **Try** (`c`: a
form; `^r` calls, also from within a field; everything that does not fit is said beside the fields), **Answer** (`o`
opens it as a Note), **Flow** (which tools give what it takes, and which take what it gives) and **Similar** (enter goes
there, `b` comes back). A call is a run, and nothing waits for it: go on, `x` breaks it off. If somebody has to be
asked first, you are: once, for the run, always, or no; `d` takes *always* back.

Of a server: **State** (why it failed), **Log** (its standard error) and **Latency**. `s` lists what is not listed yet,
`r` restarts the server at the cursor, `M` names another `mcp.json`, `x` breaks listing off, or ends a server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.widgets import Input, Static

from infospace.core.plural import pluralize
from infospace.core.tool import Tool
from infospace.tools.scope import EVERYTHING
from infospace.tools.search.results import Mode
from planner.journal.events import Event, RunFinished
from planner.server.access import Access
from tui.dialogs.client import ClientDialog
from tui.dialogs.tool_filter import ToolFilter, ToolFilterDialog, format_filters
from tui.screens.search_screen import POLL_SECONDS, SearchScreen
from tui.screens.tools.call_tool import ToolCalls
from tui.screens.tools.sync import ServerSync
from tui.tables.tool_rows import ServerRows, ToolRows
from tui.tables.tools_query import (
    MODES,
    WHAT,
    ServerStatus,
    ToolsList,
    ToolsQuery,
    key_of,
    run_tools_query,
    server_statuses,
)
from tui.text.format import single_line
from tui.widgets.action_word import ActionWord
from tui.widgets.cycle_button import CycleButton
from tui.widgets.details.form import Form
from tui.widgets.details.server import ServerDetail
from tui.widgets.details.tool import SimilarToolRows, ToolDetail
from tui.widgets.lazy_table import LazyTable

if TYPE_CHECKING:
    from infospace.core.listener import Listener
    from tui.runtime.runner import ActiveRun


class Tools(SearchScreen[ToolsQuery, ToolsList]):
    """The tools and their servers: a list of either, and beside it what is chosen.

    Calling tools and listing servers are parts of their own.
    """

    FIRST = "#list"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", key_display="/", tooltip="goes to the field; escape comes back"),
        Binding("m", "mode", "Mode", show=False, tooltip="searches by both, by meaning, or by words"),
        Binding("v", "what", "Servers", tooltip="shows the servers, or the tools again"),
        Binding("f", "sift", "Filter", tooltip="lists the tools of some servers, categories, tags or types"),
        Binding("w", "see", "As client", tooltip="shows the tools as a client with some token or scope sees them"),
        Binding("c", "call", "Call", tooltip="goes to the form of the tool"),
        Binding("ctrl+r", "give", "Call it", show=False, priority=True, tooltip="calls the tool with what is written"),
        Binding("x", "stop", "Stop", tooltip="stops a call or a sync; ends the server at the cursor"),
        Binding("a", "answer", "Answer", tooltip="answers what a call waits for"),
        Binding("o", "open_answer", "Open", show=False, tooltip="opens what the call gave as a Note"),
        Binding("d", "ask_again", "Ask again", show=False, tooltip="revokes that the tool may always be called"),
        Binding("s", "sync", "Sync", tooltip="reads the tools of servers that are new or changed"),
        Binding("r", "restart", "Restart", show=False, tooltip="restarts a server, and lists it"),
        Binding("M", "mcp", "Add servers", show=False, tooltip="names another mcp.json, and lists its servers"),
        Binding("enter", "into", "Look", show=False, tooltip="opens what is chosen; on a similar tool, goes to it"),
        Binding("right_square_bracket", "tab(1)", "Tab", key_display="]", show=False, tooltip="to the next tab"),
        Binding(
            "left_square_bracket", "tab(-1)", "Tab before", key_display="[", show=False, tooltip="to the one before"
        ),
        Binding("z", "whole", "Whole", show=False, tooltip="shows what is chosen alone, or beside the list again"),
        Binding("b", "back", "Back", show=False, tooltip="back to the tool that was shown before"),
        Binding("y", "copy", "Copy", show=False, tooltip="copies the answer, the schema, or the log"),
        Binding("escape", "leave", "Leave", show=False, tooltip="back to the list; again lists everything"),
        Binding("down", "to_list", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.tools = ToolRows()
        self.servers = ServerRows()
        self.filters = ToolFilter()
        self.access: Access | None = None
        """That of the client as which it is looked, None for oneself."""
        self.before: list[Tool] = []
        """What was shown before what was followed to."""
        self.tool_calls = ToolCalls(self)
        self.server_sync = ServerSync(self)

    def content(self) -> ComposeResult:
        """The field, what is listed, the list, and what is chosen."""
        get = self.infospace.memory.get
        with Horizontal(id="ask"):
            yield Input(get("tools.query", ""), placeholder="search")
            yield CycleButton(MODES, get("tools.mode", ""), name="mode", tip="by both, by meaning, or by words (m)")
            yield CycleButton(WHAT, name="what", tip="tools or servers (v)")
            yield ActionWord("≡", "app.command_palette", name="menu", tip="everything that can be done here")
        with Horizontal(id="sift"):
            yield ActionWord("", "sift", name="filters", tip="which servers, categories, tags and types (f)")
            yield ActionWord("", "see", name="eyes", tip="whose view of the tools this is (w)")
            yield Static("", id="found", markup=False)
        with Container(id="halves"):
            yield LazyTable(ToolRows.PLAIN, empty="", name="list")
            yield ToolDetail()
            yield ServerDetail()
        yield ActionWord("", "stop", name="work", tip="a click stops it")

    def on_mount(self) -> None:
        self.query_one("#server").display = False
        self.query_one("#work").display = False
        self.show_filters()
        self.set_interval(POLL_SECONDS, self.refresh_if_changed)
        self.set_interval(POLL_SECONDS / 2, self._tick)

    def shown(self) -> None:
        """Look now; ask what was not asked yet."""
        self.tools.colours = self.servers.colours = self.infospace.colours
        self.search_now()
        self.tool_calls.ask_open()

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
        return self.query_one("#what", CycleButton).word == "servers"

    @property
    def half(self) -> ToolDetail | ServerDetail:
        """What is shown of what is chosen."""
        return self.server_detail if self.lists_servers else self.detail

    # Searching

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search when nothing is typed for a moment."""
        if event.input is self.field:
            self.infospace.remember("tools.query", event.value)
            self.search_soon()

    def on_cycle_button_turned(self, event: CycleButton.Turned) -> None:
        """Search otherwise, or list something else."""
        if event.cycle.id == "mode":
            self.infospace.remember("tools.mode", event.cycle.word)
        else:
            self.query_one("#tool").display = not self.lists_servers
            self.query_one("#server").display = self.lists_servers
            self.grid.cursor = 0
            self.grid.focus()
        self.search_now()

    @property
    def current_query(self) -> ToolsQuery:
        """What is asked for now."""
        mode = cast("Mode", self.query_one("#mode", CycleButton).word)
        return ToolsQuery(self.field.value, mode, self.filters.filters, self.access, self.filters.types)

    def search_now(self) -> None:
        """List what is asked for now: servers, or tools."""
        if self.is_mounted and self.lists_servers:
            self.do(self._show_servers, group="servers")
        else:
            super().search_now()

    def find(self, sought: ToolsQuery, listener: Listener) -> ToolsList:
        """Return the tools that are to be listed."""
        return run_tools_query(self.infospace.space, sought, listener)

    async def stamp(self, sought: ToolsQuery | None = None) -> object:
        """Return what tells whether there are other tools, or others of the servers running."""
        del sought
        servers = self.infospace.space.tools.servers
        files = None if servers is None else await asyncio.to_thread(servers.follow)
        running = () if servers is None else tuple(sorted(servers.pool.running().items()))
        return files, running, await self.ask(lambda snapshot: (snapshot.generation, snapshot.tools_generation()))

    def is_outdated(self, sought: ToolsQuery) -> bool:
        """Whether something else was typed meanwhile, or servers are to be listed."""
        return super().is_outdated(sought) or self.lists_servers

    def show_results(self, tools: ToolsList) -> None:
        before = self.tools.listed.sought
        self.tools.update(tools)
        self.grid.empty = "no tool is like that" if tools.sought != ToolsQuery() else "no tools"
        afresh = tools.sought != before and len(self.tools)
        self.grid.show(self.tools, self.tools.columns, at=self.tools.key(0) if afresh else None)
        if afresh:
            self.grid.cursor = 0
        self.show_message(tools.message)
        self.show_filters()
        if not tools.tools:
            self.detail.clear()

    async def _show_servers(self) -> None:
        self._stamp = await self.stamp()
        results = await asyncio.to_thread(server_statuses, self.infospace.space)
        if not self.lists_servers:
            return
        self.servers.servers = results
        self.grid.empty = "no servers: M names an mcp.json"
        self.grid.show(self.servers, ServerRows.COLUMNS)
        bad = sum(status.state in ("failed", "wrong") for status in results)
        runs = sum(status.state == "running" for status in results)
        texts = [pluralize(len(results), "server")] + [
            f"{n:,} {label}" for n, label in ((runs, "running"), (bad, "failed")) if n
        ]
        self.show_message(", ".join(texts))
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
            self.search_now()

    # What is shown

    def on_lazy_table_highlighted(self, event: LazyTable.Highlighted) -> None:
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
        listed = self.tools.listed
        await self.detail.show(tool, listed.hits.get(key_of(tool)), listed.explanation(tool))
        self.tool_calls.show_reply()
        self.refresh_bindings()

    def _show_server(self, key: str | None) -> None:
        self.server_detail.show(next((status for status in self.servers.servers if status.name == key), None))

    def on_lazy_table_chosen(self, event: LazyTable.Chosen) -> None:
        """Go into it; to a tool that is alike."""
        if event.grid.id == "list":
            self.half.focus_inside()
        elif isinstance(event.rows, SimilarToolRows):
            if self.detail.tool is not None:
                self.before.append(self.detail.tool)
            self.follow(event.rows.found[event.index].tool)

    # Calls, and servers that are listed

    def on_form_submitted(self, event: Form.Submitted) -> None:
        self.tool_calls.call(event)

    def action_answer(self) -> None:
        """Ask what the shown tool's call waits for, else what any other does."""
        self.tool_calls.answer()

    def action_open_answer(self) -> None:
        """Open what the shown tool's call gave, as a Note."""
        self.tool_calls.open_answer()

    def handle_run_events(self, active: ActiveRun, events: Sequence[Event]) -> None:
        """Hand on what happened to the calls; list the tools with their figures again where a run has ended."""
        if self.is_current and any(isinstance(event, RunFinished) for event in events):
            self.search_now()
        self.tool_calls.handle_run_events(active, events)

    def action_sync(self) -> None:
        """List the servers that are to be listed."""
        self.server_sync.start()

    def action_mcp(self) -> None:
        """Ask for a file, and list its servers."""
        self.server_sync.ask_file()

    def on_form_listing_requested(self, event: Form.ListingRequested) -> None:
        """List a server that was never listed."""
        self._list_server(event.tool)

    def _list_server(self, tool: Tool) -> None:
        self.server_sync.start([tool.server])
        self.notify(f"{single_line(tool.server)} was never listed: it is being asked what it can do.", markup=False)

    # What goes on

    def _tick(self) -> None:
        if self.tool_calls.current is not None:
            self.show_work()

    def show_work(self) -> None:
        """Say what goes on, and how it is broken off."""
        texts = [text for text in (self.tool_calls.status, self.server_sync.status) if text]
        work = self.query_one("#work", Static)
        work.display = bool(texts)
        work.update(single_line(f"{'; '.join(texts)}  (x breaks it off)" if texts else ""))
        self.refresh_bindings()

    def action_stop(self) -> None:
        """Break off what goes on; else end the server at the cursor."""
        if self.tool_calls.break_off() or self.server_sync.stop():
            return
        one, servers = self._server, self.infospace.space.tools.servers
        if one is None or servers is None or one.name not in servers.pool.running() or not self.lists_servers:
            self.notify("Nothing goes on here.")
            return
        servers.pool.end([one.name])
        self.search_now()
        self.notify(f"{single_line(one.name)} is ended; a call of one of its tools starts it again.", markup=False)

    @property
    def _server(self) -> ServerStatus | None:
        return self.server_detail.standing

    def action_restart(self) -> None:
        """Restart a server, and list it."""
        servers = self.infospace.space.tools.servers
        one, tool = self._server, self.detail.tool
        name = (one.name if one is not None else None) if self.lists_servers else (tool.server if tool else None)
        if servers is None or name is None or name not in servers.providers():
            self.notify(f"{single_line(name)} is not a server that can be started." if name else "No server is chosen.")
            return
        self.server_sync.start([name], restart=True)

    def action_ask_again(self) -> None:
        """Take back that the tool may always be called."""
        tool = self.detail.tool
        if tool is not None and not self.lists_servers:
            self.do(self._ask_again, tool, group="action")

    async def _ask_again(self, tool: Tool) -> None:
        from infospace.tools.approvals import revoke_approval

        await asyncio.to_thread(revoke_approval, self.infospace.space.store, tool.full_name)
        self.notify(f"{tool.full_name} is asked about again.", markup=False)
        if self.detail.tool is tool and not self.detail.reads:
            await self.show_it(tool)

    # Going about

    def is_action_available(self, action: str) -> bool:
        """Whether something can be done with the tool or the server that is shown, or with what goes on."""
        tool, lists = self.detail.tool, not self.lists_servers
        one = None if lists else self._server
        match action:
            case "stop":
                servers = self.infospace.space.tools.servers
                runs = one is not None and servers is not None and one.name in servers.pool.running()
                return self.tool_calls.current is not None or self.server_sync.running is not None or runs
            case "call" | "sift" | "see" | "mode":
                return lists and (action != "call" or tool is not None)
            case "give":
                return lists and tool is not None and self.detail.tab == "try"
            case "answer":
                return self.tool_calls.current is None and any(call.pending for call in self.tool_calls.latest.values())
            case "open_answer":
                call = self.tool_calls.latest.get(key_of(tool)) if lists and tool is not None else None
                return call is not None and call.answered is not None and call.answered.get("resource_id") is not None
            case "ask_again":
                return lists and self.detail.info is not None and self.detail.info.always
            case "restart":
                return one is not None if not lists else tool is not None and tool.integration != "local"
            case "back":
                return lists and bool(self.before)
            case "tab(1)" | "tab(-1)" | "into" | "whole":
                return tool is not None if lists else one is not None
            case "copy":
                return (self.detail.tab in ("schema", "answer") and tool is not None) if lists else one is not None
            case "leave" | "to_list":
                writes = bool(self.query_one("#ask Input", Input).value)
                return not self.grid.has_focus or writes or self.has_class("-whole")
        return super().is_action_available(action)

    def key_label(self, binding: Binding) -> str:
        """Return the word that stands beside a key: it goes from the tools to the servers, and back."""
        if binding.action == "call" and self.detail.tool is not None and self.detail.tool.kind == "server":
            return "List it"
        if binding.action == "what":
            return "Tools" if self.lists_servers else "Servers"
        return super().key_label(binding)

    def action_sift(self) -> None:
        """Ask which tools are to be listed."""

        def on_filters(filters: ToolFilter | None) -> None:
            if filters is not None:
                self.filters = filters
                self._to_tools()

        self.app.push_screen(ToolFilterDialog(self.tools.listed.names, self.filters), on_filters)

    def action_see(self) -> None:
        """Ask as whom the tools are looked at."""

        def on_access(access: Access | None) -> None:
            if access is not None:
                self.access = None if not access.caller and access.scope == EVERYTHING else access
                self._to_tools()

        self.app.push_screen(ClientDialog(self.access), on_access)

    def _to_tools(self) -> None:
        self.show_filters()
        if self.lists_servers:
            self.action_what()
        else:
            self.search_now()

    def action_search(self) -> None:
        """Go to the field."""
        if self.lists_servers:
            self.action_what()
        super().action_search()

    def focus_inside(self) -> None:
        """Go into what is chosen."""
        self.half.focus_inside()

    def cancel_focus(self) -> None:
        """Stay out of what is chosen."""
        self.half.cancel_focus()

    def action_tab(self, by: int) -> None:
        """Go to another tab."""
        self.half.turn(by)

    def action_call(self) -> None:
        """Go to the form; where there is little room, alone."""
        if self.lists_servers or self.detail.tool is None:
            self.notify("No tool is chosen.")
            return
        if self.detail.tool.kind == "server":
            self._list_server(self.detail.tool)
            return
        if self.has_class("-low"):
            self.add_class("-whole")
        self.detail.open_tab("try")

    def action_give(self) -> None:
        """Call the tool with what is written."""
        if not self.lists_servers and self.detail.tab == "try":
            self.detail.form.submit()

    def action_back(self) -> None:
        """Show the tool that was shown before."""
        if self.before:
            self.follow(self.before.pop())
        else:
            self.notify("There is nothing to go back to.")

    def action_copy(self) -> None:
        """Copy what is shown as text."""
        name = "stderr" if self.lists_servers else {"schema": "schemas", "answer": "reply"}.get(self.detail.tab)
        if name is None:
            self.notify("Schema, Answer and Log can be copied.")
            return
        from tui.widgets.text_view import TextView

        text, whole = self.query_one(f"#{name}", TextView).copied()
        self.app.copy_to_clipboard(text)
        self.notify(f"Copied {'' if whole else 'the first '}{pluralize(len(text), 'character')}.")
