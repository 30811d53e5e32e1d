"""A small endpoint of a language model on loopback, which answers as a test tells it to.

It speaks chat completions and Anthropic's Messages, whole and streamed.
"""

from __future__ import annotations

import json
import re
import socket
import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Say:
    """A completion with this content. `usage` None leaves the count of tokens out."""

    content: Any
    finish: str = "stop"
    usage: Any = None
    refusal: str | None = None


@dataclass(frozen=True)
class Fail:
    """An error status. Without other headers a client is told to come again at once."""

    status: int
    message: str = "no"
    headers: Mapping[str, str] = field(default_factory=lambda: {"retry-after-ms": "1"})
    code: str | None = None


@dataclass(frozen=True)
class Raw:
    """A body as it is. With `missing`, so many bytes are promised and never sent."""

    body: bytes
    content_type: str = "application/json"
    missing: int = 0


@dataclass(frozen=True)
class Flood:
    """A body of so many bytes, in pieces, until the client hangs up; `packed`, of a thousandth of that."""

    size: int
    status: int = 200
    packed: bool = False


class Hang:
    """No answer, until the endpoint is closed."""


Answer = Say | Fail | Raw | Flood | Hang
Answers = Callable[[dict[str, Any]], Answer | str]


@dataclass
class Endpoint:
    """What was asked of the endpoint, and what it answers: what `script` holds, then what `answers` gives."""

    url: str = ""
    script: deque[Answer | str] = field(default_factory=deque)
    answers: Answers = field(default_factory=lambda: fitting)
    refuses: set[str] = field(default_factory=set)
    """Types of `response_format` that it answers with 400."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    """The `Authorization` of each request."""
    closing: threading.Event = field(default_factory=threading.Event)
    together: threading.Barrier | None = None
    """With it, requests are answered only when so many are there at once."""
    peak: int = 0
    """The most requests that were there at once."""
    connections: int = 0
    pieces: int = 20
    """Characters of a piece of a streamed answer."""
    gap: float = 0.0
    """Seconds between pieces."""
    holds_before: str = ""
    """A text before which a streamed answer stops until `goes_on` is released, once for each answer."""
    holding: threading.Event = field(default_factory=threading.Event)
    """Set once a streamed answer has stopped there."""
    goes_on: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    cuts_after: int | None = None
    """Pieces after which a stream is cut off, as by a broken connection."""
    no_streams: bool = False
    """Whether it answers a request for a stream as a whole."""
    flooded: int = 0
    """Bytes of floods that were sent."""
    _there: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def say(self, *answers: Answer | str) -> None:
        """Answer the next requests with these, in order."""
        self.script.extend(answers)

    @property
    def prompts(self) -> list[str]:
        """The last message of each request."""
        return [request["messages"][-1]["content"] for request in self.requests]

    def take(self, request: dict[str, Any], key: str) -> Answer:
        """Note a request, and return what it is answered with."""
        with self._lock:
            self.requests.append(request)
            self.keys.append(key)
            self._there += 1
            self.peak = max(self.peak, self._there)
        if self.together is not None:
            self.together.wait(60)
        form = request.get("response_format", {}).get("type")
        with self._lock:
            if form in self.refuses:
                return Fail(400, f"response_format of type {form!r} is not supported")
            found = self.script.popleft() if self.script else self.answers(request)
        return Say(found) if isinstance(found, str) else found

    def leave(self) -> None:
        """Note that a request is about to be answered."""
        with self._lock:
            self._there -= 1


def fitting(request: dict[str, Any]) -> str:
    """Answer something that fits the schema that was asked for; it cites the first material that was given."""
    form = request.get("response_format", {})
    if form.get("type") == "json_object":
        return "{}"
    if form.get("type") != "json_schema":
        return "A sensible answer."
    label = re.search(r"<<<material [0-9a-f]+ (\S+)", request["messages"][-1]["content"])
    return json.dumps(_value(form["json_schema"]["schema"], label[1] if label else "Note_1"))


def _value(schema: dict[str, Any], label: str) -> Any:
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: _value(inner, label) for name, inner in schema.get("properties", {}).items()}
    if kind == "array":
        return [_value(schema.get("items", {"type": "string"}), label)]
    return {"boolean": True, "integer": 1, "number": 1.5, "null": None}.get(str(kind), label)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    endpoint: Endpoint

    def setup(self) -> None:
        self.endpoint.connections += 1
        super().setup()

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        messages = self.path.endswith("/v1/messages")
        assert messages or self.path == "/v1/chat/completions", self.path
        answer = self.endpoint.take(request, self.headers["authorization"])
        if isinstance(answer, Hang):
            self.endpoint.closing.wait(120)
        self.endpoint.leave()
        match answer:
            case Say() if request.get("stream") and not self.endpoint.no_streams:
                self._stream(message_events if messages else completion_chunks, answer, request)
            case Say():
                body = message_body(answer, request) if messages else completion(answer)
                self._send(200, json.dumps(body).encode())
            case Fail(status, message, headers, code):
                error = {"error": {"message": message, "type": "invalid", "code": code}}
                self._send(status, json.dumps(error).encode(), headers)
            case Raw(body, content_type, missing):
                self._send(200, body, {"content-type": content_type}, missing)
            case Flood():
                self._flood(answer)
            case Hang():
                self.close_connection = True

    def _stream(self, events: Callable[..., Iterator[dict[str, Any]]], answer: Say, request: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        text = ""
        for number, event in enumerate(events(answer, request, self.endpoint.pieces)):
            if number == self.endpoint.cuts_after:
                return
            before, text = text, text + _piece(event)
            held = self.endpoint.holds_before
            if held and held in text and held not in before:
                self.endpoint.holding.set()
                while not (self.endpoint.goes_on.acquire(timeout=0.05) or self.endpoint.closing.is_set()):
                    pass
            named = f"event: {event['type']}\n" if "type" in event else ""
            try:
                self.wfile.write(f"{named}data: {json.dumps(event)}\n\n".encode())
            except OSError:
                return
            if self.endpoint.gap:
                self.endpoint.closing.wait(self.endpoint.gap)
        if events is completion_chunks:
            self.wfile.write(b"data: [DONE]\n\n")

    def _flood(self, flood: Flood) -> None:
        self.send_response(flood.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(flood.size))
        if flood.packed:
            self.send_header("content-encoding", "gzip")
        self.end_headers()
        self.close_connection = True
        piece = b" " * 2**20
        packer = zlib.compressobj(wbits=31)
        for _ in range(flood.size // len(piece)):
            sent = packer.compress(piece) + packer.flush(zlib.Z_SYNC_FLUSH) if flood.packed else piece
            try:
                self.wfile.write(sent)
            except OSError:
                return
            self.endpoint.flooded += len(piece)

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None, missing: int = 0) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body) + missing))
        self.end_headers()
        self.wfile.write(body)
        if missing:
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_WR)
            self.close_connection = True

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


def completion(answer: Say) -> dict[str, Any]:
    """Return the body of a chat completion."""
    message = {"role": "assistant", "content": answer.content}
    if answer.refusal is not None:
        message |= {"content": None, "refusal": answer.refusal}
    body = {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 0,
        "model": "made",
        "choices": [{"index": 0, "message": message, "finish_reason": answer.finish}],
    }
    return body if answer.usage is None else body | {"usage": answer.usage}


def completion_chunks(answer: Say, request: dict[str, Any], size: int) -> Iterator[dict[str, Any]]:
    """Return the chunks of a streamed chat completion."""
    base = {"id": "chat-1", "object": "chat.completion.chunk", "created": 0, "model": "made"}
    text = answer.content or ""
    for start in range(0, len(text), size):
        yield {**base, "choices": [{"index": 0, "delta": {"content": text[start : start + size]}}]}
    if answer.refusal is not None:
        yield {**base, "choices": [{"index": 0, "delta": {"refusal": answer.refusal}}]}
    yield {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": answer.finish}]}
    if answer.usage is not None and request.get("stream_options", {}).get("include_usage"):
        yield {**base, "choices": [], "usage": answer.usage}


def _piece(event: Mapping[str, Any]) -> str:
    """Return what a chunk of either protocol adds to the answer's text."""
    delta = next((choice["delta"] for choice in event.get("choices", ())), event.get("delta", {}))
    return str(delta.get("content") or delta.get("text") or delta.get("partial_json") or "")


