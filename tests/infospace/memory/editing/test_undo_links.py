"""Links and their Relations are what the files say, whatever is deleted, edited and undone, and in which order."""

from __future__ import annotations

import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infospace import Space
from infospace.core.errors import Conflict
from infospace.core.ids import Kind
from infospace.core.resources import Relation
from infospace.editing.edit import edit, remove
from infospace.editing.undo import undo
from infospace.files.links import LABEL
from infospace.store.changes import MakeRelation
from infospace.store.sqlite import open_store

sys.path.insert(0, str(Path(__file__).parents[1]))

from imported import ACTS, IMPORT, TEXTS, Act, add, arrows, done, kept_things, notes, write


def agree(space: Space) -> None:
    """See that each link that leads somewhere has its Relation, and that no other Relation of a link is there."""
    assert space.store.check() == []
    with space.store.reading() as snapshot:
        links = {(note, link.to, link.relation) for note, found in snapshot.links().items() for link in found}
        found = [snapshot.get(one) for one in snapshot.relations()]
        assert all(
            cast("Relation", snapshot.get(link.relation)).relation == link.label
            for found in snapshot.links().values()
            for link in found
            if link.relation
        )
    there = {(one.source, one.target, one.id) for one in found if isinstance(one, Relation)}
    assert {link for link in links if link[1] not in (None, link[0])} == there


def state(space: Space) -> Any:
    """Return what is kept, the places of files, and links; no versions."""
    with space.store.reading() as snapshot:
        files = [(one.root, one.path, one.part, one.note) for one in snapshot.tracked()]
        return kept_things(snapshot), files, snapshot.links()


def nowhere(space: Space) -> set[str]:
    """Return the targets, as written, of links that lead nowhere."""
    with space.store.reading() as snapshot:
        return {link.target for links in snapshot.links().values() for link in links if link.to is None}


@pytest.fixture
def folder(space: Space, tmp_path: Path) -> Path:
    """An imported folder with links."""
    folder = write(tmp_path / "in", **{"a.md": "[[b]] [[c]]", "b.md": "b", "c.md": "c"})
    add(space, folder)
    return folder


def removed(space: Space, path: str) -> str:
    """Delete the Note of a file; return the run."""
    return remove(space.store, [notes(space)[path].id], "rm")


def edited(space: Space, path: str, text: str) -> str:
    """Edit the Note of a file; return the run."""
    return edit(space.store, notes(space)[path], text, {}, "edit") or ""


def undone(space: Space, run: str) -> str:
    """Undo a run, and see that links and Relations agree; return the run that this was."""
    by = undo(space.store, run).run
    agree(space)
    return by


def test_a_link_leads_nowhere_as_soon_as_its_target_is_deleted(space: Space, folder: Path) -> None:
    """And where it did when that is undone; an import in between has nothing to do."""
    before = state(space)
    run = removed(space, "b.md")
    assert nowhere(space) == {"b"}
    agree(space)
    (folder / "b.md").unlink()
    assert add(space, folder).run is None
    undone(space, run)
    assert state(space) == before


def test_an_import_that_brings_a_deleted_note_back_with_its_file_can_be_undone(space: Space, folder: Path) -> None:
    """The link leads nowhere again, and after the deletion is undone, where it did at first."""
    states = [state(space)]
    runs = [removed(space, "b.md")]
    states.append(state(space))
    write(folder, **{"b.md": "changed"})
    runs.append(add(space, folder).run or "")
    assert nowhere(space) == set()
    for run in reversed(runs):
        undone(space, run)
        assert state(space) == states.pop()


@pytest.mark.parametrize("text", ["[[c]]", "no link"])
def test_a_note_that_an_import_brought_back_has_its_own_links_when_both_are_undone(
    space: Space, tmp_path: Path, text: str
) -> None:
    """And not those of the file by which it came back in between."""
    folder = write(tmp_path / "in", **{"a.md": "a", "b.md": "[[a]]", "c.md": "c"})
    add(space, folder)
    before = state(space)
    gone = removed(space, "b.md")
    write(folder, **{"b.md": text})
    undone(space, add(space, folder).run or "")
    undone(space, gone)
    assert state(space) == before
    assert arrows(space) == {("b.md", "a.md")}


def test_a_run_that_changed_nothing_but_where_a_link_leads_can_be_undone(space: Space, folder: Path) -> None:
    """The Note with the link is what was reverted, and a Relation that somebody made before is no link's to take."""
    a, b = (notes(space)[path].id for path in ("a.md", "b.md"))
    write(folder, **{"a.md": "[[later]]"})
    add(space, folder)
    space.store.commit([MakeRelation(space.store.new_id(Kind.RELATION), a, b, LABEL, kept=True)])
    before = state(space)
    (folder / "b.md").rename(folder / "later.md")
    done_by = undo(space.store, add(space, folder).run or "")
    assert (done_by.deleted, done_by.restored, done_by.reverted) == ([], [], [b, a])
    assert state(space) == before


