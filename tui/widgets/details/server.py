"""A server with all that is known of it, on tabs: how it stands, what it said on its standard error, its calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static, TabbedContent, TabPane

from infospace.store.tool_records import ToolUse
from tui.tables.tool_text import about_server
from tui.tables.tools_query import ServerStatus
from tui.text.format import count, format_duration, single_line
from tui.text.table_model import Column
from tui.widgets.focus_container import FocusContainer
from tui.widgets.lazy_table import LazyTable
from tui.widgets.tabs import StableTabs
from tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from tui.app import InfospaceApp

TABS = ("state", "log", "latency")


class UseRows:
    """Implements `Rows` over how calls of tools went."""

    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("tool", None, least=16),
        Column("calls", 7, "right"),
        Column("well", 5, "right"),
        Column("mean", 8, "right"),
        Column("p95", 8, "right"),
    )

    def __init__(self, uses: Sequence[ToolUse] = ()) -> None:
        self._uses = uses

    def __len__(self) -> int:
        return len(self._uses)

    def key(self, index: int) -> str:
        """Return the name of a tool."""
        return self._uses[index].name

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        """Return how its calls went."""
        del widths
        use = self._uses[index]
        well = f"{use.success_rate:.0%}"
        return [
            single_line(use.name),
            count(use.execution_count),
            well,
            format_duration(use.mean_ms),
            format_duration(use.p95_ms),
        ]


class ServerDetail(FocusContainer):
    """A server, on tabs."""

    def __init__(self) -> None:
        super().__init__(name="server")
        self.standing: ServerStatus | None = None

    def compose(self) -> ComposeResult:
        """Its name, and the tabs."""
        yield Static("", id="server-head", markup=False)
        with StableTabs(id="server-tabs"):
            with TabPane("State", id="state"), VerticalScroll():
                yield Static("", id="stands")
            with TabPane("Log", id="log"):
                yield TextView(name="stderr")
            with TabPane("Latency", id="latency"):
                yield LazyTable(UseRows.COLUMNS, empty="no tool of it was called yet", name="uses")

    @property
    def tab(self) -> str:
        """The tab that is open."""
        return self.query_one(TabbedContent).active

    def show(self, one: ServerStatus | None) -> None:
        """Show a server, or nothing."""
        before, self.standing = self.standing, one
        if before == one:
            return
        pager, grid = self.query_one("#stderr", TextView), self.query_one("#uses", LazyTable)
        if one is None:
            self.query_one("#server-head", Static).update("")
            self.query_one("#stands", Static).update("")
            pager.read("")
            grid.show(UseRows())
            return
        self.query_one("#server-head", Static).update(single_line(one.name))
        self.query_one("#stands", Static).update(about_server(one, cast("InfospaceApp", self.app).colours))
        pager.read(one.said or "It said nothing on its standard error, as far as that is kept.")
        grid.show(UseRows(one.uses))

    def turn(self, by: int) -> None:
        """Go to another tab."""
        tabs = self.query_one(StableTabs)
        if tabs.open(TABS[(TABS.index(tabs.active) + by) % len(TABS)]):
            self.focus_soon()

    def focus_inside(self) -> None:
        """Let the keys go through the tab that is open."""
        pane = self.query_one(TabbedContent).active_pane
        if pane is not None:
            pane.query("LazyTable, VerticalScroll, TextView").first().focus()
