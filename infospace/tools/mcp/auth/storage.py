"""What the official package keeps of an authorization: tokens, the client, the authorization server's metadata."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from mcp.client.auth.oauth2 import OAuthContext
from mcp.shared.auth import OAuthClientInformationFull, OAuthMetadata, OAuthToken
from pydantic import ValidationError

from infospace.tools.mcp.auth.token_store import TokenStore


class AuthorizationStorage:
    """Implements the package's `TokenStorage`. `fixed` is a client that was registered before."""

    def __init__(self, store: TokenStore, fixed: OAuthClientInformationFull | None = None) -> None:
        self._store = store
        self._fixed = fixed
        self._kept: dict[str, Any] = {}
        self.context: OAuthContext | None = None
        """What the provider knows of the authorization server, which is kept with the tokens."""

    async def open(self) -> None:
        """Read what was kept. Raises TokensUnreadable."""
        results = await asyncio.to_thread(self._store.load)
        self._kept = results or {}

    def restore(self) -> None:
        """Tell the provider until when the kept token holds, and where it is renewed."""
        if self.context is None:
            return
        self.context.token_expiry_time = self._kept.get("expires")
        try:
            self.context.oauth_metadata = OAuthMetadata.model_validate(self._kept["metadata"])
        except (KeyError, ValidationError):
            self.context.oauth_metadata = None

    def secrets(self) -> tuple[str, ...]:
        """What nobody is to read of what is kept."""
        tokens, client = self._kept.get("tokens") or {}, self._kept.get("client") or {}
        results = (tokens.get("access_token"), tokens.get("refresh_token"), client.get("client_secret"))
        return tuple(text for text in results if isinstance(text, str))

    async def get_tokens(self) -> OAuthToken | None:
        """Return the kept tokens."""
        try:
            return OAuthToken.model_validate(self._kept["tokens"])
        except (KeyError, ValidationError):
            return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep new tokens."""
        expires = None if tokens.expires_in is None else time.time() + int(tokens.expires_in)
        self._kept |= {"tokens": tokens.model_dump(mode="json", exclude_none=True), "expires": expires}
        if self.context is not None and self.context.oauth_metadata is not None:
            self._kept["metadata"] = self.context.oauth_metadata.model_dump(mode="json", exclude_none=True)
        await self._save()

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the client as it is registered."""
        if self._fixed is not None:
            return self._fixed
        try:
            return OAuthClientInformationFull.model_validate(self._kept["client"])
        except (KeyError, ValidationError):
            return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep what the client was registered as; the tokens of an earlier one are of no use to it."""
        self._kept = {"client": client_info.model_dump(mode="json", exclude_none=True)}
        # Without tokens there is nothing that outlives this process: a client is registered anew by then.

    def registered_port(self) -> int:
        """Return the port on loopback that the client is registered with, 0 where there is none."""
        uris = (self._kept.get("client") or {}).get("redirect_uris") or [""]
        port = str(uris[0]).partition("127.0.0.1:")[2].partition("/")[0]
        return int(port) if port.isdigit() else 0

    def drop_client(self) -> None:
        """Have the client registered anew, as after a change of its address."""
        self._kept.pop("client", None)

    async def _save(self) -> None:
        tokens = self._kept["tokens"]
        await asyncio.to_thread(
            lambda: self._store.save(
                self._kept, expires=self._kept["expires"], refreshable=bool(tokens.get("refresh_token"))
            )
        )
