"""What must hold in a space, and whether it does."""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

import re
from collections.abc import Iterator

from infospace.core import names
from infospace.core.errors import Invalid, StoreError
from infospace.store.sqlite import schema, sums
from infospace.store.sqlite.codec import EVIDENCE, FOUND, digest_of, id_of, keys_json, read
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.read import batches
from infospace.store.sqlite.read.search_results import text_of_column
from infospace.store.sqlite.write import outlines
from infospace.store.sqlite.write.nesting import loops

MAX_MESSAGES = 20
"""How many sentences one rule gives; a further one says how many more there are."""

_IN_BATCH = """((item & 3) = 0 AND coalesce((SELECT first + count FROM batches
    WHERE first <= item >> 2 ORDER BY first DESC LIMIT 1), 0) > item >> 2)"""

_ROW_RULES: tuple[tuple[str, str], ...] = (
    (
        "is a member of {} and does not exist",
        f"SELECT item, collection FROM members LEFT JOIN resources ON key = item WHERE key IS NULL AND NOT {_IN_BATCH}",
    ),
    (
        "has members and is not a Collection that exists",
        """SELECT DISTINCT collection FROM members LEFT JOIN resources ON key = collection
        WHERE key IS NULL OR (key & 3) <> 1""",
    ),
    (
        "has a member of versions that it never had",
        """SELECT DISTINCT collection FROM members JOIN resources ON key = collection
        WHERE since < 1 OR since > version OR until <= since OR until > version""",
    ),
    (
        "is a Relation without ends",
        "SELECT x.key FROM resources x LEFT JOIN relations r USING (key) WHERE (x.key & 3) = 2 AND r.key IS NULL",
    ),
    (
        "has ends and does not exist",
        "SELECT r.key FROM relations r LEFT JOIN resources x USING (key) WHERE x.key IS NULL",
    ),
    (
        "is a Relation with an end that does not exist or was deleted",
        """SELECT r.key FROM relations r JOIN resources x USING (key)
        LEFT JOIN resources s ON s.key = r.source LEFT JOIN resources t ON t.key = r.target
        WHERE x.deleted IS NULL
        AND (s.key IS NULL OR t.key IS NULL OR s.deleted IS NOT NULL OR t.deleted IS NOT NULL)""",
    ),
    ("is wrongly marked as searched, or as not searched", f"SELECT key FROM resources WHERE found <> {FOUND}"),
    (
        "has passages and is not searched",
        "SELECT DISTINCT note * 4 FROM passages LEFT JOIN resources ON key = note * 4 WHERE found IS NOT 1",
    ),
    (
        "waits to be embedded and is not searched",
        "SELECT note * 4 FROM pending LEFT JOIN resources ON key = note * 4 WHERE found IS NOT 1",
    ),
    (
        "is in the full text and is not searched",
        "SELECT id * 4 FROM words_docsize LEFT JOIN resources ON key = id * 4 WHERE found IS NOT 1",
    ),
    (
        "is searched and not in the full text",
        "SELECT key FROM resources LEFT JOIN words_docsize ON id = key >> 2 WHERE found = 1 AND id IS NULL",
    ),
    ("waits to be embedded and has passages", "SELECT note * 4 FROM pending WHERE note IN (SELECT note FROM passages)"),
    (
        "has passages of another version",
        "SELECT DISTINCT key FROM passages p JOIN resources r ON r.key = p.note * 4 WHERE p.version <> r.version",
    ),
    (
        "has passages with a gap between them",
        "SELECT note * 4 FROM passages GROUP BY note HAVING max(sequence) <> count(*) - 1 OR min(sequence) <> 0",
    ),
    (
        "has a passage without a vector of the present model",
        """SELECT DISTINCT note * 4 FROM passages WHERE (SELECT value FROM state WHERE key = 'model') IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM vectors v JOIN models m USING (model) WHERE v.digest = passages.digest
            AND m.name = (SELECT value FROM state WHERE key = 'model'))""",
    ),
    (
        "is found by a vector of another length than the others",
        """WITH own AS (SELECT digest, length(vector) AS size FROM vectors JOIN models USING (model)
            WHERE name = (SELECT value FROM state WHERE key = 'model'))
        SELECT DISTINCT note * 4 FROM passages
        WHERE digest IN (SELECT digest FROM own WHERE size <> (SELECT max(size) FROM own))""",
    ),
    (
        "has a history that does not lead up to its version",
        """SELECT r.key FROM resources r LEFT JOIN history h USING (key) GROUP BY r.key
        HAVING count(h.version) + r.purged <> r.version - 1 OR min(h.version) < 1 OR max(h.version) >= r.version""",
    ),
    (
        "has a history and does not exist",
        "SELECT DISTINCT key FROM history WHERE key NOT IN (SELECT key FROM resources)",
    ),
    (
        "is in a batch and has a row of its own",
        """SELECT key FROM batches JOIN resources ON key BETWEEN first * 4 AND (first + count - 1) * 4
        WHERE (key & 3) = 0""",
    ),
    (
        "is in two batches",
        "SELECT b.first * 4 FROM batches a JOIN batches b ON b.first > a.first AND b.first < a.first + a.count",
    ),
    (
        "has packed members and is not a transient Collection",
        """SELECT DISTINCT collection FROM packed_members LEFT JOIN resources ON key = collection
        WHERE key IS NULL OR (key & 3) <> 1 OR (kept = 1 AND deleted IS NULL)""",
    ),
    (
        "has packed members and others",
        "SELECT DISTINCT collection FROM packed_members JOIN members USING (collection)",
    ),
    (
        "lacks some of its packed members",
        """SELECT DISTINCT collection FROM packed_members m WHERE position <> (
            SELECT coalesce(sum(count), 0) FROM packed_members e
            WHERE e.collection = m.collection AND e.position < m.position)""",
    ),
    ("was deleted and still has a name", "SELECT key FROM resources WHERE deleted IS NOT NULL AND name IS NOT NULL"),
    ("has a name and is not kept", "SELECT key FROM resources WHERE name IS NOT NULL AND kept = 0"),
    (
        "was changed in a generation that is yet to come",
        "SELECT key FROM resources WHERE generation > (SELECT value FROM state WHERE key = 'generation')",
    ),
    (
        "is in the kept {} and is not kept",
        """SELECT item, collection FROM members JOIN resources i ON i.key = item JOIN resources c ON c.key = collection
        WHERE until IS NULL AND c.kept = 1 AND c.deleted IS NULL AND i.kept = 0 AND i.deleted IS NULL""",
    ),
    (
        "is an end of the kept {} and is not kept",
        """SELECT e.key, x.key FROM relations r JOIN resources x USING (key)
        JOIN resources e ON e.key IN (r.source, r.target)
        WHERE x.kept = 1 AND x.deleted IS NULL AND e.kept = 0""",
    ),
    (
        "is remembered as a file and does not exist",
        "SELECT note * 4 FROM files WHERE note * 4 NOT IN (SELECT key FROM resources)",
    ),
    (
        "is remembered as a file and was deleted",
        "SELECT DISTINCT note * 4 FROM files JOIN resources ON key = note * 4 WHERE deleted IS NOT NULL",
    ),
    (
        "links to {} by {}, which was deleted",
        """SELECT l.note * 4, leads, relation FROM links l LEFT JOIN resources ON key = relation
        WHERE relation IS NOT NULL AND (key IS NULL OR deleted IS NOT NULL)
        AND l.note IN (SELECT note FROM files) AND leads >> 2 IN (SELECT note FROM files)""",
    ),
    (
        "links to {}, which is not found",
        "SELECT note * 4, leads FROM settled_links WHERE leads NOT IN (SELECT note * 4 FROM outlines)",
    ),
    (
        "is the same file as {}",
        """SELECT max(note) * 4, min(note) * 4 FROM files JOIN resources ON key = note * 4
        WHERE kept = 1 AND deleted IS NULL
        GROUP BY rtrim(root, '/') || '/' || path, part HAVING count(DISTINCT note) > 1""",
    ),
)

