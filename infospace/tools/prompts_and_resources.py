"""Prompts and resources of servers: what they give becomes a Note."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.core.resources import Note
from infospace.core.tool import Tool
from infospace.tools.call import call_for_step

if TYPE_CHECKING:
    from infospace.context.context import Context


async def get_prompt(context: Context, prompt: Tool, arguments: JSON) -> Note[Any]:
    """Get a prompt and make a Note of its messages; all blocks go into the answer's `extra`.

    Raises what `answered` does.
    """
    answer = await call_for_step(context, prompt, arguments)
    messages = [dict(block) for block in answer.blocks]
    context.extra["content"] = messages
    contents: list[JSON] = [
        {"role": message.get("role"), "content": _plain(message.get("content"))} for message in messages
    ]
    only = _plain(messages[0].get("content")) if len(messages) == 1 else None
    return context.note(only if isinstance(only, str) else contents)


async def read_resource(context: Context, resource: Tool) -> Note[Any]:
    """Read a resource and make a Note of its contents; all of them go into the answer's `extra`.

    Raises what `answered` does.
    """
    answer = await call_for_step(context, resource, {})
    contents: list[Any] = [block.get("resource") for block in answer.blocks]
    context.extra["content"] = contents
    parts: list[JSON] = [_text(content) for content in contents]
    return context.note(parts[0] if len(parts) == 1 else parts)


def resource_uri(resource: Tool, arguments: Mapping[str, JSON]) -> str:
    """Return the URI of a resource; of a template (RFC 6570) with arguments in the places of its variables.

    Raises Invalid for a template that is none.
    """
    if not resource.input_schema.get("properties"):
        return resource.name
    from mcp.shared.uri_template import UriTemplate

    try:
        return UriTemplate.parse(resource.name).expand({name: str(value) for name, value in arguments.items()})
    except ValueError as error:
        raise Invalid(f"{resource.full_name} is not a template of URIs: {error}") from error


def _plain(content: Any) -> JSON:
    """The text of a text block; any other block as it is."""
    if isinstance(content, Mapping) and content.get("type") == "text":
        return str(content.get("text", ""))
    value: JSON = content
    return value


def _text(content: Any) -> JSON:
    if isinstance(content, Mapping) and isinstance(content.get("text"), str):
        return str(content["text"])
    value: JSON = content
    return value
