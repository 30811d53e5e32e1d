"""`filter-semantic`: the items of which something is true, by a language model's judgement."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from infospace import Args, Collection, Context, InfospaceError, Ref, Resource, Text, primitive
from infospace.authoring.prompts import judge_prompt
from infospace.authoring.shapes import same_as

MAX_CONCURRENT_ITEMS = 4
"""How many items are judged side by side."""


class FilterSemantic(Args):
    """Arguments of `filter-semantic`."""

    target: Ref[Collection] = Field(description="The Collection.")
    predicate: Text = Field(description="A statement that is true of an item or not, in plain words.")
    mode: Literal["include", "exclude"] = Field(
        "include", description="Keep the items of which it is true, or the others."
    )
    model: Text | None = Field(None, description="Another model at the same endpoint than the usual one.")


@primitive(
    effect="calls",
    asks=True,
    result_shape=same_as("target"),
    failures=[
        "No language model is configured, it cannot be reached, or its judgement of an item cannot be read.",
        "An item is too long for the model: nothing is cut.",
        "The budget does not reach for all items: none is left unjudged in silence.",
    ],
    examples=[
        {"type": "filter-semantic", "target": "$hits", "predicate": "It describes a risk.", "out": "$risks"},
        {
            "type": "filter-semantic",
            "target": "$notes",
            "predicate": "It is about plans that were given up.",
            "mode": "exclude",
            "out": "$current",
        },
    ],
    avoid=[
        "What a field says: `filter-structured` needs no model.",
        "Judging a whole space: `discover-notes` first finds what could be meant.",
    ],
)
async def filter_semantic(args: FilterSemantic, context: Context) -> Collection:
    """Give the items of which a predicate is true, in their order.

    The language model judges each item by itself, by its whole text; of a search result by its source's. Where
    it is in doubt, the predicate is not true. With mode `exclude`, those are kept of which it is not true. The first
    item that cannot be judged fails the step, which names it.
    """
    import asyncio

    items = context.items(args.target)
    slots, done = asyncio.Semaphore(MAX_CONCURRENT_ITEMS), 0

    async def judge(index: int, item: Resource) -> bool:
        nonlocal done
        async with slots:
            messages = judge_prompt(args.predicate, (item.id, context.text(item)))
            try:
                holds = bool(await context.ask_model(messages, schema={"type": "boolean"}, model=args.model))
            except InfospaceError as error:
                raise error.of(f"item {index + 1} ({item.id})") from error
        done += 1
        context.progress(done, len(items), "items judged")
        return holds

    try:
        async with asyncio.TaskGroup() as group:
            judged = [group.create_task(judge(index, item)) for index, item in enumerate(items)]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    include = args.mode == "include"
    chosen = [
        member for member, verdict in zip(args.target.members, judged, strict=True) if verdict.result() is include
    ]
    context.extra["item_count"] = len(chosen)
    return context.collection(chosen)
