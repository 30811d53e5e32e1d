"""Processes that read, write and search one space at the same time: `python roles.py ROLE PATH SEED`.

Each says what it did as lines of JSON, and ends when its standard input does, or when it is done. Those that write stop
now and then until they are told to go on; those that look do so meanwhile, and say that they did when they are asked.
"""

from __future__ import annotations

import json
import random
import select
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from made_model import made

from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.search.query import SearchQuery
from infospace.store.changes import Change, Delete, GiveName, MakeNote, Revise
from infospace.store.protocol import Store
from infospace.store.sqlite import open_store

ONE, OTHER = "Note_1", "Note_2"
"""Two Notes that are always changed together, to the same number."""

TURNS, BULK = 8, 1_500
MANY = 50
"""Reads while a transaction is held."""
STOPS = 10
"""How often a writer stops between its changes."""
QUERY = SearchQuery("whatever", None, -1.0)


def say(**line: Any) -> None:
    """Print a line of JSON."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def asked() -> str | None:
    """Return a line of standard input; empty at its end, None while there is none."""
    return sys.stdin.readline() if select.select([sys.stdin], [], [], 0)[0] else None


def pairs(store: Store, _chance: random.Random) -> None:
    """Change the pair in long transactions, and stop before each is committed; say when it began and ended."""
    times: list[float] = []

    def traced(statement: str) -> None:
        if statement.startswith(("BEGIN IMMEDIATE", "COMMIT")):
            if is_told and statement.startswith("COMMIT"):
                say(inside=True)
                sys.stdin.readline()
            times.append(time.monotonic())

    is_told = False

    store._pool._writer.connection.set_trace_callback(traced)
    for number in range(1, TURNS + 1):
        changes: list[Change] = [Revise(ONE, number)]
        changes += [MakeNote(store.new_id(Kind.NOTE), f"{number} {at} " * 20, kept=True) for at in range(BULK)]
        times.clear()
        is_told = True
        store.commit([*changes, Revise(OTHER, number)])
        is_told = False
        say(number=number, begin=times[0], commit=times[-1], end=time.monotonic())


def reads(store: Store, _chance: random.Random) -> None:
    """Read the pair again and again; say of each read when it began and ended, and what it saw."""
    told = []
    while (order := asked()) != "":
        for _ in range(MANY if order else 1):
            begin = time.monotonic()
            with store.reading() as snapshot:
                one, other = snapshot.get(ONE).content, snapshot.get(OTHER).content
            told.append((begin, time.monotonic(), one, other))
        if order:
            say(read=len(told))
    say(reads=told)


def writes(store: Store, chance: random.Random) -> None:
    """Make, change, hide and delete Notes, with stops; say which were to be found at which generation."""
    there: dict[str, int] = {}
    count = int(sys.argv[4])
    for number in range(count):
        if number % (count // STOPS) == count // STOPS - 1:
            say(stopped=True)
            sys.stdin.readline()
        identifier, version = chance.choice([("", 0), ("", 0), *there.items()])
        what = chance.choice(["revise", "delete", "hide"])
        if not identifier:
            identifier = store.new_id(Kind.NOTE)
            change: Change = MakeNote(identifier, f"{identifier} made", kept=True)
            there[identifier] = 1
        elif what == "revise":
            change = Revise(identifier, f"{identifier} changed {number}")
            there[identifier] = version + 1
        else:
            change = Delete(identifier) if what == "delete" else GiveName(identifier, f"_{number}")
            del there[identifier]
        say(generation=store.commit([change]), there=there)


def obeys(store: Store, _chance: random.Random) -> None:
    """Do what each line of standard input says, and say when it is done."""
    for line in sys.stdin:
        order = json.loads(line)
        identifier = order["id"] or store.new_id(Kind.NOTE)
        changes: dict[str, Change] = {
            "make": MakeNote(identifier, order["text"], kept=True),
            "revise": Revise(identifier, order["text"]),
            "delete": Delete(identifier),
            "hide": GiveName(identifier, f"_{identifier}"),
        }
        say(id=identifier, generation=store.commit([changes[order["what"]]]))


def searches(store: Store, _chance: random.Random) -> None:
    """Search again and again; say when the first is done, and of each what was found, and what it proved."""
    space = made(store)
    space.search.find(QUERY, NullListener())
    say(warm=True)
    told = []
    while (order := asked()) != "":
        found = space.search.find(QUERY, NullListener())
        told.append(({hit.source: hit.version for hit in found.hits}, found.certificate))
        if order:
            say(searched=len(told))
    say(searches=told)


ROLES = {role.__name__: role for role in (pairs, reads, writes, obeys, searches)}


def main() -> None:
    """Play a role."""
    store = open_store(sys.argv[2], create=False)
    say(ready=True)
    ROLES[sys.argv[1]](store, random.Random(int(sys.argv[3])))  # noqa: S311
    store.close()


if __name__ == "__main__":
    main()
