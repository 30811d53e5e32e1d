"""A server of the Model Context Protocol that asks for OAuth, with its authorization server: both on loopback.

The authorization server registers clients, shows nobody a page but consents or refuses at once (as `consents` says),
checks the proof of the code (PKCE, S256), issues tokens that last as long as `lifetime` says, and renews each once.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

TOOL = {"name": "who", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
WIDE = {"name": "wide", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}


@dataclass
class Authority:
    """What both servers know, and what the tests look at."""

    url: str = ""
    consents: bool = True
    lifetime: int = 3600
    renews: bool = True
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    tokens: dict[str, tuple[float, str]] = field(default_factory=dict)
    """Tokens for access: until when each holds, and its scopes."""
    refresh: dict[str, str] = field(default_factory=dict)
    """Tokens that renew one, with their scopes."""
    grants: list[str] = field(default_factory=list)
    """The kinds of grants that tokens were issued by, in order."""
    registered: list[dict[str, Any]] = field(default_factory=list)
    issued: list[str] = field(default_factory=list)
    """Every token and code there ever was: none may be told."""

    def make(self) -> str:
        """Return a new secret."""
        self.issued.append(secrets.token_urlsafe(24))
        return self.issued[-1]

    def issue(self, grant: str, scope: str) -> dict[str, Any]:
        """Return the answer of the token endpoint."""
        access, renewing = self.make(), self.make()
        self.tokens[access] = time.time() + self.lifetime, scope
        self.refresh[renewing] = scope
        self.grants.append(grant)
        told = {"access_token": access, "token_type": "Bearer", "expires_in": self.lifetime, "scope": scope}
        return {**told, "refresh_token": renewing} if self.renews else told


class AuthorizedHandler(BaseHTTPRequestHandler):
    """Answers for both servers of its `authority`."""

    protocol_version = "HTTP/1.1"
    authority: Authority

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Tell the metadata, or authorize."""
        parts, url = urlsplit(self.path), self.authority.url
        if parts.path.startswith("/.well-known/oauth-protected-resource"):
            self._json(200, {"resource": f"{url}/mcp", "authorization_servers": [url], "scopes_supported": ["basic"]})
        elif parts.path == "/.well-known/oauth-authorization-server":
            ends = {f"{name}_endpoint": f"{url}/{name.removesuffix('ation')}" for name in ("token",)}
            ends |= {"authorization_endpoint": f"{url}/authorize", "registration_endpoint": f"{url}/register"}
            more = {"response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"]}
            self._json(200, {"issuer": url, **ends, **more})
        elif parts.path == "/authorize":
            self._authorize({name: values[0] for name, values in parse_qs(parts.query).items()})
        else:
            self._json(405, {})

    def do_DELETE(self) -> None:
        """End a session."""
        self._json(200, {})

    def do_POST(self) -> None:
        """Register, issue tokens, or answer a message."""
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/register":
            client = {**json.loads(body), "client_id": f"client-{len(self.authority.registered)}"}
            self.authority.registered.append(client)
            self._json(201, client)
        elif self.path == "/token":
            self._token({name: values[0] for name, values in parse_qs(body.decode()).items()})
        else:
            self._message(json.loads(body))

    def _authorize(self, asked: dict[str, str]) -> None:
        told = {"state": asked["state"]}
        if self.authority.consents:
            told["code"] = self.authority.make()
            self.authority.codes[told["code"]] = asked
        else:
            told |= {"error": "access_denied", "error_description": "the owner said no"}
        self.send_response(302)
        self.send_header("Location", f"{asked['redirect_uri']}?{urlencode(told)}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _token(self, asked: dict[str, str]) -> None:
        authority, kind = self.authority, asked["grant_type"]
        if kind == "refresh_token":
            scope = authority.refresh.pop(asked["refresh_token"], None)
            if scope is None:
                return self._json(400, {"error": "invalid_grant"})
            return self._json(200, authority.issue(kind, scope))
        if kind == "client_credentials":
            given = base64.b64decode(self.headers.get("authorization", "Basic Og==").partition(" ")[2]).decode()
            if given != "robot:the-robots-secret":
                return self._json(401, {"error": "invalid_client", "error_description": f"not {given}"})
            return self._json(200, authority.issue(kind, "basic"))
        code = authority.codes.pop(asked.get("code", ""), None)
        digest = hashlib.sha256(asked.get("code_verifier", "").encode()).digest()
        proof = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if code is None or proof != code["code_challenge"] or asked["redirect_uri"] != code["redirect_uri"]:
            return self._json(400, {"error": "invalid_grant"})
        return self._json(200, authority.issue(kind, code.get("scope", "")))

    def _message(self, message: dict[str, Any]) -> None:
        until, scope = self.authority.tokens.get(self.headers.get("authorization", "").partition(" ")[2], (0, ""))
        where = f'resource_metadata="{self.authority.url}/.well-known/oauth-protected-resource/mcp"'
        if until <= time.time():
            return self._json(401, {}, {"WWW-Authenticate": f"Bearer {where}"})
        method, name = message["method"], message.get("params", {}).get("name")
        if name == "wide" and "wide" not in scope.split():
            challenge = f'Bearer error="insufficient_scope", scope="basic wide", {where}'
            return self._json(403, {}, {"WWW-Authenticate": challenge})
        if "id" not in message:
            return self._json(202, None)
        results: dict[str, Any] = {
            "initialize": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "authorized", "version": "1"},
            },
            "tools/list": {"tools": [TOOL, WIDE]},
            "tools/call": {"content": [{"type": "text", "text": f"you have {scope}"}]},
        }
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if method in results:
            return self._json(200, {**reply, "result": results[method]})
        return self._json(200, {**reply, "error": {"code": -32601, "message": "no such method"}})

    def _json(self, status: int, document: Any, headers: dict[str, str] | None = None) -> None:
        body = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def authorized(**given: Any) -> Iterator[Authority]:
    """Run both; the server's own address is the authority's `url` with `/mcp` behind it."""
    authority = Authority(**given)
    handler = type("Handler", (AuthorizedHandler,), {"authority": authority})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    authority.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield authority
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
