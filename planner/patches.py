"""JSON Patch (RFC 6902) as far as the check writes it: add, remove, replace, move."""

from __future__ import annotations

import copy
from typing import Any


def patched(document: Any, patch: list[dict[str, Any]]) -> Any:
    """Return a copy of a document with a patch applied.

    Raises KeyError, IndexError or TypeError where the patch names a place that is not there.
    """
    root = [copy.deepcopy(document)]
    for operation in patch:
        value = copy.deepcopy(operation.get("value"))
        if operation["op"] == "move":
            value = _take(root, operation["from"])
        if operation["op"] == "remove":
            _take(root, operation["path"])
            continue
        if operation["op"] == "replace":
            _take(root, operation["path"])
        holder, key = _place(root, operation["path"])
        if isinstance(holder, list):
            holder.insert(key, value)
        else:
            holder[key] = value
    return root[0]


def at(document: Any, pointer: str) -> Any:
    """Return what a JSON pointer points at; KeyError or IndexError when there is nothing."""
    holder, key = _place([document], pointer)
    return holder[key]


def _take(root: list[Any], pointer: str) -> Any:
    holder, key = _place(root, pointer)
    return holder.pop(key)


def _place(root: list[Any], pointer: str) -> tuple[Any, Any]:
    holder: Any = root
    key: Any = 0
    for part in pointer.split("/")[1:]:
        holder = holder[key]
        name = part.replace("~1", "/").replace("~0", "~")
        key = int(name) if isinstance(holder, list) else name
    return holder, key
