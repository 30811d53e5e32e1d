"""What is kept of a call through a door, by what it answered."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from infospace.core.clock import now
from infospace.core.errors import StoreError
from infospace.data.result import truncate
from infospace.journal.audit import AuditOutcome, AuditRow
from infospace.space import Space

MAX_TARGET_CHARACTERS = 300
"""Characters of a target that are kept."""

_OUTCOMES: Final[Mapping[str, AuditOutcome]] = {
    "success": "success",
    "stopped": "success",
    "suspended": "waiting",
    "waiting": "waiting",
    "approval_required": "waiting",
    "refused": "refused",
    "running": "running",
    "cancelled": "cancelled",
    "connected": "success",
    "disconnected": "success",
    "not_required": "success",
    "expired": "success",
}
"""By status; of a connection each but `error` is an answer to who asked for it."""


def outcome_of(answer: Mapping[str, Any]) -> AuditOutcome:
    """Return what came of a call, by the status in what it answered."""
    return _OUTCOMES.get(str(answer.get("status")), "failed")


def run_of(answer: Mapping[str, Any]) -> str | None:
    """Return the run in an answer of a call of a tool, or of a plan."""
    parts = (answer, answer.get("execution_metadata") or {}, answer.get("approval") or answer.get("waits") or {})
    return next((str(part[key]) for part in parts for key in ("run", "request_id") if part.get(key)), None)


def write_audit(
    space: Space,
    caller: str,
    action: str,
    target: str,
    outcome: AuditOutcome,
    reason: str | None = None,
    run: str | None = None,
) -> None:
    """Write down a call; where that cannot be written, it is as good.

    `reason` is the kind of an error, or a word of ours: a sentence may hold what a tool was called with.
    """
    if space.store.writable:
        with suppress(StoreError):
            space.store.commit(
                [], [AuditRow(now(), caller, action, truncate(target, MAX_TARGET_CHARACTERS), outcome, reason, run)]
            )
