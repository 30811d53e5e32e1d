"""What the check knows of the space: names, kinds and schemas of what is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Protocol

from infospace.core.errors import NotFound
from infospace.core.ids import is_id
from infospace.core.json_types import JSON
from infospace.core.resources import Collection, Note, Resource, SearchResult
from infospace.data.properties import Property
from infospace.journal.forks import first_of
from infospace.journal.rows import Use
from infospace.lineage.trace import tools_behind
from infospace.schema.shapes import (
    CollectionShape,
    NoteShape,
    RelationShape,
    Schema,
    Shape,
    Unknown,
    schema_of,
    schema_of_value,
)
from infospace.store.called import notes_called, titles
from infospace.store.protocol import Snapshot
from infospace.store.scoped_store import unscoped
from planner.parse.saved_plans import saved_plan

SURVEYED = 1_000
"""Items of a Collection that are looked at to say what they all are; of a larger one nothing is said."""
SMALL = 20_000
"""Characters of content up to which a Note's own structure is taken as known."""


class SpaceFacts(Protocol):
    """The snapshot that a plan is checked against."""

    def shape(self, reference: str) -> Shape | None:
        """Return the shape of the resource with an id or a name, None when there is none."""

    def holder(self, name: str) -> str | None:
        """Return the id of who has a name."""

    def names(self) -> Sequence[str]:
        """Return the names of all resources."""

    def called(self, reference: str, *, exactly: bool = False) -> Sequence[str]:
        """Return the ids of the Notes whose file ends with a path, or that have a title or an alias.

        With `exactly`, titles and aliases are compared as they are written.
        """

    def titles(self) -> Sequence[str]:
        """Return the titles and aliases of all Notes."""

    def plan(self, name: str) -> JSON:
        """Return the document of a saved plan, None when there is none of that name."""

    def properties(self) -> Mapping[str, Property]:
        """Return the properties of the Notes that discovery searches, by name."""

    def tools_behind(self, reference: str) -> Set[str]:
        """Return the full names of the tools whose answers a resource was made of.

        It has the id or the name, or is the one Note that has the title.
        """


class SnapshotFacts:
    """A snapshot of a real space."""

    def __init__(self, snapshot: Snapshot, free: str | None = None, unseen: str | None = None) -> None:
        """`free` is a run: the names of what it and its forks made are there to be given again.

        What the run `unseen` made is not there.
        """
        self._snapshot = snapshot
        self._free = free
        self._unseen = unseen
        self._shapes: dict[str, Shape | None] = {}
        self._properties: Mapping[str, Property] | None = None

    def shape(self, reference: str) -> Shape | None:
        """Return the shape of the resource with an id or a name, None when there is none."""
        if reference not in self._shapes:
            self._shapes[reference] = self._lookup_shape(reference)
        return self._shapes[reference]

    def _lookup_shape(self, reference: str) -> Shape | None:
        identifier = reference if is_id(reference) else self._snapshot.named(reference)
        if identifier is None:
            return None
        try:
            resource = self._snapshot.get(identifier)
        except NotFound:
            return None
        return (
            None if self._unseen is not None and resource.created_by.run == self._unseen else self._shape_of(resource)
        )

    def tools_behind(self, reference: str) -> Set[str]:
        """Return the full names of the tools whose answers it, or a member of it, was made of, by any runs."""
        identifier = reference if is_id(reference) else self._snapshot.named(reference)
        called = self.called(reference, exactly=True) if identifier is None else ()
        identifier = called[0] if len(called) == 1 else identifier
        if identifier is None:
            return frozenset()
        try:
            resource = self._snapshot.get(identifier)
        except NotFound:
            return frozenset()
        members = resource.members[:SURVEYED] if isinstance(resource, Collection) else ()
        ids = dict.fromkeys([identifier, *(member.id for member in members)])
        # Which tools are behind something that is seen says whether its text is trusted, and nothing of what is hidden.
        return tools_behind(unscoped(self._snapshot), [Use(one, self._snapshot.get(one).version) for one in ids])

    def holder(self, name: str) -> str | None:
        """Return the id of who has a name."""
        holder = self._snapshot.named(name)
        if holder is not None and self._free is not None:
            run = self._snapshot.get(holder).created_by.run
            if run is not None and first_of(self._snapshot, run) == self._free:
                return None
        return holder

    def names(self) -> Sequence[str]:
        """Return all names, sorted."""
        return self._snapshot.names()

    def called(self, reference: str, *, exactly: bool = False) -> Sequence[str]:
        """Return the ids of the Notes whose file ends with a path, or that have a title or an alias.

        With `exactly`, titles and aliases are compared as they are written.
        """
        return notes_called(self._snapshot, reference, exactly=exactly)

    def titles(self) -> Sequence[str]:
        """Return the titles and aliases of all Notes."""
        return titles(self._snapshot)

    def plan(self, name: str) -> JSON:
        """Return the document of a saved plan, None when there is none of that name."""
        return saved_plan(self._snapshot, name)

    def properties(self) -> Mapping[str, Property]:
        """Return the properties of the Notes that discovery searches, by name."""
        if self._properties is None:
            self._properties = self._snapshot.properties()
        return self._properties

    def _shape_of(self, resource: Resource) -> Shape:
        if isinstance(resource, Note):
            if resource.evidence:
                return NoteShape(schema_of(SearchResult), schema_of_value({}))
            return NoteShape(_content_schema(resource), schema_of_value(dict(resource.metadata)))
        if not isinstance(resource, Collection):
            return RelationShape()
        if not 0 < len(resource) <= SURVEYED:
            return CollectionShape(Unknown())
        items = self._snapshot.get_many([member.id for member in resource.members])
        if all(isinstance(item, Note) and item.evidence for item in items):
            return CollectionShape(NoteShape(schema_of(SearchResult), schema_of_value({})))
        return CollectionShape(NoteShape() if all(isinstance(item, Note) for item in items) else Unknown())


def _content_schema(note: Note) -> Schema:
    whole = schema_of_value(note.content)
    return whole if len(str(note.content)) <= SMALL else {"type": whole["type"]}
