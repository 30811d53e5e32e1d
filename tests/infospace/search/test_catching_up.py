"""Embedding what is pending: a long text is embedded in pieces that stay, comes last, and is told by its passages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, repeat
from pathlib import Path

import numpy as np
import pytest

from infospace import Space, open_space
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.search.embedding import backfill as catching
from infospace.search.embedding.backfill import PassageEstimate
from infospace.search.models.switch import choose, inspect_model
from infospace.search.query import SearchQuery
from infospace.store.changes import Delete, MakeNote
from infospace.store.records import Text
from tests.infospace.search.tiny_model import WORDS, make_model

LONG = " ".join(f"{word} {number}." for number in range(60) for word in WORDS)
SHORT = [f"{word} by the sea" for word in WORDS]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model that embeds at once."""
    return str(make_model(tmp_path_factory.mktemp("model") / "tiny"))


@pytest.fixture(params=[1_000, len(LONG)], ids=["long", "just long enough"])
def space(
    request: pytest.FixtureRequest, tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Space]:
    """A space of a long Note and ten short ones, none of them embedded; small pieces."""
    monkeypatch.setattr(catching, "LONG", request.param)
    monkeypatch.setattr(catching, "SLICE_CHARACTERS", 300)
    with open_space(tmp_path / "space.db") as opened:
        choose(opened, inspect_model(tiny))
        notes = [MakeNote(opened.store.new_id(Kind.NOTE), text, {}, kept=True) for text in (LONG, *SHORT)]
        opened.store.commit(notes)
        yield opened


def pending(space: Space) -> list[int]:
    """Return the numbers of the Notes that are not embedded."""
    with space.store.reading() as snapshot:
        return [int(number) for number in snapshot.pending_numbers()]


def whole_of(space: Space) -> int:
    """Return how many passages the long Note has."""
    with space.store.reading() as snapshot:
        return len(snapshot.digests([1]))


class Watching(NullListener):
    """Writes down what is told, and what is pending then; after so many tellings, it interrupts."""

    def __init__(self, space: Space, interrupt_at: int = 0) -> None:
        self.told: list[tuple[int, int, str]] = []
        self.pending: list[list[int]] = []
        self._space = space
        self._interrupt_at = interrupt_at

    def progress(self, done: int, total: int, what: str) -> None:
        """Write it down."""
        self.told.append((done, total, what))
        self.pending.append(pending(self._space))
        if len(self.told) == self._interrupt_at:
            raise KeyboardInterrupt


def test_a_long_text_holds_up_no_other(space: Space) -> None:
    """All the others are embedded before its first passage is."""
    listener = Watching(space)
    whole = space.embedding.catch_up(listener)
    assert [1] in listener.pending
    assert all(1 in left for left in listener.pending[:-1])
    assert pending(space) == []
    assert whole > 100


def test_what_is_told_counts_passages_and_holds_still(space: Space) -> None:
    """Never more than all, never backwards; all in the end. Cutting a long text is told, too."""
    listener = Watching(space)
    whole = space.embedding.catch_up(listener)
    done, totals, what = zip(*listener.told, strict=True)
    assert list(done) == sorted(done)
    assert all(one <= total for one, total in zip(done, totals, strict=True))
    assert (done[-1], totals[-1]) == (whole, whole)
    cut = [one for one in what if one != "embedding"]
    assert cut == ["embedding; cutting 0.0 million characters into passages, 100 %"]
    after = {total for total, one in zip(totals, done, strict=True) if one > len(SHORT)}
    assert after == {whole}


@pytest.mark.parametrize("tellings", [5, 15])
def test_an_interrupted_long_text_goes_on_from_where_it_was(space: Space, tellings: int) -> None:
    """What was embedded of it stays, though its passages wait for the last."""
    with pytest.raises(KeyboardInterrupt):
        space.embedding.catch_up(Watching(space, tellings))
    assert pending(space) == [1]
    listener = Watching(space)
    rest = space.embedding.catch_up(listener)
    assert pending(space) == []
    kept = space.embedding.catch_up(NullListener())
    assert kept == 0
    assert rest < whole_of(space) - (0 if tellings < 10 else 20)
    assert listener.told[-1][:2] == (rest, rest)


def test_what_is_gone_or_embedded_meanwhile_is_left_out(space: Space) -> None:
    """Whoever does it; it ends all the same."""

    class Deleting(NullListener):
        def progress(self, done: int, total: int, what: str) -> None:
            assert done <= total
            assert what.startswith("embedding")
            if 1 in pending(space):
                space.store.commit([Delete("Note_1")])

    assert space.embedding.catch_up(Deleting()) == len(SHORT)
    assert pending(space) == []


def test_what_is_expected_follows_what_was_found() -> None:
    """A short text is one passage; the others are as long as those before."""
    expected = PassageEstimate()
    expected.begin([10, 80_000, 80_000])
    assert expected.total(0, 0) == 201
    expected.settle(10, 1)
    assert expected.total(1, 0) == 201
    expected.settle(80_000, 201)
    assert expected.total(101, 101) == 402
    expected.settle(80_000)
    assert expected.total(202, 0) == 202