def test_a_link_that_was_taken_out_meanwhile_gets_no_relation_back_with_its_target(space: Space, folder: Path) -> None:
    """Until the edit that took it out is undone as well; done again, it takes it out again."""
    gone = removed(space, "b.md")
    taken_out = edited(space, "a.md", "[[c]] only")
    undone(space, gone)
    assert arrows(space) == {("a.md", "c.md")}
    back = undone(space, taken_out)
    assert arrows(space) == {("a.md", "b.md"), ("a.md", "c.md")}
    undone(space, back)
    assert arrows(space) == {("a.md", "c.md")}


def test_a_link_comes_back_without_its_target_and_then_with_it(space: Space, folder: Path) -> None:
    """Undoing the edit that took it out, and then the deletion, which was the later one."""
    before = state(space)
    taken_out = edited(space, "a.md", "[[c]] only")
    gone = removed(space, "b.md")
    undone(space, taken_out)
    assert nowhere(space) == {"b"}
    undone(space, gone)
    assert state(space) == before


@pytest.mark.parametrize("first", ["a.md", "b.md"])
def test_both_ends_of_a_link_come_back_in_either_order(space: Space, folder: Path, first: str) -> None:
    """Its Relation comes with the second."""
    before = state(space)
    runs = {path: removed(space, path) for path in ("a.md", "b.md")}
    undone(space, runs.pop(first))
    assert ("a.md", "b.md") not in arrows(space)
    undone(space, *runs.values())
    assert state(space) == before


def test_a_relation_of_somebodys_own_does_not_come_back_to_what_is_deleted(space: Space, folder: Path) -> None:
    """What is gone is named, and nothing is done; afterwards it can be."""
    a, b = (notes(space)[path].id for path in ("a.md", "b.md"))
    own = space.store.new_id(Kind.RELATION)
    space.store.commit([MakeRelation(own, a, b, "cites", kept=True)])
    deleted = remove(space.store, [own], "rm")
    gone = removed(space, "b.md")
    before = state(space)
    with pytest.raises(Conflict, match=f"{deleted} cannot be undone, since {own} ends at {b}, which was deleted"):
        undo(space.store, deleted)
    assert state(space) == before
    undone(space, gone)
    assert undo(space.store, deleted).restored == [own]


def test_a_links_relation_that_was_deleted_by_hand_stays_away_through_undoings(space: Space, folder: Path) -> None:
    """Until that deletion is undone."""
    before = state(space)
    with space.store.reading() as snapshot:
        relation = next(link.relation for link in snapshot.links()[notes(space)["a.md"].id] if link.target == "b")
    by_hand = remove(space.store, [relation or ""], "rm")
    undo(space.store, removed(space, "b.md"))
    undo(space.store, edited(space, "a.md", "[[b]] [[c]] [[d]]"))
    assert arrows(space) == {("a.md", "c.md")}
    assert nowhere(space) == set()
    assert space.store.check() == []
    undone(space, by_hand)
    assert state(space) == before


def test_a_relation_that_was_removed_for_good_is_made_anew(space: Space, folder: Path) -> None:
    """When undoing has a link lead there again."""
    write(folder, **{"x/a.md": "[[b]]"})
    add(space, folder)
    before = arrows(space)
    write(folder, **{"x/b.md": "nearer"})
    run = add(space, folder).run or ""
    space.store.purge(really=True)
    undone(space, run)
    assert arrows(space) == before


MORE = st.one_of(
    ACTS,
    st.tuples(st.just("edit"), st.integers(0, 9), TEXTS),
    st.tuples(st.just("rm"), st.integers(0, 9), st.none()),
    st.tuples(st.just("undo"), st.integers(0, 6), st.none()),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(MORE, max_size=14))
def test_links_and_relations_agree_after_anything_that_is_done_and_undone(acts: list[Act]) -> None:
    """In any order, also where undoing one thing is refused."""
    with tempfile.TemporaryDirectory() as name, Space(open_store(":memory:", create=True)) as space:
        folder = write(Path(name), **{"a.md": "[[b]] [[c]]", "b.md": "[[a]]"})
        runs: list[str] = []
        for act in (IMPORT, *acts, IMPORT):
            run = None
            if act[0] != "undo":
                run = done(space, folder, act)
            elif runs:
                with suppress(Conflict):
                    run = undo(space.store, runs[-1 - act[1] % len(runs)]).run
            runs += [run] if run else []
            agree(space)


@settings(max_examples=60, deadline=None)
@given(st.lists(ACTS, max_size=10))
def test_undoing_everything_backwards_goes_through_the_same_states(acts: list[Act]) -> None:
    """The last thing first, down to an empty space."""
    with tempfile.TemporaryDirectory() as name, Space(open_store(":memory:", create=True)) as space:
        folder = write(Path(name), **{"a.md": "[[b]] [[c]]", "b.md": "[[a]]"})
        states: list[tuple[str, Any]] = []
        for act in (IMPORT, *acts, IMPORT):
            before = state(space)
            run = done(space, folder, act)
            states += [(run, before)] if run else []
        for run, before in reversed(states):
            undo(space.store, run)
            assert state(space) == before
            assert space.store.check() == []
