"""The values in a goal: numbers, dates, quoted texts, and words with a digit, an @ or a slash.

Two goals that differ in these alone are one goal with other values. A plan for the one is a plan for the other where
each value stands in it at one place, which then reads an input.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from infospace.contract.arguments import ParseMode
from infospace.contract.catalogue import Catalogue
from infospace.core.json_types import JSON

ValueKind: TypeAlias = Literal["integer", "number", "date", "quoted", "word"]

_VALUE = re.compile(
    r""""(?P<double>[^"\n]+)"|(?<!\w)'(?P<single>[^'\n]+)'(?!\w)|“(?P<curly>[^”\n]+)”"""
    r"""|(?P<word>(?<![\w@/])[\w@/][\w@/.:+-]*(?<![.:+-]))"""
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_INTEGER = re.compile(r"[1-9]\d*|0")
_NUMBER = re.compile(r"\d+\.\d+")
_COMPARED = re.compile(r"(?:[<>=]|\b(?:LIMIT|BETWEEN|AND|THEN|ELSE))\s*$", re.IGNORECASE)
"""What a number stands behind in SQL where it is a value of its own, and no part of a function's arguments."""
_EXPRESSIONS = (ParseMode.WHERE, ParseMode.EXPRESSION, ParseMode.SQL, ParseMode.EXPRESSIONS, ParseMode.SORT_KEYS)
_BLOCKS = ("do", "then", "else", "body", "branches", "on_fail")
_CONDITIONS = ("condition", "until")
TYPES: Mapping[ValueKind, str] = {"integer": "integer", "number": "number"}
"""The JSON type of each kind; the others are texts."""


@dataclass(frozen=True, slots=True)
class GoalValue:
    """A value as it is written in a goal, without its quotes."""

    kind: ValueKind
    text: str

    @property
    def value(self) -> JSON:
        """The value that an input gets."""
        if self.kind == "integer":
            return int(self.text)
        return float(self.text) if self.kind == "number" else self.text

    @property
    def schema(self) -> JSON:
        """The JSON Schema of that input."""
        return {"type": TYPES.get(self.kind, "string")}


def split_goal(goal: str) -> tuple[str, tuple[GoalValue, ...]]:
    """Return a goal with each value replaced by its kind, and the values, in their order."""
    values: list[GoalValue] = []

    def placeholder(match: re.Match[str]) -> str:
        value = _value_of(match)
        if value is None:
            return match[0]
        values.append(value)
        return f"\0{value.kind}\0"

    return _VALUE.sub(placeholder, " ".join(goal.split())), tuple(values)


def _value_of(match: re.Match[str]) -> GoalValue | None:
    word = match["word"]
    if word is None:
        return GoalValue("quoted", match["double"] or match["single"] or match["curly"])
    if _DATE.fullmatch(word):
        return GoalValue("date", word)
    if _INTEGER.fullmatch(word) and len(word) < 16:
        return GoalValue("integer", word)
    if _NUMBER.fullmatch(word):
        return GoalValue("number", word)
    is_value = any(character.isdigit() or character in "@/" for character in word)
    return GoalValue("word", word) if is_value else None


def with_input(plan: JSON, value: GoalValue, name: str, catalogue: Catalogue) -> JSON:
    """Return a plan that reads an input at the one place where it has a value; None where there is no such place.

    A value that stands there more than once, or not as a value of its own, may mean something else.
    """
    if not isinstance(plan, Mapping) or _count(plan, value) != 1:
        return None
    places = _Places(value, name, catalogue)
    steps = places.block(plan.get("steps"))
    if places.found != 1:
        return None
    inputs = plan.get("inputs") if isinstance(plan.get("inputs"), Mapping) else {}
    assert isinstance(inputs, Mapping)  # noqa: S101 - it was asked in the line before
    return {**plan, "inputs": {**inputs, name: value.schema}, "steps": steps}


def _count(part: JSON, value: GoalValue) -> int:
    """Return how often a value stands in a plan, at whatever place; the plan's goal is left out."""
    if isinstance(part, Mapping):
        return sum(_count(inner, value) for key, inner in part.items() if key not in ("goal", "expect"))
    if isinstance(part, list):
        return sum(_count(inner, value) for inner in part)
    if isinstance(part, str):
        return len(_token(value).findall(part))
    return int(not isinstance(part, bool) and part is not None and part == value.value)


def _token(value: GoalValue) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.]){re.escape(value.text)}(?![\w]|\.\d)")


@dataclass(slots=True)
class _Places:
    """Puts a reference in the place of a value, where a value may stand; counts the places."""

    value: GoalValue
    name: str
    catalogue: Catalogue
    found: int = field(default=0)

    def block(self, steps: JSON) -> JSON:
        """Return steps, and blocks of steps, with the reference."""
        if isinstance(steps, list):
            return [self.block(step) for step in steps]
        if not isinstance(steps, Mapping) or not isinstance(steps.get("type"), str):
            return steps
        return self._step(steps)

    def _step(self, step: Mapping[str, JSON]) -> JSON:
        entry = self.catalogue.find(str(step["type"]))
        changed: dict[str, JSON] = {}
        for key, part in step.items():
            argument = None if entry is None else entry.arguments.get(key)
            if key in _BLOCKS or key == "operation":
                changed[key] = self.block(part)
            elif key in _CONDITIONS or (argument is not None and argument.reading in _EXPRESSIONS):
                changed[key] = _each(part, self._expression)
            elif key in ("arguments", "name", "seconds") or (
                argument is not None and argument.reading is ParseMode.VALUE
            ):
                changed[key] = _each(part, self._value)
            else:
                changed[key] = part
        return changed

    def _value(self, part: JSON) -> JSON:
        if not isinstance(part, str):
            is_it = not isinstance(part, bool) and part is not None and part == self.value.value
            self.found += is_it
            return f"${self.name}" if is_it else part
        if part == self.value.text and self.value.kind not in TYPES:
            self.found += 1
            return f"${self.name}"
        text, count = _token(self.value).subn(f"${{{self.name}}}", part)
        self.found += count
        return text

    def _expression(self, part: JSON) -> JSON:
        if not isinstance(part, str):
            return part
        quoted = f"'{self.value.text}'"
        if self.value.kind not in TYPES:
            self.found += part.count(quoted)
            return part.replace(quoted, f"${self.name}")
        match = _token(self.value).search(part)
        if match is None or not _COMPARED.search(part[: match.start()]):
            return part
        self.found += 1
        return f"{part[: match.start()]}${self.name}{part[match.end() :]}"


def _each(part: JSON, change: Callable[[JSON], JSON]) -> JSON:
    """Change the texts and numbers in a value."""
    if isinstance(part, Mapping):
        return {key: _each(inner, change) for key, inner in part.items()}
    if isinstance(part, list):
        return [_each(inner, change) for inner in part]
    return change(part)


def differing(values: Sequence[GoalValue], others: Sequence[GoalValue]) -> list[int]:
    """Return which of the values of two goals are not the same."""
    return [number for number, (one, other) in enumerate(zip(values, others, strict=True)) if one != other]
