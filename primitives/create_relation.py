"""`create-relation`: a labelled arrow from one resource to another."""

from __future__ import annotations

from pydantic import Field

from infospace import Args, Context, Ref, Relation, Resource, primitive
from infospace.authoring.shapes import Text


class CreateRelation(Args):
    """Arguments of `create-relation`."""

    source: Ref[Resource] = Field(description="Where it begins; of a search result, its source.")
    target: Ref[Resource] = Field(description="Where it ends; of a search result, its source.")
    relation: Text = Field(description="The label: how the source is related to the target.")


@primitive(
    effect="pure",
    failures=["`relation` is blank."],
    examples=[
        {"type": "create-relation", "source": "$summary", "target": "$hits[0]", "relation": "cites", "out": "$cites"},
        {"type": "create-relation", "source": "$a", "target": "$b", "relation": "contradicts", "name": "the conflict"},
    ],
    avoid=["A Relation for being one of many: put the many into a Collection."],
)
async def create_relation(args: CreateRelation, context: Context) -> Relation:
    """Make a Relation between two resources, in the direction of `source` to `target`.

    It is transient, and found in this run alone, until it is kept: by `persist`, a name, or a Collection that has both
    ends and is kept. Keeping it keeps its ends; deleting an end deletes it.
    """
    return context.relation(context.source(args.source), context.source(args.target), args.relation)
