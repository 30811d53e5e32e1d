"""`add`: into a Collection, in place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from infospace import Args, Collection, Context, Member, Ref, Resource, primitive
from infospace.authoring.shapes import CollectionShape, Shape, Unknown, bare, union


class Add(Args):
    """Arguments of `add`."""

    target: Ref[Collection] = Field(description="The Collection that grows.")
    value: Ref[Resource] = Field(description="What to put into it; of a Collection, its items.")
    if_version: int | None = Field(None, ge=1, description="Only if the Collection is at this version still.")


def _result_shape(_arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    target, value = shapes.get("target", Unknown()), shapes.get("value", Unknown())
    item = value.item if isinstance(value, CollectionShape) else value
    if not isinstance(target, CollectionShape):
        return CollectionShape()
    held = bare(item) if target.facts.size == 0 else union(target.item, bare(item))
    return CollectionShape(held, target.metadata)


@primitive(
    effect="writes",
    result_shape=_result_shape,
    changes=_result_shape,
    failures=["The Collection is not at `if_version`."],
    examples=[
        {"type": "add", "target": "$notes", "value": "$summary", "out": "$more"},
        {"type": "add", "target": "reading list", "value": "$hits"},
    ],
    avoid=[
        "`union` to collect in a loop: `add` changes the one Collection, and later steps see it under the same name.",
        "Making a Collection of one item to add it: `value` takes the item itself.",
    ],
)
async def add(args: Add, context: Context) -> Collection:
    """Put a resource at the end of a Collection in place: the same id, a new version.

    What is in it already is not put in twice: a search result counts as its source, a passage as its source and
    range, a tool as `server/tool`, anything else as itself. A Collection adds its items, in their order. What is put
    into a kept Collection is kept. Where nothing is new there is no new version; `extra.added` counts.
    """
    value = args.value
    members = value.members if isinstance(value, Collection) else (Member(value.id),)
    present = set(context.identities(args.target.members))
    fresh = []
    for member, identity in zip(members, context.identities(members), strict=True):
        if identity not in present:
            present.add(identity)
            fresh.append(member)
    context.extra["added"] = len(fresh)
    return context.add(args.target, fresh, if_version=args.if_version)
