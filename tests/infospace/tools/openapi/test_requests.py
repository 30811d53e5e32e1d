"""The requests that calls of operations make: where each value stands, how it is written, and what is not sent."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.core.tool import ToolAnswer
from infospace.store.tool_records import ListedTool
from infospace.tools.mcp.config import Entry
from infospace.tools.mcp.connection import Connection
from infospace.tools.mcp.errors import ServerFailed
from infospace.tools.openapi.answers import error_answer, good_answer
from infospace.tools.openapi.connection import ApiConnection, _named_server
from infospace.tools.openapi.document import read_document
from infospace.tools.openapi.operations import Argument, Body, Credential, Operation
from infospace.tools.openapi.requests import Request, base_of, make_request, origin

BASE = "https://a.example/v1"
LISTED = ListedTool("it")


def sent(operation: Operation, arguments: dict[str, JSON] | None = None, **entry: Any) -> Request:
    """Return the request of a call; `headers` and `auth` are the entry's."""
    return make_request(operation, BASE, arguments or {}, entry.get("headers", {}), entry.get("auth", {}))


def in_place(place: Any, style: str, value: JSON, *, explode: bool = False, **how: bool) -> Request:
    """Return the request of an operation whose only argument is `a b`."""
    path = "/x/{a b}/y" if place == "path" else "/x"
    argument = Argument("a b", "a b", place, style, explode, **how)
    return sent(Operation(LISTED, "GET", path, [argument]), {"a b": value})


LIST: JSON = [1, "b/c", None, True]
OBJECT: JSON = {"k": 1, "l m": "n", "none": None}


@pytest.mark.parametrize(
    ("style", "explode", "value", "path"),
    [
        ("simple", False, "ü/?", "%C3%BC%2F%3F"),
        ("simple", False, LIST, "1,b%2Fc,,true"),
        ("simple", True, OBJECT, "k=1,l%20m=n"),
        ("simple", False, OBJECT, "k,1,l%20m,n"),
        ("label", False, LIST, ".1,b%2Fc,,true"),
        ("label", True, LIST, ".1.b%2Fc..true"),
        ("label", True, OBJECT, ".k=1.l%20m=n"),
        ("matrix", False, 7, ";a%20b=7"),
        ("matrix", False, LIST, ";a%20b=1,b%2Fc,,true"),
        ("matrix", True, LIST, ";a%20b=1;a%20b=b%2Fc;a%20b=;a%20b=true"),
        ("matrix", False, OBJECT, ";a%20b=k,1,l%20m,n"),
        ("matrix", True, OBJECT, ";k=1;l%20m=n"),
    ],
)
def test_a_value_in_the_path_is_written_in_its_style(style: str, explode: bool, value: JSON, path: str) -> None:
    """As OpenAPI's table of styles has it; what is null in an object is left out."""
    assert in_place("path", style, value, explode=explode).url == f"{BASE}/x/{path}/y"


def test_a_value_in_the_path_that_is_absent_is_refused() -> None:
    """Null, an empty list or text: the call would go to another path than is meant, one level higher maybe."""
    operation = Operation(LISTED, "DELETE", "/articles/{id}", [Argument("id", "id", "path", "simple", explode=False)])
    for arguments, message in (
        ({"id": None}, "the argument 'id' is null, and stands in the path"),
        ({}, "the argument 'id' is null, and stands in the path"),
        ({"id": []}, "the argument 'id' is empty, and stands in the path"),
        ({"id": ""}, "the argument 'id' is empty, and stands in the path"),
    ):
        with pytest.raises(Invalid) as refused:
            sent(operation, arguments)  # type: ignore[arg-type]
        assert refused.value.message == message


