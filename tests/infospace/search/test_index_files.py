"""Files beside the space are believed only when whole and of its past: the answer is right whatever lies there."""

from __future__ import annotations

import contextlib
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infospace.core.ids import Kind
from infospace.search.index import ann_index as index
from infospace.search.index import derived_files as derived
from infospace.search.index import matrix_file as matrixfile
from infospace.store.changes import Delete, GiveName, MakeNote, Revise
from infospace.store.protocol import Store
from infospace.store.sqlite import open_store

sys.path.insert(0, str(Path(__file__).parent))
pytest.register_assert_rewrite("made_search")

from made_search import MODEL, fill, find, make, search_in, vector_of  # noqa: E402

WORDS = ["sea", "ship", "sail", "moon", "star", "bread", "salt", "rope", "tide", "gull"]
QUERY = "sea tide"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are worth while for small spaces too, and the index is used for all."""
    monkeypatch.setattr(matrixfile, "MIN_ROWS", 20)
    monkeypatch.setenv("INFOSPACE_INDEX", "hnsw")


def vectors(count: int, seed: int = 1) -> Any:
    """Vectors of texts of five words."""
    chance = np.random.default_rng(seed)
    return np.stack([vector_of(" ".join(chance.choice(WORDS, size=5))) for _ in range(count)])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A space of sixty Notes that was searched, and closed."""
    path = tmp_path / "space.db"
    with contextlib.closing(open_store(path, create=True)) as store:
        fill(store, vectors(60))
        assert find(search_in(store), QUERY, threshold=-1).certificate["method"] == "hnsw"
        find(search_in(store), QUERY)
    return path


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """That space, opened."""
    with contextlib.closing(open_store(path, create=False)) as opened:
        yield opened


def files(store: Store, name: str) -> tuple[Path, Path]:
    """Head and body of a derived file."""
    assert store.derived is not None
    (body,) = store.derived.glob(f"{name}-*")
    return store.derived / f"{name}.head", body


def truth(store: Store) -> list[tuple[str, float]]:
    """What exact search gives from the store alone."""
    found = find(search_in(MemoryOf(store)), QUERY, limit=10, threshold=-1, certify=True)  # type: ignore[arg-type]
    return [(hit.source, hit.score) for hit in found.hits]


class MemoryOf:
    """A store that has no place for files."""

    derived = None
    identity = ""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def answers(store: Store, **wanted: Any) -> list[tuple[str, float]]:
    """What a process that has just opened the space finds."""
    return [(hit.source, hit.score) for hit in find(search_in(store), QUERY, limit=10, threshold=-1, **wanted).hits]


def is_read(store: Store) -> bool:
    """Whether the matrix comes from its file."""
    with store.reading() as snapshot:
        return matrixfile.load(derived.DerivedFiles(store), MODEL, snapshot) is not None


