"""What is outside of a generated plan: tools that fail or take too long, and a person who answers what is asked."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from itertools import islice
from typing import Any
from unittest.mock import patch

from pydantic import BaseModel

from infospace import InfospaceError, Space
from infospace.schema.validate import first_violation
from infospace.tools.local import LocalTools
from planner.execute.run import Run
from planner.execute.start import Prepared
from planner.journal.result import RunResult
from planner.journal.suspension import Pending
from planner.language.plan import Plan
from planner.lifecycle.resume import answer, resume

Begin = Callable[..., Run]


class Row(BaseModel, extra="forbid"):
    """What is listed page by page."""

    n: int
    name: str


class Listed(BaseModel, extra="forbid"):
    """A page of what is listed."""

    rows: list[Row]
    following: str | None


def odd() -> LocalTools:
    """Return a server of tools that do not do what one hopes; each does so every time that a plan is run."""
    server = LocalTools("odd")
    called: Counter[str] = Counter()

    @server.tool(read_only=True)
    def refuse(why: str) -> str:
        """Fail."""
        raise InfospaceError(f"refused: {why}")

    @server.tool(read_only=True)
    def at_last(key: str, calls: int = 2) -> int:
        """Fail, until it is called with this key for so many times."""
        called[key] += 1
        if called[key] < calls:
            raise InfospaceError(f"not yet: {called[key]}")
        return called[key]

    @server.tool(read_only=True)
    def listed(cursor: str = "") -> Listed:
        """List three pages, each of which says where the next one is, but the last."""
        if cursor and not cursor.isdecimal():
            raise InfospaceError(f"refused: {cursor}")
        number = int(cursor or 1)
        rows = [Row(n=number, name=f"row {number}.{one}") for one in (1, 2)]
        return Listed(rows=rows, following=str(number + 1) if number < 3 else None)

    @server.tool(read_only=True)
    def numbered(page: int) -> str:
        """List the numbers of the first three pages, as text."""
        return str([page] if page <= 3 else [])

    @server.tool(read_only=True)
    async def sleep() -> bool:
        """Take longer than anybody waits."""
        await asyncio.sleep(3_600)
        return True

    return server


ANSWERS: tuple[Any, ...] = (["any", "answer"], 2, "an answer", True, {"name": "Bo", "n": 1}, None, [], {}, 0, "", 1.5)


def answers_to(asked: Pending) -> list[Any]:
    """Return what is answered, the same each time: one call of four is not allowed. Nothing where nothing fits."""
    if asked.kind == "approve":
        return ["once" if sum(map(ord, asked.step)) % 4 else "no"]
    fitting = (value for value in ANSWERS if asked.schema is None or first_violation(value, asked.schema) is None)
    return list(islice(fitting, 1 if asked.kind == "ask" else 0))


async def to_the_end(space: Space, prepared: Prepared, begin: Begin = Run) -> RunResult:
    """Run a plan, and answer what it asks, until it ends or only waits for what does not come."""

    def going_on(space: Space, plan: Plan, emit: Any) -> Run:
        return begin(space, plan, emit)

    with patch("planner.lifecycle.resume.Run", going_on):
        result = await begin(space, prepared.plan, lambda _event: None, prepared.warnings).run(prepared.bound)
        while answered := [(one.step, value) for one in result.pending for value in answers_to(one)]:
            assert result.run is not None
            for step, value in answered:
                answer(space, result.run, step, value)
            result = await resume(space, result.run)
    return result
