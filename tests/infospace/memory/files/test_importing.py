"""Files become Notes, and stay the same Notes whatever happens to the files."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infospace import Space, open_space
from infospace.context.invoke import call_directly
from infospace.core.errors import NotFound
from infospace.core.ids import Kind, number_of
from infospace.core.listener import NullListener
from infospace.core.resources import CreatedBy
from infospace.editing.edit import edit, remove
from infospace.editing.undo import undo
from infospace.files import import_files as importing
from infospace.files.export import export, write_back
from infospace.files.file_times import of_file_system
from infospace.files.formats.row_diff import align
from infospace.files.import_files import Summary, import_paths
from infospace.search.query import Hit
from infospace.store.changes import Revise
from primitives.query import query

sys.path.insert(0, str(Path(__file__).parents[1]))

from imported import add, arrows, contents, counts, notes, runs, write


def test_again_nothing_is_done_and_no_run_is_left(space: Space, tmp_path: Path) -> None:
    """An import that finds nothing new leaves no trace."""
    folder = write(tmp_path / "in", **{"a.md": "see [[b]]", "b.csv": "x\n1\n"})
    assert add(space, folder).run == "run_1"
    again = add(space, folder)
    assert (counts(again), again.run) == ({"unchanged": 2}, None)
    assert runs(space) == [("import", "success")]


def test_a_change_is_a_version_and_a_move_is_none(space: Space, tmp_path: Path) -> None:
    """Vanished path and the same bytes: the same Note, where it is now."""
    folder = write(tmp_path / "in", **{"a.md": "one", "x/b.md": "two", "c.md": "three"})
    add(space, folder)
    before = notes(space)
    write(folder, **{"a.md": "one, changed"})
    (folder / "y").mkdir()
    (folder / "x/b.md").rename(folder / "y/d.md")
    assert counts(add(space, folder)) == {"changed": 1, "moved": 1, "unchanged": 1}
    after = notes(space)
    assert (after["a.md"].id, after["a.md"].version, after["a.md"].content) == (before["a.md"].id, 2, "one, changed")
    assert (after["y/d.md"].id, after["y/d.md"].version) == (before["x/b.md"].id, 1)
    assert "x/b.md" not in after


def test_a_move_to_another_format_is_read_anew(space: Space, tmp_path: Path) -> None:
    """The same bytes say more as Markdown than as text."""
    folder = write(tmp_path / "in", **{"a.txt": "# Title\n"})
    add(space, folder)
    (folder / "a.txt").rename(folder / "a.md")
    assert counts(add(space, folder)) == {"changed": 1, "moved": 1}
    assert notes(space)["a.md"].metadata == {"title": "Title"}
    assert counts(add(space, folder)) == {"unchanged": 1}


def test_what_was_touched_and_says_the_same_is_unchanged(space: Space, tmp_path: Path) -> None:
    """Other line ends are other bytes and the same Note: no version, no run."""
    folder = write(tmp_path / "in", **{"a.md": "one\ntwo"})
    add(space, folder)
    write(folder, **{"a.md": "one\r\ntwo"})
    again = add(space, folder)
    assert (counts(again), again.run, notes(space)["a.md"].version) == ({"unchanged": 1}, None, 1)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv"])
def test_of_rows_only_what_changed_is_taken(space: Space, tmp_path: Path, name: str) -> None:
    """Rows are known again by what they hold, so that one put on top moves none of the others."""
    head = "v\n" if name.endswith("csv") else ""
    folder = write(tmp_path / "in", **{name: head + "1\n2\n3\n4\n"})
    add(space, folder)
    before = {note.id: note.content for note in notes(space).values()}
    write(folder, **{name: head + "0\n1\n22\n3\n"})
    summary = add(space, folder)
    assert counts(summary) == {"added": 1, "changed": 1, "unchanged": 2, "vanished": 1}
    after = {note.id: note.content for note in notes(space).values()}
    assert len(after) == 5
    assert sum(before.get(key) == value for key, value in after.items()) == 3
    assert counts(add(space, folder, prune=True)) == {"unchanged": 4, "removed": 1}
    assert len(notes(space)) == 4


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(b"abcd"), max_size=8), st.lists(st.sampled_from(b"abcd"), max_size=8))
def test_rows_are_matched_once_and_the_same_ones_first(old: list[int], new: list[int]) -> None:
    """As many equal rows are recognised as there are, and none stands for two."""
    before, after = [bytes([one]) for one in old], [bytes([one]) for one in new]
    found = align(before, after)
    used = [index for index in found if index is not None]
    assert len(used) == len(set(used))
    equal = sum(index is not None and before[index] == after[at] for at, index in enumerate(found))
    assert equal == sum(min(before.count(one), after.count(one)) for one in set(before))
    assert align(before, before) == list(range(len(before)))


def test_bad_files_are_named_and_the_rest_goes_on(space: Space, tmp_path: Path) -> None:
    """Each with a reason; a bad row spoils neither its file nor the import."""
    folder = write(
        tmp_path / "in",
        **{
            "bad.md": b"\xff\xfe\xfd",
            "front.md": "---\na: [\n---\n",
            "good.md": "good",
            "bin.txt": b"a\0b",
            "bad.json": "{",
            "rows.jsonl": '1\n{"a": 1, "a": 2}\n3\n',
            "head.csv": "a,a\n1,2\n",
            "wide.csv": "a,b\n1,2\n1,2,3\n",
            "page.html": b"<meta charset=utf-8><p>\xff</p>",
            "paper.pdf": b"%PDF-1.4 no more",
        },
    )
    os.mkfifo(folder / "pipe.md")
    (folder / "out.md").symlink_to("/etc/hostname")
    summary = add(space, folder)
    assert counts(summary) == {"added": 5}
    assert sorted(contents(space)) == ["front.md", "good.md", "rows.jsonl#1", "rows.jsonl#3", "wide.csv#1"]
    reasons = {Path(one["path"]).name: one["reason"] for one in summary.failed}
    assert set(reasons) == {
        *("bad.md", "bin.txt", "bad.json", "rows.jsonl", "head.csv", "wide.csv", "page.html", "paper.pdf"),
        *("pipe.md", "out.md"),
    }
    for name, word in {
        "rows.jsonl": "line 2",
        "wide.csv": "row 2",
        "out.md": "leads out",
        "pipe.md": "regular",
    }.items():
        assert word in reasons[name]


def test_a_file_that_vanishes_while_reading_is_reported(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between listing and reading anything may happen."""
    folder = write(tmp_path / "in", **{"a.md": "a", "b.md": "b", "c.md": "c"})

    class Thief(NullListener):
        def progress(self, done: int, total: int, what: str) -> None:  # noqa: ARG002
            (folder / "b.md").unlink(missing_ok=True)

    summary = import_paths(space, [folder], Thief())
    assert counts(summary) == {"added": 2}
    assert "not there any more" in summary.failed[0]["reason"]


