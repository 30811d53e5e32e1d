"""The control forms: their fields, and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from infospace.jsonvalue import JSON
from infospace.paths import nearest
from planner.conditions import parse_condition
from planner.plan import Block, ForEach, If, Map, Test
from planner.problems import Problems, join, listed

COMMON = ("type", "out", "id", "name", "replace", "on_fail", "retry", "timeout_s", "expect")
"""Fields that every step may have."""

LATER = {
    "while": "`for-each` goes over a Collection",
    "parallel": "write the branches' steps one after the other",
    "wait": "leave it out",
    "ask": "declare an input instead",
    "stop": "end the plan with its last step",
}
"""Forms of the language that this version knows and does not run, with what to do instead."""

Blocks: TypeAlias = "Callable[[JSON, str, Problems], Block]"


class FormReader:
    """Reads the fields of one control form in a step."""

    def __init__(self, raw: Mapping[str, Any], pointer: str, problems: Problems, block: Blocks) -> None:
        self._raw = raw
        self._pointer = pointer
        self._problems = problems
        self._block = block

    def read(self, type_: str, form: Form) -> If | ForEach | Map | None:
        """Return the form, or None when a field without which it means nothing is missing or wrong.

        Blocks are read all the same, so that what is wrong in them is said too.
        """
        required, optional, make = form
        for key in self._raw:
            if key not in (*COMMON, *required, *optional):
                self._unknown(type_, key, (*required, *optional))
        missing = [key for key in required if key not in self._raw]
        for key in missing:
            self._problems.error("missing-argument", self._pointer, f"{type_} needs {key!r}", _WANTED[key])
        if not missing:
            return make(self)
        for key in ("then", "else", "do"):
            if key in (*required, *optional):
                self.block(key)
        return None

    def _unknown(self, type_: str, key: str, known: tuple[str, ...]) -> None:
        near = nearest(key, (*known, *COMMON))
        place = join(self._pointer, key)
        fix = None
        if near and near not in self._raw:
            fix = [{"op": "move", "from": place, "path": join(self._pointer, near)}]
        hint = f"did you mean {near!r}?" if near else f"it takes {listed(known)}"
        self._problems.error("unknown-argument", place, f"{type_} has no field {key!r}", hint, fix)

    def block(self, key: str) -> Block:
        """Return the steps of a field, none when it is left out."""
        return self._block(self._raw[key], join(self._pointer, key), self._problems) if key in self._raw else ()

    def flag(self, key: str, default: bool) -> bool:
        """Return a true or false field."""
        value = self._raw.get(key, default)
        if not isinstance(value, bool):
            self._problems.error("bad-value", join(self._pointer, key), f"`{key}` is true or false, not {value!r:.40}")
            return default
        return value

    def variable(self, key: str) -> str | None:
        """Return the name in a field that holds one `$name`."""
        from planner.steps import variable

        value = self._raw.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            self._problems.error("bad-value", join(self._pointer, key), f"`{key}` is a `$variable`, not {value!r:.40}")
            return None
        return variable(value, join(self._pointer, key), self._problems)

    def _if(self) -> If | None:
        condition = parse_condition(self._raw["condition"], join(self._pointer, "condition"), self._problems)
        then, otherwise = self.block("then"), self.block("else")
        for key in ("out", "name"):
            if key in self._raw:
                self._problems.error(
                    "unwanted-out",
                    join(self._pointer, key),
                    f"`if` gives nothing, so it has no `{key}`",
                    "give it to the steps in `then` and `else`",
                )
        return If(condition or Test("", {}, self._pointer), then, otherwise)

    def _for_each(self) -> ForEach | None:
        as_ = self.variable("as")
        body = self.block("do")
        collect = self.variable("collect")
        return ForEach(self._raw["target"], as_ or "item", body, collect, self.flag("filter_null", True))

    def _map(self) -> Map | None:
        operation = self._raw["operation"]
        place = join(self._pointer, "operation")
        keep = self.flag("filter_null", True)
        if isinstance(operation, str):
            return Map(self._raw["target"], operation, {}, place, named=True, filter_null=keep)
        if not isinstance(operation, dict) or not isinstance(operation.get("type"), str):
            self._problems.error(
                "bad-value",
                place,
                "`operation` is a primitive's name, or an object with a `type`",
                '{"type": "pluck", "field": "title"}',
            )
            return None
        if operation["type"] in FORMS or operation["type"] in LATER:
            self._problems.error(
                "bad-value",
                join(place, "type"),
                f"`{operation['type']}` is a control form and cannot be mapped",
                "`for-each` runs any steps for each item",
            )
            return None
        for key in COMMON[1:]:
            if key in operation:
                self._problems.error(
                    "unwanted-out",
                    join(place, key),
                    f"the operation of `map` has no `{key}`",
                    "write it on the `map` step",
                )
        arguments = {key: value for key, value in operation.items() if key not in COMMON}
        return Map(self._raw["target"], operation["type"], arguments, place, filter_null=keep)


Form: TypeAlias = "tuple[tuple[str, ...], tuple[str, ...], Callable[[FormReader], If | ForEach | Map | None]]"

FORMS: Mapping[str, Form] = {
    "if": (("condition", "then"), ("else",), FormReader._if),  # noqa: SLF001 - its own
    "for-each": (("target", "do"), ("as", "collect", "filter_null"), FormReader._for_each),  # noqa: SLF001
    "map": (("target", "operation"), ("filter_null",), FormReader._map),  # noqa: SLF001
}
"""Each form's required fields, optional fields, and reader."""

_WANTED = {
    "condition": '{"type": "empty", "target": "$hits"}',
    "then": "a list of steps",
    "target": "the Collection to go over",
    "do": "a list of steps",
    "operation": "a primitive's name, or an object with a `type`",
}
