"""Steps in the words of other systems: where their type, arguments, variable, order and comments stand there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from infospace.contract.decorator import Primitive
from infospace.core.tool import Tool
from infospace.data.json_text import dump
from infospace.data.paths import a_kind
from planner.language.problems import Patch, join
from planner.language.references import NAME, names_in
from planner.parse.control_flow import FORMS
from planner.parse.fields import BLOCKS, COMMON, OTHERWISE, SAVED
from planner.repair.respell_types import TypeSpeller
from planner.repair.respelt import Respelt, Spelling, names_bound
from planner.repair.step_keys import ARGUMENTS, COMMENTS, LABELS, ON_FAIL, ORDER, OUT, variable_in
from planner.repair.synonyms import called_elsewhere

_SURE = ARGUMENTS[: ARGUMENTS.index("payload")]
"""What `arguments` are called whatever stands in them; others are where all in them are known arguments."""
_NUMBERED = re.compile(r"(?:#?[a-z]+[ _-]?)?(\d+)", re.IGNORECASE)
_BINDING = frozenset({"out", "as", "collect", *OUT})
_GIVEN = frozenset({"item", "page", "error"})
_BINDS = ("for-each", "map", "pages", "ask")
"""The forms that have an `out`."""


class StepSpeller:
    """Reads the steps of a document as they are meant."""

    def __init__(self, respelt: Respelt) -> None:
        self._respelt = respelt
        self._catalogue = respelt.catalogue
        self._types = TypeSpeller(respelt)
        self._unread: set[str] | None = None

    def block(self, pointer: str) -> None:
        """Read a list of steps, and what stands in them."""
        steps = self._respelt.at(pointer)
        for index, step in enumerate(steps if isinstance(steps, list) else ()):
            if isinstance(step, dict):
                self._step(join(pointer, index), pointer, index)

    def _raw(self, pointer: str) -> dict[str, Any]:
        value: Any = self._respelt.at(pointer)
        return value if isinstance(value, dict) else {}

    def _step(self, pointer: str, block: str, index: int) -> None:
        self._types.spell(pointer)
        raw = self._raw(pointer)
        type_ = raw.get("type")
        own = self._fields_of(type_)
        if own is not None and isinstance(type_, str):
            if not raw.keys() <= {*COMMON, *own} or self._may_be_misread(raw):
                self._keys(pointer, block, index, type_, own)
            elif "id" in raw and "out" not in raw:
                self._out(pointer, type_, own)
        self._inner(pointer, own or ())

    @staticmethod
    def _may_be_misread(raw: Mapping[str, Any]) -> bool:
        return isinstance(raw.get("arguments"), str) or any(value is None for value in raw.values())

    def _keys(self, pointer: str, block: str, index: int, type_: str, own: tuple[str, ...]) -> None:
        outside = type_.startswith(SAVED) or "/" in type_
        tool = self._tool(type_) if outside else None
        flat = self._flat(pointer, tool) if outside else ()
        if outside:
            self._outside_arguments(pointer, type_, tool)
        else:
            self._inside_arguments(pointer, type_, own)
        kept = (*own, *flat, *self._synonyms(pointer, type_))
        self._labels(pointer, kept, index)
        self._out(pointer, type_, kept)
        self._comments(pointer, kept)
        self._order(pointer, kept, block, index)
        self._on_fail(pointer, kept)
        self._nulls(pointer, type_, own)
        if outside:
            self._nest_arguments(pointer, type_, tool)

    # What a type has

    def _fields_of(self, type_: object) -> tuple[str, ...] | None:
        """The fields of a type beside those of every step; None where nothing is known of it."""
        if not isinstance(type_, str):
            return None
        if type_ in FORMS:
            form = FORMS[type_]
            return (*form.required, *form.optional, *form.dropped)
        if type_.startswith(SAVED) or "/" in type_:
            return ("arguments",)
        entry = self._entry(type_)
        return None if entry is None else (*entry.arguments, *entry.renamed)

    def _synonyms(self, pointer: str, type_: str) -> Iterator[str]:
        """The keys of a step that are arguments of its verb, or fields of its form, called otherwise."""
        raw, entry = self._raw(pointer), self._entry(type_)
        if entry is not None:
            lacking = [name for name in entry.arguments if name not in raw]
            yield from (key for key in raw if key not in COMMON and called_elsewhere(key, lacking))
        elif type_ in FORMS:
            fields = (*FORMS[type_].required, *FORMS[type_].optional)
            yield from (
                key for key in raw if set(OTHERWISE.get(key, ())) & {field for field in fields if field not in raw}
            )

    def _entry(self, type_: str) -> Primitive | None:
        return self._catalogue.find(type_) or self._catalogue.find_alias(type_)

    def _tool(self, type_: str) -> Tool | None:
        tools = self._catalogue.tools
        tool = tools.find(type_)
        if tool is None and not type_.startswith(SAVED):
            suggestion = tools.close_match(type_)
            tool = tools.find(suggestion) if suggestion else None
        return tool

    # Arguments

    def _flat(self, pointer: str, tool: Tool | None) -> tuple[str, ...]:
        """The keys of a step that are its tool's own arguments, where these stand beside `type`."""
        raw, accepts = self._raw(pointer), _properties(tool)
        if "arguments" in raw or self._holder(raw, accepts) is not None:
            return ()
        needed = tool.input_schema.get("required", ()) if tool is not None else ()
        return tuple(key for key in raw if key in accepts and (key not in COMMON or key in needed))

    @staticmethod
    def _holder(raw: Mapping[str, Any], accepts: Mapping[str, Any]) -> str | None:
        """The key under which the arguments of a tool stand, where it is not `arguments`."""
        for key in ARGUMENTS[1:]:
            values = _object(raw.get(key)) if key in raw else None
            if values is None or (key in accepts and accepts[key].get("type") in ("object", None)):
                continue
            if key in _SURE or (values and values.keys() <= accepts.keys()):
                return key
        return None

    def _outside_arguments(self, pointer: str, type_: str, tool: Tool | None) -> None:
        """The arguments of a tool, or of a saved plan, under another key, or as a text."""
        raw, place = self._raw(pointer), join(pointer, "arguments")
        if isinstance(raw.get("arguments"), str):
            values = _object(raw["arguments"])
            if values is not None:
                message = f"`arguments` is an object, not {a_kind(raw['arguments'])}"
                patch: Patch = [{"op": "replace", "path": place, "value": values}]
                self._respelt.take(Spelling("bad-value", place, message, "write the object itself", patch))
            return
        key = self._holder(raw, _properties(tool)) if "arguments" not in raw else None
        if key is None:
            return
        patch = [{"op": "move", "from": join(pointer, key), "path": place}]
        if isinstance(raw[key], str):
            patch.append({"op": "replace", "path": place, "value": _object(raw[key])})
        message = f"the arguments of {type_} stand in `arguments`, not in `{key}`"
        self._respelt.take(
            Spelling("unknown-argument", join(pointer, key), message, "did you mean 'arguments'?", patch)
        )

    def _nest_arguments(self, pointer: str, type_: str, tool: Tool | None) -> None:
        """The arguments of a tool beside `type`: all of them are one mistake."""
        raw, accepts = self._raw(pointer), _properties(tool)
        stray = [key for key in raw if key not in (*COMMON, "arguments")]
        nested = "arguments" in raw
        if nested:
            value = raw["arguments"]
            stray = [key for key in stray if key in accepts and isinstance(value, dict) and key not in value]
        else:
            stray = [key for key in raw if key in stray or key in self._flat(pointer, tool)]
        if not stray:
            return
        place = join(pointer, "arguments")
        patch: Patch = [] if nested else [{"op": "add", "path": place, "value": {}}]
        patch += [{"op": "move", "from": join(pointer, key), "path": join(place, key)} for key in stray]
        shown = {"arguments": {key: raw[key] for key in stray}}
        hint = (
            dump(shown)
            if len(dump(shown)) <= 200
            else '"arguments": {' + ", ".join(f'"{key}": …' for key in stray) + "}"
        )
        message = f"the arguments of {type_} stand in `arguments`, not beside it"
        self._respelt.take(Spelling("unknown-argument", join(pointer, stray[0]), message, hint, patch))

    def _inside_arguments(self, pointer: str, type_: str, own: tuple[str, ...]) -> None:
        """The arguments of a primitive, or the fields of a form, nested in a key."""
        raw = self._raw(pointer)
        for key in ARGUMENTS:
            values = _object(raw.get(key)) if key in raw and key not in own else None
            if values is None or values.keys() & (raw.keys() - {key}):
                continue
            if (key not in _SURE or "arguments" in own) and not values.keys() <= set(own):
                continue
            place = join(pointer, key)
            if isinstance(raw[key], str):
                patch: Patch = [
                    {"op": "add", "path": join(pointer, name), "value": inner} for name, inner in values.items()
                ]
            else:
                patch = [{"op": "move", "from": join(place, name), "path": join(pointer, name)} for name in values]
            patch.append({"op": "remove", "path": place})
            word = "field" if type_ in FORMS else "argument"
            message, hint = f"{type_} has no {word} {key!r}", "the arguments of a primitive stand in the step itself"
            self._respelt.take(Spelling("unknown-argument", place, message, hint, patch))
            return

    # The variable, the label, the order, the comments

    def _out(self, pointer: str, type_: str, own: tuple[str, ...]) -> None:
        raw = self._raw(pointer)
        if "out" in raw or not self._binds_result(type_):
            return
        for key in OUT:
            name = variable_in(raw[key]) if key in raw and key not in own else None
            if name is not None:
                place = join(pointer, key)
                patch: Patch = [{"op": "move", "from": place, "path": join(pointer, "out")}]
                if raw[key] != name:
                    patch.append({"op": "replace", "path": join(pointer, "out"), "value": name})
                message = f"what a step gives is bound by `out`, not by `{key}`"
                self._respelt.take(Spelling("unknown-argument", place, message, f'"out": "{name}"', patch))
                return
        self._label_for_out(pointer, raw)

    def _label_for_out(self, pointer: str, raw: Mapping[str, Any]) -> None:
        """A label, or a name, that later steps read as a variable."""
        for key in ("id", "name"):
            value = raw.get(key)
            if not isinstance(value, str):
                continue
            place, name = join(pointer, key), value.removeprefix("$")
            if key == "id" and value.startswith("$") and NAME.fullmatch(name):
                patch: Patch = [{"op": "move", "from": place, "path": join(pointer, "out")}]
                message = "`id` is a label, and what a step gives is bound by `out`"
                self._respelt.take(Spelling("bad-value", place, message, f'"out": "{value}"', patch))
                return
            if NAME.fullmatch(value) and value in self._read_and_unbound():
                patch = [{"op": "add", "path": join(pointer, "out"), "value": f"${value}"}]
                message = f"${value} is read, and `{key}` binds no variable: `out` does"
                self._respelt.take(Spelling("missing-out", place, message, f'"out": "${value}"', patch))
                return

    def _binds_result(self, type_: str) -> bool:
        if type_ in FORMS:
            return type_ in _BINDS
        entry = self._entry(type_)
        return entry is None or entry.out != "none"

    def _read_and_unbound(self) -> set[str]:
        """The variables that are read somewhere, and bound nowhere."""
        if self._unread is None:
            document: Any = self._respelt.document
            inputs = document.get("inputs") if isinstance(document, dict) else None
            bound = {*names_bound(document, _BINDING), *_GIVEN, *(inputs if isinstance(inputs, dict) else ())}
            self._unread = set(names_in(document)) - bound
        return self._unread

    def _labels(self, pointer: str, own: tuple[str, ...], index: int) -> None:
        raw = self._raw(pointer)
        for key in LABELS:
            if key not in raw or key in own:
                continue
            place, value = join(pointer, key), raw[key]
            if str(value) in (str(index), str(index + 1)):
                patch: Patch = [{"op": "remove", "path": place}]
                self._unknown(place, key, "steps are counted by where they stand", patch)
            elif isinstance(value, str) and "id" not in raw and NAME.fullmatch(value.replace("-", "_")):
                self._unknown(
                    place, key, "did you mean 'id'?", [{"op": "move", "from": place, "path": join(pointer, "id")}]
                )
            return

    def _comments(self, pointer: str, own: tuple[str, ...]) -> None:
        raw = self._raw(pointer)
        results = [key for key in COMMENTS if key in raw and key not in own and raw[key] is not None]
        if not results:
            return
        place, expect = join(pointer, results[0]), join(pointer, "expect")
        texts = [raw[key] if isinstance(raw[key], str) else dump(raw[key]) for key in results]
        if len(results) == 1 and isinstance(raw[results[0]], str) and "expect" not in raw:
            patch: Patch = [{"op": "move", "from": place, "path": expect}]
        else:
            before = [raw["expect"]] if isinstance(raw.get("expect"), str) else []
            patch = [{"op": "remove", "path": join(pointer, key)} for key in results]
            patch.append({"op": "add", "path": expect, "value": "; ".join([*before, *texts])})
        hint = "`expect` is the text about a step: what the planner expects of it"
        self._unknown(place, results[0], hint, patch)

    def _order(self, pointer: str, own: tuple[str, ...], block: str, index: int) -> None:
        raw = self._raw(pointer)
        for key in ORDER:
            if key not in raw or key in own:
                continue
            value = raw[key]
            named = value if isinstance(value, list) else [] if value is None else [value]
            earlier = set(self._names_before(block, index))
            if all(_is_before(one, earlier, index) for one in named):
                message = "steps run in the order they stand in, and what this names stands before"
                self._unknown(join(pointer, key), key, message, [{"op": "remove", "path": join(pointer, key)}])

    def _names_before(self, block: str, index: int) -> Iterator[str]:
        for at in range(index):
            raw = self._raw(join(block, at))
            for key in ("id", "out", "name", "type", *OUT, *LABELS):
                if isinstance(raw.get(key), str):
                    yield raw[key].lstrip("$")

    def _on_fail(self, pointer: str, own: tuple[str, ...]) -> None:
        raw = self._raw(pointer)
        key = next((one for one in ON_FAIL if one in raw and one not in own), None)
        if key is not None and "on_fail" not in raw and isinstance(raw[key], (str, list, dict)):
            place = join(pointer, key)
            patch: Patch = [{"op": "move", "from": place, "path": join(pointer, "on_fail")}]
            self._unknown(place, key, "did you mean 'on_fail'?", patch)

    def _nulls(self, pointer: str, type_: str, own: tuple[str, ...]) -> None:
        """What is null says nothing, so that nothing is lost without it."""
        raw = self._raw(pointer)
        form = FORMS[type_].optional if type_ in FORMS else ()
        nullable = ("value",) if type_ == "stop" else ()
        for key, value in raw.items():
            mine = key in own and key not in form
            if value is None and not mine and key not in nullable and key != "type":
                patch: Patch = [{"op": "remove", "path": join(pointer, key)}]
                code = "bad-value" if key in (*COMMON, *form) else "unknown-argument"
                message = f"`{key}` is null, which has no meaning here"
                self._respelt.take(Spelling(code, join(pointer, key), message, "leave it out", patch))
                self._nulls(pointer, type_, own)
                return

    def _unknown(self, place: str, key: str, hint: str, patch: Patch) -> None:
        self._respelt.take(Spelling("unknown-argument", place, f"a step has no field {key!r}", hint, patch))

    # Steps within steps

    def _inner(self, pointer: str, own: tuple[str, ...]) -> None:
        present = self._raw(pointer).keys()
        for key in (*BLOCKS, "on_fail"):
            if key not in present or (key not in own and key != "on_fail"):
                continue
            raw = self._raw(pointer)
            place = join(pointer, key)
            if key == "branches":
                for at in range(len(raw[key]) if isinstance(raw[key], list) else 0):
                    self._one_step(join(place, at), "a branch")
                    self.block(join(place, at))
                continue
            self._one_step(place, f"`{key}`")
            self.block(place)
        raw = self._raw(pointer)
        if raw.get("type") == "map" and isinstance(raw.get("operation"), dict):
            self._operation(join(pointer, "operation"))

    def _one_step(self, place: str, what: str) -> None:
        """One step where a list of them stands."""
        step: Any = self._respelt.at(place)
        if isinstance(step, dict) and self._types.is_step(step):
            patch: Patch = [{"op": "replace", "path": place, "value": [step]}]
            message = f"{what} is a list of steps, not one step"
            self._respelt.take(
                Spelling("bad-value", place, message, "put it in a list", patch, ((join(place, 0), place),))
            )

    def _operation(self, pointer: str) -> None:
        self._types.spell(pointer)
        type_ = self._raw(pointer).get("type")
        if isinstance(type_, str) and (type_.startswith(SAVED) or "/" in type_):
            tool = self._tool(type_)
            self._outside_arguments(pointer, type_, tool)
            self._nest_arguments(pointer, type_, tool)


def _properties(tool: Tool | None) -> Mapping[str, Any]:
    result = tool.input_schema.get("properties", {}) if tool is not None else {}
    return {key: inner if isinstance(inner, Mapping) else {} for key, inner in result.items()}


def _object(value: Any) -> dict[str, Any] | None:
    """Return an object that is written as such, or as JSON text."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


def _is_before(named: Any, earlier: set[str], index: int) -> bool:
    if isinstance(named, bool) or not isinstance(named, (str, int)):
        return False
    if isinstance(named, int):
        return 0 <= named <= index
    number = _NUMBERED.fullmatch(named)
    return named.strip("${} ") in earlier or (number is not None and 0 < int(number[1]) <= index)
