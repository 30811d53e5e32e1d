"""A step's view of the space: what a primitive may see and do while one step runs.

What is made through it belongs to the run, is stamped with the step, and is committed together with the
step's journal row, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from infospace.answer import cut, label
from infospace.clock import now
from infospace.errors import NotFound
from infospace.ids import Kind, is_id
from infospace.jsonvalue import JSON
from infospace.memory.changes import Change, Evidence, GiveName, Keep, MakeCollection, MakeNote, MakeRelation
from infospace.resources import (
    Collection,
    ItemT,
    Made,
    Member,
    Note,
    Relation,
    Resource,
    SearchResult,
    text_of,
)

if TYPE_CHECKING:
    from infospace.argument import Bound
    from infospace.search.found import Found, Hit, Mode
    from infospace.space import Space

Speech = Literal["say", "think"]


class Listener(Protocol):
    """Whoever runs the step: hears what it says while it runs."""

    def speech(self, kind: Speech, text: str) -> None:
        """Take something said to the user, or thought into the run's context."""

    def progress(self, done: int, total: int, what: str) -> None:
        """Take how far long work has come."""


class Silence:
    """A listener that nobody listens behind."""

    def speech(self, kind: Speech, text: str) -> None:
        """Let it pass."""

    def progress(self, done: int, total: int, what: str) -> None:
        """Let it pass."""


