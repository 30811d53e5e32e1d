"""Resources as they were: copies that a run begins with, since others changed them."""

from __future__ import annotations

from collections.abc import Collection as Ids
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from infospace.memory.changes import AddMembers, Change, Null, RemoveMembers, Revise
from infospace.memory.store import Snapshot
from infospace.resources import Collection, Member, Note, Resource
from infospace.view import Infospace


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of a resource: its id, and which of its versions is which one of the other's."""

    id: str
    versions: dict[int, int]


def copy(view: Infospace, snapshot: Snapshot, identifier: str, last: int, earlier: Ids[int]) -> Copy | None:
    """Copy a resource as it was at its version `last`, with those of its `earlier` versions that are to be seen.

    None for a Relation, whose ends and label never change.
    """
    wanted = [*sorted(one for one in earlier if one < last), last]
    first, *others = (snapshot.get(identifier, one) for one in wanted)
    versions = {wanted[0]: 1}
    made: Resource
    if isinstance(first, Note):
        made = view.note(first.content, metadata=first.metadata)
        for note in others:
            value = Null() if note.content is None else note.content
            view.changes.append(Revise(made.id, value, note.metadata, made=view.made))
            versions[note.version] = len(versions) + 1
        return Copy(made.id, versions)
    if not isinstance(first, Collection):
        return None
    members = _there(snapshot, first, last)
    made, number = view.collection(members, metadata=first.metadata), 1
    metadata = first.metadata
    for group in (one for one in others if isinstance(one, Collection)):
        then = _there(snapshot, group, last)
        changes: list[Change] = list(_changed(made.id, members, then, view))
        if group.metadata != metadata:
            changes.append(Revise(made.id, metadata=group.metadata, made=view.made))
        members, metadata, number = then, group.metadata, number + len(changes)
        versions[group.version] = number
        view.changes += changes
    return Copy(made.id, versions)


def _there(snapshot: Snapshot, group: Collection, last: int) -> Sequence[Member]:
    """Return the members of a version; of an earlier one, those that were not deleted since."""
    if group.version == last:
        return group.members
    briefs = snapshot.briefs([member.id for member in group.members])
    return [member for member, brief in zip(group.members, briefs, strict=True) if brief.alive]


def _changed(identifier: str, before: Sequence[Member], after: Sequence[Member], view: Infospace) -> Iterator[Change]:
    """Give the changes that make one membership of another."""
    is_longer = list(after[: len(before)]) == list(before)
    if before and not is_longer:
        yield RemoveMembers(identifier, [member.id for member in before], made=view.made)
    if added := after[len(before) :] if is_longer else after:
        yield AddMembers(identifier, added, made=view.made)
