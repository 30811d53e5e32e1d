"""What the check still knows when a resource is changed in place, wherever else that resource may be known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from infospace.contract.catalogue import Catalogue
from infospace.contract.decorator import Primitive
from infospace.core.json_types import JSON
from infospace.schema.shapes import (
    WRONG,
    CollectionShape,
    NoteShape,
    Schema,
    Shape,
    Unknown,
    alternatives,
    bare,
    is_itself,
    source_of,
    union,
    with_identity,
)
from planner.check.environment import Environment
from planner.check.space_facts import SpaceFacts
from planner.language.plan import Block, Call, Map, SavedPlanCall, every_step
from planner.language.references import NAME


class MutationTracker:
    """The changes in place that the check has come by, in document order."""

    def __init__(self) -> None:
        self.deleted = False
        """Whether something was deleted or renamed, so that a name that was taken may be free."""
        self._made: list[tuple[Shape, Shape]] = []
        self._known: dict[str, tuple[int, Shape]] = {}
        """Of names and ids of the space: how many of the changes are in the shape."""
        self._options: dict[int, tuple[Schema, list[Schema]]] = {}
        """Alternatives of schemas by the schema's own identity; the schema is kept, so that no other has it."""

    def shape(self, reference: str, shape: Shape) -> Shape:
        """Return what is known by now of a resource of the space, which the snapshot knows by a shape."""
        start, shape = self._known.get(reference, (0, shape))
        for before, after in self._made[start:]:
            shape = self._changed(shape, before, after)
        self._known[reference] = (len(self._made), shape)
        return shape

    def call(
        self,
        entry: Primitive,
        args: Mapping[str, Any],
        shapes: Mapping[str, Shape],
        raw: Mapping[str, JSON],
        env: Environment,
    ) -> None:
        """Take a call into account: what may be its `target` is known anew, a variable that is its target exactly."""
        if entry.changes is None or any(shape is WRONG for shape in shapes.values()):
            return
        after = entry.changes(args, shapes)
        if after is None:
            self.deleted = True
            env.existing_names.clear()
            target = shapes.get("target", Unknown())
            if is_itself(target) and target.facts.which is not None:
                env.deleted.add(target.facts.which)
            self._uncounted(env)
            return
        before, after = shapes.get("target", Unknown()), bare(after)
        self._change(source_of(before) or before, after, env)
        name = _variable(raw.get("target"))
        if name in env.variables and not env.loops and is_itself(before):
            env.bind(name, replace(env.variables[name], shape=with_identity(after, before.facts.which)))

    def any_foreseen(self, steps: Block, catalogue: Catalogue, facts: SpaceFacts) -> bool:
        """Whether steps change anything in place."""
        return _replaces(steps, facts) or next(_changing(steps, catalogue, facts), None) is not None

    def repeated(self, since: int, env: Environment) -> bool:
        """Apply the changes of a loop's body to what is known at its start. Return whether that changes anything."""
        before = {name: (variable.shape, variable.shape.facts) for name, variable in env.variables.items()}
        values = {name: (one.shape, one.shape.facts) for name, one in env.assigned_names.items()}
        for was, became in self._made[since:]:
            self._apply(was, became, env)
        return before != {
            name: (variable.shape, variable.shape.facts) for name, variable in env.variables.items()
        } or values != {name: (one.shape, one.shape.facts) for name, one in env.assigned_names.items()}

    @property
    def count(self) -> int:
        """How many changes were made."""
        return len(self._made)

    def deleting(self, steps: Block, catalogue: Catalogue, facts: SpaceFacts, env: Environment) -> None:
        """Take into account what steps may delete or rename."""
        for entry in _changing(steps, catalogue, facts):
            if entry.changes is not None and entry.changes({}, {}) is not None:
                continue
            env.existing_names.clear()
            if entry.changes is not None:
                self.deleted = True
                self._uncounted(env)
            elif any(step.type == entry.type for step in every_step(steps)):
                self.deleted = True

    def foresee(self, steps: Block, catalogue: Catalogue, facts: SpaceFacts, env: Environment) -> None:
        """Take into account what steps may change that run several times, or elsewhere, or before something fails."""
        for entry in _changing(steps, catalogue, facts):
            after = None if entry.changes is None else entry.changes({}, {})
            self.deleted = self.deleted or after is None
            if after is not None:
                self._change(Unknown(), bare(after), env)
            else:
                env.existing_names.clear()
                self._uncounted(env)
        if _replaces(steps, facts):
            self.replaced(Unknown(), Unknown(), env)

    def replaced(self, holder: Shape, result: Shape, env: Environment) -> None:
        """Take into account that the holder of a name may be given what a step gave, as its next version."""
        anything: tuple[Shape, ...] = (NoteShape(), CollectionShape(Unknown()))
        for kind in anything:
            if kind.kinds <= holder.kinds & result.kinds:
                before = Unknown() if isinstance(holder, Unknown) else holder
                self._change(before, kind if isinstance(result, Unknown) else bare(result), env)

    @staticmethod
    def _uncounted(env: Environment) -> None:
        """Something was deleted: a Collection may have had it."""
        for name, variable in env.variables.items():
            if variable.shape.facts.size is not None:
                facts = replace(variable.shape.facts, size=None)
                env.variables[name] = replace(variable, shape=replace(variable.shape, facts=facts))
        for name, assigned in env.assigned_names.items():
            if assigned.shape.facts.size is not None:
                env.assigned_names[name] = replace(
                    assigned, shape=with_identity(bare(assigned.shape), assigned.shape.facts.which)
                )

    def _change(self, before: Shape, after: Shape, env: Environment) -> None:
        self._made.append((before, after))
        self._apply(before, after, env)

    def _apply(self, before: Shape, after: Shape, env: Environment) -> None:
        for name, variable in list(env.variables.items()):
            shape = self._changed(variable.shape, before, after)
            extra = None if variable.shape.kinds & after.kinds else variable.extra
            other = shape != variable.shape or shape.facts != variable.shape.facts
            if other or extra is not variable.extra:
                env.bind(name, replace(variable, shape=shape, extra=extra))
        for name, assigned in list(env.assigned_names.items()):
            shape = self._changed(assigned.shape, before, after)
            if shape != assigned.shape or shape.facts != assigned.shape.facts:
                env.assigned_names[name] = replace(assigned, shape=shape)

    def _changed(self, shape: Shape, before: Shape, after: Shape) -> Shape:
        """What is known of a resource after something was changed: it, or what it holds, may be what was."""
        if isinstance(shape, CollectionShape):
            item = self._changed(shape.item, before, after)
            shape = shape if item is shape.item else replace(shape, item=item)
        if isinstance(after, Unknown) and self._may_be(shape, before):
            return self._otherwise_described(shape)
        if shape.kinds == after.kinds and self._may_be(shape, before):
            return with_identity(union(shape, after), shape.facts.which)
        return shape

    @staticmethod
    def _otherwise_described(shape: Shape) -> Shape:
        """What is known of something that may have got other metadata."""
        if not isinstance(shape, (NoteShape, CollectionShape)) or shape.metadata is None:
            return shape
        return replace(shape, metadata=None)

    def _may_be(self, shape: Shape, other: Shape) -> bool:
        """Whether two shapes may be of one resource that can be changed; a search result cannot."""
        match shape, other:
            case NoteShape(), NoteShape():
                same = self._meet(shape.content, other.content) and self._meet(shape.metadata, other.metadata)
                return same and self._changeable(shape)
            case NoteShape(), Unknown():
                return self._changeable(shape)
            case CollectionShape(), CollectionShape():
                sizes = shape.facts.size, other.facts.size
                if None not in sizes and sizes[0] != sizes[1]:
                    return False
                unknown = isinstance(shape.item, Unknown) or isinstance(other.item, Unknown)
                return unknown or shape.item.kinds == other.item.kinds
        return isinstance(other, Unknown)

    def _changeable(self, shape: NoteShape) -> bool:
        options = [None] if shape.content is None else self._alternatives(shape.content)
        return any(source_of(NoteShape(option)) is None for option in options)

    def _meet(self, one: Schema | None, other: Schema | None) -> bool:
        if one is None or other is None or one is other:
            return True
        others = self._alternatives(other)
        return any(option in others for option in self._alternatives(one))

    def _alternatives(self, schema: Schema) -> list[Schema]:
        results = self._options.get(id(schema))
        if results is None:
            results = self._options[id(schema)] = (schema, alternatives(schema))
        return results[1]


