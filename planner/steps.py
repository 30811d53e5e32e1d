"""From JSON to steps: the fields that every step may have, and the form it is. All problems are collected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from infospace.jsonvalue import JSON
from infospace.paths import nearest
from planner.forms import COMMON, FORMS, LATER, FormReader
from planner.plan import Block, Call, Step, Unread
from planner.problems import Problems, a_kind, join
from planner.references import NAME

LATER_FIELDS = ("retry", "timeout_s")
"""Fields of a step that this version knows and does not obey, and so refuses."""


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
    """Read one step."""
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
        return Step(type="", form=Unread(_outs_in(raw)), **fields)
    if type_ in LATER:
        says = f"`{type_}` belongs to the language, but this version does not run it yet"
        problems.error("unsupported", join(pointer, "type"), says, LATER[type_])
        return Step(type=type_, form=Unread(_outs_in(raw)), **fields)
    reader = FORMS.get(type_)
    if reader is None:
        return Step(type=type_, form=Call({key: raw[key] for key in raw if key not in COMMON}), **fields)
    form = FormReader(raw, pointer, problems, parse_block).read(type_, reader)
    return Step(type=type_, form=Unread(_outs_in(raw)) if form is None else form, **fields)


def _no_type(raw: Mapping[str, Any], pointer: str, problems: Problems) -> None:
    hint = "the name of a primitive or a control form"
    if "type" in raw:
        problems.error("missing-type", join(pointer, "type"), f"`type` is text, not {a_kind(raw['type'])}", hint)
        return
    near = nearest("type", [key for key in raw if key not in COMMON])
    fix = [{"op": "move", "from": join(pointer, near), "path": join(pointer, "type")}] if near else None
    problems.error("missing-type", pointer, "the step has no `type`", hint, fix)


def _outs_in(raw: JSON) -> tuple[str, ...]:
    """The variables that something in a step's blocks would bind, whatever the step turns out to be."""
    return tuple(dict.fromkeys(_every_out(raw)))


def _every_out(raw: JSON) -> Iterator[str]:
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
                problems.error("bad-value", join(pointer, key), f"`{key}` is {word}, not {a_kind(raw[key])}")
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
