"""An import that others overtake, at the moments where it hurts: looked at again, nothing twice, nothing lost."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from infospace import Space
from infospace.core.errors import Conflict
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.editing.undo import undo
from infospace.files import import_files as importing
from infospace.files.import_files import Summary, import_paths
from infospace.store.changes import Change, Delete, ExpectedFile, ExpectLinks, Linked, MakeNote, Revise, Track, Untrack
from infospace.store.sqlite import open_store

sys.path.insert(0, str(Path(__file__).parents[1]))

from imported import Overtaken, add, arrows, counts, has_one_root, is_settled, notes, runs, sound, write


def overtaken(space: Space, meanwhile: Callable[[], object], *paths: Path, prune: bool = False, at: int = 1) -> Summary:
    """Import, while before the commit of a number something else happens."""
    store: Any = Overtaken(space.store, lambda number: meanwhile() if number == at else None)
    summary = import_paths(Space(store), paths, NullListener(), prune=prune)
    assert store.commits >= at
    return summary


FILES = {
    "a.md": "# A\n\n[[b]] [[x/c]]",
    "b.md": "[[a]]",
    "x/c.md": "[[T]] [[nobody]]",
    "p.html": "<title>T</title><p>p</p>",
    "r.csv": "v\n1\n2\n3\n",
    "l.jsonl": "1\n2\n",
    "o.json": "[1]",
    "plain.txt": "t",
}


def test_what_another_adds_meanwhile_is_unchanged_for_the_slower_one(space: Space, tmp_path: Path) -> None:
    """Both say truly what they did, and the one that did nothing leaves no run and no note."""
    folder = write(tmp_path / "in", **FILES)
    first: list[Summary] = []
    slower = overtaken(space, lambda: first.append(add(space, folder)), folder)
    assert (counts(first[0]), counts(slower)) == ({"added": 11}, {"unchanged": 11})
    assert (slower.run, runs(space)) == (None, [("import", "success")])
    assert len(sound(space)) == 11
    assert arrows(space) == {("a.md", "b.md"), ("a.md", "x/c.md"), ("b.md", "a.md"), ("x/c.md", "p.html")}


@pytest.mark.parametrize("at", range(1, 6))
def test_each_batch_can_be_overtaken_by_some_of_the_files(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """Also when the rest is on its way already, and when only the links are left."""
    monkeypatch.setattr(importing, "BATCH", 5)
    folder = write(tmp_path / "in", **FILES)
    first: list[Summary] = []
    some = [folder / "x", folder / "r.csv", folder / "a.md"]
    slower = overtaken(space, lambda: first.append(import_paths(space, some, NullListener())), folder, at=at)
    assert first[0].added + slower.added == 11
    assert slower.added + slower.unchanged == 11
    assert len(sound(space)) == 11
    again = add(space, folder)
    assert (counts(again), again.run) == ({"unchanged": 11}, None)
    assert arrows(space) == {("a.md", "b.md"), ("a.md", "x/c.md"), ("b.md", "a.md"), ("x/c.md", "p.html")}


def test_rows_that_another_took_meanwhile_are_the_same_rows(space: Space, tmp_path: Path) -> None:
    """New ones, changed ones and ones that went: each row is one note, and none of the old ones is another."""
    folder = write(tmp_path / "in", **{"r.csv": "v\n1\n2\n3\n4\n", "l.jsonl": "1\n2\n3\n"})
    add(space, folder)
    before = {note.id: note.content for note in sound(space).values()}
    write(folder, **{"r.csv": "v\n0\n1\n22\n3\n5\n", "l.jsonl": "2\n3\n4\n"})
    first: list[Summary] = []
    slower = overtaken(space, lambda: first.append(add(space, folder, prune=True)), folder, prune=True)
    assert first[0].added + first[0].changed + first[0].removed > 0
    assert counts(slower) == {"unchanged": 8}
    after = {note.id: note.content for note in sound(space).values()}
    assert sorted(map(str, after.values())) == sorted(
        [*(str({"v": str(row)}) for row in (0, 1, 22, 3, 5)), *map(str, (2, 3, 4))]
    )
    assert sum(before.get(key) == value for key, value in after.items()) == 4


def test_rows_that_came_between_two_looks_go_behind_those_that_another_took(space: Space, tmp_path: Path) -> None:
    """The file is read again, and its rows are numbered on from those that are known by then."""
    folder = write(tmp_path / "in", **{"l.jsonl": "1\n2\n"})

    def meanwhile() -> None:
        add(space, folder)
        write(folder, **{"l.jsonl": "0\n1\n2\n3\n"})

    slower = overtaken(space, meanwhile, folder)
    assert counts(slower) == {"added": 2, "unchanged": 2}
    assert sorted(note.content for note in sound(space).values()) == [0, 1, 2, 3]


def test_a_change_and_a_move_that_another_took_are_not_taken_twice(space: Space, tmp_path: Path) -> None:
    """One version, one place."""
    folder = write(tmp_path / "in", **FILES)
    add(space, folder)
    before = {note.id for note in sound(space).values()}
    write(folder, **{"a.md": "changed [[b]]"})
    (folder / "b.md").rename(folder / "x/b.md")
    slower = overtaken(space, lambda: add(space, folder), folder)
    assert counts(slower) == {"unchanged": 11}
    assert notes(space)["a.md"].version == 2
    assert {note.id for note in sound(space).values()} == before


def test_a_run_goes_on_where_a_later_batch_is_made_again_and_changes_no_note(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the time of the file is another: the run that began with the batch before is told, and ends."""
    monkeypatch.setattr(importing, "BATCH", 1)
    folder = write(tmp_path / "in", **{"b.md": "b"})
    add(space, folder)
    write(folder, **{"a.md": "a"})
    os.utime(folder / "b.md", (1_000_000_000, 1_000_000_000))

    def meanwhile() -> None:
        write(folder, **{"b.md": "changed"})
        add(space, folder / "b.md")
        os.utime(folder / "b.md", (1_100_000_000, 1_100_000_000))

    slower = overtaken(space, meanwhile, folder, at=2)
    assert counts(slower) == {"added": 1, "unchanged": 1}
    assert slower.run is not None
    assert [status for _, status in runs(space)] == ["success"] * 3


