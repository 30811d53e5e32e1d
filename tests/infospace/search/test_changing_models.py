"""A space that changes its model: nothing is embedded twice, nothing is claimed, and searches are the new model's."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infospace import Space, open_space
from infospace.core.errors import Invalid, ModelError, StoreError
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.core.resources import Member, text_of
from infospace.search.collections import search_collections
from infospace.search.embedding import backfill as catching
from infospace.search.embedding.backfill import ActiveModel
from infospace.search.embedding.embedder import Embedder
from infospace.search.embedding.passages import POLICY, split
from infospace.search.embedding.service import Embedding, seconds_in_search
from infospace.search.index.consistency import disagreements
from infospace.search.models.find import DEFAULT_MODEL
from infospace.search.models.switch import InspectedModel, choose, inspect_model
from infospace.search.passages_of_collection import PassageQuery, search_passages_of
from infospace.search.query import SearchQuery, SearchResults
from infospace.store.changes import MakeCollection, MakeNote
from infospace.store.note_fields import text_digest

sys.path.insert(0, str(Path(__file__).parent))

from tiny_model import WORDS, make_model

ENDLESS = float("inf")
CHANCE = np.random.default_rng(5)
TEXTS = [" ".join(CHANCE.choice(WORDS, size=size)) for size in CHANCE.integers(3, 90, size=40)]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, InspectedModel]:
    """Two models of other dimensions, as they were looked at."""
    folder = tmp_path_factory.mktemp("models")
    return {name: inspect_model(str(make_model(folder / name, size, size))) for name, size in (("a", 16), ("b", 32))}


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit after each thousand characters, so that there are many."""
    monkeypatch.setattr(catching, "BATCH_CHARACTERS", 1_000)
    monkeypatch.setattr(catching, "BOUND_CHARACTERS", 1_000)


@pytest.fixture
def filled(space: Space, models: dict[str, InspectedModel]) -> Space:
    """A space of 40 Notes, embedded with model `a`."""
    make(space, TEXTS)
    choose(space, models["a"])
    space.embedding.catch_up(NullListener())
    return space


def make(space: Space, texts: Sequence[Any]) -> list[str]:
    """Make kept Notes; return their ids."""
    notes = [MakeNote(space.store.new_id(Kind.NOTE), text, kept=True) for text in texts]
    space.store.commit(notes)
    return [note.id for note in notes]


def find(space: Space, **wanted: Any) -> SearchResults:
    """Search for all that is near enough."""
    return space.search.find(SearchQuery("sea ship", **({"limit": None} | wanted)), NullListener())


def pending(space: Space) -> int:
    with space.store.reading() as snapshot:
        return snapshot.pending_count()


def brute(space: Space, looked: InspectedModel, threshold: float) -> list[tuple[str, float, int, int]]:
    """Every passage of every Note, embedded anew by itself, against the query in double precision."""
    embedder = Embedder(looked.info)
    query = embedder.embed_query("sea ship").astype(np.float64)
    found = []
    with space.store.reading() as snapshot:
        for note in snapshot.listing(Kind.NOTE):
            text = text_of(note.content)
            scored = [
                (round(float(np.dot(embedder.embed([text[cut.start : cut.end]])[0], query)), 6), -cut.start, cut.end)
                for cut in split(text, embedder.offsets, looked.info.max_tokens)
            ]
            score, start, end = max(scored)
            if score >= threshold:
                found.append((note.id, score, -start, end))
    return sorted(found, key=lambda one: (-one[1], int(one[0][5:])))


