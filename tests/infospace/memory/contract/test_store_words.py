"""Full text: which Notes have a word of a query. A store may answer None, that it has none."""

from __future__ import annotations

import random

import numpy as np
import pytest
from store_tools import note

from infospace.core.ids import number_of
from infospace.store.changes import Delete, GiveName, Keep, Revise
from infospace.store.protocol import Store, Words


@pytest.fixture(autouse=True)
def _has_words(store: Store) -> None:
    with store.reading() as snapshot:
        if snapshot.keyword_matches("word") is None:
            assert snapshot.words_in("word", ["word"]) is None
            pytest.skip("the store has no full text")


def words(store: Store, query: str) -> Words:
    """Return what a store finds."""
    with store.reading() as snapshot:
        found = snapshot.keyword_matches(query)
    assert found is not None
    assert (found.scores > 0).all()
    assert (found.numbers.dtype, found.scores.dtype) == (np.int64, np.float64)
    assert found.numbers.tolist() == sorted(set(found.numbers.tolist()))
    return found


def having(store: Store, query: str) -> list[int]:
    """Return the numbers of the Notes with a word of a query."""
    return words(store, query).numbers.tolist()


class TestWords:
    """Which Notes, how well, and when."""

    def test_notes_with_a_word_are_found_in_text_title_and_json(self, store: Store) -> None:
        """Whatever its case; those that have none of them are not."""
        in_text, in_title = note(store, "A Zebra stood", kept=True), note(store, "x", kept=True, title="The zebra")
        in_json = note(store, {"animal": ["zebra"]}, kept=True)
        note(store, "a horse", kept=True)
        assert having(store, "zebra") == [number_of(found) for found in (in_text, in_title, in_json)]
        assert words(store, "zebra").used

    def test_what_is_called_exactly_so_is_told(self, store: Store) -> None:
        """By its title or an alias, whatever the case and the signs between; not by a part of it, nor by its text."""
        titled = note(store, "x", kept=True, title="Sea, and the Ship")
        aliased = note(store, "y", kept=True, title="moon", aliases=["sail", "sea and the ship"])
        in_json = note(store, {"title": "海の船"}, kept=True)
        note(store, "sea and the ship", kept=True, title="sea and the ship of old")
        assert words(store, "sea and the ship").titled == (number_of(titled), number_of(aliased))
        assert words(store, "海の船").titled == (number_of(in_json),)
        assert words(store, "ship and the sea").titled == words(store, "sea").titled == ()
        found = words(store, "sea and the ship")
        assert found.bound > found.scores.max()

    def test_only_what_discovery_searches_is_found(self, store: Store) -> None:
        """And from the commit on that brings it in or takes it out."""
        a, b = note(store, "zebra", kept=True), note(store, "zebra")
        assert having(store, "zebra") == [number_of(a)]
        store.commit([Keep(b)])
        assert having(store, "zebra") == [number_of(a), number_of(b)]
        store.commit([GiveName(a, "_a"), Revise(b, "horse")])
        assert (having(store, "zebra"), having(store, "horse")) == ([], [number_of(b)])
        store.commit([Revise(b, metadata={"title": "zebra"}), GiveName(a, "a")])
        assert having(store, "zebra") == [number_of(a), number_of(b)]
        store.commit([Delete(a), Delete(b)])
        assert having(store, "zebra horse") == []

    def test_more_and_rarer_words_count_more(self, store: Store) -> None:
        """Both words before one of them; the rare one before the frequent one."""
        for _ in range(6):
            note(store, "horse meadow", kept=True)
        rare, both = note(store, "zebra meadow", kept=True), note(store, "zebra horse", kept=True)
        found = words(store, "zebra horse")
        ranked = found.numbers[np.argsort(-found.scores)].tolist()
        assert ranked[:2] == [number_of(both), number_of(rare)]

    def test_a_snapshot_has_the_words_of_its_time(self, store: Store) -> None:
        """As it has everything else."""
        a = note(store, "zebra", kept=True)
        with store.reading() as snapshot:
            store.commit([Revise(a, "horse")])
            note(store, "zebra", kept=True)
            found = snapshot.keyword_matches("zebra")
        assert found is not None
        assert found.numbers.tolist() == [number_of(a)]

    @pytest.mark.parametrize(
        "query",
        [
            "",
            " ",
            "the of",
            "'",
            '"',
            "zeb'ra",
            'a "b" OR c',
            "a & b | !c:*",
            "NEAR(a b)",
            "-x",
            "\u0000",
            "🎈",
            "%_\\",
        ],
        ids=ascii,
    )
    def test_any_text_can_be_a_query(self, store: Store, query: str) -> None:
        """Operators of the engine mean nothing."""
        note(store, "a zebra's tale", kept=True)
        assert len(having(store, query)) <= 1

    def test_any_text_can_be_searched(self, store: Store) -> None:
        """Long words, long texts, any sign; the words around them are found."""
        odd = ["x" * 5_000 + " zebra", "\u0000 zebra", "zebra " + "word " * 30_000, "zebra 🎈"]
        made = [number_of(note(store, text, kept=True)) for text in odd]
        assert having(store, "zebra") == made

    def test_texts_that_are_given_are_scored_among_themselves(self, store: Store) -> None:
        """In their order, by word; 0 without it. A word that none has is not there, nor a stop word."""
        with store.reading() as snapshot:
            found = snapshot.words_in("the zebra tale and a mouse", ["a horse", "a zebra", "a zebra's tale", ""])
        assert found is not None
        assert {word: (added > 0).tolist() for word, added in found.items()} == {
            "zebra": [False, True, True, False],
            "tale": [False, False, True, False],
        }
        assert found["zebra"][1] > found["zebra"][2], "a longer text has less of it"

    def test_stretches_fit_the_words_that_were_looked_for(self, store: Store) -> None:
        """In their order; 0 without any of the words, more for both of them, and none of none."""
        note(store, "a zebra's tale", kept=True)
        used = words(store, "zebra tale").used
        with store.reading() as snapshot:
            found = snapshot.fitting(used, ["a horse", "a zebra", "a zebra's tale"])
            assert snapshot.fitting(used, []).shape == (0,)
        assert (found > 0).tolist() == [False, True, True]
        assert found[2] > found[1]

    def test_nothing_is_wrong_with_the_full_text(self, store: Store) -> None:
        """And each store that has one tells how many Notes it has read, of how many."""
        for text in ("a zebra", "a horse"):
            note(store, text, kept=True)
        told: list[tuple[int, int]] = []
        with store.reading() as snapshot:
            assert list(snapshot.wording(lambda done, total: told.append((done, total)))) == []
        assert told[-1:] == [(2, 2)]

    def test_among_some_notes_words_weigh_as_if_there_were_no_others(self, store: Store) -> None:
        """Their counts, lengths and scores: those of a store that has these alone."""
        some = ["zebra zebra horse", "horse " * 40 + "zebra", "meadow", "a zebra's tale " * 9, "horse meadow tale"]
        own = [number_of(note(store, text, kept=True)) for text in some]
        alone = words(store, "zebra horse meadow tale hidden")
        for at in range(7):
            note(store, "hidden " * 50 + "zebra meadow" * (at % 2), kept=True)
        with store.reading() as snapshot:
            found = snapshot.keyword_matches("zebra horse meadow tale hidden", own)
            used = alone.used
            fitting = snapshot.fitting(used, ["a zebra's tale", "meadow"], own)
        assert found is not None
        assert found.numbers.tolist() == alone.numbers.tolist()
        assert found.scores == pytest.approx(alone.scores, abs=1e-9)
        assert (set(found.used), found.common) == ({"zebra", "horse", "meadow", "tale"}, ())
        assert (fitting > 0).all()


def test_a_word_of_any_length_is_stored_and_found(store: Store) -> None:
    """Random letters, which no index makes shorter: as a whole, and not by another end."""
    word = random.Random(31).randbytes(5_000).hex()  # noqa: S311
    made = note(store, f"{word} and more")
    store.commit([Keep(made)])
    assert having(store, word) == having(store, "more") == [number_of(made)]
    assert having(store, f"{word[:-1]}x") == []
