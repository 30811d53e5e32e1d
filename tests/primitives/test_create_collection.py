"""`create-collection`: resources and values in one ordered list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def test_values_become_notes_in_order(run: Any) -> None:
    """Any element that is no reference and no id is content, nested references included."""
    ran = run(
        {"type": "create-note", "value": 5, "out": "$n"},
        {"type": "create-collection", "value": ["text", {"n": "$n"}, None, ["$n"], "${n}!"], "out": "$list"},
    )
    assert ran.content("list") == ["text", {"n": 5}, None, [5], "5!"]


def test_variables_and_ids_in_the_list_are_the_resources_themselves(run: Any) -> None:
    """No copy is made; the same resource may stand there twice."""
    first = run({"type": "create-note", "value": "a", "out": "$a"}).resource("a")
    ran = run(
        {"type": "create-note", "value": "b", "out": "$b"},
        {"type": "create-collection", "value": [first.id, "$b", "$b"], "out": "$list"},
    )
    assert [item.id for item in ran.items("list")] == [first.id, *[ran.resource("b").id] * 2]


def test_collections_and_search_results_can_be_members(run: Any) -> None:
    """Items are resources of any kind."""
    ran = run(
        {"type": "create-collection", "value": [1, 2], "out": "$inner"},
        {"type": "create-collection", "value": ["$inner", "$inner[1]"], "out": "$outer"},
    )
    assert ran.content("outer") == [[1, 2], 2]


def test_names_in_the_list_are_text(run: Any) -> None:
    """Names are not looked up there."""
    ran = run(
        {"type": "create-note", "value": "the thing", "name": "thing"},
        {"type": "create-collection", "value": ["thing"], "out": "$list"},
    )
    assert ran.content("list") == ["thing"]


def test_one_resource_alone_gives_a_collection_of_it(run: Any) -> None:
    """`value: "$x"` gives a Collection with that one member, also where `$x` is a Collection."""
    ran = run(
        {"type": "create-collection", "value": [1, 2], "out": "$pair"},
        {"type": "create-collection", "value": "$pair", "out": "$list"},
    )
    assert [item.id for item in ran.items("list")] == [ran.resource("pair").id]


def test_an_empty_list_gives_an_empty_collection(run: Any) -> None:
    """Empty is success."""
    assert run({"type": "create-collection", "value": [], "out": "$list"}).content("list") == []


def test_an_id_that_does_not_exist_is_an_error(run: Any) -> None:
    """It is refused by the check, before anything runs."""
    ran = run({"type": "create-collection", "value": ["a", "Note_999"], "out": "$list"}, status="refused")
    problem = ran.result.problems[0]
    assert (problem.code, problem.pointer) == ("unknown-id", "/steps/0/value/1")


def test_a_value_that_is_neither_list_nor_resource_is_a_fault(call: Callable[..., Any]) -> None:
    """It says what would fit."""
    assert call("create-collection", value={"a": 1}).reason.startswith(
        '`value` is {"a": 1}, not a list or one resource'
    )


def test_metadata_is_the_collections_own(run: Any) -> None:
    """It is kept with the Collection."""
    ran = run({"type": "create-collection", "value": [], "metadata": {"title": "Nothing"}, "out": "$list"})
    assert ran.resource("list").metadata == {"title": "Nothing"}


def test_what_is_named_keeps_its_members(run: Any) -> None:
    """A kept Collection has kept members."""
    ran = run(
        {"type": "create-note", "value": 1, "out": "$n"},
        {"type": "create-collection", "value": ["$n", "new"], "name": "both", "out": "$list"},
    )
    assert all(item.kept for item in ran.items("list"))
