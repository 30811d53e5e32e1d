"""Operations of an HTTP interface are tools: listed, found, checked, called and asked about like any others."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent))
from api_server import Api
from api_server import served as serving
from documents_for_tests import BOOKS, SHOP
from served import call, synced, write

from infospace import Space
from infospace.core.errors import Invalid
from infospace.core.tool import NoAnswer, NotCalled, ToolFailed
from infospace.tools.scope import Scope
from planner.execute.start import check_plan, run_sync
from planner.metatools.registry import META

KEY = "k-31415-secret"


@pytest.fixture
def shop() -> Iterator[Api]:
    """The shop, on loopback."""
    with serving(SHOP, "/v1") as server:
        yield server


@pytest.fixture
def known(space: Space, shop: Api) -> Space:
    """A space that lists the shop, whose document is a file beside `mcp.json`."""
    connect(space, SHOP, base_url=shop.url, auth={"key": KEY})
    return space


def connect(space: Space, document: Any, **entry: Any) -> Path:
    """Write a document and the entry that names it, and sync; return the document's path."""
    folder = Path(space.store.address).parent
    path = folder / "api.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    write(folder, shop={"openapi": "api.json", **entry})
    assert synced(space).failed == []
    return path


def test_each_operation_is_a_tool_with_a_stable_name_and_hints(known: Space) -> None:
    """By `operationId`, else method and path; GET reads, DELETE takes away, POST says nothing of itself."""
    tools = {tool.name: tool for tool in known.tools}
    names = {"listArticles", "addArticle", "getArticle", "replaceArticle", "delete_articles_id"}
    names |= {"putFile", "getFile", "login", "addPicture"}
    assert sorted(names) == sorted(tools)
    assert {tool.integration for tool in tools.values()} == {"REST"}
    assert tools["listArticles"].category == "articles"
    assert tools["listArticles"].server_title == "Shop"
    hints = {name: (one.read_only, one.idempotent, one.destructive, one.annotated) for name, one in tools.items()}
    assert hints["getArticle"] == (True, True, False, True)
    assert hints["delete_articles_id"] == (False, True, True, True)
    assert hints["addArticle"][3] is False


def test_schemas_are_complete_and_of_one_dialect(known: Space) -> None:
    """References stand in `$defs`; nullable, excluded bounds and read-only properties as 2020-12 says them."""
    add = known.tools.get("shop/addArticle")
    article = add.input_schema["properties"]["body"]
    assert article["required"] == ["title"]
    assert "id" not in article["properties"]
    assert article["properties"]["note"] == {"type": ["string", "null"]}
    assert article["properties"]["kind"]["enum"] == ["cup", "plate", None]
    assert article["properties"]["parts"]["items"] == {"$ref": "#/$defs/Article"}
    assert "Article" in add.input_schema["$defs"]
    assert add.input_schema["required"] == ["body"]
    limit = known.tools.get("shop/listArticles").input_schema["properties"]["limit"]
    assert limit == {
        "type": "integer",
        "exclusiveMinimum": 0,
        "maximum": 50,
        "default": 20,
        "description": "How many at most.",
    }
    gives = known.tools.get("shop/getArticle").output_schema
    assert gives is not None
    assert gives["required"] == ["id", "title"]
    assert "api_key" not in str([tool.input_schema for tool in known.tools])


def test_arguments_go_where_the_document_says(known: Space, shop: Api) -> None:
    """Lists exploded or joined, deep objects, headers, cookies, the key in the query, signs escaped."""
    answer = call(
        known,
        "shop/listArticles",
        limit=3,
        colour=["red", "dark blue"],
        size=[1, 2],
        filter={"price": {"lt": 5}},
        **{"X-Trace": "t1", "view": "a&b"},
    )
    assert isinstance(answer.structured, list)
    [seen] = shop.seen
    assert seen["query"] == [
        ("limit", "3"),
        ("colour", "red"),
        ("colour", "dark blue"),
        ("size", "1,2"),
        ("filter[price][lt]", "5"),
        ("api_key", KEY),
    ]
    assert (seen["headers"]["x-trace"], seen["headers"]["cookie"]) == ("t1", "view=a%26b")
    assert seen["headers"]["accept"] == "application/json"


