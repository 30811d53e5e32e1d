"""Calls of tools that went well: what each was given, so far as that is short, and for what.

The rows repeat what the journal has of the same calls, and go with their run.
"""

from __future__ import annotations

from collections.abc import Mapping

from infospace.data.json_text import dump
from infospace.journal.rows import CallRow
from infospace.store.sqlite.codec import read
from infospace.store.sqlite.connection import Connection
from infospace.store.tool_records import SuccessfulCall

TABLES = (
    """CREATE TABLE worked (
        run INTEGER NOT NULL, sequence INTEGER NOT NULL, tool TEXT NOT NULL, arguments TEXT NOT NULL,
        PRIMARY KEY (run, sequence)) WITHOUT ROWID""",
    "CREATE INDEX worked_tool ON worked (tool, arguments)",
    "INSERT INTO state VALUES ('worked', 0)",
)

MAX_ARGUMENT_CHARACTERS = 500
"""Characters of arguments, as JSON, that are remembered; longer ones are content rather than an example."""

MOST_OF_TOOL = 5
"""Calls of one tool that are remembered of a caller, the latest with different arguments."""

# What one caller calls puts out none of another's, who may be shown no other examples than its own.

_AGAIN = """DELETE FROM worked WHERE tool = ?1 AND arguments = ?3 AND (
    SELECT json_extract(scope, '$.caller') FROM runs WHERE number = run) IS (
    SELECT json_extract(scope, '$.caller') FROM runs WHERE number = ?2)"""

_OLDER = """DELETE FROM worked WHERE tool = ?1 AND (run, sequence) IN (
    SELECT run, sequence FROM worked JOIN runs ON number = run
    WHERE tool = ?1 AND json_extract(scope, '$.caller') IS (
        SELECT json_extract(scope, '$.caller') FROM runs WHERE number = ?2)
    ORDER BY run DESC, sequence DESC LIMIT -1 OFFSET ?3)"""

MOVED = "UPDATE state SET value = value + 1 WHERE key = 'worked'"


def write(connection: Connection, run: int, entry: CallRow) -> None:
    """Remember a call, if it is one of a tool, ended well, and what it was given is short; it may be nothing."""
    if entry.kind != "tool" or entry.status != "success" or not isinstance(entry.request, Mapping):
        return
    if isinstance(entry.answer, Mapping) and entry.answer.get("is_error"):
        return
    arguments = dump(entry.request)
    if len(arguments) > MAX_ARGUMENT_CHARACTERS:
        return
    connection.put_off(_AGAIN, [(entry.target, run, arguments)])
    connection.put_off("INSERT INTO worked VALUES (?, ?, ?, ?)", [(run, entry.sequence, entry.target, arguments)])
    connection.put_off(_OLDER, [(entry.target, run, MOST_OF_TOOL)])
    connection.put_off(MOVED, [()])


def generation(connection: Connection) -> int:
    """Return a number that is another one when other calls are remembered."""
    result: int = connection.value("SELECT value FROM state WHERE key = 'worked'")
    return result


def successful_calls(connection: Connection, limit: int) -> list[SuccessfulCall]:
    """Return the calls that are remembered, the latest first."""
    rows = connection.all(
        """SELECT run, tool, arguments, goal FROM worked JOIN runs ON number = run
        ORDER BY run DESC, sequence DESC LIMIT ?""",
        (limit,),
    )
    return [
        SuccessfulCall(f"run_{run}", tool, read(arguments, connection.address), goal)
        for run, tool, arguments, goal in rows
    ]
