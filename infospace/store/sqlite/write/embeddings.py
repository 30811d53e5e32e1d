"""What discovery rests on: passages, vectors, the model."""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from infospace.core.errors import Invalid, StoreError
from infospace.data.json_text import dump
from infospace.store.changes import Derived, Embed, PassageSpan, Query, Vectors
from infospace.store.note_fields import field_at
from infospace.store.protocol import Chosen
from infospace.store.sqlite.codec import key_of, read
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.read.fields import fields, spans_of
from infospace.store.sqlite.transaction import Transaction

QUERIES_KEPT = 10_000
"""How many queries' vectors are remembered, the latest: 15 MB of 384 dimensions."""

MODEL = "(SELECT model FROM models WHERE name = ?)"

DERIVED = "derived:"
"""What a key of `state` begins with that holds the token of a derived file."""

CHOSEN = "chosen"
"""The key of `state` that holds the choice of an embedding model, if one was made."""

_HAS_VECTOR = f"SELECT 1 FROM vectors WHERE model = {MODEL} AND digest = ?"


def embed(work: Transaction, changes: Sequence[Embed]) -> None:
    """Write the passages of Notes.

    A Note that has changed since, left discovery, got another title, or lacks a vector of the space's present model,
    goes on waiting: another process was faster.
    """
    connection = work.connection
    model = connection.value("SELECT value FROM state WHERE key = 'model'")
    embedded: list[int] = []
    for change in changes:
        live = work.live(change.id) if _exists(connection, change.id) else None
        if live is None or not live.found or live.version != change.version:
            continue
        if model is not None and _lacking(connection, model, change.stretches):
            continue
        number = live.key >> 2
        stored_spans = [
            (passage_span.start, passage_span.end, passage_span.digest)
            for passage_span in change.stretches
            if passage_span.start < 0
        ]
        if stored_spans != spans_of(fields(connection, [number])[number]):
            continue
        connection.run("DELETE FROM passages WHERE note = ?", (number,))
        connection.execute_many(
            'INSERT INTO passages (note, sequence, version, start, "end", digest) VALUES (?, ?, ?, ?, ?, ?)',
            [
                (number, at, change.version, *_bounds(stretch), stretch.digest)
                for at, stretch in enumerate(change.stretches)
            ],
        )
        connection.run("DELETE FROM pending WHERE note = ?", (number,))
        connection.run("UPDATE resources SET generation = ? WHERE key = ?", (work.stamp(), live.key))
        embedded.append(number)
    if connection.vector_rows is not None:
        connection.vector_rows.put(sorted(set(embedded)))


def _exists(connection: Connection, identifier: str) -> bool:
    """Whether a resource was not deleted meanwhile; an id that never was is left to be complained of."""
    deleted = "SELECT 1 FROM resources WHERE key = ? AND deleted IS NOT NULL"
    return connection.fetch_one(deleted, (key_of(identifier),)) is None


def _bounds(stretch: PassageSpan) -> tuple[int, int]:
    if not 0 <= stretch.start <= stretch.end and field_at(stretch.start) is None:
        raise Invalid(
            f"a passage from {stretch.start} to {stretch.end} is none", hint="0-based characters, end excluded"
        )
    return stretch.start, stretch.end


def _lacking(connection: Connection, model: str, stretches: Iterable[PassageSpan]) -> bool:
    return any(connection.fetch_one(_HAS_VECTOR, (model, stretch.digest)) is None for stretch in stretches)


def store_vectors(work: Transaction, changes: Sequence[Vectors]) -> None:
    """Write vectors by digest; one that is there stays."""
    import numpy as np

    connection = work.connection
    for change in changes:
        rows = np.ascontiguousarray(change.rows, "<f4")
        if rows.ndim != 2 or len(rows) != len(change.digests):
            raise Invalid(f"{len(change.digests)} digests do not go with vectors of shape {rows.shape}")
        if not len(rows):
            continue
        if not np.isfinite(rows).all():
            raise Invalid("a vector holds NaN or an infinity", hint="embed the text again")
        number = model_number(connection, change.model)
        wide = connection.value("SELECT length(vector) FROM vectors WHERE model = ? LIMIT 1", (number,))
        if wide is not None and wide != rows.shape[1] * 4:
            raise Invalid(f"a vector of {change.model!r} has {wide // 4} dimensions, not {rows.shape[1]}")
        connection.execute_many(
            "INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)",
            ((number, digest, row.tobytes()) for digest, row in zip(change.digests, rows, strict=True)),
        )


def remember_queries(work: Transaction, changes: Sequence[Query]) -> None:
    """Remember the vectors of queries, and forget those of the oldest."""
    import numpy as np

    connection = work.connection
    for change in changes:
        row = np.ascontiguousarray(change.row, "<f4")
        if row.ndim != 1 or not np.isfinite(row).all():
            raise Invalid(f"a query's vector of shape {row.shape} does not fit", hint="finite numbers, one row")
        connection.run(
            "INSERT OR REPLACE INTO queries (model, digest, vector) VALUES (?, ?, ?)",
            (model_number(connection, change.model), change.digest, row.tobytes()),
        )
    connection.run("DELETE FROM queries WHERE used <= (SELECT max(used) FROM queries) - ?", (QUERIES_KEPT,))


def note_derived(work: Transaction, changes: Sequence[Derived]) -> None:
    """Remember the latest file of each name that was made from the space."""
    rows = [(f"{DERIVED}{change.name}", change.token) for change in changes]
    work.connection.execute_many("INSERT OR REPLACE INTO state VALUES (?, ?)", rows)


def model_number(connection: Connection, model: str) -> int:
    """Return the number that a model has in the space, new if need be."""
    connection.run("INSERT OR IGNORE INTO models (name) VALUES (?)", (model,))
    number: int = connection.value("SELECT model FROM models WHERE name = ?", (model,))
    return number


def chosen(connection: Connection) -> Chosen | None:
    """Return the model that the space was told to use; StoreError when what is kept of it is damaged."""
    text = connection.value(f"SELECT value FROM state WHERE key = '{CHOSEN}'")
    if text is None:
        return None
    try:
        return Chosen(**read(text, connection.address))
    except TypeError as error:
        raise StoreError(
            f"the space {connection.address!r} is damaged: what it keeps of its embedding model is not readable",
            hint="`infospace model use` keeps another choice",
        ) from error


def choose(connection: Connection, choice: Chosen | None) -> None:
    """Keep the choice of a model; None is the default one."""
    connection.run(f"DELETE FROM state WHERE key = '{CHOSEN}'")
    if choice is not None:
        connection.run(f"INSERT INTO state VALUES ('{CHOSEN}', ?)", (dump(asdict(choice)),))


def use_model(work: Transaction, model: str) -> None:
    """Make all that discovery searches wait to be embedded with a model, unless it is the present one."""
    connection = work.connection
    if connection.value("SELECT value FROM state WHERE key = 'model'") == model:
        return
    connection.run("UPDATE state SET value = ? WHERE key = 'model'", (model,))
    connection.run("DELETE FROM passages")
    connection.run("INSERT OR IGNORE INTO pending SELECT key >> 2 FROM resources WHERE found = 1")
    connection.run("UPDATE resources SET generation = ? WHERE found = 1", (work.stamp(),))
