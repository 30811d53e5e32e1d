"""What a resource holds, as it is best read: Markdown, a tree that folds, a table, or plain text."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal, cast

from textual.app import ComposeResult
from textual.containers import Container
from textual.events import Key
from textual.widget import Widget
from textual.widgets import Static

from infospace.core.resources import Collection, Note, Relation, Resource
from tui.tables.collection_table import read_table
from tui.tables.json_tree import JsonTree
from tui.text.render import content_text, is_hit
from tui.widgets.details.resource_data import ResourceData
from tui.widgets.lazy_table import LazyTable
from tui.widgets.markdown_view import MarkdownView

if TYPE_CHECKING:
    from tui.app import InfospaceApp

LONG = 1_000_000
"""Characters up to which a text is laid out as Markdown; beyond, it is shown as it is, a piece at a time."""

Shape = Literal["paper", "tree", "data"]


class ResourceContent(Container):
    """The content of a resource."""

    def __init__(self, *, name: str = "") -> None:
        super().__init__(id=name or None)
        self.plain = False
        """Whether everything is shown as it is written."""
        self._resource: Resource | None = None
        self._shape: Shape = "data"
        self._tree: JsonTree | None = None
        self._sorts: int | None = None
        """How often a table was to be sorted while it is read; None where none is."""

    @property
    def infospace(self) -> InfospaceApp:
        return cast("InfospaceApp", self.app)

    def compose(self) -> ComposeResult:
        """One of three at a time."""
        yield MarkdownView(name="paper")
        with Container(id="folding"):
            yield LazyTable(JsonTree.COLUMNS, name="tree")
            yield Static("", id="leaf", markup=False)
        yield ResourceData(name="data")

    def on_mount(self) -> None:
        self._show("data")

    def focus_inside(self) -> None:
        """Let the keys go through it."""
        self._shown.focus()

    @property
    def _shown(self) -> Widget:
        if self._shape == "data":
            data = self.query_one(ResourceData)
            return data.query_one("TextView" if data.table is None else "LazyTable")
        return self.query_one(f"#{self._shape}")

    def _show(self, shape: Shape) -> None:
        focused = self.has_focus_within
        self._shape = shape
        self.query_one("#paper").display = shape == "paper"
        self.query_one("#folding").display = shape == "tree"
        self.query_one("#data").display = shape == "data"
        if focused:
            self.focus_inside()

    def clear(self, message: str = "") -> None:
        """Show nothing but a sentence."""
        self._resource = self._sorts = None
        self.query_one(ResourceData).show_text(message)
        self._show("data")

    async def show(self, resource: Resource, relation: str = "") -> None:
        """Show a resource, unless something else is shown meanwhile; `relation` says what a Relation joins."""
        self._resource = resource
        self._sorts = 0 if isinstance(resource, Collection) else None
        data = self.query_one(ResourceData)
        if isinstance(resource, Collection):
            table = await asyncio.to_thread(read_table, self.infospace.space.context(), resource)
            if self._resource is resource:
                data.show_table(table)
                self._show("data")
                sorts, self._sorts = self._sorts, None
                for _ in range(sorts or 0):
                    data.sort()
            return
        text = marked(resource)
        if isinstance(resource, Relation):
            data.show_text(relation)
            self._show("data")
        elif text is None and not self.plain:
            tree = await asyncio.to_thread(JsonTree, resource.content)
            if self._resource is resource and not self.plain:
                self._show_tree(tree)
        elif text is not None and not self.plain and len(text) <= LONG:
            self.query_one(MarkdownView).read(text)
            self._show("paper")
        else:
            whole = await asyncio.to_thread(content_text, resource.content) if text is None else text
            if self._resource is resource and (text is not None or self.plain):
                data.show_text(whole)
                self._show("data")

    def _show_tree(self, tree: JsonTree) -> None:
        self._tree = tree
        tree.colours = self.infospace.colours
        grid = self.query_one("#tree", LazyTable)
        grid.show(tree, at="")
        grid.cursor = 0
        self._leaf()
        self._show("tree")

    def sort(self) -> None:
        """Sort a table by the next column; one that is still being read, once it is there."""
        if self._sorts is None:
            self.query_one(ResourceData).sort()
        else:
            self._sorts += 1

    @property
    def is_table(self) -> bool:
        """Whether a table is shown."""
        return isinstance(self._resource, Collection)

    def copied(self) -> tuple[str, bool]:
        """Return what is to be copied, and whether that is all."""
        if self._shape == "paper":
            return self.query_one(MarkdownView).copied()
        if self._shape == "tree" and isinstance(self._resource, Note):
            return content_text(self._resource.content), True
        return self.query_one(ResourceData).copied()

    # The tree

    def on_lazy_table_chosen(self, event: LazyTable.Chosen) -> None:
        """Fold or unfold; in a table, let the place follow."""
        if event.grid.id == "tree" and self._tree is not None:
            event.stop()
            if event.rows is self._tree and event.index < len(self._tree):
                self._tree.toggle(event.index)
                self._redraw()

    def on_lazy_table_highlighted(self, event: LazyTable.Highlighted) -> None:
        """Say where it is, and what it is whole."""
        event.stop()
        if event.grid.id == "tree":
            self._leaf()

    def on_key(self, event: Key) -> None:
        """Fold and unfold by the arrows, and space."""
        grid = self.query_one("#tree", LazyTable)
        if self._tree is None or not grid.has_focus or event.key not in ("left", "right", "space"):
            return
        event.stop()
        if event.key == "space":
            self._tree.toggle(grid.cursor)
            self._redraw()
        else:
            at = self._tree.fold(grid.cursor, unfold=event.key == "right")
            self._redraw()
            grid.cursor = at

    def _redraw(self) -> None:
        if self._tree is not None:
            self.query_one("#tree", LazyTable).show(self._tree)
            self._leaf()

    def _leaf(self) -> None:
        grid = self.query_one("#tree", LazyTable)
        if self._tree is not None and grid.cursor < len(self._tree):
            message = self._tree.format_row(grid.cursor)
            self.query_one("#leaf", Static).update(message if len(message) <= 2000 else f"{message[:2000]}…")


def marked(resource: Resource) -> str | None:
    """Return the text of a Note; of a search result that of what was found. None of what is no text."""
    if not isinstance(resource, Note):
        return None
    content: Any = resource.content
    if isinstance(content, str):
        return content
    return str(content["text"]) if resource.evidence and is_hit(content) else None
