"""What is wrong with a document, or with one operation in it, is told in a sentence; the rest works."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent))
from api_server import served as serving
from documents_for_tests import BOOKS, SHOP
from served import call, odd, synced, write

from infospace import Space
from infospace.core.errors import Invalid
from infospace.schema.validate import validate
from infospace.tools.mcp.config import read_entries
from infospace.tools.openapi.document import read_document
from infospace.tools.openapi.operations import read_operations
from infospace.tools.openapi.requests import make_request

GET: dict[str, Any] = {"responses": {"200": {"description": "it"}}}


def api(paths: Any, **members: Any) -> dict[str, Any]:
    """Return a small document."""
    return {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": paths, **members}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty"),
        (b"{", "it is not JSON: "),
        (b"- a: [b", "it is neither JSON nor YAML: "),
        (b"\xff\xfe\x00", "it is not text in UTF-8"),
        (b"[1, 2]", "it is [1, 2], not an object"),
        (b'{"swagger": "2.0", "paths": {}}', "it is of Swagger 2.0, and 3.0 and 3.1 are read"),
        (b'{"info": {}, "paths": {}}', "it has no `openapi`, which says its version"),
        (b'{"openapi": "4.0.0", "info": {}, "paths": {}}', 'it is of version "4.0.0", and 3.0 and 3.1 are read'),
        (b'{"openapi": "3.0.0", "paths": {}}', "it has no `info`"),
        (b'{"openapi": "3.0.0", "info": {}}', "it has no `paths`"),
        (b'{"openapi": "3.1.0", "info": {}, "paths": []}', "its `paths` is [], not an object"),
        (b"<html></html>", "it is "),
        (b'{"openapi": "3.1.0", "info": ' + b'{"a":' * 300 + b"1" + b"}" * 300 + b', "paths": {}}', "it is not JSON: "),
        (b"x" * (2**24 + 1), "it is larger than 16 MB"),
        (
            b"a: &a [1,1,1,1,1,1,1,1,1,1]\n"
            + b"".join(b"%c: &%c [%s]\n" % (98 + n, 98 + n, b",".join([b"*%c" % (97 + n)] * 10)) for n in range(9)),
            "it has more than 1,000,000 values",
        ),
    ],
)
def test_a_broken_document_is_that_entrys_failure_alone(space: Space, data: bytes, reason: str) -> None:
    """One sentence with the entry's name; another server of the file is listed all the same."""
    folder = Path(space.store.address).parent
    (folder / "api.json").write_bytes(data)
    write(folder, bad={"openapi": "api.json", "base_url": "http://127.0.0.1:9"}, good=odd("promises"))
    report = synced(space)
    [failed] = report.failed
    assert failed.server == "bad"
    assert failed.reason.startswith(f"the document of the server 'bad' cannot be read: {reason}")
    assert "\n" not in failed.reason
    assert report.listed == ["good"]


def with_parameter(**members: Any) -> dict[str, Any]:
    """Return an operation with a parameter."""
    return {**GET, "parameters": [members]}


