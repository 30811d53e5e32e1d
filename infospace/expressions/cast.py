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


def _to_text(value: JSON) -> JSON:
    return text_of(value) if isinstance(value, (str, bool, int, float)) else dump(value)


def _to_number(value: JSON) -> JSON:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise Wrong(f"cannot cast {kind_word(value)} to number")
    return value if not isinstance(value, str) else _parsed(value)


def _parsed(text: str) -> int | float:
    written = text.strip()
    if not _NUMERIC.fullmatch(written) or len(written) > _LONGEST:
        raise Wrong("cannot cast a text that is no number")
    if set(written) & set(".eE"):
        found = float(written)
        if not math.isfinite(found):
            raise Wrong("is beyond what a number holds")
        return found
    return checked(int(written))


def _to_integer(value: JSON) -> JSON:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str) and value.strip().lower() in _TRUTHS:
        return int(_TRUTHS[value.strip().lower()])
    number = _to_number(value)
    assert isinstance(number, (int, float))  # noqa: S101 - _to_number gives a number
    if isinstance(number, float) and not number.is_integer():
        raise Wrong("cannot cast a number with a fraction to integer")
    return int(number)


def _to_boolean(value: JSON) -> JSON:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in _TRUTHS:
        return _TRUTHS[value.strip().lower()]
    if isinstance(value, (int, float, str)):
        return _to_integer(value) != 0
    raise Wrong(f"cannot cast {kind_word(value)} to boolean")


CASTS: Final[dict[str, Callable[[JSON], JSON]]] = {
    "text": _to_text,
    "number": _to_number,
    "integer": _to_integer,
    "boolean": _to_boolean,
}
