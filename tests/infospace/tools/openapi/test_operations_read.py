"""What is read of an operation where its document leaves something out, says it twice, or leaves a choice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infospace.tools.openapi.document import read_document
from infospace.tools.openapi.operations import Argument, Body, Credential, Operation, is_json, read_operations

TEXT = {"type": "string"}
FINE = {"responses": {"200": {"description": "it"}}}


def read(operation: dict[str, Any], item: dict[str, Any] | None = None, path: str = "/x", **members: Any) -> Operation:
    """Return the one operation of a document, a POST."""
    paths = {path: {"post": {**FINE, **operation}, **(item or {})}}
    document = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": paths, **members}
    done = read_operations(read_document(json.dumps(document).encode(), ""))
    assert done.refused == []
    (found,) = done.found.values()
    return found


def refused(operation: dict[str, Any]) -> str:
    """Return why the one operation of a document is refused."""
    document = {"openapi": "3.1.0", "info": {}, "paths": {"/x": {"post": {**FINE, **operation}}}}
    (entry,) = read_operations(read_document(json.dumps(document).encode(), "")).refused
    return entry.why


def parameter(name: str, place: str, **members: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": TEXT, **members}


@pytest.mark.parametrize(
    ("said", "title", "description"),
    [
        ({}, "", "POST /x"),
        ({"summary": " Add. "}, "Add.", "Add."),
        ({"summary": "Add.", "description": "Adds one."}, "Add.", "Add.\nAdds one."),
        ({"summary": "Adds", "description": "Adds one."}, "Adds", "Adds one."),
        ({"description": 3, "deprecated": True}, "", "Deprecated."),
        ({"description": "Adds.", "deprecated": "yes"}, "", "Adds."),
    ],
)
def test_what_an_operation_says_of_itself(said: dict[str, Any], title: str, description: str) -> None:
    """Its summary is not said twice; one that says nothing is its method and path."""
    listed = read(said).listed
    assert (listed.title, listed.description) == (title, description)


@pytest.mark.parametrize(
    ("method", "hints"),
    [
        ("get", (True, True, False)),
        ("head", (True, True, False)),
        ("options", (True, True, False)),
        ("trace", (True, True, False)),
        ("put", (False, True, True)),
        ("delete", (False, True, True)),
        ("patch", (False, None, True)),
        ("post", (None, None, None)),
    ],
)
def test_what_http_says_of_a_method(method: str, hints: tuple[bool | None, ...]) -> None:
    document = {"openapi": "3.1.0", "info": {}, "paths": {"/x": {method: {**FINE, "tags": [1, "b", "a"]}}}}
    (found,) = read_operations(read_document(json.dumps(document).encode(), "")).found.values()
    listed = found.listed
    assert (listed.read_only, listed.idempotent, listed.destructive) == hints
    assert (found.method, listed.tags, listed.category) == (method.upper(), ("b", "a"), "b")


def test_what_an_operation_says_of_a_parameter_counts_before_its_path() -> None:
    """Of the same name in the same place; headers that are not the caller's to set are passed over."""
    shared = [parameter("a", "query", description="of the path"), parameter("Accept", "header")]
    own = [parameter("a", "query", description=" own ", deprecated=True), parameter("authorization", "header")]
    found = read({"parameters": own}, {"parameters": [*shared, parameter("b", "query", example=7)]})
    assert found.listed.input_schema == {
        "type": "object",
        "properties": {
            "a": {"type": "string", "description": "own", "deprecated": True},
            "b": {"type": "string", "examples": [7]},
        },
        "additionalProperties": False,
    }


def test_arguments_of_one_name_are_told_apart_by_their_place() -> None:
    """So is one that is called as the body is; what stands in the path is always needed."""
    parameters = [
        parameter("id", "path"),
        parameter("id", "query", required=True, style="pipeDelimited"),
        parameter("body", "query", explode=False, allowReserved=True),
        parameter("deep", "query", style="deepObject"),
        parameter("X", "header", required=True),
    ]
    found = read({"parameters": parameters}, path="/x/{id}")
    assert list(found.arguments) == [
        Argument("id_path", "id", "path", "simple", explode=False),
        Argument("id_query", "id", "query", "pipeDelimited", explode=False),
        Argument("body_query", "body", "query", "form", explode=False, reserved=True),
        Argument("deep", "deep", "query", "deepObject", explode=True),
        Argument("X", "X", "header", "simple", explode=False),
    ]
    assert found.listed.input_schema["required"] == ["id_path", "id_query", "X"]
    both = [parameter("a", "query"), parameter("a", "header"), parameter("a_query", "query")]
    assert refused({"parameters": both}) == "it has two parameters 'a_query'"
    whole = {"name": "q", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}}
    (argument,) = read({"parameters": [whole]}).arguments
    assert argument == Argument("q", "q", "query", "form", explode=True, as_json=True)


