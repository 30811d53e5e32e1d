"""A space in a real PostgreSQL database: opened, shared by processes, cut off, and used by the command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from databases import place_in_database

from infospace import open_space
from infospace.core.errors import Invalid, StoreError
from infospace.core.ids import Kind
from infospace.store.changes import MakeNote
from infospace.store.open import open_store
from infospace.store.postgres import store as postgres_store
from infospace.store.postgres.connection import REFUSAL, connect, public, reported
from infospace.store.postgres.store import parsed
from infospace.store.protocol import Store

pytestmark = pytest.mark.usefixtures("warm_processes")

COMMAND = (sys.executable, "-m", "tui.command", "--space")


@pytest.fixture
def address(tmp_path: Path) -> str:
    """The address of an empty space in a database of its own."""
    return place_in_database(tmp_path)


def note(store: Store, content: str) -> str:
    """Make a kept Note; return its id."""
    identifier = store.new_id(Kind.NOTE)
    store.commit([MakeNote(identifier, content, kept=True)])
    return identifier


@pytest.mark.parametrize(
    ("other", "asked"),
    [
        ("is the server running on that host?", True),
        ('FATAL:  password authentication failed for user "a"', False),
        ('FATAL:  database "x" does not exist', False),
    ],
)
def test_of_several_hosts_one_that_starts_is_waited_for_unless_another_refuses_for_good(
    monkeypatch: pytest.MonkeyPatch, other: str, asked: bool
) -> None:
    """A password that is wrong is not sent ten times a second."""
    tried: list[str] = []

    def refusing(target: str, **_: object) -> None:
        tried.append(target)
        raise psycopg.OperationalError(f"- a: FATAL:  the database system is starting up\n- b: {other}")

    monkeypatch.setattr(psycopg, "connect", refusing)
    with pytest.raises(StoreError):
        connect("postgresql://a,b/x", "a,b", "infospace", 1, wait=0.15)
    assert (len(tried) > 1) is asked


def test_a_server_that_starts_again_is_waited_for_briefly_where_a_space_is_open(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is to stop does not wait for half a minute for each of its connections."""
    store = open_store(address, create=True)
    with monkeypatch.context() as patch:
        patch.setattr(postgres_store, "AGAIN_S", 0.15)
        tried: list[float] = []

        def refusing(_target: str, **_: object) -> None:
            tried.append(time.monotonic())
            raise psycopg.OperationalError("FATAL:  the database system is starting up")

        patch.setattr(psycopg, "connect", refusing)
        with pytest.raises(StoreError, match="starting up"), store.reading():
            pass
        assert 1 < len(tried) < 10
    store.close()


def texts(address: str) -> list[str]:
    """Return the contents of all kept Notes."""
    store = open_store(address, create=False)
    try:
        with store.reading() as snapshot:
            return [str(one.content) for one in snapshot.listing(Kind.NOTE)]  # type: ignore[union-attr]
    finally:
        store.close()