def with_reference(reference: str) -> dict[str, Any]:
    """Return an operation with a parameter that is elsewhere."""
    return with_parameter(**{"$ref": reference})


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        (7, "it is 7, not an object"),
        ({**GET, "parameters": {}}, "its `parameters` is {}, not a list"),
        (with_parameter(**{"in": "query"}), "a parameter is wrong: `name`: Field required"),
        (with_parameter(name="a", **{"in": "body"}), "a parameter 'a' is wrong: `in`: "),
        (
            {**GET, "parameters": [{"name": "a", "in": "path", "required": True}]},
            "its parameter 'a' is not in its path",
        ),
        (
            {**GET, "parameters": [{"name": "a", "in": "query", "style": "odd"}]},
            "its parameter 'a' has the style 'odd'",
        ),
        (
            {**GET, "parameters": [{"$ref": "#/components/parameters/none"}]},
            "the reference '#/components/parameters/none' leads nowhere",
        ),
        (
            {**GET, "parameters": [{"$ref": "other.yaml#/a"}]},
            "it refers to another document, 'other.yaml#/a', which is not read",
        ),
        (with_reference("http://127.0.0.1:1/x"), "it refers to another document"),
        (with_reference("#/components/parameters/loop"), "leads back to itself"),
        ({**GET, "requestBody": {"content": 3}}, "its request body is wrong: `content`: "),
        (
            {**GET, "requestBody": {"content": {"application/json": []}}},
            "of the type 'application/json' is []",
        ),
        (
            with_parameter(name="a", schema={"type": "strin"}, **{"in": "query"}),
            "its parameter 'a' has the type \"strin\", and types are array, boolean, integer, ",
        ),
        (
            with_parameter(name="a", schema={"type": ["string", 7]}, **{"in": "query"}),
            "its parameter 'a' has the type 7, and types are ",
        ),
        (
            with_parameter(name="a", schema={"$ref": "#/components/schemas/odd"}, **{"in": "query"}),
            "its parameter 'a' has the type \"strin\"",
        ),
        (
            with_parameter(name="a", schema={"$ref": "#/components/schemas/chain"}, **{"in": "query"}),
            "its parameter 'a' has the type \"strin\", and types are ",
        ),
        (
            with_parameter(name="a", schema={"type": "array", "items": {"type": "strin"}}, **{"in": "query"}),
            "its parameter 'a' has the type \"strin\" at 'items', and types are ",
        ),
        (
            with_parameter(
                name="a", schema={"anyOf": [{"type": "null"}, {"$ref": "#/components/schemas/tree"}]}, **{"in": "query"}
            ),
            "its parameter 'a' has the type \"strin\" at 'anyOf.1.properties.leaf', and types are ",
        ),
        (
            {
                **GET,
                "requestBody": {"content": {"application/json": {"schema": {"properties": {"a": {"type": "int"}}}}}},
            },
            "its request body has the type \"int\" at 'properties.a', and types are ",
        ),
        (
            {
                **GET,
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/chain"}}}},
            },
            'its request body has the type "strin", and types are ',
        ),
        ({"responses": [1]}, "its responses are [1], not an object"),
        (
            {**GET, "security": [{"none": []}]},
            "the security scheme 'none', which the document does not have",
        ),
        ({**GET, "security": [{"cert": []}]}, "it asks for a client's certificate"),
    ],
)
def test_a_broken_operation_is_refused_alone(operation: Any, why: str) -> None:
    """By the tool's name, with what is wrong; the operations beside it are there."""
    document = api(
        {"/bad": {"get": operation}, "/good": {"get": GET}},
        components={
            "parameters": {"loop": {"$ref": "#/components/parameters/loop"}},
            "schemas": {
                "odd": {"type": "strin"},
                "chain": {"$ref": "#/components/schemas/link"},
                "link": {"$ref": "#/components/schemas/odd"},
                "tree": {
                    "properties": {
                        "type": {"type": "string"},
                        "branch": {"$ref": "#/components/schemas/tree"},
                        "leaf": {"$ref": "#/components/schemas/link"},
                    }
                },
            },
            "securitySchemes": {"cert": {"type": "mutualTLS"}},
        },
    )
    done = read_operations(read_document(json.dumps(document).encode()))
    assert list(done.found) == ["get_good"]
    [refused] = done.refused
    assert refused.name == "get_bad"
    assert why in refused.why


@pytest.mark.parametrize("reference", ["#/components/schemas/any", "#/none", "other.yaml#/a"])
def test_any_value_fits_a_schema_that_cannot_be_read(reference: str) -> None:
    """A reference to no object costs the parameter its schema, not the operation."""
    operation = with_parameter(name="a", schema={"$ref": reference}, **{"in": "query"})
    document = api({"/a": {"get": operation}}, components={"schemas": {"any": True}})
    done = read_operations(read_document(json.dumps(document).encode()))
    assert not done.refused
    assert done.found["get_a"].listed.input_schema["properties"] == {"a": {}}


@pytest.mark.parametrize("path", ["/a/{id}", "a", "@evil.example/", "//../x"])
def test_a_path_that_does_not_hold_is_refused(path: str) -> None:
    """A variable without its parameter, one that does not begin with a slash; none leads to another host."""
    done = read_operations(read_document(json.dumps(api({path: {"get": GET}})).encode()))
    if path == "//../x":
        [operation] = done.found.values()
        with pytest.raises(Invalid, match="leads elsewhere"):
            make_request(operation, "https://a.example", {}, {}, {})
        return
    assert done.found == {}
    assert len(done.refused) == 1


