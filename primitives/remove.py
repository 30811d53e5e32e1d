"""`remove`: out of a Collection, or out of the space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from infospace import Args, Collection, Context, Invalid, Member, Ref, Resource, primitive
from infospace.authoring.shapes import CollectionShape, Shape, Unknown, describe
from infospace.authoring.values import Kind


class Remove(Args):
    """Arguments of `remove`."""

    target: Ref[Resource] = Field(description="With `value`, the Collection it is taken out of; else what is deleted.")
    value: Ref[Resource] | None = Field(None, description="What to take out of the Collection; it is not deleted.")
    if_version: int | None = Field(None, ge=1, description="Only if `target` is at this version still.")


_HINT = "a Collection is wanted there; without `value`, `remove` deletes `target`"


def _result_shape(arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape | None:
    if arguments.get("value") is None:
        return None
    target = shapes.get("target", Unknown())
    if Kind.COLLECTION not in target.kinds:
        raise Invalid(f"{describe(target)} has nothing to take out", hint=_HINT)
    return target if isinstance(target, CollectionShape) else CollectionShape()


@primitive(
    effect="writes",
    result_shape=_result_shape,
    changes=_result_shape,
    failures=[
        "`value` is given and `target` is not a Collection.",
        "`target` is not at `if_version`.",
        "A search result of a tool, which has no source here.",
    ],
    examples=[
        {"type": "remove", "target": "$notes", "value": "$notes[0]", "out": "$left"},
        {"type": "remove", "target": "$decision"},
    ],
    avoid=[
        "`remove` without `value` to take something out of a Collection: that deletes it.",
        "Deleting a Collection to delete what is in it: its items stay.",
    ],
)
async def remove(args: Remove, context: Context) -> Collection | None:
    """Take something out of a Collection in place; or, without `value`, delete a resource.

    Taken out is what counts as the same: a search result as its source, a passage as its source and range, a tool as
    `server/tool`, anything else as itself. A Collection that is an item is taken out; any other takes its items out.
    `extra.removed` counts; where there is nothing to take out there is no new version.

    Deleting leaves a tombstone: the id is never used again, the name is free, Collections go on without it, and
    Relations that end there go too. Of a search result the source is deleted.
    """
    if args.value is None:
        context.delete(context.acted_on(args.target), if_version=args.if_version)
        return None
    if not isinstance(args.target, Collection):
        raise Invalid(f"{args.target.id}, a {args.target.kind}, has nothing to take out", hint=_HINT)
    collection, value = args.target, args.value
    pairs = list(zip(context.identities(collection.members), collection.members, strict=True))
    going = set(context.identities([Member(value.id)]))
    if isinstance(value, Collection) and value.id not in {member.id for member in collection.members}:
        going = set(context.identities(value.members))
    members = [member for identity, member in pairs if identity in going]
    context.extra["removed"] = len(members)
    return context.take_out(collection, members, if_version=args.if_version)
