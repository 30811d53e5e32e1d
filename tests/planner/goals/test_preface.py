"""A plan is found behind what a model says and thinks before it, however the answer is cut into pieces."""

from __future__ import annotations

import pytest

from planner.streaming.preface import Preface

PLAN = '[{"type": "say", "text": "<think> is a tag"}]'
ANSWERS = {
    PLAN: PLAN,
    f"Here it is:\n{PLAN}": PLAN,
    f"<think>maybe {{}} or []</think>{PLAN}": PLAN,
    f"<Thinking>a </think> b [1]</tHINKING> so: {PLAN}": PLAN,
    f"<think>[</think><reasoning>{{</reasoning><scratchpad>[1]</scratchpad>{PLAN}": PLAN,
    f"a < b, <thin> and </think> are no thoughts {PLAN}": PLAN,
    "<think>[1] and so on": None,
    "no plan": None,
}


@pytest.mark.parametrize("size", [1, 2, 3, 5, 11, 1_000])
@pytest.mark.parametrize("answer", ANSWERS)
def test_the_plan_begins_at_the_first_bracket_outside_thoughts(answer: str, size: int) -> None:
    preface, plan = Preface(), None
    for start in range(0, len(answer), size):
        piece = answer[start : start + size]
        plan = preface.feed(piece) if plan is None else plan + piece
    assert plan == ANSWERS[answer]


@pytest.mark.parametrize("begin", ["", "<think>", "<scratchpad>"])
def test_what_goes_on_without_a_plan_is_not_kept(begin: str) -> None:
    preface = Preface()
    assert preface.feed(begin) is None
    for _ in range(100):
        assert preface.feed("x <think" * 10) is None
        assert len(preface.kept) < len("</scratchpad>")
