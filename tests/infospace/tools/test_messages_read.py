"""A message of a server is read as its kind, once, however large it is."""

from __future__ import annotations

import gc
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from infospace.tools.mcp.transport.wire import LARGE, read_message

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | VALUES,
        "id": st.integers() | st.text() | st.none() | st.floats(0, 9) | st.booleans(),
        "method": st.text() | VALUES,
        "params": st.dictionaries(st.text(), VALUES, max_size=3) | VALUES,
        "result": st.dictionaries(st.text(), VALUES, max_size=3) | VALUES,
        "error": st.fixed_dictionaries({"code": st.integers(), "message": st.text(), "data": VALUES}) | VALUES,
    },
)


@given(MESSAGES)
def test_a_message_is_what_the_protocol_says_it_is(value: dict[str, Any]) -> None:
    """As if each kind of message had read the JSON itself."""
    data = json.dumps(value).encode()
    try:
        expected = jsonrpc_message_adapter.validate_json(data, by_name=False)
    except ValidationError:
        expected = None
    assert read_message(data) == expected


def test_garbage_is_not_collected_while_a_large_message_is_decoded() -> None:
    """It would go through all objects of the process, time and again; afterwards it is collected as before."""
    tools = [{"name": f"tool_{number}", "inputSchema": {"type": "object"}} for number in range(3_000)]
    data = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}).encode()
    assert len(data) > LARGE
    begun: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            begun.append(info["generation"])

    read_message(data[:-1] + b", " + data[-1:])
    assert gc.isenabled()
    gc.collect()
    gc.callbacks.append(note)
    try:
        message = read_message(data)
    finally:
        gc.callbacks.remove(note)
    assert message is not None
    assert gc.isenabled()
    assert len(begun) <= 1, begun
