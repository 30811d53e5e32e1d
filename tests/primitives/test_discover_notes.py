"""`discover-notes`: search by meaning, with proof of how complete the answer is. The real model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from infospace import Space
from infospace.core.ids import Kind
from infospace.store.changes import Delete, Revise

CATS = {"type": "discover-notes", "query": "a sleepy cat", "out": "$hits"}
FIELDS = [
    "matched", "returned", "exhaustive", "scored", "notes", "unembedded", "max_below", "method", "threshold",
    "model", "generation",
]  # fmt: skip
SEARCHED = 8
"""Notes of the library that are searched: all kept ones but `_hidden`."""


def ids(ran: Any) -> list[str]:
    """The hits' sources, in order."""
    return [hit["metadata"]["source_id"] for hit in ran.content("hits")]


def names(ran: Any) -> list[str | None]:
    """The names of the hits' sources, in order."""
    return [ran.space.context().get(source).name for source in ids(ran)]


def scores(ran: Any) -> list[float]:
    """The hits' scores, in order."""
    return [hit["metadata"]["score"] for hit in ran.content("hits")]


def certificate(ran: Any) -> Any:
    """What the last step proved."""
    return ran.last.extra["certificate"]


def test_the_nearest_come_first(look: Any) -> None:
    """Ordered by score, a title's too; at the default threshold the bread is not near a cat."""
    ran = look(CATS)
    assert set(names(ran)[:3]) == {"record", "cat", "kitten"}
    assert scores(ran) == sorted(scores(ran), reverse=True)
    assert not {"bread", "star"} & set(names(ran))


def test_every_kept_note_is_searched_and_nothing_else(look: Any) -> None:
    """Not `_hidden`, not transient Notes; the empty one is counted, and cannot be found."""
    ran = look(CATS | {"limit": "all", "threshold": -1})
    assert set(names(ran)) == {"cat", "dog", "kitten", "bread", "star", "record", "long"}
    assert {key: certificate(ran)[key] for key in FIELDS[:7]} == {
        "matched": SEARCHED - 1,
        "returned": SEARCHED - 1,
        "exhaustive": True,
        "scored": SEARCHED,
        "notes": SEARCHED,
        "unembedded": 0,
        "max_below": None,
    }


def test_the_certificate_has_exactly_its_fields(look: Any) -> None:
    """Those that the language documents."""
    ran = look(CATS)
    proved = certificate(ran)
    assert list(proved) == FIELDS
    with ran.space.store.reading() as snapshot:
        assert (proved["method"], proved["threshold"], proved["generation"]) == ("exact", 0.3, snapshot.generation)
    assert proved["model"] == "sentence-transformers/all-MiniLM-L6-v2"
    assert ran.last.extra["item_count"] == proved["returned"] == len(ids(ran))


def test_a_limit_cuts_and_the_certificate_says_what_was_left(look: Any) -> None:
    """`matched` counts all at or above the threshold; two returned are the two best."""
    everything = look(CATS | {"limit": "all", "threshold": 0.0})
    two = look(CATS | {"limit": 2, "threshold": 0.0})
    assert ids(two) == ids(everything)[:2]
    assert certificate(two)["matched"] == certificate(everything)["matched"] == len(ids(everything)) > 2
    assert (certificate(two)["exhaustive"], certificate(everything)["exhaustive"]) == (False, True)


def test_a_threshold_includes_its_own_score_and_the_next_one_is_told(look: Any) -> None:
    """Scores have six decimals and are compared as such."""
    ordered = scores(look(CATS | {"limit": "all", "threshold": -1}))
    for place, score in enumerate(ordered[:4]):
        assert score == round(score, 6)
        at = look(CATS | {"limit": "all", "threshold": score})
        assert scores(at) == ordered[: place + 1]
        assert certificate(at)["max_below"] == ordered[place + 1]
        above = look(CATS | {"limit": "all", "threshold": score + 1e-6})
        assert scores(above) == ordered[:place]
        assert certificate(above)["max_below"] == score


