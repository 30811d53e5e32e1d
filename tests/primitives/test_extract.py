"""`extract`: what an instruction asks for, as text or as JSON of a schema."""

from __future__ import annotations

from typing import Any

from chatting import Endpoint

TEXT = {"type": "create-note", "value": "Ada decided it in May.", "out": "$x"}
EXTRACT = {"type": "extract", "target": "$x", "instruction": "Who?", "out": "$y"}
WHO = {"type": "object", "properties": {"who": {"$ref": "#/$defs/name"}}, "$defs": {"name": {"type": "string"}}}


def test_without_a_schema_it_gives_text(run: Any, endpoint: Endpoint) -> None:
    endpoint.say("Ada")
    assert run(TEXT, EXTRACT).content("y") == "Ada"
    assert "Ada decided it in May." in endpoint.prompts[0]
    assert endpoint.prompts[0].endswith("Who?")


def test_with_a_schema_it_gives_what_fits_it(run: Any, endpoint: Endpoint) -> None:
    """The schema is literal: `$ref` and `$defs` are no variables."""
    endpoint.say('{"who": "Ada"}')
    assert run(TEXT, {**EXTRACT, "schema": WHO}).content("y") == {"who": "Ada"}
    assert endpoint.requests[0]["response_format"]["json_schema"]["schema"] == WHO


def test_the_check_knows_the_fields_of_the_result(run: Any, endpoint: Endpoint) -> None:
    """A place that the schema rules out is refused before anything is asked."""
    closed = {**WHO, "additionalProperties": False}
    steps = [TEXT, {**EXTRACT, "schema": closed}, {"type": "say", "value": "${y.whom}"}]
    problems = [p for p in run(*steps, status="refused").result.problems if p.severity == "error"]
    assert [(p.code, p.pointer) for p in problems] == [("unknown-field", "/steps/2/value")]
    steps[1] = EXTRACT
    problems = [p for p in run(*steps, status="refused").result.problems if p.severity == "error"]
    assert [p.code for p in problems] == ["unknown-field"]
    assert endpoint.requests == []


def test_what_is_no_schema_is_refused_before_anything_runs(run: Any, endpoint: Endpoint) -> None:
    """With the place in it."""
    wrong = {"type": "object", "properties": {"who": {"type": "name"}}}
    (problem,) = run(TEXT, {**EXTRACT, "schema": wrong}, status="refused").result.problems
    assert problem.pointer == "/steps/1/schema"
    assert '"name" is not "array", "boolean"' in problem.message
    assert problem.message.endswith("at ['properties']['who']['type']")
    assert endpoint.requests == []


def test_of_a_search_result_the_source_is_read_whole(search: Any, endpoint: Endpoint) -> None:
    """Not the passage, and not the result's own JSON."""
    find = {"type": "discover-notes", "query": "a cat on the table", "within": "$all", "threshold": -1, "out": "$hits"}
    long = {"type": "create-collection", "value": ["$long"], "out": "$all"}
    ran = search({"type": "load", "target": "long", "out": "$long"}, long, find, {**EXTRACT, "target": "$hits[0]"})
    assert ran.content("long") in endpoint.prompts[0]
    assert "source_id" not in endpoint.prompts[0]


def test_a_note_that_is_too_long_fails_the_step_and_is_not_cut(run: Any, endpoint: Endpoint, monkeypatch: Any) -> None:
    monkeypatch.setenv("INFOSPACE_LLM_CONTEXT", "500")
    ran = run({**TEXT, "value": "long " * 500}, EXTRACT, status="failed")
    assert "is given at most 500" in ran.reason
    assert endpoint.requests == []
