"""A space in PostgreSQL survives the death of the database and a network that cuts: nothing acknowledged is lost.

The server of the first proofs waits for its disk (fsync), is reached by TCP, and gets SIGKILL with all of its processes
while clients commit. `make prove` kills it 30 times.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from calling import writing
from databases import DurableServer, Replica, place_in_database
from proxy import Proxy

from infospace import open_space
from infospace.core.errors import Conflict, LeaseLost, NotFound, StoreError
from infospace.core.ids import Kind
from infospace.core.resources import Collection, Member, Note
from infospace.journal.rows import OpenRun, OwnerGuard, StepRow, Use
from infospace.store.changes import Change, MakeCollection, MakeNote
from infospace.store.postgres import open_store
from infospace.store.protocol import Snapshot, Store
from planner.lifecycle.resume import answer, resume

PROVE = bool(os.environ.get("INFOSPACE_PROVE"))
ROUNDS = 30 if PROVE else 2
WRITERS = 3
SECONDS = 30.0

AT = "2026-01-01T00:00:00.000Z"

SENTENCE = re.compile(
    r"the database 'postgresql://\S+' "
    r"(cannot be reached: .+|has as many connections as it takes|gave the question up.*)"
)

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are found by /proc")


@pytest.fixture
def server() -> Iterator[DurableServer]:
    """A server of this test. Its folder lies where another user, whom PostgreSQL needs instead of root, may go."""
    with tempfile.TemporaryDirectory(prefix="infospace-durable-", ignore_cleanup_errors=True) as folder:
        started = DurableServer(Path(folder))
        yield started
        started.close()


class Writer:
    """A thread that commits pairs of Notes in a Collection, and keeps what it was told of each."""

    def __init__(self, address: str, name: str) -> None:
        self.name = name
        self.acknowledged: list[list[str]] = []
        self.uncertain: list[list[str]] = []
        self.errors: list[StoreError] = []
        self.failed = threading.Event()
        self.on = threading.Event()
        self.on.set()
        self.ended = False
        self._store = open_store(address, create=True)
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    def end(self) -> None:
        """Let it end."""
        self.ended = True
        self.on.set()
        self._thread.join(SECONDS)
        self._store.close()

    def _write(self) -> None:
        ids: list[str] = []
        while not self.ended:
            self.on.wait()
            try:
                kinds = (Kind.NOTE, Kind.NOTE, Kind.COLLECTION)
                ids = [self._store.new_id(kind) for kind in kinds]
                notes = [MakeNote(one, f"{self.name} {one}", kept=True) for one in ids[:2]]
                self._store.commit([*notes, MakeCollection(ids[2], [Member(one) for one in ids[:2]], kept=True)])
            except StoreError as error:
                self.errors.append(error)
                if ids:
                    self.uncertain.append(ids)
                self.on.clear()
                self.failed.set()
            else:
                self.acknowledged.append(ids)
            ids = []


def is_there(snapshot: Snapshot, ids: list[str]) -> bool:
    """Whether what one commit made is there: all of it, or nothing."""
    found = []
    for one in ids:
        with suppress(NotFound):
            found.append(snapshot.get(one))
    assert len(found) in (0, len(ids)), ids
    if found:
        assert isinstance(found[2], Collection)
        assert [member.id for member in found[2].members] == ids[:2]
        assert all(isinstance(one, Note) and str(one.content).endswith(one.id) for one in found[:2])
    return bool(found)


def test_a_database_that_is_killed_loses_nothing_that_was_acknowledged(server: DurableServer) -> None:
    """Whoever was told of an error commits again once it is back; each error is a sentence with the database in it."""
    address = f"{server.address}?space=team"
    writers = [Writer(address, f"writer {number}") for number in range(WRITERS)]
    chance = random.Random(31)  # noqa: S311
    try:
        for _ in range(ROUNDS):
            before = sum(len(writer.acknowledged) for writer in writers)
            wait_for = before + chance.randrange(5, 25)
            pause = threading.Event()
            while sum(len(writer.acknowledged) for writer in writers) < wait_for:
                pause.wait(0.002)
            server.kill()
            for writer in writers:
                assert writer.failed.wait(SECONDS)
                writer.failed.clear()
            server.start()
            done = doctor(address)
            assert done.returncode == 0, done.stdout + done.stderr
            for writer in writers:
                writer.on.set()
    finally:
        for writer in writers:
            writer.end()
    with closing(open_store(address, create=False)) as store, store.reading() as snapshot:
        told = [ids for writer in writers for ids in writer.acknowledged]
        assert all(is_there(snapshot, ids) for ids in told)
        doubtful = [is_there(snapshot, ids) for writer in writers for ids in writer.uncertain]
        assert snapshot.count(Kind.NOTE) == 2 * (len(told) + sum(doubtful))
    errors = [error for writer in writers for error in writer.errors]
    assert len(errors) >= ROUNDS * WRITERS
    assert [str(one) for one in errors if not SENTENCE.match(one.message) or not one.hint] == []
    print(
        f"\n{ROUNDS} kills of the database; {len(told)} acknowledged commits, all there; of {len(doubtful)} whose"
        f" answer was lost {sum(doubtful)} are there as a whole, the others not at all"
    )


def doctor(address: str) -> subprocess.CompletedProcess[str]:
    """Look through the whole space."""
    command = [sys.executable, "-m", "tui.command", "--space", address, "doctor", "--deep"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_a_call_whose_answer_the_dead_database_did_not_take_is_not_repeated(
    server: DurableServer, tmp_path: Path
) -> None:
    """The database dies while a tool works: what it did is in doubt, and the run asks instead of calling it again."""
    address, log, until = f"{server.address}?space=team", tmp_path / "log", tmp_path / "until"
    os.mkfifo(until)
    script = str(Path(__file__).with_name("calling.py"))
    command = [sys.executable, script, address, str(log), str(until)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        pause = threading.Event()
        while not log.exists() or log.read_text() != "a\nb\n":
            pause.wait(0.01)
        server.kill()
        until.write_text("go on")
        message, _ = process.communicate(timeout=SECONDS)
    assert SENTENCE.match(message), message
    server.start()
    with open_space(address) as space:
        space.tools.add(writing(log))
        result = asyncio.run(resume(space, "run_1"))
        assert ([one.kind for one in result.pending], log.read_text()) == (["doubt"], "a\nb\n")
        answer(space, "run_1", result.pending[0].step, {"result": "wrote b"})
        result = asyncio.run(resume(space, "run_1"))
        assert (result.status, log.read_text()) == ("success", "a\nb\nc\n")
    assert doctor(address).returncode == 0


def test_another_address_of_the_url_takes_over(server: DurableServer) -> None:
    """The first server dies, the second has followed it and is promoted: whoever writes goes on there by itself.

    Commits wait for the second server (`synchronous_standby_names`), so what was acknowledged is there.
    """
    with tempfile.TemporaryDirectory(prefix="infospace-replica-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o777)
        second = Replica(server, Path(folder))
        hosts = f"127.0.0.1:{server.port},127.0.0.1:{second.port}"
        address = f"postgresql://postgres@{hosts}/postgres?space=team&target_session_attrs=read-write"
        try:
            with psycopg.connect(server.address, autocommit=True) as session:
                session.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
                session.execute("SELECT pg_reload_conf()")
            with closing(open_store(address, create=True)) as store:
                made = [note(store, f"text {number}") for number in range(20)]
                server.kill()
                error = failure_of(store, [MakeNote(store.new_id(Kind.NOTE), "lost", kept=True)])
                assert error is not None
                assert SENTENCE.match(error.message), error
                second.promote()
                made += [note(store, f"later {number}") for number in range(5)]
                with store.reading() as snapshot:
                    assert all(is_one(snapshot, one) for one in made)
                assert store.check() == []
        finally:
            second.close()


def note(store: Store, text: str) -> str:
    """Make a Note; return its id."""
    identifier = store.new_id(Kind.NOTE)
    store.commit([MakeNote(identifier, text, kept=True)])
    return identifier


def is_one(snapshot: Snapshot, identifier: str) -> bool:
    """Whether a Note is there."""
    return isinstance(snapshot.get(identifier), Note)


@pytest.fixture
def behind(tmp_path: Path) -> str:
    """The address of a space of its own, without a network before it."""
    return place_in_database(tmp_path)


@pytest.fixture
def proxy(behind: str) -> Iterator[Proxy]:
    """A network before that space."""
    made = Proxy(behind)
    yield made
    made.close()


def test_a_server_that_starts_is_waited_for(server: DurableServer) -> None:
    """As long as the caller says: after a crash it recovers first, and lets nobody in meanwhile."""
    with closing(open_store(server.address, create=True)) as store:
        made = MakeNote(store.new_id(Kind.NOTE), "from before", kept=True)
        store.commit([made])
    with psycopg.connect(server.address, autocommit=True) as session:
        session.execute("ALTER SYSTEM SET hot_standby = off")
    (server.data / "standby.signal").touch()  # it goes on recovering until it is promoted
    server.kill()
    server.start()
    with pytest.raises(StoreError, match=r"cannot be reached: .*the database system is not"):
        open_store(server.address, create=False, wait=0.3)
    promote = threading.Timer(1.0, server.run, ("pg_ctl", "-D", str(server.data), "promote"))
    promote.start()
    with closing(open_store(server.address, create=False)) as store, store.reading() as snapshot:
        assert snapshot.get(made.id).content == "from before"
    promote.join()


@pytest.mark.parametrize("answered", [False, True], ids=["unheard", "answer lost"])
def test_a_connection_cut_in_any_statement_of_a_commit(proxy: Proxy, behind: str, answered: bool) -> None:
    """All of it is there or nothing, and only where the answer to the last statement was lost is there what failed.

    The same store goes on afterwards: doing it again makes what is not there, and is refused where it is.
    """
    cuts, stored, at_commit = 0, 0, False
    with (
        closing(open_store(proxy.address, create=True)) as store,
        closing(open_store(behind, create=False)) as direct,
    ):
        while True:
            ids = [store.new_id(kind) for kind in (Kind.NOTE, Kind.NOTE, Kind.COLLECTION)]
            changes = [*(MakeNote(one, f"text {one}", kept=True) for one in ids[:2])]
            everything = [*changes, MakeCollection(ids[2], [Member(one) for one in ids[:2]], kept=True)]
            if at_commit:
                proxy.cut_at(b"COMMIT", answered=answered)
            else:
                proxy.cut_after(cuts, answered=answered)
            error = failure_of(store, everything)
            assert proxy.has_cut == (error is not None)
            if error is None:
                # A connection that has not written yet asks once whether rows are withheld, so that not each commit has
                # as many statements: the last of them is cut by what it is.
                assert not at_commit
                proxy.cut_after(2**62, answered=False)
                at_commit = True
                continue
            assert SENTENCE.match(error.message), error
            assert error.hint == "look whether it runs; what was committed before is safe"
            with direct.reading() as snapshot:
                there = is_there(snapshot, ids)
            stored += there
            assert there == (answered and b"COMMIT" in proxy.cut_piece)
            if there:
                with pytest.raises(Conflict, match=f"{ids[0]} exists already"):
                    store.commit(everything)
            else:
                store.commit(everything)
            with direct.reading() as snapshot:
                assert is_there(snapshot, ids)
            if at_commit:
                break
            cuts += 1
        assert cuts > 8
        assert (stored > 0) == answered
        assert direct.check() == []


def test_a_step_is_committed_in_one_message(proxy: Proxy) -> None:
    """Owner, row and Note are compared, written and committed by one piece; reading the Note is another."""
    with closing(open_store(proxy.address, create=True)) as store:
        run, names = store.new_id("run"), [store.new_id(Kind.NOTE) for _ in range(8)]
        store.commit([], [OpenRun(run, "plan", "", {}, {}, AT, "me")])

        def commit(at: int, owner: str = "me") -> None:
            row = StepRow(run, at + 1, f"{at + 1}", "load", "success", AT, 1.0, uses=[Use(names[at - 1], 1)])
            store.commit([MakeNote(names[at], at)], [OwnerGuard(run, owner), row])

        for at in range(1, 4):  # a connection has each statement parsed when it comes first
            commit(at)
            store.get(names[at])
        before = proxy.pieces
        for at in range(4, 7):
            commit(at)
        assert proxy.pieces == before + 3
        store.get(names[6])
        assert proxy.pieces == before + 4
        with pytest.raises(LeaseLost, match="somebody else"):
            commit(7, "somebody else")
        with store.reading() as snapshot:
            assert [row.sequence for row in snapshot.steps(run)] == [2, 3, 4, 5, 6, 7]
            with pytest.raises(NotFound, match=f"there is no {names[7]}"):
                snapshot.get(names[7])


def failure_of(store: Store, changes: Sequence[Change]) -> StoreError | None:
    """Commit; return why it failed, None where it did not."""
    try:
        store.commit(changes)
    except StoreError as error:
        return error
    return None


def test_a_slow_network_changes_nothing_but_time(proxy: Proxy) -> None:
    """Each piece comes later; a commit, a search by words and a check answer as ever."""
    proxy.delay = 0.003
    with closing(open_store(proxy.address, create=True)) as store:
        note = store.new_id(Kind.NOTE)
        store.commit([MakeNote(note, "a slow text", kept=True)])
        with store.reading() as snapshot:
            words = snapshot.keyword_matches("slow")
        assert words is not None
        assert words.numbers.tolist() == [1]
        assert store.check() == []
