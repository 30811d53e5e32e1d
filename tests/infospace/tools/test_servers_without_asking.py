"""What is said of servers without asking any: of one that was never listed, of its connection, of its sign-in."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring.backends import fail
from mcp.shared.auth import OAuthToken

from infospace import Invalid, NotFound, Space
from infospace.core.tool import Tool
from infospace.store.tool_records import StoredServer
from infospace.tools.mcp.auth.settings import OAuthSettings, faults_of
from infospace.tools.mcp.auth.storage import AuthorizationStorage
from infospace.tools.mcp.auth.token_store import TokenStore
from infospace.tools.mcp.catalogue.sync import FailedServer, RefusedTool, SyncReport
from infospace.tools.mcp.config import Entry, EntryProblem
from infospace.tools.mcp.connections import ConnectionState, connection_states, entry_of, state_of
from infospace.tools.mcp.env_vars import expanded
from infospace.tools.mcp.registries.listed_server import ListedServer, Variable
from infospace.tools.mcp.registries.saved import Registry
from infospace.tools.mcp.servers import Server, Servers
from infospace.tools.mcp.unlisted_servers import never_listed, not_connected

sys.path.insert(0, str(Path(__file__).parent))
from served import write

ASKED = "it was never listed: `infospace tools sync` lists what it can do, and "


@pytest.mark.parametrize(
    ("entry", "error", "needs"),
    [
        ({"command": "x"}, None, f"{ASKED}runs 'x' for that"),
        ({"command": "x", "env": {"A": "1", "B": "2"}}, None, f"{ASKED}runs 'x' with A, B for that"),
        ({"url": "https://u:p@x.org:8/a?k=v", "headers": {"H": "1"}}, None, f"{ASKED}asks 'x.org' with H for that"),
        ({"url": "${NO_1}"}, None, f"{ASKED}asks 'the URL of its entry' for that; the environment has not: NO_1"),
        (
            {"openapi": "https://x.org/a?k=v", "auth": {"k": "1"}},
            None,
            f"{ASKED}reads 'https://x.org/a?k=•••' with k for that",
        ),
        (
            {
                "command": "${NO_1}",
                "args": ("${NO_2}", "${NO_1}"),
                "env": {"E": "${NO_3}"},
                "cwd": "${NO_4}",
                "roots": ("${NO_5}",),
                "oauth": OAuthSettings(client_id="${NO_0}"),
            },
            "the server 'it' ended",
            (
                f"{ASKED}runs '${{NO_1}}' with E for that; the environment has not: NO_0, NO_1, NO_2, NO_3, NO_4, "
                "NO_5; the last try failed: the server 'it' ended"
            ),
        ),
        (
            {"openapi": "${NO_1}", "base_url": "${NO_2}", "auth": {"k": "${NO_3}"}, "oauth": None},
            None,
            f"{ASKED}reads '${{NO_1}}' with k for that; the environment has not: NO_1, NO_2, NO_3",
        ),
        (
            {"url": "https://x.org", "headers": {"H": "${NO_1}"}},
            None,
            f"{ASKED}asks 'x.org' with H for that; the environment has not: NO_1",
        ),
    ],
)
def test_a_server_that_was_never_listed_says_what_it_needs(
    entry: dict[str, Any], error: str | None, needs: str
) -> None:
    """Names, and no value of what may be secret."""
    kept = None if error is None else StoredServer("it", "failed", b"", error=error)
    (found,) = never_listed([Server(Entry("it", "f", **entry), kept)])
    assert found.needs == needs


def test_a_server_that_was_never_listed_is_found_by_what_its_entry_says() -> None:
    """Not one that is disabled, nor one that was listed once."""
    told: dict[str, Any] = {"description": "D.", "title": "T", "tags": ("a",), "trusted": True, "blocked": True}
    told |= {"visibility": "v", "team": "m"}
    entry = Entry("it", "f", command="x", category="c", **told)
    listed = StoredServer("it", "listed", b"", listed="2026-01-01T00:00:00Z")
    failed = StoredServer("it", "failed", b"", listed="2026-01-01T00:00:00Z")
    assert (
        never_listed([Server(replace(entry, disabled=True), None), Server(entry, listed), Server(entry, failed)]) == []
    )
    api = Entry("api", "f", openapi="a.json", title="Interface")
    one, other = never_listed([Server(entry, None), Server(api, None)])
    assert one == Tool(
        "it",
        "*",
        connected=False,
        annotated=False,
        kind="server",
        integration="MCP",
        category="c",
        server_title="T",
        server_description="D.",
        needs=f"{ASKED}runs 'x' for that",
        **told,
    )
    assert (other.integration, other.category, other.trusted) == ("REST", "Interface", False)


def registry(name: str, *servers: ListedServer) -> Registry:
    return Registry(name, f"https://{name}.example", "MCP registry", servers, None, None)


NPX = {"command": "npx", "args": ["w"]}


@pytest.mark.parametrize(
    ("listed", "needs"),
    [
        (ListedServer("a/w", "", NPX), "runs `npx w`"),
        (
            ListedServer("a/w", "", {"command": "mcpb", "args": ["https://x.org/w.mcpb"]}),
            "runs the bundle `https://x.org/w.mcpb`",
        ),
        (
            ListedServer(
                "a/w",
                "",
                {"url": "https://x.org/mcp?k=1", "headers": {"H": "1", "I": "2"}},
                variables=[Variable("A"), Variable("B", "b", secret=True)],
            ),
            "asks 'x.org'; it needs A, B (secret); it sends H, I",
        ),
    ],
)
def test_a_server_of_a_registry_says_how_it_is_connected(listed: ListedServer, needs: str) -> None:
    (found,) = not_connected([], [registry("r", listed)])
    assert found.needs == f"the registry 'r' lists it: `infospace tools connect a/w` connects it, and {needs}"


def test_servers_of_registries_are_found_by_what_those_say() -> None:
    """Each once, by the first that lists it; none is trusted, and what it claims to be it only claims."""
    weather = ListedServer("a/w", "Weather.", NPX, "The weather", tags=("t",))
    tide = ListedServer("b/w", "Tides.", {"command": "npx", "args": ["tide"]}, package="tide")
    used = ListedServer("c/mine", "", {"url": "https://x.org/mcp"})
    mine = Server(Entry("moon", "f", url="https://x.org/mcp"), None)
    moon = ListedServer("d/moon", "", {"command": "npx", "args": ["moon"]})
    known = [registry("r", weather, used), registry("s", replace(weather, description="Other."), tide, moon)]
    found = not_connected([mine], known)
    assert [one.server for one in found] == ["a.w", "b.w", "d.moon"]
    assert found[0] == Tool(
        "a.w",
        "*",
        "Weather.",
        connected=False,
        annotated=False,
        title="The weather",
        kind="server",
        integration="MCP",
        tags=("t",),
        claimed=("t",),
        category="The weather",
        server_title="The weather",
        server_description="Weather.",
        trusted=False,
        needs=found[0].needs,
    )
    running = Server(Entry("x", "f", command="npx", args=("-y", "tide@2")), None)
    assert [one.server for one in not_connected([running], known)] == ["w", "mine", "moon"]


@pytest.fixture
def data_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's data folder of the test's own, without a keyring."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    keyring.set_keyring(fail.Keyring())  # type: ignore[no-untyped-call]


URL = "https://x.org/mcp"


def kept(state: Any = "listed", error: str | None = None) -> StoredServer:
    return StoredServer("it", state, b"", listed="2026-01-01T00:00:00Z", error=error)


@pytest.mark.usefixtures("data_home")
@pytest.mark.parametrize(
    ("entry", "stored", "status", "message"),
    [
        ({"command": "x"}, None, "disconnected", "it was never listed"),
        ({"command": "x"}, kept(), "not_required", "it asks for no sign-in"),
        ({"command": "x"}, kept("failed", "it ended"), "error", "it ended"),
        ({"command": "x"}, kept("failed"), "error", "it failed"),
        ({"command": "x"}, kept(error="the tool 'a' is refused"), "not_required", "it asks for no sign-in"),
        ({"command": "${NO_1}"}, kept(), "error", "the entry of 'it' needs what the environment has not: NO_1"),
        ({"url": URL}, kept(), "not_required", "it asks for no sign-in"),
        ({"url": URL, "headers": {"AUTHORIZATION": "x"}}, kept(), "connected", "its entry holds what authorizes it"),
        ({"url": URL, "headers": {"Other": "x"}}, kept(), "not_required", "it asks for no sign-in"),
        (
            {"url": URL, "oauth": OAuthSettings(grant="client_credentials")},
            kept(),
            "connected",
            "its entry holds what authorizes it",
        ),
        ({"url": URL, "oauth": None}, kept(), "not_required", "it asks for no sign-in"),
    ],
)
def test_how_a_connection_stands_is_told(
    entry: dict[str, Any], stored: StoredServer | None, status: str, message: str
) -> None:
    """By what is kept of the server and of its tokens; nothing is started for that."""
    state = state_of(Server(Entry("it", "f", **entry), stored))
    assert (state.server, state.status, state.kept, state.expires, state.connect_url) == (
        "it",
        status,
        None,
        None,
        None,
    )
    assert state.message.startswith(message)
    assert state.to_json() == {"server": "it", "status": status, "message": state.message}


@pytest.mark.usefixtures("data_home")
@pytest.mark.parametrize(
    ("client", "token", "stored", "expected"),
    [
        ("", {}, kept(), ("connected", "somebody signed in to it", "file")),
        ("me", {}, kept(), ("connected", "somebody signed in to it", "file")),
        ("", {}, None, ("connected", "somebody signed in to it", "file")),
        ("", {"expires_in": -10}, kept(), ("expired", "its authorization has ended", "file")),
        ("", {"expires_in": -10, "refresh_token": "r"}, kept(), ("connected", "somebody signed in to it", "file")),
        ("", {"expires_in": 600}, kept(), ("connected", "somebody signed in to it", "file")),
        ("", {"expires_in": 600}, kept("failed", "it ended"), ("error", "it ended", None)),
    ],
)
def test_how_a_connection_stands_that_somebody_signed_in_to(
    client: str, token: dict[str, Any], stored: StoredServer | None, expected: tuple[str, str, str | None]
) -> None:
    """An authorization that ends is renewed by itself, where it can be."""

    async def keep() -> None:
        storage = AuthorizationStorage(TokenStore(URL, client))
        await storage.open()
        await storage.set_tokens(OAuthToken.model_validate({"access_token": "access", **token}))

    asyncio.run(keep())
    state = state_of(Server(Entry("it", "f", url=URL, oauth=OAuthSettings(client_id=client)), stored))
    assert (state.status, state.message, state.kept) == expected
    assert (state.expires is not None) is ("expires_in" in token and expected[2] is not None)
    other = state_of(Server(Entry("it", "f", url=URL, oauth=OAuthSettings(client_id="another")), kept()))
    assert other.status == "not_required"
    whole = ConnectionState("it", "expired", "m", "file", 1.5, "u").to_json()
    assert whole == {
        "server": "it",
        "status": "expired",
        "message": "m",
        "kept": "file",
        "expires": 1.5,
        "connect_url": "u",
    }


def test_a_server_is_connected_by_its_name(space: Space) -> None:
    """What is not there, or is disabled, says what can be done."""
    folder = Path(space.store.address).parent
    with pytest.raises(NotFound) as none:
        entry_of(Servers(space.store), "it")
    assert (none.value.message, none.value.hint) == ("there is no server 'it'", "no `mcp.json` names any")
    file = write(folder, weather={"command": "x"}, off={"command": "x", "disabled": True})
    servers = Servers(space.store)
    assert entry_of(servers, "weather").command == "x"
    for name, hint in (("wether", "did you mean 'weather'?"), ("qqqq", "there are weather, off")):
        with pytest.raises(NotFound) as missing:
            entry_of(servers, name)
        assert (missing.value.message, missing.value.hint) == (f"there is no server {name!r}", hint)
    with pytest.raises(Invalid) as disabled:
        entry_of(servers, "off")
    assert disabled.value.message == f"the server 'off' is disabled in {file}"
    assert disabled.value.hint == "remove `disabled` there"
    assert [state.server for state in connection_states(servers)] == ["weather"]


ROBOT = {"grant": "client_credentials", "client_id": "c", "issuer": "i"}
IDENTITY = dict.fromkeys(
    ("client_id", "client_secret", "issuer", "idp_token_endpoint", "idp_client_id", "id_token"), "x"
)


@pytest.mark.parametrize(
    ("oauth", "faults"),
    [
        (False, []),
        ({}, []),
        (True, ["'oauth' is an object, or false for none"]),
        ({"redirect_port": 0, "token_endpoint_auth_method": "client_secret_post"}, []),
        ({"redirect_port": 65_535, "client_metadata_url": "https://x"}, []),
        ({"client_metadata_url": "${A}"}, []),
        ({"client_metadata_url": ""}, []),
        *(
            ({"redirect_port": port}, ["'oauth.redirect_port' is a port, or 0 for any"])
            for port in (65_536, -1, "1", True)
        ),
        (
            {"token_endpoint_auth_method": "none"},
            ["'oauth.token_endpoint_auth_method' is one of client_secret_basic, client_secret_post"],
        ),
        ({**ROBOT, "client_secret": "s"}, []),
        ({**ROBOT, "private_key": "k"}, []),
        (ROBOT, ["'oauth' with the grant client_credentials needs client_secret or private_key"]),
        (
            {"grant": "client_credentials", "private_key": "k"},
            ["'oauth' with the grant client_credentials needs client_id, issuer"],
        ),
        ({**IDENTITY, "grant": "identity_assertion"}, []),
        (
            {"grant": "identity_assertion"},
            [
                "'oauth' with the grant identity_assertion needs " + ", ".join(IDENTITY),
            ],
        ),
        ({"issuer": 3, "id_token": None}, ["'oauth.issuer' is a text", "'oauth.id_token' is a text"]),
        ({"grant": 3}, ["'oauth.grant' is one of authorization_code, client_credentials, identity_assertion"]),
        ({"client_metadata_url": "http://x"}, ["'oauth.client_metadata_url' is an https:// address"]),
    ],
)
def test_what_is_wrong_with_how_a_server_is_authorized(oauth: Any, faults: list[str]) -> None:
    """All of it, and nothing of its values."""
    assert list(faults_of(oauth)) == faults


def test_secrets_and_variables_of_how_a_server_is_authorized() -> None:
    """Every text of it may stand in the environment."""
    texts = ["client_id", "client_secret", "client_metadata_url", "issuer", "private_key"]
    texts += ["idp_token_endpoint", "idp_client_id", "id_token"]
    written: dict[str, Any] = {text: f"${{{letter}}}" for text, letter in zip(texts, "ABCDEFGH", strict=True)}
    values: dict[str, Any] = dict(zip(texts, "abcdefgh", strict=True))
    entry = Entry("it", "f", url="${URL}", oauth=OAuthSettings(**written), roots=("${C}",))
    filled = expanded(entry, {**dict(zip("ABCDEFGH", "abcdefgh", strict=True)), "URL": "https://u"})
    assert filled.oauth == OAuthSettings(**values)
    assert (filled.url, filled.roots) == ("https://u", ("c",))
    assert filled.oauth is not None
    assert filled.oauth.secrets() == ("b", "e", "h")
    assert OAuthSettings().secrets() == ()


def test_a_report_of_a_sync_is_told_whole() -> None:
    report = SyncReport(
        ["a"], ["b"], ["c"], ["d"], ["e"],
        [FailedServer("f", "file", "why", "hint", "err")],
        [RefusedTool("g", "tool", "n", "so")],
        [EntryProblem("file", "h", "message", "hint")],
        ["i"],
    )  # fmt: skip
    assert report.to_json() == {
        "added": ["a"],
        "changed": ["b"],
        "removed": ["c"],
        "listed": ["d"],
        "unchanged": ["e"],
        "failed": [{"server": "f", "file": "file", "reason": "why", "hint": "hint", "stderr": "err"}],
        "refused": [{"server": "g", "kind": "tool", "name": "n", "why": "so"}],
        "warnings": [{"server": "h", "file": "file", "message": "message", "hint": "hint"}],
        "files": ["i"],
    }
    assert report.refused[0].message == "the tool 'n' is refused: so"
    assert (report.unreadable, SyncReport(failed=[FailedServer("", "file", "why")]).unreadable) == (False, True)
