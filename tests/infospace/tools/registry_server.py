"""Registries on loopback: the MCP registry's paged list, a search of npm with its packages, and single documents."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

PAGE = 2


class Registry(ThreadingHTTPServer):
    """Answers as the registries do. `own` are answers to paths in place of that: status, headers, body."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.servers: list[Any] = []
        self.packages: list[Any] = []
        self.files: dict[str, bytes] = {}
        self.integrity: dict[str, str] = {}
        self.own: dict[str, tuple[int, Mapping[str, str], bytes]] = {}
        self.cycle = False
        """Whether the last page leads back to the first."""
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def answer(self, path: str, query: Mapping[str, str]) -> tuple[int, Mapping[str, str], bytes]:
        """Return what a path answers."""
        if path in self.own:
            return self.own[path]
        if path in ("/v0/servers", "/v0.1/servers"):
            at = int(query.get("cursor", "page-0").removeprefix("page-"))
            rows = self.servers[at * PAGE : (at + 1) * PAGE]
            more = (at + 1) * PAGE < len(self.servers)
            following = f"page-{at + 1}" if more else "page-0" if self.cycle else None
            metadata = {"count": len(rows), **({"nextCursor": following} if following else {})}
            return 200, {}, json.dumps({"servers": rows, "metadata": metadata}).encode()
        if path == "/-/v1/search":
            start = int(query.get("from", "0")) if not self.cycle else 0
            rows = self.packages[start : start + PAGE]
            found = {"objects": [{"package": one} for one in rows], "total": len(self.packages) + 9 * self.cycle}
            return 200, {}, json.dumps(found).encode()
        if path in self.files:
            return 200, {"content-type": "application/octet-stream"}, self.files[path]
        name, _, version = unquote(path).removeprefix("/").rpartition("/")
        if name in self.integrity:
            dist = {"integrity": self.integrity[name], "tarball": f"{self.url}/{name.replace('@', '')}.tgz"}
            return 200, {}, json.dumps({"name": name, "version": version, "dist": dist}).encode()
        return 404, {}, b"{}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Registry

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.server.asked.append(self.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        status, headers, body = self.server.answer(parts.path, query)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.do_GET()


@contextmanager
def registry_served() -> Iterator[Registry]:
    """Have a registry while the context lasts."""
    server = Registry()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def npm(identifier: str, version: str = "1.2.3", **more: Any) -> dict[str, Any]:
    """A package of npm, as a `server.json` names it."""
    return {"registryType": "npm", "identifier": identifier, "version": version, "transport": {"type": "stdio"}, **more}


def listed(name: str, description: str, *packages: Any, **more: Any) -> dict[str, Any]:
    """A server as the MCP registry lists it, wrapped."""
    body = {"name": name, "description": description, "version": "1.2.3", **more}
    if packages:
        body["packages"] = list(packages)
    meta = {"io.modelcontextprotocol.registry/official": {"status": "active", "isLatest": True}}
    return {"server": body, "_meta": meta}


def bundle(manifest: Any, files: Mapping[str, bytes] = {}, links: Sequence[str] = ()) -> bytes:
    """A bundle with a manifest, files, and symbolic links."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        if manifest is not None:
            archive.writestr("manifest.json", manifest if isinstance(manifest, str) else json.dumps(manifest))
        for name, content in files.items():
            archive.writestr(name, content)
        for name in links:
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o120777 << 16
            archive.writestr(info, "/etc/passwd")
    return data.getvalue()


def integrity(data: bytes) -> str:
    """The integrity of a file, as npm writes it."""
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