def test_an_interruption_keeps_what_there_is_and_can_go_on(space: Space, tmp_path: Path) -> None:
    """The run is closed as cancelled; the next import takes the rest."""
    folder = write(tmp_path / "in", **{f"{at}.md": f"note {at}" for at in range(5)})

    class Impatient(NullListener):
        def progress(self, done: int, total: int, what: str) -> None:  # noqa: ARG002
            if done == 3:
                raise KeyboardInterrupt

    summary = Summary()
    with pytest.raises(KeyboardInterrupt):
        import_paths(space, [folder], Impatient(), summary=summary)
    assert (summary.added, len(notes(space)), runs(space)) == (3, 3, [("import", "cancelled")])
    assert counts(add(space, folder)) == {"added": 2, "unchanged": 3}


def test_a_missing_path_is_an_error(space: Space, tmp_path: Path) -> None:
    """Nothing is imported, and no run is left."""
    with pytest.raises(NotFound, match="cannot be found: No such file or directory"):
        add(space, tmp_path / "nowhere")
    assert runs(space) == []


def test_a_file_then_its_folder_then_the_folder_above_stay_the_same_notes(space: Space, tmp_path: Path) -> None:
    """Whatever is imported first, a file is one Note, known by the folder by which it came."""
    write(tmp_path / "in", **{"b.md": "b", "x/a.md": "a", "x/y/c.md": "c"})
    add(space, tmp_path / "in/x/a.md")
    first = notes(space)["a.md"].id
    assert counts(add(space, tmp_path / "in/x")) == {"added": 1, "unchanged": 1}
    assert sorted(notes(space)) == ["a.md", "y/c.md"]
    assert counts(add(space, tmp_path / "in")) == {"added": 1, "unchanged": 2}
    assert sorted(notes(space)) == ["a.md", "b.md", "y/c.md"]
    assert notes(space)["a.md"].id == first
    assert counts(add(space, tmp_path / "in/x/y")) == {"unchanged": 1}
    with space.store.reading() as snapshot:
        assert snapshot.count(Kind.NOTE) == 3
        roots = [(one.path, one.root) for one in snapshot.tracked()]
    inner, outer = (str((tmp_path / name).resolve()) for name in ("in/x", "in"))
    assert sorted(roots) == [("a.md", inner), ("b.md", outer), ("y/c.md", inner)]


