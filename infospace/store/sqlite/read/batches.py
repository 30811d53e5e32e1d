"""Notes, members and what steps read where many are stored together: a batch of Notes is one row.

What must hold: a Note is in a batch or has a row in `resources`, never both. One in a batch is transient, nameless,
without metadata, at version 1 and alive, and no Relation, search result or file refers to it: whatever would make it
more gives its batch rows first (`write.batches`). A Collection has packed members or rows in `members`, never both.
One with packed members is transient, its items are Notes that live, and it had these at each of its versions.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from infospace.core.batch_notes import BatchHead, ReadNotes, notes_of
from infospace.core.errors import StoreError
from infospace.core.json_types import JSON
from infospace.core.resources import NOBODY, CreatedBy, Note
from infospace.data.json_text import copied
from infospace.store.sqlite.codec import read_many, run_of
from infospace.store.sqlite.connection import Connection, Row
from infospace.store.sqlite.packed import follow, unpack

TABLES = (
    # contents: a JSON list, of the Notes with the numbers from `first` on.
    """CREATE TABLE batches (
        first INTEGER PRIMARY KEY, count INTEGER NOT NULL, run INTEGER, step TEXT, made_by TEXT,
        created TEXT NOT NULL, contents TEXT NOT NULL)""",
    "CREATE INDEX batches_run ON batches (run)",
    # numbers: those of Notes, in order, as differences that are compressed; `least` and `most` of them are told.
    """CREATE TABLE packed_members (
        collection INTEGER NOT NULL, position INTEGER NOT NULL, count INTEGER NOT NULL,
        least INTEGER NOT NULL, most INTEGER NOT NULL, numbers BLOB NOT NULL, PRIMARY KEY (collection, position))""",
    # What steps read at version 1.
    """CREATE TABLE packed_uses (
        run INTEGER NOT NULL, sequence INTEGER NOT NULL, position INTEGER NOT NULL, count INTEGER NOT NULL,
        least INTEGER NOT NULL, most INTEGER NOT NULL, numbers BLOB NOT NULL, PRIMARY KEY (run, sequence, position))""",
)

_HEAD = "first, count, run, step, made_by, created"

_AT = f"SELECT {_HEAD}, contents FROM batches WHERE first <= ? ORDER BY first DESC LIMIT 1"  # noqa: S608

_BETWEEN = """FROM batches WHERE first <= ?2
    AND first >= coalesce((SELECT max(first) FROM batches WHERE first <= ?1), ?1) ORDER BY first"""


class Batch(NamedTuple):
    """A row of `batches`: its Notes, or what they share alone."""

    first: int
    size: int
    run: int | None
    step: str | None
    by: str | None
    created: str

    @property
    def end(self) -> int:
        """The number after the last one."""
        return self.first + self.size

    @property
    def head(self) -> BatchHead:
        """What its Notes share."""
        created_by = CreatedBy(run_of(self.run), self.step, self.by) if self.run or self.by else NOBODY
        return BatchHead(self.created, created_by)


def contents_of(text: str, count: int, address: str) -> list[JSON]:
    """Read the contents of a batch; StoreError when the file is damaged."""
    value = read_many(text, address)
    if not isinstance(value, list) or len(value) != count:
        raise StoreError(
            f"the space {address!r} is damaged: a batch of Notes has not as many as it says",
            hint="restore a copy of it",
        )
    return value


class RecentBatches:
    """The contents of the few batches that were read last, for those who read one Note after the other.

    What is held is found by the text that it was read from, compared whole: so it is right whatever became of the
    batch, of its number or of its file. Threads may use it at once: each operation on the dictionary is one.
    """

    __slots__ = ("_held", "_most")

    def __init__(self, most: int = 8) -> None:
        self._most = most
        self._held: dict[int, tuple[str, list[JSON]]] = {}

    def some(self, batch: Batch, text: str, numbers: Iterable[int], address: str) -> list[JSON]:
        """Return the contents of some Notes of a batch, given to nobody else."""
        held = self._held.get(batch.first)
        if held is None or held[0] != text or len(held[1]) != batch.size:
            held = text, contents_of(text, batch.size, address)
            if batch.first not in self._held and len(self._held) >= self._most:
                with suppress(StopIteration, RuntimeError):  # another thread has just made room
                    self._held.pop(next(iter(self._held)), None)
            self._held[batch.first] = held
        return [copied(held[1][number - batch.first]) for number in numbers]

    def __len__(self) -> int:
        return len(self._held)


_RECENT = RecentBatches()
_FEW = 16
"""Notes of one batch that are read by way of `_RECENT`: more are read at once, and no copies of them are made."""


def numbers_of(packed: bytes, count: int, address: str) -> list[int]:
    """Read packed numbers; StoreError when the file is damaged."""
    try:
        results = unpack(packed)
    except ValueError as error:
        raise StoreError(
            f"the space {address!r} is damaged: numbers in it cannot be read ({error})", hint="restore a copy of it"
        ) from error
    if len(results) != count:
        raise StoreError(
            f"the space {address!r} is damaged: a list of numbers is shorter than it says", hint="restore a copy of it"
        )
    return results


# Notes


def with_content(connection: Connection, number: int) -> tuple[Batch, JSON] | None:
    """Return the batch of a Note, and the Note's content; None for a number that is in no batch."""
    row = connection.fetch_one(_AT, (number,))
    if row is None or number >= row[0] + row[1]:
        return None
    batch = Batch(*row[:6])
    return batch, _RECENT.some(batch, row[6], (number,), connection.address)[0]


