"""Making, revising and deleting: changes of one resource."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from infospace.core.bounds import check_time, timed_if_many
from infospace.core.errors import Invalid, NotFound
from infospace.core.ids import Kind
from infospace.core.json_types import JSON
from infospace.core.resources import NOBODY, CreatedBy
from infospace.data.json_text import dump, dump_plain
from infospace.store.changes import Delete, Evidence, JsonNull, MakeNote, MakeNotes, Revise
from infospace.store.sqlite import packed
from infospace.store.sqlite.codec import (
    COLLECTION,
    EVIDENCE,
    NOTE,
    PLAIN,
    RELATION,
    gone,
    id_of,
    key_of,
    keys_json,
    object_column,
    provenance_columns,
    written,
)
from infospace.store.sqlite.connection import Connection, Insertion
from infospace.store.sqlite.read import batches
from infospace.store.sqlite.transaction import Live, Transaction
from infospace.store.sqlite.write import files
from infospace.store.sqlite.write.batch_rows import give_member_rows, give_rows, leave_holders
from infospace.store.sqlite.write.effects import held, log

MAKE = """INSERT OR IGNORE INTO resources
    (key, version, form, kept, found, generation, created, updated, run, step, made_by, hash, metadata, content)
    VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""

_HEAD = MAKE.partition("VALUES")[0]
_FREE = f"""?1 & 3 <> {NOTE} OR coalesce(
    (SELECT first + count FROM batches WHERE first <= ?1 >> 2 ORDER BY first DESC LIMIT 1), 0) <= ?1 >> 2"""  # noqa: S608
_VALUES = "?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13"
_MAKE_ONE = f"{_HEAD} SELECT ?1, 1, {_VALUES} WHERE {_FREE}"
"""What inserts one row where no batch has its number: the search and the insertion are one statement."""

_MAKE_ONE_HERE = f"{_HEAD} VALUES (?1, iif({_FREE}, 1, NULL), {_VALUES})"
"""The same where IGNORE holds for a missing version, too: SQLite needs no table in between for it."""

_FREE_TYPED = _FREE.replace("?1", "?1::bigint")
_MAKE_EXPECTED = f"{_HEAD.replace('OR IGNORE ', '')} VALUES (?1::bigint, CASE WHEN {_FREE_TYPED} THEN 1 END, {_VALUES})"
"""The same, refused by the table where there is such a row or batch."""

MAX_BATCH_CHARACTERS = 1 << 18
"""Characters of the contents of a batch, where it is of more than one Note: who reads one Note of it reads them all."""

ROWS_PER_INSERT = 5_000
"""Rows that are inserted between two looks at the clock: some hundredths of a second."""

_TO_HISTORY = """INSERT INTO history
    SELECT key, version, form, updated, run, step, made_by, hash, metadata, content FROM resources WHERE key = ?"""


def make_notes(work: Transaction, changes: Sequence[MakeNote]) -> None:
    """Make Notes. Kept ones that are not evidence wait to be embedded."""
    rows = []
    waiting = []
    cited: list[Evidence] = []
    maker, result = NOBODY, provenance_columns(NOBODY)
    for change in timed_if_many(changes):
        key = work.fresh(change.id, Kind.NOTE)
        form, digest, content = written(change.content, evidence=change.evidence)
        searched = change.kept and form == PLAIN
        if searched:
            waiting.append(key >> 2)
        if isinstance(change.content, Evidence):
            cited.append(change.content)
        stamp = work.stamp() if searched else None
        if change.created_by is not maker:
            maker, result = change.created_by, provenance_columns(change.created_by)
        metadata = object_column(change.metadata)
        at = change.at or work.now
        rows.append((key, form, change.kept, searched, stamp, at, at, *result, digest, metadata, content))
    insert(work, rows)
    work.wait_for_embedding(waiting)
    if cited:
        _check_sources(work.connection, cited)


