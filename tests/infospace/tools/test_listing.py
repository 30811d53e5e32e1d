"""What is read of what a server lists: every page, every field, and what is wrong with one entry alone."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from mcp import Client

from infospace import Invalid
from infospace.store.tool_records import ListedTool
from infospace.tools.mcp.catalogue.listing import Listing, RefusedEntry, ToolNow, read_listing, read_tool

sys.path.insert(0, str(Path(__file__).parent))
from paged import Paged

OBJECT = {"type": "object"}
ENDLESS = {"type": "object", "$ref": "#"}
NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}
TOOLS: dict[str, Any] = {"tools": {}}

T = TypeVar("T")


def asked(server: Paged, asking: Callable[[Client], Awaitable[T]]) -> T:
    """Return what a server answers. An error comes out of the groups in which the client lets it go."""

    async def ask() -> T | BaseException:
        async with server.client() as client:
            try:
                return await asking(client)
            except Invalid as error:
                return error

    found = asyncio.run(ask())
    if isinstance(found, BaseException):
        raise found
    return found


def listing(told: dict[str, Any] | None = None, **pages: Any) -> Listing:
    """Return what is read of these pages."""
    return asked(Paged({name.replace("__", "/"): value for name, value in pages.items()}, **(told or {})), read_listing)


def test_a_tool_is_read_with_all_that_it_says_of_itself() -> None:
    """Its own title before the one of its hints; of what is no text or no object among tags and examples nothing."""
    whole = {
        "name": "a",
        "title": "Its title",
        "description": "It does.",
        "inputSchema": {**OBJECT, "examples": [{"n": 1}, 2]},
        "outputSchema": OBJECT,
        "annotations": {"title": "Other", "readOnlyHint": True, "idempotentHint": False, "destructiveHint": True},
        "_meta": {"tags": ["x", 3], "category": "c", "examples": [{"n": 3}, "n"]},
    }
    hinted = {
        "name": "b",
        "inputSchema": OBJECT,
        "annotations": {"title": "Hinted"},
        "_meta": {"category": 3, "tags": "x"},
    }
    fast = {"name": "c", "inputSchema": OBJECT, "_meta": {"_fastmcp": {"tags": ["f"]}}}
    both = {"name": "d", "inputSchema": OBJECT, "_meta": {"_fastmcp": {"tags": ["f"]}, "tags": ["own"], "examples": {}}}
    odd = {"name": "e", "inputSchema": OBJECT, "_meta": {"_fastmcp": 3}}
    found = listing(tools=[{"tools": [whole, hinted, fast, both, odd]}])
    assert found.tools == [
        ListedTool(
            "a",
            title="Its title",
            description="It does.",
            input_schema=whole["inputSchema"],  # type: ignore[arg-type]
            output_schema=OBJECT,
            read_only=True,
            idempotent=False,
            destructive=True,
            tags=("x",),
            category="c",
            examples=({"n": 1}, {"n": 3}),
        ),
        ListedTool("b", title="Hinted", input_schema=OBJECT),
        ListedTool("c", input_schema=OBJECT, tags=("f",)),
        ListedTool("d", input_schema=OBJECT, tags=("own",)),
        ListedTool("e", input_schema=OBJECT),
    ]
    assert found.refused == []


def test_prompts_and_resources_are_read_with_all_that_they_say_of_themselves() -> None:
    """They only read; what is to be filled in are texts, of a template the names in its braces."""
    arguments = [{"name": "w", "description": "who", "required": True}, {"name": "v"}]
    prompts = [
        {
            "name": "p",
            "title": "P",
            "description": "Asks.",
            "arguments": arguments,
            "_meta": {"tags": ["t"], "category": "c"},
        },
        {"name": "q"},
    ]
    resources = [
        {
            "uri": "x:1",
            "name": "one",
            "mimeType": "text/plain",
            "size": 3,
            "description": "R.",
            "_meta": {"category": "c"},
        },
        {"uri": "x:2", "name": "two", "title": "Two", "_meta": {"tags": ["t"]}},
    ]
    templates = [{"uriTemplate": "x://{a}/{?b,c*}{+d}{b}", "name": "t", "mimeType": "m", "_meta": {"tags": ["u"]}}]
    text = {"type": "string"}
    found = listing(
        prompts=[{"prompts": prompts}],
        resources=[{"resources": resources}],
        resources__templates=[{"resourceTemplates": templates}],
    )
    assert found.tools == [
        ListedTool(
            "p",
            "prompt",
            "P",
            "Asks.",
            {**NOTHING, "properties": {"w": {**text, "description": "who"}, "v": text}, "required": ["w"]},
            read_only=True,
            tags=("t",),
            category="c",
        ),
        ListedTool("q", "prompt", input_schema=NOTHING, read_only=True),
        ListedTool(
            "x:1",
            "resource",
            "one",
            "R.",
            NOTHING,
            read_only=True,
            category="c",
            details={"mime_type": "text/plain", "size": 3},
        ),
        ListedTool("x:2", "resource", "Two", input_schema=NOTHING, read_only=True, tags=("t",)),
        ListedTool(
            templates[0]["uriTemplate"],  # type: ignore[arg-type]
            "resource",
            "t",
            input_schema={**NOTHING, "properties": dict.fromkeys("abcd", text)},
            read_only=True,
            tags=("u",),
            details={"mime_type": "m", "template": True},
        ),
    ]
    assert found.find("prompt", "p") == found.tools[0]
    assert (found.find("tool", "p"), found.find("prompt", "x:1")) == (None, None)


@pytest.mark.parametrize(
    ("told", "title", "version", "instructions"),
    [
        ({"serverInfo": {"name": "n", "title": "T", "version": "9"}, "instructions": "I."}, "T", "9", "I."),
        (
            {"serverInfo": {"name": "n", "version": b"\\ud800".decode("unicode_escape", "surrogatepass")}},
            "n",
            "\ufffd",
            "",
        ),
        ({"serverInfo": {"name": "n" * 20_001, "version": ""}, "instructions": "i" * 20_001}, "n", "", "i"),
    ],
)
def test_a_server_says_what_it_is(told: dict[str, Any], title: str, version: str, instructions: str) -> None:
    """Of long texts the beginning is kept, of what no file can hold something else."""
    found = listing(told)
    assert (found.title[:1], found.version, found.instructions[:2]) == (title[:1], version, (instructions * 2)[:2])
    if len(title) == 1 and version == "":
        assert (len(found.title), len(found.instructions)) == (20_000, 20_000)
        assert found.title.endswith("… [cut: 20,001 characters in all]")


@pytest.mark.parametrize(
    ("pages", "ttl_s"),
    [
        ([{"ttlMs": 5_000}, {"ttlMs": 3_000}], 3.0),
        ([{"ttlMs": 1}], 0.001),
        ([{"ttlMs": 5_000}, {"ttlMs": 0}], 86_400.0),
        ([{"ttlMs": 5_000}, {}], 86_400.0),
        ([{}], 86_400.0),
    ],
)
def test_a_list_holds_as_long_as_the_page_that_holds_shortest(pages: list[dict[str, Any]], ttl_s: float) -> None:
    """For a day where one of them does not say; so does what was asked of one tool."""
    written = [
        {"tools": [], **page, **({"nextCursor": str(number)} if number < len(pages) else {})}
        for number, page in enumerate(pages, 1)
    ]
    server = Paged({"tools": written}, later=True, capabilities=TOOLS)
    assert asked(server, read_listing).ttl_s == ttl_s
    assert server.asked == [("tools", None), *(("tools", str(number)) for number in range(1, len(pages)))]
    assert asked(server, lambda client: read_tool(client, "a")) == ToolNow(None, ttl_s)


@pytest.mark.parametrize(
    ("capabilities", "lists"),
    [
        ({}, []),
        (TOOLS, ["tools"]),
        ({"prompts": {}}, ["prompts"]),
        ({"resources": {}}, ["resources", "resources/templates"]),
    ],
)
def test_a_server_is_asked_for_what_it_says_that_it_has(capabilities: dict[str, Any], lists: list[str]) -> None:
    server = Paged({}, capabilities=capabilities)
    first, second = asked(server, read_listing), asked(server, read_listing)
    assert [name for name, _ in server.asked] == lists * 2
    assert (first.tools, first.refused) == ([], [])
    assert second.asked > first.asked


@pytest.mark.parametrize(
    ("pages", "message"),
    [
        ({"tools": [{"tools": [{"name": "a", "inputSchema": OBJECT}] * 2}]}, "it lists the tool 'a' twice"),
        ({"prompts": [{"prompts": [{"name": "a"}] * 2}]}, "it lists the prompt 'a' twice"),
        (
            {"tools": [{"tools": [], "nextCursor": "2"}]},
            "its list of tools does not end: a page comes again and again",
        ),
        (
            {"prompts": [{"prompts": [], "nextCursor": ""}]},
            "its list of prompts does not end: a page comes again and again",
        ),
        (
            {"resources": [{"resources": [], "nextCursor": "2"}]},
            "its list of resources does not end: a page comes again and again",
        ),
        (
            {"resources/templates": [{"resourceTemplates": [], "nextCursor": "2"}]},
            "its list of resource templates does not end: a page comes again and again",
        ),
    ],
)
def test_a_list_that_does_not_end_or_names_something_twice_is_refused(pages: dict[str, Any], message: str) -> None:
    with pytest.raises(Invalid) as refused:
        asked(Paged(pages), read_listing)
    assert refused.value.message == message


def test_more_than_twenty_thousand_of_a_kind_are_refused() -> None:
    """With what such a server could do instead."""
    prompts = [{"name": "p"}] * 20_001
    with pytest.raises(Invalid) as refused:
        asked(Paged({"prompts": [{"prompts": prompts}]}, capabilities={"prompts": {}}), read_listing)
    assert refused.value.message == "it lists more than 20,000 prompts"
    assert refused.value.hint == "a server of so many has another way to search"


def test_what_is_wrong_with_an_entry_is_that_ones_alone() -> None:
    """By its name, or its place in the list, with why; the same name among the others is no second one."""
    found = listing(
        tools=[
            {
                "tools": [
                    {"name": "a"},
                    {"inputSchema": OBJECT},
                    {"name": "round", "inputSchema": ENDLESS},
                    3,
                    {"name": "ok", "inputSchema": OBJECT},
                ]
            }
        ],
        prompts=[{"prompts": [{"name": 3}, {"name": "ok"}, {"name": "p", "arguments": [{"name": 1}]}]}],
        resources=[{"resources": [{"uri": "u"}, {"name": "x"}, {"uri": "ok", "name": "ok"}]}],
        resources__templates=[{"resourceTemplates": [{"uriTemplate": "u"}, {"name": "q"}]}],
    )
    assert [(tool.kind, tool.name) for tool in found.tools] == [("tool", "ok"), ("prompt", "ok"), ("resource", "ok")]
    assert found.refused == [
        RefusedEntry("tool", "a", "`inputSchema`: Field required"),
        RefusedEntry("tool", "number 2 of its tools", "`name`: Field required"),
        RefusedEntry("tool", "round", "the schema refers to itself without end"),
        RefusedEntry("tool", "number 4 of its tools", "Input should be a valid dictionary or instance of Tool"),
        RefusedEntry("prompt", "number 1 of its prompts", "`name`: Input should be a valid string"),
        RefusedEntry("prompt", "p", "`arguments.name`: Input should be a valid string"),
        RefusedEntry("resource", "u", "`name`: Field required"),
        RefusedEntry("resource", "x", "`uri`: Field required"),
        RefusedEntry("resource", "u", "`name`: Field required"),
        RefusedEntry("resource", "q", "`uriTemplate`: Field required"),
    ]
    assert found.refused[0].message == "the tool 'a' is refused: `inputSchema`: Field required"


@pytest.mark.parametrize(
    ("name", "pages", "found", "read"),
    [
        ("a", [["a", "b"], ["c"]], True, 1),
        ("c", [["a", "b"], ["c"]], True, 2),
        ("d", [["a", "b"], ["c"]], False, 2),
        ("a", [["b"], ["a", "a"]], False, 2),
        ("wrong", [["wrong"], ["a"]], False, 1),
        ("round", [["round"], ["a"]], False, 1),
        ("\ufffd", [["\ud800"], ["a"]], True, 1),
    ],
)
def test_one_tool_is_looked_for_page_by_page(name: str, pages: list[list[str]], found: bool, read: int) -> None:
    """Until it is there; one that is wrong, or there twice, is none."""
    schemas: dict[str, Any] = {"wrong": [], "round": ENDLESS}
    written = [
        {
            "tools": [
                {"name": one, "description": f"{number}", "inputSchema": schemas.get(one, OBJECT)} for one in page
            ],
            "ttlMs": 9_000 - 1_000 * number,
            **({"nextCursor": str(number)} if number < len(pages) else {}),
        }
        for number, page in enumerate(pages, 1)
    ]
    server = Paged({"tools": written}, later=True)
    now = asked(server, lambda client: read_tool(client, name))
    assert (now.tool is not None, now.ttl_s) == (found, 9.0 - read)
    assert now.tool is None or (now.tool.name, now.tool.description) == (name, str(read))
    assert len(server.asked) == read
    without = Paged({"tools": written}, capabilities={"prompts": {}})
    assert (asked(without, lambda client: read_tool(client, name)), without.asked) == (ToolNow(None, 86_400.0), [])
