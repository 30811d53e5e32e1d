"""From JSON to a plan: the words of the document and of each step. All problems are collected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infospace.ids import Kind
from infospace.jsonvalue import JSON
from infospace.paths import nearest
from planner.forms import COMMON, FORMS, LATER, FormReader
from planner.plan import Block, Budget, Call, Input, Plan, Step
from planner.problems import Problems, join, listed
from planner.references import NAME

HEAD = ("goal", "inputs", "steps", "plan", "result", "budget")
BUDGET = ("steps", "depth", "seconds", "llm_calls", "tool_calls", "tokens")
LATER_FIELDS = ("retry", "timeout_s")
"""Fields of a step that this version knows and does not obey, and so refuses."""


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
    if key not in document:
        problems.error("not-a-plan", "", "the plan has no `steps`", 'add "steps": [ … ]')
    elif not isinstance(document[key], list):
        problems.error("not-a-plan", f"/{key}", f"`{key}` is a list of steps, not {_kind(document[key])}")
    else:
        block = parse_block(document[key], f"/{key}", problems)
        return Plan(block, head.goal, head.inputs, head.result, head.budget, document, f"/{key}")
    return head


def parse_head(document: Mapping[str, Any], problems: Problems) -> Plan:
    """Read what stands beside the steps."""
    for key in document:
        if key not in HEAD:
            near = nearest(key, HEAD)
            fix = (
                [{"op": "move", "from": join("", key), "path": join("", near)}]
                if near and near not in document
                else None
            )
            problems.error(
                "unknown-key",
                join("", key),
                f"a plan has no key {key!r}",
                f"did you mean {near!r}?" if near else f"it has {listed(HEAD)}",
                fix,
            )
    goal = document.get("goal", "")
    if not isinstance(goal, str):
        problems.error("bad-value", "/goal", f"`goal` is text, not {_kind(goal)}")
        goal = ""
    return Plan(
        (),
        goal,
        _inputs(document.get("inputs", {}), problems),
        document.get("result"),
        _budget(document.get("budget", {}), problems),
        dict(document),
    )


def _inputs(declared: JSON, problems: Problems) -> dict[str, Input]:
    if not isinstance(declared, dict):
        problems.error("bad-value", "/inputs", f"`inputs` is an object of names, not {_kind(declared)}")
        return {}
    found = {}
    for name, spec in declared.items():
        pointer = join("/inputs", name)
        if not NAME.fullmatch(name):
            problems.error(
                "bad-input",
                pointer,
                f"{name!r} is not a variable's name",
                "letters, digits and _, not a digit first",
            )
            continue
        if not isinstance(spec, dict):
            problems.error("bad-input", pointer, f'an input is a JSON Schema or {{"kind": …}}, not {_kind(spec)}')
            continue
        entry = _input(name, spec, pointer, problems)
        if entry is not None:
            found[name] = entry
    return found


def _input(name: str, spec: Mapping[str, Any], pointer: str, problems: Problems) -> Input | None:
    if "kind" in spec:
        extra = [key for key in spec if key not in ("kind", "default", "description")]
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
                "it may have `default`, an id or a name",
            )
        return Input(name, pointer, None, spec["kind"], spec.get("default"), "default" not in spec)
    schema = {key: value for key, value in spec.items() if key != "default"}
    if not check_schema(schema, pointer, problems):
        return None
    if "default" in spec:
        fault = misfit(spec["default"], schema)
        if fault:
            problems.error(
                "bad-input",
                join(pointer, "default"),
                f"the default of {name!r} does not fit its schema: {fault}",
            )
    return Input(name, pointer, schema, None, spec.get("default"), "default" not in spec)


def check_schema(schema: Any, pointer: str, problems: Problems) -> bool:
    """Whether something is a JSON Schema (2020-12); says where it is not."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        problems.error("bad-schema", join(pointer, *error.absolute_path), f"this is not JSON Schema: {error.message}")
        return False
    return True


