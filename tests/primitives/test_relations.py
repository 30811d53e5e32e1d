"""`create-relation`, `find-relations`, `related`: labelled arrows, and what they lead to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

NOTES = [{"type": "create-note", "value": name, "out": f"${name}"} for name in "abc"]
ARROWS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.sampled_from("xy")), max_size=6)


def relate(source: str, target: str, relation: str = "x", **fields: Any) -> dict[str, Any]:
    """A step that makes a Relation."""
    return {"type": "create-relation", "source": f"${source}", "target": f"${target}", "relation": relation, **fields}


def test_a_relation_is_an_arrow_with_a_label(run: Any) -> None:
    """As a value it is its ends and its label; it is transient until it is kept, and then keeps its ends."""
    ran = run(*NOTES, relate("a", "b", out="$r"), relate("b", "c", name="kept", out="$k"))
    a, b, c = (ran.resource(name) for name in "abc")
    assert ran.content("r") == {"source": a.id, "target": b.id, "relation": "x"}
    assert [ran.resource(name).kept for name in "rkabc"] == [False, True, False, True, True]
    assert c.kept


@settings(max_examples=40, deadline=None)
@given(arrows=ARROWS, source=st.sampled_from("abc"), target=st.sampled_from("abc"), label=st.sampled_from("xyz"))
@example(arrows=[("b", "a", "x"), ("a", "c", "x"), ("a", "b", "x")], source="a", target="b", label="x")
def test_what_is_asked_for_is_found_and_nothing_else(
    shared: Any, arrows: list[tuple[str, str, str]], source: str, target: str, label: str
) -> None:
    """By any of ends and label, in the order in which they were made; `related` gives the other ends, each once."""
    asked: dict[str, dict[str, str]] = {
        "all": {},
        "from": {"source": f"${source}"},
        "to": {"target": f"${target}"},
        "between": {"source": f"${source}", "target": f"${target}", "relation": label},
    }
    ways: list[Any] = ["out", "in", "both"]
    ran = shared(
        *NOTES,
        *(relate(*arrow) for arrow in arrows),
        *({"type": "find-relations", "out": f"${name}", **arguments} for name, arguments in asked.items()),
        *({"type": "related", "target": f"${source}", "direction": way, "out": f"${way}"} for way in ways),
        {"type": "related", "target": f"${source}", "relation": label, "out": "$labelled"},
    )
    names = {ran.resource(name).id: name for name in "abc"}
    found = {
        name: [(names[r.source], names[r.target], r.relation) for r in ran.items(name) if r.source in names]
        for name in asked
    }
    assert found["all"] == arrows
    assert found["from"] == [arrow for arrow in arrows if arrow[0] == source]
    assert found["to"] == [arrow for arrow in arrows if arrow[1] == target]
    assert found["between"] == [arrow for arrow in arrows if arrow == (source, target, label)]
    ends = {"out": [a[1] for a in arrows if a[0] == source], "in": [a[0] for a in arrows if a[1] == source]}
    for way in ("out", "in"):
        assert ran.content(way) == list(dict.fromkeys(ends[way]))
    both = [end for arrow in arrows for end, other in (arrow[1::-1], arrow[:2]) if other == source]
    assert ran.content("both") == list(dict.fromkeys(both))
    assert ran.content("labelled") == list(dict.fromkeys(a[1] for a in arrows if (a[0], a[2]) == (source, label)))


def test_what_another_run_made_and_did_not_keep_is_not_found(run: Any) -> None:
    """Kept Relations are."""
    names = [{**note, "name": note["value"]} for note in NOTES]
    run(*names, relate("a", "b", "left behind"), relate("a", "c", "kept", name="arrow"))
    ran = run(
        {"type": "find-relations", "source": "a", "out": "$found"},
        {"type": "related", "target": "a", "out": "$others"},
    )
    assert [relation.relation for relation in ran.items("found")] == ["kept"]
    assert ran.content("others") == ["c"]


def test_a_search_result_stands_for_its_source(search: Any) -> None:
    """At either end, when it is made and when it is asked for."""
    ran = search(
        {"type": "discover-notes", "query": "a sleepy cat", "limit": 1, "out": "$hits"},
        {"type": "create-note", "value": "summary", "out": "$s"},
        {"type": "create-relation", "source": "$s", "target": "$hits[0]", "relation": "cites"},
        {"type": "load", "target": "$hits[0]", "out": "$source"},
        {"type": "find-relations", "target": "$hits[0]", "out": "$arrows"},
        {"type": "related", "target": "$source", "direction": "in", "out": "$citing"},
        {"type": "related", "target": "$s", "out": "$cited"},
    )
    assert len(ran.items("arrows")) == 1
    assert [item.id for item in ran.items("citing")] == [ran.resource("s").id]
    assert [item.id for item in ran.items("cited")] == [ran.resource("source").id]


def test_deleting_an_end_deletes_the_relation(run: Any) -> None:
    """None left is success, with an empty Collection."""
    ran = run(*NOTES, relate("a", "b"), {"type": "remove", "target": "$b"}, {"type": "find-relations", "out": "$found"})
    assert (ran.items("found"), ran.last.extra["item_count"]) == ([], 0)


def test_keeping_a_collection_keeps_the_relations_between_its_items(run: Any) -> None:
    """And not those that lead out of it."""
    ran = run(
        *NOTES,
        relate("a", "b", out="$inside"),
        relate("a", "c", out="$outside"),
        {"type": "create-collection", "value": ["$a", "$b"], "out": "$list"},
        {"type": "persist", "target": "$list"},
    )
    assert (ran.resource("inside").kept, ran.resource("outside").kept) == (True, False)


@pytest.mark.parametrize(
    ("step", "pointer"),
    [
        (relate("a", "b", " "), "/steps/3/relation"),
        ({"type": "related", "target": "$a", "direction": "back", "out": "$x"}, "/steps/3/direction"),
        ({"type": "create-relation", "source": "$a", "relation": "x"}, "/steps/3"),
    ],
)
def test_what_does_not_fit_is_refused_where_it_stands(run: Any, step: dict[str, Any], pointer: str) -> None:
    """Before anything runs."""
    ran = run(*NOTES, step, status="refused")
    assert [p.pointer for p in ran.result.problems if p.severity == "error"] == [pointer]


def test_the_check_knows_that_relations_are_found(run: Any) -> None:
    """Where a Note is wanted, none of them fits."""
    find = {"type": "find-relations", "out": "$found"}
    update = {"type": "update-note", "target": "$found[0]", "value": 1}
    ran = run(find, update, status="refused")
    assert [p.code for p in ran.result.problems] == ["wrong-kind"]