@pytest.mark.parametrize(
    ("style", "explode", "value", "query"),
    [
        ("form", True, LIST, "a%20b=1&a%20b=b%2Fc&a%20b=&a%20b=true"),
        ("form", False, LIST, "a%20b=1,b%2Fc,,true"),
        ("spaceDelimited", False, LIST, "a%20b=1%20b%2Fc%20%20true"),
        ("pipeDelimited", False, LIST, "a%20b=1%7Cb%2Fc%7C%7Ctrue"),
        ("form", True, OBJECT, "k=1&l%20m=n"),
        ("form", False, OBJECT, "a%20b=k,1,l%20m,n"),
        ("deepObject", True, {"k": {"l m": [1, 2]}, "none": None}, "a%20b[k][l%20m]=1&a%20b[k][l%20m]=2"),
        ("deepObject", True, "x", "a%20b=x"),
        ("deepObject", False, [1, 2], "a%20b=1,2"),
        ("deepObject", True, {"k": None, "l": [None, {"m": 1}], "n": ""}, "a%20b[l][m]=1&a%20b[n]="),
    ],
)
def test_a_value_in_the_query_is_written_in_its_style(style: str, explode: bool, value: JSON, query: str) -> None:
    """Each name and value escaped, and what separates them as it is written for its style."""
    assert in_place("query", style, value, explode=explode).url == f"{BASE}/x?{query}"


def test_signs_that_mean_something_are_sent_as_they_are_where_the_document_allows_it() -> None:
    """But for those that would end the value; and a value that is JSON is written so, without blanks."""
    value = "a/b?c&d#e=f"
    assert in_place("query", "form", value, reserved=True).url == f"{BASE}/x?a%20b=a/b?c%26d%23e=f"
    assert in_place("query", "form", value).url == f"{BASE}/x?a%20b=a%2Fb%3Fc%26d%23e%3Df"
    assert (
        in_place("query", "form", {"k": [1, None]}, as_json=True).url
        == f"{BASE}/x?a%20b=%7B%22k%22%3A%5B1%2Cnull%5D%7D"
    )
    assert in_place("path", "simple", [1, 2], as_json=True).url == f"{BASE}/x/%5B1%2C2%5D/y"


def test_headers_and_cookies_are_written_without_escapes_and_joined() -> None:
    """A list with commas, an object with `=` where it is taken apart; nothing of what is null."""
    assert in_place("header", "simple", ["a", 2]).headers["a b"] == "a,2"
    assert in_place("header", "simple", {"k": 1, "l": 2}).headers["a b"] == "k,1,l,2"
    assert in_place("header", "simple", {"k": 1, "l": 2}, explode=True).headers["a b"] == "k=1,l=2"
    assert in_place("header", "simple", {"k": 1}, as_json=True).headers["a b"] == '{"k":1}'
    assert in_place("cookie", "form", [1, 2], explode=True).headers["Cookie"] == "a%20b=1; a%20b=2"
    for place in ("header", "cookie", "query"):
        nothing = in_place(place, "form", None)
        assert (nothing.url, nothing.headers) == (f"{BASE}/x", {"Accept": "*/*"})


def test_the_first_way_to_be_let_in_is_taken_that_the_entry_has_all_of() -> None:
    """Basic is written as base64, a bearer's token behind its prefix, keys where the document says."""
    basic, bearer = (
        Credential("basic", "header", "Authorization", "Basic ", basic=True),
        Credential("token", "header", "Authorization", "Bearer "),
    )
    cookie, key = Credential("session", "cookie", "sid"), Credential("key", "query", "api key")
    view = Argument("view", "view", "cookie", "form", explode=True)
    operation = Operation(LISTED, "GET", "/x", [view], security=[[bearer, key], [basic], [cookie]])
    auth = {"basic": "ann:pass", "token": "t", "session": "s"}
    assert sent(operation, auth=auth).headers["Authorization"] == "Basic " + base64.b64encode(b"ann:pass").decode()
    both = sent(operation, auth={**auth, "key": "k&"})
    assert (both.headers["Authorization"], both.url) == ("Bearer t", f"{BASE}/x?api%20key=k%26")
    assert sent(operation, {"view": "a"}, auth={"session": "s"}).headers["Cookie"] == "view=a; sid=s"
    assert sent(operation, auth={"token": "t"}).headers == {"Accept": "*/*"}


