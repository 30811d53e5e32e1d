"""A space survives `kill -9` at any moment: what was acknowledged is there, what was not is wholly there or not at all.

Killed are processes, not machines: what a power cut may cost is said at `synchronous`, and not proved here.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from ledger import SHARED_GROUP, SHARED_NOTE, Ledger, Reader, Telling
from made_model import made, nearest
from nursery import Nursery

from infospace import Space
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.files.import_files import import_paths
from infospace.search.index.consistency import disagreements
from infospace.store.changes import Change, MakeCollection, MakeNote
from infospace.store.sqlite import open_store

PROVE = bool(os.environ.get("INFOSPACE_PROVE"))
ROUNDS = 220 if PROVE else 12
LIFE = 11
"""Rounds that one space lives through; every other space is large enough for derived files."""

LARGE = 5_040
QUERIES = ("what is known about lamps", "the colour of rivers")
THRESHOLD = 0.45
ALONE, AMONG_OTHERS = " alone", " among others"
DEEDS = ["add", "add", "plan", "revise", "delete", "embed", "search"]
DERIVING = ["derive", "derive", "search", "revise", "delete"]

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no SIGKILL here")


@dataclass
class Table:
    """What the proof has seen."""

    kills: Counter[str] = field(default_factory=Counter)
    whole: Counter[str] = field(default_factory=Counter)
    nothing: Counter[str] = field(default_factory=Counter)
    commits: int = 0
    ids: int = 0
    keys: int = 0
    searches: int = 0
    hits: int = 0
    raced: int = 0

    def __str__(self) -> str:
        lines = [f"{'killed while it did':22}{'kills':>7}{'commit begun':>15}{'of these whole':>16}{'nothing':>9}"]
        for deed, kills in sorted(self.kills.items()):
            whole, nothing = self.whole[deed], self.nothing[deed]
            lines.append(f"{deed:22}{kills:7}{whole + nothing:15}{whole:16}{nothing:9}")
        total = sum(self.kills.values())
        lines += [
            f"{total} kills; {self.commits:,} acknowledged commits, {self.ids:,} ids, {self.keys:,} facts compared",
            f"{self.raced} imports gave up, since what they linked to was deleted by another process meanwhile",
            f"{self.searches} searches with {self.hits:,} hits, each as by hand",
        ]
        return "\n".join(lines)


@pytest.fixture
def nursery() -> Iterator[Nursery]:
    """A process that forks."""
    started = Nursery()
    yield started
    started.close()


class Life:
    """One space, with all that was ever acknowledged of it."""

    def __init__(self, path: Path, table: Table, chance: random.Random) -> None:
        self.path = path
        self.table = table
        self.chance = chance
        self.ledger = Ledger()
        self.ids: list[str] = []

    @property
    def is_large(self) -> bool:
        """Whether files are derived from the space."""
        return self.path.name.startswith("large")

    def found(self, size: int) -> None:
        """Make the space, with what all processes share, and `size` Notes."""
        with self.open() as space:
            store = space.store
            first, group = store.new_id(Kind.NOTE), store.new_id(Kind.COLLECTION)
            assert (first, group) == (SHARED_NOTE, SHARED_GROUP)
            changes: list[Change] = [MakeNote(first, "shared"), MakeCollection(group, [], kept=True)]
            changes += [MakeNote(store.new_id(Kind.NOTE), f"number {index}", kept=True) for index in range(size)]
            store.commit(changes)
            space.embedding.catch_up(NullListener())

    def open(self) -> Space:
        """Open the space; what is done in it is acknowledged like everything else."""
        return made(Telling(open_store(self.path, create=True), self._own))

    def _own(self, line: dict[str, Any]) -> None:
        self.take([line])

    def take(self, lines: list[dict[str, Any]]) -> list[Any] | None:
        """Take down what a process said it did; return the facts of a commit of which the outcome is not known."""
        open_facts: list[Any] | None = None
        for line in lines:
            assert "error" not in line, line["error"]
            if "id" in line:
                self.ids.append(line["id"])
                self.table.ids += 1
            elif "raced" in line:
                self.table.raced += 1
            elif "try" in line:
                open_facts = line["try"]
                self._trying = open_facts
            elif "not" in line:
                open_facts = None
            elif "done" in line:
                self.ledger.after(self._trying)
                self.table.commits += 1
                open_facts = None
        return open_facts

    def settle(self, space: Space, doubtful: list[Any] | None, doing: str) -> None:
        """Hold the space against the ledger; a commit that was under way is there with all it has, or not at all."""
        with space.store.reading() as snapshot:
            reader = Reader(snapshot)
            if doubtful:
                before = dict(self.ledger.truth), dict(self.ledger.groups)
                new = self.ledger.after(doubtful)
                sure = {key: value for key, value in new.items() if key[0] != "embedded"}
                new = new if ALONE in doing else sure or new  # others embed the same Notes
                missing = reader.differences(new)
                extra = reader.differences({key: before[0].get(key) for key in new})
                assert not missing or not extra or not (sure or ALONE in doing), f"half of it: {missing} {extra}"
                if missing:
                    self.ledger.truth, self.ledger.groups = before
                if new:
                    (self.table.nothing if missing else self.table.whole)[doing] += 1
            assert reader.differences(self.ledger.truth) == {}
        self.table.keys += len(self.ledger.truth)

    def examine(self, doubtful: list[Any] | None, doing: str, folder: Path) -> None:
        """Open the space after a kill, and hold it to everything that was promised."""
        with self.open() as space:
            assert space.store.check() == []
            self.settle(space, doubtful, doing)
            assert disagreements(space) == []
            if folder.exists():
                import_paths(space, [folder], NullListener())
                self._compare_files(space, folder)
            space.embedding.catch_up(NullListener())
            for query in QUERIES:
                self._compare(space, query)
            assert space.store.check() == []
            assert disagreements(space) == []
        assert len(self.ids) == len(set(self.ids)), "an id was given out twice"

    def _compare_files(self, space: Space, folder: Path) -> None:
        """Hold every file against the Note that it has, and no other."""
        with space.store.reading() as snapshot:
            notes = {Path(one.root) / one.path: one.note for one in snapshot.tracked()}
            files = [file for file in folder.iterdir() if file.is_file()]
            owners = [notes[file] for file in files]
            assert len(owners) == len(set(owners))
            contents = [
                note.content for note in snapshot.listing(Kind.NOTE, kept=True) if isinstance(note.content, str)
            ]
            for file, owner in zip(files, owners, strict=True):
                text = file.read_text(encoding="utf-8")
                assert snapshot.get(owner).content == text, file
                assert contents.count(text) == 1, f"{file} is there more than once"

    def _compare(self, space: Space, query: str) -> None:
        """Search, and hold what was found against a comparison by hand."""
        wanted = nearest(space, query, THRESHOLD)
        found = space.context()
        answer = asyncio.run(found.discover(query, limit=None, threshold=THRESHOLD))
        assert [(hit.source, hit.version, hit.score, hit.start, hit.end) for hit in answer.hits] == wanted
        proved = answer.certificate
        assert (proved["matched"], proved["exhaustive"], proved["unembedded"]) == (len(wanted), True, 0)
        best = asyncio.run(found.discover(query, limit=5, threshold=THRESHOLD))
        if best.certificate["method"] == "exact":
            assert best.hits == answer.hits[:5]
        assert all(hit in answer.hits for hit in best.hits)
        self.table.searches += 2
        self.table.hits += len(answer.hits) + len(best.hits)


def kill_one(life: Life, nursery: Nursery, mark: str) -> None:
    """Let processes work on a space, kill one of them, and examine what it left."""
    chance, files = life.chance, life.path.with_name(f"{life.path.name} files")
    derives = life.is_large and chance.random() < 0.5
    way = chance.choice(["time", "file"] if derives else ["time", "time", "statement", "done"])
    die = {} if way == "time" else {way: chance.randrange(1, {"statement": 600, "done": 20, "file": 10}[way])}
    job = {"path": str(life.path), "folder": str(files), "deeds": DEEDS, "die": {}, "environment": {}}
    jobs = [job | {"mark": f"{mark}-{who}"} for who in range(1 + chance.choice([0, 0, 2]))]
    jobs[0]["die"] = die
    if derives:
        jobs[0] |= {"deeds": DERIVING, "environment": {"INFOSPACE_INDEX": chance.choice(["auto", "hnsw"])}}
    pids = [nursery.start(job) for job in jobs]
    if way == "time":
        time.sleep(chance.uniform(0.0, 0.5))
        os.kill(pids[0], signal.SIGKILL)
    assert nursery.wait(pids[0]) == -signal.SIGKILL, nursery.told(jobs[0])[-3:]
    for pid, job in zip(pids[1:], jobs[1:], strict=True):
        os.kill(pid, signal.SIGTERM)
        assert nursery.wait(pid) == 0, nursery.told(job)[-3:]
        assert life.take(nursery.told(job)) is None
    told = nursery.told(jobs[0])
    doing = next((line["doing"] for line in reversed(told) if "doing" in line), "start")
    doing += AMONG_OTHERS if pids[1:] else ALONE
    life.table.kills[doing] += 1
    life.examine(life.take(told), doing, files / f"{mark}-0")


@pytest.mark.slow
def test_a_space_survives_being_killed_at_any_moment(nursery: Nursery, tmp_path: Path) -> None:
    """Imports, plans, revisions, deletions, embedding, searches; alone and among others; small spaces and large."""
    table = Table()
    chance = random.Random(11)  # noqa: S311
    base = tmp_path / "base"
    origin = Life(base, table, chance)
    origin.found(LARGE)
    life = origin
    for number in range(ROUNDS):
        if number % LIFE == 0:
            size = "small" if number // LIFE % 2 == 0 else "large"
            life = Life(tmp_path / f"{size} {number // LIFE}", table, chance)
            if size == "large":
                shutil.copy(base, life.path)
                life.ids = list(origin.ids)
            else:
                life.found(20)
        kill_one(life, nursery, f"r{number}")
        if life.is_large and number % LIFE == LIFE - 1:
            with life.open() as space, space.store.reading() as snapshot:
                assert Reader(snapshot).differences(origin.ledger.truth) == {}
    print(f"\n{table}")
    assert sum(table.kills.values()) == ROUNDS
    assert table.commits > ROUNDS


@pytest.mark.slow
def test_a_space_survives_being_killed_while_it_is_made(nursery: Nursery, tmp_path: Path) -> None:
    """At any of the statements that make the tables: what is left is made whole by the next to open it."""
    for count in range(1, 80, 2 if PROVE else 16):
        path = tmp_path / f"made {count}"
        job = {"path": str(path), "folder": str(tmp_path), "mark": "m", "deeds": ["embed"], "environment": {}}
        assert nursery.wait(nursery.start(job | {"die": {"statement": count}})) == -signal.SIGKILL
        life = Life(path, Table(), random.Random(1))  # noqa: S311
        life.found(3)
        life.examine(None, "", tmp_path / "none")