def test_a_file_that_moved_out_of_what_was_imported_alone_is_followed(space: Space, tmp_path: Path) -> None:
    """Though it comes under a wider root; the Note stays, and undoing brings it back."""
    folder = write(tmp_path / "in", **{"x/c.md": "c", "x/d.md": "d"})
    add(space, folder / "x")
    before = {note.content: note.id for note in notes(space).values()}
    (folder / "x/c.md").rename(folder / "a.md")
    summary = add(space, folder)
    assert counts(summary) == {"moved": 1, "unchanged": 1}
    assert {path: note.id for path, note in notes(space).items()} == {"a.md": before["c"], "d.md": before["d"]}
    undo(space.store, str(summary.run))
    assert {path: note.id for path, note in notes(space).items()} == {"c.md": before["c"], "d.md": before["d"]}


def test_edited_here_and_in_the_file_is_said_and_both_are_kept(space: Space, tmp_path: Path) -> None:
    """The file is the latest version, the edit the one before."""
    folder = write(tmp_path / "in", **{"a.md": "one", "b.md": "two"})
    add(space, folder)
    known = notes(space)
    space.store.commit([Revise(known["a.md"].id, "mine"), Revise(known["b.md"].id, "mine too")])
    assert counts(add(space, folder)) == {"unchanged": 2}
    write(folder, **{"a.md": "theirs"})
    summary = add(space, folder)
    path = str((folder / "a.md").resolve())
    conflict = {"path": path, "id": known["a.md"].id, "edited_version": 2, "version": 3}
    assert (counts(summary), summary.conflicts) == ({"changed": 1, "unchanged": 1}, [conflict])
    with space.store.reading() as snapshot:
        assert [snapshot.get(known["a.md"].id, at).content for at in (1, 2, 3)] == ["one", "mine", "theirs"]
        assert snapshot.get(known["b.md"].id).content == "mine too"


def test_edited_here_as_in_the_file_is_no_conflict(space: Space, tmp_path: Path) -> None:
    """Who says the same does not disagree."""
    folder = write(tmp_path / "in", **{"a.md": "one"})
    add(space, folder)
    space.store.commit([Revise(notes(space)["a.md"].id, "two", created_by=CreatedBy(None, None, "edit"))])
    write(folder, **{"a.md": "two"})
    summary = add(space, folder)
    assert (counts(summary), summary.conflicts, notes(space)["a.md"].version) == ({"unchanged": 1}, [], 2)


