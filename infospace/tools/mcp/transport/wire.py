"""Messages of a server as they come: whatever is wrong with one is an answer to the request that it belongs to."""

from __future__ import annotations

import contextlib
import gc
import json
import re
import secrets
from typing import Any

from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, JSONRPCResponse, jsonrpc_message_adapter
from pydantic_core import from_json

from infospace.tools.mcp.sanitize import sanitize

DEEPEST = 190
"""How deep arrays and objects may stand in one another in a message; what reads JSON ends a little below."""
TOO_DEEP = f"it answers with something nested more than {DEEPEST} deep, which is not taken"
CUT = f"nested more than {DEEPEST} deep: {secrets.token_hex(16)}"
"""Stands in the place of what is nested too deep; a key of a whole result that holds it. No server can know it."""

LARGE = 100_000
"""Bytes of a message during whose decoding garbage is not collected.

What is decoded has no cycles, and the collector would go through all objects of the process several times: of a list of
3,000 tools that was seven eighths of the time (68 ms instead of 9).
"""

_TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)


def read_message(data: bytes) -> JSONRPCMessage | None:
    """Read a message; None for what is none. What has no UTF-8 form is replaced.

    A result in which something is nested too deep stands under the one key `CUT`.
    """
    if not data.lstrip().startswith(b"{"):
        return None
    with contextlib.suppress(ValueError):
        # As JSON, each kind of message would read all of it again to see whether it is one.
        return jsonrpc_message_adapter.validate_python(_decode(data), by_name=False)
    text, cut = _shallow(data.decode("utf-8", "replace"))
    with contextlib.suppress(ValueError):
        value: Any = sanitize(json.loads(text))
        if cut and isinstance(value, dict) and "result" in value:
            value = {**value, "result": {CUT: value["result"]}}
        elif cut and isinstance(value, dict) and "error" in value:
            value = {**value, "error": {"code": INTERNAL_ERROR, "message": TOO_DEEP}}
        return jsonrpc_message_adapter.validate_python(value, by_name=False)
    return None


def failure(identifier: int | str, message: str, data: Any = None) -> JSONRPCError:
    """Return the error that answers a request."""
    return JSONRPCError(jsonrpc="2.0", id=identifier, error=ErrorData(code=INTERNAL_ERROR, message=message, data=data))


def replace_truncated(message: JSONRPCMessage) -> JSONRPCMessage:
    """Return a message; in the place of one that was cut, the error."""
    if isinstance(message, JSONRPCResponse) and CUT in message.result:
        return failure(message.id, TOO_DEEP)
    return message


def _decode(data: bytes) -> Any:
    """Decode JSON; a large one while garbage is not collected. Raises ValueError."""
    if len(data) < LARGE or not gc.isenabled():
        return from_json(data)
    gc.disable()
    try:
        return from_json(data)
    finally:
        gc.enable()


def _shallow(text: str) -> tuple[str, bool]:
    """Return JSON without what is nested too deep, and whether there was any such thing."""
    depth = begin = 0
    parts: list[str] = []
    for match in _TOKENS.finditer(text):
        part = match[0]
        if part in "[{":
            depth += 1
            if depth == DEEPEST + 1:
                parts += [text[begin : match.start()], json.dumps(CUT)]
        elif part in "]}":
            if depth == DEEPEST + 1:
                begin = match.end()
            depth -= 1
    return "".join((*parts, text[begin:])), bool(parts)
