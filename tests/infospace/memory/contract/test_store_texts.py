"""Texts are any Unicode text: every place that holds one gives back what it was given, sign for sign."""

from __future__ import annotations

import pytest
from store_tools import AT, collection, get, note, open_run

from infospace.core.errors import Invalid
from infospace.core.ids import Kind
from infospace.core.resources import CreatedBy, Relation
from infospace.journal.rows import CloseRun, OpenRun, StepRow
from infospace.store.changes import Change, GiveName, Linked, MakeNote, MakeRelation, SetLinks, Track
from infospace.store.protocol import Store

ODD = [
    "\u0000",
    "a\u0000b\u0000",
    "\ufeff\u2028\r\n\t",
    "🎈\U0010ffff\ufffe",
    "'\"\\%_?:$1 --",
    "\\u0000 \\x00 \\0",
    "e\u0301",
]
LONE = "\ud800"


@pytest.mark.parametrize("text", ODD, ids=ascii)
class TestAnyText:
    """NUL, line ends of all kinds, signs beyond the basic plane, what looks like an escape."""

    def test_resources_keep_it(self, store: Store, text: str) -> None:
        """In content, in metadata and its keys, as a label, as who made it."""
        made = CreatedBy("run_1", text, text)
        a, arrow = store.new_id(Kind.NOTE), store.new_id(Kind.RELATION)
        label = f"x{text}"
        store.commit([MakeNote(a, text, {text: [text]}, created_by=made), MakeRelation(arrow, a, a, label)])
        found, between = get(store, a), get(store, arrow)
        assert isinstance(between, Relation)
        assert (found.content, found.metadata, found.created_by, between.relation) == (
            text,
            {text: [text]},
            made,
            label,
        )
        with store.reading() as snapshot:
            assert snapshot.relations(relation=label) == [arrow]
            assert snapshot.relations(relation=f"{label}y") == []

    def test_files_and_links_keep_it(self, store: Store, text: str) -> None:
        """As root, path, title and target."""
        a = note(store)
        store.commit([Track(text, f"{text}.md", a, b"\x00", 1, title=text), SetLinks(a, [Linked(text, wiki=True)])])
        with store.reading() as snapshot:
            (file,) = snapshot.tracked(text)
            assert (file.root, file.path, file.title, file.digest) == (text, f"{text}.md", text, b"\x00")
            assert snapshot.links(a) == {a: [Linked(text, wiki=True)]}

    def test_runs_keep_it(self, store: Store, text: str) -> None:
        """In every field that a person or a program wrote."""
        run = store.new_id("run")
        row = StepRow(run, 1, "1", "size", "failed", AT, 1.0, 1, text, None, None, text, text, text, trace=text)
        opened = OpenRun(run, "plan", text, {text: text}, {text: "Note_1"}, AT, f"me{text}")
        store.commit([], [opened, row, CloseRun(run, "failed", AT, None, text)])
        with store.reading() as snapshot:
            assert snapshot.steps(run) == [row]
            found = snapshot.run(run)
        assert (found.goal, found.document, found.inputs) == (text, {text: text}, {text: "Note_1"})
        assert (found.owner, found.reason) == (f"me{text}", text)


@pytest.mark.parametrize("place", ["content", "label", "name", "maker", "file", "link", "step"])
def test_half_a_sign_is_refused_wherever_it_is(store: Store, place: str) -> None:
    """A lone surrogate has no UTF-8 form: Invalid, and nothing is written."""
    a, run = note(store), open_run(store)
    changes: dict[str, Change] = {
        "content": MakeNote(store.new_id(Kind.NOTE), LONE),
        "label": MakeRelation(store.new_id(Kind.RELATION), a, a, LONE),
        "name": GiveName(a, LONE),
        "maker": MakeNote(store.new_id(Kind.NOTE), 1, created_by=CreatedBy(by=LONE)),
        "file": Track("/r", LONE, a, b"", 1),
        "link": SetLinks(a, [Linked(LONE, wiki=False)]),
    }
    entries = [StepRow(run, 1, "1", "size", "success", AT, 1.0, value=LONE)] if place == "step" else []
    with pytest.raises(Invalid, match=r"'\\ud800'"):
        store.commit([changes[place]] if place in changes else [], entries)
    with store.reading() as snapshot:
        assert snapshot.count(Kind.NOTE, kept=None) == 1
        assert snapshot.tracked() == []
        assert snapshot.steps(run) == []


def test_texts_are_ordered_by_code_point(store: Store) -> None:
    """Whatever the language of the machine or the server: capitals first, accents last."""
    names = ["_x", "B", "a", "Z", "é", "z", "a b", "a-b", "ab", "日", "🎈", "\uffee"]
    changes: list[Change] = []
    for name in names:
        made = store.new_id(Kind.NOTE)
        changes += [MakeNote(made, 1), GiveName(made, name), Track("/r", name, made, b"", 1)]
        changes.append(SetLinks(made, [Linked(other, wiki=False) for other in names]))
    store.commit(changes)
    with store.reading() as snapshot:
        assert snapshot.names() == sorted(names)
        assert [file.path for file in snapshot.tracked("/r")] == sorted(names)
        (links, *_) = snapshot.links().values()
    assert [link.target for link in links] == sorted(names)


def test_large_values_come_back_whole(store: Store) -> None:
    """A text of some megabytes, a deep value, a Collection of thousands."""
    text = "word 🎈 " * 300_000
    deep: list[object] = []
    for _ in range(300):
        deep = [deep]
    a, b = note(store, text, kept=True), note(store, deep)  # type: ignore[arg-type]
    group = collection(store, [a, b] * 2_000)
    assert (get(store, a).content, get(store, b).content) == (text, deep)
    assert len(get(store, group)) == 4_000
