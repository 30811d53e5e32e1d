"""Keys that stand for values: equal where the values are one, ordered where `sort` orders them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from infospace.data.json_text import same
from infospace.data.order import equality_key, order_key

VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.sampled_from([0, -0.0, 1, 1.0, 2**53, 2.0**53, 2**53 + 1, "", "1", "boolean", "list"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)


@given(one=VALUE, other=VALUE)
def test_keys_are_equal_exactly_when_values_are_one(one: Any, other: Any) -> None:
    """In hash too, so that they may stand in a set."""
    alike = same(one, other)
    assert (equality_key(one) == equality_key(other)) is alike
    assert len({equality_key(one), equality_key(other)}) == 2 - alike
    assert (order_key(one) == order_key(other)) is alike


@given(values=st.lists(VALUE, max_size=5))
def test_values_of_all_types_have_one_order(values: list[Any]) -> None:
    """Whatever order they come in."""
    turned = values[::-1]
    ordered, again = sorted(values, key=order_key), sorted(turned, key=order_key)
    assert all(same(a, b) for a, b in zip(ordered, again, strict=True))


def test_the_order_of_types_and_within_lists_and_objects() -> None:
    """Numbers, strings, booleans, lists by their elements, objects by keys and then values, null."""
    ordered: list[Any] = [
        -1,
        2.5,
        "",
        "B",
        "a",
        False,
        True,
        [],
        [1],
        [1, 0],
        ["a"],
        {},
        {"a": 1},
        {"b": 0, "a": 1},
        {"a": 2},
        {"b": 0},
        None,
    ]
    turned = ordered[::-1]
    assert sorted(turned, key=order_key) == ordered
    assert order_key({"a": 1, "b": 2}) == order_key({"b": 2, "a": 1})
