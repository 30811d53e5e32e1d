"""What the tests of stores share: making things in any store, and reading them back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, TypeAlias

import numpy as np

from infospace.core.ids import Kind, number_of
from infospace.core.json_types import JSON
from infospace.core.resources import Collection, Member, Resource
from infospace.journal.rows import OpenRun, StepRow
from infospace.store.changes import Change, Embed, MakeCollection, MakeNote, MakeRelation, PassageSpan, Vectors
from infospace.store.protocol import Store

Open: TypeAlias = Callable[[], Store]

MODEL = "a model/passages-1"
AT = "2026-04-01T09:30:00.123Z"
LATER = "2026-04-01T09:31:00.000Z"


def get(store: Store, identifier: str, version: int | None = None) -> Any:
    """Return a resource, read in a snapshot of its own."""
    with store.reading() as snapshot:
        return snapshot.get(identifier, version)


def note(store: Store, content: JSON = "text", *, kept: bool = False, **metadata: JSON) -> str:
    """Make a Note; return its id."""
    identifier = store.new_id(Kind.NOTE)
    store.commit([MakeNote(identifier, content, metadata, kept)])
    return identifier


def collection(store: Store, members: Sequence[str], *, kept: bool = False) -> str:
    """Make a Collection of ids; return its id."""
    identifier = store.new_id(Kind.COLLECTION)
    store.commit([MakeCollection(identifier, [Member(member) for member in members], kept=kept)])
    return identifier


def relation(store: Store, source: str, target: str, label: str = "cites", *, kept: bool = False) -> str:
    """Make a Relation; return its id."""
    identifier = store.new_id(Kind.RELATION)
    store.commit([MakeRelation(identifier, source, target, label, kept=kept)])
    return identifier


def ids(resource: Resource) -> list[str]:
    """Return the ids of a Collection's members."""
    assert isinstance(resource, Collection)
    return [member.id for member in resource.members]


def kept(store: Store, *identifiers: str) -> list[bool]:
    """Return of each whether it is kept."""
    with store.reading() as snapshot:
        return [resource.kept for resource in snapshot.get_many(identifiers)]


def digest(text: str) -> bytes:
    """Return the digest of a stretch."""
    return sha256(text.encode()).digest()


def embed(store: Store, *identifiers: str, model: str = MODEL) -> None:
    """Embed Notes of text as one passage each, with a vector that is made from the text."""
    changes: list[Change] = []
    for identifier in identifiers:
        found = get(store, identifier)
        text = found.content
        changes.append(Vectors(model, [digest(text)], np.array([[len(text), 1, 0]], np.float32)))
        changes.append(Embed(identifier, found.version, [PassageSpan(0, len(text), digest(text))]))
    store.commit(changes)


def searched(store: Store) -> list[int]:
    """Return the numbers of the Notes that discovery searches."""
    with store.reading() as snapshot:
        return snapshot.discoverable().tolist()


def waiting(store: Store) -> list[int]:
    """Return the numbers of the Notes to be embedded."""
    with store.reading() as snapshot:
        numbers = snapshot.pending_numbers().tolist()
        assert [number_of(text.id) for text in snapshot.pending()] == numbers
        assert snapshot.pending_count() == len(numbers)
        return numbers


def embedded(store: Store) -> list[tuple[int, int]]:
    """Return owner and version of each embedded passage."""
    with store.reading() as snapshot:
        rows = snapshot.rows(MODEL)
        return list(zip(rows.owners.tolist(), rows.versions.tolist(), strict=True))


def generation(store: Store) -> int:
    """Return the present generation."""
    with store.reading() as snapshot:
        return snapshot.generation


def open_run(store: Store, owner: str = "me") -> str:
    """Open a run; return its id."""
    run = store.new_id("run")
    store.commit([], [OpenRun(run, "plan", "find out", {"steps": [{"type": "size"}]}, {"topic": "Note_1"}, AT, owner)])
    return run


def step(run: str, sequence: int = 1, **fields: object) -> StepRow:
    """Return a finished step."""
    return replace(StepRow(run, sequence, "4.do[3].2", "size", "success", AT, 1.5), **fields)  # type: ignore[arg-type]


def run_all(*works: Callable[[], object]) -> None:
    """Do all of it at once, a thread each; raise what the first of them raised."""
    failed: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
