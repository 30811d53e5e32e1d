"""Conditions on rows that are no SQL: as objects with operators, or with a small slip."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from infospace.core.errors import Invalid
from infospace.expressions.expression import parse_where
from planner.parse.condition_text import rewritten, with_words

_TEMPLATE = re.compile(r"\$\{([^{}]*)\}")
_OPERATORS = {"eq": "=", "ne": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}


def suggest_where(value: Any) -> str | None:
    """Return the SQL condition that was probably meant, None where none that can be read comes to mind."""
    for candidate in _candidates(value):
        try:
            parse_where(candidate)
        except Invalid:
            continue
        return candidate
    return None


def _candidates(raw: Any) -> Iterator[str]:
    if isinstance(raw, Mapping):
        yield " AND ".join(_comparison_sql(key, value) for key, value in raw.items())
    elif isinstance(raw, list) and all(isinstance(part, str) for part in raw):
        yield " AND ".join(f"({part})" for part in raw)
    elif isinstance(raw, str):
        text = raw.strip().rstrip(";")
        yield re.sub(r"(?is)^(select\b.*?\b)?where\s+", "", text)
        yield rewritten(text, lambda part: _TEMPLATE.sub(lambda found: f"${found[1].strip()}", part), _joined)
        yield with_words(text, parse_where) or text
        yield text.removesuffix(",")
        unquoted = rewritten(text, lambda part: part, lambda _quoted: "")
        if not re.search(r"(?i)\b(and|or)\b", unquoted):
            yield text + ")" * (unquoted.count("(") - unquoted.count(")"))
            yield "(" * (unquoted.count(")") - unquoted.count("(")) + text
        yield rewritten(text, lambda part: part.replace("=>", ">=").replace("=<", "<="))


def _joined(quoted: str) -> str:
    """Return a quoted text that references are pasted into as what joins them to what stands around them."""
    quote, parts = quoted[0], _TEMPLATE.split(quoted[1:-1])
    if quote == "`" or len(parts) == 1:
        return quoted
    return " || ".join(
        f"${part.strip()}" if number % 2 else f"{quote}{part}{quote}" for number, part in enumerate(parts) if part
    )


def _comparison_sql(key: str, value: Any) -> str:
    if isinstance(value, Mapping):
        return " AND ".join(_compared(key, operator.lstrip("$"), of) for operator, of in value.items())
    return f"{key} IS NULL" if value is None else f"{key} = {_sql(value)}"


def _compared(key: str, word: str, of: Any) -> str:
    if word == "in" and isinstance(of, list):
        return f"{key} IN ({', '.join(map(_sql, of))})"
    return f"{key} {_OPERATORS.get(word, '?')} {_sql(of)}"


def _sql(value: Any) -> str:
    if isinstance(value, str):
        return value if value.startswith("$") else "'" + value.replace("'", "''") + "'"
    return json.dumps(value)