_FINISHES = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}


def message_body(answer: Say, request: dict[str, Any]) -> dict[str, Any]:
    """Return the body of Anthropic's Messages: a text, or the arguments of the tool that was forced."""
    forced = request.get("tool_choice", {}).get("name")
    block = {"type": "text", "text": answer.content}
    if forced is not None:
        block = {"type": "tool_use", "id": "toolu_1", "name": forced, "input": json.loads(answer.content)}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "made",
        "content": [] if answer.content is None else [block],
        "stop_reason": "refusal" if answer.refusal else _FINISHES.get(answer.finish, answer.finish),
        "stop_sequence": None,
        "usage": answer.usage or {"input_tokens": 0, "output_tokens": 0},
    }


def message_events(answer: Say, request: dict[str, Any], size: int) -> Iterator[dict[str, Any]]:
    """Return the events of a streamed message."""
    whole = message_body(answer, request)
    usage = whole["usage"]
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    forced = bool(whole["content"]) and whole["content"][0]["type"] == "tool_use"
    block = (
        {"type": "tool_use", "id": "toolu_1", "name": "answer", "input": {}} if forced else {"type": "text", "text": ""}
    )
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    text = answer.content or ""
    for start in range(0, len(text), size):
        part = text[start : start + size]
        delta = {"type": "input_json_delta", "partial_json": part} if forced else {"type": "text_delta", "text": part}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": usage.get("output_tokens", 0)}}
    yield {"type": "message_stop"}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_args: object) -> None:
        """A client that hung up is what some tests are about."""


@contextmanager
def serving() -> Iterator[Endpoint]:
    """Open an endpoint on a free port of loopback."""
    endpoint = Endpoint()
    handler = type("Handler", (_Handler,), {"endpoint": endpoint})
    with _Server(("127.0.0.1", 0), handler) as server:
        endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield endpoint
        finally:
            endpoint.closing.set()
            server.shutdown()
            thread.join()
