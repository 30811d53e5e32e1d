"""The check of a long plan does no more work than its length asks for; `make bench` has the times."""

from __future__ import annotations

import sys
import tracemalloc
from types import FrameType
from typing import Any

from infospace import Space
from planner.execute.start import check_plan


def long_plan(count: int) -> list[Any]:
    """About as many steps, with `where`, paths, templates and branches."""
    steps: list[Any] = [{"type": "create-collection", "value": [{"n": 1, "title": "t"}], "out": "$c"}]
    for index in range(count // 5):
        where = f"n > {index} AND title LIKE 't%'"
        steps += [
            {"type": "create-note", "value": {"i": index, "t": "${c} x"}, "out": f"$n{index}"},
            {"type": "filter-structured", "target": "$c", "where": where, "out": f"$f{index}"},
            {"type": "sort", "target": f"$f{index}", "by": ["n", "title"], "out": f"$s{index}"},
            {
                "type": "if",
                "condition": {"type": "has_value", "target": f"$s{index}"},
                "then": [{"type": "say", "value": f"${{s{index}}}"}],
            },
        ]
    return steps


def calls_of_checking(space: Space, count: int) -> int:
    """Check a long plan; return how many calls of functions that took, which no load of the machine changes."""
    plan = long_plan(count)
    calls = 0

    def counted(_frame: FrameType, event: str, _what: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        _, problems = check_plan(space, plan)
    finally:
        sys.setprofile(None)
    assert problems.ok
    assert {problem.code for problem in problems.found} == {"never-read"}
    return calls


def test_the_work_grows_with_the_plan_and_not_with_its_square(space: Space) -> None:
    """Four times the steps take less than five times the calls; each `where` is another, and has been read before."""
    check_plan(space, long_plan(1_000))
    assert calls_of_checking(space, 1_000) < 5 * calls_of_checking(space, 250)


def test_a_check_puts_no_texts_together_without_end(space: Space) -> None:
    """Texts of ten texts each, six times over, are 100 MB: the check lets them be unknown, and the plan pass."""
    steps: list[Any] = [{"type": "create-note", "value": "x" * 100, "out": "$a0"}]
    steps += [{"type": "create-note", "value": f"${{a{i}}}" * 10, "out": f"$a{i + 1}"} for i in range(6)]
    tracemalloc.start()
    try:
        _, problems = check_plan(space, steps)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert problems.ok
    assert most < 60_000_000
