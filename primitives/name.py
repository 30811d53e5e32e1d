"""`name`: what a resource is called."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from infospace import Args, Context, Ref, Resource, primitive
from infospace.authoring.shapes import Shape, Unknown, bare, is_itself, source_of


class Name(Args):
    """Arguments of `name`."""

    target: Ref[Resource] = Field(description="The resource; of a search result, its source.")
    value: str = Field(description="The name.")
    replace: bool = Field(False, description="Take the name over where another resource has it.")


def _result_shape(_arguments: object, shapes: Mapping[str, Shape]) -> Shape:
    target = shapes.get("target", Unknown())
    return target if is_itself(target) else bare(source_of(target) or target)


@primitive(
    effect="writes",
    result_shape=_result_shape,
    names="value",
    failures=[
        "The name belongs to another resource and `replace` is not given.",
        "It cannot be a name: it is blank, has the form of an id, begins with `$`, or is longer than 200 characters.",
    ],
    examples=[
        {"type": "name", "target": "$summary", "value": "weekly summary"},
        {"type": "name", "target": "$hits[0]", "value": "best source", "replace": True, "out": "$best"},
    ],
    avoid=["A step of its own to name what a step makes: any step may have a `name`."],
)
async def name(args: Name, context: Context) -> Resource:
    """Give a resource a name, and so keep it; an earlier name of it is free then.

    A name belongs to one resource of the space, whatever its kind. With `replace`, a holder of the same kind gets the
    content and metadata as its next version, and is what the step gives; from a holder of another kind the name moves,
    and what nothing else holds is let go. Of a search result its source is named, and given.
    """
    return context.name(context.acted_on(args.target), args.value, replace=args.replace)
