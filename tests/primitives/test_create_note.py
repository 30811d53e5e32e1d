"""`create-note`: JSON becomes a Note."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infospace.data.json_text import same

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, allow_infinity=False)
    # A surrogate has no UTF-8 form, and `$` begins a reference.
    | st.text(st.characters(codec="utf-8", exclude_characters="$"), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=40, deadline=None)
@given(value=JSON)
def test_any_json_comes_back_as_it_went_in(shared: Any, value: Any) -> None:
    """Types, keys, and the order of keys are kept."""
    content = shared({"type": "create-note", "value": value, "out": "$x"}).content("x")
    assert same(content, value)
    assert type(content) is type(value)
    if isinstance(value, dict):
        assert list(content) == list(value)


def test_references_inside_become_content_at_any_depth(run: Any) -> None:
    """`$x` alone is the value with its type; `${x}` in a text is its text."""
    ran = run(
        {"type": "create-note", "value": {"n": 3, "tags": ["a"]}, "out": "$x"},
        {"type": "create-note", "value": {"all": ["$x", "$x.n"], "text": "n is ${x.n}, $$x"}, "out": "$y"},
    )
    assert ran.content("y") == {"all": [{"n": 3, "tags": ["a"]}, 3], "text": "n is 3, $x"}


def test_metadata_is_kept_beside_the_content(run: Any) -> None:
    """It has references too, and is the Note's own: `@metadata`, and `metadata` where the content has no such key."""
    ran = run(
        {"type": "create-note", "value": 7, "out": "$n"},
        {"type": "create-note", "value": "text", "metadata": {"score": "$n"}, "out": "$x"},
        {"type": "create-note", "value": ["$x.@metadata.score", "$x.metadata.score"], "out": "$y"},
    )
    assert ran.resource("x").metadata == {"score": 7}
    assert ran.content("y") == [7, 7]


def test_a_note_without_metadata_has_none(run: Any) -> None:
    """Metadata is exactly what the arguments give."""
    assert run({"type": "create-note", "value": 1, "out": "$x"}).resource("x").metadata == {}


def test_a_note_is_transient_until_a_name_keeps_it(run: Any) -> None:
    """The step's `name` names and keeps the result."""
    ran = run(
        {"type": "create-note", "value": 1, "out": "$loose"},
        {"type": "create-note", "value": 2, "name": "kept one", "out": "$kept"},
    )
    assert not ran.resource("loose").kept
    assert ran.resource("kept").kept
    assert ran.resource("kept").name == "kept one"


def test_a_taken_name_fails_and_says_who_has_it_unless_it_is_replaced(run: Any) -> None:
    """With `replace` the holder gets the content as its next version, and is what the step gives."""
    first = run({"type": "create-note", "value": 1, "name": "status", "out": "$a"}).resource("a")
    refused = run({"type": "create-note", "value": 2, "name": "status", "out": "$b"}, status="refused")
    assert first.id in f"{refused.result.problems[0].message} {refused.result.problems[0].hint}"
    ran = run({"type": "create-note", "value": 2, "name": "status", "replace": True, "out": "$b"})
    now_is = ran.space.context().get("status")
    assert (now_is.id, now_is.version, now_is.content) == (first.id, 2, 2)
    assert ran.resource("b").id == first.id


def test_the_metadata_must_be_an_object(call: Callable[..., Any]) -> None:
    """The sentence says what was given and what fits."""
    answer = call("create-note", value=1, metadata=["a"])
    assert answer.status == "failed"
    assert answer.reason.startswith('`metadata` is ["a"], not an object')


def test_a_note_needs_a_value_and_null_is_one(call: Callable[..., Any]) -> None:
    """JSON null exists; no value at all is a fault."""
    assert call("create-note", value=None).status == "success"
    assert call("create-note").reason.startswith("create-note needs 'value'")


@pytest.mark.parametrize("metadata", [{}, {"a": {"b": None}}])
def test_what_is_made_is_stamped_with_run_and_step(run: Any, metadata: dict[str, Any]) -> None:
    """Every made resource knows its run, its step and its maker's type."""
    ran = run({"type": "create-note", "value": 1, "metadata": metadata, "out": "$x"})
    made = ran.resource("x").created_by
    assert (made.run, made.step, made.by) == (ran.result.run, "1", "create-note")
