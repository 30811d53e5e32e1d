"""`persist`: what a plan made stays."""

from __future__ import annotations

from pydantic import Field

from infospace import Args, Context, Ref, Resource, primitive
from infospace.authoring.shapes import itself


class Persist(Args):
    """Arguments of `persist`."""

    target: Ref[Resource] = Field(description="What to keep.")


@primitive(
    effect="writes",
    result_shape=itself("target"),
    failures=["The step's `name` belongs to another resource and `replace` is not given."],
    examples=[
        {"type": "persist", "target": "$summary", "out": "$kept"},
        {"type": "persist", "target": "$hits", "name": "release evidence"},
    ],
    avoid=["Persisting each item of a Collection: keeping the Collection keeps its members."],
)
async def persist(args: Persist, context: Context) -> Resource:
    """Keep a resource in place, under its id, and with the step's `name` under that name.

    Keeping a Collection keeps its members and the Relations between them. Doing it again changes nothing.
    """
    context.keep(args.target)
    return args.target
