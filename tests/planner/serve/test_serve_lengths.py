"""However long what was written or asked is, an answer stays one that a model can read; what is missing is told."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from infospace.data.json_text import dump
from infospace.tools.local import LocalTools
from planner.server.truncate import DATA, PART, QUESTION, REASON, SAID, SHORT_PART, STEPS, VALUE

sys.path.insert(0, str(Path(__file__).parent))
from scenes import whole
from serving import Planner, play

LONG = "lorem ipsum " * 3_000
MANY = {"type": "object", "properties": {f"p{number}": {"description": LONG[:900]} for number in range(50)}}


def note(out: str) -> dict[str, Any]:
    return {"type": "create-note", "value": 1, "out": out}


def test_a_long_question_is_cut_and_its_schema_left_away_and_both_can_be_read(space: Space) -> None:
    """The answer still has to fit the whole schema."""
    ask = {"type": "ask", "value": LONG, "schema": {**MANY, "required": ["p1"]}, "out": "$a"}

    async def scene(planner: Planner) -> None:
        answer = await planner.call("run_plan", plan=[ask])
        [asked] = answer["pending"]
        assert len(asked["question"]) <= QUESTION
        assert "schema" not in asked
        assert answer["left_out"]["pending"].endswith(f"read {answer['run']}")
        record = "".join(piece["data"] for piece in await whole(planner, answer["run"], max_chars=15_000))
        assert json.loads(record)["pending"] == [{**asked, "question": LONG, "schema": ask["schema"]}]
        sentence = await planner.wrong("answer_run", run=answer["run"], step="1", value={"p2": LONG})
        assert len(sentence) <= SAID
        answer = await planner.call("answer_run", run=answer["run"], step="1", value={"p1": 1})
        assert (answer["status"], answer["result"]["data"]) == ("success", {"p1": 1})

    play(space, scene)


def test_many_questions_at_once_are_shown_as_far_as_there_is_room(space: Space) -> None:
    """Those that were left out are asked when the first are answered."""
    branches = [[{"type": "ask", "value": LONG[:500], "out": f"$a{number}"}] for number in range(30)]

    async def scene(planner: Planner) -> Any:
        return await planner.call("run_plan", plan=[{"type": "parallel", "branches": branches}])

    answer = play(space, scene)
    assert 1 < len(answer["pending"]) < 30
    assert "pending" in answer["left_out"]


@pytest.mark.parametrize(
    ("plan", "pointer", "said"),
    [
        ([{"type": LONG}], "/0/type", "there is no step type 'lorem ipsum "),
        ([{"type": "size", "target": f"${'x' * 30_000}"}], "/0/target", "$xxx"),
        ([{"type": "size", "target": LONG}], "/0/target", "nothing has the name 'lorem ipsum "),
        ([{"type": "create-note", "value": 1, "k" * 30_000: 1}], "/0", "create-note has no argument 'kkk"),
        (
            {"steps": [note("$x")], "inputs": {"n" * 30_000: {"type": "string"}}},
            "/inputs",
            "nothing reads the input $nnn",
        ),
    ],
)
def test_problems_that_quote_at_length_are_cut(space: Space, plan: Any, pointer: str, said: str) -> None:
    """Their pointers stay pointers into the plan."""

    async def scene(planner: Planner) -> Any:
        await planner.call("run_plan", plan=plan)
        return await planner.call("check_plan", plan=plan)

    [problem] = play(space, scene)["problems"]
    assert problem["pointer"] == pointer
    assert problem["message"].startswith(said)
    assert re.search(r"… \[cut: 3\d,\d{3} characters in all\]$", problem["message"])
    assert REASON - 1 <= len(problem["message"]) <= REASON
    assert len(problem["hint"] or "") <= REASON


def test_a_fix_that_is_not_too_long_is_whole(space: Space) -> None:
    """Its problem may quote at length; one that is too long is left away."""

    async def scene(planner: Planner) -> list[Any]:
        return [await planner.call("check_plan", plan=[note("x" * length)]) for length in (10, 1_800, 5_000)]

    answers = play(space, scene)
    [short], [long], [too_long] = [answer["problems"] for answer in answers]
    for problem, length in ((short, 10), (long, 1_800)):
        assert problem["fix"] == [{"op": "replace", "path": "/0/out", "value": f"${'x' * length}"}]
    assert len(long["message"]) == len(too_long["message"]) == REASON
    assert too_long["fix"] is None


@pytest.mark.parametrize("length", [1, 40, 1_500])
def test_steps_and_bindings_are_shown_as_far_as_there_is_room(space: Space, length: int) -> None:
    """All of the steps are found by going on from where an answer ended."""
    names = [f"v{number}_{'x' * length}" for number in range(120)]

    async def scene(planner: Planner) -> None:
        answer = await planner.call("run_plan", plan=[note(f"${name}") for name in names])
        run, steps, bindings = answer["run"], answer["steps"], answer["bindings"]
        assert 0 < len(bindings) < len(names)
        assert sum(len(name) for name in bindings) <= SHORT_PART
        while "steps" in answer.get("left_out", {}):
            answer = await planner.call("get_run", run=run, first_step=len(steps))
            assert answer["steps"]
            steps += answer["steps"]
        assert [step["out"] for step in steps] == [f"${name}" for name in names]
        listed = await planner.call("list_bindings", run=run)
        assert len(listed["bindings"]) + listed["left_out"] == len(names)
        assert sum(len(name) for name in listed["bindings"]) <= PART

    play(space, scene)


def test_steps_beyond_the_most_that_are_shown_are_counted_with_where_to_go_on(space: Space) -> None:
    """From the beginning, from a step in between, and up to the last; no loop is spoken of where there is none."""

    async def scene(planner: Planner) -> list[tuple[int, str | None]]:
        run = (await planner.call("run_plan", plan=[note(f"$v{number}") for number in range(STEPS + 15)]))["run"]
        told = []
        for first in (None, 0, 5, 15, 16):
            answer = await planner.call("get_run", run=run, **({} if first is None else {"first_step": first}))
            told.append((len(answer["steps"]), answer.get("left_out", {}).get("steps")))
        return told

    from_the_start = (STEPS, f"15 of {STEPS + 15}; get_run with first_step={STEPS}")
    assert play(space, scene) == [
        from_the_start,
        from_the_start,
        (STEPS, f"10 of {STEPS + 15}; get_run with first_step={STEPS + 5}"),
        (STEPS, None),
        (STEPS - 1, None),
    ]


def test_rounds_of_loops_that_went_well_are_not_told_until_they_are_asked_for(space: Space) -> None:
    """Those that failed are, though they were handled."""
    rounds = [note("$x"), {"type": "coerce", "target": "$n", "coercion": "int", "on_fail": "continue", "out": "$m"}]
    plan = [
        {"type": "create-collection", "value": ["1", "two", "3"], "out": "$c"},
        {"type": "for-each", "target": "$c", "as": "$n", "do": rounds, "collect": "$x", "out": "$all"},
    ]

    async def scene(planner: Planner) -> tuple[Any, Any]:
        answer = await planner.call("run_plan", plan=plan)
        assert (await planner.call("get_run", run=answer["run"]))["steps"] == answer["steps"]
        return answer, await planner.call("get_run", run=answer["run"], first_step=0)

    answer, everything = play(space, scene)
    assert [step["step"] for step in answer["steps"]] == ["1", "2", "2.do[2].2"]
    assert answer["left_out"]["steps"].startswith("5 of 8")
    assert answer["left_out"]["steps"].endswith("get_run with first_step=0")
    assert len(everything["steps"]) == 8
    assert "left_out" not in everything


def test_what_a_tool_says_is_told_once(space: Space) -> None:
    """As `data`: not again as blocks of text; what is no text stays."""
    tools = LocalTools("sky")

    @tools.tool(read_only=True)
    def weather() -> dict[str, str]:
        """Say what the sky is like."""
        return {"sky": "overcast and grey"}

    space.tools.add(tools)
    answer = play(space, lambda planner: planner.call("run_plan", plan=[{"type": "sky/weather", "out": "$w"}]))
    assert answer["result"]["data"] == {"sky": "overcast and grey"}
    assert dump(answer).count("overcast and grey") == 3
    assert answer["steps"][0]["left_out"] == ["content"]
    assert "extra" in answer["left_out"]


def test_what_was_expected_at_length_is_cut(space: Space) -> None:
    """Though it was the planner who wrote it."""
    answer = play(space, lambda planner: planner.call("run_plan", plan=[{**note("$x"), "expect": LONG}]))
    assert 0 < len(answer["steps"][0]["expect"]) <= VALUE


def test_a_sentence_of_refusal_is_cut(space: Space) -> None:
    """Though it quotes what it was given."""
    assert len(play(space, lambda planner: planner.wrong("read", ref=LONG))) <= SAID


def test_contracts_asked_for_twice_are_given_once(space: Space) -> None:
    """However often."""

    async def scene(planner: Planner) -> tuple[str, str]:
        once = await planner.call("describe_primitives", names=["size", "if"])
        return once, await planner.call("describe_primitives", names=["size", "if"] * 100)

    once, often = play(space, scene)
    assert once == often
    assert len(once) < DATA
