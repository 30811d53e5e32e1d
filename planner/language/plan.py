"""The plan as data: what the language's words mean, before anything is known of the space.

Pointers are JSON pointers into the document as it was read, 0-based; positions are the step's place as
people count it, 1-based (`4.then.1`, `4.do[3].2`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from infospace.core.bounds import MOST_CHARACTERS, MOST_ITEMS
from infospace.core.json_types import JSON
from infospace.data.paths import Path
from infospace.schema.value_text import shown
from planner.language.references import NAME, names_in

if TYPE_CHECKING:
    from infospace.expressions import Where


@dataclass(frozen=True, slots=True)
class Input:
    """A declared input: a JSON Schema with perhaps a default, or a kind of resource."""

    name: str
    pointer: str
    schema: Mapping[str, Any] | None
    kind: str | None
    default: JSON = None
    required: bool = True
    items: Mapping[str, Any] | None = None
    """The schema of the items of a Collection, where it is declared."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows that are given for a Collection; each becomes a transient Note."""

    rows: Sequence[JSON]

    def release(self) -> None:
        """Let the rows go once they are stored, where nobody else wants them."""
        if isinstance(self.rows, OwnedRows):
            self.rows.release()


class OwnedRows(list[JSON]):
    """Rows that whoever read them hands over to one run: it need not hold them beside what it stores.

    Millions of cells take several times as much room as their text, and the first step that reads them makes them
    anew from the space.
    """

    released = False

    def release(self) -> None:
        """Hold no rows any more; who binds them to another run is told so."""
        self.clear()
        self.released = True


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may spend. `seconds` counts time, the others count things; None is no limit."""

    steps: int = 100_000
    depth: int = 10
    seconds: float | None = None
    llm_calls: int | None = None
    tool_calls: int | None = None
    tokens: int | None = None
    items: int = MOST_ITEMS
    """What one step may make: Notes and other resources, and members of the Collections."""
    characters: int = MOST_CHARACTERS
    """Characters that one step may make."""


@dataclass(frozen=True, slots=True)
class TypedCondition:
    """One condition, such as `bound` or `empty`: its type, and its arguments as written."""

    type: str
    arguments: Mapping[str, JSON]
    pointer: str


@dataclass(frozen=True, slots=True)
class ExpressionCondition:
    """A condition that is an expression over variables, as it was read."""

    parsed: Where
    pointer: str

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that it reads, each once."""
        result = (NAME.match(parameter) for parameter in self.parsed.parameters)
        return tuple(dict.fromkeys(one.group() for one in result if one is not None))


@dataclass(frozen=True, slots=True)
class All:
    """The condition `and`."""

    of: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The condition `or`."""

    of: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The condition `not`."""

    of: Condition


Condition: TypeAlias = "TypedCondition | ExpressionCondition | All | AnyOf | Not"

Block: TypeAlias = "tuple[Step, ...]"


@dataclass(frozen=True, slots=True)
class Call:
    """A primitive with its arguments as written."""

    arguments: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool by its full name, with its arguments as written."""

    tool: str
    arguments: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class SavedPlanCall:
    """A saved plan by its name, with its arguments as written."""

    name: str
    arguments: Mapping[str, JSON]
    mapped: bool = False
    """Whether it is the operation of a `map`, whose item its first input of a kind is, unless that is written."""
    called: str | None = None
    """The pointer of its name, where that is not the `type` of the step."""

    def call_arguments(self, inputs: Mapping[str, Input]) -> Mapping[str, JSON]:
        """Return its arguments, with the item of a `map` among them."""
        first = next((declared.name for declared in inputs.values() if declared.kind is not None), None)
        if not self.mapped or first is None or first in self.arguments:
            return self.arguments
        return {**self.arguments, first: "$item"}


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
    until: Condition | None = None
    """Read after each item, over what its body bound too: the item of which it is true is the last."""


@dataclass(frozen=True, slots=True)
class While:
    """`while`: a block as long as a condition holds, in the scope it stands in."""

    condition: Condition
    body: Block
    max_iterations: int = 100


@dataclass(frozen=True, slots=True)
class Parallel:
    """`parallel`: blocks that the author vouches to be independent, each in a scope of its own."""

    branches: tuple[Block, ...]


LONGEST_WAIT = 10 * 365 * 86_400
"""Seconds that a `wait` may take at most: ten years."""


def no_wait(seconds: JSON) -> str | None:
    """Say what is wrong with the `seconds` of a `wait`, None where nothing is."""
    if isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and 0 <= seconds <= LONGEST_WAIT:
        return None
    return f"`seconds` is a number from 0 to {LONGEST_WAIT:,} (ten years), not {shown(seconds)}"


@dataclass(frozen=True, slots=True)
class Wait:
    """`wait`: until a condition holds, or for a number of seconds (as written); one of the two is None."""

    condition: Condition | None
    seconds: JSON


@dataclass(frozen=True, slots=True)
class Ask:
    """`ask`: a question to a person, and the JSON Schema of its answer; None takes any answer."""

    value: JSON
    schema: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Stop:
    """`stop`: the plan ends on purpose. `value` is its answer as written; None is no answer."""

    status: Literal["success", "failed"]
    value: JSON


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a call is made at most, the seconds before the second attempt, and their factor after each."""

    attempts: int = 3
    wait_s: float = 1.0
    backoff: float = 2.0


@dataclass(frozen=True, slots=True)
class Map:
    """`map`: one operation for each item."""

    target: JSON
    operation: str
    arguments: Mapping[str, JSON]
    pointer: str
    """Of the operation, for problems in it."""
    named: bool = False
    """Whether the operation was written as a name alone; arguments then stand in the step, which was told."""
    filter_null: bool = True


