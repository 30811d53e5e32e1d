"""The space that generated plans run in: the furnished one, with tables, Relations and more saved plans."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from furnished import furnish_whole
from plangen.things import NOTE, PERSON, RELATION, TASK, TEXT, Thing, several

from infospace import Space
from infospace.core.listener import NullListener
from planner.execute.start import run_sync
from planner.parse.saved_plans import save_plan

ANNA = {"name": "Anna", "n": 3, "town": "Oslo"}
TASKS: list[dict[str, Any]] = [
    {"title": "alpha", "n": 1, "tags": ["x"], "done": False, "owner": ANNA},
    {"title": "beta", "n": 2.5, "tags": [], "done": True, "owner": {"name": "Bo", "n": 1, "town": "Rome"}},
]
PLANS: Mapping[str, Any] = {
    "open tasks": {
        "inputs": {"tasks": {"kind": "Collection"}},
        "steps": [
            {"type": "filter-structured", "target": "$tasks", "where": "n > 1", "out": "$open"},
            {"type": "plan:count", "arguments": {"things": "$open"}, "out": "$n"},
        ],
        "result": "$open",
    },
    "report": {
        "inputs": {"who": {"type": "string"}, "things": {"kind": "Collection", "default": "reading list"}},
        "steps": [
            {"type": "plan:greet", "arguments": {"who": "$who", "times": 2}, "out": "$greeting"},
            {"type": "plan:open tasks", "arguments": {"tasks": "tasks"}, "out": "$open"},
            {"type": "create-note", "value": "${greeting}: ${open}", "out": "$text"},
        ],
    },
    "stopping": {
        "inputs": {"n": {"type": "number"}},
        "steps": [
            {
                "type": "if",
                "condition": {"type": "greater_than", "target": "$n", "value": 2},
                "then": [{"type": "stop", "value": "$n"}],
            },
            {"type": "stop", "status": "failed", "value": "too small"},
        ],
    },
    "asking": {
        "steps": [
            {"type": "ask", "value": "Which one?", "schema": {"type": "string"}, "out": "$said"},
            {"type": "create-note", "value": "chosen: ${said}", "out": "$text"},
        ],
    },
    "about": {
        "inputs": {
            "note": {"kind": "Note"},
            "person": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "n": {"type": "number"}, "town": {"type": "string"}},
                "required": ["name"],
                "additionalProperties": False,
                "default": ANNA,
            },
        },
        "steps": [{"type": "create-note", "value": "${person.name}: ${note}", "out": "$text"}],
    },
}


def supply(space: Space) -> None:
    """Furnish a space, with what the plans of this proof speak of besides, embedded."""
    furnish_whole(space)
    steps: list[Any] = [
        {"type": "create-collection", "value": TASKS, "name": "tasks", "out": "$tasks"},
        {"type": "create-collection", "value": [ANNA], "name": "people", "out": "$people"},
        {"type": "create-collection", "value": ["$tasks", "$people"], "name": "lists"},
        {"type": "create-relation", "source": "attention", "target": "training", "relation": "cites", "name": "arrow"},
    ]
    assert run_sync(space, steps).status == "success"
    for name, document in PLANS.items():
        save_plan(space, name, document)
    space.embedding.catch_up(NullListener())


def outlines(space: Space) -> dict[str, Thing]:
    """Outline what has a name there, under its name and under its id."""
    known = {
        **dict.fromkeys(("attention", "training", "descent", "office"), TEXT),
        "open questions": Thing("N", {"title": "text", "items": "list"}),
        "reading list": several(TEXT),
        "tasks": several(Thing("N", TASK)),
        "people": several(Thing("N", PERSON)),
        "lists": several(several(NOTE)),
        "arrow": RELATION,
    }
    view = space.context()
    return known | {view.get(name).id: thing for name, thing in known.items()}