_RUN_RULES: tuple[tuple[str, str], ...] = (
    ("has steps and was never opened", "SELECT DISTINCT run FROM steps WHERE run NOT IN (SELECT number FROM runs)"),
    ("has lines and was never opened", "SELECT DISTINCT run FROM lines WHERE run NOT IN (SELECT number FROM runs)"),
    ("has answers and was never opened", "SELECT DISTINCT run FROM answers WHERE run NOT IN (SELECT number FROM runs)"),
    (
        "has approvals and was never opened",
        "SELECT DISTINCT run FROM approvals WHERE run <> 0 AND run NOT IN (SELECT number FROM runs)",
    ),
    (
        "waits in a queue, and is not there or has ended",
        """SELECT run FROM queue WHERE run NOT IN (
            SELECT number FROM runs WHERE status IN ('running', 'suspended'))""",
    ),
    ("has calls and was never opened", "SELECT DISTINCT run FROM calls WHERE run NOT IN (SELECT number FROM runs)"),
    (
        "is remembered for a call that it did not make",
        "SELECT DISTINCT run FROM worked WHERE (run, sequence) NOT IN (SELECT run, sequence FROM calls)",
    ),
    (
        "has a step that used something and does not exist",
        """SELECT DISTINCT run FROM uses u
        WHERE NOT EXISTS (SELECT 1 FROM steps s WHERE s.run = u.run AND s.sequence = u.sequence)
        UNION SELECT DISTINCT run FROM packed_uses u
        WHERE NOT EXISTS (SELECT 1 FROM steps s WHERE s.run = u.run AND s.sequence = u.sequence)""",
    ),
)