def test_a_note_that_moved_meanwhile_is_not_pruned(space: Space, tmp_path: Path) -> None:
    """Its file was elsewhere when the other one looked."""
    folder = write(tmp_path / "in", **{"a.md": "a", "b.md": "b"})
    add(space, folder)
    identifier = notes(space)["a.md"].id
    (folder / "a.md").rename(tmp_path / "a.md")

    def meanwhile() -> None:
        (tmp_path / "a.md").rename(folder / "c.md")
        add(space, folder)

    assert counts(overtaken(space, meanwhile, folder, prune=True)) == {"unchanged": 1}
    assert {path.parent.name: note.id for path, note in sound(space).items()}["c.md"] == identifier


def test_an_edit_meanwhile_is_neither_lost_nor_pruned(space: Space, tmp_path: Path) -> None:
    """It is reported, and both are kept, as if it had been there before."""
    folder = write(tmp_path / "in", **{"a.md": "a", "b.md": "b"})
    add(space, folder)
    a, b = notes(space)["a.md"].id, notes(space)["b.md"].id
    write(folder, **{"a.md": "theirs"})
    (folder / "b.md").unlink()
    edits = [Revise(a, "mine"), Revise(b, "mine too")]
    summary = overtaken(space, lambda: space.store.commit(edits), folder, prune=True)
    assert (counts(summary), [one["id"] for one in summary.conflicts]) == ({"changed": 1, "vanished": 1}, [a, b])
    with space.store.reading() as snapshot:
        assert [snapshot.get(a, at).content for at in (1, 2, 3)] == ["a", "mine", "theirs"]
        assert snapshot.get(b).content == "mine too"


