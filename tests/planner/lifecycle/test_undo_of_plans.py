"""A run of a plan is undone: everything kept is as it was, whatever wrote it; or nothing is, since it changed since."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from infospace import Space, open_space
from infospace.core.errors import Conflict, Invalid
from infospace.core.ids import Kind
from infospace.core.resources import Collection
from infospace.editing.undo import undo
from planner.execute.start import run_sync
from planner.parse.saved_plans import save_plan

BASE = [
    {"type": "create-note", "value": {"k": 1}, "metadata": {"m": 1}, "name": "a", "out": "$a"},
    {"type": "create-note", "value": "b", "name": "b", "out": "$b"},
    {"type": "create-note", "value": "c", "name": "c", "out": "$c"},
    {"type": "create-collection", "value": ["$a", "$b"], "name": "list", "out": "$list"},
    {"type": "create-relation", "source": "$a", "target": "$b", "relation": "is", "name": "arrow"},
]

NOTES = ("a", "b", "c")

WRITES: dict[str, list[dict[str, Any]]] = {
    "add": [{"type": "add", "target": "list", "value": "c"}],
    "add of a collection": [
        {"type": "create-collection", "value": ["x", "y"], "out": "$more"},
        {"type": "add", "target": "list", "value": "$more"},
    ],
    "name": [{"type": "name", "target": "a", "value": "other"}],
    "name that is taken": [{"type": "name", "target": "b", "value": "a", "replace": True}],
    "persist": [
        {"type": "create-collection", "value": [1, 2], "out": "$new"},
        {"type": "persist", "target": "$new", "name": "new"},
    ],
    "a step's name": [{"type": "create-note", "value": 1, "name": "new"}],
    "a step's name that is taken": [{"type": "create-note", "value": 1, "name": "a", "replace": True}],
    "take out": [{"type": "remove", "target": "list", "value": "a"}],
    "remove": [{"type": "remove", "target": "a"}],
    "remove a collection": [{"type": "remove", "target": "list"}],
    "remove a relation": [{"type": "remove", "target": "arrow"}],
    "set-metadata": [{"type": "set-metadata", "target": name, "value": {"k": 2}} for name in ("a", "list", "arrow")],
    "update-note": [{"type": "update-note", "target": "a", "value": {"k": 2}, "metadata": {"m": 2}}],
    "update-note that merges": [{"type": "update-note", "target": "a", "value": {"l": 2}, "merge": True}],
    "create-relation": [{"type": "create-relation", "source": "c", "target": "a", "relation": "cites", "name": "new"}],
    "for-each": [
        {
            "type": "for-each",
            "target": "list",
            "as": "$item",
            "do": [{"type": "set-metadata", "target": "$item", "value": {"seen": True}}],
        }
    ],
    "map": [{"type": "map", "target": "list", "operation": {"type": "set-metadata", "value": {"seen": True}}}],
    "saved plan": [{"type": "plan:change"}],
    "several of one": [
        {"type": "load", "target": "a", "out": "$a"},
        {"type": "update-note", "target": "$a", "value": 1},
        {"type": "set-metadata", "target": "$a", "value": {"x": 1}},
        {"type": "name", "target": "$a", "value": "first"},
        {"type": "name", "target": "$a", "value": "second"},
        {"type": "remove", "target": "list", "value": "$a"},
        {"type": "remove", "target": "$a"},
    ],
}


def kept(space: Space) -> Any:
    """Return what is kept, without version numbers."""
    with space.store.reading() as snapshot:
        return [
            (one.id, one.content, dict(one.metadata), one.name)
            + (tuple(one.members) if isinstance(one, Collection) else ())
            for kind in Kind
            for one in snapshot.listing(kind)
        ]


def ran(space: Space, *steps: Any) -> str:
    """Run steps, which succeed; return the run."""
    result = run_sync(space, list(steps))
    assert result.status == "success", (result.reason, result.problems)
    assert result.run is not None
    return result.run


@pytest.fixture
def based(space: Space) -> Space:
    """A space with three Notes, a Collection of two, a Relation between them, and a saved plan."""
    ran(space, *BASE)
    save_plan(space, "change", {"steps": [{"type": "update-note", "target": "b", "value": "changed by a saved plan"}]})
    return space


@pytest.mark.parametrize("name", WRITES)
def test_what_a_plan_wrote_is_undone_and_done_again(based: Space, name: str) -> None:
    """Every writing primitive, and every form around one."""
    before = kept(based)
    run = ran(based, *WRITES[name])
    after = kept(based)
    assert after != before
    undone = undo(based.store, run)
    assert kept(based) == before
    assert based.store.check() == []
    undo(based.store, undone.run)
    assert kept(based) == after
    assert based.store.check() == []


OVER = {
    "a version over a version": (WRITES["update-note"], WRITES["set-metadata"][:1]),
    "a name over a version": (WRITES["update-note"], WRITES["name"]),
    "a name over a name": (WRITES["name"], [{"type": "name", "target": "other", "value": "third"}]),
    "members over members": (WRITES["add"], WRITES["take out"]),
    "a new holder of a name": (WRITES["name"], [{"type": "create-note", "value": 1, "name": "other", "replace": True}]),
}


@pytest.mark.parametrize("name", OVER)
def test_a_run_that_another_wrote_over_is_not_undone(based: Space, name: str) -> None:
    """Only after the other one, whose name is said; then as if neither had been."""
    before = kept(based)
    one, other = (ran(based, *steps) for steps in OVER[name])
    between = kept(based)
    with pytest.raises(Conflict, match=other):
        undo(based.store, one)
    assert kept(based) == between
    undo(based.store, other)
    undo(based.store, one)
    assert kept(based) == before


def test_a_deletion_of_what_was_changed_since_is_in_the_way(based: Space) -> None:
    """A later plan deleted it: the earlier change cannot be taken back before that is."""
    before = kept(based)
    changed = ran(based, *WRITES["update-note"])
    deleted = ran(based, *WRITES["remove"])
    with pytest.raises(Conflict, match=deleted):
        undo(based.store, changed)
    undo(based.store, deleted)
    undo(based.store, changed)
    assert kept(based) == before


def test_something_kept_that_a_later_plan_put_elsewhere_stays(based: Space) -> None:
    """What would go is held by a Collection of another run."""
    made = ran(based, *WRITES["a step's name"])
    ran(based, {"type": "create-collection", "value": ["c"], "out": "$l", "name": "later"})
    holding = ran(based, {"type": "add", "target": "later", "value": "new"})
    with pytest.raises(Conflict, match="holds Note_"):
        undo(based.store, made)
    undo(based.store, holding)
    undo(based.store, made)


def test_a_later_plan_that_kept_nothing_is_no_obstacle(based: Space) -> None:
    """What it made goes on without what is undone, and comes back with it."""
    made = ran(based, *WRITES["a step's name"])
    later = run_sync(based, [{"type": "create-collection", "value": ["c"], "out": "$l"}, _add("new")])
    listed = later.bindings["l"].id
    undone = undo(based.store, made)
    assert len(_members(based, listed)) == 1
    undo(based.store, undone.run)
    assert len(_members(based, listed)) == 2


def _add(name: str) -> dict[str, Any]:
    return {"type": "add", "target": "$l", "value": name}


def _members(space: Space, identifier: str) -> Any:
    found = space.store.get(identifier)
    assert isinstance(found, Collection)
    return found.members


def test_runs_that_cancel_each_other_out_are_no_obstacle(based: Space) -> None:
    """A later plan and its undoing, also when that was undone and undone again."""
    before = kept(based)
    first = ran(based, *WRITES["update-note"])
    second = ran(based, *WRITES["set-metadata"])
    undone = undo(based.store, second)
    again = undo(based.store, undone.run)
    with pytest.raises(Conflict, match=second):
        undo(based.store, first)
    undo(based.store, again.run)
    undo(based.store, first)
    assert kept(based) == before


def test_a_failed_plan_is_undone_as_far_as_it_came(based: Space) -> None:
    """Writes made before the failure stay, until they are undone."""
    before = kept(based)
    result = run_sync(based, [*WRITES["update-note"], {"type": "load", "target": "b", "slice": "[0].x"}])
    if result.status == "refused":
        result = run_sync(based, [*WRITES["update-note"], {"type": "stop", "status": "failed"}])
    assert result.status == "failed"
    assert kept(based) != before
    undo(based.store, result.run or "")
    assert kept(based) == before


STEPS = st.one_of(
    st.builds(lambda n, v: {"type": "update-note", "target": n, "value": v}, st.sampled_from(NOTES), st.integers(0, 9)),
    st.builds(
        lambda n, v: {"type": "set-metadata", "target": n, "value": {"k": v}},
        st.sampled_from((*NOTES, "list", "arrow")),
        st.integers(0, 9),
    ),
    st.builds(lambda n: {"type": "add", "target": "list", "value": n}, st.sampled_from(NOTES)),
    st.builds(lambda n: {"type": "remove", "target": "list", "value": n}, st.sampled_from(NOTES)),
    st.builds(lambda n: {"type": "remove", "target": n}, st.sampled_from((*NOTES, "list", "arrow"))),
    st.builds(
        lambda n, m: {"type": "name", "target": n, "value": m, "replace": True},
        st.sampled_from((*NOTES, "list")),
        st.sampled_from((*NOTES, "d")),
    ),
    st.builds(
        lambda m: {"type": "create-note", "value": 0, "name": m, "replace": True}, st.sampled_from((*NOTES, "d"))
    ),
    st.builds(
        lambda n, m: {
            "type": "create-relation",
            "source": n,
            "target": m,
            "relation": "x",
            "name": "r",
            "replace": True,
        },
        st.sampled_from(NOTES),
        st.sampled_from((*NOTES, "list")),
    ),
)


RELATE = {"type": "create-relation", "source": "a", "target": "a", "relation": "x", "name": "r", "replace": True}
UPDATE = {"type": "update-note", "target": "a", "value": 0}


@settings(max_examples=60, deadline=None)
@example(runs=[[UPDATE], [{"type": "name", "target": "a", "value": "a", "replace": True}]])
@example(runs=[[UPDATE], [UPDATE | {"target": "b"}, {"type": "name", "target": "a", "value": "a", "replace": True}]])
@example(runs=[[UPDATE], [{"type": "name", "target": "a", "value": n, "replace": True} for n in ("d", "a")]])
@example(runs=[[{"type": "remove", "target": "list"}, RELATE, RELATE]])
@example(runs=[[{"type": "name", "target": "b", "value": "list", "replace": True}, RELATE, RELATE]])
@given(runs=st.lists(st.lists(STEPS, min_size=1, max_size=4), min_size=1, max_size=4))
def test_runs_undone_from_the_last_to_the_first_leave_nothing(
    tmp_path_factory: pytest.TempPathFactory, runs: list[list[dict[str, Any]]]
) -> None:
    """Whatever they wrote. One that wrote nothing changes nothing; one that is refused by the check is no run."""
    path: Path = tmp_path_factory.mktemp("undo") / "space.db"
    with open_space(path) as space:
        ran(space, *BASE)
        states, done = [kept(space)], []
        for steps in runs:
            result = run_sync(space, [{**step, "on_fail": "continue"} for step in steps])
            if result.run is not None:
                done.append(result.run)
                states.append(kept(space))
        for run in reversed(done):
            after = states.pop()
            assert kept(space) == after
            try:
                undo(space.store, run)
            except Invalid:
                assert after == states[-1]
            assert kept(space) == states[-1]
        assert space.store.check() == []
