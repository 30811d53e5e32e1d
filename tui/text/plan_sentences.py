"""A plan in sentences, a numbered one for each step: what a person reads before it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from infospace.core.plural import pluralize
from infospace.data.json_text import dump
from infospace.data.result import truncate

LONG = 140
"""Characters of a value in a sentence."""

_Sentence = Callable[[Mapping[str, Any]], str]


def plan_sentences(document: Any) -> list[str]:
    """Return the steps of a plan as lines, nested ones indented."""
    steps = document.get("steps", document.get("plan", [])) if isinstance(document, Mapping) else document
    return list(_lines(steps if isinstance(steps, list) else [], ""))


def _lines(steps: Sequence[Any], prefix: str) -> Iterator[str]:
    for number, step in enumerate(steps, 1):
        if not isinstance(step, Mapping):
            continue
        position = f"{prefix}{number}"
        yield f"{'   ' * position.count('.')}{position}. {_sentence(step)}"
        for inner in _nested(step):
            yield from _lines(inner, f"{position}.")


def _nested(step: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
    for key in ("then", "else", "body", "do"):
        if isinstance(step.get(key), list):
            yield step[key]
    for branch in step.get("branches", ()) if isinstance(step.get("branches"), list) else ():
        if isinstance(branch, list):
            yield branch


def _sentence(step: Mapping[str, Any]) -> str:
    type_ = str(step.get("type", ""))
    message = _SENTENCES.get(type_, _generic)(step)
    out, name = step.get("out"), step.get("name")
    binds = f", as {out}" if isinstance(out, str) else ""
    keeps = f", kept as {dump(name)}" if isinstance(name, str) and type_ != "persist" else ""
    return truncate(f"{message}{binds}{keeps}", 400)


def _generic(step: Mapping[str, Any]) -> str:
    """Any other type: its name and what it is given."""
    common = ("type", "out", "name", "replace", "on_fail", "retry", "timeout_s", "expect", "id", *_BLOCKS)
    arguments = step.get("arguments") if isinstance(step.get("arguments"), Mapping) else None
    call_arguments = (
        arguments if arguments is not None else {key: value for key, value in step.items() if key not in common}
    )
    verb = (
        "call" if "/" in str(step.get("type", "")) else "run" if str(step.get("type", "")).startswith("plan:") else "do"
    )
    message = ", ".join(f"{key} {_value(value)}" for key, value in (call_arguments or {}).items())
    return f"{verb} {step.get('type')}" + (f" with {message}" if message else "")


def _value(value: Any) -> str:
    return value if isinstance(value, str) and value.startswith("$") else truncate(dump(value), LONG)


def _searched(step: Mapping[str, Any]) -> str:
    limit = step.get("limit", 5)
    most = pluralize(limit, "note") if isinstance(limit, int) else f"{limit} notes"
    number = "all notes" if limit == "all" or "query" not in step else f"up to {most}"
    about = f" about {_value(step['query'])}" if "query" in step else ""
    where = f" where {step['where']}" if "where" in step else ""
    within = f" among {step['within']}" if "within" in step else ""
    return f"find {number}{about}{where}{within}"


def _of(verb: str, *keys: str) -> _Sentence:
    """A sentence of a verb over `target` with some of its arguments named."""

    def sentence(step: Mapping[str, Any]) -> str:
        message = "".join(f", {key} {_value(step[key])}" for key in keys if key in step)
        return f"{verb} {_value(step.get('target', step.get('value', '')))}{message}"

    return sentence


_BLOCKS = ("then", "else", "body", "do", "branches")
_SENTENCES: Mapping[str, _Sentence] = {
    "discover-notes": _searched,
    "search-within-collection": lambda step: f"search {step.get('target')} for {_value(step.get('query', ''))}",
    "create-note": lambda step: f"write a note: {_value(step.get('value', ''))}",
    "say": lambda step: f"tell you: {_value(step.get('value', ''))}",
    "ask": lambda step: f"ask you: {_value(step.get('value', ''))}",
    "persist": lambda step: f"keep {step.get('target')}" + (f" as {dump(step['name'])}" if "name" in step else ""),
    "filter-structured": lambda step: f"keep the items of {_value(step.get('target'))} where {step.get('where')}",
    "compute": lambda step: f"compute {step.get('expression')}",
    "query": lambda step: f"select: {step.get('sql')}",
    "load": _of("take", "slice"),
    "sort": _of("sort", "by", "order"),
    "group": _of("group", "by", "aggregates"),
    "project": _of("take fields of", "fields", "keep"),
    "pluck": _of("take a field of each of", "field"),
    "join": _of("join", "value", "on", "left_key", "right_key"),
    "head": _of("take the first of", "count"),
    "size": _of("count"),
    "synthesize": _of("let the model sum up", "focus"),
    "extract": _of("let the model extract from", "instruction"),
    "generate-note": lambda step: f"let the model write: {_value(step.get('prompt', ''))}",
    "filter-semantic": _of("let the model choose from", "predicate"),
    "assess": _of("let the model judge", "predicate"),
    "remove": _of("remove", "value"),
    "if": lambda step: f"if {_condition(step.get('condition'))}:",
    "while": lambda step: f"while {_condition(step.get('condition'))}:",
    "for-each": lambda step: f"for each {step.get('as', '$item')} of {_value(step.get('target'))}:",
    "map": lambda step: f"for each item of {_value(step.get('target'))}: {_operation(step.get('operation'))}",
    "parallel": lambda _step: "side by side:",
    "stop": lambda step: f"stop with {_value(step.get('value'))}" if "value" in step else "stop",
}


def _condition(condition: Any) -> str:
    if isinstance(condition, str):
        return condition
    if not isinstance(condition, Mapping):
        return _value(condition)
    rest = " ".join(_value(value) for key, value in condition.items() if key not in ("type", "target"))
    return " ".join(
        filter(None, [_value(condition.get("target", "")).strip('"'), str(condition.get("type", "")), rest])
    )


def _operation(operation: Any) -> str:
    return _generic(operation) if isinstance(operation, Mapping) else str(operation)
