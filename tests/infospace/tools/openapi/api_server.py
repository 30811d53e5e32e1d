"""An HTTP interface on loopback that answers as an OpenAPI document says, read by hand here, and that can misbehave."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

Seen = list[dict[str, Any]]


class Api(ThreadingHTTPServer):
    """Answers by a document. `seen` are the requests; `own` are answers to paths in place of the document's."""

    daemon_threads = True

    def __init__(self, document: Mapping[str, Any], prefix: str = "") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.document = document
        self.prefix = prefix
        self.seen: Seen = []
        self.own: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.released = threading.Event()

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.server_address[1]}{self.prefix}"


@contextmanager
def served(document: Mapping[str, Any], prefix: str = "") -> Iterator[Api]:
    """Have an interface while the context lasts."""
    server = Api(document, prefix)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Api

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        parts = urlsplit(self.path)
        query = parse_qsl(parts.query, keep_blank_values=True)
        headers = {name.casefold(): value for name, value in self.headers.items()}
        self.server.seen.append(
            {"method": self.command, "path": self.path, "query": query, "headers": headers, "body": body}
        )
        if parts.path == f"{self.server.prefix}/hangs":
            self.server.released.wait(60)
            self.close_connection = True
            return
        if parts.path in self.server.own:
            self._send(*self.server.own[parts.path])
            return
        self._send(*self._by_document(parts.path, query))

    do_GET = do_PUT = do_POST = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = _any  # noqa: N815

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _by_document(self, path: str, query: list[tuple[str, str]]) -> tuple[int, dict[str, str], bytes]:
        document = self.server.document
        for template, written in sorted(document["paths"].items(), key=lambda one: one[0].count("{")):
            fits = re.fullmatch(self.server.prefix + re.sub(r"\{[^}]*\}", "([^/]+)", template), path)
            item = _followed(document, written)
            operation = item.get(self.command.lower())
            if fits is None or operation is None:
                continue
            parameters = [
                _followed(document, one) for one in (*item.get("parameters", ()), *operation.get("parameters", ()))
            ]
            names = {name for name, _ in query}
            for one in parameters:
                if one["in"] == "query" and one.get("required") is True and one["name"] not in names:
                    return _json(400, {"message": f"{one['name']} is missing"})
            values = dict(zip(re.findall(r"\{([^}]*)\}", template), fits.groups(), strict=True))
            for one in parameters:
                kind = _followed(document, one.get("schema", {})).get("type")
                if one["in"] == "path" and kind == "integer" and not unquote(values[one["name"]]).isdigit():
                    return _json(400, {"message": f"{one['name']} is not a number"})
            return _answer(document, operation)
        return _json(404, {"message": f"nothing at {path}"})


def _answer(document: Mapping[str, Any], operation: Mapping[str, Any]) -> tuple[int, dict[str, str], bytes]:
    responses = sorted(operation["responses"].items())
    status, response = next((int(code.replace("X", "0")), one) for code, one in responses if code[0] == "2")
    content = _followed(document, response).get("content", {})
    media = next((one for kind, one in content.items() if kind.endswith("json")), None)
    if media is None:
        return status, {}, b""
    return _json(status, made(document, media.get("schema", {})))


def made(document: Mapping[str, Any], schema: Any, depth: int = 0) -> Any:
    """Return a value that a schema allows."""
    schema = _followed(document, schema)
    whole: dict[str, Any] = {}
    for one in schema.get("allOf", ()):
        part = made(document, one, depth)
        whole |= part if isinstance(part, dict) else {}
    for key in ("oneOf", "anyOf"):
        if key in schema:
            return made(document, schema[key][-1], depth)
    if "enum" in schema:
        return schema["enum"][0]
    if "properties" in schema or "allOf" in schema:
        if depth > 6:
            return whole
        return whole | {name: made(document, one, depth + 1) for name, one in schema.get("properties", {}).items()}
    if schema.get("pattern") == "^tt[0-9]{7}":
        return "tt0000001"
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "array":
        return [made(document, schema.get("items", {}), depth + 1)] if depth < 6 else []
    return {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "object": {}}.get(kind)


def _followed(document: Mapping[str, Any], value: Any) -> Any:
    while isinstance(value, dict) and "$ref" in value:
        found: Any = document
        for part in value["$ref"].removeprefix("#/").split("/"):
            found = found[part.replace("~1", "/").replace("~0", "~")]
        value = found
    return value if value is not None else {}


def _json(status: int, value: Any) -> tuple[int, dict[str, str], bytes]:
    return status, {"Content-Type": "application/json; charset=utf-8"}, json.dumps(value).encode()
