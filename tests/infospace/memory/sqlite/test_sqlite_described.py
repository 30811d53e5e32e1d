"""What is kept of Collections' texts goes as soon as a text is another, whatever made it another."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infospace.core.errors import Invalid
from infospace.core.ids import Kind, number_of
from infospace.core.resources import Collection, Member, text_of
from infospace.store.changes import (
    AddMembers,
    Change,
    Delete,
    Describe,
    Evidence,
    FreeName,
    GiveName,
    Keep,
    MakeCollection,
    MakeNote,
    RemoveMembers,
    Restore,
    Revise,
    Vectors,
)
from infospace.store.protocol import Store, Text
from infospace.store.sqlite import open_store

MODEL = "made/1"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty space in a file."""
    with contextlib.closing(open_store(tmp_path / "space.db", create=True)) as opened:
        yield opened
        assert opened.check() == []


def digest(text: str) -> bytes:
    """SHA-256."""
    return sha256(text.encode()).digest()


def vector(text: str) -> Any:
    """A vector that tells one text from every other."""
    return np.frombuffer(digest(text), np.uint8).astype(np.float32)


def waiting(store: Store) -> list[Text]:
    """The Collections whose texts are to be embedded."""
    with store.reading() as snapshot:
        return snapshot.undescribed(MODEL)


def describe(store: Store, texts: list[Text]) -> None:
    """Embed texts, each as one passage."""
    changes: list[Change] = [Describe(one.id, MODEL, digest(one.text), [digest(one.text)]) for one in texts]
    vectors = [Vectors(MODEL, [digest(one.text)], vector(one.text)[None]) for one in texts]
    store.commit([*vectors, *changes])


def known(store: Store) -> dict[int, tuple[int, bytes]]:
    """Version and vector of each Collection that is kept as embedded."""
    with store.reading() as snapshot:
        rows = snapshot.described(MODEL)
    return {o: (v, row.tobytes()) for o, v, row in zip(rows.owners.tolist(), rows.versions, rows.vectors, strict=True)}


def texts_now(store: Store) -> dict[int, tuple[int, str]]:
    """Version and text of each Collection that can be found, read one by one."""
    found = {}
    with store.reading() as snapshot:
        for one in snapshot.listing(Kind.COLLECTION):
            if isinstance(one, Collection) and not (one.name or "").startswith("_"):
                titles = snapshot.evidence([Evidence(one.id, one.version, 0.0)])[0]["text"]
                said = (f"{key}: {text_of(value)}" for key, value in one.metadata.items())
                lines = [line for line in (one.name, *said, titles) if line]
                found[number_of(one.id)] = (one.version, "\n".join(lines))
        assert snapshot.collections() == len(found)
    return found


def note(store: Store, content: Any = "title\nmore") -> str:
    """Make a kept Note."""
    identifier = store.new_id(Kind.NOTE)
    store.commit([MakeNote(identifier, content, kept=True)])
    return identifier


def group(store: Store, *items: str) -> str:
    """Make a kept Collection."""
    identifier = store.new_id(Kind.COLLECTION)
    store.commit([MakeCollection(identifier, [Member(item) for item in items], kept=True)])
    return identifier


def test_what_was_described_is_not_read_again(store: Store) -> None:
    """Until something changes that its text has."""
    item = note(store)
    one, other = group(store, item), group(store, note(store, "other"))
    describe(store, waiting(store))
    assert waiting(store) == []
    store.commit([Revise(item, "another title")])
    assert [(text.id, text.text) for text in waiting(store)] == [(one, "another title")]
    describe(store, waiting(store))
    assert waiting(store) == []
    store.commit([Revise(other, metadata={"about": "it"})])
    assert [text.text for text in waiting(store)] == ["about: it\nother"]


def test_a_collection_of_nothing_is_not_read_again_either(store: Store) -> None:
    """It has no passage, and that is known."""
    empty = group(store)
    store.commit([Describe(empty, MODEL, digest(""), [])])
    assert waiting(store) == []
    assert known(store) == {}


def test_another_model_reads_it_anew_in_the_place_of_the_first(store: Store) -> None:
    """A shorter text too leaves nothing of what was known by the model before."""
    one = group(store, note(store))
    store.commit([Describe(one, "made/0", digest("title"), [digest("a"), digest("b")])])
    assert [text.id for text in waiting(store)] == [one]
    describe(store, waiting(store))
    assert waiting(store) == []
    assert list(known(store)) == [number_of(one)]
    with store.reading() as snapshot:
        assert [text.id for text in snapshot.undescribed("made/0")] == [one]