def test_headers_of_the_entry_take_the_place_of_others_in_any_case() -> None:
    """The name is sent as the entry writes it, once."""
    operation = Operation(LISTED, "GET", "/x", [Argument("t", "X-Trace", "header", "simple", explode=False)])
    assert sent(operation, {"t": "1"}, headers={"x-trace": "2", "ACCEPT": "text/csv"}).headers == {
        "x-trace": "2",
        "ACCEPT": "text/csv",
    }


@pytest.mark.parametrize(
    ("body", "value", "content"),
    [
        (
            Body("application/x-www-form-urlencoded"),
            {"a": [1, 2], "b": {"c": 1}, "d": None},
            b"a=1&a=2&b=%7B%22c%22%3A1%7D",
        ),
        (Body("application/json; charset=utf-8"), "é", '"é"'.encode()),
        (Body("text/plain"), "é", "é".encode()),
        (Body("text/plain"), [1], b"[1]"),
        (Body("text/plain"), "\ud800", b"\xed\xa0\x80"),
        (Body("application/json"), "\ud800", b'"\xed\xa0\x80"'),
        (Body("Application/X-WWW-Form-Urlencoded; charset=utf-8"), {"a b": True, "c": "d e"}, b"a%20b=true&c=d%20e"),
        (Body("application/x-www-form-urlencoded"), [1], b""),
        (Body("application/merge-patch+json"), None, b"null"),
        (Body("application/octet-stream", binary=True), "AAE=", b"\x00\x01"),
    ],
)
def test_a_body_is_written_by_its_media_type(body: Body, value: JSON, content: bytes) -> None:
    """With the type as the document has it; without a body neither is sent."""
    operation = Operation(LISTED, "POST", "/x", body=body)
    request = sent(operation, {"body": value})
    assert (request.content, request.headers["Content-Type"]) == (content, body.media_type)
    assert (sent(operation).content, "Content-Type" in sent(operation).headers) == (None, False)


def test_a_form_of_several_parts_has_a_part_for_each_item() -> None:
    """What is null is no part; bytes come with a file's name, an object as JSON."""
    body = Body("multipart/form-data", binary_fields=frozenset({"file"}))
    request = sent(
        Operation(LISTED, "POST", "/x", body=body), {"body": {"file": ["AA==", None, "AQ=="], "n": [1, {"a": 2}]}}
    )
    assert request.fields == [
        ("file", b"\x00", "file", "application/octet-stream"),
        ("file", b"\x01", "file", "application/octet-stream"),
        ("n", b"1", None, None),
        ("n", b'{"a":2}', None, "application/json"),
    ]
    assert "Content-Type" not in request.headers, "the boundary is chosen when it is sent"


def test_a_base_url_is_that_of_a_server() -> None:
    """Without query, fragment or a port that is none; a port that goes without saying makes no other origin."""
    assert base_of("http://x:1/v1//") == "http://x:1/v1"
    assert base_of("http://x/X/") == "http://x/X"
    assert (base_of("http://x"), base_of("https://x:65535/")) == ("http://x", "https://x:65535")
    for texts, why in (
        (("http://x:0", "http://x:65536", "http://x:a", "ftp://x", "//x", "http:///a"), "is none of a server"),
        (("http://x?", "http://x/a?b=1", "http://x#", "http://x/#a"), "has a query or a fragment"),
    ):
        for text in texts:
            with pytest.raises(Invalid) as refused:
                base_of(text)
            assert (refused.value.message, refused.value.hint) == (f"its base URL {why}", "https://api.example.org/v1")
    assert origin("https://X.org/a") == origin("https://x.org:443") == ("https", "x.org", 443)
    assert origin("http://x.org") == ("http", "x.org", 80)
    assert (origin("ftp://x.org"), origin("x.org")) == (("ftp", "x.org", None), ("", "", None))


