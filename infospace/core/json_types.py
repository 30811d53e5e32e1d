"""The JSON values that notes, arguments and answers are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

JSON: TypeAlias = "None | bool | int | float | str | Sequence[JSON] | Mapping[str, JSON]"
"""Any JSON value as `json` reads it: lists are `list`, objects are `dict` in stored order."""
