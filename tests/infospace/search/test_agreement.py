"""What the deep look compares: each thing that is damaged behind the space's back is told of."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infospace import Space
from infospace.search.index import ann_index as index
from infospace.search.index import matrix_file as matrixfile
from infospace.search.index.consistency import disagreements
from infospace.search.index.derived_files import DerivedFiles, Draft, digest
from infospace.search.index.hnsw import Hnsw
from infospace.store.changes import Delete, Revise
from infospace.store.sqlite import open_store
from infospace.store.sqlite.read import fulltext as words

sys.path.insert(0, str(Path(__file__).parent))
pytest.register_assert_rewrite("made_search")

from made_search import MODEL, MadeEmbedding, find, make, search_in  # noqa: E402

WORDS = ["sea", "ship", "sail", "moon", "star", "bread", "salt", "rope", "tide", "gull"]
COUNT = 120


class Heard:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.progressed: list[tuple[int, int, str]] = []

    def message(self, kind: str, text: str) -> None:
        """Nothing is said."""
        raise AssertionError((kind, text))

    def progress(self, done: int, total: int, what: str) -> None:
        """Remember."""
        self.progressed.append((done, total, what))


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound space of Notes about the sea, embedded."""
    path = tmp_path_factory.mktemp("agreement") / "space.db"
    chance = np.random.default_rng(3)
    with contextlib.closing(open_store(path, create=True)) as store:
        make(store, *(" ".join(chance.choice(WORDS, size=6)) for _ in range(COUNT)), metadata={"title": "全文検索"})
        find(search_in(store), "sea")
    return path


@pytest.fixture
def space(whole: Path, tmp_path: Path) -> Iterator[Space]:
    """A copy of it, opened."""
    shutil.copy(whole, tmp_path / "space.db")
    with Space(open_store(tmp_path / "space.db", create=False)) as opened:
        opened.__dict__["embedding"] = MadeEmbedding(opened.store)
        yield opened


def hurt(space: Space, *statements: str) -> None:
    """Change the file behind the back of the store."""
    with contextlib.closing(sqlite3.connect(space.store.address)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_a_sound_space_agrees_and_tells_how_far_it_has_come(space: Space) -> None:
    """Both the passages and the words are told of, to the end."""
    heard = Heard()
    assert disagreements(space, heard) == []
    last = {what: (done, total) for done, total, what in heard.progressed}
    assert last == {"comparing": (COUNT, COUNT), "comparing words": (COUNT, COUNT)}


def test_it_agrees_after_every_kind_of_change(space: Space) -> None:
    """Changed, deleted, made."""
    space.store.commit([Revise("Note_1", "other words"), Delete("Note_2")])
    make(space.store, "a new one", {"of": ["JSON"]})
    find(search_in(space.store), "sea")
    assert disagreements(space) == []


HURT = {
    "ghost": (
        ["INSERT INTO words (rowid, title, text) VALUES (4000, '', 'sea')"],
        "Note_4000 is in the full text and is not searched",
    ),
    "missing": (["DELETE FROM words WHERE rowid = 3"], "Note_3 is searched and not in the full text"),
    "longer": (
        ["UPDATE words SET text = text || ' whale' WHERE rowid = 3"],
        "Note_3 has not as many words in the full text as in its own",
    ),
    "other word": (
        ["UPDATE words SET text = 'whale' || substr(text, instr(text, ' ')) WHERE rowid = 3"],
        "Note_3 is found by a word that is not there in it",
    ),
    "other order": (
        ["UPDATE words SET text = substr(text, instr(text, ' ')) || ' ' || substr(text, 1, 4) WHERE rowid = 3"],
        "Note_3 is not found by a word that it has",
    ),
    "title": (["UPDATE words SET title = '検索 索 全文 全文' WHERE rowid = 3"], "Note_3 is found by a word"),
    "unreadable": (["DELETE FROM words_data"], "the full text cannot be read: the space"),
}


@pytest.mark.parametrize(("statements", "sentence"), HURT.values(), ids=HURT)
def test_a_full_text_that_is_not_that_of_the_notes_is_told_of(
    space: Space, statements: list[str], sentence: str
) -> None:
    """Ghosts, gaps, other words, other places of the same words, and what cannot be read."""
    hurt(space, *statements)
    found = disagreements(space)
    assert any(message.startswith(sentence) for message in found), found


def test_what_cannot_be_read_of_a_note_s_passages_is_told_as_what_it_is(space: Space) -> None:
    """A place that is no number is no vector of another size, and the notes beside it are read all the same."""
    hurt(
        space,
        "UPDATE passages SET start = 'nowhere' WHERE note = 3 AND start >= 0",
        """UPDATE vectors SET vector = zeroblob(4)
        WHERE digest = (SELECT digest FROM passages WHERE note = 5 AND start >= 0)""",
    )
    told = [sentence for sentence in disagreements(space) if "cannot be searched" in sentence]
    assert told == [
        "Note_3 cannot be searched: where a passage in it stands is no number",
        "Note_5 cannot be searched: a vector in it has the wrong length",
    ]


def test_two_notes_that_have_each_other_s_words_are_told_of(space: Space) -> None:
    """Though each word is there as often as it should be."""
    make(space.store, "whale calf", "krill swarm")
    find(search_in(space.store), "sea")
    one, other = COUNT + 1, COUNT + 2
    hurt(space, "UPDATE words SET text = iif(text = 'whale calf', 'krill swarm', 'whale calf') WHERE rowid > 120")
    found = disagreements(space)
    assert f"Note_{one} is found by a word that is not there in it" in found
    assert f"Note_{other} is not found by a word that it has" in found


def test_a_full_text_of_another_space_is_told_of_in_few_sentences(space: Space) -> None:
    """What one check says is counted beyond twenty."""
    hurt(space, "DELETE FROM words", "INSERT INTO words (rowid, title, text) VALUES (1, 'x', 'y')")
    found = disagreements(space)
    assert 20 < len(found) < 30
    assert any(message.endswith(" more like the last") for message in found)


# The index of hnswlib

SIZE = 150


@pytest.fixture
def indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Space]:
    """A space with the file of an index beside it."""
    chance = np.random.default_rng(1)
    monkeypatch.setenv("INFOSPACE_INDEX", "hnsw")
    with Space(open_store(tmp_path / "indexed.db", create=True)) as opened:
        opened.__dict__["embedding"] = MadeEmbedding(opened.store)
        make(opened.store, *(" ".join(chance.choice(WORDS, size=5)) for _ in range(SIZE)))
        assert find(search_in(opened.store), "sea tide").certificate["method"] == "hnsw"
        yield opened


