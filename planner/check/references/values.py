"""Checking what arguments refer to: variables, places, ids, names, and what is known of their values."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection as AnyCollection
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from infospace.contract.arguments import UNKNOWN, BoundCondition, BoundExpression, BoundQuery
from infospace.contract.decorator import Argument
from infospace.core.errors import PathNotFound
from infospace.core.ids import Kind, is_id
from infospace.core.json_types import JSON
from infospace.core.resources import text_of
from infospace.data.json_text import dump
from infospace.data.misspelling import is_misspelling
from infospace.data.paths import nearest, show_parts
from infospace.expressions.expression import Parsed, guarded_parameters
from infospace.schema.combine import closed_object, inline_refs, list_in_order, list_of, object_of
from infospace.schema.compare import Mismatch, Way, mismatches
from infospace.schema.infer import may_hold_text
from infospace.schema.messages import spell
from infospace.schema.shapes import (
    UNTOLD,
    WRONG,
    CollectionShape,
    Facts,
    NoteShape,
    Schema,
    Shape,
    Unknown,
    collection_in,
    collection_of,
    describe,
    disjoint,
    is_result,
    part_of,
    schema_of_value,
    types_of,
    union,
)
from infospace.schema.validate import holds
from infospace.schema.value_text import shown
from planner.check.environment import Environment, Variable
from planner.check.mutations import MutationTracker
from planner.check.references.known_names import NameReferenceChecker
from planner.check.references.places import Leniency, PlaceChecker
from planner.check.space_facts import SpaceFacts
from planner.language.lookalikes import lookalikes
from planner.language.problems import Problems, join, listed, replace
from planner.language.references import (
    ListOf,
    Literal,
    ObjectOf,
    Reference,
    ReferenceInvalid,
    Template,
    Value,
    read_text,
    read_value,
    references_in,
    strings,
    whole_reference,
)
from planner.repair.misread_places import (
    only_field,
    text_or_value,
)

if TYPE_CHECKING:
    from infospace.expressions.query.parse import ParsedQuery

FORESEEN = 20_000_000
"""Characters of texts that one check puts together to know what they will be; what comes after is not told.

