"""Notes that are made many of at once are read, changed, kept and forgotten like any others."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from store_tools import AT, get, ids, open_run, step

from infospace import open_space
from infospace.core.batch_notes import NoteMembers
from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.core.ids import Kind
from infospace.core.json_types import JSON
from infospace.core.resources import NOBODY, CreatedBy, Note
from infospace.journal.rows import CloseRun, Use
from infospace.journal.uses import Uses
from infospace.store.changes import Delete, Keep, MakeCollection, MakeNote, MakeNotes, Revise
from infospace.store.protocol import Store
from infospace.store.sqlite import packed
from infospace.store.sqlite.read import batches
from infospace.store.sqlite.read.batches import contents_of

COUNT = 1_000


def nested(depth: int) -> JSON:
    """Make lists within lists."""
    value: JSON = 7
    for _ in range(depth):
        value = [value]
    return value


def batch(store: Store, made: CreatedBy = NOBODY, count: int = COUNT) -> range:
    """Make many Notes at once; return their numbers."""
    first = store.new_numbers(Kind.NOTE, count)
    store.commit([MakeNotes(first, [{"n": at, "word": f"ö{at}"} for at in range(count)], made)])
    return range(first, first + count)


def held(store: Store, numbers: range) -> str:
    """Make a Collection of Notes; return its id."""
    identifier = store.new_id(Kind.COLLECTION)
    store.commit([MakeCollection(identifier, NoteMembers(numbers))])
    return identifier


def test_each_is_a_note_of_its_own(store: Store) -> None:
    """By id, by number, by the list, at its version; what nobody made is not there."""
    made = CreatedBy("run_7", "3", "split")
    numbers = batch(store, made)
    with store.reading() as snapshot:
        one = snapshot.get(f"Note_{numbers[700]}")
        assert one == Note(
            id=one.id, content={"n": 700, "word": "ö700"}, created_by=made, created=one.created, updated=one.created
        )
        assert snapshot.get(one.id, 1) == one
        assert snapshot.versions(one.id) == [(1, one.created)]
        assert snapshot.notes(numbers) == snapshot.get_many([f"Note_{number}" for number in numbers])
        assert snapshot.notes([numbers[9], numbers[2], numbers[9]])[2].content == {"n": 9, "word": "ö9"}
        assert list(snapshot.listing(Kind.NOTE, kept=False, after=numbers[990])) == snapshot.notes(numbers[991:])
        assert [snapshot.count(Kind.NOTE, kept=kept) for kept in (True, False, None)] == [0, COUNT, COUNT]
        assert snapshot.numbers(Kind.NOTE, kept=None).tolist() == list(numbers)
        assert list(snapshot.listing(Kind.NOTE)) == []
        for missing in (numbers[0] - 1, numbers[-1] + 1):
            if missing:
                with pytest.raises(NotFound, match=f"Note_{missing}"):
                    snapshot.get(f"Note_{missing}")
        with pytest.raises(NotFound, match="no version 2"):
            snapshot.get(one.id, 2)


def test_a_number_is_used_once(store: Store) -> None:
    """Not for another batch, nor for a Note by itself; and only where it was given out."""
    numbers = batch(store)
    single = store.new_id(Kind.NOTE)
    store.commit([MakeNote(single, "by itself")])
    for first in (numbers[0], numbers[500], int(single[5:])):
        with pytest.raises(Conflict, match="exists already"):
            store.commit([MakeNotes(first, ["again"])])
    with pytest.raises(Conflict, match="exists already"):
        store.commit([MakeNote(f"Note_{numbers[3]}", "again")])
    with pytest.raises(Invalid, match="was not given out"):
        store.commit([MakeNotes(numbers[-1] + 10_000, ["nobody gave this number out"])])


def test_what_cannot_be_written_makes_nothing(store: Store) -> None:
    """All of a batch is made, or none."""
    first = store.new_numbers(Kind.NOTE, 600)
    with pytest.raises(Invalid, match="JSON"):
        store.commit([MakeNotes(first, [*range(599), float("nan")])])
    with store.reading() as snapshot:
        assert snapshot.count(Kind.NOTE, kept=None) == 0


def test_a_collection_of_them_has_them_in_its_order(store: Store) -> None:
    """Members, their count, who holds them, and what is kept with them."""
    numbers = batch(store)
    turned = held(store, numbers[::-1])
    found = get(store, turned)
    assert ids(found) == [f"Note_{number}" for number in reversed(numbers)]
    with store.reading() as snapshot:
        assert snapshot.briefs([turned])[0].size == COUNT
        assert snapshot.holders([f"Note_{numbers[5]}"]) == [(f"Note_{numbers[5]}", turned)]
    store.commit([Keep(turned)])
    with store.reading() as snapshot:
        assert snapshot.count(Kind.NOTE) == COUNT
        assert ids(snapshot.get(turned)) == ids(found)
        assert snapshot.pending_count() == COUNT


def test_one_that_is_changed_leaves_the_others(store: Store) -> None:
    """A new version, a deletion: its Collection goes on without what was deleted."""
    numbers = batch(store)
    whole = held(store, numbers)
    changed, deleted = f"Note_{numbers[300]}", f"Note_{numbers[301]}"
    store.commit([Revise(changed, "new"), Delete(deleted)])
    with store.reading() as snapshot:
        assert snapshot.get(changed, 1).content == {"n": 300, "word": "ö300"}
        assert (snapshot.get(changed).content, snapshot.get(changed).version) == ("new", 2)
        assert len(snapshot.get(whole)) == COUNT - 1
        assert len(snapshot.get(whole, 1)) == COUNT
        assert snapshot.get(f"Note_{numbers[302]}").version == 1
        with pytest.raises(NotFound, match="was deleted"):
            snapshot.get(deleted)


def test_what_a_step_read_of_them_is_remembered(store: Store) -> None:
    """All of them by one list, and from each the way to the step."""
    run = open_run(store)
    numbers = batch(store, CreatedBy(run, "1", "split"))
    single = [Use("Collection_1", 3)]
    store.commit([], [step(run, uses=Uses(single, numbers[10:900]))])
    with store.reading() as snapshot:
        (row,) = snapshot.steps(run)
        assert sorted(row.uses, key=str) == sorted(
            [*single, *(Use(f"Note_{at}", 1) for at in numbers[10:900])], key=str
        )
        reading = snapshot.readings([f"Note_{numbers[at]}" for at in (9, 10, 899, 900)])
        assert [(one.of.id, one.run, one.sequence) for one in reading] == [
            (f"Note_{numbers[10]}", run, 1),
            (f"Note_{numbers[899]}", run, 1),
        ]
        assert [product.of.id for product in snapshot.products([run])] == [f"Note_{number}" for number in numbers]


@pytest.mark.parametrize("kept", [False, True])
def test_they_go_with_their_run_unless_something_needs_them(store: Store, kept: bool) -> None:
    """Those that a Collection of another run has stay, when it is kept and when it is not."""
    run = open_run(store)
    numbers = batch(store, CreatedBy(run, "1", "split"))
    held(store, numbers)
    some = held(store, numbers[100:400])
    if kept:
        store.commit([Keep(some)])
    store.commit([], [step(run, uses=Uses((), numbers)), CloseRun(run, "success", AT)])
    foretold = store.forget([run], really=False)
    # The Collection of all was made by nobody's run: it stays, and so they all do.
    assert (foretold.resources, foretold.needed) == (0, COUNT if not kept else COUNT - 300)
    assert store.forget([run], really=True) == foretold
    assert len(get(store, some)) == 300
    assert get(store, f"Note_{numbers[0]}").content == {"n": 0, "word": "ö0"}


def test_what_nobody_needs_goes_with_its_run(store: Store) -> None:
    """Wholly, or but for a part."""
    run = open_run(store)
    numbers, others = batch(store, CreatedBy(run, "1", "split")), batch(store, CreatedBy(run, "2", "split"))
    some = held(store, numbers[100:400])
    store.commit([], [CloseRun(run, "success", AT)])
    foretold = store.forget([run], really=False)
    assert (foretold.resources, foretold.needed) == (2 * COUNT - 300, 300)
    assert store.forget([run], really=True) == foretold
    with store.reading() as snapshot:
        assert snapshot.count(Kind.NOTE, kept=None) == 300
        assert len(snapshot.notes(get(store, some).members.numbers)) == 300
        with pytest.raises(NotFound, match="there is no Note"):
            snapshot.get(f"Note_{others[0]}")


def test_notes_that_are_read_one_after_the_other_read_their_batch_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loop over a large Collection reads each batch a few times at most, however it asks for its items."""
    numbers, read = batch(store), Counter[int]()

    def counting(text: str, count: int, address: str) -> list[JSON]:
        read[hash(text)] += 1
        return contents_of(text, count, address)

    monkeypatch.setattr(batches, "_RECENT", batches.RecentBatches())
    monkeypatch.setattr(batches, "contents_of", counting)
    for at in numbers:
        with store.reading() as snapshot:
            assert snapshot.get(f"Note_{at}").content == {"n": at - numbers[0], "word": f"ö{at - numbers[0]}"}
            assert snapshot.get_many([f"Note_{at}"])[0].content == {"n": at - numbers[0], "word": f"ö{at - numbers[0]}"}
    assert max(read.values()) == 1
    assert len(read) == -(-COUNT // packed.BATCH)


def test_who_changes_what_was_read_changes_no_other_reading(store: Store) -> None:
    """What is held for the next reader is given to nobody."""
    first = store.new_numbers(Kind.NOTE, 300)
    store.commit([MakeNotes(first, [{"list": [at, {"n": at}]} for at in range(300)])])
    for _ in range(3):
        with store.reading() as snapshot:
            content: Any = snapshot.get(f"Note_{first + 7}").content
            assert content == {"list": [7, {"n": 7}]}
            content["list"][1]["n"] = "changed"
            content["more"] = 1


def test_the_same_numbers_of_two_spaces_are_never_mixed(tmp_path: Path) -> None:
    """Batches that begin with one number have the contents of their own space, read in turns."""
    with open_space(tmp_path / "one.db") as one, open_space(tmp_path / "two.db") as other:
        firsts = {space.store.new_numbers(Kind.NOTE, 300) for space in (one, other)}
        assert len(firsts) == 1
        first = firsts.pop()
        for space, word in ((one, "one"), (other, "two")):
            space.store.commit([MakeNotes(first, [f"{word} {at}" for at in range(300)])])
        for at in (0, 299, 7):
            for space, word in ((one, "one"), (other, "two")):
                with space.store.reading() as snapshot:
                    assert snapshot.get(f"Note_{first + at}").content == f"{word} {at}"


def test_few_batches_are_held(store: Store) -> None:
    """Whoever reads here and there makes the process no larger."""
    numbers, held_at_once = batch(store, count=6_000), batches.RecentBatches(3)
    with store.reading() as snapshot:
        for at in range(0, 6_000, 500):
            assert snapshot.get(f"Note_{numbers[at]}").content == {"n": at, "word": f"ö{at}"}
    assert 1 <= len(batches._RECENT) <= 8
    for first in range(1, 40, 4):
        one = batches.Batch(first, 4, None, None, None, AT)
        assert held_at_once.some(one, f"[{first}, 2, 3, 4]", [first, first + 3], "a") == [first, 4]
        assert len(held_at_once) <= 3


ODD: list[JSON] = [
    *(1e16, 1e-7, -0.0, 5e-324, 1.7976931348623157e308, 0.1, 2**63, -(2**70), 10**400, True, None, ""),
    *("NaN", "Infinity", '\u2028\x00\x7f\\"/', "🎉é", {"NaN": "Infinity", "": []}, {"a": {"b": [{}, [[1.5]]]}}, ()),
    nested(150),
]


@pytest.mark.parametrize("plain", [True, False])
def test_every_value_of_json_comes_back_as_it_was(store: Store, plain: bool) -> None:
    """Numbers to the last bit and with their type, words that look like numbers, values that are nested deep."""
    contents = [value for value in ODD if value != ()] if plain else ODD
    first = store.new_numbers(Kind.NOTE, 300)
    store.commit([MakeNotes(first, (contents * 20)[:300], plain=plain)])
    with store.reading() as snapshot:
        together = [note.content for note in snapshot.notes(range(first, first + len(contents)))]
        alone = [snapshot.get(f"Note_{first + at}").content for at in range(len(contents))]
    assert repr(together) == repr(alone) == repr([[] if value == () else value for value in contents])


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), "\ud800", {"a": [float("inf")]}, {"\udfff": 1}])
def test_what_json_has_no_form_for_is_refused(store: Store, value: JSON) -> None:
    """Also where its types are those of JSON."""
    first = store.new_numbers(Kind.NOTE, 300)
    with pytest.raises(Invalid, match=r"JSON|surrogate"):
        store.commit([MakeNotes(first, [*range(299), value], plain=True)])
