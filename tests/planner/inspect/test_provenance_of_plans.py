"""Why something is here, and what came of it: what plans leave in the journal leads back to the sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infospace import Space, open_space
from infospace.core.resources import Collection
from infospace.editing.edit import edit
from infospace.editing.undo import undo
from infospace.journal.rows import Use
from infospace.lineage.graph import Edge, Graph
from infospace.lineage.staleness import StalenessReport, staleness
from infospace.lineage.trace import trace, trace_forward, versions_of
from planner.execute.start import run_sync
from planner.journal.result import RunResult

SOURCES = [{"type": "create-note", "value": {"n": n}, "name": name} for n, name in enumerate("abc", start=1)]


def ran(space: Space, *steps: Any, result: str | None = None, **inputs: Any) -> RunResult:
    """Run steps, which succeed."""
    declared = {name: {"type": "string"} for name in inputs}
    found = run_sync(space, {"steps": list(steps), "result": result, "inputs": declared}, inputs)
    assert found.status == "success", (found.reason, found.problems)
    return found


def members(found: RunResult, name: str) -> list[str]:
    """Return the ids of what a variable holds."""
    held = found.bindings[name]
    assert isinstance(held, Collection)
    return [member.id for member in held.members]


def id_of(space: Space, reference: str) -> str:
    """Return the id of a name."""
    return space.context().get(reference).id


def why(space: Space, identifier: str, *, forward: bool = False) -> Graph:
    """Follow all versions of a resource."""
    with space.store.reading() as snapshot:
        roots = versions_of(snapshot, identifier)
        return trace_forward(snapshot, roots) if forward else trace(snapshot, roots)


def looked(space: Space, *references: str) -> StalenessReport:
    """Look which are stale; all when none is named."""
    with space.store.reading() as snapshot:
        return staleness(snapshot, [id_of(space, one) for one in references] or None)


def stale(space: Space, *references: str) -> dict[str, list[str]]:
    """Return the ids of the changed inputs by the name of what is stale."""
    found = looked(space, *references).stale
    return {one.origin.name or one.origin.of.id: [changed.origin.of.id for changed in one.changed] for one in found}


def inputs(graph: Graph, identifier: str, version: int = 1) -> set[tuple[str, str, str | None]]:
    """Return what a version was made of: ids, how, and as which variable."""
    return {(edge.to.id, edge.how, edge.variable) for edge in graph.nodes[Use(identifier, version)].inputs}


@pytest.fixture
def based(space: Space) -> Space:
    """Three kept Notes, `a`, `b` and `c`: Note_1, Note_2, Note_3."""
    ran(space, *SOURCES)
    return space


def test_a_note_leads_back_through_its_steps_to_its_sources(based: Space) -> None:
    """With the variable that each was read as; what the run was given is an input of it."""
    found = ran(
        based,
        {"type": "create-collection", "value": ["$x", "Note_1"], "out": "$both"},
        {"type": "flatten", "target": "$both", "out": "$text", "name": "digest"},
        x="given",
    )
    both, text = found.bindings["both"].id, found.bindings["text"].id
    given = found.bindings["x"].id
    graph = why(based, text)
    assert set(graph.nodes) == {Use(one, 1) for one in (both, text, given, "Note_1")}
    assert inputs(graph, text) == {(both, "used", "both"), (given, "used", "x"), ("Note_1", "used", None)}
    assert inputs(graph, both) == {(given, "used", "x"), ("Note_1", "used", None)}
    step = graph.nodes[Use(text, 1)].step
    assert step is not None
    assert (step.run, step.position, step.type) == (found.run, "2", "flatten")
    assert graph.nodes[Use(given, 1)].step is None
    assert graph.nodes[Use(given, 1)].origin.created_by.by == "input"


def test_each_version_is_told_with_its_own_step(based: Space) -> None:
    """A change in place is made of the version before, and of what it read."""
    found = ran(
        based,
        {"type": "load", "target": "b", "out": "$b"},
        {"type": "update-note", "target": "a", "value": "$b"},
    )
    edit(based.store, based.context().get("a"), "by hand", {}, "edit")
    graph = why(based, "Note_1")
    assert graph.roots == (Use("Note_1", 3), Use("Note_1", 2), Use("Note_1", 1))
    assert inputs(graph, "Note_1", 2) == {("Note_1", "before", None), ("Note_2", "used", "b")}
    assert graph.nodes[Use("Note_1", 3)].inputs == ()
    assert graph.nodes[Use("Note_1", 3)].origin.created_by.by == "edit"
    assert [graph.nodes[of].origin.created_by.run for of in graph.roots[1:]] == [found.run, "run_1"]


def test_what_map_gave_for_an_item_is_made_of_that_item(based: Space) -> None:
    """And not of the others, though the step read them all."""
    found = ran(
        based,
        {"type": "create-collection", "value": ["Note_1", "Note_2"], "out": "$c"},
        {"type": "map", "target": "$c", "operation": {"type": "coerce", "coercion": "string"}, "out": "$texts"},
    )
    items = members(found, "texts")
    both, texts = found.bindings["c"].id, found.bindings["texts"].id
    graph = why(based, texts)
    assert inputs(graph, items[0]) == {(both, "used", "c"), ("Note_1", "used", None)}
    assert inputs(graph, items[1]) == {(both, "used", "c"), ("Note_2", "used", None)}
    assert {(one, "holds", None) for one in items} < inputs(graph, texts)


def test_a_version_holds_what_was_in_it_then(based: Space) -> None:
    """Though an item was taken out since: only the next version lacks it."""
    found = ran(
        based,
        {"type": "create-collection", "value": ["Note_1", "Note_2"], "out": "$c"},
        {"type": "map", "target": "$c", "operation": {"type": "coerce", "coercion": "string"}, "out": "$texts"},
    )
    texts, items = found.bindings["texts"].id, members(found, "texts")
    ran(based, {"type": "load", "target": texts, "out": "$t"}, {"type": "remove", "target": "$t", "value": items[0]})
    graph = why(based, texts)
    assert {(one, "holds", None) for one in items} < inputs(graph, texts)
    assert inputs(graph, texts, 2) == {(texts, "before", None), (items[0], "used", None)}
    assert ("Note_1", "used", None) in inputs(graph, items[0])


def test_the_body_of_a_loop_the_branch_of_a_choice_and_a_saved_plan_are_followed(based: Space) -> None:
    """Each made thing belongs to the step inside."""
    found = ran(
        based,
        {"type": "create-collection", "value": ["Note_1", "Note_2"], "out": "$c"},
        {
            "type": "for-each",
            "target": "$c",
            "as": "$item",
            "do": [
                {
                    "type": "if",
                    "condition": {"type": "equals", "target": "$item.n", "value": 1},
                    "then": [{"type": "coerce", "target": "$item", "coercion": "string", "out": "$s"}],
                    "else": [{"type": "bind", "target": "$item", "out": "$s"}],
                }
            ],
            "collect": "$s",
            "out": "$all",
        },
    )
    first, second = members(found, "all")
    assert second == "Note_2"
    graph = why(based, first)
    step = graph.nodes[Use(first, 1)].step
    assert step is not None
    assert step.position == "2.do[1].1.then.1"
    assert inputs(graph, first) == {("Note_1", "used", None)}


def test_the_result_that_is_a_place_is_made_of_its_variable(based: Space) -> None:
    """No step made it: the run did."""
    loads = ({"type": "load", "target": name, "out": f"${name}"} for name in "ab")
    found = ran(based, *loads, result="$a.n")
    assert found.result is not None
    result = found.result.resource_id or ""
    assert inputs(why(based, result), result) == {("Note_1", "used", "a")}


def test_the_result_is_made_of_its_variable_as_the_run_left_it(based: Space) -> None:
    """At the version that the run came to, and not at the first one."""
    found = ran(
        based,
        {"type": "load", "target": "a", "out": "$a"},
        {"type": "update-note", "target": "$a", "value": {"n": 4}, "out": "$b"},
        result="$b.n",
    )
    assert found.result is not None
    result = found.result.resource_id or ""
    assert why(based, result).nodes[Use(result, 1)].inputs == (Edge(Use("Note_1", 2), "used", "b"),)


def test_what_is_bound_more_than_once_is_told_by_the_last_variable(based: Space) -> None:
    """Of a variable that held several, the result is made of the last."""
    load = {"type": "load", "target": "a"}
    found = ran(
        based, {**load, "out": "$x"}, {**load, "out": "$y"}, {"type": "create-collection", "value": ["$x"], "out": "$c"}
    )
    assert inputs(why(based, found.bindings["c"].id), found.bindings["c"].id) == {("Note_1", "used", "y")}
    makes = {"type": "create-note", "out": "$x"}
    found = ran(based, {**makes, "value": {"n": 1}}, {**makes, "value": {"n": 2}}, result="$x.n")
    assert found.result is not None
    given = str(found.result.resource_id)
    assert inputs(why(based, given), given) == {(found.bindings["x"].id, "used", "x")}


def test_a_search_result_was_found_in_its_source(space: Space) -> None:
    """It was not made of whatever else the search read."""
    texts = {"moon": "The moon draws the tides.", "bread": "Bread and salt."}
    ran(space, *({"type": "create-note", "value": text, "name": name} for name, text in texts.items()))
    found = ran(
        space,
        {"type": "discover-notes", "query": "what draws the tides", "limit": 1, "out": "$hits"},
        {"type": "map", "target": "$hits", "operation": {"type": "coerce", "coercion": "string"}, "out": "$texts"},
    )
    [hit], [text] = members(found, "hits"), members(found, "texts")
    graph = why(space, found.bindings["texts"].id)
    assert inputs(graph, hit) == {("Note_1", "found", None)}
    hits = found.bindings["hits"].id
    assert inputs(graph, text) == {(hits, "used", "hits"), (hit, "used", None)}
    assert graph.nodes[Use(hits, 1)].own == (Edge(Use(hit, 1), "holds"),)


def test_forward_is_backward_the_other_way_round(based: Space) -> None:
    """For each pair of versions of a space with some of everything."""
    ran(
        based,
        {"type": "create-collection", "value": ["Note_1", "Note_2"], "out": "$c"},
        {"type": "map", "target": "$c", "operation": {"type": "coerce", "coercion": "string"}, "out": "$m"},
        {"type": "update-note", "target": "c", "value": "${m[0]}"},
        {"type": "head", "target": "$m", "out": "$h", "name": "first"},
        {"type": "add", "target": "$h", "value": "$m[1]"},
        result="$m[0]",
    )
    note = based.context().get("b")
    edit(based.store, note, note.content, {"k": 1}, "edit")
    with based.store.reading() as snapshot:
        every = [product.of for product in snapshot.products([run.run for run in snapshot.runs()])]
        back = trace(snapshot, every)
        pairs = {(of, edge.to, edge.how) for of, node in back.nodes.items() for edge in node.inputs}
        for of in every:
            forward = trace_forward(snapshot, [of])
            found = {(edge.to, one, edge.how) for one in forward.nodes for edge in forward.after(one)}
            reached = {of}
            while more := {above for above, below, _ in pairs if below in reached} - reached:
                reached |= more
            assert found == {pair for pair in pairs if pair[1] in reached}
            assert set(forward.nodes) == reached
            made = {node.origin.created_by.run for node in forward.nodes.values()} - {None}
            assert forward.runs == {run: snapshot.run(str(run)) for run in made}


def test_a_pruned_run_is_known_by_its_name_alone(based: Space) -> None:
    """What was made of it is still there, and says which step of which run made it."""
    found = ran(
        based,
        {"type": "create-collection", "value": ["Note_1"], "out": "$c"},
        {"type": "flatten", "target": "$c", "name": "digest"},
    )
    digest = id_of(based, "digest")
    based.store.forget([found.run or ""], really=True)
    graph = why(based, digest)
    assert graph.runs == {found.run: None}
    assert (graph.nodes[Use(digest, 1)].origin.created_by.step, graph.nodes[Use(digest, 1)].inputs) == ("2", ())
    assert looked(based).unknown == (digest,)


def test_nothing_is_stale_at_first(based: Space) -> None:
    ran(based, {"type": "create-collection", "value": ["Note_1"], "out": "$c"}, {"type": "flatten", "target": "$c"})
    assert stale(based) == {}


@pytest.fixture
def derived(based: Space) -> Space:
    """`x` is made of `a` and `b` through something transient, `y` of `x`."""
    ran(
        based,
        {"type": "create-collection", "value": ["Note_1", "Note_2"], "out": "$c"},
        {"type": "flatten", "target": "$c", "out": "$t", "name": "x"},
    )
    ran(based, {"type": "load", "target": "x", "slice": ":3", "name": "y"})
    return based


def test_an_input_that_was_changed_makes_stale_directly_and_through_others(derived: Space) -> None:
    """What is changed itself is not stale for that."""
    edit(derived.store, derived.context().get("a"), "by hand", {}, "edit")
    assert stale(derived) == {"x": ["Note_1"], "y": ["Note_1"]}
    assert stale(derived, "y") == {"y": ["Note_1"]}
    assert stale(derived, "b") == {}
    (y,) = (one for one in looked(derived).stale if one.origin.name == "y")
    assert [of.id for of in y.changed[0].through] == [id_of(derived, "x")]
    assert y.changed[0].what == "content"


def test_an_input_that_was_deleted_makes_stale(derived: Space) -> None:
    ran(derived, {"type": "remove", "target": "b"})
    assert stale(derived) == {"x": ["Note_2"], "y": ["Note_2"]}
    assert looked(derived).stale[0].changed[0].what == "deleted"


def test_what_was_put_back_is_as_it_was(derived: Space) -> None:
    """An undone change, and one undone and done again."""
    changed = edit(derived.store, derived.context().get("a"), "by hand", {}, "edit")
    undone = undo(derived.store, changed or "")
    assert stale(derived) == {}
    undo(derived.store, undone.run)
    assert stale(derived) == {"x": ["Note_1"], "y": ["Note_1"]}


def test_what_is_made_anew_in_place_is_stale_no_more_and_what_was_made_of_it_is(derived: Space) -> None:
    """A new content stands on what it was made of, and not on what the earlier one was."""
    edit(derived.store, derived.context().get("a"), "by hand", {}, "edit")
    ran(
        derived,
        {"type": "create-collection", "value": ["Note_1", "Note_2"], "out": "$c"},
        {"type": "flatten", "target": "$c", "out": "$t"},
        {"type": "update-note", "target": "x", "value": "$t"},
    )
    assert stale(derived) == {"y": [id_of(derived, "x")]}


def test_what_is_written_over_stands_on_its_earlier_content_no_more(derived: Space) -> None:
    """Though it is the same Note, and its version before is known."""
    ran(derived, {"type": "load", "target": "x", "out": "$x"}, {"type": "update-note", "target": "$x", "value": "else"})
    edit(derived.store, derived.context().get("a"), "by hand", {}, "edit")
    assert stale(derived, "x") == {}


def test_metadata_alone_changes_no_standing_of_the_content(derived: Space) -> None:
    """A Note with other metadata still stands on what its content was made of."""
    ran(derived, {"type": "set-metadata", "target": "x", "value": {"k": 1}})
    assert stale(derived, "x") == {}
    assert [one.changed[0].what for one in looked(derived, "y").stale] == ["metadata"]
    edit(derived.store, derived.context().get("a"), "by hand", {}, "edit")
    assert stale(derived, "x") == {"x": ["Note_1"]}


def test_a_collection_that_grows_stands_on_all_that_was_put_in(based: Space) -> None:
    ran(based, {"type": "create-collection", "value": ["Note_1"], "name": "list"})
    ran(based, {"type": "add", "target": "list", "value": "b"})
    assert stale(based) == {}
    edit(based.store, based.context().get("a"), "by hand", {}, "edit")
    assert stale(based, "list") == {"list": ["Note_1"]}
    edit(based.store, based.context().get("b"), "by hand", {}, "edit")
    assert stale(based, "list") == {"list": ["Note_2", "Note_1"]}


NAMES = "abcd"

CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("make"), st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=2)),
        st.tuples(st.just("edit"), st.sampled_from(NAMES), st.just([])),
    ),
    max_size=8,
)


@settings(max_examples=40, deadline=None)
@given(changes=CHANGES)
def test_stale_is_what_was_made_before_what_it_was_made_of(
    tmp_path_factory: pytest.TempPathFactory, changes: Sequence[tuple[str, str, list[str]]]
) -> None:
    """As a model says that knows nothing of versions: of what each was made, and what each then was."""
    stamps = dict.fromkeys(NAMES, 0)
    made_of: dict[str, dict[str, int]] = {name: {} for name in NAMES}
    with open_space(tmp_path_factory.mktemp("stale") / "space.db") as space:
        ran(space, *({"type": "create-note", "value": 0, "name": name} for name in NAMES))
        for stamp, (what, name, others) in enumerate(changes, start=1):
            if what == "edit":
                edit(space.store, space.context().get(name), f"edit {stamp}", {}, "edit")
                made_of[name] = {}
            else:
                loads = [{"type": "load", "target": one, "out": f"${one}"} for one in dict.fromkeys(others)]
                text = f"{stamp} " + " ".join(f"${{{one}}}" for one in others)
                ran(space, *loads, {"type": "update-note", "target": name, "value": text})
                made_of[name] = {one: stamps[one] for one in others if one != name}
            stamps[name] = stamp

        def is_stale(name: str, seen: frozenset[str] = frozenset()) -> bool:
            below = made_of[name].items()
            return any(stamps[one] != then for one, then in below) or any(
                is_stale(one, seen | {name}) for one, then in below if stamps[one] == then and one not in seen
            )

        assert set(stale(space)) == {name for name in NAMES if is_stale(name)}


def test_an_edge_read_twice_is_told_once(based: Space) -> None:
    """Whatever a step reads again."""
    found = ran(based, {"type": "create-collection", "value": ["Note_1", "Note_1"], "out": "$c"})
    graph = why(based, found.bindings["c"].id)
    assert graph.nodes[Use(found.bindings["c"].id, 1)].inputs == (Edge(Use("Note_1", 1), "used"),)


def test_what_a_step_read_is_told_once_for_all_that_it_made(based: Space) -> None:
    """So a step that reads many and makes many stays small; a `map` has of each item only its own beside."""
    found = ran(
        based,
        {"type": "create-collection", "value": [str(n) for n in range(30)], "out": "$c"},
        {"type": "pluck", "target": "$c", "field": "content", "out": "$p"},
        {"type": "map", "target": "$p", "operation": {"type": "coerce", "coercion": "int"}, "out": "$m"},
    )
    with based.store.reading() as snapshot:
        graph = trace(snapshot, [product.of for product in snapshot.products([found.run or ""])])
    plucked = {node.read for node in graph.nodes.values() if node.step is not None and node.step.type == "pluck"}
    assert len(plucked) == 1
    texts = [node for node in graph.nodes.values() if node.origin.created_by.by == "coerce"]
    assert {len(node.own) for node in texts} == {1}
    assert {len(node.inputs) for node in texts} == {2}
    assert sum(len(node.own) for node in graph.nodes.values()) == 60
