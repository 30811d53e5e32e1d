"""What is read of an operation where its document leaves something out, says it twice, or leaves a choice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infospace.core.errors import Invalid
from infospace.tools.mcp.catalogue.listing import RefusedEntry
from infospace.tools.openapi.document import read_document
from infospace.tools.openapi.operations import METHODS, Argument, Body, Credential, Operation, is_json, read_operations

TEXT = {"type": "string"}
QUERY = "form, spaceDelimited, pipeDelimited, deepObject"
FINE = {"responses": {"200": {"description": "it"}}}


def read(operation: dict[str, Any], item: dict[str, Any] | None = None, path: str = "/x", **members: Any) -> Operation:
    """Return the one operation of a document, a POST."""
    paths = {path: {"post": {**FINE, **operation}, **(item or {})}}
    document = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": paths, **members}
    done = read_operations(read_document(json.dumps(document).encode()))
    assert done.refused == []
    (found,) = done.found.values()
    return found


def refused(operation: dict[str, Any], path: str = "/x", **members: Any) -> str:
    """Return why the one operation of a document is refused."""
    document = {"openapi": "3.1.0", "info": {}, "paths": {path: {"post": {**FINE, **operation}}}, **members}
    (entry,) = read_operations(read_document(json.dumps(document).encode())).refused
    return entry.why


def names(paths: dict[str, Any]) -> list[str]:
    """Return what the operations of a document are called, those that are refused too."""
    document = {"openapi": "3.1.0", "info": {}, "paths": paths}
    done = read_operations(read_document(json.dumps(document).encode()))
    return [*done.found, *(one.name for one in done.refused)]


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
    (found,) = read_operations(read_document(json.dumps(document).encode())).found.values()
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


def schemes(**scheme: Any) -> dict[str, Any]:
    """Return the members of a document that has one security scheme, `a`."""
    return {"components": {"securitySchemes": {"a": scheme}}}


@pytest.mark.parametrize(
    ("operation", "members", "why"),
    [
        ({"parameters": [3]}, {}, "a parameter is 3, not an object"),
        ({"parameters": {}}, {}, "its `parameters` is {}, not a list"),
        (
            {"parameters": [parameter("a", "query", style="odd")]},
            {},
            f"its parameter 'a' has the style 'odd', and in query there are {QUERY}",
        ),
        (
            {"parameters": [parameter("a", "header", style="form")]},
            {},
            "its parameter 'a' has the style 'form', and in header there are simple",
        ),
        ({"parameters": [parameter("a", "path")]}, {}, "its parameter 'a' is not in its path '/x'"),
        ({}, {"path": "/x/{b}/{a}"}, "its path '/x/{b}/{a}' has {a}, and no parameter of that name"),
        ({}, {"path": "x"}, "the path 'x' does not begin with `/`"),
        ({"requestBody": 3}, {}, "its request body is 3, not an object"),
        ({"requestBody": {}}, {}, "its request body is wrong: `content`: Field required"),
        (
            {"requestBody": {"content": 3}},
            {},
            "its request body is wrong: `content`: Input should be a valid dictionary",
        ),
        ({"responses": {"200": 3}}, {}, "its response 200 is 3, not an object"),
        ({"responses": {"200": {"content": 3}}}, {}, "the content of its response 200 is 3, not an object"),
        ({"security": {}}, {}, "its `security` is {}, not a list"),
        ({"security": [3]}, {}, "what it says of `security` is 3, not an object"),
        ({"security": [{"a": []}]}, {}, "it asks for the security scheme 'a', which the document does not have"),
        (
            {"security": [{"a": []}]},
            {"components": {"securitySchemes": ["a"]}},
            "it asks for the security scheme 'a', which the document does not have",
        ),
        (
            {"security": [{"a": []}]},
            {"components": {"securitySchemes": {"a": 3}}},
            "the security scheme 'a' is 3, not an object",
        ),
        (
            {"security": [{"a": []}]},
            schemes(type="apiKey", name="x", **{"in": "body"}),
            "the security scheme 'a' does not say where its key goes",
        ),
        (
            {"security": [{"a": []}]},
            schemes(type="apiKey", **{"in": "query"}),
            "the security scheme 'a' does not say where its key goes",
        ),
        ({"security": [{"a": []}]}, schemes(type="odd"), "the security scheme 'a' is of the type \"odd\""),
        (
            {"security": [{"a": []}]},
            schemes(type="mutualTLS"),
            "it asks for a client's certificate ('a'), and none is sent",
        ),
        (
            {"security": [{"a": []}]},
            schemes(type="apiKey", name="x", description=3, **{"in": "query"}),
            "the security scheme 'a' 'x' is wrong: `description`: Input should be a valid string",
        ),
    ],
)
def test_an_operation_that_is_refused_says_why(operation: dict[str, Any], members: dict[str, Any], why: str) -> None:
    assert refused(operation, **members) == why


def test_names_are_made_of_ids_and_of_paths() -> None:
    """An id is one's own in whatever case it is written; a name that is cut, or another's too, has a mark."""
    ids = {
        "/a": {"get": {**FINE, "operationId": "Same"}},
        "/b": {"get": {**FINE, "operationId": "same"}},
        "/c": {
            "get": {**FINE, "operationId": " get it! "},
            "put": {**FINE, "operationId": 3},
            "delete": {**FINE, "operationId": "!!"},
        },
        "/": {"get": FINE},
    }
    assert names(ids) == ["get_a", "get_b", "get_it", "put_c", "delete_c", "get"]
    assert names({"x-own": {"get": FINE}, "/a b": 3, "/": 3, "/c": {"get": FINE}}) == ["get_c", "a_b", "operation"]
    assert names({"/X_": {"get": {**FINE, "operationId": "_X_"}, "put": FINE}}) == ["X", "put_X"]
    assert names({"/b/c": {"get": FINE}, "/B_c": {"get": FINE}}) == ["get_b_c_8b2fbea3", "get_B_c_88918ed0"]
    long = {"/y": {"get": {**FINE, "operationId": "y" * 64}, "put": {**FINE, "operationId": "y" * 65}}}
    assert names(long) == ["y" * 64, f"{'y' * 55}_efab0d1d"]
    assert refused({"parameters": [parameter(name, "query") for name in ("body", "body_query")]}) == (
        "it has two parameters 'body_query'"
    )


def test_a_path_that_is_no_object_is_refused_by_its_name() -> None:
    """What of it is a tool is a tool all the same."""
    document = {"openapi": "3.1.0", "info": {}, "paths": {"/a": 3, "/b": {"get": FINE}}}
    done = read_operations(read_document(json.dumps(document).encode()))
    assert (list(done.found), done.refused) == (
        ["get_b"],
        [RefusedEntry("tool", "a", "the path '/a' is 3, not an object")],
    )


def test_twenty_thousand_operations_are_read_and_no_more() -> None:
    every = {f"/p{number}": dict.fromkeys(METHODS, 7) for number in range(2_500)}
    document = {"openapi": "3.1.0", "info": {}, "paths": every}
    assert len(read_operations(read_document(json.dumps(document).encode())).refused) == 20_000
    every["/more"] = {"get": 7}
    with pytest.raises(Invalid, match="it has more than 20,000 operations"):
        read_operations(read_document(json.dumps(document).encode()))


def test_what_is_said_of_arguments_is_kept() -> None:
    """What a parameter says of itself stands before what its schema says; without a schema anything fits."""
    whole = {"type": "integer", "description": "of the schema", "examples": [1]}
    found = read(
        {
            "parameters": [
                {"name": "a", "in": "query", "schema": whole, "example": 2, "description": "of the parameter"},
                {
                    "name": "b",
                    "in": "query",
                    "schema": whole,
                    "description": " ",
                    "deprecated": False,
                    "required": False,
                },
                {"name": "c", "in": "cookie", "example": 0},
                {"name": "d", "in": "query", "content": {}},
                {"name": "e", "in": "query", "content": {"application/json": {}}, "explode": False},
                parameter("f", "query", style="spaceDelimited"),
                parameter("g", "query", style="pipeDelimited", explode=True),
            ]
        }
    )
    assert found.listed.input_schema["properties"] == {
        "a": {"type": "integer", "description": "of the parameter", "examples": [1]},
        "b": whole,
        "c": {"examples": [0]},
        "d": {},
        "e": {},
        "f": TEXT,
        "g": TEXT,
    }
    assert "required" not in found.listed.input_schema
    assert [(one.style, one.explode, one.as_json) for one in found.arguments] == [
        ("form", True, False),
        ("form", True, False),
        ("form", True, False),
        ("form", True, False),
        ("form", False, True),
        ("spaceDelimited", False, False),
        ("pipeDelimited", True, False),
    ]
    listed = read({"description": "d" * 20_001, "tags": "a"}).listed
    assert (len(listed.description), listed.tags, listed.category) == (20_000, (), "")
    assert read({"description": "d" * 20_000}).listed.description == "d" * 20_000


def test_of_a_body_of_bytes_only_what_it_is_is_said() -> None:
    """A text's schema stays; each body that is needed comes after the arguments that are."""
    whole = {"type": "string", "description": "own", "format": "binary", "maxLength": 3}
    found = read(
        {
            "parameters": [parameter("a", "query", required=True)],
            "requestBody": {"required": True, "content": {"image/png": {"schema": whole}}},
        }
    )
    assert found.listed.input_schema == {
        "type": "object",
        "properties": {
            "a": TEXT,
            "body": {"type": "string", "contentEncoding": "base64", "description": "own"},
        },
        "additionalProperties": False,
        "required": ["a", "body"],
    }
    number = read({"requestBody": {"content": {"text/plain": {"schema": {"type": "integer"}}}, "description": "b"}})
    assert number.listed.input_schema["properties"] == {"body": {"type": "integer", "description": "b"}}
    for media in ("TEXT/plain", "application/atom+xml"):
        assert read({"requestBody": {"content": {media: {}}}}).listed.input_schema["properties"] == {"body": TEXT}
    for encoded in ({"contentEncoding": "base64"}, {"format": "byte"}):
        body = read({"requestBody": {"content": {"Audio/ogg; x=1": {"schema": encoded}}}})
        assert body.body == Body("Audio/ogg; x=1")
    fields = {"f": {"type": "string", "format": "binary"}, "g": True}
    assert read({"requestBody": {"content": {"Multipart/form-data": {"schema": {"properties": fields}}}}}).body == Body(
        "Multipart/form-data", binary_fields=frozenset({"f"})
    )
    for order in (
        [
            "application/json; a=1",
            "a/b+JSON",
            "A/X-www-FORM-urlencoded; b=2",
            "multipart/mixed",
            "text/Plain; c=3",
            "a/b",
        ],
        ["multipart/mixed", "text/plain", "text/csv"],
        ["text/plain; a=1", "a/b"],
    ):
        found = read({"requestBody": {"content": {media: {} for media in reversed(order)}}})
        assert found.body is not None
        expected = order[1] if order[0].startswith("application/json") else order[0]
        assert found.body.media_type == expected


def test_what_schemas_share_stands_at_the_top() -> None:
    """Once, whichever of the arguments refer to it."""
    schemas = {"A": {"type": "object", "properties": {"b": {"$ref": "#/components/schemas/B"}}}, "B": {"enum": [1]}}
    reference = {"type": "array", "items": {"$ref": "#/components/schemas/A"}}
    found = read(
        {
            "parameters": [{"name": "q", "in": "query", "schema": reference}],
            "requestBody": {"content": {"application/json": {"schema": reference}}},
        },
        components={"schemas": schemas},
    )
    items = {"type": "array", "items": {"$ref": "#/$defs/A"}}
    assert found.listed.input_schema["properties"] == {"q": items, "body": items}
    assert found.listed.input_schema["$defs"] == {
        "A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}},
        "B": {"enum": [1]},
    }
