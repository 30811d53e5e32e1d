"""The plan as data: what the language's words mean, before anything is known of the space.

Pointers are JSON pointers into the document as it was read, 0-based; positions are the step's place as
people count it, 1-based (`4.then.1`, `4.do[3].2`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from infospace.jsonvalue import JSON


@dataclass(frozen=True, slots=True)
class Input:
    """A declared input: a JSON Schema with perhaps a default, or a kind of resource."""

    name: str
    pointer: str
    schema: Mapping[str, Any] | None
    kind: str | None
    default: JSON = None
    required: bool = True


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may spend. `seconds` counts time, the others count things; None is no limit."""

    steps: int = 10_000
    depth: int = 10
    seconds: float | None = None
    llm_calls: int | None = None
    tool_calls: int | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Test:
    """One condition of section "Control forms": a type and its arguments as written."""

    type: str
    arguments: Mapping[str, JSON]
    pointer: str


@dataclass(frozen=True, slots=True)
class All:
    """`and`."""

    of: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """`or`."""

    of: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """`not`."""

    of: Condition


Condition: TypeAlias = "Test | All | AnyOf | Not"

Block: TypeAlias = "tuple[Step, ...]"


@dataclass(frozen=True, slots=True)
class Call:
    """A primitive with its arguments as written."""

    arguments: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class If:
    """`if`: one block or the other."""

    condition: Condition
    then: Block
    otherwise: Block = ()


@dataclass(frozen=True, slots=True)
class ForEach:
    """`for-each`: a block for each item, in a scope of its own."""

    target: JSON
    as_: str
    do: Block
    collect: str | None
    filter_null: bool = True


@dataclass(frozen=True, slots=True)
class Map:
    """`map`: one operation for each item."""

    target: JSON
    operation: str
    arguments: Mapping[str, JSON]
    pointer: str
    """Of the operation, for problems in it."""
    named: bool = False
    """Whether the operation was written as a name alone."""
    filter_null: bool = True


@dataclass(frozen=True, slots=True)
class Unread:
    """A step that could not be read, of which a problem was told. What it would have bound, it binds in the check."""

    outs: tuple[str, ...] = ()


Form: TypeAlias = Call | If | ForEach | Map | Unread


@dataclass(frozen=True, slots=True)
class Step:
    """One step: the fields that every step may have, and its form."""

    pointer: str
    label: str
    """Its own place: its number in the block, or its `id`."""
    type: str
    form: Form
    out: str | None = None
    name: str | None = None
    replace: bool = False
    on_fail: Literal["stop", "continue"] | Block = "stop"
    expect: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole document. `result` is what the plan answers with, as written; None means the last value."""

    steps: Block
    goal: str = ""
    inputs: Mapping[str, Input] = field(default_factory=dict)
    result: JSON = None
    budget: Budget = Budget()
    document: JSON = None
    pointer: str = ""
    """Of the list of steps: "" for a bare array, `/steps`, `/plan`."""


def outs(steps: Block, *, handlers: bool = True) -> Iterator[str]:
    """Iterate over the variables that steps bind in the scope they stand in, in document order.

    `handlers` false leaves `on_fail` lists out.
    """
    for step in steps:
        if isinstance(step.form, If):
            yield from outs(step.form.then, handlers=handlers)
            yield from outs(step.form.otherwise, handlers=handlers)
        if isinstance(step.form, Unread):
            yield from step.form.outs
        if step.out is not None:
            yield step.out
        if handlers and isinstance(step.on_fail, tuple) and not isinstance(step.form, (ForEach, Map)):
            yield from outs(step.on_fail)


def collected(form: ForEach) -> str | None:
    """Return the variable that a `for-each` collects: `collect`, else the last that its body binds."""
    if form.collect is not None:
        return form.collect
    return next(iter(reversed(list(outs(form.do, handlers=False)))), None)