def test_schemas_lose_only_what_cannot_be_checked() -> None:
    """A reference that leads nowhere, a pattern that is none, a schema that only refers to itself."""
    schemas = {
        "A": {"type": "object", "properties": {"b": {"$ref": "#/components/schemas/None"}, "c": {"pattern": "("}}},
        "Loop": {"$ref": "#/components/schemas/Loop"},
        "Tree": {
            "type": "object",
            "properties": {"kids": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}},
        },
    }
    paths = {
        f"/{name}": {
            "post": {
                **GET,
                "requestBody": {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}},
            }
        }
        for name in schemas
    }
    done = read_operations(read_document(json.dumps(api(paths, components={"schemas": schemas})).encode()))
    assert [one.name for one in done.refused] == []
    takes = {name: one.listed.input_schema["properties"]["body"] for name, one in done.found.items()}
    assert takes["post_A"]["properties"]["c"] == {}
    assert validate({"body": {"b": 7, "c": "x"}}, done.found["post_A"].listed.input_schema) == []
    assert takes["post_Tree"]["properties"]["kids"]["items"] == {"$ref": "#/$defs/Tree"}


def test_names_do_not_hang_on_the_order_of_the_document() -> None:
    """The same `operationId` twice names neither; a long one is cut, and stays its own; none is another one's."""
    long = "x" * 100
    paths = {
        "/a": {"get": {**GET, "operationId": "same"}, "post": {**GET, "operationId": "same"}},
        "/b/{c}": {"get": {**GET, "operationId": long, "parameters": [{"name": "c", "in": "path", "required": True}]}},
        "/b/c": {"get": GET},
        "/b-c": {"get": GET},
        "/b_c": {"get": GET},
    }

    def names(written: Iterable[tuple[str, Any]]) -> dict[str, str]:
        document = read_document(json.dumps(api(dict(written))).encode())
        return {f"{one.path}{one.method}": name for name, one in read_operations(document).found.items()}

    one, other = names(paths.items()), names(reversed(paths.items()))
    assert one == other
    assert {one["/aGET"], one["/aPOST"]} == {"get_a", "post_a"}
    assert len(one["/b/{c}GET"]) == 64
    assert len({name.casefold() for name in one.values()}) == len(one) == 6


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"openapi": "api.json", "url": "http://x"}, "it has both `url` and `openapi`"),
        ({"openapi": "api.json", "command": "x"}, "it has both `command` and `openapi`"),
        ({"openapi": "", "base_url": "http://x"}, "`openapi` names nothing"),
        ({"openapi": 3, "base_url": "http://x"}, "'openapi' is the file or URL of an OpenAPI document, not 3"),
        ({"openapi": "ftp://x/y"}, "is neither a file nor a URL"),
        ({"openapi": "api.json", "base_url": "api.example"}, '"api.example" is not a URL'),
        ({"openapi": "api.json", "base_url": "http://x", "auth": {"key": 3}}, "'auth' is an object of texts"),
        ({"openapi": "none.json", "base_url": "http://x"}, "there is no file"),
        ({"openapi": "api.json"}, "the entry does not say where it is called"),
        ({"openapi": "api.json", "base_url": "http://x?y=z"}, "its base URL has a query or a fragment"),
        (
            {"openapi": "api.json", "base_url": "${NO_SUCH_VARIABLE}"},
            "the environment has not: NO_SUCH_VARIABLE",
        ),
        (
            {"openapi": "api.json", "base_url": "http://x", "headers": {"a b": "c"}},
            "the header 'a b' of the server",
        ),
    ],
)
def test_a_broken_entry_is_told_in_a_sentence(space: Space, entry: Any, words: str) -> None:
    """Of that entry alone."""
    folder = Path(space.store.address).parent
    (folder / "api.json").write_text(json.dumps(SHOP), encoding="utf-8")
    write(folder, api=entry, good=odd("promises"))
    report = synced(space)
    [failed] = report.failed
    assert words in failed.reason
    assert report.listed == ["good"]
    if words.startswith("the entry does not say"):
        assert failed.hint is not None
        assert '"base_url": "https://shop.example/v1"' in failed.hint