@pytest.mark.parametrize(
    ("sizes", "pages"),
    [
        ([], []),
        ([100], [[0]]),
        ([1, 1, 1, 1], [[0, 1, 2], [3]]),
        ([4, 4, 4], [[0, 1], [2]]),
        ([3, 3, 1, 1], [[0, 1, 2], [3]]),
        ([8, 1, 1], [[0], [1, 2]]),
        ([1, 9], [[0, 1]]),
        ([1, 10], [[0], [1]]),
        ([10, 11], [[0], [1]]),
    ],
)
def test_what_is_left_is_read_page_by_page(
    monkeypatch: pytest.MonkeyPatch, sizes: list[int], pages: list[list[int]]
) -> None:
    """So many texts, or until there are so many characters; a long text is a page of its own."""
    monkeypatch.setattr(catching, "PAGE", 3)
    monkeypatch.setattr(catching, "PAGE_CHARACTERS", 8)
    monkeypatch.setattr(catching, "LONG", 10)
    left, read = dict(enumerate(sizes)), []
    while page := catching._page(left):
        assert page == {number: sizes[number] for number in page}
        read.append(list(page))
        for number in page:
            del left[number]
    assert read == pages


@pytest.mark.parametrize(
    ("lengths", "parts"),
    [([], []), ([1], [1]), ([4], [1]), ([2, 2, 2], [2, 1]), ([3, 3, 3, 3], [2, 2]), ([9, 1, 1, 2], [1, 3])],
)
def test_texts_are_embedded_in_parts_of_so_many_characters(lengths: list[int], parts: list[int]) -> None:
    """A part ends with the text that reaches the bound; nothing is left out, and no part is empty."""
    texts = [Text(f"Note_{place}", 1, "x" * length) for place, length in enumerate(lengths)]
    batches = list(catching._batches(texts, repeat(4)))
    assert [len(batch) for batch in batches] == parts
    assert [text for batch in batches for text in batch] == texts
    found = {bytes([place]): text.text for place, text in enumerate(texts)}
    slices = list(catching._slices(found, 4))
    assert [len(digests) for digests in slices] == parts
    assert [digest for digests in slices for digest in digests] == list(found)


def test_parts_grow_unless_time_is_bounded() -> None:
    """Up to the whole; a search that has some seconds for it takes as much as it may between two looks at the clock."""
    sizes = catching._batch_sizes(catching.Deadline(None, lambda: 0.0))
    assert list(islice(sizes, 7)) == [4_000, 8_000, 16_000, 32_000, 64_000, 100_000, 100_000]
    bounded = catching._batch_sizes(catching.Deadline(10.0, lambda: 0.0))
    assert list(islice(bounded, 3)) == [20_000] * 3
    texts = [Text(f"Note_{place}", 1, "xx") for place in range(9)]
    assert [len(batch) for batch in catching._batches(texts, iter([2, 4, 8, 16]))] == [1, 2, 4, 2]


@pytest.fixture
def many(tiny: str, tmp_path: Path) -> Iterator[Space]:
    """A space of 200 Notes, none of them embedded, and a clock by which each look at it takes a second."""
    with open_space(tmp_path / "many.db") as opened:
        choose(opened, inspect_model(tiny))
        texts = [f"{WORDS[number % len(WORDS)]} {'tale ' * 200}" for number in range(199)]
        texts.insert(120, "tale " * 200 + "zeppelin")
        opened.store.commit([MakeNote(opened.store.new_id(Kind.NOTE), text, {}, kept=True) for text in texts])
        opened.embedding._clock = map(float, range(10_000)).__next__
        yield opened


ZEPPELIN = 121


def test_a_search_embeds_first_what_has_a_word_of_the_query(many: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is time for some twenty of the two hundred, and the one that has it stands among the others."""
    monkeypatch.setenv("INFOSPACE_EMBED_SECONDS", "1")
    found = many.search.find(SearchQuery("the zeppelin", None, -1.0), NullListener())
    left = pending(many)
    assert len(left) == found.certificate["unembedded"] > 150
    assert ZEPPELIN not in left
    assert f"Note_{ZEPPELIN}" in {hit.source for hit in found.hits}


def test_where_nothing_has_a_word_the_newest_come_first(many: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was just made is looked for more often."""
    monkeypatch.setenv("INFOSPACE_EMBED_SECONDS", "1")
    many.search.find(SearchQuery("nothing of it", None, -1.0), NullListener())
    left = pending(many)
    assert left == list(range(1, len(left) + 1))
    assert 150 < len(left) < 200


def test_a_search_within_a_collection_embeds_its_notes_first(many: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of other Notes that have the word wait."""
    monkeypatch.setenv("INFOSPACE_EMBED_SECONDS", "1")
    within = np.arange(1, 4, dtype=np.int64)
    many.search.find(SearchQuery("zeppelin tale", None, -1.0, within=within), NullListener())
    assert not set(pending(many)) & {1, 2, 3}
    assert ZEPPELIN in pending(many)
