"""`refine`: a new Note of the same type."""

from __future__ import annotations

from typing import Any

import pytest
from chatting import Endpoint

REFINE = {"type": "refine", "target": "$x", "instruction": "Shorter.", "out": "$y"}


def test_text_gives_text_in_a_new_note(run: Any, endpoint: Endpoint) -> None:
    """The Note itself stays as it was."""
    endpoint.say("Short.")
    ran = run({"type": "create-note", "value": "Long and wide.", "out": "$x"}, REFINE)
    assert (ran.content("x"), ran.content("y")) == ("Long and wide.", "Short.")
    assert ran.resource("x").id != ran.resource("y").id
    assert endpoint.prompts[0].endswith("Instruction:\nShorter.")


@pytest.mark.parametrize(("value", "answer"), [({"a": 1}, '{"a": 2}'), ([1, 2], '{"value": [1]}'), (7, '{"value": 6}')])
def test_json_gives_json_of_the_same_type(run: Any, endpoint: Endpoint, value: Any, answer: str) -> None:
    """An answer of another type is sent back."""
    endpoint.say('{"value": "text"}' if not isinstance(value, dict) else '"text"', answer)
    ran = run({"type": "create-note", "value": value, "out": "$x"}, REFINE)
    assert type(ran.content("y")) is type(value)
    assert len(endpoint.requests) == 2


def test_the_check_knows_the_type_of_the_result(run: Any, endpoint: Endpoint) -> None:
    """A text has no fields."""
    steps = [{"type": "create-note", "value": "text", "out": "$x"}, REFINE, {"type": "say", "value": "${y.title}"}]
    problems = [p for p in run(*steps, status="refused").result.problems if p.severity == "error"]
    assert [problem.code for problem in problems] == ["unknown-field"]
