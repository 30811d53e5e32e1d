"""What the tests of SQLite files share: a space with something in every table, and reading all of it."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np

from infospace.core.ids import Kind
from infospace.core.resources import Member
from infospace.journal.rows import OpenRun, StepRow, Use
from infospace.store.changes import (
    Delete,
    Embed,
    Evidence,
    MakeCollection,
    MakeNote,
    MakeRelation,
    PassageSpan,
    Query,
    Revise,
    Track,
    Vectors,
)
from infospace.store.protocol import Store
from infospace.store.sqlite import open_store

AT = "2026-04-01T09:30:00.123Z"


def note(store: Store, content: str = "text", *, kept: bool = False) -> str:
    """Make a Note; return its id."""
    identifier = store.new_id(Kind.NOTE)
    store.commit([MakeNote(identifier, content, kept=kept)])
    return identifier


def fill(path: Path) -> None:
    """Make a space that has something in every table."""
    with contextlib.closing(open_store(path, create=True)) as store:
        notes = [store.new_id(Kind.NOTE) for _ in range(60)]
        group, arrow, run = store.new_id(Kind.COLLECTION), store.new_id(Kind.RELATION), store.new_id("run")
        store.use_model("m")
        vectors = np.ones((60, 384), np.float32)
        digests = [bytes([index]) * 32 for index in range(60)]
        store.commit(
            [
                *(MakeNote(identifier, f"{identifier} " * 100, {"n": 1}, kept=True) for identifier in notes[:-1]),
                MakeNote(notes[-1], Evidence(notes[0], 1, 0.5)),
                MakeCollection(group, [Member(identifier) for identifier in notes], kept=True),
                MakeRelation(arrow, notes[0], notes[1], "cites", kept=True),
                Vectors("m", digests, vectors),
                *(Embed(identifier, 1, [PassageSpan(0, 5, digests[at])]) for at, identifier in enumerate(notes[:-2])),
                Query("m", b"q", vectors[0]),
                Track("/root", "a.md", notes[0], b"d", 1),
                Revise(notes[1], "new"),
                Delete(notes[2]),
            ],
            [
                OpenRun(run, "plan", "goal", {}, {}, AT, "me"),
                *(StepRow(run, at, "1", "size", "success", AT, 1, uses=(Use(notes[0], 1),)) for at in range(1, 40)),
            ],
        )


def read_everything(store: Store) -> None:
    """Read all there is by every door."""
    with store.reading() as snapshot:
        for kind in Kind:
            for found in snapshot.listing(kind, kept=None):
                for version, _ in snapshot.versions(found.id):
                    snapshot.get(found.id, version)
        for run in snapshot.runs():
            snapshot.steps(run.run)
        snapshot.rows("m")
        snapshot.rows("m", range(1, 60))
        snapshot.known_vectors("m", [bytes([7]) * 32])
        snapshot.query("m", b"q")
        snapshot.pending()
        snapshot.moved(0)
        snapshot.discoverable()
        snapshot.names()
        snapshot.relations()
        snapshot.tracked()
