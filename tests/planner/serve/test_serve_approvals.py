"""A planner at the server's door learns which call is asked about, and passes the answer on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from serving import Planner, play

from infospace import Space
from infospace.tools.local import LocalTools


def files(space: Space) -> list[str]:
    """Put a server into the space whose one tool takes something away; the list grows with each call."""
    made: list[str] = []
    server = LocalTools("files")

    @server.tool(destructive=True)
    def delete(path: str) -> str:
        """Delete a file."""
        made.append(path)
        return f"deleted {path}"

    space.tools.add(server)
    return made


DELETE = {"type": "files/delete", "arguments": {"path": "a"}, "out": "$d"}


def test_a_call_is_asked_about_and_answered_over_the_protocol(space: Space) -> None:
    """The question says what may be answered; the run goes on from there."""
    made = files(space)

    async def scene(planner: Planner) -> None:
        asked = await planner.call("run_plan", plan=[DELETE, DELETE])
        assert (asked["status"], made) == ("suspended", [])
        [pending] = asked["pending"]
        assert (pending["step"], pending["kind"]) == ("1", "approve")
        assert pending["schema"]["enum"] == ["once", "run", "always", "no"]
        assert (await planner.call("get_run", run=asked["run"]))["pending"] == [pending]
        assert 'or "no"' in await planner.wrong("answer_run", run=asked["run"], step="1", value="yes")
        second = await planner.call("answer_run", run=asked["run"], step="1", value="once")
        assert ([one["step"] for one in second["pending"]], made) == (["2"], ["a"])
        ended = await planner.call("answer_run", run=asked["run"], step="2", value="no")
        assert (ended["status"], made) == ("failed", ["a"])
        assert "somebody said no" in ended["reason"]

    play(space, scene)


def test_what_was_once_answered_with_always_is_called_in_sessions_too(space: Space) -> None:
    """It is remembered in the space."""
    made = files(space)

    async def scene(planner: Planner) -> Any:
        asked = await planner.call("run_plan", plan=[DELETE])
        await planner.call("answer_run", run=asked["run"], step="1", value="always")
        return await planner.call("run_steps", session="s", steps=[DELETE])

    assert play(space, scene)["status"] == "success"
    assert made == ["a", "a"]