def misfit(value: JSON, schema: Mapping[str, Any]) -> str | None:
    """Say why a value does not fit a JSON Schema, None when it does."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    error = best_match(Draft202012Validator(schema).iter_errors(value))
    if error is None:
        return None
    where = "".join(f"[{part!r}]" for part in error.absolute_path)
    return f"{error.message[:200]}{' at ' + where if where else ''}"


def _budget(declared: JSON, problems: Problems) -> Budget:
    if not isinstance(declared, dict):
        problems.error("bad-value", "/budget", f"`budget` is an object, not {_kind(declared)}", '{"seconds": 60}')
        return Budget()
    limits: dict[str, Any] = {}
    for key, value in declared.items():
        pointer = join("/budget", key)
        if key not in BUDGET:
            near = nearest(key, BUDGET)
            problems.error(
                "unknown-key",
                pointer,
                f"a budget has no key {key!r}",
                f"did you mean {near!r}?" if near else listed(BUDGET),
            )
        elif isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            problems.error("bad-value", pointer, f"the budget of {key} is a number from 0, not {value!r:.40}")
        elif key != "seconds" and value != int(value):
            problems.error("bad-value", pointer, f"the budget of {key} is a whole number, not {value!r}")
        else:
            limits[key] = value if key == "seconds" else int(value)
    return Budget(**limits)


def parse_block(raw: JSON, pointer: str, problems: Problems, first: int = 1) -> Block:
    """Read a list of steps; `first` is the label of the first of them."""
    if not isinstance(raw, list):
        problems.error("bad-value", pointer, f"a list of steps is wanted here, not {_kind(raw)}")
        return ()
    steps = [parse_step(item, join(pointer, index), str(first + index), problems) for index, item in enumerate(raw)]
    seen: dict[str, str] = {}
    for step in steps:
        if step is not None and step.id is not None:
            if step.id in seen:
                problems.error(
                    "duplicate-id",
                    join(step.pointer, "id"),
                    f"another step of this list has the id {step.id!r}",
                    "ids tell steps apart",
                )
            seen[step.id] = step.pointer
    return tuple(step for step in steps if step is not None)


def parse_step(raw: JSON, pointer: str, label: str, problems: Problems) -> Step | None:
    """Read one step."""
    if not isinstance(raw, dict):
        problems.error(
            "not-a-step",
            pointer,
            f"a step is an object with a `type`, not {_kind(raw)}",
            '{"type": "say", "value": "hello"}',
        )
        return None
    type_ = raw.get("type")
    if not isinstance(type_, str) or not type_:
        says = "the step has no `type`" if "type" not in raw else f"`type` is text, not {_kind(type_)}"
        problems.error(
            "missing-type",
            pointer if "type" not in raw else join(pointer, "type"),
            says,
            "the name of a primitive or a control form",
        )
        return None
    fields = _common(raw, pointer, label, problems)
    if type_ in LATER:
        problems.error(
            "unsupported",
            join(pointer, "type"),
            f"`{type_}` belongs to the language, but this version does not run it yet",
            LATER[type_],
        )
        return None
    reader = FORMS.get(type_)
    if reader is None:
        return Step(type=type_, form=Call({key: raw[key] for key in raw if key not in COMMON}), **fields)
    form = FormReader(raw, pointer, problems, parse_block).read(type_, reader)
    return None if form is None else Step(type=type_, form=form, **fields)


def _common(raw: Mapping[str, Any], pointer: str, label: str, problems: Problems) -> dict[str, Any]:
    for key in LATER_FIELDS:
        if key in raw:
            problems.error(
                "unsupported",
                join(pointer, key),
                f"`{key}` belongs to the language, but this version does not obey it yet",
                "leave it out",
            )
    fields: dict[str, Any] = {"pointer": pointer, "label": label}
    for key, kind, word in (
        ("out", str, "text"),
        ("name", str, "text"),
        ("expect", str, "text"),
        ("id", str, "text"),
        ("replace", bool, "true or false"),
    ):
        if key in raw:
            if isinstance(raw[key], kind):
                fields[key] = raw[key]
            else:
                problems.error("bad-value", join(pointer, key), f"`{key}` is {word}, not {_kind(raw[key])}")
    if "out" in fields:
        fields["out"] = variable(fields["out"], join(pointer, "out"), problems)
    if "id" in fields:
        if NAME.fullmatch(fields["id"].replace("-", "_")):
            fields["label"] = fields["id"]
        else:
            problems.error(
                "bad-value",
                join(pointer, "id"),
                f"{fields['id']!r} is not an id",
                "letters, digits, - and _, not a digit first",
            )
    if fields.get("replace") and "name" not in raw:
        problems.error(
            "bad-value",
            join(pointer, "replace"),
            "`replace` goes with `name`",
            "add `name`, or leave `replace` out",
        )
    fields["on_fail"] = _on_fail(raw.get("on_fail", "stop"), join(pointer, "on_fail"), problems)
    return fields


def _on_fail(raw: JSON, pointer: str, problems: Problems) -> Any:
    if raw in ("stop", "continue"):
        return raw
    if isinstance(raw, list):
        return parse_block(raw, pointer, problems)
    problems.error("bad-value", pointer, f'`on_fail` is "stop", "continue" or a list of steps, not {raw!r:.40}')
    return "stop"


def variable(written: str, pointer: str, problems: Problems) -> str | None:
    """Return the name in `$name`, which is all that `out`, `as` and `collect` may hold."""
    if written.startswith("$") and NAME.fullmatch(written[1:]):
        return written[1:]
    bare = NAME.fullmatch(written)
    fix = [{"op": "replace", "path": pointer, "value": f"${written}"}] if bare else None
    hint = f"write `${written}`" if bare else "a variable is `$name`: letters, digits and _, not a digit first"
    problems.error("bad-variable", pointer, f"{written!r} is not a variable", hint, fix)
    return None


def _kind(value: Any) -> str:
    from infospace.paths import kind_of

    kind = kind_of(value)
    return {"null": "null", "object": "an object"}.get(kind, f"a {kind}")