def note(connection: Connection, number: int) -> Note[Any] | None:
    """Return a Note of a batch; None for a number that is in none."""
    results = with_content(connection, number)
    return None if results is None else notes_of(results[0].head, number, [results[1]])[0]


def heads(connection: Connection, least: int, most: int) -> list[Batch]:
    """Return the batches with a number from `least` to `most`, by number, without what is in them."""
    rows = connection.all(f"SELECT {_HEAD} {_BETWEEN}", (least, most))
    return [batch for row in rows if (batch := Batch(*row)).end > least]


def spans(connection: Connection, least: int, most: int) -> list[tuple[int, int]]:
    """Return the stretches of numbers, end excluded, that are in batches, as far as they lie from `least` to `most`."""
    results: list[tuple[int, int]] = []
    for batch in heads(connection, least, most):
        if results and results[-1][1] == batch.first:
            results[-1] = (results[-1][0], batch.end)
        else:
            results.append((batch.first, batch.end))
    return results


def outside(numbers: Sequence[int], stretches: Sequence[tuple[int, int]]) -> Sequence[int]:
    """Return those of the numbers that lie in none of the stretches, in their order."""
    left: Sequence[int] = numbers
    for first, end in stretches:
        if isinstance(left, range) and left.step == 1 and first <= left.start and left.stop <= end:
            return ()
        left = [number for number in left if not first <= number < end]
    return left


def notes(connection: Connection, numbers: Sequence[int]) -> dict[int, Note[Any]]:
    """Return those of the Notes that are in batches, by number."""
    if not numbers:
        return {}
    results: dict[int, Note[Any]] = {}
    least, most = min(numbers), max(numbers)
    expected = None if isinstance(numbers, range) and numbers.step == 1 else set(numbers)
    shared: dict[tuple[Any, ...], BatchHead] = {}
    for rows in connection.batches(f"SELECT {_HEAD}, contents {_BETWEEN}", (least, most)):
        for row in rows:
            batch = Batch(*row[:6])
            first, end = max(batch.first, least), min(batch.end, most + 1)
            places = range(first, end)
            if first >= end or (expected is not None and expected.isdisjoint(places)):
                continue
            head = shared.setdefault(batch[2:], batch.head)
            few = sorted(expected.intersection(places)) if expected is not None else places
            if len(few) <= _FEW:
                inside = _RECENT.some(batch, row[6], few, connection.address)
                results.update((at, notes_of(head, at, (one,))[0]) for at, one in zip(few, inside, strict=True))
                continue
            contents = contents_of(row[6], batch.size, connection.address)
            if expected is None:
                inside = contents[first - batch.first : end - batch.first]
                results.update(zip(places, notes_of(head, first, inside), strict=True))
                continue
            for number in few:
                results[number] = notes_of(head, number, [contents[number - batch.first]])[0]
    return results


def notes_in_order(connection: Connection, numbers: Sequence[int]) -> ReadNotes | None:
    """Return Notes that are all in batches, in order; None where one of them is in none."""
    if not numbers:
        return None
    least, most = min(numbers), max(numbers)
    together = follow(numbers)
    contents: list[JSON] = []
    heads: list[BatchHead] = []
    places: dict[int, tuple[JSON, BatchHead]] = {}
    shared: dict[tuple[Any, ...], BatchHead] = {}
    expected = () if together else sorted(set(numbers))
    for rows in connection.batches(f"SELECT {_HEAD}, contents {_BETWEEN}", (least, most)):
        for row in rows:
            batch = Batch(*row[:6])
            first, end = max(batch.first, least), min(batch.end, most + 1)
            inside = expected[bisect_left(expected, first) : bisect_left(expected, end)]
            if first >= end or not (together or inside):
                continue
            head = shared.setdefault(batch[2:], batch.head)
            results = contents_of(row[6], batch.size, connection.address)
            if together:
                contents += results[first - batch.first : end - batch.first]
                heads += [head] * (end - first)
            else:
                places.update((number, (results[number - batch.first], head)) for number in inside)
    if together:
        return ReadNotes(numbers, contents, heads) if len(contents) == len(numbers) else None
    if len(places) < len(expected):
        return None
    pairs = [places[number] for number in numbers]
    return ReadNotes(numbers, [content for content, _ in pairs], [head for _, head in pairs])


