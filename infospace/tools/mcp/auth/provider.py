"""The authorization of the requests to one server: the official package's provider, asked only where it is needed.

A request goes out as it is until the server wants a token, or one is kept. What fails is one sentence, which the
request is answered with; no token, code or secret stands in it.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager, aclosing, suppress

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.client.auth.oauth2 import OAuthContext
from mcp.client.auth.utils import extract_field_from_www_auth
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata
from pydantic import AnyUrl, ValidationError

from infospace.core.errors import InfospaceError
from infospace.core.redaction import hidden
from infospace.tools.mcp.auth.identity import exchange_id_token
from infospace.tools.mcp.auth.redirect import RedirectListener
from infospace.tools.mcp.auth.settings import OAuthSettings
from infospace.tools.mcp.auth.sign_in import ASKS, SignIn
from infospace.tools.mcp.auth.storage import AuthorizationStorage
from infospace.tools.mcp.auth.token_store import TokenStore

MAX_REASON_CHARACTERS = 300
"""Characters of what went wrong that are told."""

# What the official package logs of an authorization may hold what is secret; it is told as a sentence instead.
_PACKAGE = logging.getLogger("mcp.client.auth")
_PACKAGE.addHandler(logging.NullHandler())
_PACKAGE.propagate = False


class ServerAuth(httpx2.Auth):
    """Authorizes the requests to one server. `sign_in` is a person who can sign in, None where nobody is asked.

    `failed` hears in a sentence why a request could not be authorized; `paused` stops the clocks of whoever waits for
    the server while a person is waited for.
    """

    def __init__(
        self,
        server: str,
        url: str,
        settings: OAuthSettings,
        *,
        sign_in: SignIn | None,
        failed: Callable[[str], None],
        paused: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._server = server
        self._url = url
        self._settings = settings
        self.sign_in = sign_in
        """A person who can sign in now, None where nobody is asked."""
        self._failed = failed
        self._paused = paused
        self._store = TokenStore(url, settings.client_id or settings.client_metadata_url)
        self._storage = AuthorizationStorage(self._store, _registered(settings))
        self._listener = RedirectListener()
        self._metadata = OAuthClientMetadata(client_name="infospace", redirect_uris=[AnyUrl(self._listener.uri)])
        self._provider: httpx2.Auth | None = None
        self._declined = ""
        """Why the person did not sign in, until a request is authorized: nobody is asked twice in a row."""

    @property
    def issuer(self) -> str:
        """The authorization server that its entry names; empty where it names none."""
        return self._settings.issuer

    def secrets(self) -> tuple[str, ...]:
        """What nobody is to read of what it knows."""
        return (*self._settings.secrets(), *self._storage.secrets())

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send a request, and what it takes to have it authorized."""
        self._failed("")
        first: httpx2.Response | None = None
        if self._provider is None and self._store.record() is None:
            first = yield request
            if not _wants_token(first):
                return
        if first is not None and self._lacks_sign_in(first):
            return
        try:
            provider = await self._opened()
            flow = provider.async_auth_flow(request)
            try:
                asked = await anext(flow)
                if first is not None:
                    asked = await flow.asend(first)
                while True:
                    response = yield asked
                    if asked is request and self._lacks_sign_in(response):
                        return
                    asked = await flow.asend(response)
            except StopAsyncIteration:
                self._declined = ""
                return
            finally:
                await flow.aclose()
                await self._listener.close()
        except (OAuthFlowError, InfospaceError, httpx2.HTTPError, OSError, ValueError, TimeoutError) as error:
            self._failed(self._why(error))
        # The server's own answer to a request without a token is what whoever waits for one gets.
        request.headers.pop("Authorization", None)
        yield request

    async def _opened(self) -> httpx2.Auth:
        """Return the provider, made when it is first needed."""
        if self._provider is None:
            await self._storage.open()
            self._provider = self._create()
            if isinstance(self._provider, OAuthClientProvider):
                self._storage.context = self._provider.context
                self._storage.restore()
        return self._provider

    def _create(self) -> httpx2.Auth:
        settings, url, storage = self._settings, self._url, self._storage
        if settings.grant == "client_credentials" and settings.private_key:
            signing = SignedJWTParameters(
                issuer=settings.client_id,
                subject=settings.client_id,
                signing_key=settings.private_key,
                signing_algorithm=settings.signing_algorithm,
            )
            assertion = signing.create_assertion_provider()
            return PrivateKeyJWTOAuthProvider(url, storage, settings.client_id, assertion, issuer=settings.issuer)
        if settings.grant == "client_credentials":
            method = settings.token_endpoint_auth_method
            secret = settings.client_secret
            return ClientCredentialsOAuthProvider(
                url, storage, settings.client_id, secret, method, issuer=settings.issuer
            )
        if settings.grant == "identity_assertion":
            return IdentityAssertionOAuthProvider(
                url,
                storage,
                settings.client_id,
                settings.client_secret,
                settings.issuer,
                lambda audience, resource: exchange_id_token(settings, audience, resource),
                token_endpoint_auth_method=settings.token_endpoint_auth_method,
            )
        address = settings.client_metadata_url or None
        return _SigningIn(self, url, self._metadata, storage, address)

    async def begin(self, context: OAuthContext) -> None:
        """Listen for the browser at an address that is registered for this client, before a person is sent there."""
        listener = self._listener
        listener.port = self._settings.redirect_port or listener.port or self._storage.registered_port()
        before = listener.uri
        await listener.open()
        self._metadata.redirect_uris = [AnyUrl(listener.uri)]
        known = context.client_info
        if known is not None and not self._settings.client_id and before != listener.uri:
            self._storage.drop_client()
            context.client_info = None

    async def send(self, url: str) -> None:
        """Show a person where to sign in."""
        sign_in = self._person()
        self._listener.expect(url)
        await sign_in.send(self._server, url)

    async def answer(self) -> AuthorizationCodeResult:
        """Wait for the person. Raises OAuthFlowError for a refusal, TimeoutError where nobody came."""
        import asyncio

        sign_in = self._person()
        with self._paused():
            try:
                async with asyncio.timeout(sign_in.seconds):
                    return await self._listener.answer()
            except OAuthFlowError as error:
                self._declined = str(error)
                raise
            except TimeoutError:
                self._declined = f"nobody signed in within {sign_in.seconds:g} s"
                raise TimeoutError(self._declined) from None
            finally:
                await self._listener.close()

    def _person(self) -> SignIn:
        """Return how a person is reached. Raises OAuthFlowError where there is none, or the person did not sign in."""
        if self._declined:
            raise OAuthFlowError(self._declined)
        if self.sign_in is None:
            raise OAuthFlowError("nobody is there to sign in")
        return self.sign_in

    def _lacks_sign_in(self, response: httpx2.Response) -> bool:
        """Whether a person would have to sign in, and nobody is there; then that is what is told."""
        person = self._settings.grant == "authorization_code" and self.sign_in is None
        if not person or not _wants_token(response):
            return False
        status = response.status_code
        scopes = extract_field_from_www_auth(response, "scope") if status == 403 else None
        # An older server says nothing but the status, and then other headers may be what it lacks.
        bare = "" if "www-authenticate" in response.headers else f", or other headers: it answered HTTP {status}"
        self._failed(f"it {ASKS}" + (f", for {scopes}" if scopes else bare))
        return True

    def _why(self, error: BaseException) -> str:
        words = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, ValidationError):
            words = "what its authorization server answers is not of the protocol"
        return f"it cannot be authorized: {hidden(words[:MAX_REASON_CHARACTERS], self.secrets())}"


