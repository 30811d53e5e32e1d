"""What CAST makes of values, one function for each type; each raises Wrong for what cannot be cast."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Final

from infospace.core.json_types import JSON
from infospace.core.resources import text_of
from infospace.data.json_text import dump
from infospace.expressions.compare import kind_word
from infospace.expressions.functions import checked
from infospace.expressions.wrong import Wrong

_NUMERIC: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_LONGEST: Final = 400
_TRUTHS: Final = {"true": True, "false": False}
_NO: Final = {"number": "number", "integer": "whole number", "boolean": "boolean"}


def _to_text(value: JSON) -> JSON:
    return text_of(value) if isinstance(value, (str, bool, int, float)) else dump(value)


def _to_number(value: JSON) -> JSON:
    return _number(value, "number")


def _number(value: JSON, to: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise Wrong(f"cannot cast {kind_word(value)} to {to}")
    return value if not isinstance(value, str) else _parsed(value, to)


def _parsed(text: str, to: str) -> int | float:
    written = text.strip()
    if not _NUMERIC.fullmatch(written) or len(written) > _LONGEST:
        raise Wrong(f"cannot cast a text that is no {_NO[to]}")
    if set(written) & set(".eE"):
        found = float(written)
        if not math.isfinite(found):
            raise Wrong("is beyond what a number holds")
        return found
    return checked(int(written))


def _to_integer(value: JSON) -> JSON:
    return _whole(value, "integer")


def _whole(value: JSON, to: str) -> int:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str) and value.strip().lower() in _TRUTHS:
        return int(_TRUTHS[value.strip().lower()])
    number = _number(value, to)
    if isinstance(number, float) and not number.is_integer():
        raise Wrong(f"cannot cast a number with a fraction to {to}")
    return int(number)


def _to_boolean(value: JSON) -> JSON:
    return _whole(value, "boolean") != 0


CASTS: Final[dict[str, Callable[[JSON], JSON]]] = {
    "text": _to_text,
    "number": _to_number,
    "integer": _to_integer,
    "boolean": _to_boolean,
}
