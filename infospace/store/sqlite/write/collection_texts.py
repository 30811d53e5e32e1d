"""What Collections are embedded as, and for which of them that is known.

What is kept of a Collection goes, by triggers, as soon as it changes or anything that its titles were read from.
"""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

from collections.abc import Sequence

from infospace.core.resources import text_of
from infospace.store.changes import Describe
from infospace.store.note_fields import text_digest
from infospace.store.protocol import Rows, Text
from infospace.store.sqlite.codec import COLLECTION, EVIDENCE, id_of, key_of, read
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.read.search_results import Reference, results
from infospace.store.sqlite.transaction import Transaction
from infospace.store.sqlite.write.embeddings import MODEL, model_number

_FORGET = "DELETE FROM descriptions WHERE collection IN (SELECT collection FROM described_by WHERE resource = OLD.key);"

TABLES = (
    # One row of sequence 0 without a digest for each Collection, and one for each passage of its text from 1 on.
    """CREATE TABLE descriptions (
        collection INTEGER NOT NULL, sequence INTEGER NOT NULL, model INTEGER NOT NULL, digest BLOB,
        PRIMARY KEY (collection, sequence)) WITHOUT ROWID""",
    """CREATE TABLE described_by (
        resource INTEGER NOT NULL, collection INTEGER NOT NULL, PRIMARY KEY (resource, collection)) WITHOUT ROWID""",
    "CREATE INDEX described_by_collection ON described_by (collection)",
    f"""CREATE TRIGGER resources_changed
        AFTER UPDATE OF version, name, kept, deleted, metadata, content ON resources BEGIN {_FORGET} END""",
    f"CREATE TRIGGER resources_removed AFTER DELETE ON resources BEGIN {_FORGET} END",
)
"""The passages of Collections' texts, and the resources that each text was read from."""

_SEARCHED = f"""(key & 3) = {COLLECTION} AND kept = 1 AND deleted IS NULL
    AND (name IS NULL OR substr(name, 1, 1) <> '_')"""

_WAITING = f"""SELECT key FROM resources WHERE {_SEARCHED} AND (
    NOT EXISTS (SELECT 1 FROM descriptions d WHERE d.collection = key AND sequence = 0 AND d.model = {MODEL})
    OR EXISTS (SELECT 1 FROM descriptions d WHERE d.collection = key AND sequence > 0 AND NOT EXISTS (
        SELECT 1 FROM vectors v WHERE v.model = d.model AND v.digest = d.digest))) ORDER BY key"""

_READ_FROM = f"""INSERT OR IGNORE INTO described_by (resource, collection)
    SELECT ?1, ?1 UNION ALL SELECT item, ?1 FROM members WHERE collection = ?1 AND until IS NULL
    UNION ALL SELECT content ->> 0, ?1 FROM members JOIN resources ON key = item
        WHERE collection = ?1 AND until IS NULL AND form = {EVIDENCE}"""


def count(connection: Connection) -> int:
    """Count the Collections that are searched."""
    result: int = connection.value(f"SELECT count(*) FROM resources WHERE {_SEARCHED}")
    return result


def undescribed(connection: Connection, model: str) -> list[Text]:
    """Return the Collections that have no passages of a model, with what they are to be embedded as."""
    return [_text(connection, key) for (key,) in connection.all(_WAITING, (model,))]


def rows(connection: Connection, model: str) -> Rows:
    """Return the embedded passages of Collections' texts, whose bounds are not kept."""
    import numpy as np

    results = connection.all(
        f"""SELECT collection >> 2, r.version, vector FROM descriptions d JOIN resources r ON r.key = collection
        JOIN vectors v ON v.model = d.model AND v.digest = d.digest
        WHERE d.model = {MODEL} ORDER BY collection, sequence""",
        (model,),
    )
    owners, versions = (np.array([row[at] for row in results], np.int64) for at in (0, 1))
    vectors = np.frombuffer(b"".join(row[2] for row in results), "<f4").reshape(len(results), -1) if results else None
    nowhere = np.zeros(len(results), np.int64)
    return Rows(owners, versions, nowhere, nowhere, np.empty((0, 0), np.float32) if vectors is None else vectors)


def describe(work: Transaction, changes: Sequence[Describe]) -> None:
    """Write the passages of Collections' texts, unless a text is another by now."""
    connection = work.connection
    waiting = {key for model in {change.model for change in changes} for (key,) in connection.all(_WAITING, (model,))}
    for change in changes:
        key = key_of(change.id)
        if key not in waiting or text_digest(_text(connection, key).text) != change.text:
            continue
        number = model_number(connection, change.model)
        connection.run("DELETE FROM descriptions WHERE collection = ?", (key,))
        connection.run("DELETE FROM described_by WHERE collection = ?", (key,))
        digests = enumerate((None, *change.digests))
        connection.execute_many(
            "INSERT INTO descriptions VALUES (?, ?, ?, ?)", [(key, at, number, one) for at, one in digests]
        )
        connection.run(_READ_FROM, (key,))


def _text(connection: Connection, key: int) -> Text:
    """A Collection's name, its metadata, and its items' titles, each on a line."""
    version, name, metadata = connection.all("SELECT version, name, metadata FROM resources WHERE key = ?", (key,))[0]
    (titles,) = results(connection, [Reference(key, version, 0.0, None, None, {})])
    texts = [f"{field}: {text_of(value)}" for field, value in read(metadata, connection.address).items()]
    return Text(id_of(key), version, "\n".join(line for line in (name, *texts, titles["text"]) if line))