def listed(connection: Connection, after: int, limit: int) -> list[Note[Any]]:
    """Return so many Notes of batches by number, from above `after`."""
    resources: list[Note[Any]] = []
    sql = f"SELECT {_HEAD}, contents {_BETWEEN}"
    for *row, text in connection.all(f"{sql} LIMIT ?3", (after + 1, 1 << 62, limit + 1)):
        batch = Batch(*row)
        for at, content in enumerate(contents_of(text, batch.size, connection.address), batch.first):
            if at > after and len(resources) < limit:
                resources += notes_of(batch.head, at, [content])
    return resources


def every_number(connection: Connection) -> Iterator[int]:
    """Give the numbers of all Notes of batches, in order."""
    for first, count in connection.all("SELECT first, count FROM batches ORDER BY first"):
        yield from range(first, first + count)


def count(connection: Connection) -> int:
    """Count the Notes of batches."""
    result: int = connection.value("SELECT coalesce(sum(count), 0) FROM batches")
    return result


def of_runs(connection: Connection, runs: str) -> list[Batch]:
    """Return the batches that runs made, by number; `runs` is a JSON list of their numbers."""
    sql = f"SELECT {_HEAD} FROM batches WHERE run IN (SELECT value FROM json_each(?)) ORDER BY first"  # noqa: S608
    return [Batch(*row) for row in connection.all(sql, (runs,))]


# Members


def members(connection: Connection, collection: int) -> list[int] | None:
    """Return the numbers of the Notes of a Collection with packed members; None for any other."""
    sql = "SELECT numbers, count FROM packed_members WHERE collection = ? ORDER BY position"
    rows = connection.all(sql, (collection,))
    if not rows:
        return None
    return [number for packed, count in rows for number in numbers_of(packed, count, connection.address)]


def member_rows(connection: Connection, collection: int) -> list[Row]:
    """Return the packed members of a Collection as rows of `members` have them: item and info; else none."""
    return [(number * 4, None) for number in members(connection, collection) or ()]


def holders(connection: Connection, numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return pairs of a Note's number and of the living Collection with packed members that has it."""
    return [
        (number, collection)
        for collection, held in _holding(connection, numbers, "AND deleted IS NULL")
        for number in sorted(held)
    ]


def holding(connection: Connection, numbers: Sequence[int]) -> set[int]:
    """Return the Collections with packed members that have any of these Notes, deleted ones too."""
    return {collection for collection, _ in _holding(connection, numbers, "")}


def _holding(connection: Connection, numbers: Sequence[int], alive: str) -> Iterator[tuple[int, set[int]]]:
    if not numbers:
        return
    expected = set(numbers)
    sql = f"""SELECT collection, packed_members.numbers, count FROM packed_members
        JOIN resources ON key = collection WHERE least <= ? AND most >= ? {alive}"""  # noqa: S608
    for collection, packed, count in connection.all(sql, (max(expected), min(expected))):
        held = expected.intersection(numbers_of(packed, count, connection.address))
        if held:
            yield collection, held


# What steps read


def uses(connection: Connection, run: int) -> dict[int, list[int]]:
    """Return the numbers of the Notes that steps of a run read together, by the sequence of the step."""
    results: dict[int, list[int]] = {}
    sql = "SELECT sequence, numbers, count FROM packed_uses WHERE run = ? ORDER BY sequence, position"
    for sequence, packed, count in connection.all(sql, (run,)):
        results.setdefault(sequence, []).extend(numbers_of(packed, count, connection.address))
    return results


def readings(connection: Connection, numbers: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return which steps read which of the Notes together with others: number, run, sequence."""
    if not numbers:
        return []
    expected = set(numbers)
    sql = "SELECT run, sequence, numbers, count FROM packed_uses WHERE least <= ? AND most >= ? ORDER BY run, sequence"
    return [
        (number, run, sequence)
        for run, sequence, packed, count in connection.all(sql, (max(expected), min(expected)))
        for number in sorted(expected.intersection(numbers_of(packed, count, connection.address)))
    ]


def in_use(connection: Connection) -> set[int]:
    """Return the numbers of the Notes that steps of unfinished runs read together with others."""
    sql = """SELECT numbers, count FROM packed_uses JOIN runs ON number = run
        WHERE status IN ('running', 'suspended')"""
    rows = connection.all(sql)
    return {number for packed, count in rows for number in numbers_of(packed, count, connection.address)}
