"""What is known where a step stands: variables and their shapes, and the contract of what the step is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from infospace.contract.catalogue import Catalogue
from infospace.core.ids import Kind
from infospace.core.json_types import JSON
from infospace.data.json_source_map import JsonNode
from infospace.schema.shapes import CollectionShape, NoteShape, Shape, Unknown
from planner.check.checker import Checker
from planner.check.environment import Environment, Variable
from planner.check.references.values import ValueChecker
from planner.check.space_facts import SpaceFacts
from planner.editor.cursor import Cursor, EnclosingValue, value_of
from planner.language.plan import Plan, Step
from planner.language.problems import Problems
from planner.language.references import NAME
from planner.parse.document import parse_plan
from planner.parse.steps import parse_block
from planner.parse.text import is_head


class CursorContext:
    """What is known around a cursor. Nothing in it is told to be wrong."""

    def __init__(
        self, cursor: Cursor, root: JsonNode | None, catalogue: Catalogue, facts: SpaceFacts, *, lines: bool
    ) -> None:
        self.cursor = cursor
        self.catalogue = catalogue
        self.known = facts
        self.env = _environment(cursor, root, catalogue, facts, lines=lines)
        self.step = cursor.nearest("step")
        self.operation = cursor.nearest("operation")
        item = self._item()
        if item is not None:
            self.env.bind("item", Variable(item))
        if self.type == "pages" and cursor.nearest("arguments") is not None:
            self.env.bind(self._variable("as", "page"), Variable(NoteShape()))
        if self.step is not None and cursor.below(self.step)[:1] == ("until",):
            self._go_through_body(catalogue, facts)

    @property
    def call(self) -> EnclosingValue | None:
        """The innermost step, or operation of `map`, that it is in."""
        return self.operation or self.step

    @property
    def type(self) -> str:
        """The type of that, "" where it has none yet."""
        value = None if self.call is None else value_of(self.call.spot, "type")
        return value if isinstance(value, str) else ""

    def shape(self, raw: JSON) -> Shape:
        """Return what is known of a resource as it is written: a reference, an id, a name."""
        if not isinstance(raw, str):
            return Unknown()
        return ValueChecker(self.known, Problems()).resource(raw, "", frozenset(Kind), self.env)

    def targets(self, names: Sequence[str]) -> list[Shape]:
        """Return what is known of the items of some arguments of the call."""
        if self.call is None:
            return []
        results = []
        for name in names:
            value = value_of(self.call.spot, name)
            shape = self.env.variables["item"].shape if self._stands_for(name, value) else self.shape(value)
            results.append(shape.item if isinstance(shape, CollectionShape) else Unknown())
        return results

    def _variable(self, field: str, default: str) -> str:
        """Return the name of the variable in a field of the step."""
        value = None if self.step is None else value_of(self.step.spot, field)
        return value[1:] if isinstance(value, str) and NAME.fullmatch(value[1:]) else default

    def _go_through_body(self, catalogue: Catalogue, facts: SpaceFacts) -> None:
        """Bind what the body of a `for-each` binds, which its `until` may read."""
        assert self.step is not None  # noqa: S101 - who asks for this has looked
        shape = self.shape(value_of(self.step.spot, "target"))
        item = shape.item if isinstance(shape, CollectionShape) else Unknown()
        checker = Checker(catalogue, facts, Problems())
        checker.env = self.env
        checker.env.bind(self._variable("as", "item"), Variable(item))
        checker.block(parse_block(value_of(self.step.spot, "do"), "", Problems()))
        self.env = checker.env

    def _stands_for(self, name: str, value: JSON) -> bool:
        """Whether the item of a `map` stands for an argument that is not written."""
        return self.operation is not None and value is None and name == "target" and "item" in self.env.variables

    def _item(self) -> Shape | None:
        """Return what is known of an item, in the operation of a `map`."""
        if self.operation is None or self.step is None:
            return None
        shape = self.shape(value_of(self.step.spot, "target"))
        return shape.item if isinstance(shape, CollectionShape) else Unknown()


def _environment(
    cursor: Cursor, root: JsonNode | None, catalogue: Catalogue, facts: SpaceFacts, *, lines: bool
) -> Environment:
    """Return what is known where the innermost step begins that the cursor is in; outside of all, at the end."""
    steps = [enclosing for enclosing in cursor.around if enclosing.role == "step"]
    document, shift = _document(None if root is None else root.value, lines=lines)
    plan = parse_plan(document, Problems())
    pointers = [_shifted(enclosing.pointer, shift) for enclosing in steps]
    seen: dict[str, Environment] = {}

    def remember(step: Step, env: Environment) -> None:
        if step.pointer in pointers:
            seen[step.pointer] = env.copy()

    checker = Checker(catalogue, facts, Problems(), on_step=remember)
    checker.inputs(plan)
    checker.block(_up_to(plan, pointers), most=plan.budget.depth)
    for pointer in reversed(pointers):
        if pointer in seen:
            return seen[pointer]
    return checker.env


def _up_to(plan: Plan, pointers: Sequence[str]) -> tuple[Step, ...]:
    """Return the plan's own steps up to the one that the cursor is in."""
    if not pointers:
        return plan.steps
    own = [step.pointer for step in plan.steps]
    return plan.steps[: own.index(pointers[0]) + 1] if pointers[0] in own else plan.steps


def _document(value: JSON, *, lines: bool) -> tuple[JSON, int | None]:
    """Return the document that JSON Lines come to, and how many lines stand before its steps; None of no lines."""
    if not lines or not isinstance(value, list):
        return value, None
    head: Mapping[str, Any] = value[0] if value and isinstance(value[0], dict) and is_head(value[0]) else {}
    return {**head, "steps": value[bool(head) :]}, int(bool(head))


def _shifted(pointer: str, shift: int | None) -> str:
    if shift is None:
        return pointer
    _, index, *rest = pointer.split("/")
    return "/".join(["", "steps", str(int(index) - shift), *rest])
