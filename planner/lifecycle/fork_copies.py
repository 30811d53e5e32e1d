"""Resources as they were: copies that a run begins with, since others changed them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Collection as Ids
from dataclasses import dataclass, replace

from infospace.context.context import Context
from infospace.core.ids import Kind, kind_of
from infospace.core.resources import Collection, Member, Resource
from infospace.store.changes import AddMembers, Change, JsonNull, RemoveMembers, Revise
from infospace.store.protocol import Snapshot


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of a resource: its id, and which of its versions is which one of the other's."""

    id: str
    versions: dict[int, int]


class ForkCopies:
    """Copies, through a view, of what has another version now than it had `then`: None where that is the same.

    A Collection is copied too where one of its items is, and has the copy of that. `seen` are earlier versions that
    are to be seen, by id.
    """

    def __init__(
        self,
        context: Context,
        snapshot: Snapshot,
        then: Callable[[str], int | None],
        seen: Mapping[str, Ids[int]],
    ) -> None:
        self._context = context
        self._snapshot = snapshot
        self._then = then
        self._seen = seen
        self._made: dict[str, Copy | None] = {}

    def of(self, identifier: str) -> Copy | None:
        """Return the copy of a resource, None where it needs none; a Relation's ends and label never change."""
        if identifier not in self._made:
            self._made[identifier] = None
            self._made[identifier] = self._copied(identifier)
        return self._made[identifier]

    def _copied(self, identifier: str) -> Copy | None:
        then = self._then(identifier)
        if kind_of(identifier) is Kind.NOTE and then is not None:
            return self._note(*self._versions(identifier, then))
        if kind_of(identifier) is not Kind.COLLECTION:
            return None
        brief = self._snapshot.briefs([identifier])[0]
        if then is None and not brief.alive:
            return None
        last = then or brief.version
        groups = [version for version in self._versions(identifier, last) if isinstance(version, Collection)]
        inside = self._inside(groups[-1])
        return None if then is None and not inside else self._collection(groups, inside)

    def _versions(self, identifier: str, last: int) -> list[Resource]:
        known = [number for number, _ in self._snapshot.versions(identifier)]
        seen = self._seen.get(identifier, ())
        return [self._snapshot.get(identifier, one) for one in known if one == last or (one in seen and one < last)]

    def _inside(self, group: Collection) -> dict[str, str]:
        """Return the copies of a Collection's items, by the id of each that was changed or deleted since."""
        briefs = self._snapshot.briefs([member.id for member in group.members])
        changed = [
            summary.id
            for summary in briefs
            if summary.version > 1 or not summary.alive or kind_of(summary.id) is Kind.COLLECTION
        ]
        return {one: result.id for one in changed if (result := self.of(one)) is not None}

    def _note(self, first: Resource, *others: Resource) -> Copy:
        context = self._context
        result, versions = context.note(first.content, metadata=first.metadata), {first.version: 1}
        for note in others:
            value = JsonNull() if note.content is None else note.content
            context.changes.append(Revise(result.id, value, note.metadata, created_by=context.created_by))
            versions[note.version] = len(versions) + 1
        return Copy(result.id, versions)

    def _collection(self, groups: Sequence[Collection], inside: Mapping[str, str]) -> Copy:
        context, (first, *others) = self._context, groups
        members, metadata = self._members(first, groups[-1], inside), first.metadata
        collection, number = context.collection(members, metadata=metadata), 1
        versions = {first.version: 1}
        for group in others:
            then = self._members(group, groups[-1], inside)
            changes: list[Change] = list(_changed(collection.id, members, then, context))
            if group.metadata != metadata:
                changes.append(Revise(collection.id, metadata=group.metadata, created_by=context.created_by))
            members, metadata, number = then, group.metadata, number + len(changes)
            versions[group.version] = number
            context.changes += changes
        return Copy(collection.id, versions)

    def _members(self, group: Collection, last: Collection, inside: Mapping[str, str]) -> list[Member]:
        """Return the members of a version; of an earlier one, those that are copied or were not deleted since."""
        members = [replace(member, id=inside.get(member.id, member.id)) for member in group.members]
        if group is last:
            return members
        briefs = self._snapshot.briefs([member.id for member in group.members])
        return [one for one, brief in zip(members, briefs, strict=True) if brief.alive or one.id != brief.id]


def _changed(identifier: str, before: Sequence[Member], after: Sequence[Member], context: Context) -> Iterator[Change]:
    """Give the changes that make one membership of another."""
    is_longer = list(after[: len(before)]) == list(before)
    if not is_longer:
        yield RemoveMembers(identifier, [member.id for member in before], created_by=context.created_by)
    if added := after[len(before) :] if is_longer else after:
        yield AddMembers(identifier, added, created_by=context.created_by)