def test_bodies_are_sent_as_their_types_say(known: Space, shop: Api) -> None:
    """JSON, a form, bytes as base64, a form of several parts."""
    call(known, "shop/addArticle", body={"title": "Cup é", "note": None})
    call(known, "shop/login", body={"user": "a b&c", "days": 3})
    call(known, "shop/putFile", name="a/b c", body=base64.b64encode(b"\x00\x01\xff").decode())
    call(
        known, "shop/addPicture", body={"title": "T", "file": base64.b64encode(b"\x89PNG").decode(), "about": {"a": 1}}
    )
    add, login, put, picture = shop.seen
    assert (json.loads(add["body"]), add["headers"]["content-type"]) == (
        {"title": "Cup é", "note": None},
        "application/json",
    )
    assert login["body"] == b"user=a%20b%26c&days=3"
    assert login["query"] == [], "where nobody is kept out no key is sent"
    assert (put["path"].partition("?")[0], put["body"]) == ("/v1/files/a%2Fb%20c", b"\x00\x01\xff")
    assert picture["headers"]["content-type"].startswith("multipart/form-data; boundary=")
    for part in (b'name="title"', b"\x89PNG", b'name="file"; filename="file"', b'{"a":1}'):
        assert part in picture["body"]


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ((200, {"Content-Type": "application/json"}, b'{"id": 1, "title": "x"}'), {"id": 1, "title": "x"}),
        ((200, {"Content-Type": "application/json"}, b"not json"), "not json"),
        ((200, {"Content-Type": "text/plain; charset=latin-1"}, b"caf\xe9"), "café"),
        ((204, {}, b""), "HTTP 204 No Content, without content"),
        (
            (200, {"Content-Type": "image/png"}, b"\x89P"),
            [{"type": "image", "data": base64.b64encode(b"\x89P").decode(), "mimeType": "image/png"}],
        ),
    ],
)
def test_answers_keep_what_came(known: Space, shop: Api, answer: Any, wanted: Any) -> None:
    """JSON as a value, text as text, an image as its block."""
    shop.own["/v1/articles/7"] = answer
    assert call(known, "shop/getArticle", id=7).content == wanted


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ((404, {}, b'{"message": "no such\n article"}'), 'HTTP 404 Not Found: {"message": "no such article"}'),
        ((500, {}, b""), "HTTP 500 Internal Server Error"),
        (
            (429, {"Retry-After": "7"}, b"slow\ndown"),
            "HTTP 429 Too Many Requests: slow down. It may be called again in 7 s.",
        ),
        ((401, {}, f"bad key {KEY}".encode()), "HTTP 401 Unauthorized: bad key •••"),
        ((599, {}, b"x" * 100_000), "HTTP 599: " + "x" * 500 + "…"),
        (
            (302, {"Location": "http://169.254.169.254/latest?token=abc"}, b""),
            "HTTP 302 Found; it leads to 'http://169.254.169.254/latest?token=•••', and only the base URL is called",
        ),
    ],
)
def test_an_error_is_a_sentence_with_status_and_beginning(known: Space, shop: Api, answer: Any, sentence: str) -> None:
    """No secret in it; a redirect is told, and not followed."""
    shop.own["/v1/articles/7"] = answer
    told = call(known, "shop/getArticle", id=7)
    assert (told.is_error, told.text) == (True, sentence)
    assert len(shop.seen) == 1


def test_a_key_that_the_entry_lacks_is_named(space: Space, shop: Api) -> None:
    """Where the interface keeps somebody out, the sentence says what it asks for."""
    connect(space, SHOP, base_url=shop.url)
    shop.own["/v1/articles/7"] = (401, {}, b"who are you?")
    wanted = "HTTP 401 Unauthorized: who are you?. It asks for 'key', which `auth` of the server's entry does not give."
    assert call(space, "shop/getArticle", id=7).text == wanted


def test_what_cannot_be_sent_is_refused_before_the_call(known: Space, shop: Api) -> None:
    """Arguments that do not fit the schema, a path that leads elsewhere, a header of two lines, no base64."""
    with pytest.raises(Invalid, match="do not fit its schema"):
        call(known, "shop/getArticle", id=0)
    for name, arguments, words in (
        ("getFile", {"name": ".."}, "leads elsewhere"),
        ("getFile", {"name": ""}, "is empty, and stands in the path"),
        ("listArticles", {"X-Trace": "a\r\nHost: x"}, "one line of ASCII"),
        ("putFile", {"name": "x", "body": "?"}, "not base64"),
    ):
        with pytest.raises(NotCalled, match=words):
            call(known, f"shop/{name}", **arguments)
    assert shop.seen == []


def test_time_outs_and_servers_that_are_not_there_are_told(known: Space, shop: Api) -> None:
    """A call that lasts longer than it may; an interface that cannot be reached; an answer that is too large."""
    document = json.loads(json.dumps(SHOP))
    document["paths"]["/hangs"] = {"get": {"operationId": "hang", "responses": {"200": {"description": "late"}}}}
    connect(known, document, base_url=shop.url)
    with pytest.raises(NoAnswer, match=r"shop/hang did not answer within 0\.2 s"):
        call(known, "shop/hang", 0.2)
    shop.own["/v1/articles/7"] = (200, {"Content-Type": "text/plain"}, b"x" * (2**24 + 1))
    with pytest.raises(ToolFailed, match="more than 16 MB"):
        call(known, "shop/getArticle", id=7)
    connect(known, document, base_url="http://127.0.0.1:9/v1")
    with pytest.raises(NotCalled, match=r"was not called: http://127\.0\.0\.1:9/v1 cannot be reached"):
        call(known, "shop/getArticle", id=7)


