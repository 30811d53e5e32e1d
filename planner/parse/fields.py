"""Reading the fields of one control form: what is missing, unknown or of the wrong kind is said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.data.misspelling import closest_spelling, is_misspelling
from infospace.data.paths import Path, a_kind, nearest
from infospace.schema.value_text import shown
from planner.language.plan import Block, Condition, TypedCondition
from planner.language.problems import Problems, join, listed
from planner.parse.conditions import parse_condition

COMMON = ("type", "out", "id", "name", "replace", "on_fail", "retry", "timeout_s", "expect")
"""Fields that every step may have."""

SAVED = "plan:"
"""What the type of a step begins with that runs a saved plan."""

BLOCKS = ("then", "else", "do", "body", "branches")
"""Fields of forms that hold steps."""

_OF_OTHER_FORMS = (*BLOCKS, "until", "while", "collect", "condition", "operation", "of", "filter_null")
"""Fields that a tool's argument is never taken for where they stand in a form that has no such field."""

OTHERWISE: Mapping[str, tuple[str, ...]] = {
    "items": ("target",),
    "collection": ("target",),
    "over": ("target",),
    "in": ("target",),
    "steps": ("do", "body", "then", "branches"),
    "body": ("do", "then"),
    "do": ("body", "then"),
    "actions": ("do", "body", "then"),
    "item": ("as",),
    "variable": ("as",),
    "function": ("operation", "tool"),
    "op": ("operation", "tool"),
    "operation": ("tool",),
    "cursor": ("next",),
    "next_cursor": ("next",),
    "start": ("first",),
    "max": ("max_pages",),
    "max_iterations": ("max_pages",),
    "otherwise": ("else",),
    "loop": ("do", "body"),
    "func": ("operation",),
    "fn": ("operation",),
    "when": ("condition",),
    "where": ("condition",),
    "test": ("condition",),
    "source": ("target",),
    "list": ("target",),
    "tasks": ("branches",),
    "message": ("value",),
    "text": ("value",),
    **dict.fromkeys(("args", "argument", "parameters", "params", "inputs", "kwargs"), ("arguments",)),
    "input": ("arguments", "target"),
    "if_true": ("then",),
    "if_false": ("else",),
    "question": ("value",),
    "prompt": ("value",),
    "duration": ("seconds",),
}
"""What fields of forms are called elsewhere."""

ARGUMENTS = ("args", "argument", "parameters", "params", "input", "inputs", "kwargs")
"""What `arguments` are called elsewhere."""

Blocks: TypeAlias = "Callable[[JSON, str, Problems], Block]"


