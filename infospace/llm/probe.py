"""An endpoint tried with three short questions: does it answer, does it keep to a schema, does it stream, how fast."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from infospace.core.errors import InvalidJSON, LanguageModelError
from infospace.data.json_text import read_json
from infospace.llm.model import LanguageModel, Message, Request

QUESTION: Message = {"role": "user", "content": 'Answer with the JSON object {"answer": "yes"} and nothing else.'}
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What was found: `seconds` of the first answer; `structured` and `streams` as far as they were seen."""

    seconds: float
    structured: bool
    streams: bool
    first_text_s: float


async def probe(model: LanguageModel) -> ProbeResult:
    """Ask three times. Raises LanguageModelError where the first question is not answered."""
    start = time.perf_counter()
    await model.complete(Request((QUESTION,)))
    seconds = time.perf_counter() - start
    structured = await _is_structured(model)
    pieces: list[float] = []
    start = time.perf_counter()
    try:
        await model.complete(Request((QUESTION,)), on_text=lambda _text: pieces.append(time.perf_counter() - start))
    except LanguageModelError:
        pieces.clear()
    return ProbeResult(seconds, structured, len(pieces) > 1, pieces[0] if pieces else 0.0)


async def _is_structured(model: LanguageModel) -> bool:
    try:
        reply = await model.complete(Request((QUESTION,), SCHEMA))
        value = read_json(reply.text)
    except (LanguageModelError, InvalidJSON):
        return False
    return isinstance(value, Mapping) and isinstance(value.get("answer"), str)
