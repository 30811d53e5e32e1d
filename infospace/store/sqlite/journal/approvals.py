"""Which tools may be called without asking: in the whole space, or in one run."""

from __future__ import annotations

from infospace.core.errors import NotFound
from infospace.journal.rows import Approve, Disapprove
from infospace.store.sqlite.codec import run_number, run_of
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.transaction import Transaction

SPACE = 0
"""Stands where a run's number would for what holds in every run."""


def approve(work: Transaction, entry: Approve) -> None:
    """Write an approval in the place of an earlier one. Raises NotFound for an unknown run."""
    work.connection.run(
        "INSERT OR REPLACE INTO approvals (run, tool, digest, at) VALUES (?, ?, ?, ?)",
        (_run_key(work.connection, entry.run), entry.tool, entry.digest, entry.at),
    )


def disapprove(work: Transaction, entry: Disapprove) -> None:
    """Remove an approval. Raises NotFound where there is none, or no such run."""
    number = _run_key(work.connection, entry.run)
    if not work.connection.run("DELETE FROM approvals WHERE run = ? AND tool = ?", (number, entry.tool)):
        where = "" if entry.run is None else f" in {entry.run}"
        raise NotFound(f"{entry.tool} is not approved{where}", hint="it is asked about as it is")


def approvals(connection: Connection, run: str | None) -> list[Approve]:
    """Return what is approved in the space, and in a run besides, by tool. Raises NotFound for an unknown run."""
    numbers = (SPACE, _run_key(connection, run))
    rows = connection.all("SELECT run, tool, digest, at FROM approvals WHERE run IN (?, ?) ORDER BY tool, run", numbers)
    return [Approve(tool, digest, at, None if number == SPACE else run_of(number)) for number, tool, digest, at in rows]


def _run_key(connection: Connection, run: str | None) -> int:
    if run is None:
        return SPACE
    number = run_number(run)
    if connection.fetch_one("SELECT 1 FROM runs WHERE number = ?", (number,)) is None:
        raise NotFound(f"there is no {run}", hint="`infospace runs` lists the runs of a space")
    return number