Texts of texts grow by a factor a step: a plan of a few lines would else make the check hold all memory there is.
"""


TextsRead: TypeAlias = "set[tuple[str, str, str]]"
"""Where something is read that may hold text: the saved plan ("" for the plan itself), the place, the variable."""


class ValueChecker:
    """Checks references against an environment and the space; says what is known of each argument."""

    def __init__(self, facts: SpaceFacts, problems: Problems, changes: MutationTracker | None = None) -> None:
        self.facts = facts
        self.problems = problems
        self.maybe_unbound_read: str | None = None
        """A variable that was read though an `on_fail` may have left it unbound: whoever reads it may be skipped."""
        self.changes = MutationTracker() if changes is None else changes
        self.leniency = Leniency()
        self.places = PlaceChecker(problems, self.leniency)
        self.names = NameReferenceChecker(facts, self.changes, problems, self.leniency)
        self.texts: TextsRead = set()
        self.plan = ""
        """The saved plan whose steps are checked, "" for the plan itself."""
        self._inlined: dict[int, tuple[Schema, Schema]] = {}
        """Schemas with their references written out, by the id of the schema, which is kept."""
        self._foreseen = 0
        self._unbound_wording = (
            "this step is then skipped",
            "bind it on both paths, or put this into an `if` with {guard}",
        )

    @contextmanager
    def lenient(self, on: bool) -> Iterator[None]:
        """Let a place that does not exist be a warning: the conditions that ask for it have an answer."""
        self.leniency.missing_places, before = on, self.leniency.missing_places
        yield
        self.leniency.missing_places = before

    @contextmanager
    def handling(self) -> Iterator[None]:
        """Let an index out of range be a warning: a condition on a place that does not exist has an answer."""
        self.leniency.handled, before = True, self.leniency.handled
        yield
        self.leniency.handled = before

    @contextmanager
    def tolerating_unbound(self) -> Iterator[None]:
        """Allow reads of variables that may be unbound: the step is not counted as one that may be skipped for them."""
        before = self.maybe_unbound_read
        yield
        self.maybe_unbound_read = before

    @contextmanager
    def reporting_unbound_as(self, skipped: str, mend: str) -> Iterator[None]:
        """Say other things of a variable that may be unbound than of one in a step."""
        self._unbound_wording, before = (skipped, mend), self._unbound_wording
        yield
        self._unbound_wording = before

    def references(self, raw: JSON, pointer: str, env: Environment) -> None:
        """Check the references in something of which nothing else is known; what is no reference is passed over."""
        for place, text in strings(raw):
            with suppress(ReferenceInvalid):
                for reference in references_in(read_text(text)):
                    self.reference(reference, join(pointer, *place), env, whole=False)

    def lookalikes(self, raw: JSON, pointer: str, env: Environment) -> None:
        """Warn of texts in a value that look like a reference to what is bound, and are none."""
        for place, text in strings(raw):
            with suppress(ReferenceInvalid):
                read_text(text)
                for message, hint in lookalikes(text, env.variables):
                    self.problems.warn("no-reference", join(pointer, *place), message, hint)

    def reference(
        self, reference: Reference, pointer: str, env: Environment, *, whole: bool = True, text: bool = False
    ) -> Shape | None:
        """Check one reference; return the shape of what it means, None when it means nothing.

        `whole` says that it is all of the string at the pointer, `text` that a text could be meant there.
        """
        variable = env.find(reference.name)
        if variable is None:
            near = nearest(reference.name, env.variables)
            bound = listed([f"${name}" for name in env.variables])
            hint = (
                f"did you mean ${near}?" if near else f"bound here: {bound}" if bound else "no variable is bound here"
            )
            if near is None and whole and text and reference.name.isupper() and not reference.path.parts:
                hint += f"; `${reference}` is the text `{reference}`"
            sure = near is not None and is_misspelling(reference.name, near)
            fix = replace(pointer, str(Reference(near, reference.path))) if near and whole and sure else None
            self.problems.error(
                "unbound-variable",
                pointer,
                f"${reference.name} is not bound before this step",
                hint,
                fix,
                reference.name,
                near,
            )
            return None
        if variable.unbound_reason is not None:
            self._report_maybe_unbound(variable, reference, pointer)
        if variable.shape.facts.which in env.deleted:
            message = f"what ${reference.name} was bound to is deleted before this step"
            self.problems.error("deleted", pointer, message, "read it before `remove`", None, reference.name)
        shape = self.places.check(variable, reference, pointer, env, whole=whole)
        if not self.problems.muted_depth and (shape is None or may_hold_text(content_schema(shape))):
            self.texts.add((self.plan, pointer, reference.name))
        return shape

    def _report_maybe_unbound(self, variable: Variable, reference: Reference, pointer: str) -> None:
        message = f"${reference.name} may be unbound: {variable.unbound_reason}"
        if variable.handled:
            self.maybe_unbound_read = self.maybe_unbound_read or f"${reference.name}"
            self.problems.warn("maybe-unbound", pointer, message, self._unbound_wording[0])
            return
        guard = {"type": "bound", "target": f"${reference.name}"}
        hint = self._unbound_wording[1].format(guard=dump(guard))
        self.problems.error("maybe-unbound", pointer, message, hint, None, reference.name)

    def resource(
        self,
        raw: JSON,
        pointer: str,
        kinds: frozenset[Kind],
        env: Environment,
        *,
        lists: bool = False,
        by_title: bool = False,
    ) -> Shape:
        """Check an argument that is a resource; return its shape.

        With `lists`, a list is taken for a Collection; with `by_title`, a Note is found by its title too.
        """
        if lists and isinstance(raw, list):
            return collection_of([self._element(item, join(pointer, at), env) for at, item in enumerate(raw)])
        if not isinstance(raw, str):
            expected = " or ".join(sorted(kinds)) if len(kinds) < len(Kind) else "resource"
            hint = "a `$variable`, an id or a name"
            fits = listed(list(env.of_kind(kinds)), 6)
            self.problems.error(
                "wrong-kind",
                pointer,
                f"a {expected} is wanted here, not {shown(raw)}",
                f"{hint}; bound here: {fits}" if fits else hint,
            )
            return WRONG
        self.leniency.by_title = by_title
        shape = self._named_resource(raw, pointer, env)
        self.leniency.by_title = False
        if shape is None:
            return WRONG
        if not shape.kinds & kinds:
            taken = collection_in(shape) if lists else None
            if taken is not None:
                return taken
            self._wrong_kind(raw, shape, pointer, kinds, env)
            return WRONG
        return shape

    def _element(self, raw: JSON, pointer: str, env: Environment) -> Schema | None:
        """Check an element of a list that is taken for a Collection: a value; return its schema."""
        value, schema = self.value(raw, pointer, None, env)
        return schema if value is UNKNOWN else schema_of_value(value)

    def _wrong_kind(self, raw: str, shape: Shape, pointer: str, kinds: frozenset[Kind], env: Environment) -> None:
        expected = " or ".join(f"a {kind}" for kind in sorted(kinds))
        fits = list(env.of_kind(kinds))
        hint = f"variables of that kind: {listed(fits, 6)}" if fits else None
        if kinds == {Kind.NOTE} and isinstance(shape, CollectionShape):
            hint = f"one item is {raw}[0]; `for-each` and `map` go over all" + (f"; {hint}" if hint else "")
        lists = _lists_in(shape) if kinds == {Kind.COLLECTION} else []
        if lists and raw.startswith("$"):
            hint = f"a list in it: {listed([f'{raw}.{show_parts((key,))}' for key in lists], 6)}"
        if kinds == {Kind.COLLECTION} and isinstance(shape, NoteShape) and "array" in types_of(shape.content):
            hint = "what is changed is a Collection that there is: `split` makes one" + (f"; {hint}" if hint else "")
        if kinds == {Kind.COLLECTION} and isinstance(shape, NoteShape) and types_of(shape.content) == {"string"}:
            split = f'{{"type": "split", "target": "{raw}", "delimiter": "line", "out": "$lines"}}'
            hint = f"{split} makes a Collection of its lines" + (f"; {hint}" if hint else "")
        self.problems.error("wrong-kind", pointer, f"{raw!r} is {describe(shape)}, and {expected} is wanted", hint)

    def _named_resource(self, raw: str, pointer: str, env: Environment) -> Shape | None:
        self.lookalikes(raw, pointer, env)
        value = self._read(raw, pointer)
        match value:
            case Reference():
                return self.reference(value, pointer, env)
            case Template(parts):
                for part in parts:
                    if isinstance(part, Reference):
                        self.reference(part, pointer, env, whole=False)
                return self._by_text(value, pointer, env)
            case Literal(str(text)):
                return self.names.check(text, pointer, env)
        return None

    def _by_text(self, template: Template, pointer: str, env: Environment) -> Shape | None:
        """Check a text that is a name, or an id, only when its references are replaced: where it is known, as such.

        A text that is but `${x}` is told where that is no text, or may be meant for the resource itself.
        """
        text = self._text(template, env)
        only = template.parts[0] if len(template.parts) == 1 else None
        if isinstance(text, str) and (not isinstance(only, Reference) or self.names.has(text, env)):
            return self.names.check(text, pointer, env)
        if not isinstance(only, Reference) or only.name not in env.variables:
            return Unknown()
        with self.problems.muted():
            shape = self.places.check(env.variables[only.name], only, pointer, whole=False)
        if shape is None:
            return Unknown()
        fix = replace(pointer, str(only))
        if isinstance(text, str) or disjoint(content_schema(shape), {"type": "string"}) or is_result(shape):
            message = f"`${{{str(only)[1:]}}}` is a text, and nothing has that as its name or id"
            report = self.problems.warn if self.leniency.handled else self.problems.error
            report("unknown-name", pointer, message, f"`{only}` is the resource itself", fix)
            return None
        if not only.path.parts and not isinstance(shape, Unknown):
            message = f"the text of {only} is taken for a name or an id"
            self.problems.warn("maybe-unnamed", pointer, message, f"`{only}` is the resource itself")
        return Unknown()

    def content(self, read: Value, env: Environment) -> Any:
        """Return what a value will be, as far as that stands in the plan; the rest is `UNTOLD`."""
        match read:
            case Literal(value):
                return value
            case Reference(name, path):
                variable = env.variables.get(name)
                if variable is None or variable.unbound_reason is not None:
                    return UNTOLD
                with suppress(PathNotFound):
                    return part_of(variable.shape.facts.content, path.parts)
                return UNTOLD
            case Template():
                return self._text(read, env)
            case ListOf(items):
                return [self.content(item, env) for item in items]
            case ObjectOf(items):
                return {key: self.content(item, env) for key, item in items.items()}

    def _text(self, template: Template, env: Environment) -> Any:
        parts = [part if isinstance(part, str) else self.content(part, env) for part in template.parts]
        if not all(isinstance(part, (str, bool, int, float)) for part in parts):
            return UNTOLD
        texts = [text_of(part) for part in parts]
        self._foreseen += sum(map(len, texts))
        return "".join(texts) if self._foreseen <= FORESEEN else UNTOLD

    def value(self, raw: JSON, pointer: str, argument: Argument | None, env: Environment) -> tuple[Any, Schema | None]:
        """Check an argument that is a value; return it (or UNKNOWN) and the schema of what it will be."""
        good = True
        self.lookalikes(raw, pointer, env)
        for place, text in strings(raw):
            good = self._read(text, join(pointer, *place) if place else pointer) is not None and good
        if not good:
            return UNKNOWN, None
        read = read_value(raw)
        if isinstance(read, Literal):
            return read.value, schema_of_value(read.value)
        schema = self._schema(read, pointer, env)
        if argument is not None:
            with self.problems.muted():
                known = self._part(read, pointer, env)
            for mismatch in mismatches(known, argument.schema):
                self.mismatch(mismatch, raw, pointer, f"`{argument.name}`", argument.description or None)
        return UNKNOWN, schema

    def known_of(self, parameter: str, pointer: str, env: Environment) -> Schema | None:
        """Return what is known of a `$parameter` as a value, and tell nothing of it."""
        with suppress(ReferenceInvalid), self.problems.muted():
            return self._schema(read_text(f"${parameter}"), pointer, env)
        return None

    def fits(
        self,
        read: Value,
        raw: JSON,
        expected: Schema,
        pointer: str,
        env: Environment,
        whose: str,
        reported: AnyCollection[tuple[Way, str]] = (),
    ) -> None:
        """Check the references in a value, and that what they mean can fit a schema in their places.

        What stands in the plan of it is held against the schema, too: it is a warning where a failure is handled.
        At some places it is `reported` that the value does not fit as it is written, by which keyword.
        """
        results = list(mismatches(self._part(read, pointer, env), expected))
        for one in results:
            if (one.place, one.keyword) not in reported:
                self.mismatch(one, raw, pointer, whose)
        if not results:
            for one in mismatches(self._foreseen_part(read, env), expected):
                self.mismatch(one, raw, pointer, whose, of_data=True)

    def _part(self, read: Value, pointer: str, env: Environment) -> Schema:
        """What is known of a value whose literal parts are just these."""
        match read:
            case Literal(value):
                return {"const": value}
            case ListOf(items):
                return list_in_order([self._part(item, join(pointer, at), env) for at, item in enumerate(items)])
            case ObjectOf(items):
                return object_of({key: self._part(item, join(pointer, key), env) for key, item in items.items()})
        schema = self._schema(read, pointer, env)
        if schema is None:
            return {}
        if id(schema) not in self._inlined:
            self._inlined[id(schema)] = schema, inline_refs(schema)
        return self._inlined[id(schema)][1]

    def _foreseen_part(self, read: Value, env: Environment) -> Schema:
        """The same by what the plan's own steps put into what is read."""
        match read:
            case ListOf(items):
                return list_in_order([self._foreseen_part(item, env) for item in items])
            case ObjectOf(items):
                return object_of({key: self._foreseen_part(item, env) for key, item in items.items()})
        content = self.content(read, env)
        return {} if holds(content, UNTOLD) else {"const": content}

    def mismatch(
        self, found: Mismatch, raw: JSON, pointer: str, whose: str, hint: str | None = None, *, of_data: bool = False
    ) -> None:
        """Tell that something read by a reference in a value cannot fit; `whose` names the parameter.

        What is literal in the value, and which keys are written there, is told by whoever validates it.
        """
        place, value = written_at(raw, found.place)
        read = read_value(value)
        inside = found.place[len(place) :]
        of_keys = not inside and found.keyword in ("required", "additionalProperties")
        if isinstance(read, Literal) or (of_keys and not isinstance(read, Reference)):
            return
        parameter = f"{spell(place)} in {whose}" if place else whose
        subject = f"`{value}`" if isinstance(value, str) else "this"
        message = f"{parameter}: {found.sentence(subject, inside)}"
        better, suggestion = (text_or_value(read, found) or only_field(read, found)) if not inside else (None, None)
        at = join(pointer, *place)
        report = self.problems.warn if of_data and self.leniency.handled else self.problems.error
        report("bad-argument", at, message, better or hint, None if suggestion is None else replace(at, suggestion))

    def schema(self, read: Value, pointer: str, env: Environment) -> Schema | None:
        """Check the references in a value; return what is known of it."""
        return self._schema(read, pointer, env)

    def _schema(self, read: Value, pointer: str, env: Environment) -> Schema | None:
        match read:
            case Literal(value):
                return schema_of_value(value)
            case Reference():
                shape = self.reference(read, pointer, env, text=True)
                return None if shape is None else content_schema(shape)
            case Template(parts):
                for part in parts:
                    if isinstance(part, Reference):
                        self.reference(part, pointer, env, whole=False)
                return {"type": "string"}
            case ListOf(items):
                schemas = [self._schema(item, join(pointer, at), env) for at, item in enumerate(items)]
                return list_of(schemas[0] if all(schema == schemas[0] for schema in schemas) else None)
            case ObjectOf(items):
                return closed_object({key: self._schema(item, join(pointer, key), env) for key, item in items.items()})

    def items(self, raw: JSON, pointer: str, env: Environment) -> Shape:
        """Check a list of resources and values, or one resource; return what the items have in common."""
        if not isinstance(raw, list):
            only = self.resource(raw, pointer, frozenset(Kind), env)
            return dataclasses.replace(only, facts=Facts(size=1))
        shapes = []
        for index, item in enumerate(raw):
            place = join(pointer, index)
            if isinstance(item, str) and (is_id(item) or self._is_reference(item, place)):
                shapes.append(self.resource(item, place, frozenset(Kind), env))
            else:
                shapes.append(NoteShape(self.value(item, place, None, env)[1], schema_of_value({})))
        common: Shape = shapes[0] if shapes else Unknown()
        for shape in shapes[1:]:
            common = union(common, shape)
        return dataclasses.replace(common, facts=Facts(size=len(raw)))

    def _is_reference(self, text: str, pointer: str) -> bool:
        try:
            return whole_reference(text) is not None
        except ReferenceInvalid:
            return self._read(text, pointer) is not None

    def parameters(
        self, bound: BoundCondition | BoundExpression[Any] | BoundQuery, pointer: str, env: Environment
    ) -> None:
        """Check the `$x` in an expression, and those that a SELECT takes values for."""
        parsed = bound.where if isinstance(bound, BoundCondition) else _parsed(bound)
        guarded = guarded_parameters(bound.formula.tree) if isinstance(bound, BoundExpression) else frozenset()
        self.read_parameters(parsed.parameters, guarded, pointer, env)

    def read_parameters(
        self, parameters: Sequence[str], guarded: AnyCollection[str], pointer: str, env: Environment
    ) -> None:
        """Check the `$x` in an expression, of which a place may be missing where they are `guarded`."""
        for text in parameters:
            reference = whole_reference(f"${text}")
            if reference is not None and text in guarded:
                with self.lenient(True):
                    self.reference(reference, pointer, env, whole=False)
            elif reference is not None:
                self.reference(reference, pointer, env, whole=False)

    def _read(self, text: str, pointer: str) -> Value | None:
        try:
            return read_text(text)
        except ReferenceInvalid as error:
            fix = replace(pointer, error.mended) if error.mended is not None else None
            self.problems.error(error.code, pointer, error.message, error.hint, fix)
            return None


def _parsed(bound: BoundExpression[Any] | BoundQuery) -> Parsed | ParsedQuery:
    return bound.formula if isinstance(bound, BoundExpression) else bound.parsed


def _lists_in(shape: Shape) -> list[str]:
    """The fields of an object that are lists for sure."""
    fields = shape.content.get("properties", {}) if isinstance(shape, NoteShape) and shape.content else {}
    return [key for key, inner in fields.items() if isinstance(inner, Mapping) and types_of(inner) == {"array"}]


def content_schema(shape: Shape) -> Schema | None:
    """Return what is known of a shape as a value: a Note's content, a Collection's list of contents."""
    match shape:
        case NoteShape(content=schema):
            return schema
        case CollectionShape(item=item):
            return list_of(content_schema(item))
    return None


def written_at(raw: JSON, place: Way) -> tuple[tuple[str | int, ...], JSON]:
    """As much of a place as stands in a value as written, and what is there."""
    results: list[str | int] = []
    for part in place:
        match raw, part:
            case dict(), str() if part in raw:
                raw = raw[part]
            case list(), int() if part < len(raw):
                raw = raw[part]
            case _:
                break
        results.append(part)
    return tuple(results), raw
