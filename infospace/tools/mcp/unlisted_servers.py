"""Servers that were never listed, as what can be found of them: by what their entries say that they are for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from infospace.core.tool import ALL, Tool
from infospace.tools.mcp.env_vars import filled_in

if TYPE_CHECKING:
    from infospace.tools.mcp.servers import Server

SYNC = "infospace tools sync"


def never_listed(servers: Sequence[Server]) -> list[Tool]:
    """Return the servers of which no list was ever read, each as one thing of the kind `server`; disabled ones not."""
    return [
        _server_as_tool(server, os.environ)
        for server in servers
        if not server.entry.disabled and (server.kept is None or server.kept.listed is None)
    ]


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
    given = ", ".join((*entry.env, *entry.headers, *entry.auth))
    yield f"it was never listed: `{SYNC}` lists what it can do, and {way}{f' with {given}' if given else ''} for that"
    missing: list[str] = []
    told = (entry.command, *entry.args, *entry.env.values(), entry.cwd, entry.url, *entry.headers.values())
    told = (*told, entry.openapi, entry.base_url, *entry.auth.values(), *entry.roots)
    if entry.oauth is not None:
        entry.oauth.filled(lambda text: filled_in(text, environment, missing))
    for text in filter(None, told):
        filled_in(text, environment, missing)
    if missing:
        yield f"the environment has not: {', '.join(dict.fromkeys(missing))}"
    if server.kept is not None and server.kept.error:
        yield f"the last try failed: {server.kept.error}"


def _host(url: str) -> str:
    """Return who is asked, without what stands before the host and behind it, which may be secret."""
    return urlsplit(url).hostname or "the URL of its entry"