def agrees(space: Space, looked: InspectedModel) -> None:
    """A search finds what a loop finds, and says that it is the model's, and all."""
    found = find(space, threshold=-1)
    expected = brute(space, looked, -1)
    assert sorted(hit.source for hit in found.hits) == sorted(source for source, *_ in expected)
    scores = {source: score for source, score, *_ in expected}
    assert max(abs(hit.score - scores[hit.source]) for hit in found.hits) < 3e-6
    proved = found.certificate
    assert (proved["model"], proved["exhaustive"], proved["unembedded"]) == (looked.info.name, True, 0)
    assert find(space).certificate["threshold"] == looked.info.threshold
    assert disagreements(space, NullListener()) == []


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect every text that is embedded from now on."""
    embedded: list[str] = []
    embed = Embedder.embed

    def counting(self: Embedder, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Any:
        embedded.extend(texts)
        return embed(self, texts, progress)

    monkeypatch.setattr(Embedder, "embed", counting)
    return embedded


def test_searches_are_the_new_models_as_a_loop_finds(filled: Space, models: dict[str, InspectedModel]) -> None:
    """Other dimension, other passages, other threshold; with the first model, with the second, and back."""
    for name in "aba":
        choose(filled, models[name])
        filled.embedding.catch_up(NullListener())
        agrees(filled, models[name])


def test_the_choice_is_the_spaces(filled: Space, models: dict[str, InspectedModel], tmp_path: Path) -> None:
    """Every other opening of it uses the model; one that was open before follows, with what it embeds too."""
    with open_space(tmp_path / "space.db") as other:
        assert find(other).certificate["model"] == models["a"].info.name
        choose(filled, models["b"])
        agrees(other, models["b"])
        assert other.embedding.passages(["sea"], NullListener()).vectors.shape == (1, 32)
    agrees(filled, models["b"])
    with open_space(tmp_path / "space.db") as third:
        assert third.embedding.info == models["b"].info


def test_going_back_embeds_nothing_twice(
    filled: Space, models: dict[str, InspectedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even after a purge that was called while all waited: vectors that are needed again stay."""
    choose(filled, models["b"])
    filled.embedding.catch_up(NullListener())
    choose(filled, models["a"])
    filled.store.purge(really=True)
    embedded = counted(monkeypatch)
    assert filled.embedding.catch_up(NullListener()) == 0
    choose(filled, models["b"])
    assert filled.embedding.catch_up(NullListener()) == 0
    assert embedded == []


def test_the_default_model_is_gone_back_to(filled: Space, models: dict[str, InspectedModel], model: Any) -> None:
    """By its name; the choice is none then."""
    choose(filled, inspect_model(DEFAULT_MODEL))
    with filled.store.reading() as snapshot:
        assert snapshot.chosen() is None
    proved = find(filled).certificate
    assert (proved["model"], proved["threshold"], proved["exhaustive"]) == (DEFAULT_MODEL, 0.3, True)


CATCH_UP = """
import sys
from infospace import open_space
from infospace.search.embedding import backfill as catching
from infospace.core.listener import NullListener

catching.BATCH_CHARACTERS = 1_000

class Told(NullListener):
    def progress(self, done, total, what):
        print(done, total, flush=True)
        sys.stdin.readline()

with open_space(sys.argv[1]) as space:
    space.embedding.catch_up(Told())
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("way", ["SIGKILL", "SIGINT"])
@pytest.mark.parametrize("batches", [1, 12])
def test_an_interrupted_change_goes_on_from_where_it_was(
    filled: Space,
    models: dict[str, InspectedModel],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    way: str,
    batches: int,
) -> None:
    """Killed in the middle: searches say what is missing, and what has a vector is not embedded again."""
    choose(filled, models["b"])
    command = [sys.executable, "-c", CATCH_UP, str(tmp_path / "space.db")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        for _ in range(batches):
            assert child.stdout.readline()
            child.stdin.write("\n")
            child.stdin.flush()
        child.stdout.readline()
        child.send_signal(getattr(signal, way))
        child.communicate()
        assert child.returncode == -getattr(signal, way)
    left = pending(filled)
    assert 0 < left <= 40
    assert (left < 40) == (batches > 1)
    monkeypatch.setenv("INFOSPACE_EMBED_SECONDS", "0")
    found = find(filled, threshold=-1)
    proved = found.certificate
    assert (proved["unembedded"], proved["scored"], proved["exhaustive"]) == (left, 40 - left, False)
    assert len(found.hits) == 40 - left
    embedded = counted(monkeypatch)
    filled.embedding.catch_up(NullListener())
    everything = {
        text[cut.start : cut.end]
        for text in TEXTS
        for cut in split(text, Embedder(models["b"].info).offsets, models["b"].info.max_tokens)
    }
    assert len(embedded) == len(set(embedded)) < len(everything) or batches == 1
    with filled.store.reading() as snapshot:
        digests = [text_digest(text) for text in everything]
        assert snapshot.known_vectors(filled.embedding.key, digests) == set(digests)
    agrees(filled, models["b"])


class Clock:
    """A clock that goes on by a second whenever somebody looks at it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.fixture
