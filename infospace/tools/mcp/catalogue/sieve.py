"""Validates what a server lists, entry by entry: a wrong entry is refused by its name, the others are accepted."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from mcp.client._transport import ReadStream, TransportStreams, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
)
from mcp_types.methods import validate_server_result
from pydantic import BaseModel, ValidationError

from infospace.tools.mcp.sanitize import sanitize
from infospace.tools.mcp.transport.wire import CUT, DEEPEST, replace_truncated

WHY = f"infospace/refused-{secrets.token_hex(16)}"
"""The key in `_meta` under which it stands why something is refused. No server can know it."""

_MODELS: Mapping[str, tuple[str, type[BaseModel]]] = {
    "tools/list": ("tools", ListToolsResult),
    "prompts/list": ("prompts", ListPromptsResult),
    "resources/list": ("resources", ListResourcesResult),
    "resources/templates/list": ("resourceTemplates", ListResourceTemplatesResult),
}
_LATEST = "2025-11-25"
_ONLY: ContextVar[str | None] = ContextVar("only", default=None)


@contextmanager
def only(name: str) -> Iterator[None]:
    """While the context lasts, lists of tools that are asked for hold none but those of a name.

    The others are let go before they are looked at: of thousands, that is what takes the time.
    """
    token = _ONLY.set(name)
    try:
        yield
    finally:
        _ONLY.reset(token)


@asynccontextmanager
async def filter_messages(transport: AbstractAsyncContextManager[TransportStreams]) -> AsyncIterator[TransportStreams]:
    """Speak over a transport; of what is listed, that which is no tool, prompt or resource is refused alone."""
    async with transport as (incoming, outgoing):
        asked: dict[int | str, tuple[str, str | None]] = {}
        yield _Incoming(incoming, asked), _Outgoing(outgoing, asked)


@dataclass(frozen=True, slots=True)
class _Stream:
    """What both ends have in common."""

    stream: Any
    asked: dict[int | str, tuple[str, str | None]]
    """The lists that are asked for, by the numbers of the requests, and the one name that is wanted of each."""

    async def aclose(self) -> None:
        await self.stream.aclose()

    async def __aenter__(self) -> Self:
        await self.stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        left: bool | None = await self.stream.__aexit__(kind, error, trace)
        return left


class _Outgoing(_Stream):
    """Notes which lists are asked for."""

    __slots__ = ()
    stream: WriteStream[SessionMessage]

    async def send(self, item: SessionMessage, /) -> None:
        message = item.message
        if isinstance(message, JSONRPCRequest) and message.method in _MODELS:
            self.asked[message.id] = message.method, _ONLY.get()
        await self.stream.send(item)


class _Incoming(_Stream):
    """Goes through the lists that come."""

    __slots__ = ()
    stream: ReadStream[SessionMessage | Exception]

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return self._through(await self.stream.__anext__())

    async def receive(self) -> SessionMessage | Exception:
        return self._through(await self.stream.receive())

    def _through(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if isinstance(item, Exception) or not isinstance(item.message, JSONRPCResponse | JSONRPCError):
            return item
        message = item.message
        asked = self.asked.pop(message.id, None) if message.id is not None else None
        if asked is not None and isinstance(message, JSONRPCResponse):
            message.result = _listed(*asked, message.result)
        item.message = replace_truncated(message)
        return item


def _listed(method: str, expected: str | None, result: dict[str, Any]) -> dict[str, Any]:
    key, model = _MODELS[method]
    cut = CUT in result
    if cut and isinstance(result[CUT], dict):
        result = result[CUT]
    value = result.get(key)
    if not isinstance(value, list):
        return result
    if expected is not None and method == "tools/list":
        value = [one for one in value if isinstance(one, dict) and sanitize(one.get("name")) == expected]
        result = {**result, key: value}
    if not cut and not _page_error(method, model, result):
        return result
    results = []
    for index, one in enumerate(value):
        why = _DEEP if cut and CUT in json.dumps(one) else _page_error(method, model, {key: [one]})
        results.append(one if not why else _stand_in(key, one, index, why))
    return {**result, key: results}


_DEEP = f"its schema is nested more than {DEEPEST} deep"


def _page_error(method: str, model: type[BaseModel], result: dict[str, Any]) -> str:
    """Say what is wrong with a page; empty where nothing is."""
    try:
        model.model_validate(result, by_name=False)
        validate_server_result(method, _LATEST, result)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"] if not isinstance(part, int) and part not in _PLACES)
        return f"`{place}`: {first['msg']}" if place else str(first["msg"])
    except RecursionError:
        return "it is nested without end"
    return ""


_PLACES = tuple(key for key, _ in _MODELS.values())


def _stand_in(key: str, one: Any, index: int, why: str) -> dict[str, Any]:
    """Return what stands in a list for what is refused: its name, and why."""
    name = one.get("uri" if key == "resources" else "uriTemplate") if isinstance(one, dict) else None
    if not isinstance(name, str):
        name = one.get("name") if isinstance(one, dict) else None
    name = name if isinstance(name, str) and name else f"number {index + 1} of its {key}"
    result: dict[str, Any] = {"name": name, "_meta": {WHY: why}}
    if key == "tools":
        result["inputSchema"] = {"type": "object"}
    elif key == "resources":
        result["uri"] = name
    elif key == "resourceTemplates":
        result["uriTemplate"] = name
    return result