_COUNTERS = """SELECT kind, next, most FROM counters JOIN (
    SELECT 'Note' AS kind, max(coalesce((SELECT max(key) >> 2 FROM resources WHERE (key & 3) = 0), 0),
        coalesce((SELECT max(first + count - 1) FROM batches), 0)) AS most
    UNION ALL SELECT 'Collection', max(key) >> 2 FROM resources WHERE (key & 3) = 1
    UNION ALL SELECT 'Relation', max(key) >> 2 FROM resources WHERE (key & 3) = 2
    UNION ALL SELECT 'run', max(number) FROM runs) USING (kind) WHERE most >= next"""


def problems(connection: Connection, *, counters: bool) -> list[str]:
    """Return what does not hold, a sentence each. `counters`: whether ids are counted in the file."""
    results: list[str] = []
    try:
        results.extend(_damage(connection))
        for rule in (
            _rows,
            loops,
            _runs,
            _names,
            _notes,
            _history,
            _outlines,
            _compared,
            _evidence,
            _together,
            *((_counters,) if counters else ()),
        ):
            results.extend(_first_messages(rule(connection)))
        if connection.dialect == "sqlite":
            results.extend(schema.schema_differences(connection))
        if counters and connection.dialect == "sqlite":
            named_ids = set(re.findall(r"\w+_[0-9]+", " ".join(results)))
            results.extend(
                _first_messages(
                    message for message in sums.changed(connection) if message.partition(" ")[0] not in named_ids
                )
            )
    except StoreError as error:
        results.append(str(error))
    except (TypeError, ValueError, LookupError) as error:
        results.append(f"the file is damaged: a value in it is of the wrong type ({error})")
    return results


def _first_messages(sentences: Iterator[str]) -> list[str]:
    every = list(sentences)
    return (
        every
        if len(every) <= MAX_MESSAGES
        else [*every[:MAX_MESSAGES], f"and {len(every) - MAX_MESSAGES} more like the last"]
    )


def _damage(connection: Connection) -> Iterator[str]:
    for (message,) in connection.all("PRAGMA integrity_check(10)"):
        if message != "ok":
            yield f"the file is damaged: {message}"


def _rows(connection: Connection) -> Iterator[str]:
    for message, sql in _ROW_RULES:
        yield from (f"{id_of(key)} {message.format(*map(id_of, others))}" for key, *others in connection.all(sql))


def _runs(connection: Connection) -> Iterator[str]:
    for message, sql in _RUN_RULES:
        yield from (f"run_{number} {message}" for (number,) in connection.all(sql))


def _counters(connection: Connection) -> Iterator[str]:
    for kind, following, most in connection.all(_COUNTERS):
        yield f"the next {kind} would be {kind}_{following}, and {kind}_{most} exists"


def _names(connection: Connection) -> Iterator[str]:
    for key, name in connection.all("SELECT key, name FROM resources WHERE name IS NOT NULL"):
        try:
            right = names.validate_name(name)
        except Invalid as error:
            yield f"{id_of(key)} has a name that is none: {error}"
        else:
            if right != name:
                yield f"{id_of(key)} has the name {name!r}, which is not in NFC"


