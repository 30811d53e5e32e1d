"""The two graphs in other runtimes, with their defaults. Each is measured where it is installed.

None is a planner's runtime, and each lacks something of what infospace does at a step: LangGraph and DBOS check no
arguments and keep no provenance, Haystack checks how components are wired and keeps nothing at all.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, TypedDict
from uuid import uuid4

from graphs import SECONDS, Graphs, Runtime

LANGGRAPH, LANGGRAPH_ASYNC = "LangGraph, SqliteSaver", "LangGraph, AsyncSqliteSaver"
DBOS_SQLITE = "DBOS, SQLite"
LANGGRAPH_ALONE, HAYSTACK = "LangGraph, no checkpointer", "Haystack"


class _Number(TypedDict):
    number: int


class _Slept(TypedDict):
    begun: bool


def _chained(steps: int, saver: Any) -> Any:
    from langgraph.graph import END, START, StateGraph

    graph: Any = StateGraph(_Number)
    names = [f"step {number}" for number in range(steps)]
    for name in names:
        graph.add_node(name, lambda state: {"number": state["number"] + 1})
    for before, after in pairwise([START, *names, END]):
        graph.add_edge(before, after)
    return graph.compile(checkpointer=saver)


def _fanned(width: int, saver: Any) -> Any:
    from langchain_core.runnables import RunnableLambda
    from langgraph.graph import END, START, StateGraph

    def nap(_state: _Slept) -> dict[str, bool]:
        time.sleep(SECONDS)
        return {}

    async def nap_async(_state: _Slept) -> dict[str, bool]:
        await asyncio.sleep(SECONDS)
        return {}

    graph: Any = StateGraph(_Slept)
    for number in range(width):
        graph.add_node(f"nap {number}", RunnableLambda(nap, nap_async))
        graph.add_edge(START, f"nap {number}")
        graph.add_edge(f"nap {number}", END)
    return graph.compile(checkpointer=saver)


def _settings(steps: int, width: int = 1) -> dict[str, Any]:
    return {"configurable": {"thread_id": uuid4().hex}, "recursion_limit": steps + 5, "max_concurrency": width}


def _langgraph(saver: Any) -> Graphs:
    """Steps that are functions; those side by side have a thread each."""

    def chain(steps: int) -> Callable[[], object]:
        graph = _chained(steps, saver)
        return lambda: graph.invoke({"number": 0}, _settings(steps))["number"]

    def fan(width: int) -> Callable[[], object]:
        graph = _fanned(width, saver)
        return lambda: graph.invoke({"begun": True}, _settings(width, width))

    return Graphs(chain, fan)


@contextmanager
def langgraph_alone(_: Path) -> Iterator[Graphs]:
    """Nothing is kept."""
    yield _langgraph(None)


@contextmanager
def langgraph(folder: Path) -> Iterator[Graphs]:
    """A checkpoint after each step."""
    from langgraph.checkpoint.sqlite import SqliteSaver

    with SqliteSaver.from_conn_string(str(folder / "langgraph.db")) as saver:
        yield _langgraph(saver)


@contextmanager
def langgraph_async(folder: Path) -> Iterator[Graphs]:
    """A checkpoint after each step, all in one event loop."""
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    with asyncio.Runner() as runner:
        opened = AsyncSqliteSaver.from_conn_string(str(folder / "langgraph-async.db"))
        saver = runner.run(opened.__aenter__())

        def chain(steps: int) -> Callable[[], object]:
            graph = _chained(steps, saver)
            return lambda: runner.run(graph.ainvoke({"number": 0}, _settings(steps)))["number"]

        def fan(width: int) -> Callable[[], object]:
            graph = _fanned(width, saver)
            return lambda: runner.run(graph.ainvoke({"begun": True}, _settings(width, width)))

        try:
            yield Graphs(chain, fan)
        finally:
            runner.run(opened.__aexit__(None, None, None))


@contextmanager
def haystack(_: Path) -> Iterator[Graphs]:
    """Components that take and give what they are wired to; nothing is kept."""
    os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
    from haystack import Pipeline, component

    @component
    class OneMore:
        @component.output_types(number=int)
        def run(self, number: int) -> dict[str, int]:
            return {"number": number + 1}

    @component
    class Nap:
        @component.output_types(slept=bool)
        def run(self, begun: bool) -> dict[str, bool]:
            time.sleep(SECONDS)
            return {"slept": begun}

        @component.output_types(slept=bool)
        async def run_async(self, begun: bool) -> dict[str, bool]:
            await asyncio.sleep(SECONDS)
            return {"slept": begun}

    def chain(steps: int) -> Callable[[], object]:
        pipeline = Pipeline()
        for number in range(steps):
            pipeline.add_component(f"s{number}", OneMore())
        for before, after in pairwise(range(steps)):
            pipeline.connect(f"s{before}.number", f"s{after}.number")
        return lambda: pipeline.run({"s0": {"number": 0}})[f"s{steps - 1}"]["number"]

    def fan(width: int) -> Callable[[], object]:
        pipeline = Pipeline()
        for number in range(width):
            pipeline.add_component(f"s{number}", Nap())
        given = {f"s{number}": {"begun": True} for number in range(width)}
        return lambda: asyncio.run(pipeline.run_async(given, concurrency_limit=width))

    yield Graphs(chain, fan)


@contextmanager
def dbos(folder: Path) -> Iterator[Graphs]:
    """Workflows whose steps are kept before the next begins. Its file has no write-ahead log, as SQLite makes it."""
    from dbos import DBOS

    url = f"sqlite:///{folder / 'dbos.db'}"
    DBOS(config={"name": "benchmark", "system_database_url": url, "run_admin_server": False, "log_level": "ERROR"})

    @DBOS.step()
    def one_more(number: int) -> int:
        return number + 1

    @DBOS.workflow()
    def chain(steps: int) -> int:
        number = 0
        for _ in range(steps):
            number = one_more(number)
        return number

    @DBOS.step()
    async def nap() -> None:
        await asyncio.sleep(SECONDS)

    @DBOS.workflow()
    async def fan(width: int) -> None:
        naps: list[Coroutine[Any, Any, None]] = [nap() for _ in range(width)]
        await asyncio.gather(*naps)

    DBOS.launch()
    try:
        yield Graphs(lambda steps: lambda: chain(steps), lambda width: lambda: asyncio.run(fan(width)))
    finally:
        DBOS.destroy(destroy_registry=True)


_LANGGRAPH = ("langgraph", "langgraph.checkpoint.sqlite")
OTHERS = {
    LANGGRAPH: Runtime(True, _LANGGRAPH, langgraph),
    LANGGRAPH_ASYNC: Runtime(True, _LANGGRAPH, langgraph_async),
    DBOS_SQLITE: Runtime(True, ("dbos",), dbos),
    LANGGRAPH_ALONE: Runtime(False, ("langgraph",), langgraph_alone),
    HAYSTACK: Runtime(False, ("haystack",), haystack),
}


def installed(modules: tuple[str, ...]) -> bool:
    """Whether all of them can be imported."""
    try:
        return all(find_spec(module) for module in modules)
    except ModuleNotFoundError:
        return False
