"""Runs at a glance: what a list of many shows, without reading their plans."""

from __future__ import annotations

import re
from collections.abc import Sequence

from infospace.data.json_text import dump
from infospace.journal.rows import RunHead, RunStats
from infospace.store.sqlite.codec import read, run_number
from infospace.store.sqlite.connection import Connection, Row

_HEADS = """SELECT number, kind, goal, status, started, ended, reason, owner, heartbeat, spent FROM runs
    ORDER BY number DESC"""

# A plan is a list of steps, or an object with them; a step of the plan itself has a position without any sign.
_TALLIES = """WITH wanted AS (SELECT value AS number FROM json_each(?))
    SELECT runs.number,
        (SELECT count(*) FROM steps WHERE run = runs.number),
        (SELECT count(DISTINCT position) FROM steps
            WHERE run = runs.number AND status IN ('success', 'failed', 'skipped') AND position NOT GLOB '*[[./#]*'),
        CASE WHEN kind = 'session' THEN (SELECT count(*) FROM lines WHERE run = runs.number)
            WHEN json_type(document) = 'array' THEN json_array_length(document)
            ELSE coalesce(json_array_length(document, '$.steps'), json_array_length(document, '$.plan'), 0) END,
        (SELECT count(*) FROM calls WHERE run = runs.number AND calls.kind = 'llm'),
        (SELECT count(*) FROM calls WHERE run = runs.number AND calls.kind = 'tool'),
        (SELECT coalesce(sum(tokens), 0) FROM calls WHERE run = runs.number)
    FROM runs JOIN wanted USING (number)"""

# What was kept as JSON has a text as it is escaped there.
_SAYING = """SELECT number FROM runs
        WHERE goal LIKE ?1 ESCAPE '!' OR reason LIKE ?1 ESCAPE '!' OR document LIKE ?2 ESCAPE '!'
    UNION SELECT run FROM steps WHERE value LIKE ?1 ESCAPE '!' OR reason LIKE ?1 ESCAPE '!'
    UNION SELECT run FROM lines WHERE document LIKE ?2 ESCAPE '!'"""


def run_heads(connection: Connection) -> list[RunHead]:
    """Return all runs, latest first."""
    address = connection.address
    return [_head(row, address) for row in connection.all(_HEADS)]


def _head(row: Row, address: str) -> RunHead:
    number, kind, goal, status, started, ended, reason, owner, heartbeat, spent = row
    spent = read(spent, address)
    return RunHead(f"run_{number}", kind, goal, status, started, ended, reason, owner, heartbeat, spent)


def run_stats(connection: Connection, runs: Sequence[str]) -> dict[str, RunStats]:
    """Return what runs have done; one that is not there is left out."""
    rows = connection.all(_TALLIES, (dump([run_number(run) for run in runs]),))
    return {f"run_{number}": RunStats(*rest) for number, *rest in rows}


def runs_containing(connection: Connection, text: str) -> set[str]:
    """Return the runs that have a text anywhere."""
    patterns = (_pattern(text), _pattern(dump(text)[1:-1]))
    return {f"run_{number}" for (number,) in connection.all(_SAYING, patterns)}


def _pattern(text: str) -> str:
    plain = re.sub("[!%_]", "!\\g<0>", text)
    return f"%{plain}%"