def rewrite(space: Space, damage: Callable[[Hnsw, Any], None]) -> None:
    """Damage the index, and write it as if it were sound."""
    shelf = DerivedFiles(space.store)
    with space.store.reading() as snapshot:
        found = shelf.find(index.NAME, MODEL, snapshot)
        rows = snapshot.rows(MODEL)
    assert found is not None
    made = index.loaded(*found)
    assert made is not None
    graph = made.found
    assert graph is not None
    damage(graph, rows)
    head = found[0]

    def fill_in(path: Path) -> str:
        graph.save(path)
        return digest(path)

    draft = Draft(MODEL, head.generation, head.dimension, head.count, [head.more[0], graph.dead], fill_in)
    written = shelf.write(index.NAME, draft)
    assert written is not None
    shelf.vouch(index.NAME, written)


def ghost(found: Hnsw, rows: Any) -> None:
    """Put in a passage of a Note that is not there."""
    found.change([], np.array([4000]), rows.vectors[:1], found.generation)


def gap(found: Hnsw, rows: Any) -> None:
    """Take a Note's passage out."""
    found.change([int(rows.owners[7])], rows.owners[:0], rows.vectors[:0], found.generation)


def twice(found: Hnsw, rows: Any) -> None:
    """Put a Note's passage in once more."""
    found.change([], rows.owners[7:8], rows.vectors[7:8], found.generation)


def other(found: Hnsw, rows: Any) -> None:
    """Give a Note another vector."""
    found.change([int(rows.owners[7])], rows.owners[7:8], -rows.vectors[7:8], found.generation)


def miscounted(found: Hnsw, _rows: Any) -> None:
    """Say that more was taken out than was."""
    found.dead += 5


DAMAGE = {
    ghost: "still finds Note_4000, which has no passages",
    gap: "does not know Note_8",
    twice: "has other passages than the space",
    other: "has another vector than the space for Note_8",
    miscounted: "counts 145 passages, and has 150",
}


@pytest.mark.parametrize(("damage", "sentence"), DAMAGE.items(), ids=[damage.__name__ for damage in DAMAGE])
def test_an_index_that_is_not_of_the_space_is_told_of(
    indexed: Space, damage: Callable[[Hnsw, Any], None], sentence: str
) -> None:
    """Though its file is whole and vouched for."""
    assert disagreements(indexed) == []
    rewrite(indexed, damage)
    assert disagreements(indexed) == [f"the index in the derived file {sentence}"]


def test_an_index_that_finds_too_little_is_told_of(indexed: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """All is in it, and much of it is not reached."""
    monkeypatch.setattr("infospace.search.index.hnsw.M", 2)
    monkeypatch.setattr("infospace.search.index.hnsw.EF_BUILDING", 1)
    monkeypatch.setattr("infospace.search.index.hnsw.RECALL", 0)
    make(indexed.store, *(f"{word} {at}" for word in WORDS for at in range(80)))
    (indexed.store.derived / "hnsw.head").unlink()  # type: ignore[operator]
    assert find(search_in(indexed.store), "sea tide").certificate["method"] == "hnsw"
    (message,) = disagreements(indexed)
    assert message.startswith("the index in the derived file finds 0.")


def test_an_index_that_follows_later_changes_agrees(indexed: Space) -> None:
    """Changed, deleted and new Notes are put right when it is read."""
    indexed.store.commit([Delete("Note_3"), Revise("Note_4", "moon star")])
    make(indexed.store, "sea tide")
    find(search_in(indexed.store), "sea", certify=True)
    assert disagreements(indexed) == []


def test_a_file_that_was_damaged_is_told_of(indexed: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not used, and the space would be faster with it."""
    monkeypatch.setattr(matrixfile, "MIN_ROWS", 10)
    find(search_in(indexed.store), "sea", certify=True)
    folder = indexed.store.derived
    assert folder is not None
    assert disagreements(indexed) == []
    for name, sentence in (("hnsw", "the derived file of the index"), ("matrix", "the derived file of vectors")):
        (body,) = folder.glob(f"{name}-*")
        data = bytearray(body.read_bytes())
        data[len(data) // 2] ^= 1
        body.write_bytes(data)
        assert f"{sentence} is not as it was written, and is not used" in disagreements(indexed)


def test_the_full_text_that_is_made_beside_is_made_like_the_space_s(space: Space) -> None:
    """One tokenizer, named once."""
    with contextlib.closing(sqlite3.connect(space.store.address)) as connection:
        ((sql,),) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'words'").fetchall()
    assert words.TOKENIZER in sql
