"""What items are sorted by, in the words of other systems: `-a`, `a:desc`, `desc(a)`, `{"a": "desc"}`, `a, b desc`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.data.json_text import dump
from infospace.expressions.expression import SortKey, parse_sort_key
from infospace.expressions.tree import Negative
from planner.language.problems import Patch, join, replace
from planner.repair.synonyms import ARGUMENTS

_ORDERS: Final[Mapping[str, str]] = {
    "asc": "asc",
    "ascending": "asc",
    "1": "asc",
    "desc": "desc",
    "descending": "desc",
    "-1": "desc",
}
TURNED: Final[Mapping[str, bool]] = {
    "descending": True,
    "desc": True,
    "reverse": True,
    "reversed": True,
    "ascending": False,
    "asc": False,
}
"""Arguments elsewhere that turn an order round where they are true, or where they are false."""
_FIELD: Final = frozenset({"field", "key", "by", "path", "column", "expression"})
_ORDER: Final = frozenset({"order", "direction", "dir", "sort", "sort_order"})
_BEHIND: Final = re.compile(
    r"(?P<key>[^\s,:]+)(?:\s*:\s*|\s+)(?P<order>ascending|descending|asc|desc|-?1)", re.IGNORECASE
)
_AROUND: Final = re.compile(r"(?P<order>asc|desc)\s*\((?P<key>[^()]+)\)", re.IGNORECASE)
_NULLS: Final = re.compile(r"(?P<keys>.*\S)\s+nulls\s+(?P<nulls>first|last)", re.IGNORECASE | re.DOTALL)
_PART: Final = r"[^()\[\]'\"]*"
_SEVERAL: Final = re.compile(f"{_PART},{_PART}")


def suggest_sort(name: str, raw: Mapping[str, JSON], pointer: str) -> Patch | None:
    """Return the patch by which the keys of a sort are written as they are here; None where that is not plain.

    A key that says its order keeps it, whatever `order` stands beside; one that says none is left to that.
    """
    patch: Patch = []
    value = raw.get(name)
    nulls = _NULLS.fullmatch(value) if isinstance(value, str) else None
    if nulls is not None:
        if raw.get("nulls", nulls["nulls"].lower()) != nulls["nulls"].lower():
            return None
        value = nulls["keys"]
        if nulls["nulls"].lower() == "first" and "nulls" not in raw:
            patch = [{"op": "add", "path": join(pointer, "nulls"), "value": "first"}]
    keys = _keys(value, beside=has_order(raw))
    if not keys:
        return None
    suggestion = keys if isinstance(value, list) or len(keys) > 1 else keys[0]
    return None if suggestion == raw.get(name) else [*replace(join(pointer, name), suggestion), *patch]


def suggest_orders(
    name: str, raw: Mapping[str, JSON], pointer: str, *, turned: bool = False
) -> tuple[str, Patch] | None:
    """Say how one order for each key is written: `["desc", "asc"]`, or `[false, true]`, where `turned` is descending.

    None where there is not one for each of the keys of `by`, or a key says its order itself.
    """
    orders, keys = raw[name], raw.get("by")
    if not isinstance(orders, list) or not isinstance(keys, list) or len(orders) != len(keys):
        return None
    suggestion: list[JSON] = []
    for key, one in zip(keys, orders, strict=True):
        order = ("desc" if one == turned else "asc") if isinstance(one, bool) else _ORDERS.get(str(one).lower())
        if order is None or not isinstance(key, str) or _key_has_order(key):
            return None
        suggestion.append(f"{key} {order}")
    remove: Patch = [{"op": "remove", "path": join(pointer, name)}]
    return "the last word of a key is its own order", [*remove, *replace(join(pointer, "by"), suggestion)]


def words_of_order(value: Any) -> dict[int, str]:
    """Return the elements of a list of keys that are words for an order, by their places: `["a", "desc"]`."""
    listed = value if isinstance(value, list) else ()
    return {
        at: text
        for at, text in enumerate(listed)
        if isinstance(text, str) and text.lower() in _ORDERS and text.isalpha()
    }


def suggest_pairs(name: str, raw: Mapping[str, JSON], pointer: str) -> tuple[str, Patch | None]:
    """Say how keys are written behind each of which its order stands as another key: `["a", "desc"]` is `["a desc"]`.

    Without a patch where not each key has an order, one says its own, or one stands beside them.
    """
    value: Any = raw[name]
    orders = words_of_order(value)
    keys, words = value[::2], value[1::2]
    paired = [*orders] == [*range(1, len(value), 2)] and len(keys) == len(words) and not has_order(raw)
    suggestion = (
        [_listed([key, order], beside=False) for key, order in zip(keys, words, strict=False)] if paired else []
    )
    if suggestion and None not in suggestion:
        return f"an order is the last word of its key: {dump(suggestion)}", replace(join(pointer, name), suggestion)
    at, order = next(iter(orders.items()))
    key = value[at - 1] if at else next((one for one in value if isinstance(one, str) and one != order), "key")
    shown = key if not isinstance(key, str) or _key_has_order(key) else f"{key} {_ORDERS[order.lower()]}"
    return f"an order is the last word of its key: {dump(shown)}", None


def has_order(raw: Mapping[str, JSON]) -> bool:
    """Whether an order stands beside the keys, by whatever name."""
    return not raw.keys().isdisjoint({"order", *ARGUMENTS["order"], *TURNED})


def descending(key: SortKey) -> str | None:
    """Return the key that `-a` means where `a` is no number: `a desc`; None for one of another form."""
    text = key.text.strip()
    if not isinstance(key.tree, Negative) or not text.startswith("-") or key.order is not None:
        return None
    return _read(f"{text[1:].strip()} desc")


def _keys(value: Any, *, beside: bool) -> list[str] | None:
    """Return the keys that are meant; None where one is not plain."""
    if isinstance(value, list):
        if any(isinstance(one, str) and one.strip().startswith("+") for one in value):
            # Beside a `+`, which is nothing but a sign for an order, a `-` is one, too.
            value = [_without_minus(one) if isinstance(one, str) else one for one in value]
        results = [_listed(one, beside=beside) for one in value]
        return None if None in results else [key for key in results if key is not None]
    if isinstance(value, str):
        text = re.sub(r"(?i)^order\s+by\s+", "", value.strip())
        parts = text.split(",") if _SEVERAL.fullmatch(text) else [text]
        return _keys([part.strip() for part in parts], beside=beside)
    if isinstance(value, dict):
        if value.keys() & _FIELD and value.keys() & _ORDER:
            one = _listed(value, beside=beside)
            return None if one is None else [one]
        return _keys([[key, order] for key, order in value.items()], beside=beside)
    return None


def _listed(value: Any, *, beside: bool) -> str | None:
    """Return one key as it is meant."""
    if isinstance(value, dict) and len(value) == 1:
        return _listed([*next(iter(value.items()))], beside=beside)
    if isinstance(value, dict) and len(value) == 2:
        field, order = (next((value[key] for key in value if key in words), None) for words in (_FIELD, _ORDER))
        return None if field is None or order is None else _listed([field, order], beside=beside)
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str):
        inner = value[1].get("order") if isinstance(value[1], dict) and len(value[1]) == 1 else value[1]
        order = None if isinstance(inner, bool) else _ORDERS.get(str(inner).lower())
        return None if order is None or _key_has_order(value[0]) else _read(f"{value[0]} {order}")
    if not isinstance(value, str):
        return None
    text = value.strip()
    if _read(text) is not None:
        return value
    if text.startswith("+"):
        return None if beside else _read(text[1:].strip())
    match = _BEHIND.fullmatch(text) or _AROUND.fullmatch(text)
    return (
        None
        if match is None or _key_has_order(match["key"])
        else _read(f"{match['key'].strip()} {_ORDERS[match['order'].lower()]}")
    )


def _without_minus(text: str) -> str:
    key = _parsed(text)
    return (None if key is None else descending(key)) or text


def _key_has_order(text: str) -> bool:
    """Whether a key says its order itself, by a word or by a sign."""
    key = _parsed(text)
    return key is None or key.order is not None or isinstance(key.tree, Negative)


def _read(text: str) -> str | None:
    """Return a text that is a sort key."""
    return None if _parsed(text) is None else text


def _parsed(text: str) -> SortKey | None:
    try:
        return parse_sort_key(text)
    except Invalid:
        return None
