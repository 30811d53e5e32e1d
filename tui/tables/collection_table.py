"""A Collection as a table: the fields of its items as columns, read as they come into sight, sorted when asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from rich.text import Text

from infospace.context.context import Context
from infospace.core.errors import NotFound
from infospace.core.json_types import JSON
from infospace.core.plural import pluralize
from infospace.core.resources import Collection, Note, Relation, Resource
from infospace.data.result import display_name
from tui.text.format import Colours, single_line
from tui.text.render import is_hit
from tui.text.table_model import Column

LOOKED_AT = 100
"""Items whose fields make the columns."""
MOST_COLUMNS = 24
WIDEST = 40
"""Characters of a column at most."""
ITEMS_PER_READ = 100
"""Items that are read at once."""

Cells = tuple[str, ...]


class CollectionTable:
    """Implements `Rows` over the items of a Collection. `wanted` are the places of items to be read."""

    def __init__(
        self, context: Context, collection: Collection, fields: Sequence[str], columns: Sequence[Column]
    ) -> None:
        self.collection = collection
        self.columns = tuple(columns)
        self.wanted: set[int] = set()
        self.colours: Colours = {}
        self.sorted_by: tuple[int, bool] | None = None
        """The column, and whether downwards."""
        self._context = context
        self._fields = tuple(fields)
        self._ids = [member.id for member in collection.members]
        self._order = list(range(len(self._ids)))
        self._read: dict[int, tuple[Any, ...]] = {}

    def __len__(self) -> int:
        return len(self._order)

    def key(self, index: int) -> str:
        """Return the place of an item and its id."""
        place = self._order[index]
        return f"{place}:{self._ids[place]}"

    def id_at(self, index: int) -> str:
        """Return the id of an item."""
        return self._ids[self._order[index]]

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        """Return the cells of an item."""
        del widths
        place = self._order[index]
        values = self._read.get(place)
        if values is None:
            self.wanted.add(place)
            return [f"{place + 1:,}", Text("…", "dim"), *("" for _ in self._fields)]
        return [Text(f"{place + 1:,}", "dim"), Text(self._ids[place], "dim"), *(cell(value) for value in values)]

    def fetch(self) -> bool:
        """Read what is wanted; return whether anything came. For a thread."""
        places = sorted(self.wanted)
        self.wanted.difference_update(places)
        self._fetch(places)
        return bool(places)

    def _fetch(self, places: Sequence[int]) -> None:
        for at in range(0, len(places), ITEMS_PER_READ):
            some = places[at : at + ITEMS_PER_READ]
            self.merge(some, existing_resources(self._context, [self._ids[place] for place in some]))

    def sort(self, column: int) -> None:
        """Sort by a column, the other way round when it is sorted by that; reads all items. For a thread."""
        downwards = self.sorted_by == (column, False)
        if column > 1:
            every = range(len(self._ids))
            self._fetch([place for place in every if place not in self._read])
            values = [rank(self._read[place][column - 2]) for place in every]
            self._order = sorted(every, key=lambda place: values[place], reverse=downwards)
        else:
            self._order = list(range(len(self._ids)))[:: -1 if downwards else 1]
        self.sorted_by = (column, downwards)

    def titled(self) -> tuple[Column, ...]:
        """Return the columns, the one that it is sorted by with an arrow."""
        from dataclasses import replace

        if self.sorted_by is None:
            return self.columns
        at, downwards = self.sorted_by
        arrow = "▼" if downwards else "▲"
        return tuple(
            replace(column, title=f"{column.title} {arrow}") if index == at else column
            for index, column in enumerate(self.columns)
        )

    def copied(self) -> str:
        """Return what was read as lines of tab-separated cells."""
        head = "\t".join(column.title for column in self.columns)
        rows = [
            "\t".join([str(place + 1), self._ids[place], *(cell(value) for value in self._read[place])])
            for place in self._order
            if place in self._read
        ]
        return "\n".join([head, *rows])

    def merge(self, places: Sequence[int], items: Sequence[Resource | None]) -> None:
        """Take items that were read, by their places; None for one that is not there any more."""
        for place, item in zip(places, items, strict=True):
            gone = ("(not there any more)", *(None for _ in self._fields))[: len(self._fields)]
            self._read[place] = gone if item is None else tuple(field_of(item, name) for name in self._fields)


def read_table(context: Context, collection: Collection) -> CollectionTable:
    """Return a Collection as a table, its items as a view has them; the first ones are read. For a thread."""
    ids = [member.id for member in collection.members[:LOOKED_AT]]
    items = existing_resources(context, ids)
    there = [item for item in items if item is not None]
    fields = fields_of(there)
    looked = [[field_of(item, name) for item in there] for name in fields]
    columns = [Column("#", max(3, len(f"{len(collection):,}")), "right"), Column("id", max(map(len, ids), default=8))]
    for place, (name, values) in enumerate(zip(fields, looked, strict=True)):
        widest = max((len(cell(value)) for value in values), default=0)
        numbers = all(isinstance(value, (int, float)) for value in values if value is not None)
        width = None if place == len(fields) - 1 and len(fields) <= 2 else min(WIDEST, max(len(name) + 2, widest))
        columns.append(Column(name, width, "right" if numbers and values else "left", least=20))
    table = CollectionTable(context, collection, fields, columns)
    table.merge(range(len(items)), items)
    return table


def existing_resources(context: Context, identifiers: Sequence[str]) -> list[Resource | None]:
    """Return resources by id, in order; None for those that are not there any more."""
    try:
        return list(context.resources(identifiers))
    except NotFound:
        return [_one(context, identifier) for identifier in identifiers]


def _one(context: Context, identifier: str) -> Resource | None:
    with suppress(NotFound):
        return context.get(identifier)
    return None


def fields_of(items: Sequence[Resource]) -> list[str]:
    """Return the names of the columns of items: the keys of their content, else what they are in short."""
    contents = [item.content for item in items if isinstance(item, Note)]
    if contents and all(is_hit(content) for content in contents):
        return ["score", "title", "passage", "source"]
    if contents and len(contents) == len(items) and all(isinstance(content, dict) for content in contents):
        keys = list(dict.fromkeys(key for content in contents if isinstance(content, dict) for key in content))
        return keys[:MOST_COLUMNS]
    if items and all(isinstance(item, Relation) for item in items):
        return ["source", "relation", "target"]
    titled = any(isinstance(item.metadata.get("title"), str) for item in items)
    return ["title", "content"] if titled else ["content"]


def field_of(item: Resource, name: str) -> JSON:
    """Return what an item has in a column."""
    if isinstance(item, Collection):
        return (
            f"{display_name(item)} ({pluralize(len(item), 'item')})" if name == "content" else item.metadata.get(name)
        )
    content: Any = item.content
    if isinstance(item, Note) and is_hit(content):
        metadata = content["metadata"]
        passage = metadata.get("passage")
        hit = {
            "score": metadata["score"],
            "title": metadata.get("title"),
            "passage": (passage or {}).get("text", content["text"]),
            "source": metadata["source_id"],
        }
        return hit.get(name)
    if isinstance(content, dict) and name in content:
        value: JSON = content[name]
        return value
    if name == "title":
        return item.metadata.get("title")
    return content if name == "content" else None


def cell(value: JSON) -> str:
    """Return a value on one line."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    return single_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def rank(value: JSON) -> tuple[int, float, str]:
    """Return what values of any kind are sorted by: numbers, then texts, then the others, and nothing last."""
    if value is None:
        return (3, 0.0, "")
    if isinstance(value, (bool, int, float)):
        return (0, float(value), "")
    return (1, 0.0, value.casefold()) if isinstance(value, str) else (2, 0.0, cell(value))
