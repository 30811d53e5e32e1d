"""Checking what arguments refer to: variables, places, ids, names, and what is known of their values."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection as AnyCollection
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from infospace.contract.arguments import UNKNOWN, Bound, BoundExpression, BoundQuery
from infospace.contract.decorator import Argument
from infospace.core.errors import PathNotFound
from infospace.core.ids import Kind, is_id
from infospace.core.json_types import JSON
from infospace.core.names import normalise
from infospace.core.resources import text_of
from infospace.data.json_text import dump
from infospace.data.misspelling import is_misspelling
from infospace.data.paths import EXTRA, Path, nearest, show_parts
from infospace.expressions.expression import Parsed, guarded_parameters
from infospace.schema.combine import closed_object, inline_refs, list_in_order, list_of, object_of
from infospace.schema.compare import Mismatch, Way, mismatches
from infospace.schema.infer import may_hold_text, subschema_at, undeclared
from infospace.schema.messages import spell
from infospace.schema.shapes import (
    NO_METADATA,
    UNTOLD,
    WRONG,
    CollectionShape,
    Facts,
    NoSuchPath,
    NoteShape,
    RelationShape,
    Schema,
    Shape,
    Unknown,
    bare,
    collection_in,
    collection_of,
    describe,
    disjoint,
    is_result,
    part_of,
    place_in,
    schema_of_value,
    types_of,
    union,
    with_identity,
)
from infospace.schema.validate import holds
from infospace.schema.words import shown
from planner.check.environment import ComputedNames, Environment, Variable
from planner.check.mutations import MutationTracker
from planner.check.space_facts import SpaceFacts
from planner.language.lookalikes import lookalikes
from planner.language.problems import Patch, Problems, join, listed, replace
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
    WRAPPERS,
    better_place,
    is_same_place,
    list_path_hint,
    of_list,
    only_field,
    text_or_value,
    with_key,
)

if TYPE_CHECKING:
    from infospace.expressions.query.parse import ParsedQuery

LISTS = "what its tool lists"
"""What has no other fields since a tool's output schema lists these."""

FORESEEN = 20_000_000
"""Characters of texts that one check puts together to know what they will be; what comes after is not told.

Texts of texts grow by a factor a step: a plan of a few lines would else make the check hold all memory there is.
"""


TextsRead: TypeAlias = "set[tuple[str, str, str]]"
"""Where something is read that may hold text: the saved plan ("" for the plan itself), the place, the variable."""


