"""Which steps of a block wait for which."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infospace import Space
from infospace.tools.local import LocalTools
from planner.execute.start import Prepared, prepare
from planner.order.dependencies import DependencyAnalysis, DependencyTracker, StepNode

names = st.frozensets(st.sampled_from("abcd"), max_size=3)


def unit(reads: Any, binds: Any) -> StepNode:
    nothing: Any = None
    return StepNode(nothing, frozenset(reads), frozenset(binds), alone=False, waits=True)


def needs_of(units: list[StepNode]) -> tuple[frozenset[int], ...]:
    """Return for each unit, as they come, what it waits for."""
    needs = DependencyTracker()
    return tuple(needs.of(one) for one in units)


blocks = st.lists(st.builds(unit, names, names), max_size=12)


def before(needs: tuple[frozenset[int], ...]) -> list[set[int]]:
    """Return for each unit all that have ended when it starts."""
    found: list[set[int]] = []
    for own in needs:
        found.append(set(own).union(*(found[need] for need in own)))
    return found


@given(blocks)
def test_a_step_starts_after_every_step_with_which_it_may_not_change_places(units: list[StepNode]) -> None:
    """One that binds what it reads or binds, or reads what it binds; and what those start after. After no other."""
    pairs = tuple(
        frozenset(
            i
            for i, one in enumerate(units[:index])
            if one.binds & (after.reads | after.binds) or one.reads & after.binds
        )
        for index, after in enumerate(units)
    )
    assert before(needs_of(units)) == before(pairs)


def test_a_step_that_binds_anew_waits_for_those_that_read_what_was_bound() -> None:
    """All since the last that bound it; and what reads after it waits for it alone."""
    units = [unit("", "x"), unit("x", "y"), unit("x", "z"), unit("", "x"), unit("x", ""), unit("", "x")]
    assert needs_of(units) == tuple(map(frozenset, ((), (0,), (0,), (0, 1, 2), (3,), (3, 4))))


def test_what_all_steps_wait_for_grows_no_faster_than_they_do() -> None:
    """A thousand that read one variable and bind one of their own wait for one step each, not for all before."""
    units = [unit("", "x"), *(unit({"x", f"y{number}"}, {f"y{number + 1}"}) for number in range(1_000))]
    assert sum(map(len, needs_of(units))) < 2_500


@pytest.fixture
def room(space: Space) -> Space:
    """A space with a tool that reads, and one that may change things."""
    tools = LocalTools("room")

    @tools.tool(read_only=True)
    def look() -> str:
        """Look around."""
        return "nothing"

    @tools.tool(read_only=True)
    def is_dark() -> bool:
        """Whether nothing can be seen."""
        return True

    @tools.tool()
    def paint() -> str:
        """Paint the walls."""
        return "blue"

    space.tools.add(tools)
    return space


ITEMS = {"type": "create-collection", "value": ["room/look"], "out": "$c"}
NOTED = {"type": "create-note", "value": "room/look", "out": "$name"}
COUNTED = {"type": "size", "target": "$c", "out": "$n"}
DARK = {"type": "tool_condition", "tool": "room/is_dark"}
FULL = {"type": "has_value", "target": "$c"}


@pytest.mark.parametrize(
    ("step", "alone", "waits"),
    [
        ({"type": "room/look"}, False, True),
        ({"type": "room/paint"}, True, True),
        ({"type": "room/look", "name": "seen"}, True, True),
        ({"type": "call-tool", "tool": "room/look"}, False, True),
        ({"type": "call-tool", "tool": "room/paint"}, True, True),
        ({"type": "call-tool", "tool": "$name"}, True, True),
        ({"type": "map", "target": "$c", "operation": {"type": "room/look"}}, False, True),
        ({"type": "map", "target": "$c", "operation": {"type": "room/paint"}}, True, True),
        ({"type": "map", "target": "$c", "operation": {"type": "call-tool", "tool": "room/look"}}, False, True),
        ({"type": "map", "target": "$c", "operation": {"type": "call-tool", "tool": "room/paint"}}, True, True),
        ({"type": "map", "target": "$c", "operation": {"type": "call-tool", "tool": "$item"}}, True, True),
        ({"type": "if", "condition": DARK, "then": [COUNTED]}, False, True),
        ({"type": "if", "condition": {"type": "and", "of": [FULL, DARK]}, "then": [COUNTED]}, False, True),
        ({"type": "if", "condition": {"type": "not", "of": DARK}, "then": [COUNTED]}, False, True),
        ({"type": "for-each", "target": "$c", "do": [COUNTED], "until": DARK}, False, True),
        ({"type": "size", "target": "$c", "out": "$n"}, False, False),
        ({"type": "persist", "target": "$c"}, True, False),
        ({"type": "parallel", "branches": [[{"type": "room/look"}], [{"type": "room/paint"}]]}, True, True),
        ({"type": "parallel", "branches": [[COUNTED], [{"type": "bind", "target": "$c"}]]}, False, False),
    ],
)
def test_what_only_reads_stands_beside_others_and_what_may_change_things_stands_alone(
    room: Space, step: dict[str, Any], alone: bool, waits: bool
) -> None:
    """However it is called, as far as its name stands in the plan."""
    prepared = prepare(room, {"steps": [ITEMS, NOTED, step]})
    assert isinstance(prepared, Prepared), prepared
    order = DependencyAnalysis(room.catalogue, prepared.plan.plans)
    node = order.unit(prepared.plan.steps[2])
    assert (node.alone, node.waits) == (alone, waits)
    assert order.is_read_only(prepared.plan.steps[2]) is (not waits and step["type"] != "persist")
