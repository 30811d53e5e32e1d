"""What was meant by an argument or a type that a call does not have, and the patch that says it."""

from __future__ import annotations

from collections.abc import Mapping

from infospace.contract.catalogue import Catalogue
from infospace.contract.decorator import Primitive
from infospace.core.json_types import JSON
from infospace.data.misspelling import closest_spelling
from infospace.data.paths import nearest
from infospace.schema.shapes import disjoint, schema_of_value
from planner.language.problems import Patch, join, replace
from planner.parse.fields import COMMON
from planner.repair.sort_keys import TURNED, suggest_orders
from planner.repair.synonyms import called_elsewhere


def suggest_argument(
    entry: Primitive, name: str, raw: Mapping[str, JSON], pointer: str, hint: str | None
) -> tuple[str | None, Patch | None]:
    """Say what an unknown argument of a call was meant to be, and how to mend it; nothing that says something is lost.

    It is moved where it is plain what was meant: a letter or two apart, or called so elsewhere. Else there is a hint.
    """
    place = join(pointer, name)
    inner = raw[name]
    if name in entry.renamed:
        return _renamed(entry, name, raw, pointer)
    if inner is None:
        return hint or f"{entry.type} does without it", [{"op": "remove", "path": place}]
    turned = _turned_order(entry, name, raw, pointer)
    if turned is not None:
        return turned
    left = [key for key in entry.arguments if key not in raw]
    shape = schema_of_value(inner) if not isinstance(inner, str) or "$" not in inner else None
    fitting = [key for key in left if not disjoint(shape, entry.arguments[key].schema) or entry.arguments[key].kinds]
    common = [key for key in COMMON if key not in raw]
    spelt = closest_spelling(name, fitting) or closest_spelling(name, common)
    if spelt is None:
        suggestion = called_elsewhere(name, fitting) or called_elsewhere(name, left)
        needed = [key for key in suggestion if entry.arguments[key].required]
        spelt = next(iter((*needed, *suggestion)), None)
    near = spelt or nearest(name, fitting) or nearest(name, [*left, *common])
    if near is None:
        return hint, None
    move: Patch = [{"op": "move", "from": place, "path": join(pointer, near)}]
    return f"did you mean {near!r}?", move if near == spelt else None


def _turned_order(entry: Primitive, name: str, raw: Mapping[str, JSON], pointer: str) -> tuple[str, Patch] | None:
    """Say how an order is turned round that is true or false elsewhere."""
    inner = raw[name]
    if "order" not in entry.arguments or "order" in raw or name not in TURNED:
        return None
    if not isinstance(inner, bool):
        return suggest_orders(name, raw, pointer, turned=TURNED[name])
    order = "desc" if inner == TURNED[name] else "asc"
    place = join(pointer, "order")
    patch: Patch = [{"op": "move", "from": join(pointer, name), "path": place}, *replace(place, order)]
    return f'"order": "{order}"', patch


def suggest_types(type_: str, raw: Mapping[str, JSON], catalogue: Catalogue) -> tuple[str, ...]:
    """Return the types that one is the first word of, those first that have most of the arguments written."""
    results = [name for name in catalogue.types() if name.startswith(f"{type_}-")] if type_ else []

    def strange(name: str) -> int:
        return sum(key not in catalogue.get(name).arguments for key in raw)

    results.sort(key=strange)
    return tuple(name for name in results if strange(name) == strange(results[0]))


_PLAIN = frozenset({"target", "value", "query"})
"""Arguments that many verbs have, and that so tell nothing of which was meant."""


def is_identified_by_arguments(entry: Primitive, type_: str, raw: Mapping[str, JSON], catalogue: Catalogue) -> bool:
    """Whether a step of which the first word of its type is known can be but this: one of its arguments says so."""
    others = [name for name in catalogue.types() if name.startswith(f"{type_}-") and name != entry.type]
    if others and raw.keys() <= entry.arguments.keys():
        return not any(raw.keys() <= catalogue.get(name).arguments.keys() for name in others)
    needed = {argument.name for argument in entry.arguments.values() if argument.required}
    return raw.keys() <= entry.arguments.keys() and needed <= raw.keys() and not needed <= _PLAIN


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