class Fields:
    """The fields of one control form in a step."""

    def __init__(self, raw: Mapping[str, Any], pointer: str, problems: Problems, block: Blocks) -> None:
        self.raw = raw
        self.pointer = pointer
        self.problems = problems
        self._block = block

    def report_unknown(
        self, type_: str, names: tuple[str, ...], dropped: tuple[str, ...] = (), *, nests: bool = False
    ) -> frozenset[str]:
        """Say which fields the form does not have; those `dropped` it does without. Return what was meant by them.

        With `nests` what is not one of them but for a letter or two belongs into `arguments`.
        """
        suggestion = set()
        for key in self.raw:
            if key in dropped:
                place = join(self.pointer, key)
                fix = [{"op": "remove", "path": place}]
                message = f"{type_} has no field {key!r}"
                self.problems.error("unknown-argument", place, message, f"{type_} does without it", fix)
            elif key not in (*COMMON, *names):
                suggestion.add(self._unknown(type_, key, names, nests=nests))
        return frozenset(name for name in suggestion if name is not None)

    def _unknown(self, type_: str, key: str, known_names: tuple[str, ...], *, nests: bool) -> str | None:
        free = [name for name in (*known_names, *COMMON) if name not in self.raw]
        suggestion = closest_spelling(key, free) or next(
            (name for name in OTHERWISE.get(key, ()) if name in free), None
        )
        near = suggestion or nearest(key, (*known_names, *COMMON))
        if nests and suggestion is None and near is not None and not is_misspelling(key, near):
            near = None
        place = join(self.pointer, key)
        if near is None and nests and key not in _OF_OTHER_FORMS:
            arguments = join(self.pointer, "arguments")
            move: list[dict[str, Any]] = [{"op": "move", "from": place, "path": join(arguments, key)}]
            if "arguments" not in self.raw:
                move.insert(0, {"op": "add", "path": arguments, "value": {}})
            message = f"{type_} has no field {key!r}; the arguments of its tool stand in `arguments`"
            self.problems.error("unknown-argument", place, message, f'"arguments": {{"{key}": …}}', move)
            return None
        fix: list[dict[str, Any]] | None = None
        if suggestion is not None:
            fix = [{"op": "move", "from": place, "path": join(self.pointer, suggestion)}]
        elif self.raw[key] is None:
            fix = [{"op": "remove", "path": place}]
        hint = f"did you mean {near!r}?" if near else f"it takes {listed(known_names)}"
        self.problems.error("unknown-argument", place, f"{type_} has no field {key!r}", hint, fix)
        return suggestion

    def condition(self, key: str = "condition") -> Condition:
        """Return the condition in a field; one that cannot be read is told, and stands for any."""
        place = join(self.pointer, key)
        return parse_condition(self.raw[key], place, self.problems) or TypedCondition("", {}, self.pointer)

    def block(self, key: str) -> Block:
        """Return the steps of a field, none when it is left out."""
        return self._block(self.raw[key], join(self.pointer, key), self.problems) if key in self.raw else ()

    def blocks(self, key: str) -> tuple[Block, ...]:
        """Return lists of steps."""
        value, place = self.raw.get(key), join(self.pointer, key)
        if not isinstance(value, list):
            self.problems.error("bad-value", place, f"`{key}` is a list of lists of steps, not {a_kind(value)}")
            return ()
        return tuple(self._block(item, join(place, index), self.problems) for index, item in enumerate(value))

    def all_blocks(self) -> None:
        """Read every block, so that what is wrong in one is said though the form means nothing."""
        for key in BLOCKS:
            if key == "branches" and key in self.raw:
                self.blocks(key)
            elif key in self.raw:
                self.block(key)

    def path(self, key: str) -> Path | None:
        """Return the path in a field, which leads into what a tool answers; None when it is left out, or wrong."""
        if key not in self.raw:
            return None
        value, place = self.raw[key], join(self.pointer, key)
        if not isinstance(value, str):
            self.problems.error("bad-value", place, f"`{key}` is a path in the answer, not {shown(value)}")
            return None
        try:
            path = Path.parse(value)
        except Invalid as error:
            self.problems.error("bad-value", place, f"`{key}` is a path in the answer: {error.message}", error.hint)
            return None
        if str(path.parts[0]).startswith("@"):
            message = f"`{key}` is a path in the answer of the tool, and {value!r} means the resource"
            self.problems.error("bad-value", place, message, '"data.items"')
            return None
        return path

    def flag(self, key: str, default: bool) -> bool:
        """Return a true or false field."""
        value = self.raw.get(key, default)
        if not isinstance(value, bool):
            self.problems.error("bad-value", join(self.pointer, key), f"`{key}` is true or false, not {shown(value)}")
            return default
        return value

    def whole_number(self, key: str, default: int) -> int:
        """Return a field that is a whole number from 1."""
        value = self.raw.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 1 or value != int(value):
            message = f"`{key}` is a whole number from 1, not {shown(value)}"
            self.problems.error("bad-value", join(self.pointer, key), message)
            return default
        return int(value)

    def variable(self, key: str) -> str | None:
        """Return the name in a field that holds one `$name`."""
        from planner.parse.steps import variable

        value = self.raw.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            self.problems.error("bad-value", join(self.pointer, key), f"`{key}` is a `$variable`, not {shown(value)}")
            return None
        return variable(value, join(self.pointer, key), self.problems)

    def forbid_result_name(self, type_: str, instead: str) -> None:
        """Say that a form has no `out` and no `name`."""
        for key in ("out", "name"):
            if key in self.raw:
                place = join(self.pointer, key)
                self.problems.error("unwanted-out", place, f"`{type_}` gives nothing, so it has no `{key}`", instead)


def nested(type_: str, raw: Mapping[str, Any], pointer: str, problems: Problems) -> Mapping[str, JSON]:
    """Return what stands in `arguments`, where those of tools and saved plans stand; says what stands beside it."""
    value = raw.get("arguments", {})
    if not isinstance(value, dict):
        problems.error("bad-value", join(pointer, "arguments"), f"`arguments` is an object, not {a_kind(value)}")
        value = {}
    stray = [key for key in raw if key not in (*COMMON, "arguments")]
    if len(stray) == 1 and stray[0] in ARGUMENTS and isinstance(raw[stray[0]], dict) and "arguments" not in raw:
        place = join(pointer, stray[0])
        move = [{"op": "move", "from": place, "path": join(pointer, "arguments")}]
        message = f"the arguments of {type_} stand in `arguments`, not in `{stray[0]}`"
        problems.error("unknown-argument", place, message, "did you mean 'arguments'?", move)
        return {}
    for key in stray:
        place = join(pointer, key)
        fix: list[dict[str, Any]] = [{"op": "move", "from": place, "path": join(pointer, "arguments", key)}]
        if "arguments" not in raw:
            fix.insert(0, {"op": "add", "path": join(pointer, "arguments"), "value": {}})
        message = f"the arguments of {type_} stand in `arguments`, not beside it"
        # Which of two values for one argument was meant, only the author knows.
        sure = len(stray) == 1 and key not in value
        problems.error("unknown-argument", place, message, f'"arguments": {{"{key}": …}}', fix if sure else None)
    return value
