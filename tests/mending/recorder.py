"""A server of the Model Context Protocol that writes each call down and answers by its output schemas.

`recorder.py TOOLS LOG`: TOOLS is a JSON list of tools as `tools/list` answers them; LOG gets a line for each call, the
tool and its arguments. What it answers is made of the tool, the field and the arguments, so that two calls that differ
in anything have answers that differ.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

TOOLS: list[dict[str, Any]] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
LOG = Path(sys.argv[2])
CAN: dict[str, Any] = {"tools": {}}


def made(schema: dict[str, Any], words: str) -> Any:
    """Return a value that fits a schema; whatever it is made of, it is the same for the same words."""
    if "enum" in schema:
        return schema["enum"][0]
    number = int(hashlib.sha256(words.encode()).hexdigest()[:4], 16)
    match schema.get("type"):
        case "object":
            inner = schema.get("properties") or {"key": {"type": "string"}}
            return {key: made(part, f"{words} {key}") for key, part in inner.items()}
        case "array":
            return [made(schema.get("items") or {"type": "string"}, f"{words} {at}") for at in (1, 2)]
        case "integer":
            return number
        case "number":
            return number + 0.5
        case "boolean":
            return True
    return words if len(words) < 60 else f"{words[:40]} {number}"


def result(method: str, given: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        known = {"name": "recorder", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": CAN, "serverInfo": known}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method != "tools/call":
        return {}
    name, arguments = given["name"], given.get("arguments") or {}
    with LOG.open("a", encoding="utf-8") as log:
        log.write(f"{name} {json.dumps(arguments, sort_keys=True)}\n")
    schema = next(tool.get("outputSchema", {"type": "object"}) for tool in TOOLS if tool["name"] == name)
    answer = made(schema, f"{name} {hashlib.sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()[:6]}")
    return {"content": [{"type": "text", "text": json.dumps(answer)}], "structuredContent": answer}


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            given = result(message["method"], message.get("params") or {})
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": given}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
