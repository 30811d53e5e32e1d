"""JSON Lines on the command line: each line is run before the next is read, and Ctrl-C is heard between them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from infospace.core.errors import InvalidJSON
from tui.command.common.ctrl_c import final_result, interruptible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from infospace.core.json_types import JSON
    from infospace.space import Space
    from planner.journal.events import Emit
    from planner.journal.result import RunResult
    from planner.parse.text import Document, Lines
    from planner.sessions.jsonl import LineRunner
    from tui.text.output import Output


def play_lines(
    space: Space,
    read: Lines,
    name: str | None,
    inputs: Mapping[str, JSON],
    watch: Emit,
    out: Output,
    approve: Sequence[str] = (),
) -> RunResult:
    """Run lines as a session, the one of a name where it is given; return how it ended."""
    from planner.sessions.jsonl import LineRunner

    script = LineRunner(space, watch, name, inputs, approve)
    with asyncio.Runner() as runner:
        try:
            for _, line in read.lines:
                result = runner.run(_line(script, line, out))
                if result is not None:
                    return result
        except InvalidJSON as error:
            return runner.run(script.unreadable(error))
        except (KeyboardInterrupt, asyncio.CancelledError):
            return runner.run(script.interrupted())
        return runner.run(script.end())


async def _line(script: LineRunner, line: JSON, out: Output) -> RunResult | None:
    with interruptible(out) as halt:
        halt.hold(asyncio.current_task())
        result = await script.line(line, halt)
        if result is None:
            return await script.interrupted() if halt.now else None
        return final_result(result, halt)


async def play_document(
    space: Space,
    read: Document,
    name: str,
    inputs: Mapping[str, JSON],
    watch: Emit,
    out: Output,
    approve: Sequence[str] = (),
) -> RunResult:
    """Check a whole plan, then run its steps in the session of a name."""
    from planner.sessions.session import Session

    with interruptible(out) as halt:
        halt.hold(asyncio.current_task())
        return final_result(
            await Session(space, name, approve=approve).play_plan(read.value, inputs, watch, halt), halt
        )
