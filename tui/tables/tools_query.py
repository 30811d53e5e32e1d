"""What the place Tools lists: all tools, those that a search finds, the servers. For threads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from infospace.core.plural import pluralize
from infospace.core.tool import Tool
from infospace.tools.builtin import SERVER
from infospace.tools.scope import NO_FILTERS, Filters
from infospace.tools.scoped_space import ScopedSpace
from infospace.tools.search.results import Mode, ToolHit, ToolQuery
from infospace.tools.search.types import ANY_TYPES, TypeMatcher, TypeQuery
from planner.metatools.lookup import known_tools, tool_uses
from planner.metatools.search_tools import find_tools
from planner.server.access import Access
from planner.server.client_calls import listed_names
from tui.text.format import single_line
from tui.text.render import explanation_lines

if TYPE_CHECKING:
    from infospace.core.listener import Listener
    from infospace.space import Space
    from infospace.store.tool_records import ToolUse
    from infospace.tools.mcp.servers import Server
    from infospace.tools.search.results import ToolResults

What = Literal["tools", "servers"]

WHAT: tuple[What, ...] = ("tools", "servers")
MODES: tuple[Mode, ...] = ("hybrid", "semantic", "keyword")


@dataclass(frozen=True, slots=True)
class ToolsQuery:
    """Which tools are to be listed. `access` is that of the client as which it is looked, None for oneself."""

    query: str = ""
    mode: Mode = "hybrid"
    filters: Filters = NO_FILTERS
    access: Access | None = None
    types: TypeQuery = ANY_TYPES


@dataclass(frozen=True, slots=True, eq=False)
class ToolsList:
    """Tools in their order, and what is said of them all.

    `hits` are those of a search by `key_of`. Where no tool fits, the only one is the nearest guess. `names` are the
    servers, categories and tags there are to choose from, with the number of their tools.
    """

    sought: ToolsQuery
    tools: Sequence[Tool]
    message: str
    hits: Mapping[str, ToolHit] = field(default_factory=dict)
    no_match: bool = False
    uses: Mapping[tuple[str, str], ToolUse] = field(default_factory=dict)
    names: Mapping[str, Sequence[tuple[str, int]]] = field(default_factory=dict)
    found: ToolResults | None = None
    """What the search found, None where nothing was looked for."""

    def explanation(self, tool: Tool) -> Sequence[str]:
        """Say in lines what the relevance of a tool is made of; none where it was not found by a search."""
        explained = None if self.found is None or key_of(tool) not in self.hits else self.found.explain(tool)
        return () if explained is None else explanation_lines([part.to_json() for part in explained.parts])


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """A server as it stands: what is known of it, how its calls went, what it said on its standard error.

    One without `server` is an entry, or a file, in which something is wrong: `reason` and `hint` say what.
    """

    name: str
    state: str
    server: Server | None = None
    use: ToolUse | None = None
    uses: Sequence[ToolUse] = ()
    said: str = ""
    reason: str = ""
    hint: str = ""
    file: str = ""


def key_of(tool: Tool) -> str:
    """Return what tells a tool from all others: a prompt may be called as a tool is."""
    return f"{tool.kind} {tool.full_name}"


def run_tools_query(space: Space, sought: ToolsQuery, listener: Listener | None = None) -> ToolsList:
    """Return the tools that are to be listed: by name, or of a search best first. Raises Invalid."""
    seen = space if sought.access is None else ScopedSpace(space, sought.access.scope, user=sought.access.facts)
    tools = known_tools(seen, servers=True)
    names = _names(tools)
    if not sought.query.strip():
        matcher = TypeMatcher(seen.finder.types, sought.types)
        results = [tool for tool in tools if sought.filters.admits(tool) and matcher.fit(tool) is not None]
        results.sort(key=_place)
        return ToolsList(sought, results, _counted(results, tools, sought, space), uses=tool_uses(space), names=names)
    query = ToolQuery(sought.query, None, sought.filters, mode=sought.mode, types=sought.types)
    answer = find_tools(seen, query, listener)
    hits = answer.hits or ([answer.guess] if answer.guess is not None else [])
    return ToolsList(
        sought,
        [hit.tool for hit in hits],
        _format_search(answer),
        {key_of(hit.tool): hit for hit in hits},
        answer.no_match,
        tool_uses(space),
        names,
        answer,
    )


def _place(tool: Tool) -> tuple[bool, str, str]:
    """What a tool is sorted by: what the space itself can do comes after what is of others."""
    return tool.server == SERVER, tool.full_name.casefold(), tool.kind


def _names(tools: Sequence[Tool]) -> Mapping[str, Sequence[tuple[str, int]]]:
    """Return the servers, categories and tags by name, each with the number of its tools."""
    return {
        "server": _by_name(tool.server for tool in tools),
        "category": _by_name(tool.category for tool in tools if tool.category),
        "tag": _by_name(tag for tool in tools for tag in tool.tags),
    }


def _by_name(names: Iterable[str]) -> list[tuple[str, int]]:
    return sorted(Counter(names).items(), key=lambda pair: pair[0].casefold())


def _counted(results: Sequence[Tool], tools: Sequence[Tool], sought: ToolsQuery, space: Space) -> str:
    kinds = Counter(tool.kind for tool in results)
    messages = [pluralize(kinds[kind], kind) for kind in ("tool", "prompt", "resource") if kinds[kind]]
    unlisted = [f"{pluralize(kinds['server'], 'server')} unlisted"] if kinds["server"] else []
    text = ", ".join([*messages, *unlisted]) or "no tool"
    message = text if len(results) == len(tools) else f"{text}, of {len(tools):,} in all"
    return message if sought.access is None else f"{message}; {_format_own_list(space, sought.access)}"


def _format_own_list(space: Space, access: Access) -> str:
    """Say what a client is told when it asks for its list, before it searches."""
    doors, direct = listed_names(space, access)
    own = f"its own list has infospace's {pluralize(len(doors), 'tool')}"
    return f"{own} and {len(direct):,} more" if direct else f"{own} alone: these are found through them"


def _format_search(results: ToolResults) -> str:
    if results.no_match:
        near = (
            ""
            if results.guess is None
            else f"; the nearest is {results.guess.tool.full_name}, at {results.guess.score:.2f}"
        )
        message = f"no tool of {results.searched:,} fits{near}"
    else:
        message = f"{results.matched:,} of {results.searched:,} probably do that"
    return single_line(f"{message}; {results.degraded}" if results.degraded else message)


def server_statuses(space: Space) -> list[ServerStatus]:
    """Return the servers of all `mcp.json` files by name, and what is wrong in these. Starts nothing."""
    servers = space.tools.servers
    if servers is None:
        return []
    with space.store.reading() as snapshot:
        together = {use.server: use for use in snapshot.server_uses()}
        each: dict[str, list[ToolUse]] = {}
        for use in snapshot.tool_uses():
            each.setdefault(use.server, []).append(use)
    running = servers.pool.running()
    results = [
        ServerStatus(
            server.name,
            "running" if server.name in running else server.state,
            server,
            together.get(server.name),
            each.get(server.name, ()),
            servers.pool.output_tail(server.name) or ("" if server.kept is None else server.kept.stderr),
            (server.kept.error or "") if server.kept is not None and server.state == "failed" else "",
            file=_file(space, server.entry.file),
        )
        for server in servers.all()
    ]
    wrong = [
        ServerStatus(problem.server or file, "wrong", reason=problem.message, hint=problem.hint or "", file=file)
        for problem in servers.problems
        if problem.severity == "error"
        for file in [_file(space, problem.file)]
    ]
    return sorted((*results, *wrong), key=lambda status: status.name)


def _file(space: Space, path: str) -> str:
    """Return a path; of a file beside the space, its name."""
    derived = space.store.derived
    beside = derived is not None and Path(path).parent == derived.absolute().parent
    return f"{Path(path).name}, beside the space" if beside else path
