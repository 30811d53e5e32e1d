"""A space in which many Notes are stored together answers everything as one in which each has a row.

The same is done to two stores: in one Notes are made, held and read together, in the other one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infospace.core import batch_notes
from infospace.core.batch_notes import NoteMembers
from infospace.core.errors import InfospaceError
from infospace.core.ids import Kind
from infospace.core.resources import CreatedBy, Member, Note
from infospace.journal.rows import CloseRun, OpenRun, StepRow, Use
from infospace.journal.uses import Uses
from infospace.store.changes import (
    AddMembers,
    Change,
    Delete,
    Evidence,
    GiveName,
    Keep,
    MakeCollection,
    MakeNote,
    MakeNotes,
    MakeRelation,
    RemoveMembers,
    Restore,
    Revise,
    Unkeep,
)
from infospace.store.protocol import Store
from infospace.store.sqlite import open_store, packed

AT = "2026-04-01T09:30:00.123Z"
CONTENTS: tuple[Any, ...] = (
    "text",
    7,
    None,
    {"title": "T", "n": 1.0},
    ["a", {"b": None}],
    "ö " * 200,
    {"title": 3},
    "",
)

Do: TypeAlias = Callable[["Space", int, int], object]


class Space:
    """A store, and whether many things go together in it."""

    def __init__(self, folder: str, together: bool) -> None:
        self.together = together
        self.store: Store = open_store(Path(folder) / f"{together}.db", create=True)
        self.created_by = {kind: list[str]() for kind in Kind}
        self.runs: list[str] = []
        self.ended: set[str] = set()
        self.sequence = 0
        self.open(0, 0)

    # What is done to it

    def open(self, _one: int, _other: int) -> None:
        """Open a run."""
        run = self.store.new_id("run")
        self.store.commit([], [OpenRun(run, "plan", "g", {"steps": []}, {}, AT, "me")])
        self.runs.append(run)

    def any(self, kind: Kind, at: int) -> str:
        """Return a resource that was made."""
        return self.created_by[kind][at % len(self.created_by[kind])] if self.created_by[kind] else f"{kind}_1"

    def notes(self, at: int, count: int) -> None:
        """Make Notes, and a Collection of them."""
        first = self.store.new_numbers(Kind.NOTE, count)
        contents = [CONTENTS[(at + place) % len(CONTENTS)] for place in range(count)]
        made = CreatedBy(self.runs[-1], "1", "split")
        ids = [f"Note_{first + place}" for place in range(count)]
        one_by_one = [MakeNote(i, content, created_by=made) for i, content in zip(ids, contents, strict=True)]
        self.store.commit([MakeNotes(first, contents, made)] if self.together else one_by_one)
        self.created_by[Kind.NOTE] += ids
        self.collect([int(i[5:]) for i in ids])

    def collect(self, numbers: Sequence[int]) -> None:
        """Make a Collection of Notes."""
        identifier = self.store.new_id(Kind.COLLECTION)
        members = NoteMembers(numbers) if self.together else [Member(f"Note_{number}") for number in numbers]
        self.store.commit([MakeCollection(identifier, members, created_by=CreatedBy(self.runs[-1], "2", "sort"))])
        self.created_by[Kind.COLLECTION].append(identifier)

    def some(self, at: int, step: int) -> None:
        """Make a Collection of some of what was made, in another order."""
        numbers = [int(one[5:]) for one in self.created_by[Kind.NOTE]]
        self.collect(numbers[at % (len(numbers) or 1) :: -(step % 3) - 1])

    def nested(self, at: int, other: int) -> None:
        """Make a Collection that holds another one and a Note."""
        identifier = self.store.new_id(Kind.COLLECTION)
        members = [Member(self.any(Kind.COLLECTION, at)), Member(self.any(Kind.NOTE, other), {"index": other})]
        self.store.commit([MakeCollection(identifier, members)])
        self.created_by[Kind.COLLECTION].append(identifier)

    def change(self, *changes: Change) -> None:
        """Commit changes as the work of the last run."""
        self.store.commit(changes)

    def step(self, at: int, count: int) -> None:
        """Journal a step that read a stretch of the Notes."""
        self.sequence += 1
        numbers = [int(one[5:]) for one in self.created_by[Kind.NOTE]][at:][:count]
        single = [Use(self.any(Kind.COLLECTION, at), 1)]
        uses = Uses(single, numbers) if self.together else [*single, *(Use(f"Note_{one}", 1) for one in numbers)]
        self.store.commit(
            [],
            [StepRow(self.runs[-1], self.sequence, "1", "sort", "success", AT, 1.0, uses=uses)],
        )

    def end(self, _one: int, _other: int) -> None:
        """End the last run, and open another one."""
        self.store.commit([], [CloseRun(self.runs[-1], "success", AT)])
        self.ended.add(self.runs[-1])
        self.open(0, 0)

    def forget(self, at: int, _other: int) -> object:
        """Remove a run that has ended."""
        run = self.runs[at % len(self.runs)]
        foretold = self.store.forget([run], really=False)
        assert self.store.forget([run], really=True) == foretold
        return foretold

    def overlay(self, at: int, other: int) -> object:
        """Change a private copy, which is thrown away."""
        with self.store.overlay() as copy:
            copy.commit([Keep(self.any(Kind.COLLECTION, at)), Revise(self.any(Kind.NOTE, other), "then")])
            assert copy.check() == []
            return copy.new_id(Kind.NOTE)

    # What it answers

    def answers(self) -> Iterator[object]:
        """Give what a store answers about all that was made."""
        every = [one for ids in self.created_by.values() for one in ids]
        with self.store.reading() as snapshot:
            for one in every:
                yield answer(lambda one=one: snapshot.versions(one) and len(snapshot.versions(one)))
                for version in (None, 1, 2):
                    yield answer(lambda one=one, version=version: plain(snapshot.get(one, version)))
                yield answer(lambda one=one: snapshot.briefs([one]))
                yield answer(lambda one=one: snapshot.holders([one]))
            yield answer(lambda: [plain(one) for one in snapshot.get_many(self.created_by[Kind.NOTE])])
            yield answer(
                lambda: [plain(one) for one in snapshot.notes([int(one[5:]) for one in self.created_by[Kind.NOTE]])]
            )
            yield snapshot.identities(every)
            for kind in Kind:
                for kept in (True, False, None):
                    yield [plain(one) for one in snapshot.listing(kind, kept=kept, after=2, limit=9)]
                    yield snapshot.count(kind, kept=kept), snapshot.numbers(kind, kept=kept).tolist()
            yield snapshot.origins([Use(one, at) for one in every for at in (1, 2)])
            yield sorted(map(repr, snapshot.readings(every)))
            yield snapshot.citing(every), snapshot.products(self.runs), snapshot.names(), snapshot.relations()
            for run in self.runs:
                yield answer(lambda run=run: [sorted(map(repr, row.uses)) for row in snapshot.steps(run)])
                yield answer(lambda run=run: [one for one in snapshot.lineages(run) if one.kept or one.gone])
            yield snapshot.pending_numbers().tolist()
        yield self.store.purge(really=False)
        yield self.store.check()


def plain(resource: Any) -> object:
    """A resource whose members stand there, however they are held."""
    found = replace(resource)
    return replace(found, members=tuple(found.members)) if hasattr(found, "members") else (type(found), found)


def timeless(answered: object) -> str:
    """What was answered, without the times."""
    return re.sub(r"20\d\d-\d\d-\d\dT[0-9:.]+Z", "then", repr(answered))


def answer(ask: Callable[[], object]) -> object:
    """What is answered, or why nothing is."""
    try:
        return ask()
    except InfospaceError as error:
        return type(error), error.message, error.hint


N, C = Kind.NOTE, Kind.COLLECTION

OPERATIONS: dict[str, Do] = {
    "notes": lambda on, one, other: on.notes(one, other % 9),
    "some": Space.some,
    "nested": Space.nested,
    "step": Space.step,
    "end": Space.end,
    "forget": Space.forget,
    "overlay": Space.overlay,
    "keep a note": lambda on, one, _: on.change(Keep(on.any(N, one))),
    "keep a collection": lambda on, one, _: on.change(Keep(on.any(C, one))),
    "let go": lambda on, one, other: on.change(Unkeep(on.any((N, C)[other % 2], one))),
    "name": lambda on, one, other: on.change(GiveName(on.any((N, C)[other % 2], one), f"n{one % 2}", replace=True)),
    "revise": lambda on, one, other: on.change(Revise(on.any(N, one), CONTENTS[other % 4] or "x")),
    "revise metadata": lambda on, one, other: on.change(Revise(on.any((N, C)[other % 2], one), metadata={"m": one})),
    "revise members": lambda on, one, other: on.change(
        Revise(on.any(C, one), members=[Member(on.any(N, other)), Member(on.any(N, one))])
    ),
    "delete a note": lambda on, one, _: on.change(Delete(on.any(N, one), CreatedBy(on.runs[-1], "3", "remove"))),
    "delete a collection": lambda on, one, _: on.change(Delete(on.any(C, one))),
    "restore": lambda on, one, other: on.change(Restore(on.any((N, C)[other % 2], one), 1)),
    "add": lambda on, one, other: on.change(AddMembers(on.any(C, one), [Member(on.any(N, other))])),
    "take out": lambda on, one, other: on.change(RemoveMembers(on.any(C, one), [on.any(N, other)])),
    "relate": lambda on, one, other: on.change(
        MakeRelation(made_id(on, Kind.RELATION), on.any(N, one), on.any(C, other), "cites")
    ),
    "cite": lambda on, one, _: on.change(MakeNote(made_id(on, N), Evidence(on.any(N, one), 1, 0.5))),
    "purge": lambda on, _one, _other: on.store.purge(really=True),
}
"""What is done to a space, with two numbers that say to what."""


def made_id(on: Space, kind: Kind) -> str:
    """Return an id for a thing that is made; it is there where making it goes well."""
    on.created_by[kind].append(on.store.new_id(kind))
    return on.created_by[kind][-1]


@contextmanager
def small_batches() -> Iterator[None]:
    """Let few be many: so what few examples do meets the bounds of batches and pieces."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_notes, "MANY", 1)
        patch.setattr(packed, "BATCH", 3)
        patch.setattr(packed, "PIECE", 4)
        yield


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(OPERATIONS)), st.integers(0, 11), st.integers(0, 11)), min_size=3, max_size=14
    )
)
def test_whatever_is_done_every_answer_is_the_same(done: list[tuple[str, int, int]]) -> None:
    """Both say the same of every resource, run and step, refuse the same, and are sound."""
    with small_batches(), TemporaryDirectory() as folder:
        together, apart = Space(folder, together=True), Space(folder, together=False)
        try:
            for what, one, other in [("notes", 0, 7), *done]:
                do = OPERATIONS[what]
                gave = [answer(partial(do, on, one, other)) for on in (together, apart)]
                assert timeless(gave[0]) == timeless(gave[1]), what
            for ours, theirs in zip(together.answers(), apart.answers(), strict=True):
                assert timeless(ours) == timeless(theirs)
            assert together.store.check() == []
        finally:
            together.store.close()
            apart.store.close()


def test_a_note_of_a_batch_equals_one_with_a_row() -> None:
    """As a value it is any Note: equal, copied, changed."""
    head = batch_notes.BatchHead(AT, CreatedBy("run_1", "1", "split"))
    (note,) = batch_notes.notes_of(head, 5, [{"a": 1}])
    same = Note(id="Note_5", content={"a": 1}, created_by=head.created_by, created=AT, updated=AT)
    assert note == same
    assert same == note
    assert note != replace(same, content={"a": 2})
    assert replace(note, version=2) == replace(same, version=2)
    assert type(replace(note, version=2)) is Note
