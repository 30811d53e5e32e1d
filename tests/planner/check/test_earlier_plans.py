"""Plans written for Cognitive Workbench run as they are, or the check says exactly what to change."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from planner.execute.start import check_plan, run_sync

sys.path.insert(0, str(Path(__file__).parents[1]))
from planner.language.json_patch import apply_patch

NOTES: list[Any] = [
    {"type": "create-note", "value": "First document about AI", "out": "$note1"},
    {"type": "create-note", "value": {"title": "Test", "count": 42}, "name": "important-note", "out": "$note2"},
    {"type": "create-collection", "value": ["$note1", "$note2"], "out": "$coll1"},
]

RIGHT: dict[str, list[Any]] = {
    "notes and collections": NOTES,
    "head, size, persist, load": [
        *NOTES,
        {"type": "head", "target": "$coll1", "count": 1, "out": "$first"},
        {"type": "size", "target": "$first", "out": "$size_note"},
        {"type": "persist", "target": "$coll1"},
        {"type": "load", "target": "important-note", "out": "$loaded"},
    ],
    "records": [
        {"type": "create-note", "value": [{"title": "A", "year": 2021}, {"title": "B", "year": 2023}], "out": "$data"},
        {"type": "split", "target": "$data", "out": "$papers"},
        {"type": "filter-structured", "target": "$papers", "where": 'year > 2022 OR title == "A"', "out": "$recent"},
        {"type": "project", "target": "$recent", "fields": ["title"], "out": "$titles"},
        {"type": "sort", "target": "$papers", "by": "year", "order": "desc", "out": "$sorted"},
        {"type": "join", "target": "$papers", "value": "$sorted", "on": "year", "out": "$joined"},
        {"type": "pluck", "target": "$joined", "field": "title", "out": "$names"},
        {"type": "flatten", "target": "$names", "separator": "\n---\n", "out": "$text"},
    ],
    "in place": [
        *NOTES,
        {"type": "add", "target": "$coll1", "value": "$note2", "out": "$coll1"},
        {"type": "remove", "target": "$coll1", "value": "$note1", "out": "$coll1"},
        {"type": "union", "target": "$coll1", "value": "$coll1", "out": "$both"},
    ],
    "index": [*NOTES, {"type": "index", "target": "$coll1"}],
    "map by name": [*NOTES, {"type": "map", "target": "$coll1", "operation": "bind", "out": "$mapped"}],
    "map by object": [
        *NOTES,
        {"type": "map", "target": "$coll1", "operation": {"type": "coerce", "coercion": "string"}, "out": "$mapped"},
    ],
    "conditions": [
        *NOTES,
        {"type": "size", "target": "$coll1", "out": "$n"},
        {
            "type": "if",
            "condition": {"type": "greater_than", "target": "$n", "value": 1},
            "then": [{"type": "say", "value": "many"}],
            "else": [{"type": "say", "value": "few"}],
        },
    ],
}

CHANGED: dict[str, tuple[Any, str]] = {
    # a step after NOTES, and the pointer of the first problem: its fixes make the plan right
    "organize": ({"type": "organize", "target": "$coll1", "index_type": "keyword"}, "/3/type"),
    "index by source": ({"type": "index", "source": "$coll1", "index_type": "semantic"}, "/3/source"),
    "display a note": ({"type": "display", "target": "$note1"}, "/3/type"),
    "display text": ({"type": "display", "value": "shown"}, "/3/type"),
    "say to somebody": ({"type": "say", "value": "$note1", "target": "User"}, "/3/target"),
    "search-notes": ({"type": "search-notes", "value": "machine learning", "limit": 3, "out": "$found"}, "/3/type"),
    "search-collections": ({"type": "search-collections", "value": "papers", "out": "$found"}, "/3/type"),
    "search within by value": (
        {"type": "search-within-collection", "target": "$coll1", "value": "AI", "out": "$results"},
        "/3/value",
    ),
    "properties": ({"type": "create-note", "value": 1, "properties": {"source": "test"}, "out": "$n"}, "/3/properties"),
    "thought": ({"type": "think", "value": "$note1", "out": "$thought"}, "/3/out"),
    "coerce": ({"type": "coerce", "target": "$note2", "coercion": "to-string", "out": "$text"}, "/3/coercion"),
    "map, flat": (
        {"type": "map", "target": "$coll1", "operation": "coerce", "coercion": "to-string", "out": "$mapped"},
        "/3/coercion",
    ),
    "map, tool": (
        {"type": "map", "target": "$coll1", "operation": {"tool": "coerce", "coercion": "string"}, "out": "$mapped"},
        "/3/operation",
    ),
    "ask somebody": ({"type": "ask", "value": "Continue?", "target": "User", "out": "$answer"}, "/3/target"),
    "bare out": ({"type": "size", "target": "$coll1", "out": "count"}, "/3/out"),
}


@pytest.mark.parametrize("case", RIGHT)
def test_a_plan_of_the_common_vocabulary_runs_as_it_is(space: Space, case: str) -> None:
    """Flat actions, in a list or under `plan`."""
    result = run_sync(space, {"plan": RIGHT[case]})
    assert result.status == "success", result.problems or result.reason


@pytest.mark.parametrize("case", CHANGED)
def test_what_is_written_otherwise_is_told_with_the_patch_that_mends_it(space: Space, case: str) -> None:
    """Applying the fixes, one after another where there are several, makes the plan pass."""
    step, pointer = CHANGED[case]
    plan = [*NOTES, step]
    for round_ in range(3):
        found = [problem for problem in check_plan(space, plan)[1].found if problem.severity == "error"]
        if not found:
            break
        assert found[0].fix, found
        assert round_ or found[0].pointer == pointer
        plan = apply_patch(plan, found[0].fix)
    assert not found, found
