"""A Collection never contains itself, directly or through others.

Whatever puts something into a Collection marks it in the transaction (`Work.nested`), and the transaction looks at all
that were marked before it ends: so no writer can pass this by, and changes that only together are right, are right.
"""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

from collections.abc import Collection as Keys
from collections.abc import Iterable, Iterator

from infospace.core.errors import Invalid
from infospace.store.sqlite.codec import COLLECTION, id_of
from infospace.store.sqlite.connection import Connection

# From a Collection upwards, along an index: what holds it, what holds that, and so on. UNION ends at what was seen.
_LOOP = """WITH RECURSIVE holders(key) AS (
        SELECT ?1 UNION SELECT collection FROM holders CROSS JOIN members ON item = holders.key
        JOIN resources ON resources.key = collection WHERE until IS NULL AND deleted IS NULL)
    SELECT item FROM holders CROSS JOIN members ON item = holders.key
    JOIN resources ON resources.key = item
    WHERE collection = ?1 AND until IS NULL AND deleted IS NULL LIMIT 1"""

_NESTED = f"""SELECT DISTINCT collection FROM members JOIN resources ON resources.key = collection
    WHERE (item & 3) = {COLLECTION} AND until IS NULL AND deleted IS NULL ORDER BY collection"""


_HOLDERS = """SELECT collection FROM members JOIN resources ON resources.key = collection
    WHERE item = ? AND until IS NULL AND deleted IS NULL"""

MAX_SINGLE_STATEMENTS = 8
"""So many Collections are each looked at by a statement of their own."""


def refuse_loops(connection: Connection, marked: Keys[int]) -> None:
    """Raise Invalid where one of the Collections would contain itself."""
    if len(marked) > MAX_SINGLE_STATEMENTS and not _any_loop(connection, marked):
        return
    for key in sorted(marked):
        inner = _inner(connection, key)
        if inner is not None:
            raise Invalid(
                _cycle_message(key, inner), hint="a Collection never contains itself, directly or through others"
            )


def loops(connection: Connection) -> Iterator[str]:
    """Say which Collections contain themselves.

    Each is looked at by itself only where there is a loop at all: of a thousand within each other, those at the bottom
    have all the others above them.
    """
    nested = [key for (key,) in connection.all(_NESTED)]
    if not _any_loop(connection, nested):
        return
    for key in nested:
        inner = _inner(connection, key)
        if inner is not None:
            through = "" if inner == key else f", through {id_of(inner)}"
            yield f"{id_of(key)} contains itself{through}"


def _any_loop(connection: Connection, keys: Iterable[int]) -> bool:
    """Whether a way upwards from one of the Collections comes back to where it was; each is looked at once.

    What was left behind (`done`) has no loop above it, so a later way that meets it need not go on there.
    """
    done: set[int] = set()
    for key in keys:
        way: dict[int, Iterator[tuple[int]]] = {} if key in done else {key: iter(connection.all(_HOLDERS, (key,)))}
        while way:
            last = next(reversed(way))
            for (holder,) in way[last]:
                if holder in way:
                    return True
                if holder not in done:
                    way[holder] = iter(connection.all(_HOLDERS, (holder,)))
                    break
            else:
                del way[last]
                done.add(last)
    return False


def _inner(connection: Connection, key: int) -> int | None:
    """The member by which a living Collection contains itself, None where it does not."""
    result: int | None = connection.value(_LOOP, (key,))
    return result


def _cycle_message(key: int, inner: int) -> str:
    if inner == key:
        return f"{id_of(key)} would contain itself"
    return f"{id_of(key)} would contain itself, since {id_of(inner)}, which it would have, contains it"
