"""planner: the plan language, its check, and its one interpreter. The public door: check, run, go on, look back."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner.execute.start import Prepared as Prepared
    from planner.execute.start import Refused as Refused
    from planner.execute.start import check_plan as check_plan
    from planner.execute.start import prepare as prepare
    from planner.execute.start import run as run
    from planner.execute.start import run_sync as run_sync
    from planner.execute.start import stream as stream
    from planner.goals.guards import Limits as Limits
    from planner.goals.resume import resume as resume
    from planner.goals.session import GoalSession as GoalSession
    from planner.goals.session import do as do
    from planner.goals.session import write as write
    from planner.journal.events import Event as Event
    from planner.journal.events import Progressed as Progressed
    from planner.journal.events import RunFinished as RunFinished
    from planner.journal.events import RunStarted as RunStarted
    from planner.journal.events import Spoke as Spoke
    from planner.journal.events import StepFinished as StepFinished
    from planner.journal.events import StepRanAhead as StepRanAhead
    from planner.journal.events import StepStarted as StepStarted
    from planner.journal.result import RunResult as RunResult
    from planner.language.plan import Plan as Plan
    from planner.language.problems import Problem as Problem
    from planner.language.problems import Problems as Problems
    from planner.lifecycle.cancel import cancel as cancel
    from planner.lifecycle.dry_run import dry_run as dry_run
    from planner.lifecycle.fork import fork as fork
    from planner.lifecycle.replay import replay as replay
    from planner.lifecycle.resume import answer as answer
    from planner.sessions.blocking import BlockingSession as BlockingSession
    from planner.sessions.blocking import open_session as open_session

_HOMES = {
    "execute.start": ("Prepared", "Refused", "check_plan", "prepare", "run", "run_sync", "stream"),
    "goals.guards": ("Limits",),
    "goals.resume": ("resume",),
    "goals.session": ("GoalSession", "do", "write"),
    "journal.events": (
        "Event",
        "Progressed",
        "RunFinished",
        "RunStarted",
        "Spoke",
        "StepFinished",
        "StepRanAhead",
        "StepStarted",
    ),
    "journal.result": ("RunResult",),
    "language.plan": ("Plan",),
    "language.problems": ("Problem", "Problems"),
    "lifecycle.cancel": ("cancel",),
    "lifecycle.dry_run": ("dry_run",),
    "lifecycle.fork": ("fork",),
    "lifecycle.replay": ("replay",),
    "lifecycle.resume": ("answer",),
    "sessions.blocking": ("BlockingSession", "open_session"),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [*_MODULES]  # noqa: PLE0604 - the names of _HOMES


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'planner' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"planner.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
