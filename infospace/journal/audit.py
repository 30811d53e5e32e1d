"""What is kept of calls through a door: who called what, and what came of it. Never what it was called with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

AuditOutcome: TypeAlias = Literal["success", "failed", "refused", "waiting", "running", "cancelled"]


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One call. `caller` is the name of a token, `stdio`, or `command`; `action` the door, `target` what it was for.

    `outcome` is `refused` where nothing was done, `waiting` where somebody has to be asked first. `run` is the run in
    whose journal the rest stands.
    """

    at: str
    caller: str
    action: str
    target: str
    outcome: AuditOutcome
    reason: str | None = None
    run: str | None = None
