"""`index`: how many passages; kept for plans that ask for an index."""

from __future__ import annotations

from pydantic import Field

from infospace import Args, Collection, Context, Note, Ref, primitive


class Index(Args):
    """Arguments of `index`."""

    target: Ref[Collection] = Field(description="The Collection.")


@primitive(
    effect="reads",
    waits=True,
    formerly=["organize"],
    renamed={"source": "target", "index_type": None},
    failures=["There is text to embed but no embedding weights on the machine."],
    examples=[{"type": "index", "target": "$notes", "out": "$passages"}],
    avoid=["Indexing before a search: everything kept is indexed, and a search embeds what it still needs."],
)
async def index(args: Index, context: Context) -> Note[int]:
    """Give the number of passages in a Collection's items: those that `search-within-collection` searches.

    Kept for compatibility. They are embedded if they are not yet; of a search result its source counts, of a
    Collection its items, each source once. `extra.items` counts the texts, and `extra.left_out` the items without one.
    """
    from infospace.authoring.ranking import counted_passages

    results = await context.run_search(counted_passages(context.items(args.target)))
    context.extra |= {"items": results.certificate["items"], "left_out": results.certificate["left_out"]}
    return context.note(results.certificate["passages"])
