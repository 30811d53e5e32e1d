"""A plan is read out of whatever a model answers, and out of nothing that is broken."""

from __future__ import annotations

import json

import pytest

from planner.goals.reply import read_reply

PLAN = {"goal": "g", "steps": [{"type": "say", "value": "first"}], "result": "$x"}
OTHER = {"goal": "g", "steps": [{"type": "say", "value": "second"}], "result": "$x"}
TEXT = json.dumps(PLAN)
STEP = {"type": "say", "value": "first"}


@pytest.mark.parametrize(
    "answer",
    [
        TEXT,
        f"```json\n{TEXT}\n```",
        f"Here is the plan:\n\n```\n{TEXT}\n```\nIt says one thing.",
        f'<think>Maybe {{"steps": [{{"type": "stop"}}]}} would do.</think>\n{TEXT}',
        f"<reasoning>{json.dumps(OTHER)}</reasoning>{TEXT}",
        json.dumps({"plan": PLAN}),
        json.dumps({"name": "run_plan", "arguments": {"plan": PLAN}}),
        json.dumps([{"type": "function", "function": {"name": "run_plan", "arguments": TEXT}}]),
        json.dumps({"tool_calls": [{"function": {"name": "run_plan", "arguments": json.dumps({"plan": PLAN})}}]}),
        json.dumps({"type": "tool_use", "name": "run_plan", "input": PLAN}),
        json.dumps(TEXT),
        f"First: {json.dumps(OTHER)}\nThat is wrong. Better: {TEXT}",
        f"Items [1] and {{x}} matter. {TEXT}",
    ],
)
def test_the_plan_is_found(answer: str) -> None:
    """Of two the last one counts."""
    assert read_reply(answer).document == PLAN


@pytest.mark.parametrize(
    ("answer", "steps"),
    [
        (json.dumps([STEP, STEP]), [STEP, STEP]),
        (f"{json.dumps(STEP)}\n{json.dumps(STEP)}", [STEP, STEP]),
        (f"```jsonl\n{json.dumps(STEP)}\n{json.dumps(STEP)}\n```", [STEP, STEP]),
        (json.dumps(STEP), [STEP]),
        (json.dumps({"plan": [STEP]}), None),
    ],
)
def test_steps_alone_are_a_plan(answer: str, steps: list[object] | None) -> None:
    """A list, or a step a line; `plan` for `steps` stays as the language has it."""
    expected = {"plan": [STEP]} if steps is None else {"steps": steps}
    assert read_reply(answer).document == expected


def test_a_head_before_steps_a_line_is_kept() -> None:
    answer = f'{{"goal": "g", "result": "$x"}}\n{json.dumps(STEP)}'
    assert read_reply(answer).document == {"goal": "g", "result": "$x", "steps": [STEP]}


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("", "the answer is empty"),
        ("<think>hm", "the answer is empty"),
        ("I cannot do that.", "the answer has no JSON; it begins 'I cannot do that.'"),
        ('{"error": "no"}', "the answer is JSON without `steps`, so it is not a plan"),
        ('{"steps": [{"type": "say", "value": "a"}, {"type": "sa', "cut off"),
        ('[{"type": "say", "value": "a"}, {"type": "sa', "cut off"),
        ('{"type": "say", "value": "a"}\n{"type": "sa', "a second document"),
        ('{"steps": [{"type": "say", "value": "a"},]}', "a value was expected"),
        ('{"steps": [{"type": "say", "value": "a"}], "result": $x}', "not JSON"),
        ('{"steps": {"type": "object", "value": 1}}', "without `steps`"),
    ],
)
def test_what_is_no_plan_is_said_in_a_sentence(answer: str, problem: str) -> None:
    """A part of a broken document is never taken for the whole: it would do less than what was meant."""
    reply = read_reply(answer)
    assert reply.document is None
    assert problem in (reply.problem or "")


def test_a_long_answer_without_a_plan_is_read_in_bounded_time() -> None:
    assert read_reply("[" * 100_000).problem is not None
    assert read_reply("{x} " * 100_000).problem is not None
