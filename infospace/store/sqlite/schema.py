"""The tables, and how a file of an earlier version becomes one of this.

A resource's key is `number * 4 + kind` (0 Note, 1 Collection, 2 Relation). Columns that may be long stand
last, so that the others are read without them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from infospace.core.errors import StoreError
from infospace.store.sqlite import sums
from infospace.store.sqlite.connection import Connection, connect
from infospace.store.sqlite.journal import audit, queue, schedules, successful_calls, tools
from infospace.store.sqlite.read import batches, fields
from infospace.store.sqlite.read import fulltext as words
from infospace.store.sqlite.write import collection_texts as described
from infospace.store.sqlite.write import link_names, outlines, settle_links

APPLICATION_ID = 0x696E6673
"""`infs`: marks a file as a space (https://sqlite.org/pragma.html#pragma_application_id)."""

COPYING_ID = 0x696E6663
"""`infc`: marks a file that a space is being copied into."""

_FIRST = (
    "CREATE TABLE state (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE counters (kind TEXT PRIMARY KEY, next INTEGER NOT NULL) WITHOUT ROWID",
    # purged: how many earlier versions were removed for good.
    # form: 0 plain, 1 evidence by reference, 2 evidence with content of its own.
    # found: whether discovery searches it. generation: the last one in which discovery was concerned.
    """CREATE TABLE resources (
        key INTEGER PRIMARY KEY, version INTEGER NOT NULL, form INTEGER NOT NULL,
        kept INTEGER NOT NULL, found INTEGER NOT NULL, generation INTEGER, name TEXT,
        created TEXT NOT NULL, updated TEXT NOT NULL, run INTEGER, step TEXT, made_by TEXT,
        deleted TEXT, deleted_run INTEGER, deleted_step TEXT, deleted_by TEXT, purged INTEGER NOT NULL DEFAULT 0,
        hash BLOB, metadata TEXT, content TEXT)""",
    "CREATE UNIQUE INDEX resources_name ON resources (name) WHERE name IS NOT NULL",
    "CREATE INDEX resources_kept ON resources (key & 3) WHERE kept = 1 AND deleted IS NULL",
    "CREATE INDEX resources_found ON resources (key) WHERE found = 1",
    "CREATE INDEX resources_generation ON resources (generation) WHERE generation IS NOT NULL",
    """CREATE TABLE history (
        key INTEGER NOT NULL, version INTEGER NOT NULL, form INTEGER NOT NULL,
        updated TEXT NOT NULL, run INTEGER, step TEXT, made_by TEXT,
        hash BLOB, metadata TEXT, content TEXT, PRIMARY KEY (key, version))""",
    # A member belongs to the versions from `since` on, before `until`. A position is never used again.
    """CREATE TABLE members (
        collection INTEGER NOT NULL, position INTEGER NOT NULL, item INTEGER NOT NULL,
        since INTEGER NOT NULL, until INTEGER, info TEXT, PRIMARY KEY (collection, position)) WITHOUT ROWID""",
    "CREATE INDEX members_item ON members (item) WHERE until IS NULL",
    """CREATE TABLE relations (
        key INTEGER PRIMARY KEY, source INTEGER NOT NULL, target INTEGER NOT NULL, relation TEXT NOT NULL)""",
    "CREATE INDEX relations_source ON relations (source, relation)",
    "CREATE INDEX relations_target ON relations (target, relation)",
    # part: 0 for a whole file, else a row's number.
    """CREATE TABLE files (
        root TEXT NOT NULL, path TEXT NOT NULL, part INTEGER NOT NULL, note INTEGER NOT NULL,
        version INTEGER NOT NULL, digest BLOB NOT NULL, title TEXT, PRIMARY KEY (root, path, part)) WITHOUT ROWID""",
    "CREATE INDEX files_note ON files (note)",
    # Links as written in imported files; `leads` and `relation` are keys, NULL where it leads nowhere yet. While what
    # it leads to has no file it leads nowhere, and the Relation is deleted.
    """CREATE TABLE links (
        note INTEGER NOT NULL, target TEXT NOT NULL, wiki INTEGER NOT NULL, leads INTEGER, relation INTEGER,
        PRIMARY KEY (note, target, wiki)) WITHOUT ROWID""",
    # What runs did that no version shows, so that it can be undone.
    """CREATE TABLE effects (
        sequence INTEGER PRIMARY KEY, run INTEGER NOT NULL, key INTEGER NOT NULL, what TEXT NOT NULL,
        before TEXT NOT NULL, after TEXT NOT NULL)""",
    "CREATE INDEX effects_run ON effects (run)",
    """CREATE TABLE passages (
        note INTEGER NOT NULL, sequence INTEGER NOT NULL, version INTEGER NOT NULL, start INTEGER NOT NULL,
        "end" INTEGER NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (note, sequence)) WITHOUT ROWID""",
    "CREATE TABLE pending (note INTEGER PRIMARY KEY)",
    "CREATE TABLE models (model INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    """CREATE TABLE vectors (
        model INTEGER NOT NULL, digest BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, digest))""",
    """CREATE TABLE queries (
        used INTEGER PRIMARY KEY, model INTEGER NOT NULL, digest BLOB NOT NULL, vector BLOB NOT NULL,
        UNIQUE (model, digest))""",
    """CREATE TABLE runs (
        number INTEGER PRIMARY KEY, kind TEXT NOT NULL, status TEXT NOT NULL, started TEXT NOT NULL, ended TEXT,
        owner TEXT, heartbeat TEXT, result TEXT, reason TEXT, spent TEXT, goal TEXT NOT NULL,
        inputs TEXT NOT NULL, document TEXT NOT NULL, plans TEXT NOT NULL)""",
    """CREATE TABLE steps (
        run INTEGER NOT NULL, sequence INTEGER NOT NULL, position TEXT NOT NULL, attempt INTEGER NOT NULL,
        type TEXT NOT NULL, out TEXT, status TEXT NOT NULL, resource INTEGER, version INTEGER,
        started TEXT NOT NULL, duration_ms REAL NOT NULL, error TEXT, digest BLOB, value TEXT NOT NULL,
        reason TEXT, expect TEXT, extra TEXT, trace TEXT, frames TEXT,
        PRIMARY KEY (run, sequence)) WITHOUT ROWID""",
    """CREATE TABLE uses (
        run INTEGER NOT NULL, sequence INTEGER NOT NULL, resource INTEGER NOT NULL, version INTEGER NOT NULL,
        PRIMARY KEY (run, sequence, resource, version)) WITHOUT ROWID""",
    "CREATE INDEX uses_resource ON uses (resource, version)",
    """CREATE TABLE answers (
        run INTEGER NOT NULL, position TEXT NOT NULL, value TEXT NOT NULL, at TEXT NOT NULL,
        PRIMARY KEY (run, position)) WITHOUT ROWID""",
    # Calls of something outside: a row before the effect, which the answer replaces.
    """CREATE TABLE calls (
        run INTEGER NOT NULL, sequence INTEGER NOT NULL, position TEXT NOT NULL, kind TEXT NOT NULL,
        target TEXT NOT NULL, digest BLOB NOT NULL, status TEXT NOT NULL, started TEXT NOT NULL,
        duration_ms REAL NOT NULL, tokens INTEGER NOT NULL, error TEXT, reason TEXT, answer TEXT,
        PRIMARY KEY (run, sequence)) WITHOUT ROWID""",
    *words.TABLES,
    *described.TABLES,
    # forgotten: the generation of the latest purge, before which `moved` cannot say what went.
    """INSERT INTO state VALUES
        ('generation', 0), ('forgotten', 0), ('model', NULL), ('space', lower(hex(randomblob(16))))""",
    "INSERT INTO counters VALUES ('Note', 1), ('Collection', 1), ('Relation', 1), ('run', 1)",
)


_SECOND = (
    # The run at a step of which this one began.
    "ALTER TABLE runs ADD COLUMN forked INTEGER",
    # The steps of sessions, one after the other as they came.
    """CREATE TABLE lines (
        run INTEGER NOT NULL, number INTEGER NOT NULL, document TEXT NOT NULL, PRIMARY KEY (run, number))
        WITHOUT ROWID""",
    # What may be called without asking; run 0 is the whole space, a NULL digest whatever the tool says of itself.
    """CREATE TABLE approvals (
        run INTEGER NOT NULL, tool TEXT NOT NULL, digest BLOB, at TEXT NOT NULL,
        PRIMARY KEY (run, tool)) WITHOUT ROWID""",
    # What was asked, for whoever looks.
    "ALTER TABLE calls ADD COLUMN request TEXT",
    *tools.TABLES,
)


def _first(connection: Connection) -> None:
    for statement in _FIRST:
        connection.run(statement)


def _second(connection: Connection) -> None:
    """Sessions have lines, tools are kept, approvals are remembered, calls have their question."""
    for statement in _SECOND:
        connection.run(statement)


def _third(connection: Connection) -> None:
    """Calls through doors are audited."""
    connection.run(audit.TABLE)


def _fourth(connection: Connection) -> None:
    """Calls of tools that went well are remembered by what they were given."""
    for statement in successful_calls.TABLES:
        connection.run(statement)


def _fifth(connection: Connection) -> None:
    """A link whose Relation somebody deleted leads where it does by none."""
    connection.run(
        """UPDATE links SET relation = NULL WHERE leads >> 2 IN (SELECT note FROM files WHERE part = 0)
        AND relation NOT IN (SELECT key FROM resources WHERE deleted IS NULL)"""
    )


def _sixth(connection: Connection) -> None:
    """Nothing waits in a run that has ended."""
    connection.run(
        """UPDATE steps SET status = 'failed', value = '', reason = 'the step was broken off', error = 'cancelled',
            extra = iif(json_valid(extra), json_remove(extra, '$.pending'), extra)
        WHERE status IN ('started', 'suspended')
        AND run IN (SELECT number FROM runs WHERE status NOT IN ('running', 'suspended'))"""
    )


def _seventh(connection: Connection) -> None:
    """A run keeps which tools may be known of in it, NULL for all."""
    connection.run("ALTER TABLE runs ADD COLUMN scope TEXT")


def _eighth(connection: Connection) -> None:
    """Rows have sums. A later migration that changes rows which have one fills them anew."""
    connection.run(sums.TABLE)
    sums.fill(connection)


def _ninth(connection: Connection) -> None:
    """Notes are read for their items and links; files have times, aliases, and lines before their text.

    What the text says is read here. Of files imported before, times and aliases come with the next import: what read
    them is `reader`, 0 for what came before there was one.
    """
    for column in ("created TEXT", "modified TEXT", "aliases TEXT", "lines INTEGER NOT NULL DEFAULT 0"):
        connection.run(f"ALTER TABLE files ADD COLUMN {column}")
    connection.run("ALTER TABLE files ADD COLUMN reader INTEGER NOT NULL DEFAULT 0")
    connection.run(f"ALTER TABLE files ADD COLUMN folder TEXT AS ({FOLDER}) VIRTUAL")
    connection.run("CREATE INDEX files_folder ON files (folder)")
    for statement in outlines.TABLES:
        connection.run(statement)
    outlines.fill(connection)


FOLDER = "rtrim(rtrim(path, replace(path, '/', '')), '/')"
"""The folder of a file under its root, as SQL: what is left of the path without what follows the last slash."""


def _tenth(connection: Connection) -> None:
    """Notes that a step made many of at once have one row for some hundred; so have members, and what steps read."""
    for statement in batches.TABLES:
        connection.run(statement)


def _eleventh(connection: Connection) -> None:
    """A number is a title, too. The next migration makes the full text anew."""
    numbers = "json_type(metadata, '$.title') IN ('integer', 'real')"
    keys = [key for (key,) in connection.all(f"SELECT key FROM resources WHERE found = 1 AND {numbers}")]  # noqa: S608
    outlines.index(connection, keys)


def _twelfth(connection: Connection) -> None:
    """Titles of files, aliases and properties are searched by words; titles and the like have vectors of their own."""
    connection.run("DROP TABLE words")
    for statement in words.TABLES:
        connection.run(statement)
    words.fill(connection)
    stamp = connection.value("SELECT value FROM state WHERE key = 'generation'") + 1
    notes = [(number,) for number in fields.changed_of_all(connection)]
    if notes:
        connection.execute_many("DELETE FROM passages WHERE note = ?", notes)
        connection.execute_many("INSERT OR IGNORE INTO pending VALUES (?)", notes)
        connection.execute_many(
            "UPDATE resources SET generation = ? WHERE key = ? * 4", [(stamp, number) for (number,) in notes]
        )
        connection.run("UPDATE state SET value = ? WHERE key = 'generation'", (stamp,))


def _thirteenth(connection: Connection) -> None:
    """Links to one target with several labels are several, each with a Relation of its own.

    Those of before have the label of their Relation, else the first that the text says; the next import of a file
    that says others brings these.
    """
    connection.run(
        """CREATE TABLE labelled (
            note INTEGER NOT NULL, target TEXT NOT NULL, wiki INTEGER NOT NULL, label TEXT NOT NULL, leads INTEGER,
            relation INTEGER, PRIMARY KEY (note, target, wiki, label)) WITHOUT ROWID"""
    )
    connection.run(
        """INSERT INTO labelled SELECT note, target, wiki, coalesce(
            (SELECT r.relation FROM relations r WHERE r.key = links.relation),
            (SELECT m.relation FROM mentions m WHERE m.note = links.note AND m.target = links.target
                AND m.wiki = links.wiki ORDER BY sequence LIMIT 1), 'links-to'), leads, relation FROM links"""
    )
    connection.run("DROP TABLE links")
    connection.run("ALTER TABLE labelled RENAME TO links")
    connection.run(outlines.LINKS_LEAD)


def _fourteenth(connection: Connection) -> None:
    """Runs wait for workers in queues; those that rest until a time do so from their next rest on."""
    for statement in queue.TABLES:
        connection.run(statement)


def _fifteenth(connection: Connection) -> None:
    """Links of Notes that no import brought lead where they say; those of before once their Note is written anew."""
    for statement in (*link_names.TABLES, *settle_links.TABLES):
        connection.run(statement)
    link_names.fill(connection)


def _sixteenth(connection: Connection) -> None:
    """Saved plans are run at times."""
    for statement in schedules.TABLES:
        connection.run(statement)


def _seventeenth(connection: Connection) -> None:
    """It is counted how often a run in a queue lost its owner."""
    for statement in queue.COUNTED:
        connection.run(statement)


def _eighteenth(connection: Connection) -> None:
    """A database that has pgvector compares the vectors of passages itself."""
    if connection.vector_rows is not None:
        connection.vector_rows.make()


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (
    _first,
    _second,
    _third,
    _fourth,
    _fifth,
    _sixth,
    _seventh,
    _eighth,
    _ninth,
    _tenth,
    _eleventh,
    _twelfth,
    _thirteenth,
    _fourteenth,
    _fifteenth,
    _sixteenth,
    _seventeenth,
    _eighteenth,
)
"""Each brings a file from the version of its index to the next one."""

VERSION = len(MIGRATIONS)
"""The version of the tables that this infospace writes, kept as `user_version`."""


def marks(connection: Connection) -> tuple[int, int, int]:
    """Return a database's application id, user version, and number of tables, indexes and the like.

    One statement, and so one state of the file: another process may be making the tables.
    """
    row = connection.fetch_one(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)"
        " FROM pragma_application_id, pragma_user_version"
    )
    return row or (0, 0, 0)


def is_empty(connection: Connection) -> bool:
    """Whether a database has nothing in it, as a file that was just made. Raises StoreError when it is not ours."""
    application, version, things = marks(connection)
    if application == APPLICATION_ID:
        if version > VERSION:
            raise newer(connection.address, version)
        return False
    if application or version or things:
        raise foreign(connection.address)
    return True


def migrate(connection: Connection) -> None:
    """Bring a database to this version, in one transaction. Raises StoreError when it is not ours."""
    is_empty(connection)
    if connection.value("PRAGMA user_version") == VERSION:
        return
    connection.run("BEGIN IMMEDIATE")
    try:
        if is_empty(connection) and connection.dialect == "sqlite":
            _fill(connection)
        else:
            for step in MIGRATIONS[connection.value("PRAGMA user_version") :]:
                step(connection)
        connection.run(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.run(f"PRAGMA user_version = {VERSION}")
        connection.run("COMMIT")
    except BaseException:
        connection.rollback()
        raise


_FILLED: set[tuple[Callable[[Connection], None], ...]] = set()
"""The migrations that this process has made a space by."""


def _fill(connection: Connection) -> None:
    """Make all there is in a new space: by the migrations, and where that was done before by what comes of them.

    A process that makes many spaces has each in a third of the time. One that makes a single space, as most do, does
    not make another one in memory to learn what comes of the migrations.
    """
    if MIGRATIONS not in _FILLED:
        for step in MIGRATIONS:
            step(connection)
        _FILLED.add(MIGRATIONS)
        return
    for statement in _made_by(MIGRATIONS):
        connection.run(statement)
    connection.run("UPDATE state SET value = lower(hex(randomblob(16))) WHERE key = 'space'")


@cache
def _made_by(migrations: tuple[Callable[[Connection], None], ...]) -> tuple[str, ...]:
    """Return statements that make what an empty space has after those migrations: its tables, and their first rows.

    The tables in which FTS5 keeps its index are made by it.
    """
    own = connect("file::memory:", ":memory:", wait=0)
    try:
        for step in migrations:
            step(own)
        kinds: dict[str, str] = dict(own.all("SELECT name, type FROM pragma_table_list WHERE schema = 'main'"))
        results = [
            statement
            for table, statement in own.all("SELECT tbl_name, sql FROM sqlite_master WHERE sql NOTNULL ORDER BY rowid")
            if kinds[table] != "shadow"
        ]
        for table in sorted(name for name, kind in kinds.items() if kind == "table" and name != "sqlite_schema"):
            columns = [name for (name,) in own.all("SELECT name FROM pragma_table_info(?)", (table,))]
            values = " || ', ' || ".join(f'quote("{column}")' for column in columns)
            rows = own.all(f"SELECT {values} FROM {table}")  # noqa: S608 - names of our own
            results += [f"INSERT INTO {table} VALUES ({row})" for (row,) in rows]  # noqa: S608 - quoted by SQLite
        return tuple(results)
    finally:
        own.close()


def schema_differences(connection: Connection) -> list[str]:
    """Say what a space has beside its own tables, indexes and triggers, and which of those it lacks."""
    expected = _expected_objects(MIGRATIONS)
    results = _schema_objects(connection)
    extra = [
        f"the file has the {kind} {name!r}, which infospace did not make" for kind, name in sorted(results - expected)
    ]
    return extra + [f"the file lacks the {kind} {name!r}" for kind, name in sorted(expected - results)]


@cache
def _expected_objects(_migrations: tuple[Callable[[Connection], None], ...]) -> frozenset[tuple[str, str]]:
    """Return what a space has after those migrations: made once, since that takes most of the time of a check."""
    own = connect("file::memory:", ":memory:", wait=0)
    try:
        migrate(own)
        return _schema_objects(own)
    finally:
        own.close()


def _schema_objects(connection: Connection) -> frozenset[tuple[str, str]]:
    return frozenset(connection.all("SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite@_%' ESCAPE '@'"))


def foreign(address: str) -> StoreError:
    """Say that a database belongs to another program."""
    return StoreError(
        f"{address!r} is a database of another program, and was left as it is",
        hint="name a file that infospace made, or one that does not exist yet",
    )


def unfinished(address: str) -> StoreError:
    """Say that a copy of a space is not whole."""
    return StoreError(
        f"{address!r} is a copy that is not whole: `infospace copy` was cut off, or is at work",
        hint="the same `infospace copy` again takes it up where it ended",
    )


def newer(address: str, version: int) -> StoreError:
    """Say that a space was written by a later infospace."""
    return StoreError(
        f"the space {address!r} has version {version}, and this infospace reads up to {VERSION}",
        hint="upgrade infospace",
    )
