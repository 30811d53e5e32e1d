"""How requests to one server are authorized: by whom, for what, and what is said where nobody can sign in."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import httpx2
import keyring
import pytest
from keyring.backends import fail
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider, PrivateKeyJWTOAuthProvider
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from infospace.core.errors import InfospaceError
from infospace.tools.mcp.auth.provider import ServerAuth, _registered, _SigningIn
from infospace.tools.mcp.auth.settings import OAuthSettings
from infospace.tools.mcp.auth.sign_in import SignIn

URL = "https://x.org/mcp"
ROBOT = {"grant": "client_credentials", "client_id": "me", "issuer": "https://i.org"}
SCOPE = 'Bearer error="insufficient_scope", scope="read write"'


@pytest.fixture(autouse=True)
def data_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's data folder of the test's own, without a keyring."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    keyring.set_keyring(fail.Keyring())


def auth(settings: OAuthSettings | None = None, sign_in: SignIn | None = None) -> tuple[ServerAuth, list[str]]:
    """Return what authorizes requests, and what it tells of failures."""
    told: list[str] = []
    settings = OAuthSettings() if settings is None else settings
    return ServerAuth("it", URL, settings, sign_in=sign_in, failed=told.append, paused=nullcontext), told


@pytest.mark.parametrize(
    ("status", "headers", "told"),
    [
        (200, {}, [""]),
        (404, {}, [""]),
        (403, {}, [""]),
        (403, {"WWW-Authenticate": 'Bearer error="other"'}, [""]),
        (401, {}, ["", "it asks for a sign-in, or other headers: it answered HTTP 401"]),
        (401, {"WWW-Authenticate": 'Bearer scope="read"'}, ["", "it asks for a sign-in"]),
        (403, {"WWW-Authenticate": SCOPE}, ["", "it asks for a sign-in, for read write"]),
        (403, {"WWW-Authenticate": 'Bearer error="insufficient_scope"'}, ["", "it asks for a sign-in"]),
    ],
)
def test_where_nobody_can_sign_in_the_answer_stays_and_is_told(
    status: int, headers: dict[str, str], told: list[str]
) -> None:
    """The request goes out once, as it is."""

    async def go() -> list[str]:
        one, heard = auth()
        request = httpx2.Request("POST", URL, headers={"X": "1"})
        flow = one.async_auth_flow(request)
        assert await anext(flow) is request
        with pytest.raises(StopAsyncIteration):
            await flow.asend(httpx2.Response(status, headers=headers, request=request))
        assert "authorization" not in request.headers
        return heard

    assert asyncio.run(go()) == told


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({}, _SigningIn),
        ({"client_id": "me", "client_metadata_url": "https://x.org/me"}, _SigningIn),
        ({**ROBOT, "client_secret": "s"}, ClientCredentialsOAuthProvider),
        ({**ROBOT, "private_key": "k"}, PrivateKeyJWTOAuthProvider),
        ({"grant": "authorization_code", "client_id": "me", "private_key": "k"}, _SigningIn),
        (
            {"grant": "identity_assertion", "client_id": "me", "client_secret": "s", "issuer": "https://i.org"},
            IdentityAssertionOAuthProvider,
        ),
    ],
)
def test_each_grant_is_asked_for_in_its_own_way(settings: dict[str, Any], kind: type[object]) -> None:
    """With what its entry says of it, and nothing kept of it is a secret but that."""
    one, _ = auth(OAuthSettings(**settings))
    provider = asyncio.run(one._opened())
    assert type(provider) is kind
    assert asyncio.run(one._opened()) is provider
    assert one.issuer == settings.get("issuer", "")
    assert set(one.secrets()) == {settings[key] for key in ("client_secret", "private_key") if key in settings}
    if isinstance(provider, OAuthClientProvider):
        assert provider.context.server_url == URL
        assert provider.context.client_metadata_url == settings.get("client_metadata_url")


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, None),
        ({"client_secret": "s"}, None),
        ({"client_id": "me"}, {"client_id": "me", "token_endpoint_auth_method": "none"}),
        (
            {"client_id": "me", "client_secret": "s", "issuer": "https://i.org"},
            {
                "client_id": "me",
                "client_secret": "s",
                "issuer": "https://i.org",
                "token_endpoint_auth_method": "client_secret_basic",
            },
        ),
        (
            {"client_id": "me", "client_secret": "s", "token_endpoint_auth_method": "client_secret_post"},
            {"client_id": "me", "client_secret": "s", "token_endpoint_auth_method": "client_secret_post"},
        ),
    ],
)
def test_a_client_that_was_registered_before_is_the_entrys(settings: Any, expected: dict[str, Any] | None) -> None:
    """Without an id it registers itself."""
    found = _registered(OAuthSettings(**settings))
    wanted = (
        None if expected is None else OAuthClientInformationFull.model_validate({"redirect_uris": None, **expected})
    )
    assert found == wanted


def test_a_kept_authorization_is_of_one_client() -> None:
    """By its id, else by the address of its metadata."""

    async def known(settings: OAuthSettings) -> bool:
        one, _ = auth(settings)
        await one._opened()
        return bool(one.secrets())

    async def go() -> list[bool]:
        by_id, by_address = OAuthSettings(client_id="me"), OAuthSettings(client_metadata_url="https://x.org/me")
        for settings in (by_id, by_address):
            one, _ = auth(settings)
            await one._opened()
            await one._storage.set_tokens(OAuthToken(access_token="t"))  # noqa: S106 - a word
        other = OAuthSettings(client_id="other", client_metadata_url="https://x.org/me")
        return [await known(settings) for settings in (by_id, by_address, OAuthSettings(), other)]

    assert asyncio.run(go()) == [True, True, False, False]


def test_who_did_not_sign_in_is_not_asked_again_at_once() -> None:
    """Nor where there is nobody; what went wrong is told in few words, without secrets."""
    shown: list[tuple[str, str]] = []
    person = SignIn(lambda server, url: shown.append((server, url)), 0.01)
    alone, _ = auth()
    with pytest.raises(OAuthFlowError, match=r"^nobody is there to sign in$"):
        alone._person()

    async def go() -> None:
        one, _ = auth(OAuthSettings(client_id="me", client_secret="hush-hush"), person)  # noqa: S106 - a word
        assert one._person() is person
        await one.send("https://login.org/?state=s")
        with pytest.raises(TimeoutError, match=r"^nobody signed in within 0\.01 s$"):
            await one.answer()
        with pytest.raises(OAuthFlowError, match=r"^nobody signed in within 0\.01 s$"):
            one._person()
        told = one._why(InfospaceError("no  token\nfor hush-hush"))
        assert told == "it cannot be authorized: no token for •••"
        assert one._why(ValueError("x" * 400)) == f"it cannot be authorized: {'x' * 300}"
        assert one._why(ValueError()) == "it cannot be authorized: ValueError"
        with pytest.raises(ValueError, match="validation error") as odd:
            OAuthToken.model_validate({})
        assert one._why(odd.value) == (
            "it cannot be authorized: what its authorization server answers is not of the protocol"
        )

    asyncio.run(go())
    assert shown == [("it", "https://login.org/?state=s")]
