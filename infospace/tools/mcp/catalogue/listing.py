"""What a server lists, read to the last page: tools, prompts, resources."""

from __future__ import annotations

import itertools
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from mcp import Client
from mcp_types import (
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    Prompt,
    Resource,
    ResourceTemplate,
    Tool,
)

from infospace.core.errors import Invalid
from infospace.core.tool import ToolKind
from infospace.data.result import truncate
from infospace.schema.validate import ENDLESS, validate
from infospace.store.tool_records import ListedTool
from infospace.tools.mcp.catalogue.schema_check import sound
from infospace.tools.mcp.catalogue.sieve import WHY, only
from infospace.tools.mcp.sanitize import sanitize

MAX_LISTED = 20_000
"""Tools, prompts and resources that a server may list, each."""
LONGEST_TEXT = 20_000
"""Characters of a description that are kept."""
TTL_S = 24 * 3600.0
"""Seconds that a list holds where its server does not say."""

_ASKED = itertools.count(1)
_VARIABLE = re.compile(r"\{[+#./;?&]?([A-Za-z0-9_.,*%]+)\}")

PageT = TypeVar("PageT", ListToolsResult, ListPromptsResult, ListResourcesResult, ListResourceTemplatesResult)


@dataclass(frozen=True, slots=True)
class RefusedEntry:
    """A tool, prompt or resource that is listed and cannot be taken, and why."""

    kind: ToolKind
    name: str
    why: str

    @property
    def message(self) -> str:
        """A sentence of it."""
        return f"the {self.kind} {self.name!r:.200} is refused: {self.why}"


@dataclass(frozen=True, slots=True)
class Listing:
    """All that a server lists, and what it says of itself. `ttl_s`: how many seconds that holds."""

    tools: Sequence[ListedTool]
    title: str
    version: str
    instructions: str
    ttl_s: float
    asked: int
    """When it was asked for: the later, the higher, in this process."""
    refused: Sequence[RefusedEntry] = ()

    def find(self, kind: ToolKind, name: str) -> ListedTool | None:
        """Return what is listed under a name, None where nothing is."""
        return next((tool for tool in self.tools if (tool.kind, tool.name) == (kind, name)), None)


@dataclass(frozen=True, slots=True)
class ToolNow:
    """What a server lists under one name, None where that is nothing, or nothing that can be taken.

    `ttl_s`: how many seconds that holds.
    """

    tool: ListedTool | None
    ttl_s: float


async def read_tool(client: Client, name: str) -> ToolNow:
    """Read what a server lists under a name, page by page until it is there. Raises Invalid for pages without end."""
    ttls: list[int] = []
    with only(name):
        if client.server_capabilities.tools is not None:
            async for page in _pages(client.list_tools, "tools"):
                ttls.append(page.ttl_ms)
                named = [tool for tool in page.tools if sanitize(tool.name) == name]
                if named:
                    taken = len(named) == 1 and WHY not in (named[0].meta or {})
                    result = _tool(named[0]) if taken else None
                    fits = result is not None and _endless(result.input_schema) is None
                    return ToolNow(result if fits else None, _ttl_s(ttls))
    return ToolNow(None, _ttl_s(ttls))


async def read_listing(client: Client) -> Listing:
    """Read every list that a server says it has. Raises Invalid where one does not end, or names something twice."""
    asked = next(_ASKED)
    can, tools, ttls = client.server_capabilities, list[ListedTool](), list[int]()
    refused: list[RefusedEntry] = []

    def take(kind: ToolKind, name: str, meta: Mapping[str, Any] | None, make: Callable[[], ListedTool]) -> None:
        why = (meta or {}).get(WHY)
        if why is None:
            result = make()
            why = _endless(result.input_schema)
            if why is None:
                tools.append(result)
                return
        refused.append(RefusedEntry(kind, sanitize(name), sanitize(why)))

    async def pages(ask: Callable[..., Awaitable[PageT]], what: str) -> list[PageT]:
        read = [page async for page in _pages(ask, what)]
        ttls.extend(page.ttl_ms for page in read)
        return read

    if can.tools is not None:
        for tool in (tool for page in await pages(client.list_tools, "tools") for tool in page.tools):
            take("tool", tool.name, tool.meta, partial(_tool, tool))
    if can.prompts is not None:
        for prompt in (one for page in await pages(client.list_prompts, "prompts") for one in page.prompts):
            take("prompt", prompt.name, prompt.meta, partial(_prompt, prompt))
    if can.resources is not None:
        for page in await pages(client.list_resources, "resources"):
            for resource in page.resources:
                take("resource", resource.uri, resource.meta, partial(_resource, resource))
        for templates in await pages(client.list_resource_templates, "resource templates"):
            for template in templates.resource_templates:
                take("resource", template.uri_template, template.meta, partial(_template, template))
    _each_once(tools)
    info = client.server_info
    return Listing(
        tools,
        _text(info.title or info.name) if info else "",
        _text(info.version) if info else "",
        _text(client.instructions),
        _ttl_s(ttls),
        asked,
        refused,
    )


