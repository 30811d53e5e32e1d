"""`manage_connections` at the door: how servers are connected, and a person who signs in to one."""

from __future__ import annotations

import asyncio
import json
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring.backends import fail

from infospace import Space
from infospace.tools.mcp.catalogue.sync import sync
from infospace.tools.scope import Scope
from planner.server.operations import ANYBODY

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "infospace" / "tools"))
from authorized_server import Authority, authorized
from serving import Planner, play


@pytest.fixture
def signing(space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Authority]:
    """A space with a server that asks for a sign-in, and one of time that does not."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    keyring.set_keyring(fail.Keyring())
    with authorized() as authority:
        servers = {
            "mail": {"url": f"{authority.url}/mcp"},
            "time": {"command": sys.executable, "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"]},
        }
        file = tmp_path / "mcp.json"
        file.write_text(json.dumps({"mcpServers": servers}))
        asyncio.run(sync(space, mcp=file))
        yield authority


def kept(space: Space) -> list[tuple[str, str, str | None]]:
    """Return what the audit has of connections, in its order: which server, what came of it, and why."""
    with space.store.reading() as snapshot:
        rows = snapshot.audit()[::-1]
    assert {(row.caller, row.action) for row in rows} <= {("anybody", "manage_connections")}
    return [(row.target, row.outcome, row.reason) for row in rows]


def test_a_model_hands_its_user_the_address_and_asks_for_the_status(space: Space, signing: Authority) -> None:
    async def scene(planner: Planner) -> Any:
        listed = await planner.call("manage_connections", action="list")
        begun = await planner.call("manage_connections", action="initiate", server="mail")

        def visit() -> None:
            with urllib.request.urlopen(begun["connect_url"], timeout=60) as page:  # noqa: S310 - of ours
                page.read()

        await asyncio.to_thread(visit)
        ended = begun
        while ended["status"] == "disconnected":
            await asyncio.sleep(0.05)
            ended = await planner.call("manage_connections", action="status", server="mail")
        again = await planner.call("manage_connections", action="initiate", server="mail")
        plain = await planner.call("manage_connections", action="initiate", server="time")
        return listed["connections"], begun, ended, again, plain

    listed, begun, ended, again, plain = play(space, scene)
    assert {one["server"]: one["status"] for one in listed} == {"mail": "disconnected", "time": "not_required"}
    assert begun["status"] == "disconnected"
    assert (ended["status"], ended["kept"]) == ("connected", "file")
    assert again["status"] == "connected"
    assert "connect_url" not in again
    assert plain["status"] == "not_required"
    assert not any(secret in str((listed, begun, ended, again)) for secret in signing.issued)
    assert kept(space) == [("mail", "success", None), ("mail", "success", None), ("time", "success", None)]


def test_what_is_wrong_with_the_arguments_is_said(space: Space, signing: Authority) -> None:
    async def scene(planner: Planner) -> list[str]:
        return [
            await planner.wrong("manage_connections", action="status"),
            await planner.wrong("manage_connections", action="list", server="mail"),
            await planner.wrong("manage_connections", action="initiate", server="nail"),
            await planner.wrong("manage_connections", action="open", server="mail"),
        ]

    bare, extra, unknown, action = play(space, scene)
    assert "`status` needs a server" in bare
    assert "`list` takes no server" in extra
    assert unknown == "there is no server 'nail' (there are mail, time)"
    assert "`action`" in action
    assert kept(space) == [("nail", "refused", "not-found")]


def test_a_server_out_of_scope_is_not_there(space: Space, signing: Authority) -> None:
    access = replace(ANYBODY, tools=("full",), scope=Scope(include_servers=frozenset(("time",))))

    async def scene(planner: Planner) -> tuple[Any, str, str]:
        listed = await planner.call("manage_connections", action="list")
        return (
            listed["connections"],
            await planner.wrong("manage_connections", action="initiate", server="mail"),
            await planner.wrong("manage_connections", action="initiate", server="none"),
        )

    listed, hidden, absent = play(space, scene, access=access)
    assert [one["server"] for one in listed] == ["time"]
    assert hidden.replace("mail", "none") == absent
    assert kept(space) == [("mail", "refused", "not-found"), ("none", "refused", "not-found")]