def slow(filled: Space, models: dict[str, InspectedModel]) -> Space:
    """The filled space, all of which waits for model `b`, with a clock by which each look takes a second."""
    choose(filled, models["b"])
    filled.embedding = Embedding(filled.store, Clock())
    return filled


def test_a_search_embeds_as_far_as_its_time_goes(
    slow: Space, models: dict[str, InspectedModel], monkeypatch: Any
) -> None:
    """Each one gets further and says honestly how far; the last one has all, and nothing was embedded twice."""
    monkeypatch.setenv("INFOSPACE_EMBED_SECONDS", "2")
    embedded = counted(monkeypatch)
    lefts = []
    for _ in range(100):
        found = find(slow, threshold=-1)
        proved = found.certificate
        lefts.append(pending(slow))
        assert (proved["unembedded"], proved["scored"], proved["notes"]) == (lefts[-1], 40 - lefts[-1], 40)
        assert proved["exhaustive"] == (lefts[-1] == 0)
        assert len(found.hits) == proved["matched"] == proved["returned"] == 40 - lefts[-1]
        if not lefts[-1]:
            break
    assert len(lefts) > 3
    assert lefts == sorted(set(lefts), reverse=True)
    assert len(embedded) == len(set(embedded))
    agrees(slow, models["b"])


