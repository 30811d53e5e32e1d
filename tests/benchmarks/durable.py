"""A chain of steps in other runtimes that keep a journal in SQLite. Each is measured where it is installed."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, TypedDict
from uuid import uuid4

STEPS = 100
LANGGRAPH, DBOS_SQLITE = "LangGraph, SqliteSaver", "DBOS, SQLite"


class _State(TypedDict):
    count: Annotated[int, operator.add]


@contextmanager
def langgraph(folder: Path) -> Iterator[Callable[[int], object]]:
    """Give what runs a graph of STEPS nodes in sequence, with a checkpoint after each."""
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, START, StateGraph

    graph: Any = StateGraph(_State)
    names = [f"step {number}" for number in range(STEPS)]
    for name in names:
        graph.add_node(name, lambda _state: {"count": 1})
    for before, after in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(before, after)
    with SqliteSaver.from_conn_string(str(folder / "langgraph.db")) as saver:
        compiled = graph.compile(checkpointer=saver)

        def call(_: int) -> object:
            settings = {"configurable": {"thread_id": uuid4().hex}, "recursion_limit": STEPS + 5}
            return compiled.invoke({"count": 0}, settings)

        yield call


@contextmanager
def dbos(folder: Path) -> Iterator[Callable[[int], object]]:
    """Give what runs a workflow of STEPS steps, each kept before the next begins."""
    from dbos import DBOS

    url = f"sqlite:///{folder / 'dbos.db'}"
    DBOS(config={"name": "benchmark", "system_database_url": url, "run_admin_server": False, "log_level": "ERROR"})

    @DBOS.step()
    def step(number: int) -> int:
        return number + 1

    @DBOS.workflow()
    def workflow() -> int:
        number = 0
        for _ in range(STEPS):
            number = step(number)
        return number

    DBOS.launch()
    try:
        yield lambda _: workflow()
    finally:
        DBOS.destroy()


RUNTIMES = {
    LANGGRAPH: (("langgraph", "langgraph.checkpoint.sqlite"), langgraph),
    DBOS_SQLITE: (("dbos",), dbos),
}
"""What each needs, and what sets it up."""


def installed(modules: tuple[str, ...]) -> bool:
    """Whether all of them can be imported."""
    try:
        return all(find_spec(module) for module in modules)
    except ModuleNotFoundError:
        return False
