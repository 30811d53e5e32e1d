"""Servers that ask for OAuth, against an authorization server of ours: signing in, renewing, refusing, keeping."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail

from infospace import Space, open_space
from infospace.core.tool import ToolFailed
from infospace.tools.mcp.auth.sign_in import SignIn
from infospace.tools.mcp.auth.token_store import TokenStore, folder
from infospace.tools.mcp.connections import ConnectionState, connect, connection_states, forget, initiate

sys.path.insert(0, str(Path(__file__).parent))
from authorized_server import Authority, authorized
from served import call, synced, write


class RealKeyring(KeyringBackend):
    """A keyring as `keyring` knows them, that holds in memory what it is given."""

    priority = 5  # type: ignore[assignment] # as backends say it

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


@pytest.fixture(autouse=True)
def data_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's data folder of the test's own, no browser, and no keyring, as on a server without a desktop."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    keyring.set_keyring(fail.Keyring())
    return tmp_path / "data"


@pytest.fixture
def kept_keyring() -> Iterator[RealKeyring]:
    """A keyring that works."""
    working = RealKeyring()
    keyring.set_keyring(working)
    yield working
    keyring.set_keyring(fail.Keyring())


def visit(_server: str, url: str) -> None:
    """Do what a browser does: follow the address to where it leads."""
    with urllib.request.urlopen(url, timeout=60) as page:  # noqa: S310 - of ours
        page.read()


def connected(space: Space, name: str = "mail", seen: list[ConnectionState] | None = None) -> ConnectionState:
    """Sign in to a server as a person does at a browser; `seen` gets each address that is shown."""
    assert space.tools.servers is not None
    seen = [] if seen is None else seen

    def tell(state: ConnectionState) -> None:
        seen.append(state)
        visit(state.server, state.connect_url or "")

    return asyncio.run(connect(space.tools.servers, name, tell, browser=False, seconds=20))


def status(space: Space) -> dict[str, str]:
    """Return the status of each server."""
    assert space.tools.servers is not None
    return {one.server: one.status for one in connection_states(space.tools.servers)}


def renewed(space: Space, path: Path) -> Space:
    """Close a space and open it again, as a later process does."""
    space.close()
    return open_space(path)


def kept_texts(*folders: Path) -> str:
    """Return all that stands in the files of some folders."""
    files = [path for one in folders for path in one.rglob("*") if path.is_file()]
    return "".join(path.read_bytes().decode("latin-1") for path in files)


def test_a_sync_says_that_somebody_has_to_sign_in_and_opens_nothing(space: Space, tmp_path: Path) -> None:
    with authorized() as authority:
        done = synced(space, mcp=write(tmp_path, mail={"url": f"{authority.url}/mcp"}))
    assert [one.reason for one in done.failed] == ["the server 'mail' asks for a sign-in"]
    assert done.failed[0].hint == "`infospace tools connect mail`"
    assert authority.registered == []
    assert status(space) == {"mail": "disconnected"}


def test_somebody_signs_in_once_and_later_processes_are_connected(
    tmp_path: Path, data_home: Path, kept_keyring: RealKeyring, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "space" / "a.db"
    path.parent.mkdir()
    with authorized() as authority:
        space = open_space(path)
        synced(space, mcp=write(tmp_path, mail={"url": f"{authority.url}/mcp"}))
        found = connected(space)
        assert (found.status, found.kept) == ("connected", "keyring")
        assert authority.grants == ["authorization_code"]
        assert authority.registered[0]["redirect_uris"][0].startswith("http://127.0.0.1:")
        assert call(space, "mail/who").text == "you have basic"
        space = renewed(space, path)
        assert call(space, "mail/who").text == "you have basic"
        assert status(space) == {"mail": "connected"}
        space.close()
        assert authority.grants == ["authorization_code"]
    everywhere = kept_texts(path.parent, data_home) + caplog.text
    assert len(authority.issued) >= 3
    assert [secret for secret in authority.issued if secret in everywhere] == []
    assert authority.issued[-2] in str(kept_keyring.kept)


def test_a_token_that_has_ended_is_renewed_also_by_a_later_process(tmp_path: Path, kept_keyring: RealKeyring) -> None:
    """Where its authorization server was found is kept with it, so it is renewed there, and nobody is asked."""
    del kept_keyring
    path = tmp_path / "a.db"
    with authorized(lifetime=0) as authority:
        space = open_space(path)
        synced(space, mcp=write(tmp_path, mail={"url": f"{authority.url}/mcp"}))
        authority.lifetime = 1
        assert connected(space).status == "connected"
        for token in authority.tokens:
            authority.tokens[token] = 0, "basic"
        space.close()
        record = next(folder().iterdir())
        secret = TokenStore(f"{authority.url}/mcp").load()
        assert secret is not None
        TokenStore(f"{authority.url}/mcp").save({**secret, "expires": 1.0}, expires=1.0, refreshable=True)
        assert record.exists()
        authority.lifetime = 3600
        space = open_space(path)
        assert call(space, "mail/who").text == "you have basic"
        space.close()
    assert authority.grants == ["authorization_code", "refresh_token"]


def test_what_cannot_be_renewed_has_expired_and_says_so(tmp_path: Path, kept_keyring: RealKeyring) -> None:
    del kept_keyring
    with authorized(renews=False) as authority, open_space(tmp_path / "a.db") as space:
        synced(space, mcp=write(tmp_path, mail={"url": f"{authority.url}/mcp"}))
        connected(space)
        secret = TokenStore(f"{authority.url}/mcp").load()
        assert secret is not None
        TokenStore(f"{authority.url}/mcp").save({**secret, "expires": 1.0}, expires=1.0, refreshable=False)
        assert status(space) == {"mail": "expired"}
        authority.tokens.clear()
        with pytest.raises(ToolFailed, match="asks for a sign-in"):
            call(space, "mail/who")


def test_who_refuses_is_believed_and_asked_once(space: Space, tmp_path: Path) -> None:
    """A server is spoken with by several requests; the next time that it is connected somebody is asked again."""
    seen: list[ConnectionState] = []
    with authorized(consents=False) as authority:
        synced(space, mcp=write(tmp_path, mail={"url": f"{authority.url}/mcp"}))
        found = connected(space, seen=seen)
        assert len(seen) == 1
        authority.consents = True
        assert connected(space, seen=seen).status == "connected"
        assert len(seen) == 2
        assert space.tools.servers is not None
        assert forget(space.tools.servers, "mail")
    assert found.status == "error"
    assert "the sign-in was refused: the owner said no" in found.message
    assert list(folder().glob("*")) == []


def test_nobody_who_comes_is_waited_for_no_longer_than_said(space: Space, tmp_path: Path) -> None:
    with authorized() as authority:
        synced(space, mcp=write(tmp_path, mail={"url": f"{authority.url}/mcp"}))
        assert space.tools.servers is not None
        found = asyncio.run(connect(space.tools.servers, "mail", lambda _: None, browser=False, seconds=0.5))
    assert found.status == "error"
    assert "nobody signed in within 0.5 s" in found.message


def test_a_stray_answer_to_the_redirect_counts_for_nothing(space: Space, tmp_path: Path) -> None:
    """Whoever guesses the port, and not the state, can neither end the sign-in nor bring in a code."""
    refused: list[int] = []

    def tell(state: ConnectionState) -> None:
        url = state.connect_url or ""
        port = url.partition("127.0.0.1%3A")[2].partition("%2F")[0]
        for query in ("code=stolen", "code=stolen&state=wrong", "error=access_denied", "error=x&state="):
            try:
                visit("mail", f"http://127.0.0.1:{port}/callback?{query}")
            except urllib.error.HTTPError as error:
                refused.append(error.code)
        visit("mail", url)

    with authorized() as authority:
        synced(space, mcp=write(tmp_path, mail={"url": f"{authority.url}/mcp"}))
        assert space.tools.servers is not None
        found = asyncio.run(connect(space.tools.servers, "mail", tell, browser=False, seconds=20))
    assert refused == [404] * 4
    assert found.status == "connected"


def test_a_call_that_needs_more_asks_for_that_scope_or_says_so(tmp_path: Path, kept_keyring: RealKeyring) -> None:
    del kept_keyring
    with authorized() as authority:
        path = tmp_path / "a.db"
        with open_space(path) as space:
            synced(space, mcp=write(tmp_path, mail={"url": f"{authority.url}/mcp"}))
            connected(space)
        with open_space(path) as space, pytest.raises(ToolFailed, match="asks for a sign-in, for basic wide"):
            call(space, "mail/wide")
        with open_space(path) as space:
            assert space.tools.servers is not None
            space.tools.servers.sign_in = SignIn(visit, 20)
            assert call(space, "mail/wide").text == "you have basic wide"
            assert call(space, "mail/who").text == "you have basic wide"


def test_without_a_keyring_a_file_of_its_owner_alone_keeps_them(space: Space, tmp_path: Path) -> None:
    with authorized() as authority:
        synced(space, mcp=write(tmp_path, mail={"url": f"{authority.url}/mcp"}))
        found = connected(space)
    assert (found.status, found.kept) == ("connected", "file")
    [file] = folder().iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert authority.issued[-1] in file.read_text()
    assert space.tools.servers is not None
    assert forget(space.tools.servers, "mail")
    assert list(folder().iterdir()) == []
    assert not forget(space.tools.servers, "mail")
    assert status(space) == {"mail": "disconnected"}


def test_a_client_with_credentials_needs_nobody_and_its_secret_is_told_nowhere(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROBOT_SECRET", "the-robots-secret")
    monkeypatch.setenv("WRONG_SECRET", "some-other-secret")
    with authorized() as authority:
        robot = {"grant": "client_credentials", "client_id": "robot", "issuer": authority.url}
        done = synced(
            space,
            mcp=write(
                tmp_path,
                well={"url": f"{authority.url}/mcp", "oauth": {**robot, "client_secret": "${ROBOT_SECRET}"}},
                wrong={"url": f"{authority.url}/mcp?b", "oauth": {**robot, "client_secret": "${WRONG_SECRET}"}},
                other={
                    "url": f"{authority.url}/mcp?c",
                    "oauth": {**robot, "issuer": "http://127.0.0.1:1", "client_secret": "${ROBOT_SECRET}"},
                },
            ),
        )
        assert call(space, "well/who").text == "you have basic"
    failed = {one.server: one.reason for one in done.failed}
    assert done.listed == ["well"]
    assert failed.keys() == {"wrong", "other"}
    assert "cannot be authorized" in failed["wrong"]
    assert "issuer" in failed["other"]
    assert status(space)["well"] == "connected"
    assert authority.grants == ["client_credentials"]
    assert "some-other-secret" not in json.dumps(done.to_json())


def test_initiate_answers_the_address_at_once_and_goes_on_when_somebody_has_signed_in(
    space: Space, tmp_path: Path
) -> None:
    async def tried(authority: Authority) -> tuple[ConnectionState, ConnectionState, ConnectionState]:
        assert space.tools.servers is not None
        first = await initiate(space.tools.servers, "mail", 20)
        second = await initiate(space.tools.servers, "mail", 20)
        await asyncio.to_thread(visit, "mail", first.connect_url or "")
        last = await space.tools.servers.signing_in["mail"].task
        assert authority.grants == ["authorization_code"]
        return first, second, last

    with authorized() as authority:
        synced(space, mcp=write(tmp_path, mail={"url": f"{authority.url}/mcp"}))
        first, second, last = asyncio.run(tried(authority))
    assert first.status == "disconnected"
    assert first.connect_url is not None
    assert first.connect_url.startswith(f"{authority.url}/authorize?")
    assert second == first
    assert last.status == "connected"
    assert not any(secret in str((first.to_json(), last.to_json())) for secret in authority.issued)


@pytest.mark.parametrize(
    ("oauth", "sentence"),
    [
        ("yes", "'oauth' is an object, or false, not something else"),
        (True, "'oauth' is an object, or false, not something else"),
        ({"client_secrets": "abc"}, "'oauth' has no key 'client_secrets'; did you mean 'client_secret'?"),
        ({"grant": "password"}, "'oauth.grant' is one of authorization_code, client_credentials, identity_assertion"),
        ({"grant": ["x"]}, "'oauth.grant' is one of authorization_code, client_credentials, identity_assertion"),
        ({"client_id": 7}, "'oauth.client_id' is a text"),
        ({"redirect_port": 70_000}, "'oauth.redirect_port' is a port, or 0 for any"),
        ({"redirect_port": True}, "'oauth.redirect_port' is a port, or 0 for any"),
        ({"grant": "client_credentials"}, "'oauth' with the grant client_credentials needs client_id, issuer"),
        (
            {"grant": "client_credentials", "client_id": "a", "issuer": "http://x"},
            "'oauth' with the grant client_credentials needs client_secret or private_key",
        ),
        ({"token_endpoint_auth_method": "magic"}, "client_secret_basic, client_secret_post"),
        ({"client_metadata_url": "http://plain"}, "'oauth.client_metadata_url' is an https:// address"),
    ],
)
def test_what_is_wrong_with_oauth_in_an_entry_is_said_of_that_entry(
    space: Space, tmp_path: Path, oauth: Any, sentence: str
) -> None:
    done = synced(space, mcp=write(tmp_path, mail={"url": "http://127.0.0.1:1/mcp", "oauth": oauth}))
    assert any(sentence in one.reason for one in done.failed), [one.reason for one in done.failed]
    assert all("abc" not in one.reason for one in done.failed)
