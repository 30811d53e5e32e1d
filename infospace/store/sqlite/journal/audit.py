"""Who did what through a door, and what was refused: rows that are only ever added."""

from __future__ import annotations

from infospace.journal.audit import AuditRow
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.transaction import Transaction

TABLE = """CREATE TABLE audit (
    number INTEGER PRIMARY KEY, at TEXT NOT NULL, caller TEXT NOT NULL, action TEXT NOT NULL, target TEXT NOT NULL,
    outcome TEXT NOT NULL, reason TEXT, run TEXT)"""


def add(work: Transaction, entry: AuditRow) -> None:
    """Write who did what, with the changes of the same commit."""
    work.connection.run(
        "INSERT INTO audit (at, caller, action, target, outcome, reason, run) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (entry.at, entry.caller, entry.action, entry.target, entry.outcome, entry.reason, entry.run),
    )


def rows(connection: Connection, limit: int | None) -> list[AuditRow]:
    """Return the latest rows, latest first."""
    results = connection.all(
        "SELECT at, caller, action, target, outcome, reason, run FROM audit ORDER BY number DESC LIMIT ?",
        (-1 if limit is None else limit,),
    )
    return [AuditRow(*row) for row in results]
