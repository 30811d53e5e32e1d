"""`infospace search`: how many, which, none, and why each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

QUERY = "why did the ranker not ship"
NOTES = {
    "ranker.md": "---\ndescription: delays\nowner: ship yard\n---\n# The late ranker\n\nOur ranker is slow to ship.",
    "harbour.md": "The ship left the harbour in the morning.",
    "bread.md": "Sourdough wants flour and water once a week.",
    "empty.md": "---\nstatus: open\n---\n",
}


@pytest.fixture
def vault(cli: Any, tmp_path: Path, model: Any) -> Any:
    """Call the command in a space of some notes."""
    del model
    folder = tmp_path / "vault"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    assert cli("add", str(folder)).code == 0
    return cli


def hits(said: Any) -> dict[str, Any]:
    """The metadata of hits by their paths."""
    return {hit["metadata"]["path"]: hit["metadata"] for hit in said.json["data"]}


@pytest.mark.parametrize("more", [[], ["--mode", "keyword"], ["--mode", "hybrid"], ["--threshold", "-1"]], ids=str)
def test_the_count_is_that_of_all_hits(vault: Any, more: list[str]) -> None:
    """On one line for other programs, with the certificate beside it."""
    every = vault("search", QUERY, "--limit", "all", "--json", *more).json["data"]
    said = vault("search", QUERY, "--count", *more)
    assert (said.code, said.out) == (0, f"{len(every)}\n")
    assert said.err.startswith(f"all {len(every)} of ")
    told = vault("search", QUERY, "--count", "--json", *more).json
    assert (told["count"], told["complete"]) == (len(every), True)
    assert told["certificate"]["matched"] == len(every) >= 2 - (more == [])


def test_a_search_says_how_probable_it_is_that_the_first_hit_is_about_the_question(
    vault: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are notes enough to tell; of no hit nothing."""
    monkeypatch.setattr("infospace.search.certainty.first_hit.FEWEST", 3)
    told = vault("search", QUERY, "--json").json["extra"]["certificate"]["confidence"]
    said = f"the first is about the question with a probability of {told:.2f}\n"
    assert said in vault("search", QUERY).err
    assert "with a probability" not in vault("search", QUERY, "--threshold", "0.99").err


def test_a_count_over_a_space_that_is_not_embedded_is_not_complete(vault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says of how many notes nothing is known."""
    monkeypatch.setenv("INFOSPACE_EMBED_SECONDS", "0")
    made = vault("run", "-", stdin='[{"type": "create-note", "value": "The ranker did not ship.", "name": "late"}]')
    assert made.code == 0
    told = vault("search", QUERY, "--count", "--json").json
    assert (told["complete"], told["certificate"]["unembedded"]) == (False, 1)


def test_a_count_is_exact_where_an_index_would_answer(vault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index finds the nearest, and cannot say how many there are."""
    monkeypatch.setenv("INFOSPACE_INDEX", "hnsw")
    said = vault("search", QUERY, "--count", "--threshold", "-1", "--json").json
    assert (said["count"], said["certificate"]["method"]) == (len(NOTES), "exact")


def test_a_condition_alone_chooses_and_counts(vault: Any) -> None:
    """Without a query all that satisfy it are listed, unless a limit is given."""
    where = ["--where", "@path <> 'bread.md'"]
    assert set(hits(vault("search", *where, "--json"))) == {"ranker.md", "harbour.md", "empty.md"}
    assert len(hits(vault("search", *where, "--limit", "2", "--json"))) == 2
    assert vault("search", *where, "--count").out == "3\n"
    assert vault("search", "--where", "@path = 'x'", "--count").out == "0\n"


def test_what_explains_a_hit_adds_up_to_its_score(vault: Any) -> None:
    """The best cosine, and what each word adds; the words are told with where they stand."""
    said = vault("search", QUERY, "--mode", "hybrid", "--threshold", "-1", "--explain", "--json")
    found = hits(said)
    assert set(found) == set(NOTES)
    for about in found.values():
        why = about["explanation"]
        assert why["meaning"][0]["cosine"] == about["cosine"] == max(one["cosine"] for one in why["meaning"])
        assert sum(one["bm25"] for one in why["words"]) == pytest.approx(about["bm25"], abs=1e-5)
        adds = sum(one["adds"] for one in why["words"])
        assert about["cosine"] + adds == pytest.approx(about["score"], abs=1e-5)
    why = found["ranker.md"]["explanation"]
    assert {one["part"] for one in why["meaning"]} == {"passage", "title", "description"}
    assert {one["word"]: one["in"] for one in why["words"]} == {"ranker": ["title", "text"], "ship": ["text"]}
    assert found["bread.md"]["explanation"]["words"] == []


def test_a_word_of_a_property_is_told_as_one(vault: Any) -> None:
    """It stands neither in the title nor in the text."""
    said = vault("search", "yard", "--mode", "keyword", "--explain", "--json")
    (about,) = hits(said).values()
    (share,) = about["explanation"]["words"]
    assert (share["word"], share["in"]) == ("yard", ["properties"])
    assert share["bm25"] / (share["bm25"] + 1) == pytest.approx(about["score"], abs=1e-5)
    assert "meaning" not in about["explanation"]


def test_what_a_whole_title_adds_is_told(vault: Any) -> None:
    """Of a search by words, where it is added; and with the words it makes the score."""
    said = vault("search", "bread", "--mode", "keyword", "--explain", "--json")
    about = hits(said)["bread.md"]
    why = about["explanation"]
    total = why["whole_title"] + sum(one["bm25"] for one in why["words"])
    assert total / (total + 1) == pytest.approx(about["score"], abs=1e-5)
    assert "whole title " in vault("search", "bread", "--mode", "keyword", "--explain").out
    both = vault("search", "bread", "--mode", "hybrid", "--explain", "--json")
    assert "whole_title" not in hits(both)["bread.md"]["explanation"]


def test_the_table_says_what_each_part_is(vault: Any) -> None:
    """Only when it is asked for."""
    shown = " ".join(vault("search", QUERY, "--mode", "hybrid", "--explain").out.split())
    assert "meaning: passage 0." in shown
    assert "ranker 0.0" in shown
    assert "(title, text)" in shown
    assert "meaning:" not in vault("search", QUERY, "--mode", "hybrid").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "search needs a query"),
        (["x", "--explain", "--count"], "--count lists none"),
        (["--where", "@path = 'x'", "--explain"], "--explain needs a query"),
        (["x", "--count", "--limit", "3"], "not allowed with argument --count"),
        (["x", "--threshold", "often"], "'often' is neither a number from -1 to 1 nor 'auto'"),
    ],
    ids=str,
)
def test_options_that_do_not_go_together_are_refused(cli: Any, arguments: list[str], message: str) -> None:
    """In one sentence, before a space is opened."""
    said = cli("search", *arguments)
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert "Traceback" not in said.err
