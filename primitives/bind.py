"""`bind`: another variable for the same resource."""

from __future__ import annotations

from pydantic import Field

from infospace import Args, Context, Ref, Resource, primitive
from infospace.authoring.shapes import itself


class Bind(Args):
    """Arguments of `bind`."""

    target: Ref[Resource] = Field(description="The resource: a `$variable`, an id or a name.")


@primitive(
    effect="pure",
    result_shape=itself("target"),
    examples=[{"type": "bind", "target": "$hits[0]", "out": "$best"}],
    avoid=["Using `bind` to copy: it makes an alias. `create-note` with `value` copies content."],
)
async def bind(args: Bind, context: Context) -> Resource:
    """Bind a variable to a resource that exists already: an alias, no copy."""
    del context
    return args.target