@pytest.mark.parametrize(
    ("entry", "hint"),
    [
        ({"openapi": " ", "base_url": "http://x"}, "the file or URL of a document"),
        ({"openapi": "a\0b", "base_url": "http://x"}, "the file or URL of a document"),
        ({"openapi": "ftp://x/y"}, "a path, or https://…"),
        ({"openapi": "api.json", "base_url": "api.example"}, "https://api.example.org/v1"),
        ({"url": "x.org"}, "http://… or https://…"),
        ({"url": "http://x", "type": "sse"}, "over HTTP that is streamable HTTP"),
        ({"command": "x", "type": "http"}, '"stdio" with `command`, "http" with `url`'),
    ],
)
def test_a_broken_entry_says_what_would_have_fitted(tmp_path: Path, entry: Any, hint: str) -> None:
    """Beside the sentence of what is wrong."""
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"api": entry}}))
    found = read_entries(path)
    assert [(problem.server, problem.hint) for problem in found.problems] == [("api", hint)]


def test_a_document_at_a_url_is_read_there_and_called_there_alone(space: Space) -> None:
    """Its own server counts where it is of the same origin; another has to be declared. No redirect is followed."""
    folder = Path(space.store.address).parent
    with serving(BOOKS) as api, serving(BOOKS) as other:

        def have(servers: Any, change: Callable[[dict[str, Any]], Any] = lambda _: None, **entry: Any) -> str | None:
            document = json.loads(json.dumps({**BOOKS, "servers": servers}))
            change(document)
            api.own["/openapi.json"] = (200, {}, json.dumps(document).encode())
            write(folder, books={"openapi": f"{api.url}/openapi.json", "headers": {"X-Key": "secret-x"}, **entry})
            failed = synced(space, restart=True).failed
            return failed[0].reason if failed else None

        assert have([{"url": "/"}]) is None
        assert call(space, "books/search_books", q="a").structured is not None
        for there in (other.url, "http://169.254.169.254/", "http://localhost.evil.example"):
            assert "does not say where it is called" in str(have([{"url": there}]))
        assert have([{"url": other.url}], base_url=other.url) is None
        call(space, "books/search_books", q="a")
        assert other.seen[-1]["headers"]["x-key"] == "secret-x"
        assert [one["headers"].get("x-key") for one in api.seen][-1] is None, "headers go to the base URL alone"
        assert have([], base_url=api.url) is None
        assert api.seen[-1]["headers"]["x-key"] == "secret-x", "and with them the document is asked for there"
        api.own["/openapi.json"] = (302, {"Location": f"{other.url}/x"}, b"")
        asked = len(other.seen)
        [failed] = synced(space, restart=True).failed
        assert f"/openapi.json leads to '{other.url}/x'" in failed.reason
        assert len(other.seen) == asked
        api.own["/openapi.json"] = (503, {}, b"")
        [failed] = synced(space, restart=True).failed
        assert failed.reason.endswith("/openapi.json answered HTTP 503")
        api.own["/openapi.json"] = (400, {}, json.dumps(BOOKS).encode())
        [failed] = synced(space, restart=True).failed
        assert failed.reason.endswith("/openapi.json answered HTTP 400")


def test_operations_with_servers_of_their_own_are_called_at_the_base_url(space: Space) -> None:
    """What a document says of other servers, for a path or an operation, is passed over."""
    folder = Path(space.store.address).parent
    with serving(BOOKS) as api, serving(BOOKS) as other:
        document = json.loads(json.dumps(BOOKS))
        document["paths"]["/search"]["servers"] = [{"url": other.url}]
        document["paths"]["/search"]["get"]["servers"] = [{"url": other.url}]
        (folder / "api.json").write_text(json.dumps(document), encoding="utf-8")
        write(folder, books={"openapi": "api.json", "base_url": api.url})
        assert synced(space).failed == []
        call(space, "books/search_books", q="a")
        assert (len(api.seen), other.seen) == (1, [])