def test_pruning_deletes_what_lost_its_file_in_the_folders_given(space: Space, tmp_path: Path) -> None:
    """Not elsewhere, not without being asked, and not what was edited here."""
    write(tmp_path / "in", **{"a.md": "a", "b.md": "b", "edited.md": "e"})
    write(tmp_path / "other", **{"c.md": "c"})
    add(space, tmp_path / "in", tmp_path / "other")
    edited = notes(space)["edited.md"].id
    space.store.commit([Revise(edited, "mine")])
    for name in ("in/a.md", "in/edited.md", "other/c.md"):
        (tmp_path / name).unlink()
    assert counts(add(space, tmp_path / "in")) == {"unchanged": 1, "vanished": 2}
    summary = add(space, tmp_path / "in", prune=True)
    assert counts(summary) == {"unchanged": 1, "removed": 1, "vanished": 1}
    assert [one["id"] for one in summary.conflicts] == [edited]
    assert sorted(notes(space)) == ["b.md", "c.md", "edited.md"]


def test_a_note_that_was_edited_and_lost_its_file_is_a_conflict_only_where_it_was_to_be_deleted(
    space: Space, tmp_path: Path
) -> None:
    """Without pruning it is counted and nothing more: nobody wanted it gone."""
    folder = write(tmp_path / "in", **{"a.md": "a"})
    add(space, folder)
    edited = notes(space)["a.md"].id
    space.store.commit([Revise(edited, "mine")])
    (folder / "a.md").unlink()
    kept = add(space, folder)
    assert (counts(kept), kept.conflicts) == ({"vanished": 1}, [])
    [conflict] = add(space, folder, prune=True).conflicts
    assert (conflict["id"], conflict["edited_version"], conflict["version"]) == (edited, 2, None)


def test_a_line_is_called_by_its_number_whatever_stands_before_it(space: Space, tmp_path: Path) -> None:
    """Blank lines count, and a line that comes later never gets the number of one that was there."""
    folder = write(tmp_path / "in", **{"a.jsonl": "1\n\n\n2\n"})
    add(space, folder)
    assert contents(space) == {"a.jsonl#1": 1, "a.jsonl#4": 2}
    write(folder, **{"a.jsonl": "1\n3\n2\n"})
    add(space, folder)
    assert contents(space) == {"a.jsonl#1": 1, "a.jsonl#4": 2, "a.jsonl#5": 3}


def test_a_row_that_was_removed_here_is_none_of_another_file(space: Space, tmp_path: Path) -> None:
    """Rows are told apart by file as well as by what they say."""
    folder = write(tmp_path / "in", **{"a.csv": "v\n1\n2\n3\n"})
    add(space, folder)
    remove(space.store, [notes(space)["a.csv#3"].id], "rm")
    write(folder, **{"b.csv": "v\n3\n"})
    summary = add(space, folder)
    assert counts(summary) == {"added": 1, "unchanged": 2}
    assert [Path(one["path"]).name for one in summary.left_out] == ["a.csv"]
    assert contents(space) == {"a.csv#1": {"v": "1"}, "a.csv#2": {"v": "2"}, "b.csv#1": {"v": "3"}}


def test_names_that_differ_in_case_are_files_of_their_own(space: Space, tmp_path: Path) -> None:
    """Where the file system has both, so has the space, and the import says so; names are kept in NFC."""
    folder = write(tmp_path / "in", **{"A.md": "1", "a.md": "2", "e\u0301.md": "3", "x/a.md": "4"})
    summary = add(space, folder, folder / "a.md")
    assert counts(summary) == {"added": 4}
    assert sorted(notes(space)) == ["A.md", "a.md", "x/a.md", "é.md"]
    [warning] = summary.warnings
    assert warning["path"] == str(folder / "a.md")
    assert warning["reason"].startswith(f"it differs from {str(folder / 'A.md')!r} by upper and lower case alone")