def test_a_call_goes_nowhere_else() -> None:
    """Signs of the path that mean something stay; none of it leads a level higher, or to another host."""
    path = "/a%20b:c@d!e$f&g'h(i)j*k+l,m;n=o-p._~ ü?#/..."
    written = "/a%20b:c@d!e$f&g'h(i)j*k+l,m;n=o-p._~%20%C3%BC%3F%23/..."
    assert sent(Operation(LISTED, "GET", path)).url == BASE + written
    value = Argument("v", "v", "path", "simple", explode=False)
    between = Operation(LISTED, "GET", f"{path}/{{v}}/é", [value])
    assert sent(between, {"v": "1"}).url == f"{BASE}{written}/1/%C3%A9"
    for odd in ("/a/../b", "/./b", "/a/%2e%2E", "/a/%2e"):
        with pytest.raises(Invalid) as refused:
            sent(Operation(LISTED, "GET", odd))
        assert refused.value.message == "a part of its path would be `.` or `..`, which leads elsewhere"
    with pytest.raises(Invalid) as refused:
        make_request(Operation(LISTED, "GET", "@b.example/x"), "https://a.example", {}, {}, {})
    assert refused.value.message == "it would go to another server than its base URL says"


def test_what_is_not_base64_or_no_line_is_refused_by_its_name() -> None:
    file = Body("multipart/form-data", binary_fields=frozenset({"f"}))
    for body, value, what in ((Body("a/b", binary=True), "?", "the body"), (file, {"f": "é"}, "the field 'f'")):
        with pytest.raises(Invalid) as refused:
            sent(Operation(LISTED, "POST", "/x", body=body), {"body": value})
        assert refused.value.message == f"{what} is not base64, as which bytes are given"
    for text in ("a\nb", "é"):
        with pytest.raises(Invalid) as refused:
            in_place("header", "simple", text)
        assert refused.value.message == "the argument 'a b' is sent as a header, which is one line of ASCII"
    assert sent(Operation(LISTED, "POST", "/x", body=file), {"body": [1]}).fields == []


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_document_at_a_url_says_where_it_is_called(scheme: str) -> None:
    """Seen from where it was read; its variables have their defaults. Not so a document that is a file."""
    raw = {"openapi": "3.1.0", "info": {}, "paths": {}}
    server = {"url": "../{version}/", "variables": {"version": {"default": "v2"}, "odd": 1}}
    document = read_document(json.dumps({**raw, "servers": [server]}).encode())
    there = ApiConnection(Entry("api", "f", openapi=f"{scheme}://a.example/docs/openapi.json"), lambda _: None)
    assert there._base_url(document) == f"{scheme}://a.example/v2"
    with pytest.raises(Invalid) as refused:
        ApiConnection(Entry("api", "f", openapi="openapi.json"), lambda _: None)._base_url(document)
    assert refused.value.hint == 'add "base_url": "https://…" to the entry, if you trust that'


@pytest.mark.parametrize(
    ("servers", "named"),
    [
        ([], ""),
        ({"url": "/v2"}, ""),
        ([3], ""),
        ([{"url": 3}], ""),
        ([{}], ""),
        ([{"url": "/v1"}, {"url": "/v2"}], "/v1"),
        ([{"url": "/{a}{b}{c}", "variables": {"a": {"default": 3}, "b": {}, "c": 4}}], "/3{c}"),
        ([{"url": "/{a}", "variables": [1]}], "/{a}"),
    ],
)
def test_of_the_servers_of_a_document_the_first_counts(servers: Any, named: str) -> None:
    """With the defaults of its variables; what is no server names none."""
    raw = {"openapi": "3.1.0", "info": {}, "servers": servers}
    assert _named_server(read_document(json.dumps(raw).encode())) == named