class ValueChecker:
    """Checks references against an environment and the space; says what is known of each argument."""

    def __init__(self, known: SpaceFacts, problems: Problems) -> None:
        self.known = known
        self.problems = problems
        self.maybe_unbound_read: str | None = None
        """A variable that was read though an `on_fail` may have left it unbound: whoever reads it may be skipped."""
        self.changes = MutationTracker()
        self.may_be_absent = False
        """Whether a name that nothing has is no error, since what comes of it is handled."""
        self.handled = False
        """Whether an `on_fail` handles that what is checked fails: what data does wrong is then a warning."""
        self.computed_names = ComputedNames()
        """Names that steps before may give."""
        self.texts: TextsRead = set()
        self.plan = ""
        """The saved plan whose steps are checked, "" for the plan itself."""
        self._lenient = False
        self._inlined: dict[int, tuple[Schema, Schema]] = {}
        """Schemas with their references written out, by the id of the schema, which is kept."""
        self._foreseen = 0
        self._unbound = ("this step is then skipped", "bind it on both paths, or put this into an `if` with {guard}")

    @contextmanager
    def lenient(self, on: bool) -> Iterator[None]:
        """Let a place that does not exist be a warning: the conditions that ask for it have an answer."""
        self._lenient, before = on, self._lenient
        yield
        self._lenient = before

    @contextmanager
    def handling(self) -> Iterator[None]:
        """Let an index out of range be a warning: a condition on a place that does not exist has an answer."""
        self.handled, before = True, self.handled
        yield
        self.handled = before

    @contextmanager
    def tolerating_unbound(self) -> Iterator[None]:
        """Allow reads of variables that may be unbound: the step is not counted as one that may be skipped for them."""
        before = self.maybe_unbound_read
        yield
        self.maybe_unbound_read = before

    @contextmanager
    def reporting_unbound_as(self, skipped: str, mend: str) -> Iterator[None]:
        """Say other things of a variable that may be unbound than of one in a step."""
        self._unbound, before = (skipped, mend), self._unbound
        yield
        self._unbound = before

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
            self._doubt(variable, reference, pointer)
        if variable.shape.facts.which in env.deleted:
            message = f"what ${reference.name} was bound to is deleted before this step"
            self.problems.error("deleted", pointer, message, "read it before `remove`", None, reference.name)
        shape = self.place(variable, reference, pointer, env, whole=whole)
        if not self.problems.passing and (shape is None or may_hold_text(content_schema(shape))):
            self.texts.add((self.plan, pointer, reference.name))
        return shape

    def _doubt(self, variable: Variable, reference: Reference, pointer: str) -> None:
        message = f"${reference.name} may be unbound: {variable.unbound_reason}"
        if variable.handled:
            self.maybe_unbound_read = self.maybe_unbound_read or f"${reference.name}"
            self.problems.warn("maybe-unbound", pointer, message, self._unbound[0])
            return
        guard = {"type": "bound", "target": f"${reference.name}"}
        hint = self._unbound[1].format(guard=dump(guard))
        self.problems.error("maybe-unbound", pointer, message, hint, None, reference.name)

    def place(
        self, variable: Variable, reference: Reference, pointer: str, env: Environment | None = None, *, whole: bool
    ) -> Shape | None:
        """Follow a reference's path into what a variable is bound to; `env` knows which places were asked for."""
        shape, parts = variable.shape, reference.path.parts
        for index, part in enumerate(parts):
            if part == EXTRA:
                return self._in_extra(variable.extra, reference, index, pointer, whole=whole)
            if isinstance(part, str) and self._is_extra_path(variable, reference, index, pointer, whole=whole):
                return None
            if isinstance(part, int) and not isinstance(shape, NoteShape):
                if isinstance(shape, RelationShape):
                    break
                if shape.facts.size is not None and not -shape.facts.size <= part < shape.facts.size:
                    self._beyond(reference, index, shape.facts.size, pointer)
                    return None
                shape = bare(shape.item if isinstance(shape, CollectionShape) else shape)
                continue
            return self._inside(shape, reference, index, pointer, env, whole=whole)
        return shape

    def _in_extra(
        self, extra: Schema | None, reference: Reference, index: int, pointer: str, *, whole: bool
    ) -> Shape | None:
        """Follow a path into the `extra` of the step that made something."""
        before, parts = reference.path.parts[: index + 1], reference.path.parts[index + 1 :]
        found = subschema_at(extra, parts)
        if not isinstance(found, NoSuchPath):
            return NoteShape(found, NO_METADATA)
        (message, hint), better = self.nowhere(
            NoteShape(extra, NO_METADATA), parts, found, "what its step has in `extra`"
        )
        fix = None
        if better is not None and whole and is_same_place(parts, better):
            fix = replace(pointer, str(Reference(reference.name, Path((*before, *better)))))
        self._unknown_field(pointer, f"{reference}: {message}", hint, fix, reference=reference, meant=better)
        return None

    def _is_extra_path(
        self, variable: Variable, reference: Reference, index: int, pointer: str, *, whole: bool
    ) -> bool:
        """Whether a path asks content for what stands in the step's `extra`, which is then told."""
        parts, shape = reference.path.parts, variable.shape
        for _ in range(index):
            shape = shape.item if isinstance(shape, CollectionShape) else Unknown()
        known = variable.extra is not None and parts[index] in variable.extra.get("properties", {})
        content = shape.content if isinstance(shape, NoteShape) else None
        there = isinstance(shape, NoteShape) and not isinstance(
            subschema_at(content, parts[index : index + 1]), NoSuchPath
        )
        if not known or there or isinstance(shape, Unknown):
            return False
        better = Reference(reference.name, Path((*parts[:index], EXTRA, *parts[index:])))
        fix = replace(pointer, str(better)) if whole else None
        message = f"{reference} asks {describe(shape)} for {parts[index]!r}, which its step has in `extra`"
        self._unknown_field(pointer, message, f"write `{better}`", fix)
        return True

    def _inside(
        self, shape: Shape, reference: Reference, index: int, pointer: str, env: Environment | None, *, whole: bool
    ) -> Shape | None:
        parts = reference.path.parts[index:]
        if isinstance(shape, CollectionShape) and not str(parts[0]).startswith("@") and parts[0] != "metadata":
            holder = str(Reference(reference.name, Path(reference.path.parts[:index])))
            hint = of_list(holder, parts, f"an item is {holder}[0]; all of a field: `pluck`")
            fix = None
            if whole and (parts[0] in WRAPPERS or parts[0] == "items"):
                meant = str(Reference(reference.name, Path((*reference.path.parts[:index], *parts[1:]))))
                hint, fix = f"{holder} is the Collection itself: write `{meant}`", replace(pointer, meant)
            self._unknown_field(pointer, f"`{reference}`: a Collection has no field {dump(parts[0])}", hint, fix)
            return None
        found = place_in(shape, parts)
        if not isinstance(found, NoSuchPath):
            try:
                content = part_of(shape.facts.content, parts)
            except PathNotFound as error:
                self._unknown_field(pointer, f"{reference}: {error.message}", error.hint, None, of_data=True)
                return None
            if found is None and isinstance(shape, NoteShape) and not self._lenient:
                self._warn_undeclared(shape, reference, index, pointer, whole=whole)
            return NoteShape(found, NO_METADATA, Facts(content=content))
        if found.assumed and env is not None and env.has_place(str(reference)):
            return NoteShape(None, NO_METADATA)
        (message, hint_), better = self.nowhere(shape, parts, found)
        if hint_ is None and isinstance(shape, CollectionShape):
            hint_ = f"an item's is `{Reference(reference.name, Path((*reference.path.parts[:index], 0, *parts)))}`"
        if hint_ is None or better is None:
            hint_ = list_path_hint(shape, reference, index) or hint_
        fix = None
        if better is not None and whole and is_same_place(parts, better):
            mended = Reference(reference.name, Path((*reference.path.parts[:index], *better)))
            fix = replace(pointer, str(mended))
        self._unknown_field(
            pointer, f"{reference}: {message}", hint_, fix, of_data=found.assumed, reference=reference, meant=better
        )
        return None

    def _beyond(self, reference: Reference, index: int, size: int, pointer: str) -> None:
        """Say that a Collection has fewer items."""
        whose = str(Reference(reference.name, Path(reference.path.parts[:index])))
        held = "is empty" if not size else f"has {size} item{'s' if size > 1 else ''}"
        hint = f"[0] to [{size - 1}], or [-{size}] to [-1]" if size else "`if` with the condition `empty`"
        self._unknown_field(pointer, f"{reference} does not exist: {whose} {held}", hint, None, of_data=True)

    def _warn_undeclared(
        self, shape: NoteShape, reference: Reference, index: int, pointer: str, *, whole: bool
    ) -> None:
        """Warn of a field that a schema names others beside, and neither names nor rules out."""
        parts = reference.path.parts[index:]
        found = None if parts[0] == "metadata" else undeclared(shape.content, parts)
        if found is None:
            return
        message = f"the schema of ${reference.name} says nothing of `{show_parts(parts)}`, which may not be there"
        near = nearest(str(found.key), found.known)
        better = None if near is None else with_key(shape.content, parts, found.key, near)
        if better is None:
            self.problems.warn("unknown-field", pointer, message, f"it names {listed(found.known)}")
            return
        mended = str(Reference(reference.name, Path((*reference.path.parts[:index], *better))))
        fix = replace(pointer, mended) if whole and is_same_place(parts, better) else None
        self.problems.warn("unknown-field", pointer, message, f"did you mean `{show_parts(better)}`?", fix)

    def _unknown_field(
        self,
        pointer: str,
        message: str,
        hint: str | None,
        fix: Patch | None,
        *,
        of_data: bool = False,
        reference: Reference | None = None,
        meant: tuple[str | int, ...] | None = None,
    ) -> None:
        """Report a place that does not exist; `meant` is the end of the path that was probably meant."""
        report = self.problems.warn if self._lenient or (of_data and self.handled) else self.problems.error
        about = None if reference is None else str(reference)
        report("unknown-field", pointer, message, hint, fix, about, None if meant is None else show_parts(meant))

    @staticmethod
    def nowhere(
        shape: Shape, parts: Sequence[str | int], found: NoSuchPath, whose: str | None = None
    ) -> tuple[tuple[str, str | None], tuple[str | int, ...] | None]:
        """Say that a place is ruled out by what is known, and which place may have been meant."""
        better = better_place(shape, tuple(parts), found)
        message = (
            f"there is no `{show_parts(tuple(parts))}` in {whose or (LISTS if found.assumed else _source_name(shape))}"
        )
        if better is not None:
            return (message, f"did you mean `{show_parts(better) or 'content'}`?"), better
        return (message, f"there is {listed(found.known)}" if found.known else None), None

    def resource(
        self, raw: JSON, pointer: str, kinds: frozenset[Kind], env: Environment, *, lists: bool = False
    ) -> Shape:
        """Check an argument that is a resource; return its shape. With `lists`, a list is taken for a Collection."""
        if lists and isinstance(raw, list):
            return collection_of([self._element(item, join(pointer, at), env) for at, item in enumerate(raw)])
        if not isinstance(raw, str):
            wanted = " or ".join(sorted(kinds)) if len(kinds) < len(Kind) else "resource"
            hint = "a `$variable`, an id or a name"
            fits = listed(list(env.of_kind(kinds)), 6)
            self.problems.error(
                "wrong-kind",
                pointer,
                f"a {wanted} is wanted here, not {shown(raw)}",
                f"{hint}; bound here: {fits}" if fits else hint,
            )
            return WRONG
        shape = self._named_resource(raw, pointer, env)
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
        wanted = " or ".join(f"a {kind}" for kind in sorted(kinds))
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
        self.problems.error("wrong-kind", pointer, f"{raw!r} is {describe(shape)}, and {wanted} is wanted", hint)

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
                return self.literal_resource(text, pointer, env)
        return None

    def _by_text(self, template: Template, pointer: str, env: Environment) -> Shape | None:
        """Check a text that is a name, or an id, only when its references are replaced: where it is known, as such.

        A text that is but `${x}` is told where that is no text, or may be meant for the resource itself.
        """
        text = self._text(template, env)
        only = template.parts[0] if len(template.parts) == 1 else None
        if isinstance(text, str) and (not isinstance(only, Reference) or self.has(text, env)):
            return self.literal_resource(text, pointer, env)
        if not isinstance(only, Reference) or only.name not in env.variables:
            return Unknown()
        with self.problems.muted():
            shape = self.place(env.variables[only.name], only, pointer, whole=False)
        if shape is None:
            return Unknown()
        fix = replace(pointer, str(only))
        if isinstance(text, str) or disjoint(content_schema(shape), {"type": "string"}) or is_result(shape):
            message = f"`${{{str(only)[1:]}}}` is a text, and nothing has that as its name or id"
            report = self.problems.warn if self.handled else self.problems.error
            report("unknown-name", pointer, message, f"`{only}` is the resource itself", fix)
            return None
        if not only.path.parts and not isinstance(shape, Unknown):
            message = f"the text of {only} is taken for a name or an id"
            self.problems.warn("maybe-unnamed", pointer, message, f"`{only}` is the resource itself")
        return Unknown()

    def has(self, text: str, env: Environment) -> bool:
        """Whether the space, or an earlier step, may give something that has a name or an id."""
        name = normalise(text)
        return (
            name in env.assigned_names
            or name in env.existing_names
            or self.known.shape(text) is not None
            or self.computed_names.giving(text) is not None
        )

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

    def literal_resource(self, text: str, pointer: str, env: Environment) -> Shape | None:
        """Check an id or a name that stands in the plan; return the shape of what has it, None when nothing has."""
        given = env.assigned_names.get(normalise(text))
        holder: object = text if is_id(text) else self.known.holder(normalise(text))
        which = given.shape.facts.which if given is not None else holder
        if given is None and not is_id(text) and self._may_be_given(text, holder, pointer, env):
            return Unknown()
        if which in env.deleted and (given is None or given.certain):
            message = f"{text!r} is deleted before this step"
            self.problems.error("deleted", pointer, message, "read it before `remove`")
            return None
        if given is not None and given.certain:
            return given.shape
        if holder in env.renamed and given is None and not is_id(text):
            message = f"an earlier step has renamed what was called {text!r}"
            self.problems.error("unknown-name", pointer, message, "write the new name, or the `$variable`")
            return None
        shape = self.known.shape(text)
        shape = None if shape is None else with_identity(self.changes.shape(text, shape), holder)
        if shape is None and normalise(text) in env.existing_names:
            return Unknown()
        if given is not None:
            if shape is None:
                message = f"nothing may have the name {text!r}: a step gives it on some path only"
                self.problems.warn("maybe-unnamed", pointer, message)
            return given.shape if shape is None else union(shape, given.shape)
        if shape is not None:
            return shape
        if is_id(text):
            hint = "ids are given by the space; what a plan makes is written `$variable`"
            kept = {"N": Kind.NOTE, "C": Kind.COLLECTION, "R": Kind.RELATION}[text[0]]
            fits = listed(list(env.of_kind(frozenset({kept}))), 6)
            hint += f"; bound here: {fits}" if fits else ""
            self.problems.error("unknown-id", pointer, f"the space has no {text}", hint)
            return None
        called = self.known.called(text)
        if called and not self.may_be_absent:
            self._not_by_name(text, called, pointer)
            return None
        near = nearest(text, [*self.known.names(), *env.assigned_names])
        if text in env.variables:
            near = f"${text}"
        sure = near is not None and is_misspelling(text, near.removeprefix("$"))
        fix = replace(pointer, near) if near and sure else None
        if self.may_be_absent:
            if near is not None:
                message = f"nothing has the name {text!r} now, and `on_fail` handles that"
                self.problems.warn("maybe-unnamed", pointer, message, f"did you mean {near!r}?", fix)
            return Unknown()
        otherwise = "a variable is written `$name`; `discover-notes` finds by meaning"
        if text.lower().endswith((".csv", ".tsv", ".jsonl")):
            otherwise = f'a table is an input: "inputs": {{"rows": {{"kind": "Collection"}}}}, and --input rows=@{text}'
        hint = f"did you mean {near!r}?" if near else otherwise
        self.problems.error("unknown-name", pointer, f"nothing has the name {text!r}", hint, fix)
        return None

    def _may_be_given(self, text: str, holder: object, pointer: str, env: Environment) -> bool:
        """Whether a step before may give a name that nothing else has here; says that only the run knows."""
        known = self.known.shape(text) is not None and holder not in env.deleted and holder not in env.renamed
        written = None if known or normalise(text) in env.existing_names else self.computed_names.giving(text)
        if written is None:
            return False
        near = nearest(text, [*self.known.names(), *env.assigned_names])
        message = f"nothing may have the name {text!r}: a step before gives the name {written!r}, whatever that becomes"
        hint = f"did you mean {near!r}?" if near and is_misspelling(text, near) else "a `$variable` is sure"
        self.problems.warn("maybe-unnamed", pointer, message, hint)
        return True

    def _not_by_name(self, text: str, called: Sequence[str], pointer: str) -> None:
        """Tell that a path, a title or an alias is no name; which Note is meant is plain where only one has it."""
        only = called[0] if len(called) == 1 else None
        several = f"write the id of one that has it: {listed(called, 6)}"
        hint = several if only is None else f"write {only}, the note that has it"
        message = f"nothing has the name {text!r}, which is a note's path or title"
        self.problems.error("unknown-name", pointer, message, hint, replace(pointer, only) if only else None)

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
            for found in mismatches(known, argument.schema):
                self.mismatch(found, raw, pointer, f"`{argument.name}`", argument.description or None)
        return UNKNOWN, schema

    def known_of(self, parameter: str, pointer: str, env: Environment) -> Schema | None:
        """Return what is known of a `$parameter` as a value, and tell nothing of it."""
        with suppress(ReferenceInvalid), self.problems.muted():
            return self._schema(read_text(f"${parameter}"), pointer, env)
        return None

    def fits(self, read: Value, raw: JSON, wanted: Schema, pointer: str, env: Environment, whose: str) -> None:
        """Check the references in a value, and that what they mean can fit a schema in their places.

        What stands in the plan of it is held against the schema, too: it is a warning where a failure is handled.
        """
        found = list(mismatches(self._part(read, pointer, env), wanted))
        for one in found:
            self.mismatch(one, raw, pointer, whose)
        if not found:
            for one in mismatches(self._foreseen_part(read, env), wanted):
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
        place, written = written_at(raw, found.place)
        read = read_value(written)
        inside = found.place[len(place) :]
        of_keys = not inside and found.keyword in ("required", "additionalProperties")
        if isinstance(read, Literal) or (of_keys and not isinstance(read, Reference)):
            return
        parameter = f"{spell(place)} in {whose}" if place else whose
        subject = f"`{written}`" if isinstance(written, str) else "this"
        message = f"{parameter}: {found.sentence(subject, inside)}"
        better, meant = (text_or_value(read, found) or only_field(read, found)) if not inside else (None, None)
        at = join(pointer, *place)
        report = self.problems.warn if of_data and self.handled else self.problems.error
        report("bad-argument", at, message, better or hint, None if meant is None else replace(at, meant))

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

    def parameters(self, bound: Bound | BoundExpression[Any] | BoundQuery, pointer: str, env: Environment) -> None:
        """Check the `$x` in an expression, and those that a SELECT takes values for."""
        parsed = bound.where if isinstance(bound, Bound) else _parsed(bound)
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
    found: list[str | int] = []
    for part in place:
        match raw, part:
            case dict(), str() if part in raw:
                raw = raw[part]
            case list(), int() if part < len(raw):
                raw = raw[part]
            case _:
                break
        found.append(part)
    return tuple(found), raw


def _source_name(shape: Shape) -> str:
    if (
        isinstance(shape, NoteShape)
        and isinstance(shape.content, Mapping)
        and shape.content.get("title") == "SearchResult"
    ):
        return "a search result"
    return describe(shape)