@pytest.mark.parametrize("at", [1, 2])
def test_a_note_that_is_deleted_meanwhile_is_made_again_for_its_file(space: Space, tmp_path: Path, at: int) -> None:
    """Before the files are stored, or before their links are."""
    folder = write(tmp_path / "in", **{"a.md": "[[b]]", "b.md": "b"})
    add(space, folder)
    write(folder, **{"a.md": "[[b]] [[c]]", "b.md": "b, changed", "c.md": "c"})
    gone = notes(space)["b.md"].id
    summary = overtaken(space, lambda: space.store.commit([Delete(gone)]), folder, at=at)
    add(space, folder)
    assert summary.added == (2 if at == 1 else 1)
    assert len(sound(space)) == 3
    assert arrows(space) == {("a.md", "b.md"), ("a.md", "c.md")}


def test_an_import_of_a_wider_folder_meanwhile_makes_no_file_anew(space: Space, tmp_path: Path) -> None:
    """Nor does one of a narrower folder; each file keeps the root by which it became known."""
    write(tmp_path / "in", **FILES)
    slower = overtaken(space, lambda: add(space, tmp_path / "in"), tmp_path / "in/x")
    assert counts(slower) == {"unchanged": 1}
    assert len(sound(space)) == 11
    write(tmp_path / "in", **{"y/z/d.md": "d"})
    wider = overtaken(space, lambda: add(space, tmp_path / "in/y/z"), tmp_path)
    assert counts(wider) == {"unchanged": 12}
    assert len(sound(space)) == 12
    with space.store.reading() as snapshot:
        assert {one.root for one in snapshot.tracked()} == {str(tmp_path / "in")}


def test_two_notes_that_are_one_file_by_two_roots_become_one_again(space: Space, tmp_path: Path) -> None:
    """As an earlier version may have left them: the outer root's is the file's, and the other one is still there."""
    write(tmp_path / "in", **{"x/a.md": "a"})
    add(space, tmp_path / "in")
    twin = space.store.new_id(Kind.NOTE)
    inner = str((tmp_path / "in/x").resolve())
    space.store.commit([MakeNote(twin, "a", kept=True), Track(inner, "a.md", twin, b"", 1)])
    first = notes(space)["x/a.md"].id
    assert space.store.check() == [f"{twin} is the same file as {first}"]
    assert counts(add(space, tmp_path / "in")) == {"unchanged": 1}
    with space.store.reading() as snapshot:
        assert [(one.path, one.note) for one in snapshot.tracked()] == [("x/a.md", first)]
        assert snapshot.get(twin).content == "a"