def test_the_files_are_read_back(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither are rows read from the store, nor is an index built."""
    expected = truth(store)
    assert is_read(store)
    monkeypatch.setattr(index.Hnsw, "built", None)
    with store.reading() as snapshot, monkeypatch.context() as no_rows:
        no_rows.setattr(type(snapshot), "rows", None)
        assert answers(store) == expected
    # With proof a sample of the rows tells what chance finds; the exact search itself goes by the files.
    assert answers(store, certify=True) == expected


def flip(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice([1, 1, 2, 8])):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


def lengthen(data: bytearray, chance: random.Random) -> None:
    data.extend(chance.randbytes(chance.choice([1, 8, 4_096])))


def blank(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data))
    data[at : at + 512] = bytes(len(data[at : at + 512]))


def swap(data: bytearray, chance: random.Random) -> None:
    half = len(data) // 16 * 8
    data[:half], data[half : 2 * half] = data[half : 2 * half], data[:half]


def scramble(data: bytearray, chance: random.Random) -> None:
    data[:] = chance.randbytes(len(data))


DAMAGES = [flip, flip, flip, cut, lengthen, blank, swap, scramble]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["matrix", "hnsw"])
@pytest.mark.parametrize("part", ["head", "body"])
def test_damaged_files_are_made_anew(store: Store, name: str, part: str) -> None:
    """Three hundred of each, a thousand and two hundred in all: never a crash, never a wrong answer."""
    chance = random.Random(f"{name} {part}")  # noqa: S311 - damage
    expected = truth(store)
    assert len(expected) == 10
    for turn in range(300):
        head, body = files(store, name)
        file = body if part == "body" else head
        whole = file.read_bytes()
        data = bytearray(whole)
        DAMAGES[turn % len(DAMAGES)](data, chance)
        if bytes(data) == whole:
            continue
        file.write_bytes(data)
        assert answers(store) == expected, (turn, name, part)


def test_files_that_are_missing_or_folders_are_made_anew(store: Store) -> None:
    """Also the whole folder, and a file in its place, which is left alone."""
    expected = truth(store)
    for name in ("matrix", "hnsw"):
        for place in (0, 1):
            file = files(store, name)[place]
            file.unlink()
            file.mkdir()
            assert answers(store) == expected
            shutil.rmtree(store.derived or "")
            assert answers(store) == expected
    shutil.rmtree(store.derived or "")
    (store.derived or Path()).write_text("not a folder")
    assert answers(store) == expected
    assert (store.derived or Path()).read_text() == "not a folder"


def test_an_old_file_is_caught_up_with(store: Store) -> None:
    """What was deleted, changed, hidden and made since then counts; the file is as it was before."""
    before = {name: [file.read_bytes() for file in files(store, name)] for name in ("matrix", "hnsw")}
    first, second, third, *_ = [source for source, _ in truth(store)]
    store.commit([Delete(first), GiveName(second, "_hidden")])
    store.commit([Revise(third, "sea tide")])
    (new,) = make(store, "sea tide gull")
    find(search_in(MemoryOf(store)), QUERY)  # type: ignore[arg-type]
    expected = truth(store)
    assert {name: [file.read_bytes() for file in files(store, name)] for name in before} == before
    assert is_read(store)
    assert answers(store) == expected == answers(store, certify=True)
    found = {source for source, _ in expected}
    assert not {first, second} & found
    assert {third, new} <= found


def test_the_file_of_another_space_is_not_believed(store: Store, tmp_path: Path) -> None:
    """Even of one with as many Notes and at the same generation."""
    with contextlib.closing(open_store(tmp_path / "other.db", create=True)) as other:
        fill(other, vectors(60, seed=2))
        answers(other)
        assert answers(other) != truth(store)
        shutil.rmtree(store.derived or "")
        shutil.copytree(other.derived or "", store.derived or "")
        assert not is_read(store)
        assert answers(store) == truth(store)


def test_a_space_that_was_put_back_does_not_believe_its_future(path: Path, tmp_path: Path) -> None:
    """A copy of the file is restored and goes its own way: files of the way not taken are of no use."""
    copy = tmp_path / "copy.db"
    shutil.copy(path, copy)
    with contextlib.closing(open_store(path, create=False)) as store:
        for text in WORDS * 3:
            make(store, f"{text} tide sea")
        answers(store)
        assert is_read(store)
    shutil.copy(copy, path)
    for left in ("-wal", "-shm"):
        path.with_name(path.name + left).unlink(missing_ok=True)
    with contextlib.closing(open_store(path, create=False)) as store:
        for _ in range(45):
            make(store, "moon bread")
            search_in(store)._embedding.catch_up(None)  # type: ignore[arg-type]
        assert not is_read(store)
        assert answers(store) == truth(store)


def test_a_mapped_file_stays_what_it_was(store: Store) -> None:
    """Another process writes a new one meanwhile."""
    search = search_in(store)
    before = [(hit.source, hit.score) for hit in find(search, QUERY, limit=10, threshold=-1).hits]
    ids = make(store, *["star"] * 40)
    answers(store)
    store.commit([Delete(identifier) for identifier in ids])
    assert [(hit.source, hit.score) for hit in find(search, QUERY, limit=10, threshold=-1).hits] == before


def test_who_only_reads_writes_no_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And finds the same."""
    shutil.rmtree(path.with_name("space.db.derived"))
    with contextlib.closing(open_store(path, create=False)) as store:
        expected = truth(store)
        monkeypatch.setattr(type(store), "writable", False)
        assert answers(store) == expected
        assert not (store.derived or Path()).exists()


def test_a_space_in_memory_has_no_files() -> None:
    """There is no place beside it."""
    with contextlib.closing(open_store(":memory:", create=True)) as store:
        fill(store, vectors(60))
        assert store.derived is None
        assert len(answers(store)) == 10


def test_small_spaces_have_no_file(tmp_path: Path) -> None:
    """Reading them from the store is as fast; an index of a few rows is written all the same when asked for."""
    with contextlib.closing(open_store(tmp_path / "small.db", create=True)) as store:
        fill(store, vectors(19))
        answers(store, certify=True)
        assert not (store.derived or Path()).exists()


def test_a_few_changes_do_not_write_the_file_anew(store: Store) -> None:
    """One in ten Notes does."""
    head, _ = files(store, "matrix")
    before = head.read_bytes()
    make(store, "salt")
    answers(store)
    assert head.read_bytes() == before
    make(store, *["rope"] * 10)
    answers(store)
    assert head.read_bytes() != before


def test_the_checksum_notices_every_bit_and_blocks_that_changed_places() -> None:
    """Every bit of some hundred words, and all pairs of pages of a few."""
    data = np.random.default_rng(1).integers(0, 2**63, 4_096, np.uint64)
    whole = derived.checksum_array(data)
    for at in range(0, 4_096, 41):
        for bit in range(64):
            data[at] ^= np.uint64(1 << bit)
            assert derived.checksum_array(data) != whole
            data[at] ^= np.uint64(1 << bit)
    pages = data.reshape(8, 512)
    for one in range(8):
        for other in range(one):
            order = list(range(8))
            order[one], order[other] = other, one
            assert derived.checksum_array(np.ascontiguousarray(pages[order]).reshape(-1)) != whole
    assert derived.checksum_array(data[:-1]) != whole
    assert derived.checksum_array(data) == whole


def test_notes_without_passages_survive_the_file(store: Store) -> None:
    """Empty Notes are counted, though they have no row."""
    store.commit([MakeNote(store.new_id(Kind.NOTE), "", kept=True) for _ in range(9)])
    find(search_in(store), QUERY)
    assert is_read(store)
    proved = find(search_in(store), QUERY, limit=None, threshold=-1).certificate
    assert (proved["notes"], proved["matched"], proved["exhaustive"]) == (69, 60, True)