def test_an_alias_by_which_no_link_leads_is_told_once(space: Space, tmp_path: Path) -> None:
    """Another file is named or titled so: also where two files have each other's names for aliases."""
    one, two = "---\naliases: [Two, mine]\n---\n# One\n", "---\naliases: [one, Three]\n---\nb\n"
    folder = write(tmp_path / "in", **{"one.md": one, "two.md": two, "x/3.md": "# Three\n", "4.md": "c"})
    told = {(warning["path"], warning["reason"]) for warning in add(space, folder).warnings}
    assert told == {
        (str(folder / "one.md"), "its alias 'Two' is the name of 'two.md', to which [[Two]] leads"),
        (str(folder / "two.md"), "its alias 'one' is the name of 'one.md', to which [[one]] leads"),
        (str(folder / "two.md"), "its alias 'Three' is the title of 'x/3.md', to which [[Three]] leads"),
    }
    write(folder, **{"4.md": "changed"})
    assert add(space, folder).warnings == []


def test_a_folder_of_a_whole_file_of_rows_moves_with_it(space: Space, tmp_path: Path) -> None:
    """Rows are recognised in the file's new place."""
    folder = write(tmp_path / "in", **{"a.jsonl": "1\n2\n"})
    add(space, folder)
    before = {note.id for note in notes(space).values()}
    shutil.move(folder / "a.jsonl", folder / "b.jsonl")
    assert counts(add(space, folder)) == {"moved": 2}
    assert {note.id for note in notes(space).values()} == before


def test_a_space_in_which_nothing_changed_is_not_written_to(tmp_path: Path) -> None:
    """Adding again leaves even the file alone."""
    folder = write(tmp_path / "in", **{"a.md": "[[b]]", "b.md": "b", "c.json": json.dumps({"k": 1})})
    with open_space(tmp_path / "x.db") as space:
        add(space, folder)
        with space.store.reading() as snapshot:
            generation = snapshot.generation
        add(space, folder)
        with space.store.reading() as snapshot:
            assert snapshot.generation == generation


def test_a_search_result_says_where_the_file_of_its_note_is(space: Space, tmp_path: Path) -> None:
    """Its own `uri` goes before; what has no file, or no longer, has none."""
    folder = write(tmp_path / "my notes", **{"ä.md": "tea", "own.md": "---\nuri: https://example.org/tea\n---\ntea"})
    add(space, folder)
    kept = notes(space)
    view = space.context()
    alone = view.note("tea")
    view.keep(alone)
    ids = [kept["ä.md"].id, kept["own.md"].id, alone.id]
    found = view.collection([view.search_result(Hit(one, 1, 0.5, None, None)) for one in ids])
    space.store.commit(view.changes)

    def uris() -> list[str | None]:
        return [hit["metadata"]["uri"] for hit in space.context().content(space.context().get(found.id))]

    assert uris() == [(folder / "ä.md").as_uri(), "https://example.org/tea", None]
    (folder / "ä.md").rename(folder / "b.md")
    add(space, folder)
    assert uris()[0] == (folder / "b.md").as_uri()


