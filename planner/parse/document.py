"""From JSON to a plan: the words of the document. All problems are collected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infospace.core.ids import Kind
from infospace.core.json_types import JSON
from infospace.data.misspelling import closest_spelling
from infospace.data.paths import a_kind, nearest
from infospace.schema.shapes import TYPES
from infospace.schema.value_text import shown
from planner.language.plan import Budget, Input, Plan
from planner.language.problems import Problems, join, listed
from planner.language.references import NAME
from planner.parse.schemas import KEYWORDS, check_schema, first_violation
from planner.parse.steps import parse_block

HEAD = ("goal", "inputs", "steps", "plan", "result", "budget")
BUDGET = ("steps", "depth", "seconds", "llm_calls", "tool_calls", "tokens", "items", "characters")


def parse_plan(document: JSON, problems: Problems) -> Plan:
    """Read a whole document: an object with `steps` (or `plan`), or a bare array of steps."""
    if isinstance(document, list):
        return Plan(parse_block(document, "", problems), document=document)
    if not isinstance(document, dict):
        problems.error(
            "not-a-plan",
            "",
            "a plan is an object with `steps`, or a list of steps",
            '{"steps": [{"type": "say", "value": "hello"}]}',
        )
        return Plan((), document=document)
    head = parse_head(document, problems)
    key = "plan" if "plan" in document and "steps" not in document else "steps"
    if "plan" in document and "steps" in document:
        problems.error("unknown-key", "/plan", "a plan has `steps` or `plan`, not both", "leave `plan` out")
    if key not in document and not any(nearest(name, HEAD) in ("steps", "plan") for name in document):
        problems.error("not-a-plan", "", "the plan has no `steps`", 'add "steps": [ … ]')
    elif key not in document:
        return head
    elif not isinstance(document[key], list):
        steps = document[key]
        inner = list(steps.values()) if isinstance(steps, dict) and "type" not in steps else [steps]
        fix = [{"op": "replace", "path": f"/{key}", "value": inner}] if isinstance(steps, dict) else None
        problems.error("not-a-plan", f"/{key}", f"`{key}` is a list of steps, not {a_kind(steps)}", None, fix)
    else:
        block = parse_block(document[key], f"/{key}", problems)
        return Plan(block, head.goal, head.inputs, head.result, head.budget, document, f"/{key}")
    return head


def parse_head(document: Mapping[str, Any], problems: Problems, at: str = "") -> Plan:
    """Read what stands beside the steps; `at` is the pointer of the document."""
    for key in document:
        if key not in HEAD:
            suggestion = closest_spelling(key, [name for name in HEAD if name not in document])
            near = suggestion or nearest(key, HEAD)
            fix = [{"op": "move", "from": join(at, key), "path": join(at, suggestion)}] if suggestion else None
            if document[key] in (None, "", [], {}):
                fix = [{"op": "remove", "path": join(at, key)}]
            problems.error(
                "unknown-key",
                join(at, key),
                f"a plan has no key {key!r}",
                f"did you mean {near!r}?" if near else f"it has {listed(HEAD)}",
                fix,
            )
    goal = document.get("goal", "")
    if not isinstance(goal, str):
        problems.error("bad-value", join(at, "goal"), f"`goal` is text, not {a_kind(goal)}")
        goal = ""
    return Plan(
        (),
        goal,
        _inputs(document.get("inputs", {}), join(at, "inputs"), problems),
        document.get("result"),
        _budget(document.get("budget", {}), join(at, "budget"), problems),
        dict(document),
    )


def _inputs(declared: JSON, at: str, problems: Problems) -> dict[str, Input]:
    if not isinstance(declared, dict):
        problems.error("bad-value", at, f"`inputs` is an object of names, not {a_kind(declared)}")
        return {}
    results = {}
    for name, spec in declared.items():
        pointer = join(at, name)
        if not NAME.fullmatch(name):
            problems.error(
                "bad-input",
                pointer,
                f"{name!r} is not a variable's name",
                "letters, digits and _, not a digit first",
            )
            continue
        if not isinstance(spec, dict):
            message = f'an input is a JSON Schema or {{"kind": …}}, not {a_kind(spec)}'
            suggestion = {"kind": spec} if spec in [str(kind) for kind in Kind] else {"type": spec}
            is_known = isinstance(spec, str) and (spec in TYPES or "kind" in suggestion)
            fix = [{"op": "replace", "path": pointer, "value": suggestion}] if is_known else None
            problems.error("bad-input", pointer, message, '{"type": "string"}', fix)
            results[name] = _unknown(name, pointer)
            continue
        results[name] = _input(name, spec, pointer, problems) or _unknown(name, pointer)
    return results


def _unknown(name: str, pointer: str) -> Input:
    """Return an input of which nothing can be said, so that what reads it is no second mistake."""
    return Input(name, pointer, {}, None, None, required=False)


def _input(name: str, spec: Mapping[str, Any], pointer: str, problems: Problems) -> Input | None:
    if "kind" in spec:
        table = spec["kind"] == Kind.COLLECTION
        extra = [key for key in spec if key not in ("kind", "default", "description", *(("items",) if table else ()))]
        if spec["kind"] not in [str(kind) for kind in Kind]:
            problems.error(
                "bad-input",
                join(pointer, "kind"),
                f"{spec['kind']!r} is not a kind",
                "Note, Collection or Relation",
            )
            return None
        for key in extra:
            problems.error(
                "bad-input",
                join(pointer, key),
                f"an input with a `kind` has no {key!r}",
                "it may have `default`, and a Collection `items`, the JSON Schema of a row",
            )
        items = spec.get("items") if table else None
        if items is not None and not check_schema(items, join(pointer, "items"), problems):
            items = None
        required = "default" not in spec
        return Input(name, pointer, None, spec["kind"], spec.get("default"), required, items)
    if not _constrains_value(spec, pointer, problems):
        return None
    schema = {key: value for key, value in spec.items() if key != "default"}
    if not check_schema(schema, pointer, problems):
        return None
    if "default" in spec:
        fault = first_violation(spec["default"], schema)
        if fault:
            problems.error(
                "bad-input",
                join(pointer, "default"),
                f"the default of {name!r} does not fit its schema: {fault}",
            )
    return Input(name, pointer, schema, None, spec.get("default"), "default" not in spec)


_BESIDE = frozenset({"default", "title", "description", "$comment"})
"""Keywords of a schema that say nothing of what fits it."""


def _constrains_value(spec: Mapping[str, Any], pointer: str, problems: Problems) -> bool:
    """Whether the keys of an input are those of a schema: with others alone, or misspelt ones, any value would fit."""
    unknown = [key for key in spec if key not in KEYWORDS and not key.startswith("x-")]
    misspelt = {
        key: closest_spelling(key, [*(word for word in KEYWORDS if word[0] != "$" and word not in spec), "kind"])
        for key in unknown
    }
    nothing = not any(key in KEYWORDS and key not in _BESIDE for key in spec)
    good = True
    for key in unknown:
        suggestion, fix, inner = misspelt[key], None, spec[key]
        hint = '{"type": "string"} is a text, {"kind": "Collection"} a Collection, and {} any value'
        if key == "schema" and isinstance(inner, dict) and _BESIDE.issuperset(spec.keys() - {key}):
            hint = "the JSON Schema stands there itself"
            fix = [{"op": "replace", "path": pointer, "value": {**inner, **{k: spec[k] for k in spec if k != key}}}]
        elif key == "optional":
            hint = "an input with a `default` is optional"
        elif suggestion is not None:
            hint = f"did you mean {suggestion!r}?"
            fix = [{"op": "move", "from": join(pointer, key), "path": join(pointer, suggestion)}]
        elif not nothing:
            continue
        problems.error("bad-input", join(pointer, key), f"an input has no {key!r}", hint, fix)
        good = False
    return good


def _budget(declared: JSON, at: str, problems: Problems) -> Budget:
    if not isinstance(declared, dict):
        problems.error("bad-value", at, f"`budget` is an object, not {a_kind(declared)}", '{"seconds": 60}')
        return Budget()
    limits: dict[str, Any] = {}
    for key, value in declared.items():
        pointer = join(at, key)
        if key not in BUDGET:
            suggestion = closest_spelling(key, [name for name in BUDGET if name not in declared])
            near = suggestion or nearest(key, BUDGET)
            problems.error(
                "unknown-key",
                pointer,
                f"a budget has no key {key!r}",
                f"did you mean {near!r}?" if near else f"it has {listed(BUDGET)}",
                [{"op": "move", "from": pointer, "path": join(at, suggestion)}] if suggestion else None,
            )
        elif isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            problems.error("bad-value", pointer, f"the budget of {key} is a number from 0, not {shown(value)}")
        elif key != "seconds" and value != int(value):
            problems.error("bad-value", pointer, f"the budget of {key} is a whole number, not {shown(value)}")
        else:
            limits[key] = value if key == "seconds" else int(value)
    return Budget(**limits)
