"""Figures of the server as Prometheus reads them: in its units, and what goes on now."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from infospace import Space
from infospace.core.clock import now
from infospace.store.tool_records import RecordCall
from infospace.tools.builtin import SERVER
from planner.server.access import Access
from planner.server.arguments import RunPlan
from planner.server.operations import Operations
from planner.server.protocol.metrics import prometheus_metrics

sys.path.insert(0, str(Path(__file__).parent))
from serving import SLOW


def figures(text: str) -> dict[tuple[str, ...], float]:
    """Return the samples by name and labels."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_calls_of_a_tool_are_counted_and_timed_in_seconds(space: Space) -> None:
    """And of three of which one failed it is said that one did."""
    space.store.commit([RecordCall(SERVER, "sort", now(), 1_500.0, well) for well in (True, False, True)])
    found = figures(prometheus_metrics(space, []))
    names = ("executions_total", "failures_total", "mean_seconds", "p95_seconds")
    assert [found[f"infospace_tool_{name}", SERVER, "sort"] for name in names] == [3, 1, 1.5, 1.5]


def test_the_runs_that_go_on_are_counted_by_who_began_them(space: Space) -> None:
    async def ignore(_ended: int, _text: str) -> None:
        """Nobody listens."""

    async def go() -> tuple[str, str]:
        ann, bob = (Operations(space, Access(name)) for name in ("ann", "bob"))
        await ann.run_plan(RunPlan(plan=[SLOW], wait_s=0), ignore)
        before = prometheus_metrics(space, [ann, bob])
        await ann.close()
        return before, prometheus_metrics(space, [ann, bob])

    before, after = map(figures, asyncio.run(go()))
    for found, count in ((before, 1), (after, 0)):
        runs = {caller: found["infospace_runs_going_on", caller] for caller in ("ann", "bob")}
        assert runs == {"ann": count, "bob": 0}