def command(address: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command on a space."""
    return subprocess.run([*COMMAND, address, *words], capture_output=True, text=True, timeout=120, check=False)


def test_a_database_holds_many_spaces(address: str) -> None:
    """Each in a schema of its own, which `space` names."""
    one, other = (open_store(f"{address}&space={name}", create=True) for name in ("one", "other"))
    note(one, "mine")
    assert one.identity != other.identity
    with other.reading() as snapshot:
        assert snapshot.count(Kind.NOTE) == 0
    one.close()
    other.close()
    assert texts(f"{address}&space=one") == ["mine"]


def test_what_is_not_there_is_made_only_where_it_is_asked_for(address: str) -> None:
    """A space that is only looked at is empty, and leaves no schema behind."""
    named = f"{address}&space=nothing"
    assert texts(named) == []
    with psycopg.connect(address) as session:
        assert session.execute("SELECT to_regnamespace('nothing')").fetchone() == (None,)


@pytest.mark.parametrize("name", ["Team", "a-b", "1st", "", "x" * 64])
def test_a_name_that_no_schema_can_have_is_refused(name: str) -> None:
    """With one that would fit."""
    with pytest.raises(Invalid, match="cannot be the name of a space") as refused:
        parsed(f"postgresql:///notes?space={quote(name)}")
    assert "postgresql:///notes?space=team" in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("address", "target", "space"),
    [
        ("postgresql:///notes?space=team", "postgresql:///notes", "team"),
        ("postgres:///notes?host=/run/a&space=team", "postgresql:///notes?host=%2Frun%2Fa", "team"),
        ("postgresql://", "postgresql://", "infospace"),
        ("postgresql://ann@db:5433/notes", "postgresql://ann@db:5433/notes", "infospace"),
        (
            "postgresql://a,b:2/notes?target_session_attrs=any",
            "postgresql://a,b:2/notes?target_session_attrs=any",
            "infospace",
        ),
    ],
)
def test_the_server_is_given_the_address_without_the_space(address: str, target: str, space: str) -> None:
    """Where it names no host too: the slashes before the database stay."""
    assert parsed(address) == (target, space)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("/t_", "/nothing_"), r"does not exist \(make it with `createdb`, or name another database\)"),
        (
            ("//postgres:@", "//nobody:@"),
            r"does not know this user and password \(look at the address, or at ~/.pgpass",
        ),
    ],
)
def test_who_is_not_let_in_is_told_why(address: str, change: tuple[str, str], message: str) -> None:
    """And what to do, which is not to wait for the server."""
    assert change[0] in address
    with pytest.raises(StoreError, match=message):
        open_store(address.replace(*change), create=True)


def test_a_schema_of_somebody_else_is_left_as_it_is(address: str) -> None:
    """Tables that infospace did not make are not mixed with its own."""
    with psycopg.connect(address, autocommit=True) as session:
        session.execute("CREATE SCHEMA theirs")
        session.execute("CREATE TABLE theirs.resources (id int)")
    with pytest.raises(Invalid, match="holds tables that infospace did not make"):
        open_store(f"{address}&space=theirs", create=True)
    with psycopg.connect(address) as session:
        found = session.execute("SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace('theirs')")
        assert found.fetchone() == (1,)


def test_a_space_of_a_later_version_is_not_touched(address: str) -> None:
    """It says which version it is."""
    with psycopg.connect(address, autocommit=True) as session:
        session.execute("UPDATE infospace.state SET value = '999' WHERE key = 'tables'")
    with pytest.raises(StoreError, match="has version 999"):
        open_store(address, create=True)


@pytest.mark.parametrize(
    "address", ["me:secret@127.0.0.1:1/notes", "me@127.0.0.1:1/notes?password=secret&sslmode=disable"]
)
def test_a_server_that_is_not_there_is_told_without_the_password(address: str) -> None:
    """One sentence, exit code and all."""
    done = command(f"postgresql://{address}", "notes")
    assert done.returncode == 2
    assert "cannot be reached" in done.stderr
    assert "secret" not in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_an_address_with_something_unknown_in_it_is_told() -> None:
    """With a form that fits; nothing is made."""
    with pytest.raises(StoreError, match=r"is none: .*colour") as refused:
        open_store("postgresql://me:secret@127.0.0.1:1/notes?colour=red", create=True)
    assert refused.value.hint == "postgresql://USER@HOST/DATABASE?space=NAME, with what psql takes"
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("code", "said", "hint"),
    [
        ("53100", "has no room left on its disk: nothing of this change was stored", "free some space"),
        ("53200", "needs more memory than there is", "close something"),
        ("54000", "holds nothing of this size: nothing of this change was stored", "make the longest word"),
        ("53300", "has as many connections as it takes", "wait until others are done"),
        ("57014", "gave the question up, since it took too long", "ask less at a time"),
        ("42501", "does not allow you this", "`infospace members` lists who may what"),
        ("25006", "can be read and not written", "name the address that takes writes"),
        ("28P01", "does not know this user and password", "look at the address"),
        ("3D000", "does not exist", "make it with `createdb`"),
        ("57P01", "cannot be reached: told so", "look whether it runs"),
        ("42601", "refused a statement: told so", "this is a fault of infospace"),
    ],
)
def test_what_a_server_reports_is_one_sentence_by_its_code(code: str, said: str, hint: str) -> None:
    told = reported(psycopg.errors.lookup(code)("told so\nDETAIL: much"), "the address")
    assert isinstance(told, StoreError)
    assert told.message == f"the database 'the address' {said}"
    assert (told.hint or "").startswith(hint)


def test_what_a_member_may_not_change_is_said_beside_the_right_that_is_missing() -> None:
    told = reported(psycopg.errors.InsufficientPrivilege(REFUSAL), "the address")
    assert told.message == f"the database 'the address' does not allow you this: {REFUSAL}"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://me:secret@host/db", "postgresql://me:…@host/db"),
        ("postgresql://me@host/db?space=a&password=secret&b=c", "postgresql://me@host/db?space=a&password=…&b=c"),
        ("postgresql://host/db?sslpassword=secret", "postgresql://host/db?sslpassword=…"),
        ("postgresql:///db?space=a", "postgresql:///db?space=a"),
    ],
)
def test_an_address_is_shown_without_its_password(address: str, shown: str) -> None:
    assert public(address) == shown


def test_processes_write_at_once_and_nothing_is_lost(address: str) -> None:
    """Three processes with thirty commits each: every Note is there once, with an id of its own."""
    program = """
import sys
from infospace.store.open import open_store
from infospace.core.ids import Kind
from infospace.store.changes import MakeNote
store = open_store(sys.argv[1], create=True)
for at in range(30):
    store.commit([MakeNote(store.new_id(Kind.NOTE), f"{sys.argv[2]} {at}", kept=True)])
store.close()
"""
    running = [subprocess.Popen([sys.executable, "-c", program, address, name]) for name in ("a", "b", "c")]
    assert [one.wait(120) for one in running] == [0, 0, 0]
    assert sorted(texts(address)) == sorted(f"{name} {at}" for name in ("a", "b", "c") for at in range(30))
    store = open_store(address, create=False)
    assert store.check() == []
    with store.reading() as snapshot:
        assert snapshot.generation == 90
    store.close()


def test_two_processes_that_make_a_space_at_once_make_one(address: str) -> None:
    """The tables are made in one transaction, behind the lock of the space."""
    named = f"{address}&space=fresh"
    opened: list[Store] = []

    def make() -> None:
        opened.append(open_store(named, create=True))

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len({store.identity for store in opened}) == 1
    assert len(opened) == 4
    for store in opened:
        store.close()


def test_whole_numbers_are_those_of_64_bits(address: str) -> None:
    """Another one is refused before it is sent."""
    store = open_store(address, create=True)
    with store.reading() as snapshot:
        connection = snapshot._connection
        for number in (-(2**63), 2**63 - 1):
            assert connection.value("SELECT (?)::text", (number,)) == str(number)
        for number in (-(2**63) - 1, 2**63):
            with pytest.raises(Invalid, match=r"a whole number is too large to be stored \(at most 2\^63 - 1\)"):
                connection.value("SELECT (?)::text", (number,))
    store.close()


def test_a_connection_that_is_cut_off_is_made_again(address: str) -> None:
    """The commit that it is cut off in is told, and the next one goes through; a snapshot after it sees all."""
    store = open_store(address, create=True)
    note(store, "before")
    with store.reading():
        pass
    with psycopg.connect(address, autocommit=True) as session:
        session.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid()"
        )
    with pytest.raises(StoreError, match="cannot be reached"):
        note(store, "lost")
    note(store, "after")
    with store.reading() as snapshot:
        assert [one.content for one in snapshot.listing(Kind.NOTE)] == ["before", "after"]  # type: ignore[union-attr]
    store.close()


def test_a_snapshot_does_not_see_what_is_committed_after_it_was_opened(address: str) -> None:
    """Though nothing was asked of it yet."""
    store = open_store(address, create=True)
    with store.reading() as snapshot:
        note(store, "later")
        assert snapshot.count(Kind.NOTE) == 0
    with store.reading() as snapshot:
        assert snapshot.count(Kind.NOTE) == 1
    store.close()


def test_a_trial_leaves_the_database_as_it_was(address: str) -> None:
    """A copy is written to, and goes."""
    store = open_store(address, create=True)
    note(store, "kept: tea, and ginger tea")
    with store.overlay() as trial:
        note(trial, "of the trial")
        with trial.reading() as snapshot:
            assert snapshot.count(Kind.NOTE) == 2
            words = snapshot.keyword_matches("ginger")
            assert words is not None
            assert list(words.numbers) == [1]
    store.close()
    assert texts(address) == ["kept: tea, and ginger tea"]


def test_words_are_found_and_weighed_as_in_a_file(address: str, tmp_path: Path) -> None:
    """The same Notes with the same BM25: in many scripts, in titles, and among some Notes alone."""
    contents = [
        "Green tea, and tea again",
        "Coffee without tea",
        "日本語のお茶",
        "茶の湯",
        "Größe und Straße",
        "running runs ran",
        "nothing of it",
    ]
    found = []
    for place in (address, str(tmp_path / "space.db")):
        store = open_store(place, create=True)
        numbers = [store.new_id(Kind.NOTE) for _ in contents]
        store.commit(
            [
                MakeNote(identifier, text, kept=True, metadata={"title": "Tea" if at == 6 else f"note {at}"})
                for at, (identifier, text) in enumerate(zip(numbers, contents, strict=True))
            ]
        )
        with store.reading() as snapshot:
            answers = []
            for query in ("tea", "お茶", "茶", "strasse straße", "run", "tea coffee nothing"):
                for among in (None, [1, 2, 7]):
                    words = snapshot.keyword_matches(query, among)
                    assert words is not None
                    scores = [round(float(score), 6) for score in words.scores]
                    answers.append((query, among, list(map(int, words.numbers)), scores))
        store.close()
        found.append(answers)
    assert found[0] == found[1]
    assert [numbers for query, among, numbers, _ in found[0] if query == "tea" and among is None] == [[1, 2, 7]]
    assert all(numbers for _, among, numbers, _ in found[0] if among is None)


@pytest.mark.slow
def test_a_space_is_used_by_the_command(address: str, tmp_path: Path) -> None:
    """Import, search by words, query, a plan, its run, undo and a check of the whole."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "Tea.md").write_text("---\ntags: [drink]\n---\nGreen tea. See [[Coffee]].\n- [ ] buy tea\n")
    (folder / "Coffee.md").write_text("Black coffee.\n")
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps([{"type": "create-note", "value": "a report", "name": "report"}]))
    assert "2 added" in command(address, "add", str(folder)).stdout
    assert "Tea" in command(address, "search", "--mode", "keyword", "green").stdout
    rows = json.loads(command(address, "query", "SELECT title, tags FROM notes ORDER BY title", "--json").stdout)
    assert [(row["title"], row["tags"]) for row in rows["data"]] == [("Coffee", None), ("Tea", ["drink"])]
    assert command(address, "run", str(plan)).returncode == 0
    assert "a report" in command(address, "show", "report").stdout
    assert "success" in command(address, "runs").stdout
    assert command(address, "undo", "run_2").returncode == 0
    gone = command(address, "show", "report")
    assert (gone.returncode, gone.stdout) == (1, "")
    deep = command(address, "doctor", "--deep")
    assert "2 notes, consistent" in deep.stdout, deep.stdout + deep.stderr