def test_a_bound_of_nothing_embeds_nothing(slow: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often one searches; without a bound, all is embedded at once."""
    monkeypatch.setenv("INFOSPACE_EMBED_SECONDS", "0")
    assert [find(slow).certificate["unembedded"] for _ in range(3)] == [40, 40, 40]
    monkeypatch.setenv("INFOSPACE_EMBED_SECONDS", "inf")
    assert find(slow).certificate["unembedded"] == 0


def test_the_least_bound_gets_one_huge_note_done(
    space: Space, models: dict[str, InspectedModel], monkeypatch: Any
) -> None:
    """A part of it each time, though it is found only when all of it is embedded."""
    choose(space, models["b"])
    make(space, [" ".join(np.random.default_rng(9).choice(WORDS, size=1_500))])
    space.embedding = Embedding(space.store, Clock())
    monkeypatch.setenv("INFOSPACE_EMBED_SECONDS", "0.001")
    embedded = counted(monkeypatch)
    sizes = []
    while pending(space):
        assert find(space, threshold=-1).certificate["unembedded"] == pending(space)
        sizes.append(len(embedded))
    assert len(sizes) > 3
    assert sizes == sorted(set(sizes))
    assert len(embedded) == len(set(embedded))
    agrees(space, models["b"])


@pytest.mark.parametrize("wrong", ["soon", "-1", "nan"])
def test_a_bound_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    """By its name."""
    monkeypatch.setenv("INFOSPACE_EMBED_SECONDS", wrong)
    with pytest.raises(Invalid, match=f"INFOSPACE_EMBED_SECONDS is '{wrong}'"):
        seconds_in_search()
    monkeypatch.delenv("INFOSPACE_EMBED_SECONDS")
    assert seconds_in_search() == 10
    monkeypatch.setenv("INFOSPACE_EMBED_SECONDS", "inf")
    assert seconds_in_search() == ENDLESS


def test_a_choice_made_in_the_middle_of_a_search_is_followed(
    filled: Space, models: dict[str, InspectedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The query was embedded with the old model: it is embedded again, and kept under no wrong key."""
    query = Embedding.query
    asked = []

    def changing(self: Embedding, text: str) -> Any:
        vector = query(self, text)
        if not asked:
            choose(filled, models["b"])
        asked.append(len(vector))
        return vector

    monkeypatch.setattr(Embedding, "query", changing)
    agrees(filled, models["b"])
    assert asked == [16, 32]


def test_a_choice_made_in_the_middle_of_catching_up_is_followed(
    filled: Space, models: dict[str, InspectedModel]
) -> None:
    """The rest is not embedded with the model that the space does not use any more."""
    make(filled, [f"{text} {text}" for text in TEXTS])

    class Changing(NullListener):
        calls = 0

        def progress(self, *_: Any) -> None:
            self.calls += 1
            if self.calls == 2:
                choose(filled, models["b"])

    filled.embedding.catch_up(Changing())
    assert pending(filled) == 0
    agrees(filled, models["b"])


def test_collections_and_their_passages_are_searched_by_the_model_that_was_chosen_elsewhere(
    filled: Space, models: dict[str, InspectedModel]
) -> None:
    """The next search has it, though this process had the other one loaded."""
    with filled.store.reading() as snapshot:
        items = [*snapshot.listing(Kind.NOTE)][:3]
    made = filled.store.new_id(Kind.COLLECTION)
    filled.store.commit([MakeCollection(made, tuple(Member(item.id) for item in items), kept=True)])
    looks = search_collections("sea ship", None, -1.0), search_passages_of(PassageQuery("sea ship", None, -1.0), items)
    with open_space(filled.store.address) as elsewhere:
        for look, name in zip(looks * 2, "baba", strict=True):
            choose(elsewhere, models[name])
            assert look(filled, NullListener()).certificate["model"] == models[name].info.name


def test_vectors_of_a_model_that_is_not_the_spaces_are_not_asked_for(
    filled: Space, models: dict[str, InspectedModel]
) -> None:
    """What another one was to embed, the space's own does: nothing of it is embedded twice."""
    filled.store.use_model("another/1", models["a"].chosen)
    with filled.store.reading() as snapshot:
        assert snapshot.model() == "another/1"
    assert filled.embedding.catch_up(NullListener()) == 0
    with filled.store.reading() as snapshot:
        assert (snapshot.model(), snapshot.pending_count()) == (filled.embedding.key, 0)


def test_who_may_only_read_does_not_claim_to_have_searched_all(
    filled: Space, models: dict[str, InspectedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The space was embedded with another model than is used here, and cannot be embedded anew."""
    make(filled, ["", {}])
    filled.embedding.catch_up(NullListener())
    monkeypatch.setattr(type(filled.store), "writable", False)
    reader = Space(filled.store)
    info = models["b"].info
    reader.embedding._taken = ActiveModel(info, f"{info.key}/{POLICY}", Embedder(info), models["a"].chosen)
    proved = find(reader, threshold=-1).certificate
    # A note without text has nothing that could be embedded; `{}` has its JSON.
    assert (proved["unembedded"], proved["scored"], proved["matched"], proved["exhaustive"]) == (41, 1, 0, False)
    assert proved["notes"] == 42
    with pytest.raises(StoreError, match="can be read, not written"):
        choose(filled, models["b"])


def test_an_empty_space_says_its_own_model_and_threshold(space: Space, models: dict[str, InspectedModel]) -> None:
    """Though no model is needed to find nothing."""
    choose(space, models["a"])
    proved = find(space).certificate
    assert (proved["model"], proved["threshold"]) == (models["a"].info.name, models["a"].info.threshold)


def test_a_folder_that_was_changed_is_not_taken_for_the_chosen_one(space: Space, tmp_path: Path) -> None:
    """Nor one that is gone; the sentence says what to do."""
    folder = make_model(tmp_path / "mine")
    choose(space, inspect_model(str(folder)))
    make(space, ["sea"])
    shutil.rmtree(folder)
    make_model(folder, seed=2)
    with pytest.raises(ModelError, match="is not the one that this space was embedded with") as refusal:
        find(space)
    assert f"infospace model use {folder}" in (refusal.value.hint or "")
    shutil.rmtree(folder)
    with pytest.raises(ModelError, match=r"has no model\.onnx"):
        find(space)


def test_lone_surrogates_are_embedded(filled: Space, models: dict[str, InspectedModel]) -> None:
    """In a query and a text: always with the same vector, that of the text without them, each under its digest."""
    choose(filled, models["b"])
    texts = ["sea \ud800ship", "sea ship", "\udfff"]
    first, again = (filled.embedding.passages(texts, NullListener()) for _ in range(2))
    assert np.array_equal(first.vectors, again.vectors)
    assert np.array_equal(first.vectors[0], first.vectors[1])
    assert first.bounds[:2] == [(0, 9), (0, 8)]
    plain, odd = (
        filled.search.find(SearchQuery(query, limit=None, threshold=-1), NullListener()) for query in texts[1::-1]
    )
    assert plain.hits == odd.hits != []
    assert len({text_digest(text) for text in ("a", "a\ud800", "a\udfff")}) == 3
