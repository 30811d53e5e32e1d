"""Positions of steps: what is written is taken apart and put together again."""

from __future__ import annotations

import doctest
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infospace.core import position as module
from infospace.core.errors import Invalid
from infospace.core.position import Block, Part, Position, holds, item_of, place_of, top_label

LABELS = st.one_of(
    st.integers(1, 9999).map(str),
    st.from_regex(r"[A-Za-z_-][A-Za-z0-9_-]{0,8}", fullmatch=True),
    st.sampled_from(["then", "do", "on_fail", "input", "error"]),
)
NUMBERS = st.integers(1, 20_000)


def parts_of(holders: st.SearchStrategy[Position]) -> st.SearchStrategy[Part]:
    """Parts of steps, each with a number where its block has one."""
    return st.one_of(
        st.builds(Part, holders, st.sampled_from(["then", "else", "plan", "on_fail"])),
        st.builds(Part, holders, st.sampled_from(["body", "do", "branches", "on_fail"]), NUMBERS),
    )


def steps_in(parts: st.SearchStrategy[Part]) -> st.SearchStrategy[Position]:
    """Steps in parts, some of them later attempts."""
    return st.builds(Position, LABELS, parts, st.sampled_from([1, 1, 1, 2, 17]))


STEPS = st.recursive(
    st.builds(Position, LABELS, st.none(), st.sampled_from([1, 1, 2])),
    lambda inner: steps_in(parts_of(inner)),
    max_leaves=6,
)


@given(STEPS)
def test_what_is_written_is_read_as_it_was(step: Position) -> None:
    assert Position.parse(step.text) == step
    assert str(step) == step.text


@given(parts_of(STEPS), LABELS)
def test_a_part_is_read_as_it_was_and_begins_what_is_in_it(part: Part, label: str) -> None:
    assert Part.parse(part.text) == part
    inner = part.step(label)
    assert inner.text == part.prefix + label
    assert inner.part == part
    assert list(inner.parts) == [part, *part.holder.parts]
    assert inner.depth == part.holder.depth + 1
    assert inner.top == part.holder.top == top_label(part.text)
    assert all(holds(one.holder.text, inner.text) for one in inner.parts)


@given(STEPS, NUMBERS)
def test_an_item_is_of_the_step_that_it_is_written_behind(step: Position, number: int) -> None:
    item = Position(step.label, step.part, step.attempt, number)
    assert Position.parse(item.text) == item
    assert (item.whole, item_of(item.text), item_of(step.text)) == (step, number, None)
    assert holds(step.text, item.text)
    assert Part(step, "on_fail", number).failed == item


@given(STEPS, STEPS)
def test_a_step_holds_what_lies_in_it_and_nothing_else(one: Position, other: Position) -> None:
    assert holds(one.text, other.text) == (one in [part.holder for part in other.parts])
    assert holds(one.text, one.text) is False


@given(st.text(alphabet="4a.#[]/!? then do body", max_size=16))
def test_any_text_is_a_position_a_part_or_refused(text: str) -> None:
    place = place_of(text)
    if place is None:
        with pytest.raises(Invalid, match="not a position"):
            Position.parse(text)
        with pytest.raises(Invalid, match="not a part"):
            Part.parse(text)
    else:
        assert place_of(place.text) == place


@pytest.mark.parametrize(
    "text",
    ["", "4.", ".4", "4..1", "4.then", "4.do[3]", "4.on_fail", "4/", "4.do.1", "4.then[1].2", "4#", "4[]", "4 1"],
)
def test_what_is_no_step_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="is not a position of a step"):
        Position.parse(text)


@pytest.mark.parametrize(
    ("position", "first", "in_loop"),
    [
        ("4", "4", False),
        ("4#3", "4", False),
        ("4.then.1#2", "4.then.1", False),
        ("4.body[3].1.on_fail.2", "4.body[3].1.on_fail.2", True),
        ("4.do[3].2.then.1", "4.do[3].2.then.1", True),
        ("4.do[1].2/1.then.3", "4.do[1].2/1.then.3", True),
        ("4#2.branches[2].1", "4#2.branches[2].1", False),
        ("4[2].on_fail.1", "4[2].on_fail.1", False),
    ],
)
def test_a_position_tells_its_first_attempt_and_its_loop(position: str, first: str, in_loop: bool) -> None:
    step = Position.parse(position)
    assert (step.first.text, step.in_loop) == (first, in_loop)


def test_every_block_of_the_language_is_read() -> None:
    numbers: dict[str, Any] = {"body": 1, "do": 1, "branches": 1}
    for block in get_args(Block):
        part = Position("4").inside(block, numbers.get(block))
        assert Position.parse(part.step("1").text).part == part


def test_the_examples_run() -> None:
    ran = doctest.testmod(module)
    assert (ran.failed, ran.attempted > 15) == (0, True)
