"""One write transaction: what every kind of change needs from it."""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from infospace.core.clock import now
from infospace.core.errors import Conflict, Invalid, LeaseLost
from infospace.core.ids import Kind
from infospace.store.sqlite.codec import FOUND, KINDS, NOTE, gone, id_of, key_of, keys_json, run_of
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.id_ranges import Counted, IdRanges
from infospace.store.sqlite.read import batches, fields
from infospace.store.sqlite.read import fulltext as words
from infospace.store.sqlite.write import outlines
from infospace.store.sqlite.write.batch_rows import give_rows
from infospace.store.sqlite.write.nesting import refuse_loops


class Live(NamedTuple):
    """A resource that exists and was not deleted."""

    key: int
    version: int
    form: int
    kept: int
    found: int


_LIVE = """SELECT version, form, kept, found, deleted, deleted_run, deleted_step, deleted_by
    FROM resources WHERE key = ?"""

_ALIVE = "SELECT key FROM resources WHERE key IN (SELECT value FROM json_each(?)) AND deleted IS NULL"

_STRAYED = f"SELECT key, found FROM resources WHERE key IN (SELECT value FROM json_each(?)) AND found <> {FOUND}"


class Transaction:
    """A transaction that has begun.

    `limit(kind)` is the first number of a kind that no process has reserved; `reserve(kind, count)` reserves some
    within the transaction, and returns the first.
    """

    __slots__ = (
        "_before",
        "_limit",
        "_numbers",
        "_outlined",
        "_reserve",
        "_reworded",
        "_stamp",
        "connection",
        "linked_by_hand",
        "nested",
        "now",
        "owner",
        "run",
        "to_settle",
    )

    def __init__(
        self,
        connection: Connection,
        numbers: IdRanges,
        limit: Callable[[Connection, Counted], int],
        reserve: Callable[[Connection, Counted, int], int],
        run: int | None = None,
    ) -> None:
        self.connection = connection
        self.run = run
        """The run whose work this is, where it is known."""
        self.owner: str | None = None
        """Who the run has to belong to; None where nobody says so."""
        self.now = now()
        self._before = connection.ask_later("SELECT value FROM state WHERE key = 'generation'")
        self._stamp: int | None = None
        self._reworded: set[int] = set()
        self._outlined: set[int] = set()
        self.nested: set[int] = set()
        """Collections that came to hold other Collections, or that live again."""
        self.linked_by_hand: set[int] = set()
        """Notes whose file or links this transaction sets: who does that says where they lead."""
        self.to_settle: set[int] = set()
        """Notes whose links the store settles, though this transaction sets them."""
        self._numbers = numbers
        self._limit = limit
        self._reserve = reserve

    def still_owns(self, run: str, number: int) -> None:
        """Raise LeaseLost where the run belongs to somebody else by now."""
        if self.owner is not None:
            row = self.connection.fetch_one("SELECT owner FROM runs WHERE number = ?", (number,))
            if row is not None and row[0] != self.owner:
                raise LeaseLost(run, row[0], self.owner)

    def stamp(self) -> int:
        """Return the generation that this transaction makes, since discovery is concerned."""
        self._stamp = self._before() + 1
        return self._stamp

    def describe(self) -> set[int]:
        """Write the full text of what changed, and what that says of itself; return its keys.

        Raises Invalid where a Collection would contain itself.
        """
        refuse_loops(self.connection, self.nested)
        changed = self._outlined | self._reworded
        self._outlined, self._reworded = set(), set()
        if changed:
            self._embed_changed_fields([key >> 2 for key in changed if key & 3 == NOTE])
            words.index(self.connection, changed)
            outlines.index(self.connection, changed)
        return changed

    def finish(self) -> Callable[[], int]:
        """Describe what is not yet described, and write the generation; return what gives it after the commit."""
        self.describe()
        stamp = self._stamp
        if stamp is None:
            return self._before
        self.connection.put_off("UPDATE state SET value = ? WHERE key = 'generation'", [(stamp,)])
        return lambda: stamp

    def new_ids(self, kind: Kind, count: int) -> list[str]:
        """Return ids for what the store makes itself in this transaction."""
        first = self._reserve(self.connection, kind, count)
        return [f"{kind}_{number}" for number in range(first, first + count)]

    def _embed_changed_fields(self, numbers: Sequence[int]) -> None:
        """Put Notes whose title or another field is not the embedded one among those to be embedded."""
        notes = [(number,) for number in fields.changed(self.connection, numbers)]
        if notes:
            stamp = self.stamp()
            self.connection.execute_many("DELETE FROM passages WHERE note = ?", notes)
            self.connection.execute_many("INSERT OR IGNORE INTO pending VALUES (?)", notes)
            self.connection.execute_many(
                "UPDATE resources SET generation = ? WHERE key = ?", [(stamp, number * 4) for (number,) in notes]
            )

    def fresh(self, identifier: str, kind: Kind) -> int:
        """Return the key of an id to be used for the first time; Invalid when nobody gave it out."""
        key = key_of(identifier)
        if KINDS[key & 3] is not kind:
            raise Invalid(f"{identifier} cannot be the id of a {kind}", hint=f"`new_id` of {kind} gives one")
        self.require_reserved(kind, key >> 2)
        return key

    def require_reserved(self, kind: Counted, number: int) -> None:
        """Raise Invalid for a number that `new_id` did not give to anybody."""
        start, end = self._numbers.reserved(kind)
        if start <= number < end or (number >= end and number >= self._limit(self.connection, kind)):
            raise Invalid(f"{kind}_{number} was not given out", hint="take ids from `new_id`, in this space")

    def exists_already(self, identifier: str) -> Conflict:
        """Say that an id has been used."""
        return Conflict(f"{identifier} exists already", hint="`new_id` gives an id of its own to each new thing")

    def live(self, identifier: str) -> Live:
        """Return what is known of a resource; NotFound when it is not there, or was deleted."""
        key = key_of(identifier)
        row = self.connection.fetch_one(_LIVE, (key,))
        if row is None and key & 3 == NOTE and give_rows(self.connection, [key >> 2]):
            row = self.connection.fetch_one(_LIVE, (key,))
        if row is None:
            raise gone(identifier)
        if row[4] is not None:
            raise gone(identifier, row[4], whom(*row[5:]))
        return Live(key, *row[:4])

    def alive(self, identifiers: Collection[str]) -> dict[str, int]:
        """Return the keys of those resources that are there with a row of their own, and were not deleted."""
        keys = {key_of(identifier): identifier for identifier in identifiers}
        rows = self.connection.all(_ALIVE, (keys_json(keys),))
        return {keys[key]: key for (key,) in rows}

    def must_live(self, keys: Iterable[int], identifier: Callable[[int], str]) -> None:
        """Raise NotFound for the first of many keys that is not there, or was deleted."""
        expected = list(dict.fromkeys(keys))
        known = self.connection.all(_ALIVE, (keys_json(expected),))
        if len(known) < len(expected):
            there = {key for (key,) in known}
            missing = [key for key in expected if key not in there]
            numbers = [key >> 2 for key in missing if key & 3 == NOTE]
            stretches = batches.spans(self.connection, min(numbers), max(numbers)) if numbers else ()
            left = set(batches.outside(numbers, stretches))
            for key in missing:
                if key & 3 != NOTE or key >> 2 in left:
                    self.live(identifier(key))

    def notes_must_live(self, numbers: Sequence[int]) -> None:
        """Raise NotFound for the first of many Notes that is not there, or was deleted."""
        stretches = batches.spans(self.connection, min(numbers), max(numbers)) if numbers else ()
        self.must_live((number * 4 + NOTE for number in batches.outside(numbers, stretches)), id_of)

    def expect(self, identifier: str, current: int, version: int | None) -> None:
        """Raise Conflict when a resource is not at the version that the change was made for."""
        if version is not None and version != current:
            raise Conflict(
                f"{identifier} is at version {current}, not {version}",
                hint="read it again; or leave `if_version` out to write all the same",
            )

    def rediscover(self, keys: Iterable[int]) -> None:
        """Bring in line with discovery: what came into it waits to be embedded, what left loses its passages."""
        strayed = self.connection.all(_STRAYED, (keys_json(keys),))
        if not strayed:
            return
        stamp = self.stamp()
        self.connection.execute_many(
            "UPDATE resources SET found = ?, generation = ? WHERE key = ?",
            [(1 - value, stamp, key) for key, value in strayed],
        )
        self.wait_for_embedding(key >> 2 for key, value in strayed if not value)
        leaving = [(key >> 2,) for key, value in strayed if value]
        if leaving:
            self.reword(number for (number,) in leaving)
            self.connection.execute_many("DELETE FROM passages WHERE note = ?", leaving)
            self.connection.execute_many("DELETE FROM pending WHERE note = ?", leaving)

    def wait_for_embedding(self, numbers: Iterable[int]) -> None:
        """Put Notes among those to be embedded, without the passages of an earlier text."""
        notes = [(number,) for number in numbers]
        if notes:
            self.reword(number for (number,) in notes)
            self.connection.execute_many("DELETE FROM passages WHERE note = ?", notes)
            self.connection.execute_many("INSERT OR IGNORE INTO pending VALUES (?)", notes)

    def reword(self, numbers: Iterable[int]) -> None:
        """Have the full text of Notes written anew at the end, if discovery searches them then."""
        self._reworded.update(number * 4 + NOTE for number in numbers)

    def outline(self, keys: Iterable[int]) -> None:
        """Have what Notes say of themselves read anew at the end, since another file is theirs."""
        self._outlined.update(keys)


def whom(run: int | None, step: str | None, by: str | None) -> str:
    """Return who did something, to go on a sentence; empty when nothing is known."""
    return " by " + ", ".join(part for part in (by, run_of(run), step and f"step {step}") if part) if run or by else ""