def _ttl_s(ttls: Sequence[int]) -> float:
    """Seconds that lists hold of which each page says its milliseconds."""
    return min(ttls) / 1000 if ttls and min(ttls) > 0 else TTL_S


def _endless(schema: Mapping[str, Any]) -> str | None:
    """Say that nothing can be held against a schema, since it only refers to itself; None of any other."""
    return ENDLESS if "$ref" in schema and ENDLESS in validate({}, schema) else None


async def _pages(ask: Callable[..., Awaitable[PageT]], what: str) -> Any:
    cursor: str | None = None
    seen: set[str] = set()
    count = 0
    while True:
        page = await ask(cursor=cursor, cache_mode="bypass")
        yield page
        count += sum(len(value) for value in vars(page).values() if isinstance(value, list))
        # Pages without anything end too.
        if count > MAX_LISTED or len(seen) > MAX_LISTED:
            raise Invalid(
                f"it lists more than {MAX_LISTED:,} {what}", hint="a server of so many has another way to search"
            )
        cursor = page.next_cursor
        if cursor is None:
            return
        if cursor in seen:
            raise Invalid(f"its list of {what} does not end: a page comes again and again")
        seen.add(cursor)


def _each_once(tools: Sequence[ListedTool]) -> None:
    seen: set[tuple[str, str]] = set()
    for tool in tools:
        if (tool.kind, tool.name) in seen:
            raise Invalid(f"it lists the {tool.kind} {tool.name!r} twice")
        seen.add((tool.kind, tool.name))


def _text(text: str | None) -> str:
    return truncate(sanitize(text or ""), LONGEST_TEXT)


def _tool(tool: Tool) -> ListedTool:
    hints = tool.annotations
    title = tool.title or (hints.title if hints else None)
    schema = sound(sanitize(tool.input_schema))
    return ListedTool(
        name=sanitize(tool.name),
        title=_text(title),
        description=_text(tool.description),
        input_schema=schema,
        output_schema=None if tool.output_schema is None else sound(sanitize(tool.output_schema)),
        read_only=hints.read_only_hint if hints else None,
        idempotent=hints.idempotent_hint if hints else None,
        destructive=hints.destructive_hint if hints else None,
        examples=_examples(schema, tool.meta),
        **_tags_and_category(tool.meta),
    )


def _prompt(prompt: Prompt) -> ListedTool:
    arguments = prompt.arguments or []
    properties = {
        sanitize(argument.name): {
            "type": "string",
            **({"description": _text(argument.description)} if argument.description else {}),
        }
        for argument in arguments
    }
    required = [sanitize(argument.name) for argument in arguments if argument.required]
    return ListedTool(
        name=sanitize(prompt.name),
        kind="prompt",
        title=_text(prompt.title),
        description=_text(prompt.description),
        input_schema=_closed(properties, required),
        read_only=True,
        **_tags_and_category(prompt.meta),
    )


def _resource(resource: Resource) -> ListedTool:
    details = {"mime_type": sanitize(resource.mime_type), "size": resource.size}
    return _read_only(resource, resource.uri, _closed({}, []), details)


def _template(template: ResourceTemplate) -> ListedTool:
    names = [name.rstrip("*") for part in _VARIABLE.findall(template.uri_template) for name in part.split(",")]
    properties = {name: {"type": "string"} for name in dict.fromkeys(names)}
    details = {"mime_type": sanitize(template.mime_type), "template": True}
    return _read_only(template, template.uri_template, _closed(properties, []), details)


def _read_only(one: Resource | ResourceTemplate, name: str, schema: Mapping[str, Any], details: Any) -> ListedTool:
    return ListedTool(
        name=sanitize(name),
        kind="resource",
        title=_text(one.title or one.name),
        description=_text(one.description),
        input_schema=schema,
        read_only=True,
        details={key: value for key, value in details.items() if value is not None},
        **_tags_and_category(one.meta),
    )


def _closed(properties: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return schema | ({"required": list(required)} if required else {})


def _tags_and_category(meta: Mapping[str, Any] | None) -> dict[str, Any]:
    """Tags and category of a tool's `_meta`."""
    meta = meta or {}
    own = meta.get("_fastmcp")
    tags = meta.get("tags", own.get("tags") if isinstance(own, Mapping) else None)
    category = meta.get("category")
    return {
        "tags": tuple(sanitize(tag) for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        "category": sanitize(category) if isinstance(category, str) else "",
    }


def _examples(schema: Mapping[str, Any], meta: Mapping[str, Any] | None) -> tuple[Mapping[str, Any], ...]:
    def given() -> Iterator[Any]:
        for examples in (schema.get("examples"), (meta or {}).get("examples")):
            yield from examples if isinstance(examples, list) else ()

    return tuple(sanitize(example) for example in given() if isinstance(example, Mapping))
