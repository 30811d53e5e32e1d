"""`join`: items of two Collections that have one value, merged. Its pairs are held against SQLite elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

LEFT = [
    {"k": 1, "a": "x", "v": 1},
    {"k": None, "a": "n", "v": 1},
    {"k": "1", "a": "s", "v": 1},
    {"k": 2, "a": "y", "v": 1},
]
RIGHT = [{"k": 1.0, "b": "p", "v": 2}, {"k": 1, "b": "q", "v": 1}, {"k": None, "b": "m", "v": 1}]


def joined(run: Any, left: list[Any], right: list[Any], **arguments: Any) -> Any:
    status = arguments.pop("status", "success")
    return run(
        {"type": "create-collection", "value": left, "out": "$left"},
        {"type": "create-collection", "value": right, "out": "$right"},
        {"type": "join", "target": "$left", "value": "$right", "out": "$both", **arguments},
        status=status,
    )


def test_every_pair_of_equal_values_is_merged_and_the_right_one_wins(run: Any) -> None:
    """1 is 1.0, not "1"; null matches nothing; keys of which both have one value are no conflict."""
    ran = joined(run, LEFT, RIGHT, on="k")
    assert ran.content("both") == [{"k": 1, "a": "x", "v": 2, "b": "p"}, {"k": 1, "a": "x", "v": 1, "b": "q"}]
    assert ran.last.extra == {"conflicts": 1}
    assert [dict(item.metadata) for item in ran.items("both")] == [{}, {}]


@pytest.mark.parametrize(
    ("how", "marks"),
    [("inner", "xx"), ("left", "xxnsy"), ("right", "xxm"), ("outer", "xxnsym")],
)
def test_what_has_no_match_is_kept_as_the_type_says(run: Any, how: str, marks: str) -> None:
    """Left ones in their places, right ones at the end."""
    ran = joined(run, LEFT, RIGHT, on="k", join_type=how)
    assert "".join(row.get("a", row.get("b")) for row in ran.content("both")) == marks


def test_the_paths_may_differ_and_lead_anywhere(run: Any) -> None:
    """Into content on one side, to what belongs to the resource on the other."""
    ran = run(
        {"type": "create-note", "value": {"city": "Rome"}, "name": "it", "out": "$a"},
        {"type": "create-collection", "value": ["$a"], "out": "$cities"},
        {"type": "create-collection", "value": [{"trip": {"to": ["it"]}}, {"trip": {"to": []}}], "out": "$trips"},
        {"type": "join", "target": "$trips", "value": "$cities", "left_key": "trip.to[0]", "right_key": "@name"}
        | {"out": "$both"},
    )
    assert ran.content("both") == [{"trip": {"to": ["it"]}, "city": "Rome"}]


@pytest.mark.parametrize(
    ("arguments", "has"),
    [
        ({}, "none of them"),
        ({"left_key": "k"}, "`left_key`"),
        ({"right_key": "k"}, "`right_key`"),
        ({"on": "k", "left_key": "k"}, "`on` and `left_key`"),
        ({"on": "k", "left_key": "k", "right_key": "k"}, "`on` and `left_key` and `right_key`"),
        ({"on": None}, "none of them"),
    ],
)
def test_one_way_of_saying_the_key_is_wanted(run: Any, arguments: Any, has: str) -> None:
    """Exactly one, and the sentence says what is there."""
    ran = joined(run, LEFT, RIGHT, **arguments, status="refused")
    [problem] = [problem for problem in ran.result.problems if problem.severity == "error"]
    assert (problem.code, problem.pointer) == ("bad-argument", "/steps/2")
    assert problem.message == f"join needs either `on`, or `left_key` and `right_key`; it has {has}"
    assert problem.hint == '"on": "id" where both have it under one path, else "left_key" and "right_key"'


@pytest.mark.parametrize(("item", "what"), [("text", "of type string"), (None, "of type null"), ([1], "of type list")])
@pytest.mark.parametrize("side", ["left", "right"])
def test_what_is_no_object_cannot_be_merged(run: Any, item: Any, what: str, side: str) -> None:
    """On either side, whether or not it would match."""
    left, right = ([{"k": 1}, item], RIGHT) if side == "left" else (LEFT, [{"k": 1}, item])
    ran = joined(run, left, right, on="k", status="failed")
    assert f"is {what}" in ran.reason
    assert "`project` makes objects" in ran.reason


def test_a_collection_is_no_object(run: Any) -> None:
    """The sentence says what it is."""
    ran = joined(run, [{"k": 1}], ["$left"], on="k", status="failed")
    assert "is a Collection" in ran.reason


def test_nothing_joined_with_nothing_is_nothing(run: Any) -> None:
    """Empty is success."""
    assert joined(run, [], [], on="k", join_type="outer").content("both") == []
