"""`say`: to the user."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from infospace import Space
from planner.execute.start import Prepared, prepare, stream
from planner.journal.events import Spoke


def spoken(space: Space, *steps: dict[str, Any]) -> list[Spoke]:
    """What is said while steps run."""

    async def listen() -> list[Spoke]:
        prepared = prepare(space, {"steps": list(steps)})
        assert isinstance(prepared, Prepared)
        return [event async for event in stream(space, prepared) if isinstance(event, Spoke)]

    return asyncio.run(listen())


@pytest.mark.parametrize(
    ("value", "text"),
    [("Hello", "Hello"), ("n is ${n}", "n is 3"), ("$n", "3"), ({"a": ["$n"]}, '{"a":[3]}'), ("", ""), (None, "null")],
)
def test_text_is_said_as_it_is_and_other_json_as_json(space: Space, value: Any, text: str) -> None:
    """References are replaced first."""
    heard = spoken(space, {"type": "create-note", "value": 3, "out": "$n"}, {"type": "say", "value": value})
    assert [(event.kind, event.position, event.text) for event in heard] == [("say", "2", text)]


def test_saying_gives_no_resource(run: Any) -> None:
    """The journal shows what was said."""
    row = run({"type": "say", "value": "Hello"}).last
    assert (row.resource, row.value) == (None, "Hello")


def test_a_say_with_out_is_refused(run: Any) -> None:
    """There is nothing that the variable could be."""
    ran = run({"type": "say", "value": "Hello", "out": "$x"}, status="refused")
    assert ran.result.problems[0].pointer == "/steps/0/out"
