"""What happens in a run, as one stream. Command, screen and server all read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from infospace.core.listener import Speech
from infospace.journal.rows import StepRow
from planner.journal.result import RunResult


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run has its id and its inputs."""

    run: str
    goal: str


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A step begins. `nesting` is how many forms it stands in."""

    position: str
    type: str
    out: str | None
    nesting: int


@dataclass(frozen=True, slots=True)
class StepFinished:
    """A step ended, and its journal row is committed."""

    row: StepRow
    nesting: int


@dataclass(frozen=True, slots=True)
class StepRanAhead:
    """A step ended before its document had arrived whole; nothing of it is journalled yet.

    `StepFinished` follows: the same once the document has passed the check, else that the step was skipped.
    """

    row: StepRow
    nesting: int


@dataclass(frozen=True, slots=True)
class Spoke:
    """A step said something to the user, thought something into the run's context, or has a piece of a draft."""

    kind: Speech
    position: str
    text: str


@dataclass(frozen=True, slots=True)
class Progressed:
    """Long work inside a step has come so far."""

    position: str
    done: int
    total: int
    what: str


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run ended; the last event of the stream."""

    result: RunResult


Event: TypeAlias = RunStarted | StepStarted | StepRanAhead | StepFinished | Spoke | Progressed | RunFinished

Emit: TypeAlias = Callable[[Event], None]
