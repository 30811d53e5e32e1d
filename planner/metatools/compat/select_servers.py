"""`select_servers`: which servers a message needs, before any of them is started."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from infospace.contract.arguments import Args
from infospace.contract.tool_signature import Signature
from infospace.core.errors import NotFound
from infospace.data.paths import did_you_mean
from infospace.space import Space
from infospace.tools.builtin import SERVER
from infospace.tools.search.servers import (
    COMPATIBLE_THRESHOLD,
    THRESHOLD,
    ServerChoice,
    ServerText,
    choose_compatibly,
    choose_servers,
)


class GivenServer(Args):
    """A server that need not be of the space."""

    name: str = Field(min_length=1)
    description: str = Field("", description="What it is for.")


class SelectServers(Args):
    """Arguments of `select_servers`."""

    query: str = Field(description="What the user wrote.")
    servers: list[str | GivenServer] | None = Field(
        None, description="Names of servers, or servers with descriptions; without, all that may be known."
    )
    threshold: float | None = Field(
        None, ge=0, description=f"Evidence from which on one is needed: {THRESHOLD}; with `all` {COMPATIBLE_THRESHOLD}."
    )
    fallback: Literal["none", "all"] = Field(
        "none", description="Where nothing fits: none; or, with words counted as RobotLab does, all."
    )


SELECT_SERVERS = Signature(
    "select_servers",
    "Say which servers of tools a message needs; starts none. An answer may be that none is needed.",
    SelectServers,
)


async def select_servers(space: Space, args: SelectServers) -> dict[str, Any]:
    """Choose servers for a message: those that were given, as they were given and in their order.

    `unchanged` says why all of them were returned. Raises NotFound for a name that no server has that may be known.
    """
    if space.tools.servers is not None:
        space.tools.servers.follow()
    known = {server.name: server for server in _known(space)}
    given = list(known) if args.servers is None else args.servers
    texts = [_text(one, known) for one in given]
    chosen = await asyncio.to_thread(_choose, space, args, texts)
    expected = set(chosen.names)
    return {
        "servers": [
            one if isinstance(one, str) else one.model_dump(exclude_unset=True)
            for one, text in zip(given, texts, strict=True)
            if text.name in expected
        ],
        "scores": dict(chosen.scores),
        "unchanged": chosen.unchanged,
        "degraded": chosen.degraded,
    }


def _choose(space: Space, args: SelectServers, texts: Sequence[ServerText]) -> ServerChoice:
    if args.fallback == "all":
        return choose_compatibly(args.query, texts, COMPATIBLE_THRESHOLD if args.threshold is None else args.threshold)
    return choose_servers(args.query, texts, space.embedding, THRESHOLD if args.threshold is None else args.threshold)


def _text(one: str | GivenServer, known: dict[str, ServerText]) -> ServerText:
    if isinstance(one, GivenServer):
        own = known.get(one.name)
        return ServerText(one.name, one.description, () if own is None else own.tools)
    if one not in known:
        hint = did_you_mean(one, known, f"there are {', '.join(known)}" if known else "there are none")
        raise NotFound(f"there is no server {one!r:.80}", hint=hint)
    return known[one]


def _known(space: Space) -> list[ServerText]:
    """Return the servers that may be known, by name: what they are for, and what was listed of them."""
    listed: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    about: dict[str, str] = {}
    for tool in (*space.tools, *space.tools.never_listed()):
        if tool.blocked or tool.server == SERVER:
            continue
        about.setdefault(tool.server, ". ".join(filter(None, (tool.server_title, tool.server_description))))
        if tool.kind == "tool":
            listed[tool.server].append((tool.name, tool.description))
    return [ServerText(name, about[name], listed[name]) for name in sorted(about)]
