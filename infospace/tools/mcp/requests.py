"""The three things that a server is asked: to call a tool, for a prompt, for a resource."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp import Client
from mcp.client.context import ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    HEADER_MISMATCH,
    INVALID_REQUEST,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    CreateMessageRequest,
    ElicitRequest,
    ErrorData,
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
from infospace.tools.mcp.dialogue.open_calls import OpenCall, OpenCalls
from infospace.tools.mcp.sanitize import sanitize

_TOOL: TypeAdapter[Any] = TypeAdapter(CallToolResult | InputRequiredResult)
_PROMPT: TypeAdapter[Any] = TypeAdapter(GetPromptResult | InputRequiredResult)
_RESOURCE: TypeAdapter[Any] = TypeAdapter(ReadResourceResult | InputRequiredResult)


PAUSE_S = 0.2
"""Seconds before a call is asked for again that was answered with no question, but is not done."""
MOST_ROUNDS = 10
"""How often one call may be answered with questions."""


async def ask(
    client: Client, kind: ToolKind, name: str, arguments: Mapping[str, JSON], calls: OpenCalls, call: OpenCall
) -> ToolAnswer:
    """Ask, and return all that came; it is not held against the tool's schema here, so that nothing is dropped.

    What the server asks back is asked of `call`, one of `calls`.

    Raises MCPError, and ValidationError for an answer that is not of the protocol.
    """
    asking = _Asking(client, calls, call)
    match kind:
        case "prompt":
            return await _prompt(asking, name, dict(arguments))
        case "resource":
            return await _resource(asking, name)
    return await _tool(asking, name, dict(arguments))


@dataclass(frozen=True, slots=True)
class _Asking:
    """One call of a client, in which the server may ask back."""

    client: Client
    calls: OpenCalls
    call: OpenCall

    async def answer(self, request: Any, result: TypeAdapter[Any]) -> Any:
        """Return the answer; what is answered with questions is asked again with their answers."""
        for _ in range(MOST_ROUNDS):
            value = await self.client.session.send_request(
                request, result, progress_callback=self.calls.progress(self.call)
            )
            if not isinstance(value, InputRequiredResult):
                return value
            responses = {key: await self._respond(asked) for key, asked in (value.input_requests or {}).items()}
            if not responses:
                await asyncio.sleep(PAUSE_S)
            more = {"input_responses": responses or None, "request_state": value.request_state}
            request = request.model_copy(update={"params": request.params.model_copy(update=more)})
        raise MCPError(INVALID_REQUEST, f"it asked back {MOST_ROUNDS} times, and gave no answer")

    async def _respond(self, asked: Any) -> Any:
        """Answer one question; raises MCPError for what nobody answers."""
        match asked:
            case ElicitRequest(params=params):
                return await self.calls.answer(self.call, params)
            case CreateMessageRequest(params=params):
                response: Any = await self.calls.sampled(self.call, params)
            case _:
                context = ClientRequestContext(session=self.client.session, request_id="roots", meta=None)
                response = await self.client.session.dispatch_input_request(context, asked)
        if isinstance(response, ErrorData):
            raise MCPError.from_error_data(response)
        return response


async def _tool(asking: _Asking, name: str, arguments: dict[str, Any]) -> ToolAnswer:
    request = CallToolRequest(params=CallToolRequestParams(name=name, arguments=arguments))
    try:
        value = await asking.answer(request, _TOOL)
    except MCPError as error:
        if error.code != HEADER_MISMATCH:
            raise
        # Over HTTP some arguments go into headers too, which the list tells; so it is read, and the call made again.
        await read_listing(asking.client)
        value = await asking.answer(request, _TOOL)
    return ToolAnswer(_dumped(value)["content"], sanitize(value.structured_content), bool(value.is_error))


async def _prompt(asking: _Asking, name: str, arguments: dict[str, Any]) -> ToolAnswer:
    request = GetPromptRequest(params=GetPromptRequestParams(name=name, arguments=arguments))
    value = await asking.answer(request, _PROMPT)
    return ToolAnswer([{"type": "message", **message} for message in _dumped(value)["messages"]])


async def _resource(asking: _Asking, name: str) -> ToolAnswer:
    request = ReadResourceRequest(params=ReadResourceRequestParams(uri=name))
    value = await asking.answer(request, _RESOURCE)
    return ToolAnswer([{"type": "resource", "resource": content} for content in _dumped(value)["contents"]])


def _dumped(result: BaseModel) -> dict[str, Any]:
    dumped: dict[str, Any] = sanitize(result.model_dump(by_alias=True, mode="json", exclude_none=True))
    return dumped
