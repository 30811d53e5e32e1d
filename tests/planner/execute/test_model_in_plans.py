"""Whole plans with a language model in them, over an endpoint on loopback."""

from __future__ import annotations

import json
from typing import Any

from chatting import Endpoint, Say

from infospace import Space
from planner.execute.start import run_sync
from planner.sessions.session import Session

REVIEWS = ["Arrived broken.", "Works well.", "Arrived broken.", "Smells of smoke."]
COMPLAINTS = {
    "goal": "What do people complain about?",
    "steps": [
        {"type": "create-collection", "value": REVIEWS, "out": "$reviews"},
        {"type": "filter-semantic", "target": "$reviews", "predicate": "It complains.", "out": "$bad"},
        {
            "type": "map",
            "target": "$bad",
            "operation": {
                "type": "extract",
                "instruction": "What is wrong?",
                "schema": {"type": "object", "properties": {"fault": {"type": "string"}}, "required": ["fault"]},
            },
            "out": "$faults",
        },
        {"type": "pluck", "target": "$faults", "field": "fault", "out": "$words"},
        {"type": "synthesize", "target": "$bad", "focus": "What to mend first", "out": "$report"},
    ],
    "result": "$report",
}


def reviewer(body: dict[str, Any]) -> Say:
    """Answer as a model would that reads what it is given."""
    prompt = body["messages"][-1]["content"]
    usage = {"total_tokens": 1000}
    if "Judge whether" in prompt:
        return Say(json.dumps({"value": "Works well" not in prompt}), usage=usage)
    if "What is wrong?" in prompt:
        return Say(json.dumps({"fault": "smoke" if "smoke" in prompt else "broken"}), usage=usage)
    label = prompt.split()[2]
    return Say(json.dumps({"text": f"Packing [{label}].", "citations": [label]}), usage=usage)


def test_equal_questions_of_a_run_are_asked_once(space: Space, endpoint: Endpoint) -> None:
    """Notes with the same text are still two Notes, and each question names its own."""
    endpoint.answers = reviewer
    result = run_sync(space, COMPLAINTS)
    assert result.status == "success", result.reason
    first = space.context().items(result.bindings["reviews"])[0]  # type: ignore[arg-type]
    assert result.result is not None
    assert result.result.data == {"text": f"Packing [{first.id}].", "citations": [first.id]}
    assert space.context().content(result.bindings["words"]) == ["broken", "broken", "smoke"]
    assert len(endpoint.requests) == 4 + 3 + 1
    assert result.run is not None
    with space.store.reading() as snapshot:
        rows, run = snapshot.calls(result.run), snapshot.run(result.run)
    assert [row.sequence for row in rows] == list(range(1, 9))
    assert sorted(row.position for row in rows) == ["2"] * 4 + ["3[1]", "3[2]", "3[3]", "5"]
    assert {row.status for row in rows} == {"success"}
    assert run.spent == {"llm_calls": 8, "tokens": 8000}
    assert result.steps[1].extra["llm"] == {"model": "made", "calls": 4, "tokens": 4000}
    assert space.store.check() == []


def test_a_loop_that_asks_the_same_asks_once(space: Space, endpoint: Endpoint) -> None:
    """Over three items, side steps and a later step of the plan; the budget of one call is enough."""
    same = {"type": "generate-note", "prompt": "A colour.", "out": "$colour"}
    document = {
        "steps": [
            {"type": "create-collection", "value": [1, 2, 3], "out": "$all"},
            {"type": "for-each", "target": "$all", "as": "$item", "do": [same], "out": "$colours"},
            {**same, "out": "$again"},
        ],
        "budget": {"llm_calls": 1},
    }
    endpoint.say("Blue")
    result = run_sync(space, document)
    assert result.status == "success", result.reason
    assert space.context().content(result.bindings["colours"]) == ["Blue"] * 3
    assert space.context().content(result.bindings["again"]) == "Blue"
    assert len(endpoint.requests) == 1


def test_a_spent_budget_ends_the_plan_and_says_which(space: Space, endpoint: Endpoint) -> None:
    """Also where failures are passed over: the budget is no failure that a plan can handle."""
    endpoint.answers = reviewer
    steps = [*COMPLAINTS["steps"][:1], {**COMPLAINTS["steps"][1], "on_fail": "continue"}, *COMPLAINTS["steps"][2:]]
    result = run_sync(space, {"steps": steps, "budget": {"llm_calls": 3}})
    assert result.status == "failed"
    assert "the budget of 3 llm_calls is spent" in (result.reason or "")
    assert len(endpoint.requests) <= 3
    tokens = run_sync(space, {"steps": COMPLAINTS["steps"], "budget": {"tokens": 5500}})
    assert tokens.status == "failed"
    assert "the budget of 5,500 tokens is too small: 500 are left" in (tokens.reason or "")
    assert [row.status for row in tokens.steps].count("success") == 2


def test_a_session_asks_once_over_all_its_steps(space: Space, endpoint: Endpoint) -> None:
    """Each step may run in an event loop of its own."""
    import asyncio

    endpoint.say("Blue")
    step = {"type": "generate-note", "prompt": "A colour."}

    session = Session(space, head={"goal": "g", "budget": {"llm_calls": 1}})
    for out in ("$a", "$b"):
        assert asyncio.run(session.play([{**step, "out": out}])).status == "success"
    end = asyncio.run(session.end())
    assert space.context().content(end.bindings["b"]) == "Blue"
    assert len(endpoint.requests) == 1
