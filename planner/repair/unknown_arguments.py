"""What was meant by an argument or a type that a call does not have, and the patch that says it."""

from __future__ import annotations

from collections.abc import Mapping

from infospace.contract.catalogue import Catalogue
from infospace.contract.decorator import Primitive
from infospace.core.json_types import JSON
from infospace.data.paths import nearest
from infospace.schema.shapes import disjoint, schema_of_value
from planner.language.problems import Patch, join, replace
from planner.parse.fields import COMMON


def suggest_argument(
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
    left = [key for key in entry.arguments if key not in raw]
    shape = schema_of_value(inner) if not isinstance(inner, str) or "$" not in inner else None
    fitting = [key for key in left if not disjoint(shape, entry.arguments[key].schema)]
    near = nearest(name, fitting) or nearest(name, [*left, *(key for key in COMMON if key not in raw)])
    if near is None:
        return hint, [{"op": "remove", "path": place}]
    return f"did you mean {near!r}?", [{"op": "move", "from": place, "path": join(pointer, near)}]


def suggest_types(type_: str, raw: Mapping[str, JSON], catalogue: Catalogue) -> tuple[str, ...]:
    """Return the types that one is the first word of, those first that have most of the arguments written."""
    found = [name for name in catalogue.types() if name.startswith(f"{type_}-")] if type_ else []

    def strange(name: str) -> int:
        return sum(key not in catalogue.get(name).arguments for key in raw)

    found.sort(key=strange)
    return tuple(name for name in found if strange(name) == strange(found[0]))


def _renamed(entry: Primitive, name: str, raw: Mapping[str, JSON], pointer: str) -> tuple[str, Patch]:
    place, now = join(pointer, name), entry.renamed[name]
    if now is None or now in raw:
        return f"{entry.type} does without it", [{"op": "remove", "path": place}]
    return f"it is {now!r} here", [{"op": "move", "from": place, "path": join(pointer, now)}]


def translate_legacy(entry: Primitive, raw: Mapping[str, JSON], type_pointer: str, pointer: str) -> Patch:
    """Write a step for an earlier runtime as a call of the entry that it means."""
    patch = replace(type_pointer, entry.type)
    for name in raw:
        if name in entry.renamed and name not in entry.arguments:
            patch += _renamed(entry, name, raw, pointer)[1]
    return patch
