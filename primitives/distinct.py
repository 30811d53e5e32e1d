"""`distinct`: the first of each."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Annotated, Literal

from pydantic import Field

from infospace import Args, Collection, Context, Path, Ref, Resource, primitive
from infospace.authoring.shapes import same_as
from infospace.authoring.values import ABSENT, equality_key, find
from infospace.authoring.values import set_operations as sets


class Distinct(Args):
    """Arguments of `distinct`."""

    target: Ref[Collection] = Field(description="The Collection.")
    by: Literal["@id", "content"] | Path | Annotated[list[Path], Field(min_length=1)] = Field(
        "@id",
        description="What makes items equal: what they are (`@id`), their `content` (the default for a list), "
        "or the value at a path, or at several.",
    )


@primitive(
    effect="reads",
    result_shape=same_as("target"),
    examples=[
        {"type": "distinct", "target": "$hits", "out": "$once"},
        {"type": "distinct", "target": "$hits", "by": "metadata.title", "out": "$by_title"},
        {"type": "distinct", "target": "$titles", "by": "content", "out": "$different"},
        {"type": "distinct", "target": "$hits", "by": ["metadata.title", "metadata.type"], "out": "$titled"},
    ],
    avoid=['`"by": "id"` for what the items are: that is a field of the content; identity is `@id`.'],
)
async def distinct(args: Distinct, context: Context) -> Collection:
    """Give the first item of each kind, in order: no duplicates.

    By `@id` a search result is its source, a passage its source and range, a tool `server/tool`, anything else
    itself. By `content`, or by the values at paths, equal JSON is equal: 1 and 1.0, not "1"; items without the
    field count as null there. `extra.excluded` counts what was left out.
    """
    if isinstance(args.by, str):
        pairs = sets.keyed(context, args.target, args.by)
    else:
        paths = args.by if isinstance(args.by, list) else [args.by]
        keys = [tuple(_key(item, path) for path in paths) for item in context.items(args.target)]
        pairs = list(zip(keys, args.target.members, strict=True))
    chosen = sets.first_of_each(pairs)
    context.extra["excluded"] = len(pairs) - len(chosen)
    return context.collection(chosen)


def _key(item: Resource, path: Path) -> Hashable:
    value = find(item, path)
    return equality_key(None if value is ABSENT else value)
