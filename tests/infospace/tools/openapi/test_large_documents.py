"""Two large documents of real interfaces, answered by them on loopback: every operation is a tool that can be called.

They are not of this repository: INFOSPACE_OPENAPI names the folder that they are in.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent))
from api_server import made
from api_server import served as serving
from served import call, synced, write

from infospace import Space
from infospace.schema.validate import validate

FOLDER = Path(os.environ.get("INFOSPACE_OPENAPI", "/nowhere"))
OPERATIONS = {"spotify": 40, "tmdb": 54}


@pytest.mark.skipif(not FOLDER.is_dir(), reason="INFOSPACE_OPENAPI names no folder of documents")
@pytest.mark.parametrize("name", OPERATIONS)
def test_each_operation_is_called_as_its_document_says(space: Space, name: str) -> None:
    """With arguments made by the tool's schema; what comes back fits the tool's output schema."""
    path = FOLDER / f"{name}.json"
    document = json.loads(path.read_text("utf-8"))
    with serving(document, "/base") as api:
        auth = {"oauth_2_0": "token-123", "api_key": "key-123"}
        folder = Path(space.store.address).parent
        write(folder, api={"openapi": str(path), "base_url": api.url, "auth": auth, "autoApprove": True})
        report = synced(space)
        assert (report.failed, report.refused) == ([], [])
        tools = [tool for tool in space.tools if tool.server == "api"]
        assert len(tools) == OPERATIONS[name]
        for tool in tools:
            arguments = arguments_for(tool.input_schema)
            answer = call(space, tool.full_name, **arguments)
            assert not answer.is_error, (tool.full_name, answer.text)
            if tool.output_schema is not None:
                assert validate(answer.structured, tool.output_schema) == [], tool.full_name
        assert len(api.seen) == len(tools)
        for seen in api.seen:
            sent = f"{seen['query']} {seen['headers'].get('authorization')}"
            assert ("token-123" if name == "spotify" else "key-123") in sent


def arguments_for(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Make the arguments that a schema asks for."""
    found = {}
    for key in schema.get("required", ()):
        one = schema["properties"][key]
        found[key] = one.get("default") or (one.get("examples") or [made(schema, one)])[0]
    return found
