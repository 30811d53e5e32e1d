"""A run that computes: all pages of a tool, columns, groups, a SELECT, and a loop that ends early."""

from __future__ import annotations

import time
from typing import Any

import pytest
from furnishing import BEGINNING, Ticking

from infospace import Space
from infospace.tools.local import LocalTools
from planner.execute.start import run_sync
from planner.journal.result import RunResult

PAGES = {
    "type": "pages",
    "tool": "shop/list_orders",
    "arguments": {"cursor": "$page"},
    "items": "orders",
    "next": "next",
    "out": "$orders",
}
UNTIL = {
    "type": "for-each",
    "target": "$ranked",
    "as": "$row",
    "do": [{"type": "compute", "expression": "round($row.spent * 1.19, 2)", "out": "$gross"}],
    "collect": "$gross",
    "until": "$gross < 30",
    "out": "$firsts",
}
SQL = "SELECT city, spent, rank() OVER (ORDER BY spent DESC) AS place FROM $by ORDER BY place"
COMPUTED: dict[str, Any] = {
    "goal": "Rank the cities by what they spent",
    "steps": [
        PAGES,
        {"type": "project", "target": "$orders", "fields": {"total": "price * qty"}, "keep": True, "out": "$lines"},
        {
            "type": "group",
            "target": "$lines",
            "by": ["city"],
            "aggregates": {"spent": "round(sum(total), 2)"},
            "out": "$by",
        },
        {"type": "query", "sql": SQL, "out": "$ranked"},
        UNTIL,
    ],
    "result": "$ranked",
}
ORDERS = [("Oslo", 12.5, 2), ("Rome", 4.0, 1), ("Oslo", 3.25, 4), ("Bonn", 10.0, 2), ("Rome", 5.5, 3)]


def shop() -> LocalTools:
    """Return a server whose one tool lists orders, two at a time."""
    server = LocalTools("shop")

    @server.tool(read_only=True)
    async def list_orders(cursor: int = 0) -> dict[str, Any]:
        """List orders, two of them from a cursor on."""
        rows = [{"city": city, "price": price, "qty": qty} for city, price, qty in ORDERS[cursor : cursor + 2]]
        return {"orders": rows, "next": cursor + 2 if cursor + 2 < len(ORDERS) else None}

    return server


def compute(space: Space, monkeypatch: pytest.MonkeyPatch) -> RunResult:
    """Run it, at times that are always the same."""
    space.tools.add(shop())
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", Ticking(BEGINNING, 0.001))
        patched.setattr(time, "perf_counter", Ticking(0.0, 0.0005))
        return run_sync(space, COMPUTED)