@dataclass(frozen=True, slots=True)
class Pages:
    """`pages`: a tool called until it has no more, by cursors where `next` says where they are, else by numbers."""

    tool: str
    arguments: Mapping[str, JSON]
    as_: str
    items: Path | None
    """Where the list is in an answer; None: the answer is the list."""
    next: Path | None
    """Where the cursor of the next page is in an answer; None: pages have numbers."""
    has_first: bool
    """Whether the variable is bound at the first call; cursors alone may be without."""
    first: JSON = None
    """What it is then, as written."""
    step: JSON = 1
    """What the number of a page is more than that of the page before, as written."""
    max_pages: int = 100

    def first_arguments(self) -> Mapping[str, JSON]:
        """Return the arguments of the first call; without `first`, what is exactly the variable is left out."""
        return self.arguments if self.has_first else _without(self.arguments, f"${self.as_}")


def _without(value: Mapping[str, JSON], left_out: str) -> dict[str, JSON]:
    return {
        key: _without(inner, left_out) if isinstance(inner, dict) else inner
        for key, inner in value.items()
        if inner != left_out
    }


@dataclass(frozen=True, slots=True)
class UnparsedStep:
    """A step that could not be read, of which a problem was told. What it would have bound, it binds in the check."""

    outs: tuple[str, ...] = ()


Form: TypeAlias = (
    Call | ToolCall | SavedPlanCall | If | While | ForEach | Map | Pages | Parallel | Wait | Ask | Stop | UnparsedStep
)


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
    retry: Retry | None = None
    timeout_s: float | None = None
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
    plans: Mapping[str, Plan] = field(default_factory=dict)
    """The saved plans that it names, directly or not."""


def blocks(form: Form) -> tuple[Block, ...]:
    """Return the blocks of a form that bind in the scope which the form stands in, in document order."""
    match form:
        case If(_, then, otherwise):
            return then, otherwise
        case While(_, body):
            return (body,)
        case Parallel(branches):
            return branches
    return ()


def bindings(steps: Block, *, handlers: bool = True) -> Iterator[tuple[str, str]]:
    """Iterate over the variables that steps bind in the scope they stand in, with pointers, in document order.

    `handlers` false leaves `on_fail` lists out.
    """
    for step in steps:
        for block in blocks(step.form):
            yield from bindings(block, handlers=handlers)
        if isinstance(step.form, UnparsedStep):
            yield from ((name, step.pointer) for name in step.form.outs)
        if step.out is not None:
            yield step.out, f"{step.pointer}/out"
        if handlers and isinstance(step.on_fail, tuple) and not isinstance(step.form, (ForEach, Map)):
            yield from bindings(step.on_fail)


def outs(steps: Block, *, handlers: bool = True) -> Iterator[str]:
    """Iterate over the variables that steps bind in the scope they stand in, in document order."""
    return (name for name, _ in bindings(steps, handlers=handlers))


def every_step(steps: Block) -> Iterator[Step]:
    """Iterate over steps and all that stand in them, `on_fail` lists too, in document order."""
    for step in steps:
        yield step
        inner = step.form.do if isinstance(step.form, ForEach) else ()
        for block in (*blocks(step.form), inner, step.on_fail if isinstance(step.on_fail, tuple) else ()):
            if block:
                yield from every_step(block)


def condition_of(form: Form) -> Condition | None:
    """Return the condition that a form asks, None where it asks none."""
    if isinstance(form, ForEach):
        return form.until
    return form.condition if isinstance(form, (If, While, Wait)) else None


def every_part(condition: Condition | None) -> Iterator[TypedCondition | ExpressionCondition]:
    """Iterate over the tests and expressions that a condition is made of, in document order."""
    match condition:
        case All(of) | AnyOf(of):
            for part in of:
                yield from every_part(part)
        case Not(of):
            yield from every_part(of)
        case TypedCondition() | ExpressionCondition():
            yield condition


def every_test(condition: Condition | None) -> Iterator[TypedCondition]:
    """Iterate over the tests among them."""
    return (part for part in every_part(condition) if isinstance(part, TypedCondition))


def names_of(part: TypedCondition | ExpressionCondition) -> Iterator[str]:
    """Iterate over the variables that a part of a condition reads; never fewer than it does."""
    return iter(part.names) if isinstance(part, ExpressionCondition) else names_in(part.arguments)


def reads(step: Step) -> Iterator[str]:
    """Iterate over the variables that a step reads itself, apart from the steps in it; never fewer than it does."""
    if step.name is not None:
        yield from names_in(step.name)
    match step.form:
        case Call(arguments) | ToolCall(_, arguments) | SavedPlanCall(_, arguments):
            yield from names_in(arguments)
            return  # none of them asks a condition
        case Map(target, _, arguments):
            yield from names_in([target, dict(arguments)])
        case Pages(_, arguments, as_):
            yield from (name for name in names_in(dict(arguments)) if name != as_)
            yield from names_in([step.form.first, step.form.step])
        case ForEach(target):
            yield from names_in(target)
        case Wait(_, seconds):
            yield from names_in(seconds)
        case Ask(value) | Stop(_, value):
            yield from names_in(value)
    for part in every_part(condition_of(step.form)):
        yield from names_of(part)


def collected(form: ForEach) -> str | None:
    """Return the variable that a `for-each` collects: `collect`, else the last that its body binds."""
    if form.collect is not None:
        return form.collect
    return next(iter(reversed(list(outs(form.do, handlers=False)))), None)
