"""What is let through of what a server lists, where one tool of it is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from infospace.tools.mcp.catalogue.sieve import _listed

TOOLS: list[dict[str, Any]] = [{"name": name, "inputSchema": {"type": "object"}} for name in ("ls", "rm")]


@pytest.mark.parametrize(("expected", "names"), [(None, ["ls", "rm"]), ("rm", ["rm"]), ("mv", [])])
def test_of_a_page_of_tools_only_the_one_that_is_asked_for_is_read(expected: str | None, names: list[str]) -> None:
    """With all else that stands in the page, such as where it goes on."""
    found = _listed("tools/list", expected, {"tools": [*TOOLS], "nextCursor": "2"})
    assert [tool["name"] for tool in found["tools"]] == names
    assert found["nextCursor"] == "2"


def test_prompts_are_let_through_whichever_tool_is_asked_for() -> None:
    page = {"prompts": [{"name": "greet"}]}
    assert _listed("prompts/list", "ls", page) == page
