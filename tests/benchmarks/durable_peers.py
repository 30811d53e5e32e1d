"""Chains of durable steps in another runtime over PostgreSQL: needs nothing of infospace, and runs in its own Python.

Arguments: `dbos`, `langgraph` or `langgraph_async`, and the address of an empty database. For each line on standard
input, a number of steps, it runs one chain (each step takes a number and gives it plus one) and writes how many
seconds it took, and how many seconds of CPU. Every step is kept in the database before the next one begins, but with
`langgraph_async`: there it is kept while the next one runs (`durability="async"`).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any, Literal, TypedDict
from uuid import uuid4


class _Number(TypedDict):
    number: int


def dbos(address: str) -> Callable[[int], int]:
    """Workflows whose steps are recorded."""
    from dbos import DBOS

    DBOS(config={"name": "bench", "system_database_url": address, "run_admin_server": False, "log_level": "ERROR"})

    @DBOS.step()
    def one_more(number: int) -> int:
        return number + 1

    @DBOS.workflow()
    def chain(steps: int) -> int:
        number = 0
        for _ in range(steps):
            number = one_more(number)
        return number

    DBOS.launch()
    return chain


def langgraph(address: str, durability: Literal["sync", "async"] = "sync") -> Callable[[int], int]:
    """A graph with a checkpoint of each step, written before the next one begins."""
    from langgraph.checkpoint.postgres import PostgresSaver
    from langgraph.graph import END, START, StateGraph
    from psycopg import Connection
    from psycopg.rows import dict_row

    saver = PostgresSaver(Connection.connect(address, autocommit=True, prepare_threshold=0, row_factory=dict_row))
    saver.setup()
    known: dict[int, Any] = {}

    def chain(steps: int) -> int:
        if steps not in known:
            graph: Any = StateGraph(_Number)
            names = [f"step {number}" for number in range(steps)]
            for name in names:
                graph.add_node(name, lambda state: {"number": state["number"] + 1})
            for before, after in zip([START, *names], [*names, END], strict=True):
                graph.add_edge(before, after)
            known[steps] = graph.compile(checkpointer=saver)
        settings = {"configurable": {"thread_id": uuid4().hex}, "recursion_limit": steps + 5}
        return int(known[steps].invoke({"number": 0}, settings, durability=durability)["number"])

    return chain


def langgraph_async(address: str) -> Callable[[int], int]:
    """The same graph, each checkpoint of which is written while the next step runs."""
    return langgraph(address, "async")


def main() -> None:
    """Answer each line."""
    chain = {"dbos": dbos, "langgraph": langgraph, "langgraph_async": langgraph_async}[sys.argv[1]](sys.argv[2])
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        started, cpu = time.perf_counter(), time.process_time()
        if chain(int(line)) != int(line):
            raise RuntimeError(line)
        sys.stdout.write(f"{time.perf_counter() - started} {time.process_time() - cpu}\n")
        sys.stdout.flush()
    os._exit(0)  # their threads need not be waited for


if __name__ == "__main__":
    main()