@pytest.mark.parametrize(
    ("servers", "where", "hint"),
    [
        ([{"url": "https://b.example/v1?k=secret"}], "openapi.json", "https://b.example/v1?k=•••"),
        ([{"url": "https://b.example/v1"}], "https://a.example/openapi.json", "https://b.example/v1"),
        ([{"url": "http://a.example/v1"}], "https://a.example/openapi.json", "http://a.example/v1"),
        ([{"url": "/v1"}], "openapi.json", "https://…"),
        ([], "https://a.example/openapi.json", "https://…"),
    ],
)
def test_where_it_is_called_has_to_be_said_of_another_place(servers: Any, where: str, hint: str) -> None:
    """What the document names is proposed, and not taken; what the entry says stands in any case."""
    document = read_document(json.dumps({"openapi": "3.1.0", "info": {}, "servers": servers}).encode())
    with pytest.raises(Invalid) as refused:
        ApiConnection(Entry("api", "f", openapi=where), lambda _: None)._base_url(document)
    assert refused.value.message == "the entry does not say where it is called"
    assert refused.value.hint == f'add "base_url": "{hint}" to the entry, if you trust that'
    there = ApiConnection(Entry("api", "f", openapi=where, base_url="https://c.example/"), lambda _: None)
    assert there._base_url(document) == "https://c.example"


@pytest.mark.parametrize(
    ("name", "value"), [("a b", "c"), ("a:", "c"), ("é", "c"), ("", "c"), ("a\x7f", "c"), ("A", "b\nc"), ("A", "\x00")]
)
def test_a_header_that_cannot_be_sent_is_told_without_its_value(name: str, value: str) -> None:
    """Whether the server is called by a document or speaks the protocol."""
    headers = {"X-Fine": "é", name: value}
    for server in (
        ApiConnection(Entry("it", "f", openapi="a.json", headers=headers), lambda _: None),
        Connection(Entry("it", "f", url="http://127.0.0.1:9/", headers=headers), lambda _: None),
    ):
        with pytest.raises(ServerFailed) as failure:
            asyncio.run(server.open())
        told = failure.value
        assert told.message == f"the header {name!r} of the server 'it' cannot be sent"
        assert (told.hint, told.lasting, told.server) == ("a header is one line of text", True, "it")


CREDENTIALS = [[Credential(name, "header", "A") for name in way] for way in ("ab", "c")]
LACKS = " It asks for 'a' with 'b' or 'c', which `auth` of the server's entry does not give."


@pytest.mark.parametrize(
    ("status", "headers", "body", "auth", "told"),
    [
        (401, {}, b"", {}, f"HTTP 401 Unauthorized.{LACKS}"),
        (403, {}, b"no", {"a": "1"}, f"HTTP 403 Forbidden: no.{LACKS}"),
        (403, {}, b"no.", {}, f"HTTP 403 Forbidden: no.{LACKS}"),
        (401, {"retry-after": "3"}, b"x", {}, f"HTTP 401 Unauthorized: x. It may be called again in 3 s.{LACKS}"),
        (401, {}, b"", {"c": "1"}, "HTTP 401 Unauthorized"),
        (404, {}, b"", {}, "HTTP 404 Not Found"),
        (300, {}, b"abc", {}, "HTTP 300 Multiple Choices"),
        (399, {"location": "/x"}, b"", {}, "HTTP 399; it leads to '/x', and only the base URL is called"),
        (400, {"location": "/x"}, b"abc", {}, "HTTP 400 Bad Request: abc"),
        (500, {}, b"a\0b", {}, "HTTP 500 Internal Server Error"),
        (
            500,
            {"retry-after": "9" * 9},
            b"",
            {},
            f"HTTP 500 Internal Server Error. It may be called again in {'9' * 9} s.",
        ),
    ],
)
def test_an_error_says_what_the_entry_lacks(
    status: int, headers: dict[str, str], body: bytes, auth: dict[str, str], told: str
) -> None:
    """Only where somebody is kept out and no way in is given whole."""
    operation = Operation(LISTED, "GET", "/x", security=CREDENTIALS)
    assert error_answer(operation, status, headers, body, "utf-8", auth).text == told