def test_the_check_knows_types_of_arguments_and_results(known: Space) -> None:
    """A plan is held against the schemas before anything runs, and runs like one of other tools."""
    get = {"type": "shop/getArticle", "arguments": {"id": 7}, "out": "$article"}
    assert run_sync(known, [get, {"type": "say", "value": "${article.title}"}]).status == "success"
    for plan, code in (
        ([{**get, "arguments": {"id": "x7"}}], "bad-argument"),
        ([{**get, "arguments": {"id": 7, "colour": "red"}}], "unknown-argument"),
        ([get, {"type": "say", "value": "${article.price}"}], "unknown-field"),
    ):
        assert [one.code for one in check_plan(known, plan)[1].found if one.severity == "error"] == [code]


def test_a_delete_is_asked_about_and_a_get_is_not(known: Space, shop: Api) -> None:
    """The run waits for an answer before anything is sent."""
    result = run_sync(known, [{"type": "shop/delete_articles_id", "arguments": {"id": 7}, "out": "$gone"}])
    assert result.status == "suspended"
    assert shop.seen == []


def test_a_document_that_changes_is_read_again(known: Space, shop: Api) -> None:
    """By the next sync, and by the next call: a tool that is gone is not called."""
    changed = json.loads(json.dumps(SHOP))
    changed["paths"]["/articles"]["get"]["operationId"] = "articles"
    (Path(known.store.address).parent / "api.json").write_text(json.dumps(changed, indent=1), encoding="utf-8")
    tool = known.tools.get("shop/listArticles")
    with pytest.raises(NotCalled, match="lists no such tool any more"):
        asyncio.run(known.tools.current(tool))
    report = synced(known)
    assert (known.tools.find("shop/articles") is not None, report.failed) == (True, [])
    assert known.tools.find("shop/listArticles") is None


def test_version_3_1_and_yaml_are_read(space: Space) -> None:
    """Path items by reference, several types, a parameter that is JSON, a description beside a reference."""
    from ruamel.yaml import YAML

    with serving(BOOKS) as api:
        folder = Path(space.store.address).parent
        with (folder / "api.json").open("w", encoding="utf-8") as file:
            YAML(typ="safe", pure=True).dump(BOOKS, file)
        write(folder, books={"openapi": "api.json", "base_url": api.url, "auth": {"token": "${BOOK_TOKEN:-t0ken-x}"}})
        assert synced(space).failed == []
        assert {tool.full_name for tool in space.tools} == {"books/search_books", "books/get_books_isbn"}
        search = space.tools.get("books/search_books")
        assert search.input_schema["properties"]["q"] == {"type": ["string", "null"]}
        assert search.output_schema is not None
        assert search.output_schema["description"] == "a page of books"
        call(space, "books/search_books", q="a", where={"year": 1999})
        assert api.seen[0]["query"] == [("q", "a"), ("where", '{"year":1999}')]
        assert call(space, "books/get_books_isbn", isbn="1").structured is not None
        assert api.seen[1]["headers"]["authorization"] == "Bearer t0ken-x"


def test_they_are_found_filtered_and_scoped_like_other_tools(known: Space) -> None:
    """By `integration_type` REST; out of scope they are not there."""
    meta = META["search_tools"]
    found = asyncio.run(
        meta.call(known, {"query": "list the articles on sale", "filters": {"integration_type": "REST"}})
    )
    assert found["tools"][0]["tool_name"] == "shop/listArticles"
    assert {tool["integration_type"] for tool in found["tools"]} == {"REST"}
    narrow = known.tools.scoped(Scope(exclude_tags=("articles",)))
    assert narrow.find("shop/listArticles") is None
    assert narrow.find("shop/getArticle") is not None


def test_a_long_answer_becomes_a_note(known: Space, shop: Api) -> None:
    """`execute_tool` gives a preview and the id; the note has all of it."""
    rows = [{"id": number, "title": f"cup {number}"} for number in range(2_000)]
    shop.own["/v1/articles"] = (200, {"Content-Type": "application/json"}, json.dumps(rows).encode())
    asked = {"tool_name": "shop/listArticles", "arguments": {}}
    answered = asyncio.run(META["execute_tool"].call(known, asked))
    assert answered["status"] == "success"
    assert answered["large"]["read"]
    assert len(json.dumps(answered)) < 10_000
    note = known.context().get(answered["resource_id"])
    assert known.context().content(note) == rows


def test_no_key_stands_in_the_space(known: Space, shop: Api) -> None:
    """Neither in what was listed, nor in the journal of calls, nor of failures."""
    shop.own["/v1/articles/8"] = (500, {}, f"no {KEY}".encode())
    get = {"type": "shop/getArticle", "out": "$a"}
    assert run_sync(known, [{**get, "arguments": {"id": 7}}]).status == "success"
    assert run_sync(known, [{**get, "arguments": {"id": 8}}]).status == "failed"
    folder = Path(known.store.address).parent
    written = [path for path in folder.rglob("*") if path.is_file() and path.name != "mcp.json"]
    assert any(b"getArticle" in path.read_bytes() for path in written)
    assert [path.name for path in written if KEY.encode() in path.read_bytes()] == []
