"""A session that begins where another one failed: it takes over what was done, and goes on by its own lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from infospace.core.clock import now
from infospace.core.position import top_label
from infospace.journal.rows import AddLines, CloseRun, Entry, OpenRun, OwnerGuard
from infospace.store.protocol import Snapshot
from planner.journal.lease import new_owner, seconds_spent
from planner.sessions.lines import plan_of_session
from planner.sessions.session_run import SETTLED


def fork_entries(snapshot: Snapshot, run: str, label: str, fork: str) -> list[Entry]:
    """Return what opens `fork`, a session at rest that has the lines of a session before the one called `label`.

    Their results are bound at the versions that they gave. What was allowed in the session is allowed in the fork, and
    the seconds that it took are spent there too.
    """
    row, rows = snapshot.run(run), snapshot.steps(run)
    document: Mapping[str, Any] = row.document if isinstance(row.document, dict) else {}
    labels = [step.label for step in plan_of_session(row).steps]
    count = labels.index(label)
    before = set(labels[:count])
    kept = [one for one in rows if top_label(one.position) in before and one.status != "suspended"]
    at, owner = now(), new_owner()
    goal = f"{document.get('goal', row.goal)} (fork of {run})".strip()
    head = {key: value for key, value in document.items() if key != "steps"}
    spent = {"seconds": seconds_spent(row, rows), SETTLED: count}
    return [
        OwnerGuard(fork, owner),
        OpenRun(fork, "session", goal, head, row.inputs, at, owner, row.plans, run, row.scope),
        AddLines(fork, list(document.get("steps", ()))[:count], scope=row.scope),
        *(replace(approval, run=fork) for approval in snapshot.approvals(run) if approval.run == run),
        *(replace(one, run=fork, extra={**one.extra, "forked": run}) for one in kept),
        CloseRun(fork, "suspended", at, spent=spent),
    ]