def make_batches(work: Transaction, changes: Sequence[MakeNotes]) -> None:
    """Make batches of Notes. Conflict when one of their ids has been used."""
    connection = work.connection
    for change in changes:
        numbers = range(change.first, change.first + len(change.contents))
        if not numbers:
            continue
        for number in (numbers[0], numbers[-1]):
            work.require_reserved(Kind.NOTE, number)
        keys = (numbers[0] * 4, numbers[-1] * 4)
        taken = connection.value("SELECT min(key) FROM resources WHERE key BETWEEN ? AND ? AND key & 3 = 0", keys)
        known = batches.spans(connection, numbers[0], numbers[-1])
        if taken is not None or known:
            raise work.exists_already(id_of(max(known[0][0], numbers[0]) * 4 if taken is None else taken))
        result = provenance_columns(change.created_by)
        write = dump_plain if change.plain else dump
        for at in range(0, len(numbers), packed.BATCH):
            check_time()
            for first, count, text in _written(change.contents[at : at + packed.BATCH], numbers[at], write):
                connection.run(
                    "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?)", (first, count, *result, work.now, text)
                )


def _written(
    contents: Sequence[JSON], first: int, write: Callable[[list[JSON]], str]
) -> Iterable[tuple[int, int, str]]:
    """Write contents as one list, or as several where that is too long: first number, how many, the list."""
    text = write(list(contents))
    if len(text) <= MAX_BATCH_CHARACTERS or len(contents) == 1:
        yield first, len(contents), text
        return
    half = len(contents) // 2
    yield from _written(contents[:half], first, write)
    yield from _written(contents[half:], first + half, write)


