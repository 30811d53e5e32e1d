"""What the check still knows when a resource is changed in place, wherever else that resource may be known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from infospace.catalogue import Catalogue
from infospace.contract import Primitive
from infospace.jsonvalue import JSON
from infospace.kinds import CollectionShape, NoteShape, Schema, Shape, Unknown, alternatives, source_of, union
from planner.environment import Environment
from planner.known import Known
from planner.plan import Block, Call, Map, Saved, every_step
from planner.references import NAME


class Changes:
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
        if entry.changes is None:
            return
        after = entry.changes(args, shapes)
        if after is None:
            self.deleted = True
            env.there.clear()
            if _is_itself(shapes.get("target", Unknown())) and isinstance(raw.get("target"), str):
                env.gone.add(str(raw["target"]))
            return
        before = shapes.get("target", Unknown())
        self._change(source_of(before) or before, after, env)
        name = _variable(raw.get("target"))
        if name in env.variables and not env.loops and _is_itself(before):
            env.bind(name, replace(env.variables[name], shape=after))

    def foresee(self, steps: Block, catalogue: Catalogue, known: Known, env: Environment) -> None:
        """Take into account what steps may change that run several times, or elsewhere, or before something fails."""
        for entry in _changing(steps, catalogue, known):
            after = None if entry.changes is None else entry.changes({}, {})
            self.deleted = self.deleted or after is None
            if after is not None:
                self._change(Unknown(), after, env)
            else:
                env.there.clear()
        if _replaces(steps, known):
            self.replaced(Unknown(), Unknown(), env)

    def replaced(self, holder: Shape, result: Shape, env: Environment) -> None:
        """Take into account that the holder of a name may be given what a step gave, as its next version."""
        anything: tuple[Shape, ...] = (NoteShape(), CollectionShape(Unknown()))
        for kind in anything:
            if kind.kinds <= holder.kinds & result.kinds:
                before = Unknown() if isinstance(holder, Unknown) else holder
                self._change(before, kind if isinstance(result, Unknown) else result, env)

    def _change(self, before: Shape, after: Shape, env: Environment) -> None:
        self._made.append((before, after))
        for name, variable in list(env.variables.items()):
            shape = self._changed(variable.shape, before, after)
            extra = None if variable.shape.kinds & after.kinds else variable.extra
            if (shape is not variable.shape and shape != variable.shape) or extra is not variable.extra:
                env.bind(name, replace(variable, shape=shape, extra=extra))
        for name, given in list(env.given.items()):
            shape = self._changed(given.shape, before, after)
            if shape is not given.shape:
                env.given[name] = replace(given, shape=shape)

    def _changed(self, shape: Shape, before: Shape, after: Shape) -> Shape:
        """What is known of a resource after something was changed: it, or what it holds, may be what was."""
        if isinstance(shape, CollectionShape):
            item = self._changed(shape.item, before, after)
            shape = shape if item is shape.item else CollectionShape(item)
        if shape.kinds == after.kinds and self._may_be(shape, before):
            return union(shape, after)
        return shape

    def _may_be(self, shape: Shape, other: Shape) -> bool:
        """Whether two shapes may be of one resource that can be changed; a search result cannot."""
        match shape, other:
            case NoteShape(), NoteShape():
                same = self._meet(shape.content, other.content) and self._meet(shape.metadata, other.metadata)
                return same and self._changeable(shape)
            case NoteShape(), Unknown():
                return self._changeable(shape)
            case CollectionShape(), CollectionShape():
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
        found = self._options.get(id(schema))
        if found is None:
            found = self._options[id(schema)] = (schema, alternatives(schema))
        return found[1]


def _is_itself(shape: Shape) -> bool:
    """Whether a resource is known to be no search result, of which the source would be meant."""
    if isinstance(shape, NoteShape):
        return shape.content is not None and source_of(shape) is None
    return not isinstance(shape, Unknown)


def _variable(raw: JSON) -> str:
    """The variable that an argument is, whole; empty where it is none, or wrong."""
    return raw[1:] if isinstance(raw, str) and raw.startswith("$") and NAME.fullmatch(raw[1:]) else ""


def _changing(steps: Block, catalogue: Catalogue, known: Known) -> Iterator[Primitive]:
    """The primitives among the steps that change something in place, those of saved plans too."""
    types: set[str] = set()
    for step in every_step(steps):
        match step.form:
            case Call():
                types.add(step.type)
            case Map(_, operation):
                types.add(operation)
            case Saved(name):
                types.update(_types_of_plan(name, known, set()))
    for type_ in sorted(types):
        entry = catalogue.find(type_)
        if entry is not None and (entry.changes is not None or entry.names is not None):
            yield entry


def _replaces(steps: Block, known: Known) -> bool:
    """Whether any of the steps, those of saved plans too, may write over what has a name."""
    for step in every_step(steps):
        if step.replace:
            return True
        if isinstance(step.form, Saved):
            seen: set[str] = set()
            list(_types_of_plan(step.form.name, known, seen))
            if any(_says_replace(known.plan(name)) for name in seen):
                return True
    return False


def _says_replace(document: JSON) -> bool:
    if isinstance(document, dict):
        return document.get("replace") is True or any(_says_replace(part) for part in document.values())
    return isinstance(document, list) and any(_says_replace(part) for part in document)


def _types_of_plan(name: str, known: Known, seen: set[str]) -> Iterator[str]:
    if name in seen:
        return
    seen.add(name)
    for type_ in _types_in(known.plan(name)):
        if type_.startswith("plan:"):
            yield from _types_of_plan(type_.removeprefix("plan:"), known, seen)
        yield type_


def _types_in(document: JSON) -> Iterator[str]:
    """The texts that may be types of steps, or of a `map`'s operation, anywhere in a plan."""
    if isinstance(document, dict):
        yield from (document[key] for key in ("type", "operation") if isinstance(document.get(key), str))
    parts = document.values() if isinstance(document, dict) else document if isinstance(document, list) else ()
    for part in parts:
        yield from _types_in(part)
