"""A server of the Model Context Protocol over HTTP, real and by hand, so that it can want a header or misbehave."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

BIG = 50 * 2**20
KEY = "the-key-that-is-wanted"
ECHO = {"name": "echo", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}


class Handler(BaseHTTPRequestHandler):
    """Answers by its path: `/plain`, `/keyed`, `/broken`, `/nonsense`, `/big`, `/zipped`, `/hangs`, `/sessions`."""

    protocol_version = "HTTP/1.1"
    released = threading.Event()
    gone = threading.Event()
    sessions: ClassVar[set[str]] = set()
    calls: ClassVar[int] = 0
    """Calls of `refused`."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Have no stream of its own."""
        self._send(405, b"")

    def do_DELETE(self) -> None:
        """End a session."""
        self._send(200, b"")

    def do_POST(self) -> None:
        """Answer a message."""
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.gone.is_set():
            self.close_connection = True
        elif self.path == "/keyed" and self.headers.get("X-Key") != KEY:
            self._send(401, b"{}")
        elif self.path == "/broken":
            self._send(500, b"oops")
        elif self.path == "/nonsense":
            self._send(200, b"<html>hello</html>", "text/html")
        elif self.path == "/hangs":
            self.released.wait(60)
            self.close_connection = True
        elif "id" not in message:
            self._send(202, b"")
        elif message["method"] != "initialize" and not self._knows_session():
            self._send(404, b"{}")
        else:
            self._answer(message)

    def _knows_session(self) -> bool:
        return self.path != "/sessions" or self.headers.get("Mcp-Session-Id") in self.sessions

    def _answer(self, message: dict[str, Any]) -> None:
        method, headers = message["method"], {}
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if method == "initialize":
            known = {"name": "web", "version": "1"}
            can = {"capabilities": {"tools": {}}, "serverInfo": known}
            reply["result"] = {"protocolVersion": "2025-11-25", **can}
            if self.path == "/sessions":
                session = f"session-{len(self.sessions)}"
                self.sessions.add(session)
                headers["Mcp-Session-Id"] = session
        elif method == "tools/list":
            reply["result"] = {
                "tools": [{**ECHO, "name": name} for name in ("echo", "big", "refused", "deep", "wrong")]
            }
        elif method == "tools/call" and message["params"]["name"] == "refused":
            Handler.calls += 1
            reply["error"] = {"code": -32600, "message": "Session terminated"}
        elif method == "tools/call" and message["params"]["name"] == "deep":
            body = json.dumps({**reply, "result": "…"}).replace(
                '"\\u2026"', '{"content": %s}' % ("[" * 5_000 + "]" * 5_000)
            )
            return self._send(200, body.encode())
        elif method == "tools/call" and message["params"]["name"] == "wrong":
            return self._send(400, json.dumps({**reply, "error": {"code": -32602, "message": "no such ink"}}).encode())
        elif method == "tools/call":
            big = message["params"]["name"] == "big"
            reply["result"] = {"content": [{"type": "text", "text": "x" * BIG if big else self.path}]}
        else:
            reply["error"] = {"code": -32601, "message": f"no method {method}"}
        if self.path == "/zipped":
            headers["Content-Encoding"] = "gzip"
        return self._send(200, json.dumps(reply).encode(), "application/json", **headers)

    def _send(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            self.close_connection = True


@contextmanager
def serving() -> Iterator[str]:
    """Serve on loopback while the context lasts; yields the address."""
    Handler.released.clear()
    Handler.gone.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        Handler.released.set()
        Handler.gone.set()
        server.shutdown()
        thread.join()
        server.server_close()
