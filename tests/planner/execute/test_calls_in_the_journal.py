"""What the journal has of a call: that it is under way, and then how it ended."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from chatting import Endpoint, Fail, Hang

from infospace import Space
from infospace.journal.rows import CallRow
from infospace.tools.local import LocalTools
from planner.execute.start import run_sync

sys.path.insert(0, str(Path(__file__).parents[1]))
from timing import Limits

NOTE = {"type": "create-note", "value": "a text", "out": "$n"}
WRITE = {"type": "generate-note", "target": "$n", "prompt": "x"}


@pytest.fixture
def under_way(space: Space) -> list[CallRow]:
    """What the journal has of the calls of `outside` while they are made."""
    seen: list[CallRow] = []
    outside = LocalTools("outside")

    def look() -> None:
        with space.store.reading() as snapshot:
            seen.append(snapshot.calls("run_1")[-1])

    @outside.tool(read_only=True)
    async def echo(text: str) -> str:
        """Say the same again, after a while."""
        look()
        await asyncio.sleep(0.02)
        return text

    @outside.tool(read_only=True)
    async def hang() -> str:
        """Never answer."""
        look()
        await asyncio.Event().wait()
        return ""

    space.tools.add(outside)
    return seen


def calls(space: Space) -> list[CallRow]:
    with space.store.reading() as snapshot:
        return snapshot.calls("run_1")


def outcome(call: CallRow) -> tuple[Any, ...]:
    return call.status, call.answer, call.reason, call.error, call.tokens


def test_a_call_is_journalled_before_and_after_it_is_made(space: Space, under_way: list[CallRow]) -> None:
    """Under way it has taken no time yet; it has begun when it had, and taken what it took."""
    said = {"type": "outside/echo", "arguments": {"text": "hello"}}
    result = run_sync(space, [said, {"type": "if", "condition": "1 = 1", "then": [said]}])
    assert result.status == "success", result.reason
    steps = {row.position: row for row in result.steps}
    for before, after, position in zip(under_way, calls(space), ("1", "2.then.1"), strict=True):
        assert outcome(before) == ("started", None, None, None, 0)
        assert before.duration_ms == 0.0
        assert (after.status, after.reason, after.error, after.tokens) == ("success", None, None, 0)
        assert "hello" in str(after.answer)
        assert 20 <= after.duration_ms <= steps[position].duration_ms
        assert steps[position].started <= after.started == before.started
        for call in (before, after):
            assert (call.run, call.position, call.kind, call.target) == ("run_1", position, "tool", "outside/echo")
            assert call.request == {"text": "hello"}
        assert before.digest == after.digest
    assert [call.sequence for call in under_way] == [call.sequence for call in calls(space)] == [1, 2]


def test_a_call_of_a_tool_that_is_broken_off_stays_under_way(space: Space, under_way: list[CallRow]) -> None:
    """It may have had its effect, and nobody knows."""
    result = run_sync(space, [{"type": "outside/hang", "timeout_s": 0.05}])
    assert (result.status, [call.status for call in under_way]) == ("failed", ["started"])
    assert calls(space) == under_way


def test_a_question_to_a_model_that_is_broken_off_came_to_nothing(
    space: Space, endpoint: Endpoint, limits: Limits
) -> None:
    """By the time of its step, which ran out."""

    def hang(_body: object) -> Hang:
        limits.run_out()
        return Hang()

    endpoint.answers = hang
    result = run_sync(space, [NOTE, {**WRITE, "timeout_s": 0.1}])
    assert result.status == "failed"
    [call] = calls(space)
    assert outcome(call) == ("failed", None, "the call was broken off", "cancelled", 0)
    assert (call.kind, call.position) == ("llm", "2")


def test_a_question_that_a_model_declines_is_journalled_with_why(space: Space, endpoint: Endpoint) -> None:
    """And the kind of that, as the step has it."""
    endpoint.answers = lambda _body: Fail(400, "too smoky")
    result = run_sync(space, [NOTE, WRITE])
    [call] = calls(space)
    assert (call.status, call.answer, call.error, call.tokens) == ("failed", None, "llm-declined", 0)
    assert (call.error, call.reason) == (result.steps[1].error, result.steps[1].reason)
    assert "too smoky" in str(call.reason)