def test_scores_are_the_cosines_of_the_models_own_vectors(search: Any, found: Space) -> None:
    """A Note without passages scores as the cosine of its text to the query."""
    ran = search(CATS | {"limit": "all", "threshold": -1})
    score = dict(zip(names(ran), scores(ran), strict=True))
    for name in ("cat", "dog", "bread"):
        text = ran.space.context().get(name).content
        cosine = float(np.dot(found.embedding.query("a sleepy cat"), found.embedding.query(text)))
        assert score[name] == pytest.approx(cosine, abs=1e-4)


def test_a_hit_has_the_documented_content(search: Any, found: Space) -> None:
    """The source's text, id, title, metadata and score, and the passage."""
    (hit,) = search(CATS | {"query": "young cats play with wool", "limit": 1}).content("hits")
    source = found.context().get("kitten")
    assert list(hit) == ["text", "format", "metadata", "char_count"]
    assert (hit["text"], hit["format"], hit["char_count"]) == (source.content, "text", len(source.content))
    about = hit["metadata"]
    assert list(about) == ["source_id", "uri", "score", "type", "title", "passage", "source"]
    assert (about["source_id"], about["type"], about["title"]) == (source.id, "Note", "Young cats")
    assert about["source"] == source.metadata
    assert about["passage"] == {"start": 0, "end": len(source.content), "text": source.content, "headings": []}


def test_a_uri_is_shown_where_the_source_has_one(look: Any) -> None:
    """It is null otherwise."""
    (star,) = look(CATS | {"query": "stars in a galaxy", "limit": 1}).content("hits")
    assert star["metadata"]["uri"] == "file:///star.md"
    (bread,) = look(CATS | {"query": "bake bread", "limit": 1}).content("hits")
    assert bread["metadata"]["uri"] is None


def test_the_text_of_a_json_note_is_its_compact_json(look: Any) -> None:
    """Keys in stored order."""
    ran = look(CATS | {"where": "animal = 'cat'", "threshold": -1})
    (hit,) = ran.content("hits")
    assert (hit["format"], hit["text"]) == ("json", '{"animal":"cat","colour":"black","mood":"sleepy"}')


def test_a_long_note_scores_as_its_best_passage(look: Any) -> None:
    """The passage is a stretch of the text, and it is the one about the cat."""
    ran = look(CATS | {"query": "a cat fell asleep on the table", "where": "metadata.topic = 'work'", "threshold": 0})
    (hit,) = ran.content("hits")
    passage = hit["metadata"]["passage"]
    assert hit["text"][passage["start"] : passage["end"]] == passage["text"]
    assert "a cat walked in" in passage["text"]
    assert len(passage["text"]) < len(hit["text"])


def test_where_narrows_before_the_limit(look: Any) -> None:
    """The certificate counts only Notes that satisfy it; a missing field is unknown."""
    ran = look(
        {"type": "create-note", "value": 2021, "out": "$y"},
        CATS | {"where": "metadata.year >= $y", "limit": 1, "threshold": -1},
    )
    assert names(ran) == ["dog"]
    assert (certificate(ran)["notes"], certificate(ran)["scored"], certificate(ran)["exhaustive"]) == (1, 1, True)


def test_within_searches_a_collection_or_the_sources_of_its_results(look: Any) -> None:
    """Notes, results and their sources count once."""
    ran = look(
        {"type": "discover-notes", "query": "bake bread", "limit": 1, "out": "$bread"},
        {"type": "load", "target": "star", "out": "$star"},
        {"type": "create-collection", "value": ["$star", "$bread[0]", "$star"], "out": "$some"},
        CATS | {"within": "$some", "limit": "all", "threshold": -1},
    )
    assert set(names(ran)) == {"bread", "star"}
    assert certificate(ran)["notes"] == 2


