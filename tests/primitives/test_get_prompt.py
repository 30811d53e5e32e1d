"""`get-prompt` and `read-resource`: what a server has besides tools, as Notes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from infospace import NotFound, Space
from infospace.core.json_types import JSON
from infospace.core.tool import Tool, ToolAnswer
from planner.execute.start import run_sync
from primitives.get_prompt import get_prompt
from primitives.read_resource import read_resource

TEXT = {"type": "text", "text": "Sum this up."}
PICTURE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
BLOB = {"uri": "x://b", "mimeType": "image/png", "blob": "aGk="}


class Answering:
    """A provider with one prompt, that answers what it is told to."""

    server = "s"

    def __init__(self, *blocks: Mapping[str, JSON]) -> None:
        self._blocks = blocks
        self.asked: list[tuple[str, str, dict[str, JSON]]] = []

    def tools(self) -> Sequence[Tool]:
        """Return the prompt."""
        return [Tool("s", "p", kind="prompt", read_only=True)]

    def find(self, name: str) -> Tool | None:
        """Have no tools."""
        del name
        return None

    async def call(self, tool: Tool, arguments: Mapping[str, JSON], timeout_s: float | None = None) -> ToolAnswer:
        """Answer."""
        del timeout_s
        self.asked.append((tool.kind, tool.name, dict(arguments)))
        return ToolAnswer(self._blocks)


def message(content: Any, role: str = "user") -> dict[str, Any]:
    """Return a message of a prompt."""
    return {"type": "message", "role": role, "content": content}


@pytest.mark.parametrize(
    ("blocks", "content"),
    [
        ([message(TEXT)], "Sum this up."),
        ([message(PICTURE)], [{"role": "user", "content": PICTURE}]),
        (
            [message(TEXT), message(TEXT, "assistant")],
            [{"role": "user", "content": "Sum this up."}, {"role": "assistant", "content": "Sum this up."}],
        ),
        ([], []),
    ],
)
def test_a_prompt_is_its_text_or_its_messages(space: Space, blocks: list[Any], content: JSON) -> None:
    """All that came stays in the answer."""
    provider = Answering(*blocks)
    space.tools.add(provider)
    view, prompt = space.context(), space.tools.get("s/p", "prompt")
    note = asyncio.run(get_prompt.call(get_prompt.validate({"prompt": prompt, "arguments": {"a": "b"}}), view))
    assert note.content == content
    assert (view.extra["tool"], view.extra["content"]) == ("s/p", blocks)
    assert provider.asked == [("prompt", "p", {"a": "b"})]


@pytest.mark.parametrize(
    ("contents", "content"),
    [
        ([{"uri": "x://a", "text": "hello"}], "hello"),
        ([BLOB], BLOB),
        ([{"uri": "x://a", "text": "hello"}, BLOB], ["hello", BLOB]),
        ([], []),
    ],
)
def test_a_resource_is_its_text_or_its_parts(space: Space, contents: list[Any], content: JSON) -> None:
    """Under any URI that the server may have."""
    provider = Answering(*({"type": "resource", "resource": one} for one in contents))
    space.tools.add(provider)
    view, resource = space.context(), space.tools.get("s/x://a/b", "resource")
    note = asyncio.run(read_resource.call(read_resource.validate({"resource": resource}), view))
    assert (note.content, view.extra["content"]) == (content, contents)
    assert provider.asked == [("resource", "x://a/b", {})]


def test_what_is_not_there_is_not_found(space: Space) -> None:
    """With the nearest prompt, or the servers' lack."""
    space.tools.add(Answering())
    with pytest.raises(NotFound, match=r"there is no prompt 's/pp' \(did you mean 's/p'\?\)"):
        space.tools.get("s/pp", "prompt")
    for name in ("t/x://a", "s/", "s"):
        with pytest.raises(NotFound, match="there is no resource"):
            space.tools.get(name, "resource")


def test_they_run_beside_other_steps(space: Space) -> None:
    """They change nothing outside: neither waits for the one before it."""
    met = asyncio.Barrier(2)

    class Meeting(Answering):
        async def call(self, tool: Tool, arguments: Mapping[str, JSON], timeout_s: float | None = None) -> ToolAnswer:
            async with asyncio.timeout(30):
                await met.wait()
            return await super().call(tool, arguments, timeout_s)

    space.tools.add(Meeting(message(TEXT)))
    steps = [{"type": "get-prompt", "prompt": "s/p"}, {"type": "read-resource", "resource": "s/x://a"}]
    assert run_sync(space, steps).status == "success"
