"""What a resource is, whole: a Collection as a table that can be sorted, everything else as text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, cast

from textual.app import ComposeResult
from textual.containers import Container
from textual.worker import Worker

from infospace.context.context import Context
from infospace.core.errors import NotFound
from infospace.core.resources import Collection
from infospace.space import Space
from tui.runtime.workers import guarded
from tui.tables.collection_table import CollectionTable, read_table
from tui.widgets.lazy_table import LazyTable
from tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from tui.app import InfospaceApp


class ResourceData(Container):
    """A resource at a version, or a text. What is long is read off the event loop, as far as it is looked at."""

    def __init__(self, *, name: str = "") -> None:
        super().__init__(id=name or None)
        self.table: CollectionTable | None = None
        self.shown: tuple[str, int | None] | None = None
        """The resource that is shown, at a version or as it is now; None for a text."""
        self._asked: object = None
        """What is being read to be shown, None where nothing is."""
        self._column: int | None = None
        """The column by which the table is sorted, or is to be."""
        self._sorting = asyncio.Lock()

    @property
    def infospace(self) -> InfospaceApp:
        return cast("InfospaceApp", self.app)

    def compose(self) -> ComposeResult:
        """A text or a table."""
        yield TextView()
        grid = LazyTable(empty="an empty Collection")
        grid.display = False
        yield grid

    def focus_inside(self) -> None:
        """Let the keys go through it."""
        self.query_one(TextView if self.table is None else LazyTable).focus()

    def show_text(self, text: str) -> None:
        self._asked = self.table = self.shown = None
        self.query_one(TextView).read(text)
        self._switch()

    async def show(self, identifier: str, version: int | None = None, context: Context | None = None) -> None:
        """Show a resource, or that it is gone; unless something else is shown meanwhile.

        A `context` shows the items of a Collection as it has them.
        """
        self._asked = asked = object()
        try:
            text, table = await asyncio.to_thread(read_resource, self.infospace.space, identifier, version, context)
            there = True
        except NotFound as error:
            text, table, there = str(error), None, False
        if self._asked is not asked:
            return
        if table is None:
            self.show_text(text)
        else:
            self.show_table(table)
        self.shown = (identifier, version) if there else None

    @property
    def pointed(self) -> tuple[str, int | None] | None:
        """The item at the cursor, for whoever goes through a table; else what is shown."""
        grid = self.query_one(LazyTable)
        if self.table is not None and grid.has_focus and grid.cursor < len(self.table):
            return self.table.id_at(grid.cursor), None
        return self.shown

    def show_table(self, table: CollectionTable) -> None:
        self._asked, self.table = None, table
        self._column = None if table.sorted_by is None else table.sorted_by[0]
        table.colours = self.infospace.colours
        self._switch()
        self.query_one(LazyTable).show(table, table.titled())

    def _switch(self) -> None:
        pager, grid = self.query_one(TextView), self.query_one(LazyTable)
        focused = pager.has_focus or grid.has_focus
        pager.display, grid.display = self.table is None, self.table is not None
        if focused:
            self.focus_inside()
        self.screen.refresh_bindings()

    def copied(self) -> tuple[str, bool]:
        """Return what is to be copied, and whether that is all of it."""
        return (self.table.copied(), True) if self.table is not None else self.query_one(TextView).copied()

    def on_lazy_table_drawn(self, event: LazyTable.Drawn) -> None:
        """Read the items that came into sight."""
        event.stop()
        if self.table is not None and self.table.wanted:
            self._do(self._more, self.table, group="more", exclusive=False)

    def on_lazy_table_titled(self, event: LazyTable.Titled) -> None:
        """Sort by the column."""
        event.stop()
        self.sort(event.column)

    def sort(self, column: int | None = None) -> None:
        """Sort a table by a column, or by the next one."""
        table = self.table
        if table is None:
            return
        if column is None:
            column = 0 if self._column is None else (self._column + 1) % len(table.columns)
        self._column = column
        self._do(self._sorted, table, column, group="sort", exclusive=False)

    def _do(
        self, work: Callable[..., Coroutine[Any, Any, None]], *given: Any, group: str, exclusive: bool
    ) -> Worker[None]:
        return self.run_worker(guarded(self.infospace, work, *given), group=group, exclusive=exclusive)

    async def _sorted(self, table: CollectionTable, column: int) -> None:
        async with self._sorting:
            if table is self.table and column == self._column:
                await asyncio.to_thread(table.sort, column)
                self._draw(table)

    async def _more(self, table: CollectionTable) -> None:
        if await asyncio.to_thread(table.fetch):
            self._draw(table)

    def _draw(self, table: CollectionTable) -> None:
        if table is self.table:
            self.query_one(LazyTable).show(table, table.titled())


def read_resource(
    space: Space, identifier: str, version: int | None, context: Context | None = None
) -> tuple[str, CollectionTable | None]:
    """Return a resource as text, or a Collection as a table; for a thread. Raises NotFound."""
    from tui.text.render import content_text

    with space.store.reading() as snapshot:
        resource = snapshot.get(identifier, version)
    if isinstance(resource, Collection):
        return "", read_table(context or space.context(), resource)
    return content_text(resource.content), None