def test_links_in_a_root_that_another_import_is_bringing_in_are_left_to_that(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only those of the folders given are settled."""
    monkeypatch.setattr(importing, "BATCH", 1)
    one, other = write(tmp_path / "one", **{"a.md": "[[b]]", "b.md": ""}), write(tmp_path / "two", **{"c.md": "[[d]]"})
    write(other, **{"d.md": ""})
    settled: list[str] = []

    def meanwhile() -> None:
        add(space, one)
        with space.store.reading() as snapshot:
            settled.extend(link.target for links in snapshot.links().values() for link in links if link.to)

    overtaken(space, meanwhile, other, at=3)
    assert settled == ["b"]
    assert arrows(space) == {("a.md", "b.md"), ("c.md", "d.md")}


def test_a_file_that_comes_while_links_are_settled_is_led_to(space: Space, tmp_path: Path) -> None:
    """Whoever brings it may end before it settles links."""
    folder = write(tmp_path / "in", **{"a.md": "[[b]] [[late]]", "b.md": ""})

    def meanwhile() -> None:
        late = space.store.new_id(Kind.NOTE)
        space.store.commit([MakeNote(late, "", kept=True), Track(str(folder), "late.md", late, b"", 1)])

    overtaken(space, meanwhile, folder, at=2)
    assert arrows(space) == {("a.md", "b.md"), ("a.md", "late.md")}


def test_a_file_that_moves_to_another_root_leaves_the_links_to_it(space: Space, tmp_path: Path) -> None:
    """They are settled too, though their folder was not given."""
    one, other = write(tmp_path / "one", **{"a.md": "[[b]]", "b.md": "b"}), write(tmp_path / "two", **{"c.md": "c"})
    add(space, one, other)
    (one / "b.md").rename(other / "b.md")
    assert counts(add(space, other)) == {"moved": 1, "unchanged": 1}
    assert arrows(space) == set()


def test_an_interruption_waits_for_a_batch_that_was_overtaken(space: Space, tmp_path: Path) -> None:
    """What another process took is not counted, and nothing is half there."""
    folder = write(tmp_path / "in", **FILES)

    def meanwhile(number: int) -> None:
        if number == 1:
            add(space, folder / "r.csv")
            raise KeyboardInterrupt

    summary = Summary()
    store: Any = Overtaken(space.store, meanwhile)
    with pytest.raises(KeyboardInterrupt):
        import_paths(Space(store), [folder], NullListener(), summary=summary)
    assert counts(summary) == {"added": 8, "unchanged": 3}
    assert sorted(runs(space)) == [("import", "cancelled"), ("import", "success")]
    assert len(sound(space)) == 11
    assert counts(add(space, folder)) == {"unchanged": 11}


def test_a_place_that_is_not_as_it_was_refuses_the_whole_commit(space: Space) -> None:
    """Another note, another version, one gone or one that came, and links that are others: nothing is stored."""
    store = space.store
    a, b, c = (store.new_id(Kind.NOTE) for _ in range(3))
    store.commit([MakeNote(a, "a", kept=True), MakeNote(b, "b", kept=True), Track("/r", "x/a.md", a, b"1", 1)])
    refused: list[tuple[Change, str]] = [
        (Track("/r", "x/a.md", b, b"", 1, was=ExpectedFile()), f"'/r/x/a.md' is known as {a} at version 1"),
        (Track("/r", "x/a.md", b, b"", 1, was=ExpectedFile(b, 1)), f"'/r/x/a.md' is known as {a} at version 1"),
        (Track("/r", "x/a.md", b, b"", 1, was=ExpectedFile(a, 2)), f"'/r/x/a.md' is known as {a} at version 1"),
        (Track("/r", "b.md", b, b"", 1, was=ExpectedFile(a, 1)), "'/r/b.md' is not known any more"),
        (Track("/r/x", "a.md", b, b"", 1, was=ExpectedFile()), f"'/r/x/a.md' is known as {a} at version 1"),
        (Track("/", "r/x/a.md", b, b"", 1, was=ExpectedFile()), f"'/r/x/a.md' is known as {a} at version 1"),
        (Untrack("/r", "x/a.md", was=ExpectedFile(b, 1)), f"'/r/x/a.md' is known as {a} at version 1"),
        (Untrack("/r", "b.md", was=ExpectedFile(b, 1)), "'/r/b.md' is not known any more"),
        (ExpectLinks(a, [Linked("t", wiki=True)]), f"the links of {a} were changed meanwhile"),
        (Delete(a, if_version=2), f"{a} is at version 1, not 2"),
    ]
    for change, message in refused:
        with pytest.raises(Conflict, match=message):
            store.commit([MakeNote(c, "c"), change])
    with store.reading() as snapshot:
        assert [(one.path, one.note) for one in snapshot.tracked()] == [("x/a.md", a)]
        assert snapshot.count(Kind.NOTE, kept=None) == 2
    fitting = [
        Track("/r", "x/a.md", b, b"", 1, was=ExpectedFile(a, 1)),
        Track("/r/x", "b.md", a, b"", 1, was=ExpectedFile()),
    ]
    store.commit([*fitting, Track("/r", "x/a.md", a, b"", 1, was=ExpectedFile(b, 1))])
    assert store.check() == []


PATHS = st.sampled_from(["a.md", "b.md", "x/c.md", "x/r.csv", "r.jsonl"])
TEXTS = st.sampled_from(["[[a]] [[c]]\n", "# T\n\n[[b]]\n", "1\n2\n", "2\n3\n3\n", "[[T]] [[r]]\n", "v\n"])
ACTS = st.one_of(
    st.tuples(st.just("write"), PATHS, TEXTS),
    st.tuples(st.just("move"), PATHS, PATHS),
    st.tuples(st.just("unlink"), PATHS, st.none()),
    st.tuples(st.just("edit"), st.integers(0, 9), TEXTS),
    st.tuples(st.just("rm"), st.integers(0, 9), st.none()),
    st.tuples(st.just("undo"), st.integers(0, 9), st.none()),
    st.tuples(st.just("import"), st.booleans(), st.sampled_from(["", "x"])),
)


class Other:
    """Somebody else who works on the same space and folder."""

    def __init__(self, space: Space, folder: Path) -> None:
        self._space = space
        self._folder = folder

    def act(self, what: str, one: Any, other: Any) -> None:
        """Do one thing, if it can be done."""
        with self._space.store.reading() as snapshot:
            known = [note.id for note in snapshot.listing(Kind.NOTE)]
            past = [row.run for row in snapshot.runs() if row.status == "success"]
        if what == "write":
            write(self._folder, **{one: other})
        elif what == "unlink":
            (self._folder / one).unlink(missing_ok=True)
        elif what == "move" and (self._folder / one).exists():
            (self._folder / other).parent.mkdir(exist_ok=True)
            (self._folder / one).rename(self._folder / other)
        elif what == "edit" and known:
            self._space.store.commit([Revise(known[one % len(known)], other)])
        elif what == "rm" and known:
            self._space.store.commit([Delete(known[one % len(known)])])
        elif what == "undo" and past:
            self._undo(past[one % len(past)])
        elif what == "import":
            import_paths(self._space, [self._folder / other], NullListener(), prune=one)

    def _undo(self, run: str) -> None:
        try:
            undo(self._space.store, run)
        except Conflict:
            return


@settings(max_examples=60, deadline=None)
@example(between=[(2, ("write", "x/c.md", "[[a]] [[c]]\n"))], before=[("write", "a.md", "[[T]] [[r]]\n")], prune=False)
@given(
    st.lists(st.tuples(st.integers(0, 12), ACTS), max_size=8),
    st.lists(ACTS, max_size=4),
    st.booleans(),
)
def test_whatever_others_do_between_every_file_is_one_note(
    between: list[tuple[int, Any]], before: list[Any], prune: bool
) -> None:
    """Edits, removals, undoings, other imports and changes of the files, before any commits of an import."""
    with tempfile.TemporaryDirectory() as name, Space(open_store(":memory:", create=True)) as space:
        folder = write(Path(name) / "in", **{"a.md": "[[b]] [[c]]", "x/c.md": "# T\n", "x/r.csv": "v\n1\n2\n"})
        other = Other(space, folder)
        for act in before:
            other.act(*act)

        def meanwhile(number: int) -> None:
            for at, act in between:
                if at == number:
                    other.act(*act)

        store: Any = Overtaken(space.store, meanwhile)
        importing.BATCH, usual = 3, importing.BATCH
        try:
            import_paths(Space(store), [folder], NullListener(), prune=prune)
        finally:
            importing.BATCH = usual
        unread = len(add(space, folder, prune=True).failed)
        with Space(open_store(":memory:", create=True)) as fresh:
            count = add(fresh, folder).added
            files = notes(space)
            edits = [what for what, *_ in (*before, *(act for _, act in between)) if what == "edit"]
            assert len({note.id for note in files.values()}) == len(files)
            assert 0 <= len(files) - count <= len(edits) or unread
            with space.store.reading() as snapshot:
                assert {note.id for note in snapshot.listing(Kind.NOTE)} == {note.id for note in files.values()}
            assert is_settled(space)
            unedited = {
                path for path, one in notes(fresh).items() if path in files and files[path].content == one.content
            }
            here, there = ({one for one in arrows(at) if one[0] in unedited} for at in (space, fresh))
            same = here == there  # the links of an edited Note are those of its text
            assert same or len(files) > count or not has_one_root(space) or notes(space).keys() != notes(fresh).keys()
