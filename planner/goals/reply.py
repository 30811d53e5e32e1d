"""The plan in what a language model answers: bare, fenced, after thoughts, as the arguments of a tool call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder

from infospace.core.errors import InvalidJSON
from infospace.core.json_types import JSON
from infospace.data.json_text import read_json

THOUGHTS = re.compile(r"<(think|thinking|reasoning|scratchpad)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
OPENING = re.compile(r"[\[{]")
_WRAPPERS = ("plan", "arguments", "input", "parameters", "function", "document", "value", "answer", "content")
"""Keys under which a tool call, or an answer in a frame, holds the plan."""
_DECODER = JSONDecoder()
DEPTH = 8
"""Frames around a plan that are opened."""
CANDIDATES = 200
"""Places of an answer where JSON may begin that are tried."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What was read: a document, or why there is none in one sentence."""

    document: JSON = None
    problem: str | None = None


def read_reply(text: str) -> Reply:
    """Return the plan in an answer. Of several the last is taken: a model that corrects itself writes it last."""
    without = THOUGHTS.sub("", text).strip()
    try:
        whole = read_json(without, what="the answer")
    except InvalidJSON as error:
        refusal = error
    else:
        document = plan_in(whole)
        return (
            Reply(problem="the answer is JSON without `steps`, so it is not a plan")
            if document is None
            else Reply(document)
        )
    values, is_whole = _values(without)
    documents = [
        document
        for value in values
        if not _is_step(value) and (is_whole or isinstance(value, Mapping)) and (document := plan_in(value)) is not None
    ]
    if documents:
        return Reply(documents[-1])
    if is_whole and any(_is_step(value) for value in values):
        return Reply(_as_document(values))
    if not without:
        return Reply(problem="the answer is empty")
    if OPENING.search(without) is None:
        return Reply(problem=f"the answer has no JSON; it begins {without[:80]!r}")
    return Reply(problem=refusal.message)


def _values(text: str) -> tuple[list[JSON], bool]:
    """Return the JSON objects and lists that stand in a text by themselves, in order; of one that is cut off nothing.

    Also whether none is broken: what stands inside a broken document is a part of it, and no plan by itself.
    """
    values: list[JSON] = []
    end, is_whole = 0, True
    for _ in range(CANDIDATES):
        match = OPENING.search(text, end)
        if match is None:
            return values, is_whole
        start = match.start()
        try:
            _, end = _DECODER.raw_decode(text, start)
            values.append(read_json(text[start:end]))
        except JSONDecodeError as error:
            is_whole = False
            if error.pos >= len(text):
                return values, is_whole
            end = start + 1
        except (InvalidJSON, RecursionError):
            end, is_whole = max(end, start + 1), False
    return values, False


def plan_in(value: JSON, depth: int = 0) -> JSON:
    """Return the plan that a value is, or holds; None where there is none."""
    if isinstance(value, list):
        return {"steps": value} if _are_steps(value) else _in_calls(value, depth)
    if not isinstance(value, Mapping):
        return _in_text(value, depth) if isinstance(value, str) else None
    if isinstance(value.get("steps"), list):
        return value
    if _are_steps(value.get("plan")):
        return value
    if depth < DEPTH:
        for key in _WRAPPERS:
            if key in value and (inner := plan_in(value[key], depth + 1)) is not None:
                return inner
        calls = value.get("tool_calls")
        if isinstance(calls, list):
            return _in_calls(calls, depth)
    return {"steps": [value]} if _is_step(value) else None


def _in_calls(values: list[JSON], depth: int) -> JSON:
    results = [plan_in(value, depth + 1) for value in values if isinstance(value, Mapping)] if depth < DEPTH else []
    plans = [plan for plan in results if plan is not None]
    return plans[-1] if plans else None


def _in_text(text: str, depth: int) -> JSON:
    """Arguments of tool calls are JSON in a text."""
    if depth >= DEPTH or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return plan_in(read_json(text), depth + 1)
    except InvalidJSON:
        return None


def _as_document(values: list[JSON]) -> JSON:
    """A step a line, perhaps after a head."""
    heads = [value for value in values if isinstance(value, Mapping) and not _is_step(value)]
    head = next((value for value in heads if {"goal", "inputs", "result"} & value.keys()), {})
    return {**head, "steps": [value for value in values if _is_step(value)]}


def _are_steps(value: JSON) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_step(step) for step in value)


def _is_step(value: JSON) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("type"), str) and value["type"] not in _SCHEMA_TYPES


_SCHEMA_TYPES = ("object", "array", "string", "number", "integer", "boolean", "null", "tool_use", "function", "text")