def _notes(connection: Connection) -> Iterator[str]:
    """Content that is JSON and has its hash; text that waits to be embedded, or has been."""
    sql = """SELECT key, form, hash, content, metadata, found AND note IS NULL AND NOT EXISTS (
            SELECT 1 FROM passages WHERE passages.note = key >> 2)
        FROM resources LEFT JOIN pending ON note * 4 = key WHERE (key & 3) = 0 AND key > ? ORDER BY key LIMIT 500"""
    last = 0
    while rows := connection.all(sql, (last,)):
        for key, form, digest, content, metadata, bare in rows:
            try:
                read(metadata, connection.address)
                text = text_of_column(content, connection.address)[0]
                same = form == EVIDENCE or digest_of(content) == digest
            except (StoreError, ValueError, TypeError):
                yield f"{id_of(key)} holds a value that is not JSON"
                continue
            if not same:
                yield f"{id_of(key)} has content that its hash does not fit"
            if bare and any(character.isalnum() for character in text):
                yield f"{id_of(key)} is searched, and has neither passages nor waits to be embedded"
        last = rows[-1][0]


def _history(connection: Connection) -> Iterator[str]:
    """Earlier content that has its hash."""
    for rows in connection.batches("SELECT key, version, hash, content FROM history WHERE hash IS NOT NULL"):
        for key, version, digest, content in rows:
            try:
                same = digest_of(content) == digest
            except (ValueError, TypeError):
                same = False
            if not same:
                yield f"{id_of(key)} has content of version {version} that its hash does not fit"


def _outlines(connection: Connection) -> Iterator[str]:
    for number in outlines.strayed(connection):
        yield f"Note_{number} has words, items or links listed that are not those of its text"


def _compared(connection: Connection) -> Iterator[str]:
    if connection.vector_rows is not None:
        for number, message in connection.vector_rows.differences(lambda _done, _total: None):
            yield f"Note_{number} {message}"


def _evidence(connection: Connection) -> Iterator[str]:
    sql = f"""SELECT e.key, e.source, e.version FROM (
            SELECT key, content ->> 0 AS source, content ->> 1 AS version FROM resources WHERE form = {EVIDENCE}) e
        LEFT JOIN resources r ON r.key = e.source AND r.version = e.version
        LEFT JOIN history h ON h.key = e.source AND h.version = e.version WHERE r.key IS NULL AND h.key IS NULL"""
    for key, source, version in connection.all(sql):
        yield f"{id_of(key)} refers to version {version} of {id_of(source)}, which does not exist"


def _together(connection: Connection) -> Iterator[str]:
    """Batches with as many contents as they say; packed numbers that can be read, of Notes that are there."""
    for rows in connection.batches("SELECT first, count, contents FROM batches ORDER BY first"):
        for first, count, contents in rows:
            try:
                batches.contents_of(contents, count, connection.address)
            except StoreError:
                yield f"{id_of(first * 4)} begins a batch whose contents are not the {count} that it says"
    for owner, table, what in (
        ("collection", "packed_members", "has packed members that cannot be read, or are not there"),
        ("run", "packed_uses", "has a step whose packed uses cannot be read"),
    ):
        for rows in connection.batches(f"SELECT {owner}, numbers, count, least, most FROM {table}"):
            for key, packed, count, least, most in rows:
                if not _readable(connection, packed, count, least, most, live=table == "packed_members"):
                    yield f"{id_of(key) if owner == 'collection' else f'run_{key}'} {what}"


def _readable(connection: Connection, packed: bytes, count: int, least: int, most: int, *, live: bool) -> bool:
    """Whether packed numbers are as they are described, and those of Notes that live where they have to be."""
    try:
        numbers = batches.numbers_of(packed, count, connection.address)
    except (StoreError, TypeError):
        return False
    if not numbers or min(numbers) != least or max(numbers) != most:
        return False
    if not live:
        return True
    keys = {number * 4 for number in batches.outside(numbers, batches.spans(connection, least, most))}
    there = "SELECT count(*) FROM resources WHERE deleted IS NULL AND key IN (SELECT value FROM json_each(?))"
    result: int = connection.value(there, (keys_json(keys),))
    return result == len(keys)
