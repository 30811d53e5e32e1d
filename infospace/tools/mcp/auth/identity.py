"""Signing in by an identity provider: the person's id token is exchanged for an assertion to one server (RFC 8693)."""

from __future__ import annotations

import httpx2
from mcp.client.auth import OAuthFlowError

from infospace.tools.mcp.auth.settings import OAuthSettings

_TYPE = "urn:ietf:params:oauth:token-type:"
EXCHANGE_S = 30.0


async def exchange_id_token(settings: OAuthSettings, audience: str, resource: str) -> str:
    """Return an assertion for an authorization server (`audience`) and a server (`resource`). Raises OAuthFlowError."""
    data = {
        "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
        "requested_token_type": f"{_TYPE}id-jag",
        "subject_token_type": f"{_TYPE}id_token",
        "subject_token": settings.id_token,
        "audience": audience,
        "resource": resource,
        "client_id": settings.idp_client_id,
    }
    async with httpx2.AsyncClient(timeout=EXCHANGE_S) as client:
        response = await client.post(settings.idp_token_endpoint, data=data)
    if response.status_code != 200:
        raise OAuthFlowError(f"the identity provider answered HTTP {response.status_code}")
    try:
        assertion = response.json()["access_token"]
    except (ValueError, KeyError, TypeError):
        assertion = None
    if not isinstance(assertion, str):
        raise OAuthFlowError("the identity provider answered without an assertion")
    return assertion
