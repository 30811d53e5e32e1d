"""What an operation answers, as the answer of a tool."""

from __future__ import annotations

import base64
import json
from http import HTTPStatus
from typing import Any

from infospace.core.redaction import shown_url
from infospace.core.tool import ToolAnswer
from infospace.tools.mcp.sanitize import sanitize
from infospace.tools.openapi.operations import Operation, is_json
from infospace.tools.openapi.requests import way_in

BEGINNING = 500
"""Characters of what came with an error that its sentence has."""


def good_answer(status: int, media_type: str, charset: str, body: bytes) -> ToolAnswer:
    """Return what came: JSON as structured content, text as text, an image or anything else as its block."""
    if not body:
        return ToolAnswer([{"type": "text", "text": f"{_named(status)}, without content"}])
    media = media_type.partition(";")[0].strip().casefold()
    kind = media.partition("/")[0]
    if kind in ("image", "audio"):
        return ToolAnswer([{"type": kind, "data": base64.b64encode(body).decode(), "mimeType": media}])
    text = _decoded(body, charset)
    if text is None or not (is_json(media) or kind == "text" or not media or "xml" in media or "json" in media
                            or media in ("application/javascript", "application/x-www-form-urlencoded")):  # fmt: skip
        blob = {"uri": "response:body", "mimeType": media, "blob": base64.b64encode(body).decode()}
        return ToolAnswer([{"type": "resource", "resource": blob}])
    block = {"type": "text", "text": text}
    return ToolAnswer([block], _structured(text) if is_json(media) else None)


def error_answer(operation: Operation, status: int, headers: Any, body: bytes, charset: str, auth: Any) -> ToolAnswer:
    """Return a failure in the interface's words: its status, and the beginning of what came with it."""
    location = headers.get("location")
    if 300 <= status < 400:
        message = f"; it leads to {shown_url(location)!r:.200}, and only the base URL is called" if location else ""
        return _failed(f"{_named(status)}{message}")
    whole = _decoded(body, charset) or ""
    text = " ".join(whole[: BEGINNING * 4].split())
    cut = len(text) > BEGINNING or bool(whole[BEGINNING * 4 :].strip())
    message = f": {text[:BEGINNING]}{'…' if cut else ''}" if text else ""
    retry_after = headers.get("retry-after", "")
    wait = f" It may be called again in {retry_after} s." if retry_after.isdigit() and len(retry_after) < 10 else ""
    missing = ""
    if status in (401, 403) and operation.security and not way_in(operation, auth):
        names = " or ".join(" with ".join(repr(credential.scheme) for credential in way) for way in operation.security)
        missing = f" It asks for {names}, which `auth` of the server's entry does not give."
    return _failed(
        f"{_named(status)}{message}{'.' if (wait or missing) and message[-1:] != '.' else ''}{wait}{missing}"
    )


def _failed(text: str) -> ToolAnswer:
    return ToolAnswer([{"type": "text", "text": text}], is_error=True)


def _named(status: int) -> str:
    try:
        return f"HTTP {status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"HTTP {status}"


def _decoded(body: bytes, charset: str) -> str | None:
    """Return a text; None for what is none."""
    try:
        text = body.decode(charset, "strict")
    except (LookupError, UnicodeDecodeError):
        text = body.decode("utf-8", "replace")
    if "\0" in text:
        return None
    result: str = sanitize(text.removeprefix("\ufeff"))
    return result


def _structured(text: str) -> Any:
    """Return what JSON says; None for what is none, or is nested without end."""
    try:
        return sanitize(json.loads(text))
    except (ValueError, RecursionError):
        return None
