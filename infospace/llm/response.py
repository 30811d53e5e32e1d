"""From the body of a chat completion to a reply; whatever is wrong with it is one sentence.

The shape is that of https://platform.openai.com/docs/api-reference/chat/object, of which servers leave much out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from infospace.core.errors import BadResponse, InvalidJSON, RequestRejected
from infospace.core.json_types import JSON
from infospace.core.plural import pluralize
from infospace.core.redaction import hidden
from infospace.data.json_text import read_json
from infospace.llm.model import Reply, Request, estimate

MAX_BYTES = 64 * 2**20
"""The largest body that is read."""
MAX_CHARACTERS = 16 * 2**20
"""The longest answer that is taken of a stream."""

_REASONING = re.compile(r"\s*<think>.*?</think>\s*", re.DOTALL)
"""What some servers leave in front of an answer, and is not part of it."""


def read_reply(body: bytes, request: Request, where: str, secrets: Sequence[str] = ()) -> Reply:
    """Read a response's body; `where` names the endpoint, `secrets` stand in no sentence.

    Raises BadResponse, RequestRejected.
    """
    return read_completion(read_body(body, where, secrets), request, where, secrets)


def read_body(body: bytes, where: str, secrets: Sequence[str] = ()) -> JSON:
    """Read a body as JSON. Raises BadResponse where it is too large, or none."""
    if len(body) > MAX_BYTES:
        message = f"{where} answers with more than {MAX_BYTES // 2**20} MB, which are not taken"
        raise BadResponse(message, hint="is it the URL of a chat endpoint?")
    try:
        return read_json(body, what=f"the answer of {where}", max_bytes=MAX_BYTES)
    except InvalidJSON as error:
        raise BadResponse(
            hidden(error.message, secrets), hint="is it the URL of a chat endpoint, and was nothing cut off?"
        ) from None


def read_completion(value: JSON, request: Request, where: str, secrets: Sequence[str] = ()) -> Reply:
    """Return the reply in a chat completion. Raises BadResponse, RequestRejected."""
    if isinstance(value, Mapping) and value.get("error") and not value.get("choices"):
        raise RequestRejected(f"{where} does not take the request: {error_text(value, secrets)}")
    choices = value.get("choices") if isinstance(value, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(value, Mapping) or not isinstance(choice, Mapping):
        raise BadResponse(f"{where} answered without any choice", hint="is it the URL of a chat endpoint?")
    text = _text(choice, request, where)
    return Reply(text, _tokens(value.get("usage")) or estimate(request.messages, text))


def _text(choice: Mapping[str, Any], request: Request, where: str) -> str:
    message = choice.get("message")
    message = message if isinstance(message, Mapping) else {}
    if refusal := message.get("refusal"):
        raise BadResponse(f"the model refused: {str(refusal)[:200]}", hint="ask for something else, or another model")
    reason = choice.get("finish_reason")
    if reason == "length":
        most = pluralize(request.max_tokens, "token") if request.max_tokens else "what its endpoint allows"
        raise BadResponse(
            f"the answer was cut off at {most}", hint="a larger `max_tokens`, less to read, or a shorter answer"
        )
    if reason == "content_filter":
        raise BadResponse(f"the content filter of {where} held the answer back", hint="ask in other words")
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        content = "".join(part for part in parts if isinstance(part, str))
    text = _REASONING.sub("", content, count=1) if isinstance(content, str) and "<think>" in content[:200] else content
    if not isinstance(text, str) or not text.strip():
        raise BadResponse(f"{where} answered with nothing", hint="ask again; a model that only thinks has no answer")
    return text


def _tokens(usage: JSON) -> int:
    """Return the tokens that an endpoint counted, 0 where it did not, or counted what cannot be."""
    if not isinstance(usage, Mapping):
        return 0
    total = count_of(usage.get("total_tokens"))
    return total or count_of(usage.get("prompt_tokens")) + count_of(usage.get("completion_tokens"))


def count_of(value: JSON) -> int:
    """Return a number of tokens, 0 for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def error_text(body: object, secrets: Sequence[str] = ()) -> str:
    """Return what an endpoint says is wrong, in at most 200 characters of one line, without what is secret."""
    inner = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(inner, Mapping):
        inner = inner.get("message") or inner.get("detail") or inner
    return hidden(" ".join(str(inner or "it does not say why").split()), secrets)[:200]
