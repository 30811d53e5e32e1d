"""Storing many things together, and giving rows to what of them becomes more than its run's.

What must hold is said in `read.batches`. Rows are given inside the transaction that needs them, before anything else
looks for them, so all else that is written knows rows alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from infospace.core.bounds import check_time
from infospace.data.json_text import dump
from infospace.store.sqlite.codec import COLLECTION, NOTE, PLAIN, digest_of, keys_json
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.packed import pieces
from infospace.store.sqlite.read import batches

_ROW = """INSERT INTO resources
    (key, version, form, kept, found, created, updated, run, step, made_by, hash, content)
    VALUES (?, 1, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?)"""


def give_rows(connection: Connection, numbers: Sequence[int]) -> bool:
    """Give rows to the Notes of the batches that have any of these numbers; return whether there was one."""
    stretches = batches.spans(connection, min(numbers), max(numbers)) if numbers else []
    if not stretches:
        return False
    inside = sorted(set(numbers).difference(batches.outside(numbers, stretches)))
    end = 0
    for number in inside:
        if number < end:
            continue
        row = connection.fetch_one("SELECT * FROM batches WHERE first <= ? ORDER BY first DESC LIMIT 1", (number,))
        assert row is not None  # noqa: S101 - the number lies in a stretch
        first, count, run, step, by, created, text = row
        end = first + count
        connection.run("DELETE FROM batches WHERE first = ?", (first,))
        rows = []
        for at, content in enumerate(batches.contents_of(text, count, connection.address), first):
            raw = dump(content)
            rows.append((at * 4 + NOTE, PLAIN, created, created, run, step, by, digest_of(raw), raw))
        connection.execute_many(_ROW, rows)
        check_time()
    return bool(inside)


def give_member_rows(connection: Connection, collections: Iterable[int]) -> None:
    """Give rows to the packed members of Collections."""
    for collection in collections:
        rows = batches.member_rows(connection, collection)
        if rows:
            connection.run("DELETE FROM packed_members WHERE collection = ?", (collection,))
            values = [(collection, at, item, 1) for at, (item, _) in enumerate(rows)]
            connection.execute_many(
                "INSERT INTO members (collection, position, item, since) VALUES (?, ?, ?, ?)", values
            )


def give_all_rows(connection: Connection, keys: Iterable[int]) -> None:
    """Give rows to resources and to all that is in them, however deep: they are about to be kept."""
    left, seen = list(keys), set[int]()
    while left:
        seen.update(left)
        give_rows(connection, [key >> 2 for key in left if key & 3 == NOTE])
        collections = [key for key in left if key & 3 == COLLECTION]
        give_member_rows(connection, collections)
        rows = (
            connection.all(
                """SELECT DISTINCT item FROM members
                WHERE until IS NULL AND collection IN (SELECT value FROM json_each(?))""",
                (keys_json(collections),),
            )
            if collections
            else ()
        )
        left = [item for (item,) in rows if item not in seen]


def leave_holders(connection: Connection, keys: Iterable[int]) -> None:
    """Give rows to the members of the Collections that have any of these Notes: some are about to leave them."""
    give_member_rows(connection, batches.holding(connection, [key >> 2 for key in keys if key & 3 == NOTE]))


def pack_members(connection: Connection, collection: int, numbers: Sequence[int]) -> None:
    """Store the members of a new Collection, which are Notes that live."""
    connection.execute_many(
        "INSERT INTO packed_members VALUES (?, ?, ?, ?, ?, ?)", ((collection, *piece) for piece in pieces(numbers))
    )


def pack_uses(connection: Connection, run: int, sequence: int, numbers: Sequence[int]) -> None:
    """Store which Notes a step read at version 1, by number and each once."""
    connection.execute_many(
        "INSERT OR REPLACE INTO packed_uses VALUES (?, ?, ?, ?, ?, ?, ?)",
        ((run, sequence, *piece) for piece in pieces(numbers)),
    )