def test_an_import_whose_listener_breaks_off_has_ended_and_can_be_undone(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fails with what it has by then, and says why."""
    monkeypatch.setattr(importing, "BATCH", 1)
    folder = write(tmp_path / "in", **{f"{name}.md": name for name in "abc"})

    class Closed(NullListener):
        def progress(self, done: int, total: int, what: str) -> None:
            if done == 2:
                raise BrokenPipeError(f"{what} {done} of {total}")

    with pytest.raises(BrokenPipeError, match="reading 2 of 3"):
        import_paths(space, [folder], Closed())
    with space.store.reading() as snapshot:
        (run,) = snapshot.runs()
    assert (run.status, run.reason) == ("failed", "BrokenPipeError: reading 2 of 3")
    assert set(notes(space)) == {"a.md", "b.md"}
    undo(space.store, run.run)
    assert notes(space) == {}


def test_what_is_not_taken_is_told_with_its_reason(space: Space, tmp_path: Path) -> None:
    """In the order in which it is found; it is no failure."""
    write(tmp_path / "in", **{"a.md": "a", "b.bin": "", "LICENSE": ""})
    summary = import_paths(space, [tmp_path / "in"], NullListener())
    assert summary.skipped == [
        {"path": str(tmp_path / "in" / "LICENSE"), "reason": "has no suffix", "files": 1},
        {"path": str(tmp_path / "in" / "b.bin"), "reason": "is .bin, which is not read", "files": 1},
    ]
    assert (summary.added, summary.failed) == (1, [])


def rows_of(space: Space, sql: str) -> list[dict[str, Any]]:
    """Return the rows of a query over the space's tables."""
    found = asyncio.run(call_directly(query, {"sql": sql}, space.context(scratch=True)))
    assert found.status == "success", found.reason
    return list(found.data)


UNREADABLE = "---\ntitle: [x\nstatus: open\n---\n# Kept\n\n- [ ] call #now\n\n[[b]]\n"


@pytest.mark.parametrize(
    ("document", "why", "task"),
    [
        (UNREADABLE, "the front matter cannot be read at line 3: expected", 7),
        ("---\na: 1\na: 2\n---\n- [ ] call #now\n", "the key 'a' stands there a second time", 5),
        ("---\nstatus: open\n\n- [ ] call #now\n", "the front matter has no line `---` at its end", 4),
    ],
)
def test_a_note_whose_front_matter_cannot_be_read_is_there_as_text(
    space: Space, tmp_path: Path, document: str, why: str, task: int
) -> None:
    """One sentence says so, and what follows the front matter is read as ever; nothing in it is a heading."""
    folder = write(tmp_path / "in", **{"a.md": document, "b.md": ""})
    summary = add(space, folder)
    assert (counts(summary), summary.failed) == ({"added": 2}, [])
    [warning] = summary.warnings
    assert warning["path"].endswith("a.md")
    assert why in warning["reason"]
    assert warning["reason"].endswith("kept as text, without properties")
    note = notes(space)["a.md"]
    assert note.content == document
    assert "status" not in note.metadata
    assert rows_of(space, "SELECT line, text FROM items WHERE kind <> 'heading'") == [
        {"line": task, "text": "call #now"}
    ]
    assert {row["text"] for row in rows_of(space, "SELECT text FROM items WHERE kind = 'heading'")} <= {"Kept"}
    assert counts(add(space, folder)) == {"unchanged": 2}
    assert add(space, folder).warnings == []


def test_an_unreadable_front_matter_survives_export_and_an_edit_that_is_undone(space: Space, tmp_path: Path) -> None:
    """A property comes above it, and goes again with the front matter that was made for it."""
    folder = write(tmp_path / "in", **{"a.md": UNREADABLE, "b.md": "text\n"})
    add(space, folder)
    export(space.store, tmp_path / "out")
    assert [(tmp_path / "out" / name).read_text() for name in ("a.md", "b.md")] == [UNREADABLE, "text\n"]
    for name, before in (("a.md", UNREADABLE), ("b.md", "text\n")):
        note = notes(space)[name]
        run = edit(space.store, note, note.content, {**note.metadata, "status": "done"}, "edit")
        assert write_back(space.store).failed == []
        assert (folder / name).read_text() == f"---\nstatus: done\n---\n\n{before}"
        assert counts(add(space, folder)) == {"unchanged": 2}
        undo(space.store, str(run))
        assert write_back(space.store).failed == []
        assert (folder / name).read_text() == before


def test_a_number_is_a_title(space: Space, tmp_path: Path) -> None:
    """In lists, for links, and to a search for words; as a property it stays the number."""
    add(space, write(tmp_path / "in", **{"a.md": "---\ntitle: 2026\n---\ntext", "b.md": "[[2026]]"}))
    note = notes(space)["a.md"]
    assert note.metadata["title"] == 2026
    assert arrows(space) == {("b.md", "a.md")}
    with space.store.reading() as snapshot:
        assert [one.title for one in snapshot.briefs([note.id])] == ["2026"]
        words = snapshot.keyword_matches("2026")
    assert words is not None
    assert number_of(note.id) in words.numbers
    assert [row["title"] for row in rows_of(space, "SELECT title FROM notes ORDER BY title")] == ["2026", "b"]


def test_a_note_that_was_removed_here_stays_so_until_its_file_changes(space: Space, tmp_path: Path) -> None:
    """Then it comes back as the same note with all its versions, and so do links from it and to it."""
    folder = write(tmp_path / "in", **{"a.md": "[[b]]", "b.md": "[[a]]", "c.md": "[[b]]", "t.csv": "v\n1\n2\n"})
    add(space, folder)
    known = {path: note.id for path, note in notes(space).items()}
    remove(space.store, [known["b.md"], known["t.csv#1"]], "rm")
    summary = add(space, folder)
    assert (counts(summary), summary.run) == ({"unchanged": 3}, None)
    assert [(Path(one["path"]).name, one["id"]) for one in summary.left_out] == [
        ("b.md", known["b.md"]),
        ("t.csv", known["t.csv#1"]),
    ]
    write(folder, **{"b.md": "[[a]] and [[c]]"})
    back = add(space, folder)
    assert counts(back) == {"unchanged": 3, "restored": 1}
    note = notes(space)["b.md"]
    assert (note.id, note.version, note.content) == (known["b.md"], 2, "[[a]] and [[c]]")
    assert arrows(space) == {("a.md", "b.md"), ("b.md", "a.md"), ("b.md", "c.md"), ("c.md", "b.md")}
    assert counts(add(space, folder / "t.csv")) == {"unchanged": 1, "restored": 1}
    assert notes(space)["t.csv#1"].id == known["t.csv#1"]
    assert counts(add(space, folder)) == {"unchanged": 5}
    undo(space.store, str(back.run))
    assert arrows(space) == set()
    assert space.store.check() == []


def test_a_note_that_comes_back_has_the_properties_of_its_file(space: Space, tmp_path: Path) -> None:
    folder = write(tmp_path / "in", **{"a.md": "---\nk: 1\n---\na"})
    add(space, folder)
    note = notes(space)["a.md"].id
    remove(space.store, [note], "rm")
    write(folder, **{"a.md": "---\nk: 2\nl: 3\n---\na"})
    assert counts(add(space, folder)) == {"restored": 1}
    back = notes(space)["a.md"]
    assert (back.id, back.content, back.metadata) == (note, "a", {"k": 2, "l": 3})


def test_a_file_is_as_old_as_the_earlier_of_its_times(tmp_path: Path) -> None:
    """Where the file system keeps no birth: a file that was copied with its time is older than its entry."""
    file = tmp_path / "a.md"
    file.write_text("a")
    os.utime(file, (1_000_000_000, 1_000_000_000))
    if hasattr(file.stat(), "st_birthtime"):
        pytest.skip("the file system keeps births")
    assert of_file_system(file) == ("2001-09-09T01:46:40.000Z",) * 2


def test_a_note_whose_file_was_gone_is_new_when_a_file_is_there_again(space: Space, tmp_path: Path) -> None:
    """Nobody removed it here: the import did, since its file was gone, or an import was undone."""
    folder = write(tmp_path / "in", **{"a.md": "a", "b.md": "b"})
    add(space, folder)
    (folder / "b.md").unlink()
    add(space, folder, prune=True)
    write(folder, **{"b.md": "b"})
    assert counts(add(space, folder)) == {"added": 1, "unchanged": 1}
    other = write(tmp_path / "other", **{"c.md": "c"})
    undo(space.store, str(add(space, other).run))
    assert counts(add(space, other)) == {"added": 1}


def test_an_alias_is_told_to_be_idle_once_a_file_comes_that_is_called_so(space: Space, tmp_path: Path) -> None:
    """Though the file with the alias did not change."""
    folder = write(tmp_path / "in", **{"one.md": "---\naliases: [Two]\n---\n"})
    assert add(space, folder).warnings == []
    write(folder, **{"two.md": "b"})
    reason = "its alias 'Two' is the name of 'two.md', to which [[Two]] leads"
    assert add(space, folder).warnings == [{"path": str(folder / "one.md"), "reason": reason}]
