"""Checking one call of a primitive: its arguments, the places they name, and what it will give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from infospace.argument import UNKNOWN, Args, Bound, Reading
from infospace.contract import ArgumentsInvalid, Fault, Primitive
from infospace.jsonvalue import JSON
from infospace.kinds import CollectionShape, NoteShape, Nowhere, Shape, Unknown, place_in
from infospace.paths import Path
from planner.check_values import ValueChecker
from planner.environment import Environment
from planner.problems import Patch, Problems, join, replace


@dataclass(frozen=True, slots=True)
class Checked:
    """What a call will give, as far as that is known."""

    gives: Shape


class CallChecker:
    """Checks calls against their contracts."""

    def __init__(self, values: ValueChecker, problems: Problems) -> None:
        self._values = values
        self._problems = problems

    def check(
        self,
        entry: Primitive,
        raw: Mapping[str, JSON],
        pointer: str,
        env: Environment,
        given: Mapping[str, Shape] | None = None,
    ) -> Checked:
        """Check the arguments as written. `given` are resources that the form around the call supplies."""
        placeholders: dict[str, Any] = dict.fromkeys(given or (), UNKNOWN)
        shapes: dict[str, Shape] = dict(given or {})
        for name, written in raw.items():
            placeholders[name] = self._argument(entry, name, written, join(pointer, name), env, shapes)
        args, faults = _validate(entry, placeholders)
        for fault in faults:
            self._fault(fault, raw, pointer)
        self._places(args, raw, shapes, pointer, env)
        return Checked(entry.gives(args, shapes))

    def _argument(
        self, entry: Primitive, name: str, written: JSON, pointer: str, env: Environment, shapes: dict[str, Shape]
    ) -> Any:
        argument = entry.arguments.get(name)
        match argument.reading if argument else Reading.VALUE:
            case Reading.RESOURCE if argument is not None:
                if written is None and not argument.required:
                    return None
                shapes[name] = self._values.resource(written, pointer, argument.kinds, env)
                return UNKNOWN
            case Reading.ITEMS:
                shapes[name] = self._values.items(written, pointer, env)
                return UNKNOWN
            case Reading.WHERE:
                return written
        value, schema = self._values.value(written, pointer, argument, env)
        shapes[name] = NoteShape(schema)
        return value

    def _fault(self, fault: Fault, raw: Mapping[str, JSON], pointer: str) -> None:
        place = join(pointer, *(part for part in _within(fault.place, raw)))
        fix: Patch | None = None
        if fault.code == "unknown-argument" and fault.hint and fault.hint.startswith("did you mean"):
            near = fault.hint.split("'")[1]
            fix = None if near in raw else [{"op": "move", "from": place, "path": join(pointer, near)}]
        self._problems.error(fault.code, place, fault.says, fault.hint, fix)

    def _places(
        self,
        args: Mapping[str, Any],
        raw: Mapping[str, JSON],
        shapes: Mapping[str, Shape],
        pointer: str,
        env: Environment,
    ) -> None:
        """Check the paths among the arguments against what is known of the items of `target`."""
        for name, value in args.items():
            place = join(pointer, name)
            if isinstance(value, Bound):
                self._values.parameters(value, place, env)
            target = shapes.get("target")
            if target is None:
                continue
            item = target.item if isinstance(target, CollectionShape) else target
            for path in _paths(value):
                self._place(path, item, place, raw.get(name))

    def _place(self, path: Path, item: Shape, pointer: str, written: JSON) -> None:
        found = place_in(item, path.parts)
        if not isinstance(found, Nowhere):
            return
        (says, hint), better = self._values.nowhere(item, path.parts, found)
        fix = None
        if better is not None and isinstance(written, str):
            old, new = str(path), str(Path(better))
            fix = replace(pointer, new if written == old else written.replace(old, new))
        self._problems.error("unknown-field", pointer, says, hint, fix)


def _validate(entry: Primitive, placeholders: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Fault]]:
    """Validate with placeholders for what is not known. What does not fit counts as not known afterwards."""
    try:
        return _fields(entry.validate(placeholders)), []
    except ArgumentsInvalid as error:
        faults = list(error.faults)
    bad = {str(fault.place[0]) for fault in faults if fault.place}
    mended = {
        name: UNKNOWN if name in bad else value for name, value in placeholders.items() if name in entry.arguments
    }
    for name, argument in entry.arguments.items():
        if argument.required:
            mended.setdefault(name, UNKNOWN)
    try:
        return _fields(entry.validate(mended)), faults
    except ArgumentsInvalid:
        return mended, faults


def _fields(args: Args) -> dict[str, Any]:
    return {name: getattr(args, name) for name in type(args).model_fields}


def _within(place: tuple[str | int, ...], raw: Mapping[str, JSON]) -> Iterator[str | int]:
    """As much of a place as exists in what was written (validation of unions adds names of its own)."""
    value: Any = raw
    for part in place:
        match value, part:
            case dict(), str() if part in value:
                value = value[part]
            case list(), int() if part < len(value):
                value = value[part]
            case _:
                return
        yield part


def _paths(value: Any) -> Iterator[Path]:
    if isinstance(value, Path):
        yield value
    elif isinstance(value, Bound):
        yield from value.where.paths
    elif isinstance(value, list):
        for item in value:
            yield from _paths(item)


def first_resource(entry: Primitive) -> str | None:
    """Return the name of a primitive's first argument that is a resource, None when it has none."""
    return next((a.name for a in entry.arguments.values() if a.reading is Reading.RESOURCE), None)


def unknown_gives() -> Checked:
    """Return what an unknown call gives."""
    return Checked(Unknown())
