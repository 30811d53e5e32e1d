"""What is kept of an authorization between processes, and what of it nobody is to read."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring.backends import fail
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from infospace.tools.mcp.auth.storage import AuthorizationStorage
from infospace.tools.mcp.auth.token_store import TokenStore

URL = "https://example.org/mcp"


@pytest.fixture(autouse=True)
def data_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's data folder of the test's own, without a keyring."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    keyring.set_keyring(fail.Keyring())


def client(**more: Any) -> OAuthClientInformationFull:
    uris = ["http://127.0.0.1:4321/callback"]
    return OAuthClientInformationFull.model_validate({"client_id": "c", "redirect_uris": uris, **more})


def tokens(**more: Any) -> OAuthToken:
    return OAuthToken.model_validate({"access_token": "access", **more})


SECRET = {"client_secret": "hidden"}
RENEWED = {"refresh_token": "refresh"}


def opened(*kept: Any) -> AuthorizationStorage:
    """A storage that was opened, was given a client and tokens, and is opened once more by another process."""

    async def go() -> AuthorizationStorage:
        storage = AuthorizationStorage(TokenStore(URL))
        await storage.open()
        for one in kept:
            await (storage.set_tokens(one) if isinstance(one, OAuthToken) else storage.set_client_info(one))
        again = AuthorizationStorage(TokenStore(URL))
        await again.open()
        return again

    return asyncio.run(go())


def test_nothing_is_secret_where_nothing_is_kept() -> None:
    assert opened().secrets() == ()


def test_tokens_and_the_clients_secret_are_secret_and_its_id_is_not() -> None:
    assert opened(client(**SECRET), tokens(**RENEWED, expires_in=60)).secrets() == ("access", "refresh", "hidden")


def test_what_is_not_there_is_no_secret() -> None:
    """A token that is not renewed, and a client without a secret, as of a program on somebody's machine."""
    assert opened(client(), tokens()).secrets() == ("access",)


def test_tokens_of_a_client_that_was_registered_elsewhere_are_secret() -> None:
    assert opened(tokens(**RENEWED)).secrets() == ("access", "refresh")


def test_a_new_client_has_none_of_the_tokens_of_an_earlier_one() -> None:
    async def go() -> tuple[str, ...]:
        storage = AuthorizationStorage(TokenStore(URL))
        await storage.set_tokens(tokens())
        await storage.set_client_info(client(**SECRET))
        assert await storage.get_tokens() is None
        return storage.secrets()

    assert asyncio.run(go()) == ("hidden",)


def test_the_port_that_a_client_is_registered_with_is_known_again() -> None:
    assert opened(client(), tokens()).registered_port() == 4321
    assert opened(tokens()).registered_port() == 4321
    assert AuthorizationStorage(TokenStore("https://example.org/other")).registered_port() == 0
