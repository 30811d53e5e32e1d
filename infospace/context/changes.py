"""What a step may change in place, and what it may ask of sets and Relations: a part of its view of the space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from infospace.core.clock import now
from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.core.json_types import JSON
from infospace.core.resources import Collection, Made, Member, Note, Relation, Resource
from infospace.data import result_identity as identity
from infospace.store.changes import AddMembers, Change, Delete, Evidence, JsonNull, RemoveMembers, Revise

if TYPE_CHECKING:
    from infospace.space import Space

ResourceT = TypeVar("ResourceT", bound=Resource)


class PendingChanges:
    """What a step made and changed, before it is committed. One of a part of the step sees the `outer` one too."""

    def __init__(self, outer: PendingChanges | None = None) -> None:
        self.made: dict[str, Resource | Evidence] = {}
        self.changed: dict[str, Resource | None] = {}
        """Resources as they are then; None for what was deleted."""
        self.names: dict[str, str] = {}
        """The ids of who was given which name."""
        self._outer = outer

    @property
    def empty(self) -> bool:
        """Whether nothing was made or changed."""
        return not (self.made or self.changed) and (self._outer is None or self._outer.empty)

    def find(self, identifier: str) -> Resource | Evidence | None:
        """Return what was made, or made of a resource; None for what is as it is stored. NotFound when deleted."""
        if identifier in self.changed:
            changed = self.changed[identifier]
            if changed is None:
                raise NotFound(f"{identifier} was deleted by this step", hint="delete last what is still read")
            return changed
        if identifier in self.made:
            return self.made[identifier]
        return None if self._outer is None else self._outer.find(identifier)

    def named(self, name: str) -> str | None:
        """Return the id of who was given a name, None where the step gave it to nothing."""
        return self.names.get(name) or (None if self._outer is None else self._outer.named(name))

    def merge(self, other: PendingChanges) -> None:
        """Take over what a part of the step made and changed."""
        self.names |= other.names
        self.made |= other.made
        self.changed |= other.changed


class Changing(ABC):
    """Changes are made when the step is committed; what is read through the view has them at once."""

    space: Space
    made: Made
    changes: list[Change]
    uses: dict[str, int]
    _drafts: PendingChanges

    @abstractmethod
    def source(self, resource: Resource) -> Resource:
        """Return the source of a search result, and any other resource itself."""

    # Changing

    def revise(
        self,
        resource: ResourceT,
        *,
        content: JSON | JsonNull = None,
        metadata: Mapping[str, JSON] | None = None,
        if_version: int | None = None,
    ) -> ResourceT:
        """Give a resource new content or metadata in place, and return it so; None leaves a part as it is.

        Content that is JSON null is `JsonNull()`. Raises Conflict for another version than expected.
        """
        self._check(resource, if_version)
        self.changes.append(Revise(resource.id, content, metadata, if_version, self.made))
        parts: dict[str, Any] = {} if metadata is None else {"metadata": metadata}
        if content is not None:
            parts["content"] = None if isinstance(content, JsonNull) else content
        return self._is_now(replace(resource, **parts))

    def become(self, holder: Resource, resource: Resource) -> Resource:
        """Give a Note or a Collection what another one is as its next version, and return it so."""
        parts: dict[str, Any] = {"metadata": resource.metadata}
        if isinstance(resource, Collection):
            change = Revise(holder.id, metadata=resource.metadata, made=self.made, members=resource.members)
            parts["members"] = resource.members
        else:
            content: JSON | JsonNull = JsonNull() if resource.content is None else resource.content
            change = Revise(holder.id, content, resource.metadata, made=self.made)
            parts["content"] = resource.content
        self.changes.append(change)
        return self._is_now(replace(holder, **parts))

    def add(
        self, collection: Collection[Any], members: Sequence[Member], *, if_version: int | None = None
    ) -> Collection[Any]:
        """Put members at the end of a Collection in place, and return it so. None to add makes no version."""
        self._check(collection, if_version)
        self.changes.append(AddMembers(collection.id, members, if_version, self.made))
        if not members:
            return collection
        return self._is_now(replace(collection, members=(*collection.members, *members)))

    def take_out(
        self, collection: Collection[Any], members: Sequence[Member], *, if_version: int | None = None
    ) -> Collection[Any]:
        """Take members out of a Collection in place, and return it so. None to take out makes no version."""
        self._check(collection, if_version)
        going = {member.id for member in members}
        self.changes.append(RemoveMembers(collection.id, sorted(going), if_version, self.made))
        left = tuple(member for member in collection.members if member.id not in going)
        return self._is_now(replace(collection, members=left)) if going else collection

    def delete(self, resource: Resource, *, if_version: int | None = None) -> None:
        """Delete a resource, with the Relations that end there; Collections go on without it."""
        self._check(resource, if_version)
        self.changes.append(Delete(resource.id, self.made, if_version))
        self._drafts.changed[resource.id] = None

    def acted_on(self, resource: Resource) -> Resource:
        """Return what a change of a resource changes: of a search result its source. Invalid where it has none."""
        source = self.source(resource)
        if isinstance(source, Note) and source.evidence:
            raise Invalid(
                f"{resource.id} is evidence of a search among tools, which stays as it was found",
                hint="`create-note` makes a Note of its content",
            )
        return source

    def _check(self, resource: Resource, version: int | None) -> None:
        if version is not None and version != resource.version:
            raise Conflict(
                f"{resource.id} is at version {resource.version}, not {version}",
                hint="read it again; or leave `if_version` out to write all the same",
            )

    def _is_now(self, resource: ResourceT) -> ResourceT:
        after = replace(resource, version=resource.version + 1, updated=now(), made=self.made)
        self._drafts.changed[resource.id] = after
        return after

    # Sets and Relations

    def identities(self, members: Sequence[Member]) -> list[str]:
        """Return what members count as in sets: a search result as its source, a passage as its stretch.

        A tool found counts as `server/tool`, any other resource as its id.
        """
        identifiers = [member.id for member in members]
        found = {} if self._drafts.empty else self._of_drafts(identifiers)
        stored = [identifier for identifier in identifiers if identifier not in found] if found else identifiers
        if stored:
            with self.space.store.reading() as snapshot:
                known = snapshot.identities(stored)
            if not found:
                return known
            found |= dict(zip(stored, known, strict=True))
        return [found[identifier] for identifier in identifiers]

    def _of_drafts(self, identifiers: Sequence[str]) -> dict[str, str]:
        found = {}
        for identifier in identifiers:
            draft = self._drafts.find(identifier)
            if isinstance(draft, Evidence):
                found[identifier] = identity.of_evidence(draft.source, draft.start, draft.end, passage=draft.passage)
            elif isinstance(draft, Note) and draft.evidence:
                found[identifier] = identity.of_own_evidence(identifier, draft.content)
            elif draft is not None:
                found[identifier] = identifier
        return found

    def relations(
        self, *, source: Resource | None = None, target: Resource | None = None, relation: str | None = None
    ) -> list[Relation]:
        """Return the Relations with these ends and label, by number: kept ones, and those of the same run."""
        with self.space.store.reading() as snapshot:
            identifiers = snapshot.relations(
                source=None if source is None else source.id,
                target=None if target is None else target.id,
                relation=relation,
            )
            there = snapshot.many(identifiers)
        run = self.made.run
        found = [one for one in there if isinstance(one, Relation) and (one.kept or (run and one.made.run == run))]
        for one in found:
            self.uses.setdefault(one.id, one.version)
        return found
