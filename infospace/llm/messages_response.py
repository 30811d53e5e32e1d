"""From the body of Anthropic's Messages to a reply; whatever is wrong with it is one sentence.

The shape is that of https://docs.anthropic.com/en/api/messages and its streaming.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from infospace.core.errors import BadResponse, InvalidJSON, RequestRejected, Unreachable
from infospace.core.json_types import JSON
from infospace.core.plural import pluralize
from infospace.data.json_text import dump, read_json
from infospace.llm.model import Reply, Request, estimate
from infospace.llm.response import MAX_CHARACTERS, count_of, error_text

_TOKENS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def read_message(value: JSON, request: Request, where: str, secrets: Sequence[str] = ()) -> Reply:
    """Return the reply in a message. Raises BadResponse, RequestRejected."""
    if isinstance(value, Mapping) and value.get("type") == "error":
        raise RequestRejected(f"{where} does not take the request: {error_text(value, secrets)}")
    blocks = value.get("content") if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(blocks, list):
        raise BadResponse(f"{where} answered without any content", hint="is it the URL of the Messages API?")
    reason = value.get("stop_reason")
    if reason in ("max_tokens", "model_context_window_exceeded"):
        most = pluralize(request.max_tokens, "token") if request.max_tokens else "what the model allows"
        raise BadResponse(
            f"the answer was cut off at {most}", hint="a larger `max_tokens`, less to read, or a shorter answer"
        )
    if reason == "refusal":
        raise BadResponse("the model refused", hint="ask for something else, or another model")
    text = "".join(map(_text, blocks))
    if not text.strip():
        raise BadResponse(f"{where} answered with nothing", hint="ask again; a model that only thinks has no answer")
    usage = value.get("usage")
    counted = sum(count_of(usage.get(name)) for name in _TOKENS) if isinstance(usage, Mapping) else 0
    return Reply(text, counted or estimate(request.messages, text))


def _text(block: JSON) -> str:
    """A text as it is, the arguments of the tool that asks for the answer as JSON, no thoughts."""
    if not isinstance(block, Mapping):
        return ""
    if block.get("type") == "tool_use":
        return dump(block.get("input"))
    text = block.get("text") if block.get("type") == "text" else ""
    return text if isinstance(text, str) else ""


@dataclass(slots=True)
class StreamedMessage:
    """A message as its events come in."""

    url: str
    stop_reason: str | None = None
    _blocks: dict[int, dict[str, Any]] = field(default_factory=dict)
    _usage: dict[str, Any] = field(default_factory=dict)
    _length: int = 0

    def add(self, event: Mapping[str, Any]) -> str:
        """Take an event; return what it adds to the text. Raises Unreachable for an error in the stream."""
        match event.get("type"):
            case "message_start":
                self._usage |= event["message"].get("usage") or {}
            case "content_block_start":
                block = event["content_block"]
                self._blocks[event["index"]] = {"type": block.get("type"), "text": block.get("text") or ""}
            case "content_block_delta":
                return self._delta(event["index"], event["delta"])
            case "message_delta":
                self.stop_reason = event["delta"].get("stop_reason") or self.stop_reason
                self._usage |= {key: value for key, value in (event.get("usage") or {}).items() if value is not None}
            case "error":
                raise Unreachable(f"{self.url} broke off: {error_text(event)}")
        return ""

    def _delta(self, index: int, delta: Mapping[str, Any]) -> str:
        text = delta.get("text") or delta.get("partial_json") or ""
        self._length += len(text)
        if self._length > MAX_CHARACTERS:
            raise BadResponse(f"{self.url} answers without an end", hint="ask another model")
        self._blocks.setdefault(index, {"type": "text", "text": ""})["text"] += text
        return str(text)

    def to_json(self) -> JSON:
        """Return the message as one that came whole."""
        blocks: list[JSON] = []
        for _, block in sorted(self._blocks.items()):
            if block["type"] != "tool_use":
                blocks.append({"type": block["type"], "text": block["text"]})
                continue
            try:
                value = read_json(block["text"] or "{}", what="the answer")
            except InvalidJSON as error:
                raise BadResponse(error.message, hint="ask again") from error
            blocks.append({"type": "tool_use", "input": value})
        return {"type": "message", "content": blocks, "stop_reason": self.stop_reason, "usage": self._usage}
