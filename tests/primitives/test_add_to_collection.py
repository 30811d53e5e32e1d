"""`add`: in place, each once by identity, kept with what it is put into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from infospace import Member, Space
from infospace.store.changes import MakeNote


def notes(*values: Any) -> list[dict[str, Any]]:
    """Steps that bind a Note to `$n0`, `$n1`, …."""
    return [{"type": "create-note", "value": value, "out": f"$n{index}"} for index, value in enumerate(values)]


def test_a_collection_grows_in_place(run: Any) -> None:
    """The same id, a new version, under every variable that means it; the earlier version stays readable."""
    ran = run(
        *notes("a", "b"),
        {"type": "create-collection", "value": ["$n0"], "out": "$c"},
        {"type": "add", "target": "$c", "value": "$n1", "out": "$d"},
        {"type": "size", "target": "$c", "out": "$size"},
    )
    assert (ran.content("c"), ran.content("size")) == (["a", "b"], 2)
    assert ran.resource("d").id == ran.resource("c").id
    assert (ran.resource("c").version, ran.result.steps[3].extra) == (2, {"added": 1})
    with ran.space.store.reading() as snapshot:
        assert len(snapshot.get(ran.resource("c").id, 1)) == 1


def test_nothing_new_makes_no_version(run: Any) -> None:
    """What is there already is not put in twice, nor a Collection's own items."""
    ran = run(
        *notes("a"),
        {"type": "create-collection", "value": ["$n0"], "out": "$c"},
        {"type": "add", "target": "$c", "value": "$n0"},
        {"type": "add", "target": "$c", "value": "$c"},
    )
    assert (ran.content("c"), ran.resource("c").version, ran.last.extra["added"]) == (["a"], 1, 0)


@settings(max_examples=40, deadline=None)
@given(there=st.lists(st.integers(0, 4), max_size=6), new=st.lists(st.integers(0, 4), max_size=6))
def test_each_is_added_once_and_what_was_there_stays(shared: Any, there: list[int], new: list[int]) -> None:
    """A Collection adds its items in order; doubles that were there already stay."""
    ran = shared(
        *notes(*range(5)),
        {"type": "create-collection", "value": [f"$n{i}" for i in there], "out": "$c"},
        {"type": "create-collection", "value": [f"$n{i}" for i in new], "out": "$new"},
        {"type": "add", "target": "$c", "value": "$new"},
    )
    assert ran.content("c") == there + [i for i in dict.fromkeys(new) if i not in there]


def test_a_search_result_is_its_source(search: Any) -> None:
    """It is not added to what has its source, nor its source to what has it, nor a second result of it."""
    hits = {"type": "discover-notes", "query": "a sleepy cat", "limit": 1}
    ran = search(
        {**hits, "out": "$one"},
        {**hits, "query": "windowsill with a cat", "out": "$two"},
        {"type": "load", "target": "$one[0]", "out": "$source"},
        {"type": "create-collection", "value": ["$source"], "out": "$sources"},
        {"type": "add", "target": "$sources", "value": "$one"},
        {"type": "add", "target": "$one", "value": "$two"},
        {"type": "add", "target": "$one", "value": "$source"},
    )
    assert [row.extra["added"] for row in ran.result.steps if row.type == "add"] == [0, 0, 0]


def test_passages_are_the_same_only_with_the_same_range(search: Any) -> None:
    """Two passages of one Note are two things, and neither is the Note."""
    find = {"type": "search-within-collection", "target": "$c", "query": "budget", "limit": 2}
    ran = search(
        {"type": "load", "target": "long", "out": "$l"},
        {"type": "create-collection", "value": ["$l"], "out": "$c"},
        {**find, "out": "$two"},
        {**find, "query": "office budget", "limit": "all", "out": "$all"},
        {"type": "add", "target": "$two", "value": "$all"},
        {"type": "add", "target": "$two", "value": "$l"},
    )
    ranges = [item["metadata"]["passage"]["start"] for item in ran.content("two")[:-1]]
    assert len(ranges) == len(set(ranges)) > 2
    assert ran.last.extra["added"] == 1


def test_a_tool_found_is_its_name_on_its_server(space: Space) -> None:
    """`server/tool`, however it was found."""
    view = space.context()
    for tool in ("mail/send", "send", "read"):
        content = {"text": "", "metadata": {"source_id": "t", "server": "mail", "tool": tool, "score": 0.5}}
        view.changes.append(MakeNote(space.store.new_id("Note"), content, evidence=True))  # type: ignore[arg-type]
    space.store.commit(view.changes)
    ids = [change.id for change in view.changes if isinstance(change, MakeNote)]
    found = space.context().identities([Member(identifier) for identifier in ids])
    assert found == ["mail/send", "mail/send", "mail/read"]


def test_what_was_found_in_the_same_step_has_an_identity_too(space: Space) -> None:
    """Before anything is stored."""
    from infospace.search.query import Hit

    view = space.context()
    source = view.note("text")
    hit = view.search_result(Hit(source.id, 1, 0.5, 0, 2))
    passage = view.search_result(Hit(source.id, 1, 0.5, 0, 2, passage=True))
    expected = [source.id, source.id, f"{source.id}[0:2]"]
    assert view.identities([Member(source.id), hit, passage]) == expected
    space.store.commit(view.changes)
    assert space.context().identities([Member(source.id), hit, passage]) == expected


def test_what_is_put_into_a_kept_collection_is_kept(run: Any) -> None:
    """The members of a Collection that is added too."""
    ran = run(
        *notes("a", "b", "c"),
        {"type": "create-collection", "value": ["$n0"], "name": "kept", "out": "$c"},
        {"type": "create-collection", "value": ["$n1"], "out": "$more"},
        {"type": "add", "target": "kept", "value": "$more"},
    )
    assert [ran.resource(name).kept for name in ("n0", "n1", "n2", "more")] == [True, True, False, False]


def test_a_version_that_moved_on_is_a_conflict(run: Any) -> None:
    """Even when there is nothing to add; the sentence says which version it is at."""
    steps = [*notes("a", "b"), {"type": "create-collection", "value": ["$n0"], "out": "$c"}]
    for value in ("$n1", "$n0"):
        late = {"type": "add", "target": "$c", "value": value, "if_version": 2}
        ran = run(*steps, late, status="failed")
        assert "is at version 1, not 2" in ran.reason
    assert run(*steps, {"type": "add", "target": "$c", "value": "$n1", "if_version": 1}).content("c") == ["a", "b"]


def test_a_loop_collects_into_one_collection(run: Any) -> None:
    """Each step sees what the step before it wrote; `map`, which is one step, sees it too."""
    adding = {"type": "add", "target": "$acc", "value": "$item"}
    steps: list[dict[str, Any]] = [
        *notes("a", "b"),
        {"type": "create-collection", "value": ["$n0", "$n1", "$n0"], "out": "$items"},
        {"type": "create-collection", "value": [], "out": "$acc"},
    ]
    for form in ({"type": "for-each", "do": [adding]}, {"type": "map", "operation": adding}):
        ran = run(*steps, {**form, "target": "$items"})
        assert ran.content("acc") == ["a", "b"]
        assert ran.resource("acc").version == 3


def test_it_adds_to_a_collection_alone(call: Callable[..., Any], run: Any) -> None:
    """The check says what kind was given."""
    ran = run(*notes("a"), {"type": "add", "target": "$n0", "value": "$n0"}, status="refused")
    assert [problem.code for problem in ran.result.problems] == ["wrong-kind"]
    assert call("add", target="x", value="y").status == "failed"
