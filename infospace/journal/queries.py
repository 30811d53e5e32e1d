"""What a snapshot of a space tells of its runs: a part of the protocol of stores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from infospace.core.json_types import JSON
from infospace.journal.audit import AuditRow
from infospace.journal.origin import Origin, Product, Reading
from infospace.journal.queue_rows import QueuedRun
from infospace.journal.rows import Approve, CallRow, RunHead, RunRow, RunStats, StepRow, Use
from infospace.journal.schedule_rows import Schedule


class JournalQueries(Protocol):
    """The journal of runs, and where what they made came from. Lists are ordered as in infospace.store.protocol."""

    def run(self, identifier: str) -> RunRow:
        """Return a run; NotFound when there is none."""

    def runs(self, *, limit: int | None = None, before: int | None = None) -> list[RunRow]:
        """Return runs, latest first, with numbers below `before`."""

    def run_heads(self) -> list[RunHead]:
        """Return all runs, latest first, without reading any plan."""

    def run_stats(self, runs: Sequence[str]) -> dict[str, RunStats]:
        """Return how far runs are, by run; those that are not there are left out."""

    def runs_containing(self, text: str) -> set[str]:
        """Return the runs with a text in their goal, reason or plan, or in a step's value or reason.

        ASCII letters of either case are the same, and others need not be.
        """

    def queued(
        self, due: str | None = None, limit: int | None = None, *, names: Sequence[str] = (), skip: int = 0
    ) -> list[QueuedRun]:
        """Return the runs in queues as workers take them: all, or those due at a time and those that go on.

        With `names` those of these queues only. `limit` and `skip` count what is left then.
        """

    def queue_limits(self) -> dict[str, int]:
        """Return how many runs of a queue may go on at once, of those that have a limit, by name."""

    def schedules(self, due: str | None = None) -> list[Schedule]:
        """Return the schedules by name; or those that are due at a time, the earliest first."""

    def steps(self, run: str) -> list[StepRow]:
        """Return a run's steps in the order of their sequence."""

    def answers(self, run: str) -> dict[str, JSON]:
        """Return what was answered in a run, by what it is kept under; NotFound where there is no such run."""

    def approvals(self, run: str | None = None) -> list[Approve]:
        """Return which tools may be called without asking in the space, and in a run besides, by tool.

        NotFound where there is no such run.
        """

    def audit(self, limit: int | None = None) -> list[AuditRow]:
        """Return what was called through doors, and what was refused there, latest first; all of it, or so many."""

    def calls(self, run: str) -> list[CallRow]:
        """Return a run's calls of what is outside, in the order in which they began."""

    def origins(self, versions: Sequence[Use]) -> list[Origin]:
        """Return where versions of resources came from, in the given order; of deleted ones, and of purged ones too."""

    def readings(self, identifiers: Iterable[str]) -> list[Reading]:
        """Return the steps that read any version of resources, by run and sequence."""

    def citing(self, identifiers: Iterable[str]) -> list[Use]:
        """Return the search results that refer to any version of resources, deleted ones too, by number."""

    def products(self, runs: Iterable[str]) -> list[Product]:
        """Return the versions of resources that runs made, by id and version."""

    def created_by_steps(self) -> list[Use]:
        """Return the kept resources as they are now, by id, that a step made or anybody changed.

        Search results are left out.
        """
