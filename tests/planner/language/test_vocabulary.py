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
from planner.parse.vocabulary import contract_in_short, contract_line, full, machine, short

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
        {"type": "load", "target": "a", "timeout_s": 0},
        {"type": "load", "target": "a", "retry": {"attempts": 0}},
        {"type": "load", "target": "a", "retry": {"backoff": 0.5}},
        {"type": "load", "target": "a", "retry": {"wait": 1}},
        {"type": "load", "target": "a", "on_fail": "skip"},
        {"type": "plan:p", "retry": {"attempts": 2}},
        {"type": "if", "condition": "$n > 1", "then": [], "retry": {"attempts": 2}},
        {"type": "if", "condition": {"type": "not", "of": ["$a", "$b"]}, "then": []},
        {"type": "if", "condition": {"type": "and", "of": []}, "then": []},
        {"type": "if", "condition": {"type": "equals", "target": "$a"}, "then": []},
        {"type": "parallel", "branches": []},
        {"type": "wait", "seconds": -1},
        {"type": "wait", "seconds": 10 * 365 * 86_400 + 1},
        {"type": "stop", "status": "done"},
        {"type": "while", "condition": "$n > 1", "body": [], "max_iterations": 0},
        {"type": "pages", "tool": "fetch", "first": 1},
        {"type": "map", "target": "$c", "operation": {"type": "join", "on": "id"}},
    ],
    ids=lambda step: json.dumps(step)[:50],
)
def test_the_grammar_refuses_what_no_plan_may_say(validator: Any, step: Any) -> None:
    """It is closed: unknown types, fields and values are none of it."""
    assert list(validator.iter_errors({"steps": [step]}))


@pytest.mark.parametrize(
    "step",
    [
        {"type": "map", "target": "$c", "operation": {"type": "join", "value": "$d", "on": "id"}},
        {"type": "map", "target": "$c", "operation": {"type": "s/t", "arguments": {"a": 1}}, "retry": {"attempts": 2}},
        {"type": "pages", "tool": "s/t", "first": "$n", "step": "$m", "retry": {"wait_s": 0, "backoff": 1}},
        {"type": "if", "condition": {"type": "tool_condition", "tool": "s/t"}, "then": [], "timeout_s": 0.5},
        {"type": "if", "condition": {"type": "not", "of": ["$a"]}, "then": []},
        {"type": "wait", "seconds": "$n"},
        {"type": "head", "target": "$c", "count": "$n", "on_fail": [{"type": "say", "value": {"a": [None]}}]},
        {"type": "plan:p", "arguments": {"a": 1}, "out": "$x", "name": "n", "replace": True, "expect": "e", "id": "i"},
    ],
    ids=lambda step: json.dumps(step)[:50],
)
def test_the_grammar_admits_what_the_check_does(validator: Any, step: Any) -> None:
    """The item of a `map` for the first resource of its operation, and references for what they may stand for."""
    assert [error.message for error in validator.iter_errors({"steps": [step]})] == []


@pytest.mark.parametrize(
    ("type_", "line"),
    [
        ("head", "head (target*: C, count=1) → C. "),
        ("sort", "sort (target*: C, by*, order=asc|desc, nulls=last|first) → C. "),
        ("remove", "remove (target*: T, value: T, if_version) → C or nothing, writes. "),
        ("say", "say (value*) → nothing, calls. "),
        ("coerce", "coerce (target*: N, coercion*: string|int|float|bool|json|list, delimiter) → N. "),
    ],
)
def test_a_contract_in_a_line_has_its_arguments_and_what_it_gives(type_: str, line: str) -> None:
    """The default of several words stands first, and what is needed has a mark; an effect is told."""
    entry = installed().get(type_)
    assert contract_line(entry) == f"{line}{entry.summary}"


def test_a_contract_in_short_has_two_examples() -> None:
    entry = installed().get("create-note")
    head, behaviour, *examples = contract_in_short(entry).splitlines()
    assert head == f"create-note(value*, metadata={{}}) → N. {entry.summary}"
    assert behaviour == " ".join(entry.behaviour.split())
    assert [json.loads(one) for one in examples] == [dict(one) for one in entry.examples[:2]]
    assert contract_in_short(installed().get("say")).startswith("say(value*) → nothing [calls]. ")


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
