"""A server that asks back while its tools are called, over lines: `book` a form, `visit` an address, `consult` a model.

`where` asks for roots, `slow` tells how far it is and logs. The file that is named counts the calls and keeps what was
answered: a line each.
"""

from __future__ import annotations

import json
import sys
from typing import Any

FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name"},
        "seats": {"type": "integer", "minimum": 1, "maximum": 9, "default": 2},
        "class": {"type": "string", "enum": ["first", "second"], "default": "second"},
    },
    "required": ["name", "seats"],
}
CALM = {"readOnlyHint": False, "destructiveHint": False}
NAMES = ("book", "twice", "visit", "broken", "consult", "where", "slow")


class AskingServer:
    """Answers one message after the other, and reads further ones while it waits for an answer."""

    def __init__(self, counted: str) -> None:
        self._counted = counted
        self._number = 0

    def note(self, line: str) -> None:
        """Keep a line."""
        with open(self._counted, "a", encoding="utf-8") as file:  # noqa: PTH123 - isolated, and small
            file.write(f"{line}\n")

    def send(self, message: dict[str, Any]) -> None:
        """Say something."""
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Ask the client something; return its whole answer."""
        self._number += 1
        own = f"mine-{self._number}"
        self.send({"id": own, "method": method, "params": params})
        while True:
            line = sys.stdin.readline()
            if not line:
                sys.exit(0)
            message = json.loads(line)
            if message.get("id") == own and "method" not in message:
                self.note(f"heard {'result' if 'result' in message else 'error'}")
                return message
            self.answer(message)

    def answer(self, message: dict[str, Any]) -> None:
        """Answer a request."""
        method = message.get("method")
        if "id" not in message or method is None:
            return None
        found: dict[str, Any] = {}
        if method == "initialize":
            self.note(f"capabilities {json.dumps(message['params']['capabilities'], sort_keys=True)}")
            found = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "logging": {}}}
            found["serverInfo"] = {"name": "asking", "version": "1"}
        elif method == "tools/list":
            found["tools"] = [{"name": name, "inputSchema": {"type": "object"}, "annotations": CALM} for name in NAMES]
        elif method == "tools/call":
            name = message["params"]["name"]
            self.note(f"called {name}")
            said = getattr(self, name)(message["params"])
            self.note(f"answered {name}")
            found["content"] = [{"type": "text", "text": said if isinstance(said, str) else json.dumps(said)}]
        else:
            return self.send({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
        return self.send({"id": message["id"], "result": found})

    def book(self, _params: dict[str, Any]) -> Any:
        """Ask a form."""
        form = {"mode": "form", "message": "For whom?", "requestedSchema": FORM}
        return self.ask("elicitation/create", form).get("result")

    def twice(self, _params: dict[str, Any]) -> Any:
        """Ask the same form twice."""
        return [self.book({}), self.book({})]

    def visit(self, _params: dict[str, Any]) -> Any:
        """Ask to go to an address."""
        asked = {"mode": "url", "message": "Pay first", "url": "http://pay.example/7", "elicitationId": "7"}
        return self.ask("elicitation/create", asked).get("result")

    def broken(self, _params: dict[str, Any]) -> Any:
        """Ask a form that nobody can answer."""
        form = {"message": "?", "requestedSchema": {"type": "object", "properties": {"a": {"type": "nonsense"}}}}
        return self.ask("elicitation/create", form)

    def consult(self, params: dict[str, Any]) -> Any:
        """Have a language model answer."""
        content = params.get("arguments", {}).get("content", {"type": "text", "text": "What is tea?"})
        asked = {"messages": [{"role": "user", "content": content}], "maxTokens": 50, "systemPrompt": "Be short."}
        return self.ask("sampling/createMessage", asked)

    def where(self, _params: dict[str, Any]) -> Any:
        """Ask for the roots."""
        return self.ask("roots/list", {})

    def slow(self, params: dict[str, Any]) -> str:
        """Tell how far it is."""
        token = params.get("_meta", {}).get("progressToken")
        for done in (1, 2):
            told = {"progressToken": token, "progress": done, "total": 2, "message": f"part {done}"}
            self.send({"method": "notifications/progress", "params": told})
        logged = {"level": "warning", "logger": "slow", "data": "the disk is nearly full"}
        self.send({"method": "notifications/message", "params": logged})
        return "done"


if __name__ == "__main__":
    server = AskingServer(sys.argv[1])
    for line in sys.stdin:
        server.answer(json.loads(line))
