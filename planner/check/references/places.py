"""Following a reference's path into what is known of a variable: which places there are, and which was meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from infospace.core.errors import PathNotFound
from infospace.data.json_text import dump
from infospace.data.paths import EXTRA, Path, nearest, show_parts
from infospace.schema.infer import subschema_at, undeclared
from infospace.schema.shapes import (
    NO_METADATA,
    CollectionShape,
    Facts,
    NoSuchPath,
    NoteShape,
    RelationShape,
    Schema,
    Shape,
    Unknown,
    bare,
    describe,
    part_of,
    place_in,
)
from planner.check.environment import Environment, Variable
from planner.language.problems import Patch, Problems, listed, replace
from planner.language.references import (
    Reference,
)
from planner.repair.misread_places import (
    WRAPPERS,
    better_place,
    is_same_place,
    list_path_hint,
    of_list,
    with_key,
)

LISTS = "what its tool lists"
"""What has no other fields since a tool's output schema lists these."""


@dataclass
class Leniency:
    """What is a warning, and no error, in the part of the plan that is checked."""

    missing_places: bool = False
    """A place that does not exist: the conditions that ask for it have an answer."""
    handled: bool = False
    """What data does wrong: an `on_fail` handles the failure."""
    absent_names: bool = False
    """A name that nothing has: what comes of it is handled."""
    by_title: bool = False
    """What is no name, but the title, alias or file of one Note alone: that Note is meant."""


class PlaceChecker:
    """Checks the path of a reference against the shape that its variable has."""

    def __init__(self, problems: Problems, leniency: Leniency) -> None:
        self._problems = problems
        self._leniency = leniency

    def check(
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
        subschema = subschema_at(extra, parts)
        if not isinstance(subschema, NoSuchPath):
            return NoteShape(subschema, NO_METADATA)
        (message, hint), better = describe_missing(
            NoteShape(extra, NO_METADATA), parts, subschema, "what its step has in `extra`"
        )
        fix = None
        if better is not None and whole and is_same_place(parts, better):
            fix = replace(pointer, str(Reference(reference.name, Path((*before, *better)))))
        self._unknown_field(pointer, f"{reference}: {message}", hint, fix, reference=reference, suggestion=better)
        return None

    def _is_extra_path(
        self, variable: Variable, reference: Reference, index: int, pointer: str, *, whole: bool
    ) -> bool:
        """Whether a path asks content for what stands in the step's `extra`, which is then told."""
        parts, shape = reference.path.parts, variable.shape
        for _ in range(index):
            shape = shape.item if isinstance(shape, CollectionShape) else Unknown()
        is_known = variable.extra is not None and parts[index] in variable.extra.get("properties", {})
        content = shape.content if isinstance(shape, NoteShape) else None
        there = isinstance(shape, NoteShape) and not isinstance(
            subschema_at(content, parts[index : index + 1]), NoSuchPath
        )
        if not is_known or there or isinstance(shape, Unknown):
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
                suggestion = str(Reference(reference.name, Path((*reference.path.parts[:index], *parts[1:]))))
                hint, fix = f"{holder} is the Collection itself: write `{suggestion}`", replace(pointer, suggestion)
            self._unknown_field(pointer, f"`{reference}`: a Collection has no field {dump(parts[0])}", hint, fix)
            return None
        subschema = place_in(shape, parts)
        if not isinstance(subschema, NoSuchPath):
            try:
                content = part_of(shape.facts.content, parts)
            except PathNotFound as error:
                self._unknown_field(pointer, f"{reference}: {error.message}", error.hint, None, of_data=True)
                return None
            if subschema is None and isinstance(shape, NoteShape) and not self._leniency.missing_places:
                self._warn_undeclared(shape, reference, index, pointer, whole=whole)
            return NoteShape(subschema, NO_METADATA, Facts(content=content))
        if subschema.assumed and env is not None and env.has_place(str(reference)):
            return NoteShape(None, NO_METADATA)
        (message, hint_), better = describe_missing(shape, parts, subschema)
        if hint_ is None and isinstance(shape, CollectionShape):
            hint_ = f"an item's is `{Reference(reference.name, Path((*reference.path.parts[:index], 0, *parts)))}`"
        if hint_ is None or better is None:
            hint_ = list_path_hint(shape, reference, index) or hint_
        fix = None
        if better is not None and whole and is_same_place(parts, better):
            mended = Reference(reference.name, Path((*reference.path.parts[:index], *better)))
            fix = replace(pointer, str(mended))
        self._unknown_field(
            pointer,
            f"{reference}: {message}",
            hint_,
            fix,
            of_data=subschema.assumed,
            reference=reference,
            suggestion=better,
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
        subschema = None if parts[0] == "metadata" else undeclared(shape.content, parts)
        if subschema is None:
            return
        message = f"the schema of ${reference.name} says nothing of `{show_parts(parts)}`, which may not be there"
        near = nearest(str(subschema.key), subschema.known)
        better = None if near is None else with_key(shape.content, parts, subschema.key, near)
        if better is None:
            self._problems.warn("unknown-field", pointer, message, f"it names {listed(subschema.known)}")
            return
        mended = str(Reference(reference.name, Path((*reference.path.parts[:index], *better))))
        fix = replace(pointer, mended) if whole and is_same_place(parts, better) else None
        self._problems.warn("unknown-field", pointer, message, f"did you mean `{show_parts(better)}`?", fix)

    def _unknown_field(
        self,
        pointer: str,
        message: str,
        hint: str | None,
        fix: Patch | None,
        *,
        of_data: bool = False,
        reference: Reference | None = None,
        suggestion: tuple[str | int, ...] | None = None,
    ) -> None:
        """Report a place that does not exist; `suggestion` is the end of the path that was probably meant."""
        lenient = self._leniency.missing_places or (of_data and self._leniency.handled)
        report = self._problems.warn if lenient else self._problems.error
        about = None if reference is None else str(reference)
        report(
            "unknown-field", pointer, message, hint, fix, about, None if suggestion is None else show_parts(suggestion)
        )


def describe_missing(
    shape: Shape, parts: Sequence[str | int], missing: NoSuchPath, whose: str | None = None
) -> tuple[tuple[str, str | None], tuple[str | int, ...] | None]:
    """Say that a place is ruled out by what is known, and which place may have been meant."""
    better = better_place(shape, tuple(parts), missing)
    message = (
        f"there is no `{show_parts(tuple(parts))}` in {whose or (LISTS if missing.assumed else _source_name(shape))}"
    )
    if better is not None:
        return (message, f"did you mean `{show_parts(better) or 'content'}`?"), better
    return (message, f"there is {listed(missing.known)}" if missing.known else None), None


def _source_name(shape: Shape) -> str:
    if (
        isinstance(shape, NoteShape)
        and isinstance(shape.content, Mapping)
        and shape.content.get("title") == "SearchResult"
    ):
        return "a search result"
    return describe(shape)
