"""Checking an id or a name that stands in the plan: who has it in the space, and which steps before give it."""

from __future__ import annotations

from collections.abc import Sequence

from infospace.core.ids import Kind, is_id
from infospace.core.names import normalise
from infospace.data.misspelling import is_misspelling
from infospace.data.paths import nearest
from infospace.schema.shapes import (
    Shape,
    Unknown,
    union,
    with_identity,
)
from planner.check.environment import ComputedNames, Environment
from planner.check.mutations import MutationTracker
from planner.check.references.places import Leniency
from planner.check.space_facts import SpaceFacts
from planner.language.problems import Problems, listed, replace


class NameReferenceChecker:
    """Checks ids and names against the space, and against what earlier steps name, rename and delete."""

    def __init__(self, facts: SpaceFacts, changes: MutationTracker, problems: Problems, leniency: Leniency) -> None:
        self.computed_names = ComputedNames()
        """Names that steps before may give, whose text only the run knows in whole."""
        self._known = facts
        self._changes = changes
        self._problems = problems
        self._leniency = leniency

    def check(self, text: str, pointer: str, env: Environment) -> Shape | None:
        """Check an id or a name that stands in the plan; return the shape of what has it, None when nothing has."""
        given = env.assigned_names.get(normalise(text))
        holder: object = text if is_id(text) else self._known.holder(normalise(text))
        which = given.shape.facts.which if given is not None else holder
        if given is None and not is_id(text) and self._may_be_given(text, holder, pointer, env):
            return Unknown()
        if which in env.deleted and (given is None or given.certain):
            message = f"{text!r} is deleted before this step"
            self._problems.error("deleted", pointer, message, "read it before `remove`")
            return None
        if given is not None and given.certain:
            return given.shape
        if holder in env.renamed and given is None and not is_id(text):
            message = f"an earlier step has renamed what was called {text!r}"
            self._problems.error("unknown-name", pointer, message, "write the new name, or the `$variable`")
            return None
        shape = self._known.shape(text)
        shape = None if shape is None else with_identity(self._changes.shape(text, shape), holder)
        if shape is None and normalise(text) in env.existing_names:
            return Unknown()
        if given is not None:
            if shape is None:
                message = f"nothing may have the name {text!r}: a step gives it on some path only"
                self._problems.warn("maybe-unnamed", pointer, message)
            return given.shape if shape is None else union(shape, given.shape)
        if shape is not None:
            return shape
        if is_id(text):
            hint = "ids are given by the space; what a plan makes is written `$variable`"
            kept = {"N": Kind.NOTE, "C": Kind.COLLECTION, "R": Kind.RELATION}[text[0]]
            fits = listed(list(env.of_kind(frozenset({kept}))), 6)
            hint += f"; bound here: {fits}" if fits else ""
            self._problems.error("unknown-id", pointer, f"the space has no {text}", hint)
            return None
        meant = self._titled(text)
        if meant is not None:
            message = f"nothing has the name {text!r}: {meant} is found, whose path or title it is"
            self._problems.warn("maybe-unnamed", pointer, message, f"write {meant} where it has to be that one")
            return self.check(meant, pointer, env)
        called = self._known.called(text)
        if called and not self._leniency.absent_names:
            self._report_title(text, called, pointer)
            return None
        return self._check_unknown(text, pointer, env)

    def _check_unknown(self, text: str, pointer: str, env: Environment) -> Shape | None:
        """Tell that nothing has a name, and what is near to it; return what its absence leaves, where it is handled."""
        near = nearest(text, [*self._known.names(), *env.assigned_names])
        if text in env.variables:
            near = f"${text}"
        sure = near is not None and is_misspelling(text, near.removeprefix("$"))
        fix = replace(pointer, near) if near and sure else None
        if self._leniency.absent_names:
            if near is not None:
                message = f"nothing has the name {text!r} now, and `on_fail` handles that"
                self._problems.warn("maybe-unnamed", pointer, message, f"did you mean {near!r}?", fix)
            return Unknown()
        titled = nearest(text, self._known.titles()) if near is None else None
        if titled is not None:
            self._report_near_title(text, titled, pointer)
            return None
        otherwise = "a variable is written `$name`; `discover-notes` finds by meaning"
        if text.lower().endswith((".csv", ".tsv", ".jsonl")):
            otherwise = f'a table is an input: "inputs": {{"rows": {{"kind": "Collection"}}}}, and --input rows=@{text}'
        hint = f"did you mean {near!r}?" if near else otherwise
        self._problems.error("unknown-name", pointer, f"nothing has the name {text!r}", hint, fix)
        return None

    def _may_be_given(self, text: str, holder: object, pointer: str, env: Environment) -> bool:
        """Whether a step before may give a name that nothing else has here; says that only the run knows."""
        is_known = self._known.shape(text) is not None and holder not in env.deleted and holder not in env.renamed
        raw = None if is_known or normalise(text) in env.existing_names else self.computed_names.giving(text)
        if raw is None:
            return False
        near = nearest(text, [*self._known.names(), *env.assigned_names])
        message = f"nothing may have the name {text!r}: a step before gives the name {raw!r}, whatever that becomes"
        hint = f"did you mean {near!r}?" if near and is_misspelling(text, near) else "a `$variable` is sure"
        self._problems.warn("maybe-unnamed", pointer, message, hint)
        return True

    def _report_title(self, text: str, called: Sequence[str], pointer: str) -> None:
        """Tell that a path, a title or an alias is no name; which Note is meant is plain where only one has it."""
        only = called[0] if len(called) == 1 else None
        several = f"write the id of one that has it: {listed(called, 6)}"
        hint = several if only is None else f"write {only}, the note that has it"
        message = f"nothing has the name {text!r}, which is a note's path or title"
        self._problems.error("unknown-name", pointer, message, hint, replace(pointer, only) if only else None)

    def _titled(self, text: str) -> str | None:
        """Return the one Note whose path, title or alias it is, where one may be found by these."""
        called = self._known.called(text, exactly=True) if self._leniency.by_title else ()
        return called[0] if len(called) == 1 else None

    def _report_near_title(self, text: str, titled: str, pointer: str) -> None:
        """Tell which title, or alias, is nearest to what nothing is called; a misspelling of one Note's has a fix."""
        called = self._known.called(titled)
        only = called[0] if len(called) == 1 else None
        who = only or f"one of {listed(called, 6)}"
        fix = replace(pointer, only) if only and is_misspelling(text, titled) else None
        hint = f"did you mean {who}, which has the title {titled!r}?"
        self._problems.error("unknown-name", pointer, f"nothing has the name {text!r}", hint, fix)

    def has(self, text: str, env: Environment) -> bool:
        """Whether the space, or an earlier step, may give something that has a name or an id."""
        name = normalise(text)
        return (
            name in env.assigned_names
            or name in env.existing_names
            or self._known.shape(text) is not None
            or self.computed_names.giving(text) is not None
            or self._titled(text) is not None
        )
