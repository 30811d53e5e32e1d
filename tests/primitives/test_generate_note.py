"""`generate-note`: a text or JSON from a prompt, and perhaps material."""

from __future__ import annotations

from typing import Any

import pytest
from chatting import Endpoint, Fail

GENERATE = {"type": "generate-note", "prompt": "Write a haiku.", "out": "$y"}


def test_it_gives_a_transient_note_of_text(run: Any, endpoint: Endpoint) -> None:
    """Made by the step, without metadata, not kept."""
    endpoint.say("An old silent pond")
    note = run(GENERATE).resource("y")
    assert (note.content, note.metadata, note.kept, note.created_by.by) == (
        "An old silent pond",
        {},
        False,
        "generate-note",
    )


def test_a_name_keeps_it(run: Any, endpoint: Endpoint) -> None:
    assert run({**GENERATE, "name": "haiku"}).resource("y").kept


def test_variables_in_the_prompt_are_replaced_by_their_texts(run: Any, endpoint: Endpoint) -> None:
    run({"type": "create-note", "value": 5, "out": "$n"}, {**GENERATE, "prompt": "Write ${n} words for $3."})
    assert endpoint.prompts[0].endswith("Task:\nWrite 5 words for $3.")


def test_a_target_is_material(run: Any, endpoint: Endpoint) -> None:
    """Of a Collection each item, with its id."""
    ran = run({"type": "create-collection", "value": ["one", "two"], "out": "$c"}, {**GENERATE, "target": "$c"})
    for item in ran.items("c"):
        assert f" {item.id}\n{item.content}\n" in endpoint.prompts[0]


def test_with_a_schema_it_gives_json(run: Any, endpoint: Endpoint) -> None:
    """Also such as is no object."""
    schema = {"type": "array", "items": {"type": "integer"}, "minItems": 2}
    endpoint.say('{"value": [1]}', '{"value": [1, 2]}')
    assert run({**GENERATE, "schema": schema}).content("y") == [1, 2]


@pytest.mark.parametrize(
    ("step", "answer"),
    [
        ({"type": "assess", "predicate": "It is."}, '{"value": true}'),
        ({"type": "extract", "instruction": "Who?"}, "Ada"),
        ({"type": "filter-semantic", "predicate": "It is."}, '{"value": true}'),
        ({"type": "generate-note", "prompt": "Sum up."}, "all"),
        ({"type": "refine", "instruction": "Shorter."}, "Ada"),
        ({"type": "synthesize", "focus": "Ada"}, '{"text": "Ada", "citations": ["Note_1"]}'),
    ],
    ids=lambda part: str(part["type"]) if isinstance(part, dict) else "",
)
def test_any_step_that_asks_may_name_another_model(run: Any, endpoint: Endpoint, step: Any, answer: str) -> None:
    endpoint.say(answer)
    of_many = step["type"] in ("filter-semantic", "synthesize")
    made = [
        {"type": "create-note", "value": "Ada decided it.", "out": "$note"},
        {"type": "create-collection", "value": ["$note"], "out": "$notes"},
    ]
    run(*made, {**step, "target": "$notes" if of_many else "$note", "model": "small", "out": "$y"})
    assert [request["model"] for request in endpoint.requests] == ["small"]


def test_a_failure_of_the_model_is_one_that_on_fail_handles(run: Any, endpoint: Endpoint) -> None:
    """With its kind."""
    endpoint.say(Fail(401, "bad key"))
    handled = [{"type": "create-note", "value": "${error.kind}", "out": "$y"}]
    assert run({**GENERATE, "on_fail": handled}).content("y") == "llm-declined"
