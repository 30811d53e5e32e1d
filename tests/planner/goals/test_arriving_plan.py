"""What there is of a plan in an answer that is still arriving."""

from __future__ import annotations

import json

import pytest

from planner.goals.arriving import arriving_plan

PLAN = {"goal": "g", "steps": [{"type": "create-note", "value": "a {b} [c]", "out": "$a"}, {"type": "size"}]}
TEXT = json.dumps(PLAN)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("```json\n", "\n```\nThat is it."),
        ("<think>perhaps [1] {x}</think>Here it is:\n", ""),
        ("I number them [v1], and so:\n", ""),
        ('{"plan": ', "}"),
    ],
)
def test_it_grows_until_it_is_the_plan(before: str, after: str) -> None:
    """Each piece has at least as many steps as the one before; the whole answer has all of it."""
    whole, counts = before + TEXT + after, []
    for end in range(len(whole)):
        found = arriving_plan(whole[:end])
        counts.append(len(found["steps"]) if isinstance(found, dict) and isinstance(found.get("steps"), list) else 0)
    assert counts == sorted(counts)
    assert counts[-1] == 2
    assert arriving_plan(whole) == PLAN


def test_a_text_is_shown_as_it_is_written() -> None:
    assert arriving_plan('{"steps": [{"type": "say", "value": "Hel') == {"steps": [{"type": "say", "value": "Hel"}]}


def test_half_of_a_character_breaks_off_nothing() -> None:
    """An endpoint that escapes what it streams may part the two halves of one beyond U+FFFF."""
    begun = '{"steps": [{"type": "say", "value": "fine \ud83d'
    assert arriving_plan(begun) == {"steps": [{"type": "say", "value": "fine ?"}]}
    assert arriving_plan(begun + '", "out": "$x"}') == {"steps": [{"type": "say", "value": "fine ?", "out": "$x"}]}


@pytest.mark.parametrize("answer", ["", "I would rather not.", "<think>{}", "[1, 2", "}", "[" * 100_000])
def test_what_is_no_plan_is_none(answer: str) -> None:
    assert arriving_plan(answer) is None
