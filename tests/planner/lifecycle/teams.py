"""A space for several worker processes, in a file or in a database."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from infospace import Space
from infospace.core.json_types import JSON
from infospace.journal.queue_rows import DEFAULT_QUEUE
from planner.execute.start import Prepared, enqueue, prepare

WORKER = Path(__file__).parent / "queue_worker.py"


@dataclass(frozen=True)
class Team:
    """A space for several processes, and the file in which calls are written down."""

    address: str
    space: Space
    ledger: Path

    def enqueue(self, *steps: JSON, priority: int = 0, queue: str = DEFAULT_QUEUE) -> str:
        """Let a plan wait for a worker; return its run."""
        prepared = prepare(self.space, {"steps": list(steps)})
        assert isinstance(prepared, Prepared), prepared
        return enqueue(self.space, prepared, queue=queue, priority=priority, approve=["outside/send"])

    def start(self, mode: str = "") -> subprocess.Popen[str]:
        """Start a worker, which ends when nothing is due."""
        return subprocess.Popen(
            [sys.executable, str(WORKER), self.address, str(self.ledger), mode], stdout=subprocess.PIPE, text=True
        )

    def work(self, mode: str = "") -> int:
        """Let a worker work to its end; return its exit code."""
        with self.start(mode) as worker:
            worker.communicate(timeout=120)
        return worker.returncode

    def status(self, run: str) -> str:
        """Return how a run stands."""
        with self.space.store.reading() as snapshot:
            return snapshot.run(run).status

    def queued(self) -> list[str]:
        """Return the runs in queues."""
        with self.space.store.reading() as snapshot:
            return [one.run for one in snapshot.queued()]

    def calls(self) -> list[str]:
        """Return what was called outside."""
        return self.ledger.read_text().split() if self.ledger.exists() else []
