"""`frequent-words`: what a text is full of."""

from __future__ import annotations

from collections import Counter
from typing import TypedDict

from pydantic import Field

from infospace import Args, Collection, Context, Limit, Ref, Resource, primitive


class Frequent(TypedDict):
    """A word and how often it stands there."""

    word: str
    count: int


class FrequentWords(Args):
    """Arguments of `frequent-words`."""

    target: Ref[Resource] = Field(description="What to look at.")
    limit: Limit = Field(10, description='At most so many words, or "all".')


@primitive(effect="pure", examples=[{"type": "frequent-words", "target": "$note", "limit": 3, "out": "$words"}])
async def frequent_words(args: FrequentWords, context: Context) -> Collection[Frequent]:
    """Give the most frequent words of a text, most frequent first: `{"word", "count"}` each."""
    counted = Counter(word.strip(".,;:!?").casefold() for word in context.text(args.target).split())
    ranked = sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))[: args.limit]
    return context.collection([context.note({"word": word, "count": count}) for word, count in ranked])