def insert(work: Transaction, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows of `MAKE`; Conflict when one of their keys has been used."""
    connection = work.connection
    if len(rows) == 1:
        make = _MAKE_ONE_HERE if connection.dialect == "sqlite" else _MAKE_ONE
        if not connection.insert_expected(Insertion(make, _MAKE_EXPECTED), rows[0]):
            raise work.exists_already(id_of(rows[0][0]))
        return
    numbers = [row[0] >> 2 for row in rows if row[0] & 3 == NOTE]
    stretches = batches.spans(connection, min(numbers), max(numbers)) if numbers else ()
    if stretches and len(free := batches.outside(numbers, stretches)) < len(numbers):
        raise work.exists_already(id_of(min(set(numbers).difference(free)) * 4))
    counts = Counter(row[0] for row in rows)
    taken = connection.value(
        "SELECT min(key) FROM resources WHERE key IN (SELECT value FROM json_each(?))", (keys_json(counts),)
    )
    if taken is None and len(counts) < len(rows):
        taken = counts.most_common(1)[0][0]
    if taken is not None:
        raise work.exists_already(id_of(taken))
    for first in range(0, len(rows), ROWS_PER_INSERT):
        connection.execute_many(MAKE, rows[first : first + ROWS_PER_INSERT])
        check_time()


def _check_sources(connection: Connection, cited: Sequence[Evidence]) -> None:
    """Raise NotFound for evidence of what does not exist, Invalid for evidence of evidence."""
    # A search result refers to rows alone.
    give_rows(connection, [key >> 2 for one in cited if (key := key_of(one.source)) & 3 == NOTE])
    expected = dict.fromkeys((evidence.source, evidence.version) for evidence in cited)
    keys = {source: key_of(source) for source, _ in expected}
    known = {
        key: (version, form)
        for key, version, form in connection.all(
            "SELECT key, version, form FROM resources WHERE key IN (SELECT value FROM json_each(?))",
            (keys_json(keys.values()),),
        )
    }
    for source, version in expected:
        key = keys[source]
        current, form = known.get(key, (0, None))
        if version != current:
            form = connection.value("SELECT form FROM history WHERE key = ? AND version = ?", (key, version))
        if not current:
            raise gone(source)
        if form is None:
            raise NotFound(f"{source} has no version {version} to be found", hint=f"its latest is {current}")
        if form == EVIDENCE:
            raise Invalid(f"{source} is a search result itself", hint="refer to the source that it stands for")


def revise(work: Transaction, changes: Sequence[Revise]) -> None:
    """Make new versions of Notes and Collections."""
    for change in changes:
        live = work.live(change.id)
        work.expect(change.id, live.version, change.if_version)
        if change.content is not None and live.key & 3 == COLLECTION:
            raise Invalid(
                f"{change.id} is a Collection, which has no content", hint="revise its metadata, or its members"
            )
        if change.content is not None and live.key & 3 == RELATION:
            raise Invalid(f"{change.id} is a Relation, whose ends and label stay", hint="delete it, and make another")
        if (change.content, change.metadata, change.members) != (None, None, None):
            _revise(work, change, live)


def _revise(work: Transaction, change: Revise, live: Live) -> None:
    connection = work.connection
    row = connection.fetch_one("SELECT form, hash, content, metadata FROM resources WHERE key = ?", (live.key,))
    form, digest, text, metadata = before = row or (live.form, None, None, None)
    if change.content is not None:
        form, digest, text = written(None if isinstance(change.content, JsonNull) else change.content)
    if change.metadata is not None:
        metadata = object_column(change.metadata)
    advance(work, live.key, change.created_by)
    connection.run(
        "UPDATE resources SET form = ?, hash = ?, content = ?, metadata = ? WHERE key = ?",
        (form, digest, text, metadata, live.key),
    )
    if not live.found:
        work.rediscover([live.key])
        return
    connection.run("UPDATE resources SET generation = ? WHERE key = ?", (work.stamp(), live.key))
    if text != before[2]:
        work.wait_for_embedding([live.key >> 2])
    else:
        work.reword([live.key >> 2])
        connection.run("UPDATE passages SET version = ? WHERE note = ?", (live.version + 1, live.key >> 2))


def advance(work: Transaction, key: int, created_by: CreatedBy) -> None:
    """Put the current version into the history, and begin the next one as it was."""
    work.connection.run(_TO_HISTORY, (key,))
    work.connection.run(
        "UPDATE resources SET version = version + 1, updated = ?, run = ?, step = ?, made_by = ? WHERE key = ?",
        (work.now, *provenance_columns(created_by), key),
    )


def delete(work: Transaction, changes: Sequence[Delete]) -> None:
    """Leave tombstones of resources, and of the Relations that end there; Collections go on without them."""
    connection, together = work.connection, {change.id for change in changes}
    for change in changes:
        live = work.live(change.id)
        work.expect(change.id, live.version, change.if_version)
        if change.unless_held:
            held(connection, change.id, together)
        doomed = _with_relations(connection, live.key)
        if live.key & 3 == RELATION and not together.intersection(_ends(connection, live.key)):
            files.lose_relations(work, [live.key])
        leave_holders(connection, doomed)
        give_member_rows(connection, [key for key in doomed if key & 3 == COLLECTION])
        _leave_collections(work, doomed, change.created_by)
        files.forget_notes(work, doomed)
        names = "SELECT key, name FROM resources WHERE name IS NOT NULL AND key IN (SELECT value FROM json_each(?))"
        log(work, ((key, "name", name, None) for key, name in connection.all(names, (keys_json(doomed),))))
        log(work, ((key, "alive", True, False) for key in sorted(doomed)))
        connection.run(
            """UPDATE resources SET deleted = ?, deleted_run = ?, deleted_step = ?, deleted_by = ?, name = NULL
            WHERE key IN (SELECT value FROM json_each(?))""",
            (work.now, *provenance_columns(change.created_by), keys_json(doomed)),
        )
        work.rediscover(doomed)


def _ends(connection: Connection, relation: int) -> set[str]:
    return set(
        map(id_of, connection.fetch_one("SELECT source, target FROM relations WHERE key = ?", (relation,)) or ())
    )


def _leave_collections(work: Transaction, doomed: set[int], created_by: CreatedBy) -> None:
    """Make a new version, without the doomed, of each living Collection that has them."""
    rows = work.connection.all(
        """SELECT collection, resources.version, position FROM members JOIN resources ON resources.key = collection
        WHERE until IS NULL AND deleted IS NULL AND item IN (SELECT value FROM json_each(?))""",
        (keys_json(doomed),),
    )
    for collection in {collection for collection, _, _ in rows} - doomed:
        advance(work, collection, created_by)
    work.connection.execute_many(
        "UPDATE members SET until = ? WHERE collection = ? AND position = ?",
        [(version + 1, collection, position) for collection, version, position in rows if collection not in doomed],
    )


def _with_relations(connection: Connection, key: int) -> set[int]:
    """The key, with those of the living Relations that end there, that end at those, and so on."""
    doomed = {key}
    frontier = doomed
    while frontier:
        ends = keys_json(frontier)
        rows = connection.all(
            """SELECT key FROM resources JOIN relations USING (key) WHERE deleted IS NULL AND
            (source IN (SELECT value FROM json_each(?)) OR target IN (SELECT value FROM json_each(?)))""",
            (ends, ends),
        )
        frontier = {value for (value,) in rows} - doomed
        doomed |= frontier
    return doomed