class Infospace:
    """The space as one step sees it."""

    def __init__(self, space: Space, made: Made, listener: Listener | None = None, *, scratch: bool = False) -> None:
        self.space = space
        self.made = made
        self.changes: list[Change] = []
        self.extra: dict[str, Any] = {}
        """Goes into the answer's `extra`."""
        self.uses: dict[str, int] = {}
        """Versions of the resources that were read, by id."""
        self._listener = listener or Silence()
        self._drafts: dict[str, Resource | Evidence] = {}
        self._scratch = _SCRATCH if scratch else None

    # Making

    def note(self, content: JSON, *, metadata: Mapping[str, JSON] | None = None) -> Note[Any]:
        """Make a Note, transient until it is kept."""
        at = now()
        made = Note(
            id=self._id(Kind.NOTE),
            content=content,
            metadata=metadata or {},
            created=at,
            updated=at,
            made=self.made,
        )
        self._drafts[made.id] = made
        self.changes.append(MakeNote(made.id, content, made.metadata, made=self.made))
        return made

    def evidence(self, hit: Hit) -> Member:
        """Make a search-result Note of a hit, by reference to its source; return its place in a Collection."""
        identifier = self._id(Kind.NOTE)
        evidence = Evidence(hit.source, hit.version, hit.score, hit.start, hit.end, hit.extra)
        self._drafts[identifier] = evidence
        self.changes.append(MakeNote(identifier, evidence, made=self.made))
        return Member(identifier)

    def collection(
        self, items: Iterable[Resource | Member], *, metadata: Mapping[str, JSON] | None = None
    ) -> Collection[Any]:
        """Make a Collection of resources in this order, transient until it is kept."""
        at = now()
        members = tuple(item if isinstance(item, Member) else Member(item.id) for item in items)
        made: Collection[Any] = Collection(
            id=self._id(Kind.COLLECTION),
            members=members,
            metadata=metadata or {},
            created=at,
            updated=at,
            made=self.made,
        )
        self._drafts[made.id] = made
        self.changes.append(MakeCollection(made.id, members, made.metadata, made=self.made))
        return made

    def relation(self, source: Resource, target: Resource, relation: str) -> Relation:
        """Make a Relation between two resources, transient until it is kept."""
        at = now()
        made = Relation(
            id=self._id(Kind.RELATION),
            source=source.id,
            target=target.id,
            relation=relation,
            created=at,
            updated=at,
            made=self.made,
        )
        self._drafts[made.id] = made
        self.changes.append(MakeRelation(made.id, made.source, made.target, relation, made=self.made))
        return made

    def keep(self, resource: Resource) -> None:
        """Keep a resource in place; of a Collection its members too. Idempotent."""
        self.changes.append(Keep(resource.id))

    def name(self, resource: Resource, name: str, *, replace: bool = False) -> None:
        """Name a resource, and so keep it. A taken name is a Conflict when the step ends, unless `replace`."""
        self.changes.append(GiveName(resource.id, name, replace))

    def absorb(self, other: Infospace) -> None:
        """Take over what was made through another view of the same step."""
        self.changes += other.changes
        self._drafts |= other._drafts
        self.uses |= other.uses

    def is_new(self, resource: Resource) -> bool:
        """Whether a resource was made through this view."""
        return resource.id in self._drafts

    def _id(self, kind: Kind) -> str:
        if self._scratch is not None:
            return self._scratch.new_id(kind)
        return self.space.store.new_id(kind)

    # Reading

    def get(self, reference: str) -> Resource:
        """Return a resource by id or name; NotFound when there is none."""
        draft = self._drafts.get(reference)
        if draft is not None:
            return self._real(reference, draft)
        with self.space.store.reading() as snapshot:
            identifier = reference if is_id(reference) else snapshot.named(reference)
            if identifier is None:
                raise NotFound(f"nothing here has the name {reference!r}", hint=_near(reference, snapshot.names()))
            found = snapshot.get(identifier)
        self.uses.setdefault(found.id, found.version)
        return found

    def items(self, collection: Collection[ItemT]) -> list[Resource]:
        """Return a Collection's items as they are now, in order."""
        return self.resources([member.id for member in collection.members])

    def resources(self, identifiers: Sequence[str]) -> list[Resource]:
        """Return resources by id, in order; NotFound names the first that was deleted."""
        stored = [identifier for identifier in identifiers if identifier not in self._drafts]
        found: dict[str, Resource] = {}
        if stored:
            with self.space.store.reading() as snapshot:
                found = dict(zip(stored, snapshot.many(stored), strict=True))
            for resource in found.values():
                self.uses.setdefault(resource.id, resource.version)
        return [found[i] if i in found else self._real(i, self._drafts[i]) for i in identifiers]

    def source(self, resource: Resource) -> Resource:
        """Return the source of a search result, and any other resource itself."""
        if isinstance(resource, Note) and resource.evidence:
            return self.get(cast("SearchResult", resource.content)["metadata"]["source_id"])
        return resource

    def content(self, resource: Resource) -> JSON:
        """Return what a resource is as a value: a Note's JSON, a Collection's list of contents."""
        if isinstance(resource, Collection):
            return [self.content(item) for item in self.items(resource)]
        return resource.content

    def text(self, resource: Resource) -> str:
        """Return a resource's text: of a search result its `text`, of a Collection its items, a blank line between."""
        if isinstance(resource, Collection):
            return "\n\n".join(self.text(item) for item in self.items(resource))
        if isinstance(resource, Note) and resource.evidence:
            return cast("SearchResult", resource.content)["text"]
        return text_of(resource.content)

    def _real(self, identifier: str, draft: Resource | Evidence) -> Resource:
        if not isinstance(draft, Evidence):
            return draft
        with self.space.store.reading() as snapshot:
            content = snapshot.evidence(draft)
        made: Note[Any] = Note(id=identifier, content=content, made=self.made, evidence=True)
        self._drafts[identifier] = made
        return made

    def _glance(self, identifiers: Sequence[str]) -> list[Resource]:
        """Resources to be shown: they do not count as used."""
        uses = dict(self.uses)
        try:
            return self.resources(identifiers)
        finally:
            self.uses = uses

    # Finding

    async def discover(
        self,
        query: str,
        *,
        limit: int | None,
        threshold: float | None = None,
        mode: Mode = "semantic",
        where: Bound | None = None,
        within: Collection[Any] | None = None,
        certify: bool = False,
    ) -> Found:
        """Search the kept Notes; `limit` None for all. Returns hits and their certificate."""
        from infospace.search.choice import numbers_within
        from infospace.search.found import Wanted

        numbers = None if within is None else numbers_within(self.items(within))
        wanted = Wanted(query, limit, threshold, mode, where, numbers, certify)
        return await self.space.search.discover(wanted, self._listener)

    async def look(self, search: Callable[[Space, Listener], Found]) -> Found:
        """Let a search of its own kind run beside the loop; it is told of the space and of who listens."""
        import asyncio

        return await asyncio.to_thread(search, self.space, self._listener)

    # Talking

    def say(self, text: str) -> None:
        """Say something to the user."""
        self._listener.speech("say", text)

    def think(self, text: str) -> None:
        """Put something into the run's context for later planning turns."""
        self._listener.speech("think", text)

    def progress(self, done: int, total: int, what: str) -> None:
        """Tell how far long work has come."""
        self._listener.progress(done, total, what)

    def preview(self, resource: Resource) -> str:
        """Return at most 500 characters for reading, which say when they are cut."""
        if not isinstance(resource, Collection):
            return cut(self.text(resource))
        count = len(resource)
        first = self._glance([member.id for member in resource.members[:8]])
        kinds = {item.kind for item in first}
        noun = kinds.pop().lower() if len(kinds) == 1 and count <= len(first) else "item"
        listed = "; ".join(label(item) for item in first)
        more = f"; … and {count - len(first):,} more" if count > len(first) else ""
        return cut(f"{count:,} {noun}{'' if count == 1 else 's'}" + (f": {listed}{more}" if first else ""))


class _Scratch:
    """Ids for what is made and never kept, above every id that a store gives."""

    def __init__(self) -> None:
        self._next = 900_000_000_000_000_000

    def new_id(self, kind: Kind) -> str:
        self._next += 1
        return f"{kind}_{self._next}"


_SCRATCH = _Scratch()


def _near(reference: str, names: Sequence[str]) -> str | None:
    from infospace.paths import nearest

    near = nearest(reference, names)
    return f"did you mean {near!r}?" if near else None
