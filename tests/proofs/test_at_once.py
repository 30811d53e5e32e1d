"""Several processes at once: readers never wait, see whole transactions, and find what there is, at once."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from made_model import made
from roles import MANY, QUERY, STOPS, TURNS

from infospace import Space
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.search.index.consistency import disagreements
from infospace.store.changes import Delete, MakeNote
from infospace.store.sqlite import open_store

pytestmark = pytest.mark.usefixtures("warm_processes")

PROVE = bool(os.environ.get("INFOSPACE_PROVE"))

Line = dict[str, Any]


class Player:
    """A process that plays one of the roles."""

    def __init__(self, role: str, path: Path, *more: object) -> None:
        script = str(Path(__file__).parent / "roles.py")
        command = [sys.executable, script, role, str(path), *map(str, more or (1,))]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.line()

    def line(self) -> Line:
        """Return the next thing it says."""
        assert self.process.stdout is not None
        found: Line = json.loads(self.process.stdout.readline())
        return found

    def tell(self, **order: Any) -> None:
        """Tell it to do something, or to go on."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def order(self, **order: Any) -> Line:
        """Tell it to do something, and return what it says to that."""
        self.tell(**order)
        return self.line()

    def end(self) -> list[Line]:
        """Let it end, and return all else that it said."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        output = self.process.stdout.read()  # not `communicate`, which passes over lines read ahead by `line`
        self.process.stdout.close()
        assert self.process.wait() == 0
        return [json.loads(line) for line in output.splitlines()]


def pair(path: Path) -> Space:
    """Return a space with two Notes."""
    space = made(open_store(path, create=True))
    ids = [space.store.new_id(Kind.NOTE) for _ in range(2)]
    space.store.commit([MakeNote(identifier, 0, kept=True) for identifier in ids])
    return space


@pytest.mark.slow
def test_readers_never_wait_for_a_writer_and_see_whole_transactions(tmp_path: Path) -> None:
    """Two processes read while a third is in the midst of long transactions, and is kept there until they have."""
    path = tmp_path / "space"
    pair(path).close()
    readers = [Player("reads", path) for _ in range(2)]
    writer = Player("pairs", path)
    written = []
    for _ in range(TURNS):
        assert writer.line() == {"inside": True}
        for reader in readers:
            reader.order()
        written.append(writer.order())
    writer.end()
    during = 0
    took: list[float] = []
    for reader in readers:
        before = 0
        for begin, end, one, other in reader.end()[0]["reads"]:
            assert one == other, "half of a transaction"
            assert one >= before, "back in time"
            assert one >= max((w["number"] for w in written if w["end"] <= begin), default=0), "not seen at once"
            before = one
            took.append(end - begin)
            during += any(w["begin"] < begin and end < w["commit"] for w in written)
    busy = [w["commit"] - w["begin"] for w in written]
    took.sort()
    print(
        f"\n{len(took):,} reads, {during:,} of them begun and ended inside of a write transaction (these took "
        f"{min(busy):.2f} to {max(busy):.2f} s); the median read {took[len(took) // 2] * 1e3:.2f} ms, "
        f"the longest {took[-1] * 1e3:.1f} ms"
    )
    assert during >= len(readers) * MANY * TURNS


@pytest.mark.slow
def test_a_search_sees_the_commit_of_another_process_at_once(tmp_path: Path) -> None:
    """After each change that another process acknowledged: found is just what there is, at its latest version."""
    chance = random.Random(3)  # noqa: S311
    path = tmp_path / "space"
    turns = 1_500 if PROVE else 150
    with made(open_store(path, create=True)) as space:
        other = Player("obeys", path)
        there: dict[str, int] = {}
        for turn in range(turns):
            identifier, version = chance.choice([("", 0), ("", 0), *there.items()])
            what = chance.choice(["revise", "delete", "hide"]) if identifier else "make"
            answer = other.order(what=what, id=identifier, text=f"turn {turn} " * chance.randrange(1, 90))
            if what in ("make", "revise"):
                there[answer["id"]] = version + 1
            else:
                del there[identifier]
            found = space.search.find(QUERY, NullListener())
            assert {hit.source: hit.version for hit in found.hits} == there
            assert found.certificate["exhaustive"]
            assert found.certificate["generation"] >= answer["generation"]
        other.end()
        assert disagreements(space) == []
    print(f"\n{turns} changes, each found or gone in the next search of another process")


@pytest.mark.slow
def test_a_search_while_others_write_is_true_of_one_generation(tmp_path: Path) -> None:
    """One process changes Notes, two search meanwhile: each search is right about the generation it names."""
    path = tmp_path / "space"
    pair(path).close()
    searchers = [Player("searches", path) for _ in range(2)]
    assert all(searcher.line()["warm"] for searcher in searchers)
    changes = 4_000 if PROVE else 1_000
    writer, log = Player("writes", path, 5, changes), []
    while len(log) < changes:
        line = writer.line()
        if "stopped" in line:
            for searcher in searchers:
                searcher.order()
            writer.tell()
        else:
            log.append(line)
    writer.end()
    told = [search for searcher in searchers for search in searcher.end()[0]["searches"]]
    states = {line["generation"]: line["there"] for line in log}
    generations = sorted(states)
    meanwhile = 0
    for hits, proved in told:
        at = max((g for g in generations if g <= proved["generation"]), default=None)
        there = {"Note_1": 1, "Note_2": 1, **(states[at] if at is not None else {})}
        assert hits.items() <= there.items(), "a ghost, or an earlier version"
        assert proved["notes"] == len(there)
        assert len(hits) == len(there) - proved["unembedded"]
        meanwhile += at is not None and at != generations[-1]
    print(f"\n{len(log)} changes; {len(told)} searches in two processes, {meanwhile} of them between the changes")
    assert meanwhile >= len(searchers) * STOPS


def test_a_note_that_was_purged_is_found_by_nobody(tmp_path: Path) -> None:
    """Deleted and purged by one process, between two searches of another."""
    with pair(tmp_path / "space") as space, made(open_store(tmp_path / "space", create=False)) as other:
        assert len(space.search.find(QUERY, NullListener()).hits) == 2
        other.store.commit([Delete("Note_2")])
        other.store.purge(really=True)
        assert [hit.source for hit in space.search.find(QUERY, NullListener()).hits] == ["Note_1"]