def test_a_run_whose_process_was_killed_is_resumed(address: str, tmp_path: Path) -> None:
    """Its first step is not done again."""
    plan = tmp_path / "plan.json"
    steps = [
        {"type": "create-note", "value": "first", "name": "one"},
        {"type": "wait", "seconds": 3},
        {"type": "create-note", "value": "last", "name": "two"},
    ]
    plan.write_text(json.dumps(steps))
    process = subprocess.Popen([*COMMAND, address, "run", str(plan)], stdout=subprocess.DEVNULL)
    store = open_store(address, create=True)
    deadline = time.monotonic() + 60
    while True:
        with store.reading() as snapshot:
            runs = snapshot.runs()
            begun = [step.status for step in snapshot.steps("run_1")] if runs else []
        if "success" in begun:
            break
        assert time.monotonic() < deadline, begun
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(60)
    store.close()
    done = command(address, "resume", "run_1")
    assert done.returncode == 0, done.stdout + done.stderr
    with open_space(address) as space, space.store.reading() as snapshot:
        assert snapshot.run("run_1").status == "success"
    assert sorted(texts(address)) == ["first", "last"]


def test_a_server_without_room_for_another_connection_says_so() -> None:
    """What a full disk refuses when somebody connects has no code of its own, only a sentence."""
    refusal = "connection to server failed: FATAL:  could not write init file: No space left on device"
    error = reported(psycopg.OperationalError(refusal), "postgresql:///notes")
    assert error.message.startswith("the database 'postgresql:///notes' has no room left on its disk")
    assert error.hint == "free some space, then do it again"
