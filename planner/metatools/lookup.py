"""The tools that a space lets be known, how one is found by what it is called, and how one is told."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from infospace.core.errors import NotFound
from infospace.core.tool import ALL, Tool
from infospace.data.paths import nearest
from infospace.data.result import truncate
from infospace.space import Space
from infospace.store.tool_records import ToolUse
from infospace.tools.builtin import SERVER, all_tools, builtin_tools, searched
from infospace.tools.injection_signs import injection_signs
from infospace.tools.scope import NO_FILTERS, Filters
from infospace.tools.search.lexical.suggestions import unmatched
from planner.parse.saved_plans import plan_tools

MAX_DESCRIPTION_CHARACTERS = 400
"""Characters of a description that stand in a list; `describe_tool` has all of it."""

_ID: Final = re.compile(r"tool_[1-9][0-9]{0,17}")


def known_tools(space: Space, filters: Filters = NO_FILTERS, *, servers: bool = False) -> list[Tool]:
    """Return all that can be called here, and prompts and resources, as far as wanted; blocked ones not.

    With `servers` also those that were never listed.
    """
    space.catalogue.listings.setdefault("saved plans", plan_tools)
    tools = searched(space, others=True) if servers else all_tools(space, others=True)
    if filters == NO_FILTERS:
        return [tool for tool in tools if not tool.blocked]
    called = {example.tool for example in space.tools.successes()} if filters.has_examples is not None else ()
    return [tool for tool in tools if not tool.blocked and filters.admits(tool, called)]


def find_tool(space: Space, name: str) -> Tool:
    """Return a tool by its full name or its id; of one name, the tool before the prompt before the resource.

    Raises NotFound, in the same words for one that is not there, one that may not be known, and one that is blocked.
    """
    current_tool = _by_id(space, name) if _ID.fullmatch(name) else _by_name(space, name)
    if current_tool is not None and not current_tool.blocked:
        return current_tool
    if _ID.fullmatch(name):
        hint: str | None = "search_tools and list_tools say the ids"
    else:
        hint = None if _is_blocked(space, name) else _unlisted(space, name) or space.tools.unavailable_reason(name)
    names = () if hint else [tool.full_name for tool in known_tools(space)]
    raise NotFound(f"there is no tool {name!r:.200}", hint=hint or _hint(name, names))


def _by_id(space: Space, identifier: str) -> Tool | None:
    with space.store.reading() as snapshot:
        stored = snapshot.tool_by_id(identifier)
    if stored is None:
        return None
    if stored.listed.kind == "tool":
        return space.tools.find(f"{stored.server}/{stored.listed.name}")
    return next((tool for tool in space.tools.everything() if tool.id == identifier), None)


def _by_name(space: Space, name: str) -> Tool | None:
    current_tool = space.tools.find(name)
    if current_tool is not None:
        return current_tool
    space.catalogue.listings.setdefault("saved plans", plan_tools)
    if name.endswith(f"/{ALL}"):
        return next((tool for tool in space.tools.never_listed() if tool.full_name == name), None)
    others = builtin_tools(space) if name.startswith(f"{SERVER}/") else space.tools.everything()
    same = [tool for tool in others if tool.full_name == name]
    return min(same, key=lambda tool: tool.kind == "resource", default=None)


def _is_blocked(space: Space, name: str) -> bool:
    """Whether the server of a name is blocked, of which nothing is said then."""
    servers = space.tools.servers
    entry = None if servers is None else servers.entries.get(name.partition("/")[0])
    return entry is not None and entry.blocked


def _unlisted(space: Space, name: str) -> str | None:
    """Say what a server needs that was never listed, where a tool of it was named."""
    server = name.partition("/")[0]
    return next((f"{server}: {tool.needs}" for tool in space.tools.never_listed() if tool.server == server), None)


def _hint(name: str, names: Sequence[str]) -> str:
    near = nearest(name, names)
    last = name.rpartition("/")[2]
    same = [one for one in names if one.partition("/")[2] == last]
    if near is None and len(same) == 1:
        near = same[0]
    if near is not None:
        return f"did you mean {near!r}?"
    own = f"{name.partition('/')[0]}/"
    names = sorted(names, key=lambda one: not one.startswith(own))
    return f"`server/tool`: there are {', '.join(names[:8])}{', …' if len(names) > 8 else ''}" if names else "no tools"


def tool_json(tool: Tool, *, schemas: bool = False, whole: bool = False) -> dict[str, Any]:
    """Return a tool as it stands in answers.

    The words of a server that nobody vouches for are `untrusted`; `signs` says in what way they instruct the model.
    """
    results: dict[str, Any] = {
        "id": tool.id or tool.full_name,
        "tool_name": tool.full_name,
        "name": tool.name,
        "server": tool.server,
        "kind": tool.kind,
        "title": tool.title,
        "description": tool.description if whole else truncate(tool.description, MAX_DESCRIPTION_CHARACTERS),
        "connected": tool.connected,
        "tags": list(tool.tags),
        "category": tool.category,
        "integration_type": tool.integration,
        "untrusted": not tool.trusted,
    }
    if tool.needs:
        results["needs"] = tool.needs
    instructs = injection_signs(tool)
    if instructs:
        results["signs"] = instructs
    if schemas:
        results["input_schema"] = dict(tool.input_schema)
        results["output_schema"] = None if tool.output_schema is None else dict(tool.output_schema)
    return results


def unmatched_json(space: Space, filters: Filters, *, servers: bool = False) -> dict[str, Any]:
    """Return `unknown`, where names in filters are those of no tool that may be known.

    With `servers` those that were never listed are known as well; without, it is said what these need.
    """
    if filters == NO_FILTERS:
        return {}
    unknown = unmatched(filters, known_tools(space, servers=True))
    if not servers:
        unknown += [
            f"{tool.server}: {tool.needs}" for tool in space.tools.never_listed() if tool.server in filters.servers
        ]
    return {"unknown": unknown} if unknown else {}


def tool_uses(space: Space) -> Mapping[tuple[str, str], ToolUse]:
    """Return how calls of tools went, by server and name; of those never called, nothing."""
    with space.store.reading() as snapshot:
        return {(use.server, use.name): use for use in snapshot.tool_uses()}


def tool_use(space: Space, tool: Tool) -> ToolUse | None:
    """Return how calls of a tool went, None where it was never called."""
    if tool.kind != "tool":
        return None
    with space.store.reading() as snapshot:
        return next(iter(snapshot.tool_uses(tool.server, tool.name)), None)
