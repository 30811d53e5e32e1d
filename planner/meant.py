"""What was meant by an argument or a type that a call does not have, and the patch that says it."""

from __future__ import annotations

from collections.abc import Mapping

from infospace.contract import Primitive
from infospace.jsonvalue import JSON
from infospace.paths import nearest
from planner.fields import COMMON
from planner.problems import Patch, join, replace


def meant(
    entry: Primitive, name: str, raw: Mapping[str, JSON], pointer: str, hint: str | None
) -> tuple[str | None, Patch | None]:
    """Say what an unknown argument of a call was meant to be, and how to mend it."""
    place = join(pointer, name)
    inner = raw[name]
    if name in entry.renamed:
        return _renamed(entry, name, raw, pointer)
    if name == "arguments" and isinstance(inner, dict):
        moves = [{"op": "move", "from": join(place, key), "path": join(pointer, key)} for key in inner]
        flat = all(key in entry.arguments and key not in raw for key in inner)
        return "the arguments of a primitive stand in the step itself", (
            [*moves, {"op": "remove", "path": place}] if flat else None
        )
    near = nearest(name, [key for key in (*entry.arguments, *COMMON) if key not in raw])
    if near is None:
        return hint, [{"op": "remove", "path": place}]
    return f"did you mean {near!r}?", [{"op": "move", "from": place, "path": join(pointer, near)}]


def _renamed(entry: Primitive, name: str, raw: Mapping[str, JSON], pointer: str) -> tuple[str, Patch]:
    place, now = join(pointer, name), entry.renamed[name]
    if now is None or now in raw:
        return f"{entry.type} does without it", [{"op": "remove", "path": place}]
    return f"it is {now!r} here", [{"op": "move", "from": place, "path": join(pointer, now)}]


def translated(entry: Primitive, raw: Mapping[str, JSON], type_pointer: str, pointer: str) -> Patch:
    """Write a step for an earlier runtime as a call of the entry that it means."""
    patch = replace(type_pointer, entry.type)
    for name in raw:
        if name in entry.renamed and name not in entry.arguments:
            patch += _renamed(entry, name, raw, pointer)[1]
    return patch
