"""The three things that a server is asked: to call a tool, for a prompt, for a resource."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    HEADER_MISMATCH,
    INVALID_REQUEST,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequest,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ReadResourceRequest,
    ReadResourceRequestParams,
    ReadResourceResult,
)
from pydantic import BaseModel, TypeAdapter

from infospace.core.json_types import JSON
from infospace.core.tool import ToolAnswer, ToolKind
from infospace.tools.mcp.catalogue.listing import read_listing
from infospace.tools.mcp.sanitize import sanitize

_TOOL: TypeAdapter[Any] = TypeAdapter(CallToolResult | InputRequiredResult)
_PROMPT: TypeAdapter[Any] = TypeAdapter(GetPromptResult | InputRequiredResult)
_RESOURCE: TypeAdapter[Any] = TypeAdapter(ReadResourceResult | InputRequiredResult)


async def ask(client: Client, kind: ToolKind, name: str, arguments: Mapping[str, JSON]) -> ToolAnswer:
    """Ask, and return all that came; it is not held against the tool's schema here, so that nothing is dropped.

    Raises MCPError, and ValidationError for an answer that is not of the protocol.
    """
    match kind:
        case "prompt":
            return await _prompt(client, name, dict(arguments))
        case "resource":
            return await _resource(client, name)
    return await _tool(client, name, dict(arguments))


async def _tool(client: Client, name: str, arguments: dict[str, Any]) -> ToolAnswer:
    request = CallToolRequest(params=CallToolRequestParams(name=name, arguments=arguments))
    try:
        found = await _answer(client, request, _TOOL)
    except MCPError as error:
        if error.code != HEADER_MISMATCH:
            raise
        # Over HTTP some arguments go into headers too, which the list tells; so it is read, and the call made again.
        await read_listing(client)
        found = await _answer(client, request, _TOOL)
    return ToolAnswer(_dumped(found)["content"], sanitize(found.structured_content), bool(found.is_error))


async def _prompt(client: Client, name: str, arguments: dict[str, Any]) -> ToolAnswer:
    request = GetPromptRequest(params=GetPromptRequestParams(name=name, arguments=arguments))
    found = await _answer(client, request, _PROMPT)
    return ToolAnswer([{"type": "message", **message} for message in _dumped(found)["messages"]])


async def _resource(client: Client, name: str) -> ToolAnswer:
    request = ReadResourceRequest(params=ReadResourceRequestParams(uri=name))
    found = await _answer(client, request, _RESOURCE)
    return ToolAnswer([{"type": "resource", "resource": content} for content in _dumped(found)["contents"]])


async def _answer(client: Client, request: Any, result: TypeAdapter[Any]) -> Any:
    found = await client.session.send_request(request, result)
    if isinstance(found, InputRequiredResult):
        raise MCPError(INVALID_REQUEST, "it asks something back, and nobody is there to answer")
    return found


def _dumped(found: BaseModel) -> dict[str, Any]:
    dumped: dict[str, Any] = sanitize(found.model_dump(by_alias=True, mode="json", exclude_none=True))
    return dumped
