"""From JSON to steps: the fields that every step may have, and the form it is. All problems are collected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from infospace.core.json_types import JSON
from infospace.data.json_text import dump
from infospace.data.misspelling import closest_spelling, is_misspelling
from infospace.data.paths import a_kind, nearest
from infospace.schema.value_text import shown
from planner.language.plan import Block, Call, Form, Retry, SavedPlanCall, Step, ToolCall, UnparsedStep
from planner.language.problems import Patch, Problems, join, replace
from planner.language.references import NAME
from planner.parse.control_flow import FORMS, read_form
from planner.parse.fields import COMMON, SAVED, Fields, nested

__all__ = ["SAVED", "parse_block", "parse_step", "variable"]


def parse_block(raw: JSON, pointer: str, problems: Problems, first: int = 1) -> Block:
    """Read a list of steps; `first` is the label of the first of them."""
    if not isinstance(raw, list):
        problems.error("bad-value", pointer, f"a list of steps is wanted here, not {a_kind(raw)}")
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
    """Return a step, None where it cannot be read; what is wrong is added to `problems`."""
    if not isinstance(raw, dict):
        problems.error(
            "not-a-step",
            pointer,
            f"a step is an object with a `type`, not {a_kind(raw)}",
            '{"type": "say", "value": "hello"}',
        )
        return None
    fields = _common(raw, pointer, label, problems)
    type_ = raw.get("type")
    if not isinstance(type_, str) or not type_:
        _no_type(raw, pointer, problems)
        return Step(type="", form=UnparsedStep(_outs_in(raw)), **fields)
    form = _form(type_, raw, pointer, problems)
    return Step(type=type_, form=UnparsedStep(_outs_in(raw)) if form is None else form, **fields)


def _form(type_: str, raw: Mapping[str, Any], pointer: str, problems: Problems) -> Form | None:
    if type_ in FORMS:
        return read_form(type_, Fields(raw, pointer, problems, parse_block))
    if type_.startswith(SAVED):
        return SavedPlanCall(type_.removeprefix(SAVED), nested(type_, raw, pointer, problems))
    if "/" in type_:
        return ToolCall(type_, nested(type_, raw, pointer, problems))
    return Call({key: raw[key] for key in raw if key not in COMMON})


def _no_type(raw: Mapping[str, Any], pointer: str, problems: Problems) -> None:
    hint = "the name of a primitive or a control form"
    if "type" in raw:
        what = "empty" if raw["type"] == "" else f"text, not {a_kind(raw['type'])}"
        problems.error("missing-type", join(pointer, "type"), f"`type` is {what}", hint)
        return
    near = next((key for key in raw if key not in COMMON and is_misspelling(key, "type")), None)
    near = near or next((key for key in ("action", "op", "tool", "step", "kind", "primitive") if key in raw), None)
    fix = [{"op": "move", "from": join(pointer, near), "path": join(pointer, "type")}] if near else None
    problems.error("missing-type", pointer, "the step has no `type`", hint, fix)


def _outs_in(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """The variables that something in a step's blocks would bind, whatever the step turns out to be.

    Its own `out` is read with the fields that every step may have.
    """
    inner = {key: value for key, value in raw.items() if key not in ("out", "on_fail")}
    return tuple(dict.fromkeys(_every_out(inner)))


def _every_out(raw: Any) -> Iterator[str]:
    if isinstance(raw, list):
        for item in raw:
            yield from _every_out(item)
    elif isinstance(raw, dict):
        for key, item in raw.items():
            if key == "out" and isinstance(item, str) and NAME.fullmatch(item[1:]):
                yield item[1:]
            elif isinstance(item, (list, dict)):
                yield from _every_out(item)


def _common(raw: Mapping[str, Any], pointer: str, label: str, problems: Problems) -> dict[str, Any]:
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
                fix = _suggest_common_field(key, raw[key], join(pointer, key))
                problems.error("bad-value", join(pointer, key), f"`{key}` is {word}, not {a_kind(raw[key])}", None, fix)
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
                replace(join(pointer, "id"), _as_id(fields["id"])),
            )
    fields["on_fail"] = _on_fail(raw.get("on_fail", "stop"), join(pointer, "on_fail"), problems)
    if "retry" in raw:
        fields["retry"] = _retry(raw, pointer, problems)
    if "timeout_s" in raw:
        fields["timeout_s"] = _seconds(raw["timeout_s"], join(pointer, "timeout_s"), problems)
    return fields


def _suggest_common_field(key: str, value: JSON, pointer: str) -> Patch | None:
    """Return the same in the type that a field of a step has; null says nothing, so that nothing is lost by it."""
    if value is None:
        return [{"op": "remove", "path": pointer}]
    match key, value:
        case "replace", "true" | "false" | "True" | "False":
            return replace(pointer, value in ("true", "True"))
        case "id", int() if not isinstance(value, bool):
            return replace(pointer, _as_id(str(value)))
        case "expect", _:
            return replace(pointer, dump(value))
        case "name", int() if not isinstance(value, bool):
            return replace(pointer, str(value))
        case "out", [str(only)] if only.startswith("$"):
            return replace(pointer, only)
    return None


def _as_id(text: str) -> str:
    """Return a label that can be one: signs that it cannot have are `-`, and a word stands before a digit."""
    plain = re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-")
    return plain if NAME.fullmatch(plain.replace("-", "_")) else f"step-{plain}".rstrip("-")


def _seconds(raw: JSON, pointer: str, problems: Problems) -> float | None:
    if isinstance(raw, bool) or not isinstance(raw, (int, float)) or raw <= 0:
        message = f"`timeout_s` is a number above 0, not {shown(raw)}"
        fix = [{"op": "remove", "path": pointer}] if raw is None else None
        if isinstance(raw, str) and re.fullmatch(r"[0-9]+(\.[0-9]+)?", raw):
            fix = replace(pointer, float(raw) if "." in raw else int(raw))
        problems.error("bad-value", pointer, message, '"timeout_s": 30', fix)
        return None
    return float(raw)


_RETRY: Mapping[str, tuple[int | float, bool]] = {"attempts": (1, True), "wait_s": (0, False), "backoff": (1, False)}
"""The fields of `retry`: the least that each may be, and whether it is a whole number."""


def _retry(step: Mapping[str, Any], pointer: str, problems: Problems) -> Retry | None:
    raw, pointer = step["retry"], join(pointer, "retry")
    if not isinstance(raw, dict):
        message, whole = f"`retry` is an object, not {a_kind(raw)}", isinstance(raw, int) and raw > 0
        fix = replace(pointer, {"attempts": raw}) if whole and not isinstance(raw, bool) else None
        fix = [{"op": "remove", "path": pointer}] if raw is None else fix
        problems.error("bad-value", pointer, message, '{"attempts": 3}', fix)
        return None
    around = _around(step.get("type"))
    if around is not None:
        message = f"`retry` repeats one call, and {step['type']!r} is a {around} of several steps"
        problems.error("bad-value", pointer, message, "write it on the steps inside")
        return None
    results: dict[str, Any] = {}
    for key, value in raw.items():
        place = join(pointer, key)
        if key not in _RETRY:
            free = [name for name in _RETRY if name not in raw]
            near = nearest(key, free)
            suggestion = closest_spelling(key, free)
            move = [{"op": "move", "from": place, "path": join(pointer, suggestion)}] if suggestion else None
            hint = f"did you mean {near!r}?" if near else f"it has {', '.join(_RETRY)}"
            problems.error("unknown-key", place, f"`retry` has no key {key!r}", hint, move)
            continue
        least, whole = _RETRY[key]
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or value < least or (whole and value != int(value)):
            what = "a whole number" if whole else "a number"
            problems.error("bad-value", place, f"`{key}` is {what} from {least}, not {shown(value)}")
            continue
        results[key] = int(value) if whole else float(value)
    return Retry(**results)


CALLING = ("map", "pages")
"""The forms that make calls of their own, and so may have `retry`."""


def _around(type_: JSON) -> str | None:
    """Return what a type of step is that holds other steps, None where it makes calls of its own."""
    if type_ in FORMS and type_ not in CALLING:
        return "form"
    return "saved plan" if isinstance(type_, str) and type_.startswith(SAVED) else None


def _on_fail(raw: JSON, pointer: str, problems: Problems) -> Any:
    if raw in ("stop", "continue"):
        return raw
    if isinstance(raw, list):
        return parse_block(raw, pointer, problems)
    message = f'`on_fail` is "stop", "continue" or a list of steps, not {shown(raw)}'
    instead: JSON = [raw] if isinstance(raw, dict) and "type" in raw else None
    if isinstance(raw, str):
        instead = closest_spelling(raw, ("stop", "continue")) or _ON_FAIL.get(raw.strip().lower())
    fix = replace(pointer, instead) if instead is not None else None
    problems.error("bad-value", pointer, message, None, [{"op": "remove", "path": pointer}] if raw is None else fix)
    return instead if isinstance(instead, str) else "stop"


_ON_FAIL: Mapping[str, str] = {
    **dict.fromkeys(("skip", "ignore", "go on", "proceed", "resume", "next", "warn"), "continue"),
    **dict.fromkeys(("abort", "fail", "raise", "halt", "exit", "error"), "stop"),
}
"""What `on_fail` is told by elsewhere."""


def variable(text: str, pointer: str, problems: Problems) -> str | None:
    """Return the name in `$name`, which is all that `out`, `as` and `collect` may hold.

    A bare name is told, and returned: it is plain which variable is meant.
    """
    if text.startswith("$") and NAME.fullmatch(text[1:]):
        return text[1:]
    bare = NAME.fullmatch(text)
    fix = [{"op": "replace", "path": pointer, "value": f"${text}"}] if bare else None
    hint = f"write `${text}`" if bare else "a variable is `$name`: letters, digits and _, not a digit first"
    problems.error("bad-variable", pointer, f"{text!r} is not a variable", hint, fix)
    return text if bare else None
