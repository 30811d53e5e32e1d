"""The steps and the shapes of steps of which the plans at boundaries are made."""

from __future__ import annotations

from typing import Any

from plangen.mistakes import note, when

Pair = tuple[Any, Any]
"""A plan in which nothing is wrong, and one beside it in which something is."""

LIST = {"type": "create-collection", "value": [1, 2], "out": "$c"}
TEST = {"type": "empty", "target": "$c"}
MAYBE = when(TEST, note({"n": 1}))
ELSE = {"type": "say", "value": "no"}
LISTED = {"type": "sky/open", "arguments": {}, "out": "$w"}
TOLD = {"type": "say", "value": "${x}"}


def cond(type_: str, target: Any, **fields: Any) -> dict[str, Any]:
    return {"type": type_, "target": target, **fields}


def asked(type_: str, target: Any, **fields: Any) -> dict[str, Any]:
    return when(cond(type_, target, **fields), ELSE)


def of(word: str, *parts: Any) -> dict[str, Any]:
    return {"type": word, "of": parts[0] if word == "not" else list(parts)}


def guarded(condition: Any, then: Any = None, otherwise: Any = None) -> list[Any]:
    """What may be unbound, and a reader of it in one branch or the other of a condition."""
    branches = {"then": [then or ELSE], **({"else": [otherwise]} if otherwise else {})}
    return [LIST, MAYBE, {"type": "if", "condition": condition, **branches}]


def each(*do: Any, target: Any = "$c", **fields: Any) -> dict[str, Any]:
    return {"type": "for-each", "target": target, "do": list(do), **fields}


def beside(*branches: list[Any]) -> dict[str, Any]:
    return {"type": "parallel", "branches": list(branches)}


def loop(condition: Any, *body: Any) -> dict[str, Any]:
    return {"type": "while", "condition": condition, "body": list(body)}


def mapped(operation: Any, target: str = "$c", **fields: Any) -> dict[str, Any]:
    return {"type": "map", "target": target, "operation": operation, "out": "$o", **fields}


def call(**arguments: Any) -> dict[str, Any]:
    return {"type": "sky/weather", "arguments": arguments, "out": "$w"}


def saved(**arguments: Any) -> dict[str, Any]:
    return {"type": "plan:saved", "arguments": arguments, "out": "$p"}


def size(target: Any, out: str = "$n") -> dict[str, Any]:
    return {"type": "size", "target": target, "out": out}


def gone(target: str) -> dict[str, Any]:
    return {"type": "remove", "target": target}


def load(target: str, **fields: Any) -> dict[str, Any]:
    return {"type": "load", "target": target, "out": "$l", **fields}


def update(target: str, value: Any) -> dict[str, Any]:
    return {"type": "update-note", "target": target, "value": value}


def shown(text: str) -> dict[str, Any]:
    return {"type": "say", "value": text}


def pages(**fields: Any) -> dict[str, Any]:
    return {"type": "pages", "tool": "sky/list", "arguments": {"cursor": "$page"}, "out": "$o", **fields}


BOUND, FREE = cond("bound", "$x"), cond("notbound", "$x")
ONE = cond("equals", "$x.n", value=1)


HEAD = {"type": "head", "target": [1, 2], "count": 1, "out": "$o"}
SAY = {"type": "say", "value": "a"}
ROWS = {"type": "create-collection", "value": [{"price": 2, "n": 3}], "out": "$c"}


def without(step: dict[str, Any], *keys: str, **fields: Any) -> dict[str, Any]:
    return {**{key: value for key, value in step.items() if key not in keys}, **fields}


def tool(**fields: Any) -> list[Any]:
    return [{"type": "sky/weather", "out": "$w", **fields}]
