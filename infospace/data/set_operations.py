"""Collections as sets: what the items of two of them have in common, by identity or by content."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from infospace.core.resources import Collection, Member
from infospace.data.order import equality_key

if TYPE_CHECKING:
    from infospace.context.context import Context

By: TypeAlias = Literal["@id", "content"]


def keyed(context: Context, collection: Collection[Any], by: By) -> list[tuple[Hashable, Member]]:
    """Return the members of a Collection, each with the key by which equal ones meet."""
    members = collection.members
    if by == "@id":
        return list(zip(context.identities(members), members, strict=True))
    contents = (context.content(item) for item in context.items(collection))
    return [(equality_key(content), member) for content, member in zip(contents, members, strict=True)]


def first_of_each(
    pairs: Iterable[tuple[Hashable, Member]], expected: Callable[[Hashable], bool] = lambda _key: True
) -> list[Member]:
    """Return the first member of each key that is wanted, in their order."""
    results: dict[Hashable, Member] = {}
    for key, member in pairs:
        if key not in results and expected(key):
            results[key] = member
    return list(results.values())
