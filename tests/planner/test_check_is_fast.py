"""The check of a long plan takes no time that anybody would notice."""

from __future__ import annotations

import time
from typing import Any

from infospace import Space
from planner.start import check_plan


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


def test_a_plan_of_a_thousand_steps_is_checked_in_a_moment(space: Space) -> None:
    """Far less than a second of this process's own time, though each `where` is another one."""
    check_plan(space, long_plan(5))
    started = time.process_time()
    _, problems = check_plan(space, long_plan(1_000))
    assert time.process_time() - started < 0.6
    assert problems.ok
    assert {problem.code for problem in problems.found} == {"never-read"}


def test_the_time_grows_with_the_plan_and_not_with_its_square(space: Space) -> None:
    """Four times the steps take less than ten times as long."""
    check_plan(space, long_plan(500))
    times = []
    for count in (1_500, 6_000):
        plan = long_plan(count)
        started = time.process_time()
        check_plan(space, plan)
        times.append(time.process_time() - started)
    assert times[1] < 10 * times[0]
