"""A resource with all that there is to know of it, on tabs: its content, what it is tied to, where it came from."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widgets import Static, TabbedContent, TabPane

from infospace.core.errors import NotFound
from infospace.core.resources import Relation
from infospace.journal.rows import Use
from tui.tables.resource_context import (
    DEEPEST,
    WIDEST,
    Link,
    ResourceDetail,
    format_origin,
    graph_of,
    head_of,
    read_around,
    render_about,
)
from tui.tables.task_rows import IN_NOTE, Task, in_note, today
from tui.text.format import Colours, format_time, single_line
from tui.text.table_model import Column
from tui.widgets.details.resource_content import ResourceContent
from tui.widgets.focus_container import FocusContainer
from tui.widgets.lazy_table import LazyTable
from tui.widgets.line_table import LinkedRows
from tui.widgets.tabs import StableTabs

if TYPE_CHECKING:
    from infospace.store.protocol import Snapshot
    from tui.app import InfospaceApp

TABS = ("content", "about", "links", "tasks", "versions", "why", "uses")


def _unexplained(identifier: str) -> str:
    """Say nothing: no search found it."""
    del identifier
    return ""


class ResourceView(FocusContainer):
    """A resource, on tabs."""

    LINKS: ClassVar[tuple[Column, ...]] = (
        Column("how", 20, narrow=16),
        Column("id", 14),
        Column("title", None, least=20),
    )
    VERSIONS: ClassVar[tuple[Column, ...]] = (
        Column("", 1),
        Column("version", 7, "right"),
        Column("made", 14),
        Column("by", None, least=20),
    )
    CAME: ClassVar[tuple[Column, ...]] = (Column("where it came from", None, least=20),)
    BECAME: ClassVar[tuple[Column, ...]] = (Column("what was made of it", None, least=20),)

    class Followed(Message):
        """Somebody wants to see something that is told of here, at a version or as it is now."""

        def __init__(self, identifier: str, version: int | None) -> None:
            super().__init__()
            self.identifier = identifier
            self.version = version

    class Turned(Message):
        """Somebody chose a task: it is to be done, or to be done again."""

        def __init__(self, task: Task) -> None:
            super().__init__()
            self.task = task

    class Shown(Message):
        """Posted when another resource or version is shown."""

    def __init__(self) -> None:
        super().__init__(name="detail")
        self.around: ResourceDetail | None = None
        self._asked: tuple[str, int | None] | None = None
        self._reading = 0
        """How many times something is being read to be shown."""
        self._told: set[str] = set()
        """The tabs that are made for what is shown."""
        self._lines: dict[str, LinkedRows] = {}
        self.explain: Callable[[str], str] = _unexplained
        """Says why a search found what is shown, in a thread; nothing where none did."""
        self._line: int | None = None
        """The line of a task that the cursor is to be at."""

    @property
    def infospace(self) -> InfospaceApp:
        return cast("InfospaceApp", self.app)

    @property
    def colours(self) -> Colours:
        """The colours of the theme."""
        return self.infospace.colours

    def compose(self) -> ComposeResult:
        """A line that says what it is, and the tabs."""
        yield Static("", id="head")
        yield Static("", id="passage", markup=False)
        with StableTabs(id="tabs"):
            with TabPane("Content", id="content"):
                yield ResourceContent(name="contents")
            with TabPane("About", id="about"), VerticalScroll():
                yield Static("", id="told")
            with TabPane("Links", id="links"):
                yield LazyTable(self.LINKS, empty="nothing is tied to it", name="ties")
            with TabPane("Tasks", id="tasks"):
                yield LazyTable(IN_NOTE, empty="no tasks: a line such as `- [ ] call Ada` is one", name="todo")
            with TabPane("Versions", id="versions"):
                yield LazyTable(self.VERSIONS, name="history")
            with TabPane("Why", id="why"):
                yield Static("", id="stale")
                yield LazyTable(self.CAME, name="came")
                yield Static("", id="came-whole", classes="whole")
            with TabPane("Uses", id="uses"):
                yield LazyTable(self.BECAME, name="became")
                yield Static("", id="became-whole", classes="whole")

    @property
    def shown(self) -> Use | None:
        """The version that is shown."""
        return None if self.around is None else Use(self.around.resource.id, self.around.resource.version)

    @property
    def content(self) -> ResourceContent:
        return self.query_one(ResourceContent)

    @property
    def tab(self) -> str:
        """The tab that is open."""
        return self.query_one(TabbedContent).active

    def point_out(self, passage: str) -> None:
        """Show what was found of it, above the rest."""
        result = self.query_one("#passage", Static)
        result.update(single_line(passage))
        result.display = bool(passage)

    def clear(self, message: str = "") -> None:
        """Show nothing but a sentence."""
        self.point_out("")
        self.around = self._asked = None
        self._told.clear()
        self._lines.clear()
        self.query_one("#head", Static).update(Text(message, "dim"))
        self.content.clear()
        for name in ("ties", "todo", "history", "came", "became"):
            self.query_one(f"#{name}", LazyTable).show(LinkedRows(()))
        for name in ("told", "stale", "came-whole", "became-whole"):
            self.query_one(f"#{name}", Static).update("")
        self._titles()

    async def show(self, identifier: str, version: int | None = None, *, again: bool = False) -> None:
        """Show a resource, of a deleted one its last version.

        `again` only where something has changed, and nothing is to be shown meanwhile.
        """
        if again and self.reads:
            return
        self._reading += 1
        try:
            await self._show(identifier, version, again=again)
        finally:
            self._reading -= 1

    @property
    def reads(self) -> bool:
        """Whether something is being read to be shown."""
        return self._reading > 0

    async def _show(self, identifier: str, version: int | None, *, again: bool) -> None:
        self._asked = (identifier, version)
        try:
            around = await self._ask(lambda snapshot: read_around(snapshot, identifier, version))
        except NotFound as error:
            self.clear(str(error))
            self._asked = (identifier, version)
            return
        if self._asked != (identifier, version):  # something else was asked for since; whatever is read last is old
            return
        before = self.around
        if again and before is not None and before.stamp == around.stamp:
            return
        self.around, self._line = around, None
        self._told.clear()
        self.query_one("#head", Static).update(head_of(around, self.colours))
        self._titles()
        if before is None or not again or before.brief.version != around.brief.version:
            await self.content.show(around.resource, _joined(around))
        await self._fill_tab(self.tab)
        self.post_message(self.Shown())

    async def _ask(self, question: object) -> ResourceDetail:
        return cast("ResourceDetail", await asyncio.to_thread(self.infospace.read_snapshot, question))  # type: ignore[arg-type]

    def _titles(self) -> None:
        around, tabs = self.around, self.query_one(StableTabs)
        ties = 0 if around is None else len(around.ties)
        versions = 0 if around is None else len(around.versions)
        tabs.relabel("links", f"Links {ties:,}" if ties else "Links")
        tasks = () if around is None else around.tasks
        undone = sum(task.open for task in tasks)
        tabs.relabel("tasks", f"Tasks {undone:,}/{len(tasks):,}" if tasks else "Tasks")
        tabs.relabel("versions", f"Versions {versions:,}" if versions > 1 else "Versions")

    # Tabs

    def turn(self, by: int) -> None:
        """Go to another tab."""
        tabs = self.query_one(StableTabs)
        if tabs.open(TABS[(TABS.index(tabs.active) + by) % len(TABS)]):
            self.focus_soon()

    def open_tab(self, name: str) -> None:
        """Go to a tab."""
        self.query_one(StableTabs).open(name)
        self.focus_soon()

    def focus_inside(self) -> None:
        """Let the keys go through the tab that is open."""
        if self.tab == "content":
            self.content.focus_inside()
        else:
            pane = self.query_one(TabbedContent).active_pane
            if pane is not None:
                pane.query("LazyTable, VerticalScroll").first().focus()

    def on_tabbed_content_tab_activated(self, event: TabbedContent.TabActivated) -> None:
        """Tell what is on the tab."""
        event.stop()
        self.screen.refresh_bindings()
        self.infospace.do(self._fill_tab, self.tab, group="tab")

    async def _fill_tab(self, tab: str) -> None:
        around = self.around
        if around is None or tab in self._told:
            return
        if tab == "about":
            result = await asyncio.to_thread(self.explain, around.resource.id)
            if self.around is not around:
                return
            self.query_one("#told", Static).update(render_about(around, self.colours, result))
        elif tab == "links":
            ties: list[tuple[Sequence[Text | str], Use | None]] = [
                (_tie(tie, self.colours), Use(tie.id, tie.version or 0)) for tie in around.ties
            ]
            self._list("ties", ties + [(_missing(name, self.colours), None) for name in around.unresolved])
        elif tab == "tasks":
            day = today()
            self._list("todo", [(in_note(task, self.colours, day), None) for task in around.tasks])
            self._to_line()
        elif tab == "versions":
            self._versions(around)
        elif tab in ("why", "uses"):
            await self._provenance(around, forward=tab == "uses")
        if self.around is around:
            self._told.add(tab)

    def explain_again(self) -> None:
        """Tell of what is shown why another search found it."""
        self._told.discard("about")
        if self.tab == "about":
            self.infospace.do(self._fill_tab, "about", group="tab")

    def point_to_task(self, line: int) -> None:
        """Put the cursor on the task in a line of the file, at once or when the tab is open."""
        self._line = line
        if "tasks" in self._told:
            self._to_line()

    def _to_line(self) -> None:
        tasks = () if self.around is None else self.around.tasks
        places = [place for place, task in enumerate(tasks) if task.line == self._line]
        if places:
            self.query_one("#todo", LazyTable).cursor = places[0]
        self._line = None

    @property
    def chosen_task(self) -> Task | None:
        """The task at the cursor, where the tab of tasks is open."""
        around, cursor = self.around, self.query_one("#todo", LazyTable).cursor
        return (
            around.tasks[cursor] if around is not None and self.tab == "tasks" and cursor < len(around.tasks) else None
        )

    def _versions(self, around: ResourceDetail) -> None:
        rows: list[tuple[Sequence[Text | str], Use | None]] = []
        for number, at, origin in reversed(around.versions):
            mark = Text("●", self.colours.get("accent", "")) if number == around.resource.version else Text("")
            gone = "" if origin.there else "  (removed for good)"
            rows.append(
                (
                    [mark, f"{number}", format_time(at), f"{format_origin(origin).removeprefix('by ')}{gone}"],
                    Use(around.resource.id, number),
                )
            )
        self._list("history", rows)

    async def _provenance(self, around: ResourceDetail, *, forward: bool) -> None:
        """Tell where it came from, or what came of it; and whether it is stale."""
        from infospace.lineage.staleness import staleness
        from tui.tables.notes_query import causes
        from tui.text.lineage_text import ancestry

        of = Use(around.resource.id, around.resource.version)
        name = "became" if forward else "came"

        def read(snapshot: Snapshot) -> tuple[list[tuple[str, str | None, Use | None]], str]:
            graph = graph_of(snapshot, [of], forward=forward)
            lines = list(ancestry(graph, depth=DEEPEST, width=WIDEST))
            stale = () if forward or around.gone is not None else staleness(snapshot, [of.id]).stale
            return lines, causes(stale[0].changed) if stale else ""

        lines, stale = await asyncio.to_thread(self.infospace.read_snapshot, read)
        if self.around is not around:
            return
        self._list(
            name,
            [([Text(_kept_indent(text), style or "")], use) for text, style, use in lines],
        )
        if not forward:
            message = f"Stale: {stale}." if stale else ""
            self.query_one("#stale", Static).update(Text(message, self.colours.get("warning", "bold")))
            self.query_one("#stale", Static).display = bool(stale)
        self._show_full_line(name)

    def _list(self, name: str, rows: Sequence[tuple[Sequence[Text | str], Use | None]]) -> None:
        self._lines[name] = LinkedRows(rows)
        self.query_one(f"#{name}", LazyTable).show(self._lines[name])

    def _show_full_line(self, name: str) -> None:
        """Say all of a line that may be too long for the table."""
        grid, lines = self.query_one(f"#{name}", LazyTable), self._lines.get(name)
        cell = lines.lines[grid.cursor][0][0] if lines is not None and grid.cursor < len(lines) else ""
        self.query_one(f"#{name}-whole", Static).update(Text(str(cell).lstrip("│├└─ ")))

    def on_lazy_table_highlighted(self, event: LazyTable.Highlighted) -> None:
        """Say all of the line."""
        event.stop()
        self.screen.refresh_bindings()
        if event.grid.id in ("came", "became"):
            self._show_full_line(event.grid.id)

    # Following

    @property
    def at(self) -> Use | None:
        """What the line at the cursor leads to; version 0 is the one that is current."""
        name = {"links": "ties", "versions": "history", "why": "came", "uses": "became"}.get(self.tab)
        lines = None if name is None else self._lines.get(name)
        cursor = 0 if name is None else self.query_one(f"#{name}", LazyTable).cursor
        return lines.lines[cursor][1] if lines is not None and cursor < len(lines) else None

    def on_lazy_table_chosen(self, event: LazyTable.Chosen) -> None:
        """Go where the line leads."""
        event.stop()
        if event.grid.id == "todo":
            task = self.chosen_task
            if task is not None:
                self.post_message(self.Turned(task))
            return
        if isinstance(event.rows, LinkedRows):
            use = event.rows.lines[event.index][1]
        else:
            use = Use(event.key.partition(":")[2], 0)
        if use is not None:
            self.post_message(self.Followed(use.id, use.version or None))


def _joined(around: ResourceDetail) -> str:
    """Say what a Relation joins."""
    resource = around.resource
    if not isinstance(resource, Relation):
        return ""
    titles = {tie.id: tie.title for tie in around.ties}
    source, target = ((one, titles.get(one, "")) for one in (resource.source, resource.target))
    return f"{source[0]}  {source[1]}\n  ─ {resource.relation} →\n{target[0]}  {target[1]}\n\nLinks leads to both."


def _tie(tie: Link, colours: Colours) -> Sequence[Text | str]:
    return [Text(tie.how, colours.get("secondary", "")), Text(tie.id, "dim"), single_line(tie.title)]


def _missing(name: str, colours: Colours) -> Sequence[Text | str]:
    """Tell a link that leads nowhere yet."""
    return [Text("→", colours.get("secondary", "")), Text("not there", "dim"), Text(single_line(name), "dim italic")]


def _kept_indent(text: str) -> str:
    """Return a line as it may be shown, with its branches before it."""
    body = text.lstrip("│├└─ ")
    return f"{text[: len(text) - len(body)]}{_parted(body)}"


def _parted(text: str) -> str:
    """Return the parts of a line, which two blanks stand between, with a dot between them."""
    return " · ".join(single_line(part) for part in text.split("  ") if part.strip())
