"""What servers answer, as values that a space can keep."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from typing import Any

LARGEST = 16 * 2**20
"""Bytes of one message that are taken: of an answer, or of a page of a list."""

TOO_LARGE = f"it answers with more than {LARGEST // 2**20} MB, which are not taken: ask for less, or for a part"

_LONE = re.compile(r"[\ud800-\udfff]")


def sanitize(value: Any) -> Any:
    """Return JSON that can be kept: what is half of a character becomes U+FFFD, a number that is none becomes null."""
    if isinstance(value, str):
        return value if value.isascii() else _LONE.sub("\ufffd", value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {sanitize(key): sanitize(item) for key, item in value.items()}
    if isinstance(value, list):
        return [sanitize(item) for item in value]
    return value
