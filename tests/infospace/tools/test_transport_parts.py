"""What stands between a server and its messages: hosts, statuses, lines, and what of a process is kept."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest

from infospace import Invalid
from infospace.core.tool import Tool
from infospace.store.tool_records import ListedTool
from infospace.tools.mcp.auth.redirect import RedirectListener
from infospace.tools.mcp.auth.settings import OAuthSettings
from infospace.tools.mcp.catalogue.listing import Listing, ToolNow
from infospace.tools.mcp.catalogue.schema_check import sound
from infospace.tools.mcp.config import Entry
from infospace.tools.mcp.connection import Connection, _host_check, _plain
from infospace.tools.mcp.errors import format_output_tail
from infospace.tools.mcp.transport.hosts import (
    is_loopback,
    is_private_name,
    is_public,
    must_be_public,
    origin,
    resolve,
    split_url,
)
from infospace.tools.mcp.transport.http import HttpStatus, _request_id
from infospace.tools.mcp.transport.stdio import KEPT_STDERR, _beginning, _Lines, number_of


@pytest.mark.parametrize(
    ("host", "private", "loopback"),
    [
        ("localhost", True, True),
        ("LOCALHOST.", True, True),
        ("a.localhost", True, True),
        ("127.0.0.1", True, True),
        ("127.9.9.9", True, True),
        ("[::1]", True, True),
        ("10.0.0.1", True, False),
        ("192.168.1.1", True, False),
        ("169.254.169.254", True, False),
        ("printer.local", True, False),
        ("db.internal.", True, False),
        ("8.8.8.8", False, False),
        ("[2001:4860:4860::8888]", False, False),
        ("localhost.example.org", False, False),
        ("mylocalhost", False, False),
        ("internal", False, False),
    ],
)
def test_which_hosts_are_this_machine_or_a_private_network(host: str, private: bool, loopback: bool) -> None:
    """By how they are written; a name is not looked up."""
    assert is_private_name(host) is private
    assert is_loopback(f"http://{host}:80/x") is loopback
    if private:
        with pytest.raises(Invalid) as refused:
            must_be_public(host, lambda _: ["8.8.8.8"])
        assert refused.value.message == f"{host!r} is this machine or one of a private network, and is not asked"


def test_a_name_is_public_where_all_its_addresses_are() -> None:
    """One that leads elsewhere is not asked, and one without any has none."""
    assert must_be_public("x.org", lambda _: ["8.8.8.8", "1.1.1.1"]) == ["8.8.8.8", "1.1.1.1"]
    with pytest.raises(Invalid) as refused:
        must_be_public("x.org", lambda _: ["8.8.8.8", "10.0.0.1", "127.0.0.1"])
    told = "'x.org' leads to 10.0.0.1, this machine or one of a private network, and is not asked"
    assert refused.value.message == told
    assert [is_public(one) for one in ("8.8.8.8", "fe80::1%eth0", "::1")] == [True, False, False]
    assert resolve("127.0.0.1") == ["127.0.0.1"]
    with pytest.raises(Invalid) as none:
        resolve("x" * 64 + ".invalid")
    assert none.value.message == f"{'x' * 64 + '.invalid'!r:.100} has no address"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://X.org/a", ("https", "x.org", 443)),
        ("http://x.org", ("http", "x.org", 80)),
        ("http://x.org:8", ("http", "x.org", 8)),
        ("x", ("", "", 80)),
    ],
)
def test_where_a_url_leads(url: str, expected: tuple[str, str, int]) -> None:
    assert origin(url) == expected


@pytest.mark.parametrize("url", ["http://[", "http://x:a", "http://x:70000"])
def test_what_is_no_url_is_told(url: str) -> None:
    with pytest.raises(Invalid) as refused:
        split_url(url)
    assert (refused.value.message, refused.value.hint) == (f"{url!r} is not a URL", "https://…")


@pytest.mark.parametrize(
    ("heard", "told"),
    [
        ({}, ""),
        ({"status": 500}, "it answered HTTP 500"),
        ({"status": 401, "unauthorized": "it asks for a sign-in"}, "it asks for a sign-in"),
        ({"barred": "'x' is not asked"}, "'x' is not asked"),
        ({"barred": "'x' is not asked", "unauthorized": "it asks"}, "it asks"),
    ],
)
def test_what_was_heard_beside_messages_is_told(heard: dict[str, Any], told: str) -> None:
    assert HttpStatus(**heard).failure_text() == told
    assert HttpStatus().lost != HttpStatus().refused


@pytest.mark.parametrize(
    ("content", "number"),
    [
        ({"id": 7, "method": "x"}, 7),
        ({"id": "a", "method": "x"}, "a"),
        ({"id": 7}, None),
        ({"method": "x"}, None),
        ({"id": [1], "method": "x"}, None),
        ([1], None),
        (None, None),
    ],
)
def test_the_number_of_a_request_is_read_from_it(content: Any, number: int | str | None) -> None:
    """An answer, or what tells and asks nothing, has none."""
    body = b"" if content is None else json.dumps(content).encode()
    assert _request_id(httpx2.Request("POST", "http://x", content=body)) == number


def test_lines_are_cut_wherever_chunks_end() -> None:
    """Blank ones are passed over."""
    lines = _Lines()
    assert lines.split(b'{"a"') == []
    assert lines.split(b': 1}\n\n \t\n{"b": 2}\nrest') == [b'{"a": 1}', b'{"b": 2}']
    assert lines.split(b"\n") == [b"rest"]
    assert lines.lost is False


@pytest.mark.parametrize(
    ("first", "last", "number"),
    [
        (b'{"jsonrpc":"2.0","id":17,"result":{', b"", 17),
        (b'{"result":{', b'},"id":18,"jsonrpc":"2.0"}', 18),
        (b'{"result":{', b"}}", None),
    ],
)
def test_the_number_of_a_message_that_cannot_be_read(first: bytes, last: bytes, number: int | None) -> None:
    assert number_of(first, last) == number


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("SSE stream failed: more than the byte limit", "it answers with more than 16 MB"),
        ("SSE stream failed", "SSE stream failed"),
        ("Failed to parse SSE message: x", "what it answers is not of the protocol"),
        ("anything", "anything"),
    ],
)
def test_what_the_official_package_says_is_said_in_our_words(said: str, told: str) -> None:
    assert _plain(said).startswith(told)


def test_who_may_be_asked_for_a_server_is_what_its_entry_names() -> None:
    """Its host, and that of the issuer; once one of them is public, others have to be."""
    entry = Entry("it", "f", url="https://x.org:8/a", oauth=OAuthSettings(issuer="https://login.org/"))
    assert _host_check(entry)._declared == {"x.org", "login.org"}
    assert _host_check(Entry("it", "f", url="https://x.org", oauth=None))._declared == {"x.org"}
    assert _host_check(Entry("it", "f", url="https://x.org"))._declared == {"x.org"}
    assert _host_check(Entry("it", "f"))._declared == frozenset()


def test_what_a_connection_listed_last_is_known() -> None:
    """The whole list, or what was asked of one tool since it changed."""
    old, new = ListedTool("a", description="old"), ListedTool("a", description="new")
    connection = Connection(Entry("it", "f", command="x"), lambda _: None)
    assert (connection.known_tool("a"), connection.alive) == (None, False)
    connection._looked_up["a"] = 1, 0.0, ToolNow(new, 1.0)
    assert connection.known_tool("a") == new
    for changes, expected in ((0, new), (1, old), (2, old)):
        connection._listed = changes, 0.0, Listing([old], "", "", "", 1.0, 1)
        assert connection.known_tool("a") == expected
    assert (connection.known_tool("b"), Tool("a", "b").kind) == (None, "tool")


def test_a_sign_in_without_a_browser_has_no_answer() -> None:
    """Nobody was sent anywhere yet."""
    from mcp.client.auth import OAuthFlowError

    with pytest.raises(OAuthFlowError, match="no browser was sent to sign in"):
        asyncio.run(RedirectListener().answer())
    assert RedirectListener(7).uri == "http://127.0.0.1:7/callback"


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "object", "required": ["a", "a"]}, {"type": "object"}),
        ({"type": "object", "required": [1]}, {"type": "object"}),
        ({"type": "object", "required": "a"}, {"type": "object"}),
        ({"type": "object", "minItems": -1, "maxLength": 1.5}, {"type": "object"}),
        ({"type": "object", "minimum": True, "title": 1}, {"type": "object"}),
        ({"type": "thing", "title": "t"}, {"title": "t"}),
        ({"anyOf": [], "title": "t"}, {"title": "t"}),
        ({"anyOf": [{"type": "thing"}, True]}, {"anyOf": [{}, True]}),
        ({"properties": {"a": {"type": "thing"}}}, {"properties": {"a": {}}}),
        ({"$ref": "#/$defs/b", "$defs": {"a": {}}}, {"$defs": {"a": {}}}),
    ],
)
def test_a_schema_loses_what_nobody_can_hold_a_value_against(schema: Any, expected: Any) -> None:
    assert sound(schema) == expected


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "required": ["a", "b"], "minProperties": 1},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}},
        {"enum": [1], "const": 2, "default": None, "examples": [], "uniqueItems": True, "minItems": 0, "maximum": 1.5},
        nested(24),
        nested(60),
    ],
)
def test_a_schema_that_is_sound_stays(schema: Any) -> None:
    """Whether a quick look tells so, or all there is to look at."""
    assert sound(schema) == schema


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("", ""),
        (" \n\t\n", ""),
        ("one\n two \n\n", "; it said 'two'"),
        ("x" * 300, f"; it said {'x' * 300!r}"),
        ("x" * 301, f"; it said {'… ' + 'x' * 300!r}"),
        ("secret " + "y " * 148 + "end", f"; it said {'… ' + 'y ' * 148 + 'end'!r}"),
        ("key " + "z" * 300, f"; it said {'… ' + 'z' * 300!r}"),
    ],
)
def test_the_end_of_what_a_server_said_goes_on_a_sentence(said: str, told: str) -> None:
    """Its last line that is not blank; of a long one the last whole words."""
    assert format_output_tail(said) == told


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        (b"a" * KEPT_STDERR, b"a" * KEPT_STDERR),
        (b"a" * (KEPT_STDERR + 1), b""),
        (b"one two" + b"b" * KEPT_STDERR, b"one"),
        (b"one\ttwo" + b"b" * KEPT_STDERR, b"one"),
        (b"one \t" + b"b" * KEPT_STDERR, b"one"),
        (b"c" * (KEPT_STDERR - 1) + b" dd", b"c" * (KEPT_STDERR - 1)),
    ],
)
def test_of_a_long_line_the_whole_words_are_kept(line: bytes, kept: bytes) -> None:
    """Half a secret would not be recognized as one."""
    assert _beginning(line) == kept