@pytest.mark.parametrize(
    ("media", "charset", "body", "structured"),
    [
        ("application/json; charset=x", "x", b'{"a": "\\ud800"}', {"a": "\ufffd"}),
        ("a/b+json", "utf-8", b"{", None),
        ("application/json", "utf-8", b"[" * 100_000, None),
        ("application/json", "utf-16", "[1]".encode("utf-16"), [1]),
        ("text/plain", "utf-8", b"[1]", None),
        ("APPLICATION/JSON", "utf-8", b"\xef\xbb\xbf[1]", [1]),
    ],
)
def test_json_is_a_value_as_well_as_a_text(media: str, charset: str, body: bytes, structured: Any) -> None:
    """Where it can be read; no half of a character is kept."""
    answer = good_answer(200, media, charset, body)
    assert (answer.structured, answer.blocks[0]["type"], answer.is_error) == (structured, "text", False)


def failed(body: bytes, charset: str = "utf-8", status: int = 500, **headers: str) -> str:
    """Return the sentence of an error."""
    answer = error_answer(Operation(LISTED, "GET", "/x"), status, headers, body, charset, {})
    assert answer.is_error
    return answer.text


@pytest.mark.parametrize(
    ("body", "charset", "told"),
    [
        (b"a" * 500, "utf-8", "a" * 500),
        (b"a" * 501, "utf-8", "a" * 500 + "…"),
        ("🙂".encode() * 500, "utf-8", "🙂" * 500),
        ("🙂".encode() * 501, "utf-8", "🙂" * 500 + "…"),
        (("a" + "語" * 1500).encode("shift_jis"), "shift_jis", "a" + "語" * 499 + "…"),
        (b"no" + b" " * 1997 + b"more", "utf-8", "no m…"),
        (b"no" + b" " * 3000, "utf-8", "no"),
        (b"caf\xe9", "no-such-charset", "caf\ufffd"),
    ],
)
def test_of_an_error_the_first_500_characters_are_told(body: bytes, charset: str, told: str) -> None:
    """Characters, not bytes, and blanks as one: what is left out is told by `…`."""
    assert failed(body, charset) == f"HTTP 500 Internal Server Error: {told}"


def test_when_it_may_be_called_again_is_told_in_seconds_alone() -> None:
    """A date, or a number without end, is left out; a redirect that leads nowhere is none of ours."""
    assert (
        failed(b"", status=503, **{"retry-after": "0"})
        == "HTTP 503 Service Unavailable. It may be called again in 0 s."
    )
    for text in ("Wed, 21 Oct 2026 07:28:00 GMT", "9" * 10, "-1", ""):
        assert failed(b"no.", status=503, **{"retry-after": text}) == "HTTP 503 Service Unavailable: no."
    assert failed(b"x", status=304) == "HTTP 304 Not Modified"


@pytest.mark.parametrize(
    ("media", "body", "block"),
    [
        (
            "application/pdf",
            b"%PDF",
            {
                "type": "resource",
                "resource": {"uri": "response:body", "mimeType": "application/pdf", "blob": "JVBERg=="},
            },
        ),
        (
            "text/plain",
            b"a\0b",
            {"type": "resource", "resource": {"uri": "response:body", "mimeType": "text/plain", "blob": "YQBi"}},
        ),
        ("Audio/MPEG; x=1", b"a", {"type": "audio", "data": "YQ==", "mimeType": "audio/mpeg"}),
        ("application/atom+xml", b"<a/>", {"type": "text", "text": "<a/>"}),
        ("application/javascript", b"a()", {"type": "text", "text": "a()"}),
        ("", b"\xef\xbb\xbfplain", {"type": "text", "text": "plain"}),
        ("application/x-json-lines", b"1", {"type": "text", "text": "1"}),
    ],
)
def test_what_is_no_text_stays_bytes(media: str, body: bytes, block: Any) -> None:
    """Whatever else it is, it has its type; text is without the mark of its order of bytes."""
    assert good_answer(200, media, "utf-8", body) == ToolAnswer([block])
