"""Servers that were never listed, as what can be found of them: by what their entries or registries say of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from infospace.core.tool import ALL, Tool
from infospace.tools.mcp.env_vars import filled_in
from infospace.tools.mcp.registries.listed_server import BUNDLE

if TYPE_CHECKING:
    from infospace.tools.mcp.registries.listed_server import ListedServer
    from infospace.tools.mcp.registries.saved import Registry
    from infospace.tools.mcp.servers import Server

SYNC = "infospace tools sync"


def never_listed(servers: Sequence[Server]) -> list[Tool]:
    """Return the servers of which no list was ever read, each as one thing of the kind `server`; disabled ones not."""
    return [
        _server_as_tool(server, os.environ)
        for server in servers
        if not server.entry.disabled and (server.kept is None or server.kept.listed is None)
    ]


def not_connected(servers: Sequence[Server], known: Sequence[Registry]) -> list[Tool]:
    """Return the servers of registries that no entry of `mcp.json` connects, each as one thing of the kind `server`.

    Each has the last part of its name; where several have it, or an entry does, the whole name with `.` for `/`.
    """
    used = {server.name for server in servers}
    launches = {text for server in servers for text in (server.entry.url or "", *server.entry.args)}
    listed: dict[str, tuple[Registry, ListedServer]] = {}
    for registry in known:
        for one in registry.servers:
            if not one.connects_as(launches):
                listed.setdefault(one.name, (registry, one))
    shorts = Counter(one.short for _, one in listed.values())
    return [
        _registered_as_tool(
            registry,
            one,
            one.short if shorts[one.short] == 1 and one.short not in used else one.name.replace("/", "."),
        )
        for registry, one in listed.values()
    ]


def _registered_as_tool(registry: Registry, one: ListedServer, name: str) -> Tool:
    if "url" in one.entry:
        way = f"asks {one.launch.partition('://')[2].partition('/')[0]!r}"
    else:
        way = f"runs {'the bundle ' if one.entry['command'] == BUNDLE else ''}`{one.launch}`"
    needs = [f"the registry {registry.name!r} lists it: `infospace tools connect {one.name}` connects it, and {way}"]
    if one.variables:
        needs.append(f"it needs {', '.join(variable.label for variable in one.variables)}")
    headers = one.entry.get("headers")
    if headers:
        needs.append(f"it sends {', '.join(headers)}")
    return Tool(
        name,
        ALL,
        one.description,
        connected=False,
        annotated=False,
        title=one.title,
        kind="server",
        integration="MCP",
        tags=one.tags,
        claimed=one.tags,
        category=one.title,
        server_title=one.title,
        server_description=one.description,
        trusted=False,
        needs="; ".join(needs),
    )


def _server_as_tool(server: Server, environment: Mapping[str, str]) -> Tool:
    entry = server.entry
    return Tool(
        entry.name,
        ALL,
        entry.description,
        connected=False,
        annotated=False,
        title=entry.title,
        kind="server",
        integration="REST" if entry.rest else "MCP",
        tags=entry.tags,
        category=entry.category or entry.title,
        server_title=entry.title,
        server_description=entry.description,
        trusted=entry.trusted,
        blocked=entry.blocked,
        visibility=entry.visibility,
        team=entry.team,
        needs="; ".join(_needs(server, environment)),
    )


def _needs(server: Server, environment: Mapping[str, str]) -> Iterator[str]:
    """Say what has to be done before its tools are known: names, and never the values of what is secret."""
    entry = server.entry
    way = f"asks {_host(entry.url)!r}" if entry.url is not None else f"runs {entry.command!r}"
    if entry.openapi is not None:
        way = f"reads {entry.shown_url!r}"
    value = ", ".join((*entry.env, *entry.headers, *entry.auth))
    yield f"it was never listed: `{SYNC}` lists what it can do, and {way}{f' with {value}' if value else ''} for that"
    missing: list[str] = []
    texts = (entry.command, *entry.args, *entry.env.values(), entry.cwd, entry.url, *entry.headers.values())
    texts = (*texts, entry.openapi, entry.base_url, *entry.auth.values(), *entry.roots)
    if entry.oauth is not None:
        entry.oauth.filled(lambda text: filled_in(text, environment, missing))
    for text in filter(None, texts):
        filled_in(text, environment, missing)
    if missing:
        yield f"the environment has not: {', '.join(dict.fromkeys(missing))}"
    if server.kept is not None and server.kept.error:
        yield f"the last try failed: {server.kept.error}"


def _host(url: str) -> str:
    """Return who is asked, without what stands before the host and behind it, which may be secret."""
    return urlsplit(url).hostname or "the URL of its entry"