def test_within_an_empty_collection_there_is_nothing(look: Any) -> None:
    """No hit is success."""
    ran = look({"type": "create-collection", "value": [], "out": "$none"}, CATS | {"within": "$none", "limit": "all"})
    assert ids(ran) == []
    assert (certificate(ran)["notes"], certificate(ran)["exhaustive"]) == (0, True)


def test_results_of_searches_are_never_found(search: Any) -> None:
    """Not even kept ones."""
    search(CATS, {"type": "persist", "target": "$hits", "name": "cats"})
    ran = search(CATS | {"limit": "all", "threshold": -1})
    assert certificate(ran)["notes"] == SEARCHED
    assert len(set(ids(ran))) == len(ids(ran)) == SEARCHED - 1


def test_a_deleted_note_leaves_no_ghost(search: Any, found: Space) -> None:
    """It is gone at the next search."""
    search(CATS)
    found.store.commit([Delete(found.context().get("cat").id)])
    ran = search(CATS | {"limit": "all", "threshold": -1})
    assert "cat" not in names(ran)
    assert certificate(ran)["notes"] == SEARCHED - 1


def test_a_changed_note_is_found_by_what_it_says_now(search: Any, found: Space) -> None:
    """And no longer by what it said."""
    search(CATS)
    note = found.context().get("bread")
    found.store.commit([Revise(note.id, content="Sailing boats race across the harbour.")])
    sailing = search(CATS | {"query": "regatta of yachts", "limit": 1})
    assert ids(sailing) == [note.id]
    assert sailing.content("hits")[0]["text"].startswith("Sailing")
    assert note.id not in ids(search(CATS | {"query": "bake bread", "limit": "all"}))


def test_a_note_that_is_no_longer_infrastructure_is_found(search: Any, found: Space) -> None:
    """A name that begins with `_` hides it, as long as it has that name."""
    hidden = found.context().get("_hidden")
    search({"type": "persist", "target": hidden.id, "name": "shown"})
    assert hidden.id in ids(search(CATS | {"limit": "all"}))


def test_the_same_search_gives_the_same_answer(search: Any) -> None:
    """Deterministic; equal scores come in the order of ids."""
    search(
        {"type": "create-note", "value": "Twins say the same words about cats.", "name": "twin 1"},
        {"type": "create-note", "value": "Twins say the same words about cats.", "name": "twin 2"},
    )
    first = search(CATS | {"query": "twins about cats", "limit": "all", "threshold": 0.0})
    again = search(CATS | {"query": "twins about cats", "limit": "all", "threshold": 0.0})
    assert (ids(first), scores(first)) == (ids(again), scores(again))
    assert names(first)[:2] == ["twin 1", "twin 2"]
    assert scores(first)[0] == scores(first)[1]


@pytest.mark.parametrize("query", ["", "   ", "\n\t"])
def test_a_blank_query_is_refused(look: Any, query: str) -> None:
    """At its place, with what to do."""
    ran = look(CATS | {"query": query}, status="refused")
    problem = next(problem for problem in ran.result.problems if problem.severity == "error")
    assert (problem.pointer, problem.message) == ("/steps/0/query", "`query` is blank")


def test_a_query_that_only_the_run_knows_to_be_blank_fails_the_step(look: Any) -> None:
    """The reason is the same sentence."""
    ran = look(
        {"type": "load", "target": "empty", "out": "$x"},
        CATS | {"query": "${x} ${x}"},
        status="failed",
    )
    assert "`query` is blank" in ran.reason


@pytest.mark.parametrize("missing", ["query", "out"])
def test_query_and_out_are_required(look: Any, missing: str) -> None:
    """Without either it is refused."""
    ran = look({key: value for key, value in CATS.items() if key != missing}, status="refused")
    assert missing in ran.result.problems[0].message