def test_a_title_of_what_a_result_found_counts(store: Store) -> None:
    """A search result has no title of its own, and its source may change."""
    source, cited = note(store, "first title"), store.new_id(Kind.NOTE)
    store.commit([MakeNote(cited, Evidence(source, 1, 0.5))])
    found = group(store, cited)
    describe(store, waiting(store))
    store.commit([GiveName(source, "a name")])
    assert [(text.id, text.text) for text in waiting(store)] == [(found, "a name")]


def test_another_model_needs_all_of_them(store: Store) -> None:
    """What the one embedded says nothing of the other."""
    group(store, note(store))
    describe(store, waiting(store))
    with store.reading() as snapshot:
        assert len(snapshot.undescribed("made/2")) == 1
        assert len(snapshot.described("made/2").owners) == 0


def test_what_changed_while_it_was_embedded_waits_on(store: Store) -> None:
    """The text that was embedded is not its text any more."""
    item = note(store)
    group(store, item)
    before = waiting(store)
    store.commit([Revise(item, "later")])
    describe(store, before)
    assert [text.text for text in waiting(store)] == ["later"]
    assert known(store) == {}


def test_one_that_was_deleted_or_hidden_meanwhile_is_left_out(store: Store) -> None:
    """No error: another process was faster."""
    item = note(store)
    gone, hidden = group(store, item), group(store, item)
    before = waiting(store)
    store.commit([Delete(gone), GiveName(hidden, "_hidden")])
    describe(store, before)
    assert (waiting(store), known(store)) == ([], {})


def test_a_purge_leaves_the_vectors_of_collections(store: Store) -> None:
    """They are not embedded again."""
    item = note(store)
    group(store, item)
    store.use_model(MODEL)
    describe(store, waiting(store))
    store.commit([Delete(note(store))])
    store.purge(really=True)
    assert waiting(store) == []
    assert len(known(store)) == 1


ACTS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *("note", "group", "revise", "title", "name", "hide", "free", "delete", "restore", "cite"),
                *("add", "take", "describe", "describe", "keep", "about"),
            ]
        ),
        st.integers(0, 30),
        st.integers(0, 30),
    ),
    max_size=25,
)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(ACTS)
def test_what_is_kept_is_always_of_the_text_there_is_now(acts: list[tuple[str, int, int]]) -> None:
    """Whatever happens to Collections, their items, and the sources of those; and each is kept or waits."""
    with contextlib.closing(open_store(":memory:", create=True)) as store:
        notes, groups, gone = [note(store, "one")], [group(store)], [""]
        for act, pick, other in acts:
            item, of = notes[pick % len(notes)], groups[other % len(groups)]
            either = [*notes, *groups][(pick + other) % (len(notes) + len(groups))]
            changes: dict[str, list[Change]] = {
                "revise": [Revise(item, f"text {other}")],
                "title": [Revise(item, metadata={"title": f"title {other}"})],
                "about": [Revise(of, metadata={"about": pick})],
                "name": [GiveName(either, f"name {other}", replace=True)],
                "hide": [GiveName(either, f"_name {other}", replace=True)],
                "free": [FreeName(either)],
                "add": [AddMembers(of, [Member(item)])],
                "take": [RemoveMembers(of, [item])],
                "keep": [Keep(either)],
            }
            if act == "note":
                notes.append(note(store, f"note {other}"))
            elif act == "group":
                groups.append(group(store, item))
            elif act == "cite":
                with store.reading() as snapshot:
                    found = snapshot.get(item)
                if not getattr(found, "evidence", False):
                    notes.append(store.new_id(Kind.NOTE))
                    store.commit([MakeNote(notes[-1], Evidence(item, found.version, 0.5))])
            elif act == "delete" and min(len(notes), len(groups)) > 1:
                (notes if either in notes else groups).remove(either)
                gone.append(either)
                store.commit([Delete(either)])
            elif act == "restore" and gone[-1]:
                store.commit([Restore(gone[-1])])
                (notes if gone[-1].startswith("Note") else groups).append(gone.pop())
            elif act == "describe":
                describe(store, waiting(store)[: 1 + pick % 3])
            elif act in changes:
                with contextlib.suppress(Invalid):  # a search result has no text of its own to revise
                    store.commit(changes[act])
            kept, now = known(store), texts_now(store)
            assert kept == {number: (now[number][0], vector(now[number][1]).tobytes()) for number in kept}
            assert kept.keys() | {number_of(text.id) for text in waiting(store)} == now.keys()
            assert {number_of(text.id): (text.version, text.text) for text in waiting(store)}.items() <= now.items()
        assert store.check() == []
