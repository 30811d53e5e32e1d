"""A server of the Model Context Protocol whose tools answer page by page: `paged_server.py LOG`.

LOG gets a line for each call: the tool and its arguments as JSON. While there is a file LOG.hold, `issues` does not
answer the call for page three.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LOG = Path(sys.argv[1])
TEXT, CURSOR = {"type": "string"}, {"type": ["string", "null"]}
ISSUE = {
    "type": "object",
    "properties": {"title": TEXT, "votes": {"type": "integer"}},
    "required": ["title", "votes"],
    "additionalProperties": False,
}
ISSUES = {
    "type": "object",
    "properties": {
        "issues": {"type": "array", "items": ISSUE},
        "page_info": {"type": "object", "properties": {"end_cursor": CURSOR}, "additionalProperties": False},
    },
    "required": ["issues", "page_info"],
    "additionalProperties": False,
}
BY_CURSOR = {"type": "object", "properties": {"project": TEXT, "cursor": TEXT}, "additionalProperties": False}
BY_NUMBER = {
    "type": "object",
    "properties": {"page": {"type": "integer"}},
    "required": ["page"],
    "additionalProperties": False,
}


def page(number: int) -> list[dict[str, Any]]:
    return [{"title": f"issue {number}.{one}", "votes": number} for one in (1, 2)] if number <= 3 else []


def text(given: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": given if isinstance(given, str) else json.dumps(given)}]}


def issues(cursor: str = "c1", **_: Any) -> dict[str, Any]:
    """Three pages, each of which says where the next one is, but the last."""
    number = int(cursor[1:])
    while number == 3 and LOG.with_suffix(".hold").exists():
        time.sleep(0.01)
    following = {1: "c2", 2: "c3", 3: None}[number]
    told = {"issues": page(number), "page_info": {"end_cursor": following}}
    return {**text(told), "structuredContent": told}


def round_about(cursor: str = "c1", **_: Any) -> dict[str, Any]:
    """The second page leads back to the first."""
    return text({"issues": [cursor], "next": {"c1": "c2", "c2": "c1"}[cursor]})


def ends(cursor: str = "", **_: Any) -> dict[str, Any]:
    """The second page ends with what the first cursor says, as JSON; `absent` leaves the key out."""
    kind, _blank, so_far = cursor.partition(" ")
    if not so_far:
        return text({"items": [1], "next": f"{kind or 'null'} again"})
    return text({"items": None} if kind == "absent" else {"items": [2], "next": json.loads(kind)})


def rows(page: int) -> dict[str, Any]:
    """A list as text, with nothing around it; empty after the third page."""
    return text([{"n": page}] if page <= 3 else [])


def endless(page: int) -> dict[str, Any]:
    """Never empty."""
    return text({"rows": [page]})


def flaky(page: int) -> dict[str, Any]:
    """Page three fails when it is asked for the first time."""
    asked = [line for line in LOG.read_text(encoding="utf-8").splitlines() if line == 'flaky {"page": 3}']
    if page == 3 and len(asked) == 1:
        return {**text("too busy"), "isError": True}
    return rows(page)


def prose(page: int) -> dict[str, Any]:
    """A text that is no JSON, beside two pages that are."""
    return text([1]) if page < 3 else text("three is a crowd")


def odd(page: int) -> dict[str, Any]:
    """A list on the first page, an object on the second."""
    return text({"rows": [1] if page == 1 else {"n": 1}})


TOOLS: tuple[tuple[Callable[..., dict[str, Any]], dict[str, Any], dict[str, Any]], ...] = (
    (issues, BY_CURSOR, {"outputSchema": ISSUES}),
    (round_about, BY_CURSOR, {}),
    (ends, BY_CURSOR, {}),
    (rows, BY_NUMBER, {}),
    (endless, BY_NUMBER, {}),
    (flaky, BY_NUMBER, {}),
    (prose, BY_NUMBER, {}),
    (odd, BY_NUMBER, {}),
)
KNOWN: dict[str, Callable[..., dict[str, Any]]] = {function.__name__: function for function, _, _ in TOOLS}
CAN: dict[str, Any] = {"tools": {}}


def listed() -> list[dict[str, Any]]:
    hints = {"annotations": {"readOnlyHint": True}}
    tools = [
        {"name": function.__name__, "description": function.__doc__, "inputSchema": schema, **more, **hints}
        for function, schema, more in TOOLS
    ]
    # The same, for whoever asks before it is called.
    drawn = {"name": "draw", "description": "Takes an issue out of a hat.", "inputSchema": BY_NUMBER}
    return [*tools, {**drawn, "annotations": {"readOnlyHint": False, "destructiveHint": True}}]


def result(method: str, given: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        known = {"name": "paged", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": CAN, "serverInfo": known}
    if method == "tools/list":
        return {"tools": listed()}
    if method != "tools/call":
        return {}
    name, arguments = given["name"], given.get("arguments") or {}
    with LOG.open("a", encoding="utf-8") as log:
        log.write(f"{name} {json.dumps(arguments)}\n")
    called: Callable[..., dict[str, Any]] = KNOWN.get(name, rows)
    return called(**arguments)


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            given = result(message["method"], message.get("params") or {})
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": given}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
