"""Which runs are to be removed: by name, age, number or status."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from infospace.core.errors import Invalid
from infospace.journal.rows import FINISHED, RunKind, RunRow

if TYPE_CHECKING:
    from infospace.store.protocol import Snapshot

KINDS: tuple[RunKind, ...] = ("plan", "session")
"""Runs that are removed. Imports and edits are short, and say what can be undone."""

_AGE = re.compile(r"([0-9]{1,6})([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True, slots=True)
class PruneFilter:
    """Runs that have ended, of plans and sessions, for which all of this holds.

    `older` is an age since their end, `beyond` leaves out so many of the latest that have ended, `statuses` are
    those to be taken (none: all), `runs` names them (none: all).
    """

    runs: Sequence[str] = ()
    older: timedelta | None = None
    beyond: int | None = None
    statuses: Collection[str] = field(default_factory=frozenset)


def read_age(text: str) -> timedelta:
    """Return an age: `36h`, `30d`, `8w`; Invalid for anything else."""
    match = _AGE.fullmatch(text)
    if match is None or int(match[1]) > 100_000:
        raise Invalid(f"{text!r:.40} is not an age", hint="a number of hours, days or weeks: 36h, 30d, 8w")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


def select(snapshot: Snapshot, which: PruneFilter) -> list[str]:
    """Return the runs, latest first.

    Raises NotFound for a named run that is not there, Invalid for one that is no plan's or session's.
    """
    for name in which.runs:
        row = snapshot.run(name)
        if row.kind not in KINDS:
            message = f"{name} is an {row.kind}, which stays in the journal"
            raise Invalid(message, hint="only the runs of plans and sessions are removed")
    ended = [row for row in snapshot.runs() if row.kind in KINDS and row.status in FINISHED]
    rows = [row for row in ended[which.beyond or 0 :] if _fits(row, which)]
    chosen = [row.run for row in rows]
    return [*chosen, *(name for name in dict.fromkeys(which.runs) if name not in {row.run for row in ended})]


def _fits(row: RunRow, which: PruneFilter) -> bool:
    if which.runs and row.run not in which.runs:
        return False
    if which.statuses and row.status not in which.statuses:
        return False
    if which.older is None:
        return True
    return datetime.fromisoformat(row.ended or row.started) < datetime.now(UTC) - which.older
