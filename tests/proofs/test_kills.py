"""A space survives `kill -9` at any moment: what was acknowledged is there, what was not is wholly there or not at all.

Killed are processes, not machines: what a power cut may cost is said at `synchronous`, and not proved here.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
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

from infospace import Space
from infospace.ids import Kind
from infospace.memory.changes import Change, MakeCollection, MakeNote
from infospace.memory.importing import import_paths
from infospace.memory.sqlite import open_store
from infospace.search.agreement import disagreements
from infospace.view import Silence

ROUNDS = 220 if os.environ.get("INFOSPACE_PROVE") else 22
LIFE = 11
"""Rounds that one space lives through; every other space is large enough for derived files."""

LARGE = 5_040
QUERIES = ("what is known about lamps", "the colour of rivers")
THRESHOLD = 0.45
DEEDS = ["add", "add", "plan", "revise", "delete", "embed", "search"]

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

    def __str__(self) -> str:
        lines = [f"{'killed while it did':22}{'kills':>7}{'commit begun':>15}{'of these whole':>16}{'nothing':>9}"]
        for deed, kills in sorted(self.kills.items()):
            whole, nothing = self.whole[deed], self.nothing[deed]
            lines.append(f"{deed:22}{kills:7}{whole + nothing:15}{whole:16}{nothing:9}")
        total = sum(self.kills.values())
        lines += [
            f"{total} kills; {self.commits:,} acknowledged commits, {self.ids:,} ids, {self.keys:,} facts compared",
            f"{self.searches} searches with {self.hits:,} hits, each as by hand",
        ]
        return "\n".join(lines)


class Nursery:
    """Starts processes that work, and ends them."""

    def __init__(self) -> None:
        script = str(Path(__file__).parent / "worker.py")
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def ask(self, order: dict[str, Any]) -> dict[str, int]:
        """Give an order, and return the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer: dict[str, int] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        """End it."""
        self._process.communicate()


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

    def found(self, size: int) -> None:
        """Make the space, with what all processes share, and `size` Notes."""
        with self.open() as space:
            store = space.store
            first, group = store.new_id(Kind.NOTE), store.new_id(Kind.COLLECTION)
            assert (first, group) == (SHARED_NOTE, SHARED_GROUP)
            changes: list[Change] = [MakeNote(first, "shared"), MakeCollection(group, [], kept=True)]
            changes += [MakeNote(store.new_id(Kind.NOTE), f"number {index}", kept=True) for index in range(size)]
            store.commit(changes)
            space.embedding.catch_up(Silence())

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
                new = {key: value for key, value in self.ledger.after(doubtful).items() if key[0] != "embedded"}
                old = {key: before[0].get(key) for key in new}
                missing, extra = reader.differences(new), reader.differences(old)
                assert not missing or not extra, f"half of a commit: {missing} {extra}"
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
                import_paths(space, [folder], Silence())
                self._compare_files(space, folder)
            space.embedding.catch_up(Silence())
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
        found = space.view()
        import asyncio

        answer = asyncio.run(found.discover(query, limit=None, threshold=THRESHOLD))
        assert [(hit.source, hit.version, hit.score, hit.start, hit.end) for hit in answer.hits] == wanted
        proved = answer.certificate
        assert (proved["matched"], proved["exhaustive"], proved["unembedded"]) == (len(wanted), True, 0)
        best = asyncio.run(found.discover(query, limit=5, threshold=THRESHOLD))
        if best.certificate["method"] == "exact":
            assert best.hits == answer.hits[:5]
        assert set(best.hits) <= set(answer.hits)
        self.table.searches += 2
        self.table.hits += len(answer.hits) + len(best.hits)


def kill_one(life: Life, nursery: Nursery, mark: str) -> None:
    """Let processes work on a space, kill one of them, and examine what it left."""
    chance, folder = life.chance, life.path.parent / f"{life.path.name} files"
    large = life.path.name.startswith("large")
    way = chance.choice(["time", "time", "statement", *(["file", "file"] if large else [])])
    die = {"statement": chance.randrange(1, 400)} if way == "statement" else {}
    die = {"file": chance.randrange(1, 10)} if way == "file" else die
    deeds = ["derive", "derive", "add"] if way == "file" else DEEDS
    environment = {"INFOSPACE_INDEX": chance.choice(["exact", "hnsw"]) if way == "file" else "auto"}
    others = chance.choice([0, 0, 2])
    pids, logs = [], []
    for who in range(1 + others):
        log = life.path.parent / f"{mark}-{who}.log"
        job = {"path": str(life.path), "folder": str(folder), "mark": f"{mark}-{who}", "log": str(log)}
        job |= {"deeds": DEEDS if who else deeds, "die": {} if who else die, "environment": {} if who else environment}
        pids.append(nursery.ask(job)["pid"])
        logs.append(log)
    if not die:
        time.sleep(chance.uniform(0.0, 0.5))
        os.kill(pids[0], signal.SIGKILL)
    assert nursery.ask({"wait": pids[0]})["code"] == -signal.SIGKILL, logs[0].read_text()[-2_000:]
    for pid in pids[1:]:
        os.kill(pid, signal.SIGTERM)
        assert nursery.ask({"wait": pid})["code"] == 0, [log.read_text()[-2_000:] for log in logs[1:]]
    told = [_lines(log) for log in logs]
    for lines in told[1:]:
        assert life.take(lines) is None
    doing = [line["doing"] for line in told[0] if "doing" in line]
    what = doing[-1] if doing else "start"
    life.table.kills[what + (" among others" if others else "")] += 1
    life.examine(life.take(told[0]), what + (" among others" if others else ""), folder / f"{mark}-0")


def _lines(log: Path) -> list[dict[str, Any]]:
    """Read the whole lines of a log; the last may have been cut off."""
    text = log.read_text() if log.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


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
                life.ids, life.ledger.truth = list(origin.ids), dict(origin.ledger.truth)
            else:
                life.found(20)
        kill_one(life, nursery, f"r{number}")
    table.ids = sum(1 for _ in life.ids)
    print(f"\n{table}")
    assert sum(table.kills.values()) == ROUNDS
    assert table.commits > ROUNDS * 5
