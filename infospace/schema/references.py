"""Where the references of a schema lead: within the document, from the part with an `$id` in which each stands."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

DEEPEST = 16
"""References and alternatives inside one another that are followed; beyond, nothing is known."""
_REMEMBERED = 64
"""Documents of which it is remembered what stands in which part."""


@dataclass(frozen=True, slots=True)
class _Document:
    """A schema with parts that have an `$id`, or an anchor: each part's resolver, and the part with an `$id` around it.

    It holds the schema, so that the ids of its parts stay theirs.
    """

    root: Mapping[str, Any]
    parts: Mapping[int, tuple[Any, Mapping[str, Any]]]


_KNOWN: OrderedDict[int, tuple[Mapping[str, Any], _Document | None]] = OrderedDict()


def resolved(schema: Any, root: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return a schema with its own `$ref` followed into `root`; empty where it leads out of it."""
    seen = 0
    while isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str):
        seen += 1
        if seen > DEEPEST:
            return {}
        schema = _target(schema, root or {})
    return schema if isinstance(schema, Mapping) else {}


def resource_of(part: Mapping[str, Any], root: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return what `#` means in a part of a schema: the part around it that has an `$id`, or the whole.

    None for what is no part of it, and was made of parts.
    """
    document = None if root is None else _document(root)
    if document is None:
        return root
    known = document.parts.get(id(part))
    return None if known is None else known[1]


def _target(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    reference = schema["$ref"]
    document = _document(root)
    if document is None:
        pointer = unquote(reference)
        return _at(root, pointer[1:]) if pointer == "#" or pointer.startswith("#/") else {}
    known = document.parts.get(id(schema))
    if known is None:
        return {}
    from referencing.exceptions import Unresolvable

    try:
        return known[0].lookup(reference).contents
    except (Unresolvable, ValueError, TypeError):  # the last two: a key for an index, or within a text or a number
        return {}


def _at(place: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(place, Mapping):
            place = place.get(key, {})
        else:
            place = place[int(key)] if isinstance(place, list) and key.isdigit() and int(key) < len(place) else {}
    return place


def _document(root: Mapping[str, Any]) -> _Document | None:
    """Return where the parts of a schema stand, None where `#` means the whole everywhere."""
    known = _KNOWN.get(id(root))
    if known is None or known[0] is not root:
        known = root, _read(root) if any(_names(root, top=True)) else None
        _KNOWN[id(root)] = known
        while len(_KNOWN) > _REMEMBERED:
            _KNOWN.popitem(last=False)
    return known[1]


def _names(part: Any, *, top: bool = False) -> Iterator[bool]:
    """Iterate over the parts that a reference may name otherwise than from the top."""
    if isinstance(part, Mapping):
        if (not top and isinstance(part.get("$id"), str)) or "$anchor" in part or "$dynamicAnchor" in part:
            yield True
        part = part.values()
    elif not isinstance(part, list):
        return
    for inner in part:
        if isinstance(inner, (Mapping, list)):
            yield from _names(inner)


def _read(root: Mapping[str, Any]) -> _Document:
    from jsonschema_specifications import REGISTRY
    from referencing.jsonschema import DRAFT202012

    parts: dict[int, tuple[Any, Mapping[str, Any]]] = {}

    def note(part: Any, resolver: Any, resource: Mapping[str, Any]) -> None:
        if isinstance(part, Mapping):
            if isinstance(part.get("$id"), str) and part is not root:
                resolver, resource = resolver.in_subresource(DRAFT202012.create_resource(part)), part
            parts[id(part)] = resolver, resource
            part = part.values()
        elif not isinstance(part, list):
            return
        for inner in part:
            note(inner, resolver, resource)

    note(root, REGISTRY.resolver_with_root(DRAFT202012.create_resource(root)), root)
    return _Document(root, parts)