@pytest.mark.parametrize(
    ("content", "body"),
    [
        ({"text/plain": {}, "application/json": {}}, Body("application/json")),
        (
            {"multipart/form-data": {}, "application/x-www-form-urlencoded": {}},
            Body("application/x-www-form-urlencoded"),
        ),
        ({"text/plain": {}, "multipart/form-data": {}}, Body("multipart/form-data")),
        ({"text/csv": {}, "text/plain": {}}, Body("text/plain")),
        ({"text/csv": {}, "application/xml": {}}, Body("text/csv")),
        ({"image/png": {}}, Body("image/png", binary=True)),
        ({"image/png": {"schema": {"type": "string", "format": "byte"}}}, Body("image/png")),
        ({"*/*": {}}, Body("*/*", binary=True)),
        ({"application/pdf": {"schema": {"type": "string", "format": "binary"}}}, Body("application/pdf", binary=True)),
    ],
)
def test_of_the_types_of_a_body_one_is_taken(content: dict[str, Any], body: Body) -> None:
    """JSON before forms, these before texts, of equals the first; bytes are given as base64."""
    found = read({"requestBody": {"content": content, "description": "It."}})
    assert found.body == body
    schema = found.listed.input_schema["properties"]["body"]
    assert schema["description"] == "It."
    assert (schema.get("contentEncoding") == "base64") is body.binary
    assert "required" not in found.listed.input_schema


def test_a_body_that_holds_nothing_is_none() -> None:
    """One of a type that is no object is refused, and so is one beside a parameter of its name."""
    assert read({"requestBody": {"content": {}, "required": True}}).body is None
    assert read({"requestBody": None}).body is None
    needed = read({"requestBody": {"content": {"text/plain": {}}, "required": True}})
    assert needed.listed.input_schema["required"] == ["body"]
    assert needed.listed.input_schema["properties"] == {"body": {"type": "string"}}
    for media_type, schema in (("application/json", {}), ("application/xml", {"type": "string"})):
        body = read({"requestBody": {"content": {media_type: {}}}})
        assert body.listed.input_schema["properties"] == {"body": schema}
    why = refused({"requestBody": {"content": {"text/plain": [1]}}})
    assert why == "its request body of the type 'text/plain' is [1], not an object"
    media = {
        "properties": {"f": {"format": "binary"}, "g": {"contentMediaType": "application/octet-stream"}, "h": TEXT}
    }
    form = read({"requestBody": {"content": {"multipart/form-data": {"schema": {"type": "object", **media}}}}})
    assert form.body == Body("multipart/form-data", binary_fields=frozenset({"f", "g"}))


def answering(**responses: Any) -> Operation:
    return read({"responses": {status.lstrip("_"): {"description": "it", **one} for status, one in responses.items()}})


def test_the_first_good_answer_that_holds_something_says_what_is_given() -> None:
    """The others only where none is good; all its types are asked for."""
    number, text = ({"content": {"application/json": {"schema": {"type": kind}}}} for kind in ("number", "string"))
    assert answering(_201=text, _200=number, default=text).listed.output_schema == {"type": "number"}
    assert answering(_200={}, _201=text).listed.output_schema == {"type": "string"}
    assert answering(default=text, _404=number).listed.output_schema == {"type": "string"}
    assert answering(_404=number).listed.output_schema is None
    assert answering(_2XX=text).listed.output_schema == {"type": "string"}
    mixed = answering(
        _200={"content": {"text/csv": {}, "application/a+json; x=1": {"schema": {"type": "array"}}, "ü/ü": {}}}
    )
    assert (mixed.listed.output_schema, mixed.accepts) == ({"type": "array"}, "text/csv, application/a+json; x=1")
    for media in ({}, [1], {"schema": None}):
        odd = answering(_200={"content": {"application/json": media}})
        assert (odd.listed.output_schema, odd.accepts) == (None, "application/json")
    assert answering(_204={}).accepts == "*/*"
    assert answering(_200={"content": {"ü/ü": {}}}).accepts == "*/*"


def test_ways_to_be_let_in_are_the_operations_own_else_the_documents() -> None:
    """A way that asks for nothing, or no way at all, keeps nobody out; their places are no arguments."""
    schemes = {
        "key": {"type": "apiKey", "in": "query", "name": "k"},
        "basic": {"type": "http", "scheme": "BASIC"},
        "token": {"type": "http", "scheme": "bearer"},
        "sign": {"type": "oauth2", "flows": {}},
        "open": {"type": "openIdConnect", "openIdConnectUrl": "https://x.org"},
    }
    beside = {"security": [{"key": []}], "components": {"securitySchemes": schemes}}
    key = Credential("key", "query", "k")
    arguments = [parameter("K", "query"), parameter("k", "cookie")]
    found = read({"parameters": arguments}, **beside)
    assert (found.security, [one.name for one in found.arguments]) == ([[key]], ["k"])
    assert read({"security": []}, **beside).security == []
    assert read({"security": [{"key": []}, {}]}, **beside).security == []
    assert read({"security": [{"basic": [], "token": []}, {"sign": []}, {"open": []}]}, **beside).security == [
        [
            Credential("basic", "header", "Authorization", "Basic ", basic=True),
            Credential("token", "header", "Authorization", "Bearer "),
        ],
        [Credential("sign", "header", "Authorization", "Bearer ")],
        [Credential("open", "header", "Authorization", "Bearer ")],
    ]


@pytest.mark.parametrize(
    ("media", "json_"),
    [
        ("application/json", True),
        ("Text/JSON ; charset=utf-8", True),
        ("application/problem+JSON", True),
        ("application/jsonl", False),
        ("json", False),
        ("text/plain; x=+json", False),
    ],
)
def test_which_types_are_json(media: str, json_: bool) -> None:
    assert is_json(media) is json_
