"""Tables over MCP: lists of objects go in for an input with `items`, and come out as the result."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from infospace import Space
from planner.server.access import Access
from planner.server.operations import Operations
from planner.server.protocol.mcp_server import make_server

sys.path.insert(0, str(Path(__file__).parent))
from mcp import Client
from serving import text_of

PLAN: dict[str, Any] = {
    "inputs": {
        "rows": {
            "kind": "Collection",
            "items": {
                "type": "object",
                "properties": {"who": {"type": "string"}, "price": {"type": "number"}},
                "required": ["who"],
            },
        }
    },
    "steps": [
        {"type": "query", "sql": "SELECT who, sum(price) AS total FROM $rows GROUP BY who ORDER BY who", "out": "$r"}
    ],
    "result": "$r",
}
ROWS = [{"who": "Ada", "price": 2.5}, {"who": "Bob", "price": None}, {"who": "Ada", "price": 4}]


def answer(space: Space, **arguments: Any) -> Any:
    """Return what `run_plan` answers at the full door."""

    async def go() -> Any:
        door = Operations(space, Access("ann", tools=("full",)))
        try:
            async with Client(make_server(door)) as client:
                told = await client.call_tool("run_plan", {"plan": PLAN, **arguments})
                return json.loads(text_of(told.content[0]))
        finally:
            await door.close()

    return asyncio.run(go())


def test_a_table_goes_in_and_comes_out_as_a_list(space: Space) -> None:
    """Numbers stay numbers, and null is null."""
    rows = [{**row, "price": row["price"] if row["price"] is not None else 0} for row in ROWS]
    told = answer(space, inputs={"rows": rows})
    assert told["status"] == "success", told
    assert told["result"]["data"] == [{"who": "Ada", "total": 6.5}, {"who": "Bob", "total": 0}]


def test_a_row_that_does_not_fit_refuses_the_run(space: Space) -> None:
    """The problem names the row and the column; nothing has run."""
    told = answer(space, inputs={"rows": ROWS})
    assert told["status"] == "refused"
    [problem] = told["problems"]
    assert problem["pointer"] == "/inputs/rows"
    assert "row 2" in problem["message"]
    assert "price" in problem["message"]
    with space.store.reading() as snapshot:
        assert snapshot.runs() == []
