"""JSON Patch (RFC 6902) as far as the check writes it: add, remove, replace, move."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Final

from infospace.core.errors import Invalid
from infospace.schema.value_text import either, shown

EXAMPLE = '{"op": "replace", "path": "/steps/2/limit", "value": 20}'
_WANTS: Final[Mapping[str, tuple[str, ...]]] = {
    "add": ("value",),
    "remove": (),
    "replace": ("value",),
    "move": ("from",),
}
"""The operations, and what each needs besides `path`."""


def apply_patch(document: Any, patch: list[dict[str, Any]]) -> Any:
    """Return a copy of a document with a patch applied.

    Raises KeyError, IndexError or TypeError where the patch names a place that is not there.
    """
    root = [copy.deepcopy(document)]
    patch_in_place(root, patch)
    return root[0]


def patch_in_place(root: list[Any], patch: list[dict[str, Any]]) -> None:
    """Apply a patch to the document in a list of one; raises as `apply_patch` does, perhaps after part of it."""
    for operation in patch:
        value = copy.deepcopy(operation.get("value"))
        if operation["op"] == "move":
            value = _remove_at(root, operation["from"])
        if operation["op"] == "remove":
            _remove_at(root, operation["path"])
            continue
        if operation["op"] == "replace":
            _remove_at(root, operation["path"])
        holder, key = _place(root, operation["path"])
        if isinstance(holder, list):
            if key > len(holder):
                raise IndexError(operation["path"])
            holder.insert(key, value)
        else:
            holder[key] = value


def check_patch(patch: Sequence[Any]) -> None:
    """Raise Invalid for the first operation that is not one of those of a patch as it is written here."""
    for index, operation in enumerate(patch):
        fault = _operation_error(operation)
        if fault is not None:
            raise Invalid(f"operation {index} of the patch: {fault}", hint=EXAMPLE)


def _operation_error(operation: Any) -> str | None:
    if not isinstance(operation, Mapping):
        return f"it is an object, not {shown(operation)}"
    op = operation.get("op")
    if not isinstance(op, str) or op not in _WANTS:
        return f"`op` is {shown(op)}, not {either(shown(one) for one in _WANTS)}"
    missing = [key for key in ("path", *_WANTS[op]) if key not in operation]
    if missing:
        return f"{shown(op)} needs `{missing[0]}`"
    for key in ("path", "from"):
        pointer = operation.get(key, "")
        if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
            return f"`{key}` is {shown(pointer)}, not a JSON pointer"
    return None


def at(document: Any, pointer: str) -> Any:
    """Return what a JSON pointer points at; KeyError, IndexError or TypeError when there is nothing."""
    value = document
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~") if "~" in part else part
        if isinstance(value, dict):
            value = value[name]
        elif isinstance(value, list):
            value = value[_index(name)]
        else:
            raise TypeError(pointer)
    return value


def _remove_at(root: list[Any], pointer: str) -> Any:
    holder, key = _place(root, pointer)
    return holder.pop(key)


def _place(root: list[Any], pointer: str) -> tuple[Any, Any]:
    """Return the object or list that a pointer ends in, and the key or index in it, which need not be there."""
    holder: Any = root
    key: Any = 0
    for part in pointer.split("/")[1:]:
        holder = holder[key]
        name = part.replace("~1", "/").replace("~0", "~")
        key = _index(name) if isinstance(holder, list) else name
        if not isinstance(holder, dict | list):
            raise TypeError(pointer)
    return holder, key


def _index(name: str) -> int:
    """Return an index that a pointer names, which counts from the beginning; IndexError for what is none."""
    if not (name.isascii() and name.isdigit()):
        raise IndexError(name)
    return int(name)