class _SigningIn(OAuthClientProvider):
    """The package's provider of the code flow; it listens on loopback before it registers or sends a person away."""

    def __init__(
        self,
        auth: ServerAuth,
        url: str,
        metadata: OAuthClientMetadata,
        storage: AuthorizationStorage,
        address: str | None,
    ) -> None:
        super().__init__(url, metadata, storage, auth.send, auth.answer, address)
        self._auth = auth

    def _expected_issuer(self) -> str:
        """Return the authorization server that the entry names, else the one that discovery leads to."""
        return self._auth.issuer or super()._expected_issuer()

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        async with aclosing(super()._auth_flow(request)) as flow:
            with suppress(StopAsyncIteration):
                asked = await anext(flow)
                while True:
                    response = yield asked
                    if asked is request and _wants_token(response):
                        await self._auth.begin(self.context)
                    asked = await flow.asend(response)


def _wants_token(response: httpx2.Response) -> bool:
    """Whether a server wants a token, or one for more."""
    if response.status_code == 401:
        return True
    return response.status_code == 403 and extract_field_from_www_auth(response, "error") == "insufficient_scope"


def _registered(settings: OAuthSettings) -> OAuthClientInformationFull | None:
    """Return the client that the settings name, None where it registers itself."""
    if not settings.client_id:
        return None
    return OAuthClientInformationFull(
        client_id=settings.client_id,
        client_secret=settings.client_secret or None,
        redirect_uris=None,
        token_endpoint_auth_method=settings.token_endpoint_auth_method if settings.client_secret else "none",
        issuer=settings.issuer or None,
    )
