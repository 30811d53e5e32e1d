"""The vocabulary as planners see it: a grammar that admits what the check does, and a short form that stays short."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from infospace import Space
from infospace.contract.catalogue import installed
from infospace.contract.docs import to_markdown
from infospace.tools.local import LocalTools
from planner.execute.start import check_plan
from planner.parse.control_flow import FORMS
from planner.parse.grammar import grammar
from planner.parse.vocabulary import full, machine, short

PLANS = sorted(path for path in (Path(__file__).parents[2] / "plans").glob("*.json") if ".outcome." not in path.name)


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = grammar(installed())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def documents(path: Path) -> Any:
    document = json.loads(path.read_text(encoding="utf-8"))
    document = document.get("plan", document) if isinstance(document, dict) and "outcome" in document else document
    if isinstance(document, list):
        return {"steps": document}
    return {"steps" if key == "plan" else key: value for key, value in document.items()}


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_the_grammar_admits_every_golden_plan(validator: Any, path: Path) -> None:
    """What passes the check is of the grammar."""
    assert [error.message for error in validator.iter_errors(documents(path))] == []


@pytest.mark.parametrize(
    "step",
    [
        {"type": "sya", "value": 1},
        {"type": "say", "value": 1, "out": "$x"},
        {"type": "say"},
        {"type": "head", "target": "$c", "cuont": 2},
        {"type": "head", "target": "$c", "count": [2]},
        {"type": "discover-notes", "query": "q"},
        {"type": "if", "condition": {"type": "emty", "target": "$x"}, "then": []},
        {"type": "for-each", "target": "$c", "do": [{"type": "nothing"}]},
        {"type": "server/tool", "path": "x"},
        {"type": "map", "target": "$c", "operation": {"type": "head", "out": "$x"}},
        {"type": "create-note", "value": 1, "out": "x"},
    ],
    ids=lambda step: json.dumps(step)[:50],
)
def test_the_grammar_refuses_what_no_plan_may_say(validator: Any, step: Any) -> None:
    """It is closed: unknown types, fields and values are none of it."""
    assert list(validator.iter_errors({"steps": [step]}))


def test_every_example_is_of_the_grammar(validator: Any) -> None:
    """Those of primitives and of forms."""
    steps = [dict(example) for entry in installed() for example in entry.examples]
    steps += [dict(form.example) for form in FORMS.values()]
    assert [error.message for error in validator.iter_errors({"steps": steps})] == []


def test_the_examples_of_the_forms_pass_the_check(space: Space) -> None:
    """With the variables that they read."""
    server = LocalTools("tracker")

    @server.tool(read_only=True)
    def issues(cursor: str = "") -> dict[str, Any]:
        """List issues."""
        return {"issues": [cursor]}

    space.tools.add(server)
    made: list[Any] = [
        {"type": "discover-notes", "query": "q", "out": "$hits"},
        {"type": "create-collection", "value": [], "out": "$found"},
        {"type": "size", "target": "$found", "out": "$n"},
        {"type": "create-note", "value": "T", "out": "$title"},
    ]
    for form in FORMS.values():
        found = check_plan(space, [*made, dict(form.example)])[1].found
        assert [problem for problem in found if problem.severity == "error"] == []


def test_the_short_form_of_everything_fits_a_prompt() -> None:
    """Under 15,250 characters, with each primitive, form and condition in it."""
    catalogue = installed()
    text = short(catalogue)
    print(f"short {len(text):,}, full {len(full(catalogue)):,} characters")  # noqa: T201
    assert len(text) < 15_250
    assert all(f"- `{name}` (" in text for name in [*catalogue.types(), *FORMS])
    assert "tool_condition" in text


def test_names_choose_what_is_told() -> None:
    """In full as Markdown, and as JSON with the grammar of just these."""
    catalogue = installed()
    assert full(catalogue, ["size"]) == to_markdown(catalogue.get("size"))
    chosen = machine(catalogue, ["size"])
    assert [entry["type"] for entry in chosen["primitives"]] == ["size"]
    validator = Draft202012Validator(chosen["grammar"])
    assert validator.is_valid({"steps": [{"type": "size", "target": "$c"}]})
    assert not validator.is_valid({"steps": [{"type": "head", "target": "$c"}]})
