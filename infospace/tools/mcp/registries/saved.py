"""The registries that a space knows. Their servers are kept as what a server lists is.

A registry has the name `registry/NAME` among the servers that are kept, which no server of `mcp.json` can have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from infospace.core.errors import NotFound
from infospace.core.redaction import shown_url
from infospace.data.paths import did_you_mean
from infospace.store.tool_records import DropServer
from infospace.tools.mcp.registries.listed_server import ListedServer
from infospace.tools.mcp.transport.hosts import is_loopback

if TYPE_CHECKING:
    from infospace.store.protocol import Store

PREFIX: Final = "registry/"
"""What the names of registries begin with among the servers that are kept."""


@dataclass(frozen=True, slots=True)
class Registry:
    """A registry that a space knows: where it is, and how it was read last."""

    name: str
    address: str
    """The URL, or the absolute path of a file."""
    form: str
    """What it is, in words; empty while it was never read."""
    servers: Sequence[ListedServer]
    read: str | None
    """When it was read last: ISO 8601, UTC."""
    error: str | None
    """Why the latest reading failed."""
    left_out: Sequence[str] = ()
    """What is wrong with entries, a sentence each."""

    @property
    def remote(self) -> bool:
        """Whether it is behind a URL."""
        return self.address.startswith(("http://", "https://"))

    @property
    def local(self) -> bool:
        """Whether it is served on this machine by the user's own word, so that it may name what is on it."""
        return self.remote and is_loopback(self.address)

    def to_json(self) -> dict[str, Any]:
        """Return it as `tools registry list --json` prints it."""
        return {
            "name": self.name,
            "address": shown_url(self.address) if self.remote else self.address,
            "form": self.form,
            "servers": len(self.servers),
            "read": self.read,
            "error": self.error,
            "left_out": list(self.left_out),
        }


def registries(store: Store) -> list[Registry]:
    """Return the registries of a space by name."""
    with store.reading() as snapshot:
        kept = [server for server in snapshot.servers() if server.name.startswith(PREFIX)]
        return [
            Registry(
                server.name.removeprefix(PREFIX),
                server.instructions,
                server.title,
                [ListedServer.from_tool(tool.listed) for tool in snapshot.tools(server.name)],
                server.listed,
                server.error if server.state == "failed" else None,
                server.stderr.splitlines(),
            )
            for server in kept
        ]


def registry(store: Store, name: str) -> Registry:
    """Return a registry. Raises NotFound."""
    known = {one.name: one for one in registries(store)}
    if name not in known:
        there = f"there are {', '.join(known)}" if known else "there are none"
        raise NotFound(f"there is no registry {name!r:.80}", hint=did_you_mean(name, known, there))
    return known[name]


def remove(store: Store, name: str) -> None:
    """Drop a registry and what it lists. Raises NotFound."""
    registry(store, name)
    store.commit([DropServer(PREFIX + name)])
