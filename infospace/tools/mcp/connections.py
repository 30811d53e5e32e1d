"""The connections of a space's servers: how each stands, and signing in to one that asks for it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from infospace.core.errors import Invalid, NotFound
from infospace.data.paths import did_you_mean
from infospace.tools.mcp.auth.sign_in import ASKS, WAIT_S, SignIn, open_in_browser
from infospace.tools.mcp.auth.token_store import TokenRecord, TokenStore
from infospace.tools.mcp.env_vars import expanded
from infospace.tools.mcp.errors import ServerFailed

if TYPE_CHECKING:
    from infospace.tools.mcp.config import Entry
    from infospace.tools.mcp.servers import Server, Servers

Status: TypeAlias = Literal["connected", "disconnected", "not_required", "expired", "error"]
SOON_S = 30.0
"""Seconds for which `initiate` waits for the address to sign in at, or for the server to be connected."""


@dataclass(frozen=True, slots=True)
class ConnectionState:
    """How a server's connection stands, in words that hold no secret."""

    server: str
    status: Status
    message: str
    kept: Literal["keyring", "file"] | None = None
    """Where its tokens are."""
    expires: float | None = None
    """Until when the token for access holds, in seconds since 1970."""
    connect_url: str | None = None
    """Where a person signs in."""

    def to_json(self) -> dict[str, Any]:
        """Return the documented object."""
        document = {"server": self.server, "status": self.status, "message": self.message}
        more = {"kept": self.kept, "expires": self.expires, "connect_url": self.connect_url}
        return {**document, **{key: value for key, value in more.items() if value is not None}}


@dataclass(frozen=True, slots=True)
class PendingSignIn:
    """A server that is being connected, and the address that a person is to sign in at, once it is known."""

    task: asyncio.Task[ConnectionState]
    heard: asyncio.Future[ConnectionState]


def browser_sign_in(tell: Callable[[str], object], seconds: float = WAIT_S) -> SignIn:
    """Return a person at this machine: the address is opened in the browser, and told where there is none."""

    def show(server: str, url: str) -> None:
        tell(f"{server} asks you to sign in; if no browser opens, go to {url}")
        open_in_browser(url)

    return SignIn(show, seconds)


def connection_states(servers: Servers) -> list[ConnectionState]:
    """Return how the connection of each server stands that is not disabled; nothing is started for it."""
    return [state_of(server) for server in servers.all() if not server.entry.disabled]


def state_of(server: Server) -> ConnectionState:
    """Return how a server's connection stands, as far as that is known without asking it."""
    name, stored = server.name, server.kept
    failed = stored is not None and stored.state == "failed"
    error = (stored.error or "it failed") if stored is not None and failed else ""
    try:
        record = _record(server.entry)
    except Invalid as lacking:
        return ConnectionState(name, "error", lacking.message)
    if record is not None and ASKS not in error and not _needs_no_sign_in(server.entry):
        if record.expires is not None and record.expires <= time.time() and not record.refreshable:
            return ConnectionState(name, "expired", "its authorization has ended", record.place, record.expires)
        if not failed:
            return ConnectionState(name, "connected", "somebody signed in to it", record.place, record.expires)
    if failed and ASKS in error:
        return ConnectionState(name, "disconnected", f"it {ASKS}")
    if failed:
        return ConnectionState(name, "error", error)
    if stored is None:
        return ConnectionState(name, "disconnected", "it was never listed")
    if server.entry.url is not None and _needs_no_sign_in(server.entry):
        return ConnectionState(name, "connected", "its entry holds what authorizes it")
    return ConnectionState(name, "not_required", "it asks for no sign-in")


async def connect(
    servers: Servers, name: str, tell: Callable[[ConnectionState], object], *, browser: bool, seconds: float = WAIT_S
) -> ConnectionState:
    """List a server, and have a person sign in where it asks for that; return how it stands then.

    `tell` hears the address to sign in at, which is opened in the browser as well where that is wanted. Raises
    NotFound for no such server, Invalid for one that is disabled.
    """
    entry = entry_of(servers, name)

    def show(server: str, url: str) -> None:
        tell(ConnectionState(server, "disconnected", f"it {ASKS}", connect_url=url))
        if browser:
            open_in_browser(url)

    try:
        listing = await servers.pool.listing(entry, restart=True, sign_in=SignIn(show, seconds))
    except ServerFailed as error:
        await asyncio.to_thread(servers.listings.fail, entry, error)
    else:
        await asyncio.to_thread(servers.listings.keep, entry, listing)
    return state_of(next(one for one in servers.all() if one.name == name))


async def initiate(servers: Servers, name: str, seconds: float = WAIT_S) -> ConnectionState:
    """Connect a server without waiting for a person: answer the address to sign in at, where it asks for that.

    The answer to the sign-in is waited for on loopback for so many seconds; meanwhile the address stays the same.
    Raises what `connect` does.
    """
    going = servers.signing_in.get(name)
    if going is None or going.task.done():
        heard: asyncio.Future[ConnectionState] = asyncio.get_running_loop().create_future()
        loop = asyncio.get_running_loop()

        def set_state(state: ConnectionState) -> None:
            loop.call_soon_threadsafe(lambda: None if heard.done() else heard.set_result(state))

        task = asyncio.create_task(connect(servers, name, set_state, browser=False, seconds=seconds))
        going = servers.signing_in[name] = PendingSignIn(task, heard)
    await asyncio.wait({going.task, going.heard}, timeout=SOON_S, return_when=asyncio.FIRST_COMPLETED)
    if going.task.done():
        return going.task.result()
    if going.heard.done():
        return going.heard.result()
    return ConnectionState(name, "disconnected", f"it has not answered within {SOON_S:g} s, and is waited for")


def entry_of(servers: Servers, name: str) -> Entry:
    """Return a server's entry. Raises NotFound for no such server, Invalid for one that is disabled."""
    entry = servers.entries.get(name)
    if entry is None:
        there = f"there are {', '.join(servers.entries)}" if servers.entries else "no `mcp.json` names any"
        raise NotFound(f"there is no server {name!r}", hint=did_you_mean(name, servers.entries, there))
    if entry.disabled:
        raise Invalid(f"the server {name!r} is disabled in {entry.file}", hint="remove `disabled` there")
    return entry


def forget(servers: Servers, name: str) -> bool:
    """Drop the tokens of a server, which asks for a sign-in from then on; whether there were any."""
    entry = entry_of(servers, name)
    filled = expanded(entry, os.environ)
    servers.pool.end([name])
    if filled.url is None or not _store(filled).forget():
        return False
    servers.listings.fail(entry, ServerFailed(name, f"the server {name!r} {ASKS}"))
    return True


def _record(entry: Entry) -> TokenRecord | None:
    """Return what is known of a server's tokens. Raises Invalid for an entry that needs what is not there."""
    filled = expanded(entry, os.environ)
    return None if filled.url is None or filled.oauth is None else _store(filled).record()


def _store(entry: Entry) -> TokenStore:
    client = "" if entry.oauth is None else entry.oauth.client_id or entry.oauth.client_metadata_url
    return TokenStore(entry.url or "", client)


def _needs_no_sign_in(entry: Entry) -> bool:
    """Whether the entry holds all that authorizes its server, so that nobody signs in."""
    by_header = any(name.lower() == "authorization" for name in entry.headers)
    return by_header or (entry.oauth is not None and entry.oauth.grant != "authorization_code")
