"""Figures of the server as Prometheus reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from infospace.space import Space
from planner.metatools.lookup import known_tools, tool_uses
from planner.server.operations import Operations

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
TOOL = ("server", "tool")


def prometheus_metrics(space: Space, doors: Sequence[Operations]) -> str:
    """Return the figures of the tools of a space, and of the calls at some doors, as text."""
    registry = CollectorRegistry()
    registry.register(_Figures(space, doors))
    return generate_latest(registry).decode()


class _Figures(Collector):
    def __init__(self, space: Space, doors: Sequence[Operations]) -> None:
        self._space = space
        self._doors = doors

    def describe(self) -> Iterator[Metric]:
        """Name nothing before it is asked for."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Give all figures as they are now."""
        tools = known_tools(self._space)
        yield self._tool_counts([tool.server for tool in tools])
        known = {(tool.server, tool.name) for tool in tools if tool.kind == "tool"}
        yield from self._used(known)
        yield from self._called()

    def _tool_counts(self, servers: Sequence[str]) -> Metric:
        result = GaugeMetricFamily("infospace_tools", "Tools, prompts and resources that are known.", labels=["server"])
        for server, count in sorted(Counter(servers).items()):
            result.add_metric([server], count)
        return result

    def _used(self, known: set[tuple[str, str]]) -> Iterator[Metric]:
        result = CounterMetricFamily("infospace_tool_executions", "Calls of a tool, ever.", labels=TOOL)
        failed = CounterMetricFamily("infospace_tool_failures", "Calls of a tool that failed.", labels=TOOL)
        mean = GaugeMetricFamily("infospace_tool_mean_seconds", "How long a call of a tool takes.", labels=TOOL)
        p95 = GaugeMetricFamily("infospace_tool_p95_seconds", "The time that 95 of 100 do not exceed.", labels=TOOL)
        for key, use in sorted(tool_uses(self._space).items()):
            if key in known:
                result.add_metric(key, use.execution_count)
                failed.add_metric(key, round(use.execution_count * (1 - use.success_rate)))
                mean.add_metric(key, use.mean_ms / 1000)
                p95.add_metric(key, use.p95_ms / 1000)
        yield from (result, failed, mean, p95)

    def _called(self) -> Iterator[Metric]:
        labels = ("caller", "door", "outcome")
        calls = CounterMetricFamily("infospace_calls", "Calls since the server started.", labels=labels)
        going = GaugeMetricFamily("infospace_runs_going_on", "Runs that go on now.", labels=["caller"])
        for operations in self._doors:
            for (name, outcome), count in sorted(operations.counts.copy().items()):
                calls.add_metric([operations.access.caller, name, outcome], count)
            going.add_metric([operations.access.caller], operations.lives.count())
        yield from (calls, going)