@pytest.mark.parametrize("limit", [0, -1, "many", 2.5, True, None, "5"])
def test_a_wrong_limit_is_one_problem_at_its_place(look: Any, limit: Any) -> None:
    """It says what fits."""
    ran = look(CATS | {"limit": limit}, status="refused")
    errors = [problem for problem in ran.result.problems if problem.severity == "error"]
    assert [problem.pointer for problem in errors] == ["/steps/0/limit"]
    assert errors[0].message.endswith('not a whole number from 1 or "all"')


@pytest.mark.parametrize("threshold", [2, -1.5, "0.3", True])
def test_a_wrong_threshold_is_one_problem_at_its_place(look: Any, threshold: Any) -> None:
    """A cosine lies between -1 and 1."""
    ran = look(CATS | {"threshold": threshold}, status="refused")
    errors = [problem for problem in ran.result.problems if problem.severity == "error"]
    assert [problem.pointer for problem in errors] == ["/steps/0/threshold"]
    assert errors[0].message.endswith('not a number from -1 to 1 or "auto"')


def test_in_an_empty_space_nothing_is_found_and_that_is_proved(run: Any) -> None:
    """No model is needed for that."""
    ran = run(CATS | {"limit": "all"})
    assert ran.content("hits") == []
    assert list(certificate(ran)) == FIELDS
    assert (certificate(ran)["exhaustive"], certificate(ran)["notes"], ran.last.value) == (True, 0, "0 items")


def test_called_directly_it_answers_with_the_contents(found: Space, call_in: Callable[..., Any]) -> None:
    """No variable is wanted there, and nothing is left behind."""

    def there() -> list[list[int]]:
        with found.store.reading() as snapshot:
            return [snapshot.numbers(kind, kept=None).tolist() for kind in Kind]

    before = there()
    answer = call_in(found, "discover-notes", query="a sleepy cat", limit=1)
    assert (answer.status, answer.resource_id, len(answer.data)) == ("success", None, 1)
    assert answer.extra["certificate"]["returned"] == 1
    assert there() == before


def test_a_plan_quotes_what_the_threshold_auto_rests_on(search: Any) -> None:
    """The check knows the path, and the certificate has it."""
    ran = search(
        CATS | {"threshold": "auto", "limit": "all"},
        {"type": "say", "value": "${hits.@extra.certificate.chance}"},
    )
    proved = ran.result.steps[-2].extra["certificate"]
    assert 0 < proved["chance"] < proved["threshold"]


@pytest.mark.parametrize("mode", ["semantic", "keyword", "hybrid"])
def test_explained_hits_say_what_their_scores_are_made_of(search: Any, mode: str) -> None:
    """Beside all that they say without it; a plan reads a place in it, which the check knows."""
    asked = CATS | {"mode": mode, "limit": "all"}
    plain = search(asked)
    ran = search(asked | {"explain": True})
    for hit, before in zip(ran.content("hits"), plain.content("hits"), strict=True):
        why = hit["metadata"].pop("explanation")
        assert hit == before
        score = hit["metadata"]["score"]
        if mode == "semantic":
            assert why["meaning"][0]["cosine"] == score
            assert "words" not in why
        elif mode == "keyword":
            bm25 = sum(one["bm25"] for one in why["words"])
            assert bm25 / (bm25 + 1) == pytest.approx(score, abs=1e-5)
        else:
            adds = sum(one["adds"] for one in why["words"])
            assert why["meaning"][0]["cosine"] + adds == pytest.approx(score, abs=1e-5)
    assert len(ran.content("hits")) > 0


def test_what_explains_a_hit_is_a_place_of_it(search: Any) -> None:
    """With `explain`; without it the check says that there is none."""
    best = {"type": "create-note", "value": "${hits[0].metadata.explanation.meaning[0].part}", "out": "$part"}
    assert search(CATS | {"explain": True}, best).content("part") == "passage"
    refused = search(CATS, best, status="refused")
    assert ["explanation" in problem.message for problem in refused.result.problems] == [True]
