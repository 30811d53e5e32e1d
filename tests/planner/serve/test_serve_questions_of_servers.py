"""What the server of a tool asks reaches the person behind the client of the door, as a form with its fields."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mcp_types import ElicitResult

from infospace import Space
from infospace.tools.mcp.catalogue.sync import sync

sys.path.insert(0, str(Path(__file__).parent))
from serving import Planner, play

SERVER = Path(__file__).parents[2] / "infospace" / "tools" / "asking_server.py"


@pytest.fixture
def asking(space: Space, tmp_path: Path) -> Space:
    """A space with a server that asks back."""
    arguments = ["-I", "-S", str(SERVER), str(tmp_path / "counted.txt")]
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"asking": {"command": sys.executable, "args": arguments}}}))
    assert asyncio.run(sync(space, mcp=file)).failed == []
    return space


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(
    ("said", "content"),
    [
        (("accept", {"name": "Ann", "seats": 4}), {"name": "Ann", "seats": 4, "class": "second"}),
        (("decline", None), None),
    ],
)
def test_the_person_behind_the_client_is_asked(
    asking: Space, tmp_path: Path, mode: str, said: Sequence[Any], content: Any
) -> None:
    """The call is made once: it stays open while they are asked."""
    forms: list[Any] = []

    async def person(context: Any, params: Any) -> ElicitResult:
        del context
        forms.append(params)
        return ElicitResult(action=said[0], content=said[1])

    async def scene(planner: Planner) -> Any:
        return await planner.call("execute_tool", tool_name="asking/book", arguments={})

    answered = play(asking, scene, mode=mode, elicitation_callback=person)
    told = json.loads(answered["content"][0]["text"])
    assert told == {"action": said[0], **({} if content is None else {"content": content})}
    [form] = forms
    assert form.message.startswith("asking/book asks: For whom?")
    assert form.requested_schema["properties"]["seats"]["default"] == 2
    assert (tmp_path / "counted.txt").read_text().splitlines().count("called book") == 1
    asking.close()
