"""The journal's rows of calls of what is outside: a language model, a tool."""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

from infospace.core.errors import Conflict, NotFound
from infospace.data.json_text import dump
from infospace.journal.rows import CallRow
from infospace.store.sqlite.codec import read, run_number
from infospace.store.sqlite.connection import Connection, Insertion
from infospace.store.sqlite.journal import successful_calls
from infospace.store.sqlite.transaction import Transaction

_COLUMNS = (
    "sequence, position, kind, target, digest, status, started, duration_ms, tokens, error, reason, answer, request"
)

# A call of a run that was never opened, or that belongs to somebody else, inserts nothing.
_INSERT = f"""INSERT OR IGNORE INTO calls (run, {_COLUMNS}) SELECT {", ".join("?" * 14)}
    WHERE EXISTS (SELECT 1 FROM runs WHERE number = ?1 AND (?15 IS NULL OR owner = ?15))"""


_PLACED = _COLUMNS.replace("sequence, ", "")

# What replaces the beginning of the same call as well; the table refuses a row without a run or a position.
_PUT = f"""INSERT INTO calls (run, {_COLUMNS}) VALUES (
        CASE WHEN EXISTS (SELECT 1 FROM runs WHERE number = ?1 AND (owner = ?15 OR ?15 IS NULL)) THEN ?1 END,
        {", ".join(f"?{place}" for place in range(2, 15))})
    ON CONFLICT (run, sequence) DO UPDATE SET ({_PLACED}) = ROW (
        CASE WHEN calls.status = 'started' AND calls.digest = EXCLUDED.digest THEN EXCLUDED.position END,
        {", ".join(f"EXCLUDED.{column}" for column in _PLACED.split(", ")[1:])})"""


def write(work: Transaction, entry: CallRow) -> None:
    """Write a call, or put its end in the place of its beginning."""
    connection, run = work.connection, run_number(entry.run)
    row = (
        run,
        entry.sequence,
        entry.position,
        entry.kind,
        entry.target,
        entry.digest,
        entry.status,
        entry.started,
        entry.duration_ms,
        entry.tokens,
        entry.error,
        entry.reason,
        None if entry.answer is None else dump(entry.answer),
        None if entry.request is None else dump(entry.request),
        work.owner,
    )
    if connection.insert_expected(Insertion(_INSERT, _PUT), row):
        successful_calls.write(connection, run, entry)
        return
    work.still_owns(entry.run, run)
    known = connection.fetch_one(
        "SELECT status, digest FROM calls WHERE run = ? AND sequence = ?", (run, entry.sequence)
    )
    if known is None:
        raise NotFound(f"there is no {entry.run}", hint="`infospace runs` lists the runs of a space")
    if tuple(known) != ("started", entry.digest):
        raise Conflict(
            f"call {entry.sequence} of {entry.run} is another one, or has ended already, with {known[0]}",
            hint="another process may have taken the run over",
        )
    connection.run("DELETE FROM calls WHERE run = ? AND sequence = ?", (run, entry.sequence))
    connection.run(_INSERT, row)
    successful_calls.write(connection, run, entry)


def calls(connection: Connection, identifier: str) -> list[CallRow]:
    """Return a run's calls by sequence; NotFound where there is no such run."""
    number = run_number(identifier)
    if connection.fetch_one("SELECT 1 FROM runs WHERE number = ?", (number,)) is None:
        raise NotFound(f"there is no {identifier}", hint="`infospace runs` lists the runs of a space")
    results = []
    for row in connection.all(f"SELECT {_COLUMNS} FROM calls WHERE run = ? ORDER BY sequence", (number,)):
        sequence, position, kind, target, digest, status, started, duration, tokens, error, reason, *texts = row
        results.append(
            CallRow(
                run=identifier,
                sequence=sequence,
                position=position,
                kind=kind,
                target=target,
                digest=digest,
                status=status,
                started=started,
                duration_ms=duration,
                tokens=tokens,
                answer=None if texts[0] is None else read(texts[0], connection.address),
                request=None if texts[1] is None else read(texts[1], connection.address),
                reason=reason,
                error=error,
            )
        )
    return results
