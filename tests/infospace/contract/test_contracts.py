"""The contract is one thing in two forms: JSON for machines, Markdown for a prompt or a page."""

from __future__ import annotations

import json

import jsonschema
import pytest

from infospace import Primitive
from infospace.contract.catalogue import installed
from infospace.contract.docs import CACHED, to_json, to_markdown

ENTRIES = list(installed())
KEYS = [
    "type", "summary", "behaviour", "effect", "out", "gives", "arguments", "schema", "failures", "examples", "avoid",
    "provider",
]  # fmt: skip


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.type)
def test_the_json_contract_is_whole_and_is_json(entry: Primitive) -> None:
    """Every part of it, and a schema that is one."""
    contract = to_json(entry)
    assert list(contract) == KEYS
    assert json.loads(json.dumps(contract, allow_nan=False)) == contract
    jsonschema.Draft202012Validator.check_schema(contract["schema"])
    assert [argument["name"] for argument in contract["arguments"]] == list(contract["schema"].get("properties", {}))
    for argument in contract["arguments"]:
        assert list(argument) == ["name", "reading", "kinds", "type", "required", "default", "description"]
        assert argument["type"]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.type)
def test_examples_fit_the_schema_beside_the_fields_of_a_step(entry: Primitive) -> None:
    """A machine that goes by the schema writes plans that pass."""
    step = {"type", "out", "name", "replace"}
    assert entry.examples
    for example in entry.examples:
        arguments = {key: value for key, value in example.items() if key not in step}
        jsonschema.validate(arguments, entry.schema)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.type)
def test_the_markdown_contract_has_every_part(entry: Primitive) -> None:
    """Arguments with type and default, behaviour, failures, examples as JSON, what to avoid."""
    text = to_markdown(entry)
    assert text.startswith(f"## {entry.type}\n\n{entry.summary}\n")
    for argument in entry.arguments.values():
        (line,) = [line for line in text.splitlines() if line.startswith(f"- `{argument.name}` (")]
        assert line.endswith(argument.description)
        assert ("required" in line) == argument.required
    for part in (entry.behaviour, *entry.failures, *entry.avoid):
        assert part in text
    assert ("; `out` is required." in text, CACHED in text) == (entry.out == "required", entry.asks)
    shown = text.partition("```json\n")[2].partition("\n```")[0]
    assert [json.loads(line) for line in shown.splitlines()] == [dict(example) for example in entry.examples]


@pytest.mark.parametrize(
    ("type_", "argument", "line"),
    [
        ("discover-notes", "limit", '- `limit` (a whole number from 1 or "all", default `5`): '),
        ("discover-notes", "threshold", '- `threshold` (a number from -1 to 1, "auto" or null, default `null`): '),
        ("discover-notes", "within", "- `within` (Collection, default `null`): "),
        ("discover-notes", "where", "- `where` (an SQL condition or null, default `null`): "),
        ("sort", "by", "- `by` (a path or an expression or a list of such, required): "),
        ("sort", "order", '- `order` ("asc" or "desc", default `"asc"`): '),
        ("create-note", "value", "- `value` (any JSON, required): "),
        ("create-note", "metadata", "- `metadata` (an object, default `{}`): "),
        ("create-collection", "value", "- `value` (a list or one resource, required): "),
        ("bind", "target", "- `target` (any resource, required): "),
        ("flatten", "separator", '- `separator` (text or null, default `"\\n\\n"`): '),
        ("head", "count", "- `count` (a whole number from 0, default `1`): "),
    ],
)
def test_types_are_said_in_words(type_: str, argument: str, line: str) -> None:
    """Words that a model can go by, with defaults in JSON."""
    entry = installed().get(type_)
    assert line + entry.arguments[argument].description in to_markdown(entry)
