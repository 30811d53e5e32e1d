"""What a step deletes for certain, later steps may not read."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import Space
from planner.execute.start import run_sync

NOTE = {"type": "create-note", "value": {"a": 1}, "out": "$x"}
GONE = {"type": "remove", "target": "$x"}
READ = {"type": "say", "value": "${x.a}"}


@pytest.mark.parametrize(
    "later",
    [
        READ,
        {"type": "bind", "target": "$x"},
        {"type": "if", "condition": {"type": "empty", "target": "$x"}, "then": []},
    ],
)
def test_a_variable_of_a_deleted_note_is_refused(errors: Any, later: Any) -> None:
    """With the code `deleted`, at its place."""
    assert [problem.code for problem in errors([NOTE, GONE, later])] == ["deleted"]
    assert errors([NOTE, later, GONE]) == []


def test_a_plan_may_not_answer_with_what_it_deleted(errors: Any) -> None:
    """Its `result` is read last."""
    assert [problem.pointer for problem in errors({"steps": [NOTE, GONE], "result": "$x"})] == ["/result"]


def test_a_name_and_an_id_are_gone_with_what_had_them(space: Space, errors: Any) -> None:
    """However the resource was called where it was deleted, if that is known."""
    made = run_sync(space, [{**NOTE, "name": "kept"}]).bindings["x"].id
    for deleted, read in (("kept", "kept"), (made, made), (made, "kept")):
        plan = [{"type": "remove", "target": deleted}, {"type": "load", "target": read}]
        assert [problem.code for problem in errors(plan)] == ["deleted"]
    again = {"type": "create-note", "value": 1, "name": "kept"}
    assert errors([{"type": "remove", "target": "kept"}, again, {"type": "load", "target": "kept"}]) == []


def test_a_hit_whose_source_was_deleted_by_it_may_be_read(space: Space, errors: Any) -> None:
    """What is deleted is the source; the hit is a note of its own, and stays."""
    run_sync(space, [{"type": "create-note", "value": "herons", "name": "kept"}])
    find = {"type": "discover-notes", "query": "herons", "mode": "keyword", "out": "$hits"}
    plan = [find, {"type": "bind", "target": "$hits[0]", "out": "$x"}, GONE, {"type": "say", "value": "${x}"}]
    assert errors(plan) == []
    assert run_sync(space, plan).status == "success"
    assert [problem.code for problem in errors([{"type": "load", "target": "kept"}])] == ["unknown-name"]


@pytest.mark.parametrize(
    "maybe",
    [
        [{"type": "if", "condition": {"type": "has_value", "target": "$c"}, "then": [GONE]}],
        [{"type": "for-each", "target": "$c", "do": [GONE]}],
        [{**GONE, "on_fail": "continue"}],
        [GONE, NOTE],
    ],
)
def test_what_may_be_there_may_be_read(errors: Any, maybe: Any) -> None:
    """Deleted on some path only, or bound anew."""
    some = {"type": "create-collection", "value": [1], "out": "$c"}
    assert errors([NOTE, some, *maybe, READ]) == []


def test_a_search_result_outlives_its_source(errors: Any) -> None:
    """What is deleted is the source."""
    search = {"type": "discover-notes", "query": "x", "mode": "keyword", "out": "$hits"}
    assert errors([search, {"type": "remove", "target": "$hits[0]"}, {"type": "say", "value": "${hits[0].text}"}]) == []


def test_what_replaces_by_the_name_of_what_was_deleted_is_new(space: Space, errors: Any) -> None:
    """It may be read, and what was deleted may not."""
    run_sync(space, [{**NOTE, "name": "kept"}])
    plan = [
        {"type": "load", "target": "kept", "out": "$old"},
        {"type": "remove", "target": "$old"},
        {"type": "create-note", "value": {"b": 1}, "name": "kept", "replace": True, "out": "$new"},
    ]
    assert errors([*plan, {"type": "say", "value": "${new.b}"}]) == []
    assert run_sync(space, [*plan, {"type": "say", "value": "${new.b}"}]).status == "success"
    run_sync(space, [{**NOTE, "name": "kept", "replace": True}])
    assert [problem.code for problem in errors([*plan, {"type": "say", "value": "${old.a}"}])] == ["deleted"]
