"""`discover-notes` by words and by both, its hints, and conditions over everything that can be asked of a Note."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import Space
from infospace.store.changes import GiveName, Revise

CATS = {"type": "discover-notes", "query": "a sleepy cat", "limit": "all", "out": "$hits"}
LOW = CATS | {"threshold": -1}


def names(ran: Any) -> list[str | None]:
    """The names of the hits' sources, in order."""
    return [ran.space.context().get(hit["metadata"]["source_id"]).name for hit in ran.content("hits")]


def certificate(ran: Any) -> Any:
    """What the last step proved."""
    return ran.last.extra["certificate"]


def test_keyword_finds_every_note_with_a_word_and_no_other(search: Any) -> None:
    """Kittens are no cats to it; the title counts."""
    ran = search(CATS | {"mode": "keyword"})
    assert set(names(ran)) == {"cat", "kitten", "record", "long"}
    scores = [hit["metadata"]["score"] for hit in ran.content("hits")]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score < 1 and score == round(score, 6) for score in scores)
    assert (certificate(ran)["matched"], certificate(ran)["exhaustive"], certificate(ran)["threshold"]) == (
        4,
        True,
        None,
    )


def test_keyword_ignores_the_threshold_and_keeps_the_limit(search: Any) -> None:
    """There is no cosine to compare it with."""
    ran = search(CATS | {"mode": "keyword", "threshold": 1, "limit": 2})
    assert len(ran.content("hits")) == 2
    assert (certificate(ran)["matched"], certificate(ran)["exhaustive"]) == (4, False)


def test_hybrid_says_of_each_hit_why_it_is_there(search: Any) -> None:
    """All that either finds, and the metadata tell which did."""
    near = set(names(search(CATS)))
    words = set(names(search(CATS | {"mode": "keyword"})))
    ran = search(CATS | {"mode": "hybrid"})
    assert set(names(ran)) == near | words
    for name, hit in zip(names(ran), ran.content("hits"), strict=True):
        about = hit["metadata"]
        assert about["matched_by"] == ["meaning"] * (name in near) + ["words"] * (name in words)
        assert about["score"] == pytest.approx(about["cosine"] + about["bm25"] / 50, abs=2e-6)
        assert list(hit) == ["text", "format", "metadata", "char_count"]
    assert certificate(ran)["matched"] == len(near | words)
    assert certificate(ran)["matched_by"] == {"meaning": len(near), "words": len(words)}


def test_hits_of_every_mode_are_evidence_of_their_source(search: Any) -> None:
    """`load` gives the source."""
    for mode in ("keyword", "hybrid"):
        ran = search(CATS | {"mode": mode, "limit": 1}, {"type": "load", "target": "$hits[0]", "out": "$source"})
        assert ran.resource("source").id == ran.content("hits")[0]["metadata"]["source_id"]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("metadata.topic = 'food' OR metadata.year = 2020", {"bread", "cat"}),
        ("animal = 'cat'", {"record"}),
        ("@name = 'dog'", {"dog"}),
        ("@name LIKE 'k%'", {"kitten"}),
        ("content LIKE '%bread%'", {"bread"}),
        ("@updated > '2020' AND @metadata.topic = 'space'", {"star"}),
        ("NOT metadata.topic = 'animals'", {"bread", "star", "long"}),
    ],
)
def test_where_may_ask_for_anything_that_a_note_has(search: Any, where: str, expected: set[str]) -> None:
    """Metadata, content, text, name and times: the same Notes as before, on the second time."""
    assert set(names(search(LOW | {"where": where}))) == expected
    assert set(names(search(LOW | {"where": where}))) == expected


def test_where_sees_what_was_changed_since_the_last_search(search: Any, found: Space) -> None:
    """New metadata, content and names; what conditions read is kept from search to search."""
    by_topic, by_name = LOW | {"where": "metadata.topic = 'food'"}, LOW | {"where": "@name = 'loaf'"}
    assert names(search(by_topic)) == ["bread"]
    bread, star = found.context().get("bread"), found.context().get("star")
    found.store.commit([Revise(star.id, metadata={"topic": "food"}), Revise(bread.id, metadata={})])
    assert names(search(by_topic)) == ["star"]
    found.store.commit([GiveName(bread.id, "loaf")])
    assert names(search(by_name)) == ["loaf"]
    found.store.commit([Revise(star.id, {"metadata": {"topic": "stars"}})])
    assert names(search(by_topic)) == []


def test_a_key_that_stands_under_metadata_is_pointed_out(search: Any) -> None:
    """Only where nothing satisfies the condition."""
    ran = search(LOW | {"where": "topic = 'animals'"})
    assert names(ran) == []
    assert ran.last.extra["hint"] == (
        "nothing satisfies `where`; 8 notes have `topic` under `metadata`: write `metadata.topic`"
    )
    assert "hint" not in search(LOW | {"where": "metadata.topic = 'animals'"}).last.extra
    assert "hint" not in search(LOW | {"where": "metadata.topic = 'nowhere'"}).last.extra
    unheard = search(LOW | {"where": "unheard_of = 1"}).last.extra["hint"]
    assert unheard == "nothing satisfies `where`; no note has `unheard_of`"


def test_filter_structured_points_it_out_too(search: Any) -> None:
    """Of Notes whose schema the check does not know."""
    every = {"type": "discover-notes", "query": "any", "limit": "all", "threshold": -1, "out": "$hits"}
    notes = {"type": "map", "target": "$hits", "operation": "load", "out": "$notes"}
    ran = search(
        every, notes, {"type": "filter-structured", "target": "$notes", "where": "year = 2020", "out": "$some"}
    )
    assert ran.last.extra["hint"].endswith("2 items have `year` under `metadata`: write `metadata.year`")


@pytest.mark.parametrize("mode", ["fuzzy", "", None, 1])
def test_another_mode_is_one_problem_at_its_place(search: Any, mode: Any) -> None:
    """It says which there are."""
    ran = search(CATS | {"mode": mode}, status="refused")
    (problem,) = [problem for problem in ran.result.problems if problem.severity == "error"]
    assert problem.pointer == "/steps/0/mode"
    assert "keyword" in f"{problem.message} {problem.hint}"


def test_the_check_knows_what_hits_of_each_mode_have(search: Any) -> None:
    """Both scores after `hybrid`, and only there."""
    by_cosine = {"type": "sort", "target": "$hits", "by": "metadata.cosine", "order": "desc", "out": "$sorted"}
    ran = search(CATS | {"mode": "hybrid"}, by_cosine)
    cosines = [hit["metadata"]["cosine"] for hit in ran.content("sorted")]
    assert cosines == sorted(cosines, reverse=True)
    for mode in ("semantic", "keyword"):
        ran = search(CATS | {"mode": mode}, by_cosine, status="refused")
        assert [problem.pointer for problem in ran.result.problems if problem.severity == "error"] == ["/steps/1/by"]
    loaded = {"type": "load", "target": "$hits[0]", "out": "$source"}
    wrong = {"type": "add", "target": "$source", "value": "$source"}
    assert search(CATS | {"mode": "hybrid"}, loaded, wrong, status="refused").result.problems[0].code == "wrong-kind"
