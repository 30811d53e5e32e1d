"""A server of the Model Context Protocol over standard input and output that offers the tools of the corpus."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from tools import TOOLS, listed


def called(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call a tool: its answer as text, and structured where it is an object."""
    answer = TOOLS[name][0](**arguments)
    text = answer if isinstance(answer, str) else json.dumps(answer)
    given: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
    return {**given, "structuredContent": answer} if isinstance(answer, dict) else given


def result(method: str, given: dict[str, Any]) -> dict[str, Any]:
    """Answer one request."""
    if method == "initialize":
        known = {"name": "api", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": known}
    if method == "tools/list":
        return {"tools": list(listed())}
    return called(given["name"], given.get("arguments") or {}) if method == "tools/call" else {}


def main() -> None:
    """Answer what stands on standard input, line by line."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
            try:
                answer["result"] = result(message["method"], message.get("params") or {})
            except (KeyError, TypeError, ValueError, StopIteration) as error:
                answer["error"] = {"code": -32602, "message": f"{type(error).__name__}: {error}"}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
