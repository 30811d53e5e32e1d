"""Processes that work on one space until they are killed, or asked to end.

Started without arguments it waits for jobs, a line of JSON each on standard input, and forks for each one: a
process of its own, without the half second that Python needs to start. It answers with the process's id, and to
`{"wait": pid}` with how that ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

sys.path.insert(0, str(Path(__file__).parent))

from ledger import SHARED_GROUP, SHARED_NOTE, Telling
from made_model import made

from infospace.core.errors import Conflict, NotFound
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.core.resources import CreatedBy, Member
from infospace.files import import_files as importing
from infospace.store.changes import (
    AddMembers,
    Change,
    Delete,
    GiveName,
    MakeCollection,
    MakeNote,
    RemoveMembers,
    Revise,
)
from infospace.store.sqlite import open_file as opening
from infospace.store.sqlite import open_store
from infospace.store.sqlite.connection import Connection
from planner.execute.start import run_sync

QUERIES = ("what is known about lamps", "the colour of rivers", "a third question")

WORDS = ["lamp", "river", "stone", "paper", "engine", "garden", "winter", "signal", "market", "copper", "letter"]

importing.BATCH = 12  # an import of a few files is then several commits


def prose(chance: random.Random, about: str) -> str:
    """Return a text that nobody else writes, of one passage or of several."""
    count = chance.choice((5, 20, 60, 200))
    return f"{about}. " + ". ".join(" ".join(chance.choices(WORDS, k=7)) for _ in range(count // 7 + 1))


class Work:
    """The deeds of one process. `mark` begins the names of all that is its own."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.mark: str = job["mark"]
        self.parent: int = job["parent"]
        self.chance = random.Random(self.mark)  # noqa: S311
        self.folder = Path(job["folder"]) / self.mark
        self.deeds: list[str] = job["deeds"]
        self.count = 0
        self.own: list[str] = []
        tell({"doing": "open"})
        self.store = Telling(open_store(job["path"], create=True), tell)
        self.space = made(self.store)

    def go_on(self) -> None:
        """Do one deed after another until asked to end, or nobody is left to ask."""
        while not ENDING and os.getppid() == self.parent:
            deed = self.chance.choice(self.deeds)
            tell({"doing": deed})
            self.count += 1
            getattr(self, deed)()
        tell({"doing": "close"})
        self.space.close()

    def new(self) -> tuple[str, Change]:
        """Return a new Note's id and the change that makes it."""
        identifier = self.store.new_id(Kind.NOTE)
        text = prose(self.chance, f"{self.mark} made {identifier}")
        return identifier, MakeNote(identifier, text, kept=True)

    def add(self) -> None:
        """Write some files, change, move and remove others, and import the folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        there = sorted(self.folder.iterdir())
        for index in range(self.chance.randrange(2, 7)):
            name = f"{self.count}-{index}.{self.chance.choice(('txt', 'md'))}"
            link = f"\n\nSee [[{self.chance.choice(there).stem}]]." if there and name.endswith("md") else ""
            (self.folder / name).write_text(prose(self.chance, f"{self.mark} file {name}") + link, encoding="utf-8")
        for file in self.chance.sample(there, min(len(there), 3)):
            what = self.chance.randrange(4)
            if what == 0:
                file.unlink()
            elif what == 1:
                file.rename(file.with_name(f"moved {self.count} {file.name}"))
            else:
                file.write_text(prose(self.chance, f"{self.mark} file {file.name} again {self.count}"))
        try:
            importing.import_paths(self.space, [self.folder], NullListener(), prune=self.chance.random() < 0.5)
        except (Conflict, NotFound) as error:
            tell({"raced": traceback.format_exc(), "message": error.message})

    def plan(self) -> None:
        """Run a plan that makes, names, searches and persists."""
        name = f"{self.mark} plan {self.count}"
        steps = [
            {"type": "create-note", "value": prose(self.chance, name), "out": "$n", "name": f"{name} note"},
            {"type": "create-collection", "value": [name, 2, {"three": [3]}], "out": "$c"},
            {"type": "persist", "target": "$c", "name": f"{name} collection"},
            {"type": "discover-notes", "query": QUERIES[0], "limit": 3, "out": "$found"},
            {"type": "persist", "target": "$found"},
            {"type": "size", "target": "$found", "out": "$size"},
        ]
        result = run_sync(self.space, steps)
        if result.status != "success":
            raise RuntimeError(result.reason)

    def revise(self) -> None:
        """Make Notes and a Collection, name it, add and remove; change what all share."""
        made_now = [self.new() for _ in range(4)]
        ids = [identifier for identifier, _ in made_now]
        group = self.store.new_id(Kind.COLLECTION)
        changes = [change for _, change in made_now]
        self.store.commit(
            [*changes, MakeCollection(group, [Member(one) for one in ids], created_by=CreatedBy(None, "1", "x"))]
        )
        self.own += ids
        self.store.commit([GiveName(group, f"{self.mark} group {self.count}")])
        extra, change = self.new()
        self.store.commit([change, AddMembers(group, [Member(extra)]), AddMembers(SHARED_GROUP, [Member(extra)])])
        self.own.append(extra)
        self.store.commit(
            [RemoveMembers(group, ids[:1]), Revise(ids[1], prose(self.chance, f"{ids[1]} again"), None, 1)]
        )
        with self.store.reading() as snapshot:
            version = snapshot.get(SHARED_NOTE).version
        try:
            self.store.commit([Revise(SHARED_NOTE, f"{self.mark} {self.count}", None, version)])
        except Conflict:
            tell({"conflict": version})

    def delete(self) -> None:
        """Delete some of what is its own."""
        for identifier in self.chance.sample(self.own, min(len(self.own), 2)):
            self.store.commit([Delete(identifier)])
            self.own.remove(identifier)

    def embed(self) -> None:
        """Embed what waits, whoever brought it."""
        self.space.embedding.catch_up(NullListener())

    def search(self) -> None:
        """Search, all and some: files are derived from large spaces on the way."""
        query = self.chance.choice(QUERIES)
        for limit in (None, 5):
            asyncio.run(self.space.context().discover(query, limit=limit, threshold=0.1))

    def derive(self) -> None:
        """Search in a space that has lost its derived files."""
        derived = self.store.derived
        if derived is not None and derived.exists():
            shutil.rmtree(derived, ignore_errors=True)
        self.space = made(self.store)
        self.search()


ENDING: list[int] = []


DONE: list[Callable[[str], None]] = []
"""What is called when a commit is done, and nobody was told of it yet."""


def tell(line: dict[str, Any]) -> None:
    """Say something where it outlives this process."""
    if "done" in line:
        for call in DONE:
            call("done")
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def dies(job: dict[str, Any]) -> None:
    """Have this process die by itself, at the so-and-so-many-th event of a kind, if the job says so."""
    die = job["die"]
    if "file" in die:
        sys.addaudithook(countdown(die["file"], _is_derived))
    if "done" in die:
        DONE.append(countdown(die["done"]))
    if "statement" in die:
        traced, connect = countdown(die["statement"]), opening.connect

        def connected(*arguments: Any, **more: Any) -> Connection:
            engine = connect(*arguments, **more)
            engine.connection.set_trace_callback(traced)
            return engine

        opening.connect = connected


def countdown(count: int, concerns: Callable[..., bool] = lambda *_: True) -> Callable[..., None]:
    """Return what ends this process the `count`th time that it is called with something that `concerns`."""
    left = [count]

    def event(*told: Any) -> None:
        if concerns(*told):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    return event


def _is_derived(event: str, told: tuple[Any, ...]) -> bool:
    return event in ("open", "os.rename", "os.remove", "os.mkdir") and ".derived" in str(told[0])


def run(job: dict[str, Any]) -> NoReturn:
    """Do a job in this process, and end it."""
    os.dup2(os.open(job["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 1)
    code = 1
    try:
        os.environ |= job["environment"]
        dies(job)
        Work(job).go_on()
        code = 0
    except BaseException:
        tell({"error": traceback.format_exc()})
        raise
    finally:
        os._exit(code)


def main() -> None:
    """Fork for every job."""
    parent = os.getpid()
    signal.signal(signal.SIGTERM, lambda *_: ENDING.append(1))
    for line in sys.stdin:
        order = json.loads(line)
        if "wait" in order:
            answer = {"code": os.waitstatus_to_exitcode(os.waitpid(order["wait"], 0)[1])}
        elif pid := os.fork():
            answer = {"pid": pid}
        else:
            run(order | {"parent": parent})
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
