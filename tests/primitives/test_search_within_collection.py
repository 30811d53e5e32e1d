"""`search-within-collection`: passages of what a Collection holds. The real model."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import Space
from infospace.store.changes import Delete, Revise

FILLER = "The committee met on Tuesday and agreed on the budget for office furniture. " * 60
CAT = "Then a cat walked in and fell asleep on the table."
SEARCH = {"type": "search-within-collection", "target": "$c", "query": "a sleeping cat", "out": "$found"}


def collection(*values: Any) -> dict[str, Any]:
    """A step that binds `$c` to a Collection."""
    return {"type": "create-collection", "value": list(values), "out": "$c"}


def passages(ran: Any) -> list[str]:
    """The passages found, in order."""
    return [hit["metadata"]["passage"]["text"] for hit in ran.content("found")]


def certificate(ran: Any) -> Any:
    """What the last step proved."""
    return ran.last.extra["certificate"]


def test_the_best_passages_come_first_whoever_has_them(run: Any) -> None:
    """Transient Notes too, one hit a passage; ranges tell them apart."""
    ran = run(
        collection(f"{FILLER}{CAT} {FILLER}", "Bread is baked.", "Kittens sleep a lot."), SEARCH | {"limit": "all"}
    )
    found = ran.content("found")
    assert {passages(ran)[0], passages(ran)[1]} >= {"Kittens sleep a lot."}
    assert any(CAT in passage for passage in passages(ran)[:2])
    for hit in found:
        about = hit["metadata"]
        assert hit["text"][about["passage"]["start"] : about["passage"]["end"]] == about["passage"]["text"]
    ranges = [(hit["metadata"]["source_id"], hit["metadata"]["passage"]["start"]) for hit in found]
    assert len(set(ranges)) == len(ranges)
    scores = [hit["metadata"]["score"] for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert 0 < scores[-1] < scores[0] <= 1


def test_the_certificate_counts_passages_and_items(run: Any) -> None:
    """Of every item, found or not."""
    ran = run(collection(FILLER * 2, "Kittens sleep a lot.", ""), SEARCH | {"threshold": -1, "limit": 2})
    proved = certificate(ran)
    assert (proved["items"], proved["left_out"], proved["returned"], proved["exhaustive"]) == (3, 0, 2, False)
    assert proved["passages"] == proved["scored"] == proved["matched"] > 3
    assert "notes" not in proved


def test_results_stand_for_their_sources_and_collections_for_their_items(search: Any) -> None:
    """Each source is searched once; scores are those of `discover-notes`, which looks at titles, too."""
    ran = search(
        {"type": "discover-notes", "query": "a sleeping cat", "limit": 4, "threshold": -1, "out": "$hits"},
        {"type": "create-collection", "value": ["$hits", "$hits[0]"], "out": "$c"},
        SEARCH | {"limit": "all", "threshold": -1},
    )
    best: dict[str, float] = {}
    for hit in ran.content("found"):
        best.setdefault(hit["metadata"]["source_id"], hit["metadata"]["score"])
    whole = {hit["metadata"]["source_id"]: hit["metadata"]["score"] for hit in ran.content("hits")}
    titled = {hit["metadata"]["source_id"] for hit in ran.content("hits") if "title" in hit["metadata"]["source"]}
    assert len(titled) == 1
    assert all(best[source] < whole[source] for source in titled)
    assert {source: score for source, score in best.items() if source not in titled} == {
        source: score for source, score in whole.items() if source not in titled
    }
    assert certificate(ran)["items"] == 4


def test_the_source_counts_as_it_is_now(search: Any, found: Space) -> None:
    """A changed one by its new text; a deleted one is left out, and counted."""
    query = {"type": "discover-notes", "query": "a sleeping cat", "limit": "all", "threshold": -1, "name": "c"}
    search(query | {"out": "$h"})
    cat, dog = found.context().get("cat"), found.context().get("dog")
    found.store.commit([Revise(cat.id, "Submarines dive."), Delete(dog.id)])
    ran = search(SEARCH | {"target": "c", "query": "submarines", "limit": 1})
    assert passages(ran) == ["Submarines dive."]
    assert certificate(ran)["left_out"] == 1


def test_by_words_and_by_both(run: Any) -> None:
    """The same scores and reasons as in `discover-notes`."""
    notes = collection("A cat sleeps.", "Error E1047 in the log.", "Dogs bark.")
    ran = run(notes, SEARCH | {"query": "e1047", "mode": "keyword"})
    assert passages(ran) == ["Error E1047 in the log."]
    assert 0 < ran.content("found")[0]["metadata"]["score"] < 1
    proved = certificate(ran)
    assert (proved["matched"], proved["threshold"], proved["model"], proved["max_below"]) == (1, None, None, None)
    ran = run(notes, SEARCH | {"query": "sleeping cat e1047", "mode": "hybrid", "threshold": 0.3})
    by = {hit["text"]: hit["metadata"]["matched_by"] for hit in ran.content("found")}
    assert by["Error E1047 in the log."][-1] == "words"
    assert by["A cat sleeps."] == ["meaning", "words"]
    assert "Dogs bark." not in by
    proved = certificate(ran)
    assert (proved["threshold"], proved["model"]) == (0.3, "sentence-transformers/all-MiniLM-L6-v2")
    assert proved["max_below"] < 0.3


def test_equal_passages_go_by_note_and_then_by_place(run: Any) -> None:
    """Whichever item comes first."""
    part = "The committee met on Tuesday and agreed on furniture. " * 18
    ran = run(
        {"type": "create-note", "value": f"{part}\n\n{part}", "out": "$a"},
        {"type": "create-note", "value": f"{part}\n\n{part}", "out": "$b"},
        {"type": "create-collection", "value": ["$b", "$a"], "out": "$c"},
        SEARCH | {"query": "committee", "mode": "keyword", "limit": "all"},
    )
    hits = [hit["metadata"] for hit in ran.content("found")]
    assert len({hit["score"] for hit in hits}) == 1
    places = [(int(hit["source_id"].partition("_")[2]), hit["passage"]["start"]) for hit in hits]
    assert len(places) == 4
    assert places == sorted(places)


def test_a_hit_is_evidence_of_its_source(run: Any) -> None:
    """`load` gives it."""
    ran = run(collection("A cat sleeps."), SEARCH, {"type": "load", "target": "$found[0]", "out": "$source"})
    assert ran.content("source") == "A cat sleeps."


@pytest.mark.parametrize("values", [[], [""], ["", " "]])
def test_where_there_is_no_text_nothing_is_found(run: Any, values: list[str]) -> None:
    """No hit is success."""
    ran = run(collection(*values), SEARCH)
    assert (ran.content("found"), certificate(ran)["exhaustive"]) == ([], True)


@pytest.mark.parametrize("fault", [{"query": " "}, {"limit": 0}, {"threshold": 2}, {"mode": "fuzzy"}, {"target": "$x"}])
def test_wrong_arguments_are_refused(run: Any, fault: dict[str, Any]) -> None:
    """Before anything runs."""
    run(collection("x"), SEARCH | fault, status="refused")


def test_a_word_behind_an_escape_is_found(run: Any) -> None:
    r"""`\n` before a word of a JSON Note is a blank to full text, and no letter of the word."""
    ran = run(collection({"log": "first\nzebra"}, "a cat"), SEARCH | {"query": "zebra", "mode": "keyword"})
    assert passages(ran) == ['{"log":"first\\nzebra"}']


def test_two_passages_of_one_note_are_two_results(run: Any) -> None:
    """In set operations, in the same run and in a later one: neither stands for the other."""
    steps = [collection(f"{FILLER}{CAT} {FILLER}"), SEARCH | {"threshold": -1, "limit": 3}]
    united = {"type": "union", "target": "$found", "value": "$found", "out": "$all"}
    ran = run(*steps, united)
    assert len({hit["source_id"] for hit in (one["metadata"] for one in ran.content("found"))}) == 1
    assert len(ran.content("all")) == len(ran.content("found")) == 3
    rest = {"type": "difference", "target": "$found", "value": "$best", "out": "$rest"}
    ran = run(*steps, {"type": "head", "target": "$found", "count": 1, "out": "$best"}, rest)
    assert len(ran.content("rest")) == 2
    run(*steps, {"type": "persist", "target": "$found", "name": "kept passages"})
    load = {"type": "load", "target": "kept passages", "out": "$kept"}
    again = run(load, {"type": "union", "target": "$kept", "value": "$kept", "out": "$all"})
    assert len(again.content("all")) == 3


def test_auto_ends_hits_between_the_best_and_chance(run: Any) -> None:
    """Of the passages themselves; what is far from the best one is left out, and words know no threshold."""
    items = collection(
        "Kittens sleep a lot.", "A cat dozes on a pillow.", "The bank raised its rates.", "Glass is sand."
    )
    ran = run(items, SEARCH | {"threshold": "auto", "limit": "all"})
    assert sorted(passages(ran)) == ["A cat dozes on a pillow.", "Kittens sleep a lot."]
    assert -1 < certificate(ran)["chance"] < certificate(ran)["threshold"] < 1
    ran = run(items, SEARCH | {"threshold": "auto", "mode": "keyword"})
    assert "chance" not in certificate(ran)
    ran = run(collection(""), SEARCH | {"threshold": "auto"})
    assert certificate(ran)["chance"] is None


@pytest.mark.parametrize("mode", ["semantic", "keyword", "hybrid"])
def test_explained_passages_say_what_their_scores_are_made_of(run: Any, mode: str) -> None:
    """Beside all that they say without it; a word counts where its passage has it, and once for all its forms."""
    step = SEARCH | {"query": "the cats, a sleeping cat", "mode": mode, "limit": "all", "threshold": -1}
    texts = collection("A cat was asleep. " * 3, "Kittens are sleeping; the cat sleeps.", "Bread is baked.")
    plain = run(texts, step)
    ran = run(texts, step | {"explain": True})
    assert len(plain.content("found")) == (2 if mode == "keyword" else 3)
    for hit, before in zip(ran.content("found"), plain.content("found"), strict=True):
        why = hit["metadata"].pop("explanation")
        assert hit["metadata"]["score"] == before["metadata"]["score"]
        assert hit["metadata"]["passage"] == before["metadata"]["passage"]
        assert hit["metadata"].keys() == before["metadata"].keys()
        score, text = hit["metadata"]["score"], hit["text"]
        if mode == "semantic":
            assert why == {"meaning": [{"part": "passage", "cosine": score}]}
            continue
        assert all(one["in"] == ["text"] for one in why["words"])
        assert {one["word"] for one in why["words"]} == {
            word for word, stem in {"cats": "cat", "sleeping": "sleeping"}.items() if stem in text
        }
        if mode == "keyword":
            bm25 = sum(one["bm25"] for one in why["words"])
            assert bm25 / (bm25 + 1) == pytest.approx(score, abs=1e-5)
        else:
            adds = sum(one["adds"] for one in why["words"])
            assert why["meaning"][0]["cosine"] + adds == pytest.approx(score, abs=1e-5)


def test_what_explains_a_passage_is_a_place_of_it(run: Any) -> None:
    """With `explain`; without it the check says that there is none."""
    best = {"type": "create-note", "value": "${found[0].metadata.explanation.meaning[0].part}", "out": "$part"}
    assert run(collection("a cat"), SEARCH | {"explain": True}, best).content("part") == "passage"
    refused = run(collection("a cat"), SEARCH, best, status="refused")
    assert ["explanation" in problem.message for problem in refused.result.problems] == [True]
