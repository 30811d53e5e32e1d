"""Checking one call of a primitive: its arguments, the places they name, and what it will give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from infospace.argument import UNKNOWN, Args, Bound, Reading
from infospace.contract import Primitive
from infospace.errors import Invalid
from infospace.faults import ArgumentsInvalid, Fault
from infospace.ids import Kind
from infospace.jsonvalue import JSON
from infospace.kinds import CollectionShape, NoteShape, Nowhere, Shape, place_in
from infospace.paths import Path, nearest
from planner.check_values import ValueChecker
from planner.environment import Environment
from planner.forms import COMMON
from planner.problems import Patch, Problems, join, replace


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
        *,
        quiet: bool = False,
    ) -> Shape:
        """Check the arguments as written; return what the call will give, as far as that is known.

        `given` are resources that the form around the call supplies. `quiet` tells of references alone: the
        entry is only the nearest to what was written.
        """
        placeholders: dict[str, Any] = dict.fromkeys(given or (), UNKNOWN)
        shapes: dict[str, Shape] = dict(given or {})
        for name, written in raw.items():
            if name in entry.arguments or not quiet:
                placeholders[name] = self._argument(entry, name, written, join(pointer, name), env, shapes)
            else:
                self._values.references(written, join(pointer, name), env)
        args, faults = _validate(entry, placeholders)
        if not quiet:
            for fault in faults:
                self._fault(entry, fault, raw, pointer)
            self._places(args, raw, shapes, pointer, env)
        return entry.gives(args, shapes)

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

    def _fault(self, entry: Primitive, fault: Fault, raw: Mapping[str, JSON], pointer: str) -> None:
        place = join(pointer, *(part for part in _within(fault.place, raw)))
        hint, fix = fault.hint, None
        if fault.code == "unknown-argument" and fault.place:
            hint, fix = _meant(entry, str(fault.place[0]), raw, pointer, hint)
        elif fault.code == "bad-argument" and hint is not None and hint.startswith('did you mean "'):
            fix = replace(place, hint.split('"')[1])
        self._problems.error(fault.code, place, fault.says, hint, fix)

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
            for inner, path in _paths(value):
                written = raw.get(name)
                for part in inner:
                    written = written[part] if isinstance(written, list) else None
                self._place(path, item, join(place, *inner), written)

    def _place(self, path: Path, item: Shape, pointer: str, written: JSON) -> None:
        found = place_in(item, path.parts)
        if not isinstance(found, Nowhere):
            return
        (says, hint), better = self._values.nowhere(item, path.parts, found)
        fix = None
        if better is not None and isinstance(written, str):
            fix = replace(pointer, _mended(written, path, Path(better)))
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


def _paths(value: Any, place: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Path]]:
    """The paths in an argument, with their places in it."""
    if isinstance(value, Path):
        yield place, value
    elif isinstance(value, Bound):
        for path in value.where.paths:
            yield place, path
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _paths(item, (*place, index))


def _mended(written: str, path: Path, better: Path) -> str:
    """Return a path, or a `where`, with another path in the place of one."""
    if _path_of(written) == path:
        return str(better)
    from infospace.where.tree import Field
    from infospace.where.words import read_words

    for word in reversed(read_words(written)):
        if isinstance(word.value, Field) and word.value.path == path:
            written = f"{written[: word.start]}{better}{written[word.start + len(word.text) :]}"
    return written


def _path_of(text: str) -> Path | None:
    try:
        return Path.parse(text)
    except Invalid:
        return None


def _meant(
    entry: Primitive, name: str, raw: Mapping[str, JSON], pointer: str, hint: str | None
) -> tuple[str | None, Patch | None]:
    """Say what an unknown argument was meant to be, and how to mend it."""
    place = join(pointer, name)
    inner = raw[name]
    if name == "arguments" and isinstance(inner, dict):
        moves = [{"op": "move", "from": join(place, key), "path": join(pointer, key)} for key in inner]
        flat = all(key in entry.arguments and key not in raw for key in inner)
        return "the arguments of a primitive stand in the step itself", (
            [*moves, {"op": "remove", "path": place}] if flat else None
        )
    near = nearest(name, [key for key in (*entry.arguments, *COMMON) if key not in raw])
    if near is None:
        return hint, None
    return f"did you mean {near!r}?", [{"op": "move", "from": place, "path": join(pointer, near)}]


def item_slot(entry: Primitive, arguments: Mapping[str, JSON], kinds: frozenset[Kind]) -> str | None:
    """Return the argument in which `map` gives an item of these kinds: the first that is a resource.

    None when the operation has none, when it is written already, or when it may be left out and could not
    take such an item.
    """
    first = next((a for a in entry.arguments.values() if a.reading is Reading.RESOURCE), None)
    if first is None or first.name in arguments or not (first.required or first.kinds & kinds):
        return None
    return first.name
