"""Fixes keep what was meant: mended plans make the calls of the intended ones, and a guess is mended by none.

The plans are ours; `make bench ONLY=mending DATA=…` measures the same on public plans.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from desk import MEANT, TOOLS
from dialects import GUESSES, cases
from judge import Workshop

from planner.language.problems import Problem

CASES = cases()
LEFT = {"handlebars", "n8n", "jsonpath", "rewoo", "github actions", "haystack"}
"""Systems whose references, or graphs, are told in a hint alone."""


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """A space with a server that writes down what it is called with."""
    shop = Workshop(tmp_path_factory.mktemp("desk"), TOOLS, "desk")
    yield shop
    shop.close()


@pytest.mark.parametrize("name", MEANT)
def test_a_plan_that_is_meant_runs(workshop: Workshop, name: str) -> None:
    """Without it there is nothing to compare with."""
    assert workshop.errors(MEANT[name]) == []
    assert workshop.outcome(MEANT[name]).status == "success"


def test_plans_in_the_words_of_other_systems_are_mended_into_what_was_meant(workshop: Workshop) -> None:
    """Nine of ten make the same calls afterwards, and none makes others; the figures are printed."""
    found: dict[str, Counter[str]] = {}
    for system, name, wrong in CASES:
        found.setdefault(system, Counter())[workshop.judge(wrong, MEANT[name])] += 1
    for system, verdicts in found.items():
        print(f"{system:24} {dict(verdicts)}")  # noqa: T201
    total = sum(found.values(), Counter())
    assert len(CASES) >= 200
    assert total["changed"] == 0
    assert total["right"] / total.total() >= 0.9
    for system in found.keys() - LEFT - {"chatty"}:
        assert found[system].keys() == {"right"}, system


@pytest.mark.parametrize("at", range(len(GUESSES)), ids=[f"{kind}-{at}" for at, (kind, _) in enumerate(GUESSES)])
def test_a_guess_is_no_fix(workshop: Workshop, at: int) -> None:
    """The plan stays refused, whatever is applied, and what is wrong is told."""
    _, wrong = GUESSES[at]
    assert workshop.errors(wrong)
    assert not workshop.mend(wrong)[1], json.dumps(workshop.mend(wrong)[0])


def told(workshop: Workshop, plan: Any) -> list[Problem]:
    found: list[Problem] = workshop.errors(plan)
    return found


CALL = {"type": "desk/create_ticket", "arguments": {"title": "x", "priority": 2}, "out": "$t"}
READ = {"type": "desk/close_ticket", "arguments": {"ticket_id": "$t.ticket_id"}}
ONE_MISTAKE: dict[str, tuple[Any, str, str]] = {
    "arguments beside the type": (
        {"type": "desk/create_ticket", "title": "x", "priority": 2, "out": "$t"},
        "unknown-argument",
        "/0/title",
    ),
    "another key for out": (
        {"type": "desk/create_ticket", "arguments": {"title": "x", "priority": 2}, "output": "t"},
        "unknown-argument",
        "/0/output",
    ),
    "another key for arguments": (
        {"type": "desk/create_ticket", "params": {"title": "x", "priority": 2}, "out": "$t"},
        "unknown-argument",
        "/0/params",
    ),
    "out without its sign": ({**CALL, "out": "t"}, "bad-variable", "/0/out"),
    "a tool's name": ({**CALL, "type": "desk/create_tickt"}, "unknown-tool", "/0/type"),
    "a comment": ({**CALL, "description": "open it"}, "unknown-argument", "/0/description"),
    "arguments as text": ({**CALL, "arguments": '{"title": "x", "priority": 2}'}, "bad-value", "/0/arguments"),
}


@pytest.mark.parametrize("name", ONE_MISTAKE)
def test_one_mistake_is_one_problem_with_one_patch(workshop: Workshop, name: str) -> None:
    """Though a later step reads what the step gives."""
    step, code, pointer = ONE_MISTAKE[name]
    [problem] = told(workshop, [step, READ])
    assert (problem.code, problem.pointer) == (code, pointer)
    mended, passes = workshop.mend([step, READ])
    assert passes
    assert workshop.outcome(mended) == workshop.outcome([CALL, READ])


def test_a_wrong_name_of_a_tool_hides_no_mistake_in_its_arguments(workshop: Workshop) -> None:
    """Each is told at its place as written, also where the arguments stand elsewhere."""
    nested = {"type": "desk/create_tickt", "arguments": {"title": "x", "priorty": 2}}
    assert [one.pointer for one in told(workshop, [nested])] == ["/0/type", "/0/arguments/priorty"]
    flat = {"type": "desk/create_tickt", "title": "x", "priorty": 2}
    assert sorted(one.pointer for one in told(workshop, [flat])) == ["/0/priorty", "/0/title", "/0/type"]


def test_a_text_about_a_step_is_kept(workshop: Workshop) -> None:
    """Beside what is expected already, and whatever it is called."""
    step = {**CALL, "expect": "an id", "thought": "it is broken", "notes": ["a"]}
    mended, passes = workshop.mend([step])
    assert passes
    assert mended[0]["expect"] == 'an id; it is broken; ["a"]'
