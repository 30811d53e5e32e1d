"""`count-words`: how long a text is."""

from __future__ import annotations

from pydantic import Field

from infospace import Args, Context, Note, Ref, Resource, primitive


class CountWords(Args):
    """Arguments of `count-words`."""

    target: Ref[Resource] = Field(description="What to count the words of.")
    at_least: int = Field(1, ge=1, description="Only words of so many letters.")


@primitive(effect="pure", examples=[{"type": "count-words", "target": "$note", "out": "$words"}])
async def count_words(args: CountWords, context: Context) -> Note[int]:
    """Count the words of a text: a Note whose content is that number."""
    return context.note(sum(len(word) >= args.at_least for word in context.text(args.target).split()))