def _variable(raw: JSON) -> str:
    """The variable that an argument is, whole; empty where it is none, or wrong."""
    return raw[1:] if isinstance(raw, str) and raw.startswith("$") and NAME.fullmatch(raw[1:]) else ""


def _changing(steps: Block, catalogue: Catalogue, facts: SpaceFacts) -> Iterator[Primitive]:
    """The primitives among the steps that change something in place, those of saved plans too."""
    types: set[str] = set()
    for step in every_step(steps):
        match step.form:
            case Call():
                types.add(step.type)
            case Map(_, operation):
                types.add(operation)
            case SavedPlanCall(name):
                types.update(_types_of_plan(name, facts, set()))
    for type_ in sorted(types):
        entry = catalogue.find(type_)
        if entry is not None and (entry.changes is not None or entry.names is not None):
            yield entry


def _replaces(steps: Block, facts: SpaceFacts) -> bool:
    """Whether any of the steps, those of saved plans too, may write over what has a name."""
    for step in every_step(steps):
        if step.replace:
            return True
        if isinstance(step.form, SavedPlanCall):
            seen: set[str] = set()
            list(_types_of_plan(step.form.name, facts, seen))
            if any(_has_replace(facts.plan(name)) for name in seen):
                return True
    return False


def _has_replace(document: JSON) -> bool:
    if isinstance(document, dict):
        return document.get("replace") is True or any(_has_replace(part) for part in document.values())
    return isinstance(document, list) and any(_has_replace(part) for part in document)


def _types_of_plan(name: str, facts: SpaceFacts, seen: set[str]) -> Iterator[str]:
    if name in seen:
        return
    seen.add(name)
    for type_ in _types_in(facts.plan(name)):
        if type_.startswith("plan:"):
            yield from _types_of_plan(type_.removeprefix("plan:"), facts, seen)
        yield type_


def _types_in(document: JSON) -> Iterator[str]:
    """The texts that may be types of steps, or of a `map`'s operation, anywhere in a plan."""
    if isinstance(document, dict):
        yield from (document[key] for key in ("type", "operation") if isinstance(document.get(key), str))
    parts = document.values() if isinstance(document, dict) else document if isinstance(document, list) else ()
    for part in parts:
        yield from _types_in(part)
