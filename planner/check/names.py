"""Checking the names that steps give to their results: who may have one, and who has it afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from infospace.core.json_types import JSON
from infospace.core.names import name_error, normalise
from infospace.core.resources import text_of
from infospace.schema.shapes import Shape, Unknown, bare, disjoint, is_itself, types_of, with_identity
from planner.check.environment import AssignedName, Environment
from planner.check.state import CheckState
from planner.language.plan import Call, Step
from planner.language.problems import join
from planner.language.references import Reference, ReferenceInvalid, Template, read_text


class GivenNameChecker:
    """Checks the names that steps give, and keeps in the environment who has which."""

    def __init__(self, state: CheckState) -> None:
        self._state = state
        self._catalogue, self._problems, self._values = state.catalogue, state.problems, state.values

    def check_step(self, step: Step, shape: Shape | None) -> Shape | None:
        """Check the name that a step gives; return the shape of its result, which may be who had the name before."""
        entry = self._catalogue.find(step.type) if isinstance(step.form, Call) else None
        renames = None if entry is None else entry.names
        if step.replace and step.name is None and renames is None:
            place = join(step.pointer, "replace")
            self._problems.error(
                "bad-value",
                place,
                "`replace` goes with `name`",
                "add `name`, or leave `replace` out",
                [{"op": "remove", "path": place}],
            )
        if renames is not None and isinstance(step.form, Call) and isinstance(step.form.arguments.get(renames), str):
            self._state.env.existing_names.clear()
            shape = self.check(step, step.form.arguments[renames], join(step.pointer, renames), shape)
            self._values.changes.deleted = True
        if step.name is not None:
            shape = self.check(step, step.name, join(step.pointer, "name"), shape)
        return shape

    def check(self, step: Step, value: JSON, pointer: str, shape: Shape | None) -> Shape | None:
        """Check the name that a step gives to its result, and remember that it has it; return the result's shape."""
        name, schema = self._values.value(value, pointer, None, self._state.env)
        if not isinstance(name, str):
            if schema is not None and disjoint(schema, {"type": "string"}):
                self._problems.error("bad-argument", pointer, "`name` is text", "write `${x}` for the text of `$x`")
                return shape
            if isinstance(value, str):
                self._values.names.computed_names.add(value, self._parts(value, pointer))
            if shape is not None and shape.facts.which is not None:
                self._state.moved.add(shape.facts.which)
            if step.replace:
                self._values.changes.replaced(Unknown(), shape or Unknown(), self._state.env)
            return shape
        fault = name_error(name)
        if fault is not None:
            self._problems.error("bad-name", pointer, fault.message, fault.hint)
            return shape
        name = normalise(name)
        if step.replace:
            holders = list(self._holders(name))
            for holder in holders:
                self._values.changes.replaced(holder, shape or Unknown(), self._state.env)
            if shape is not None and any(holder.kinds & shape.kinds for holder in holders):
                shape = self._replaced_shape(shape, holders)
        elif name not in self._state.env.absent_names:
            self._report_name_taken(step, name, pointer)
        elif self._state.env.absent_names[name] < self._state.env.loops:
            self._report_taken_in_next_round(step, name, pointer)
        self._state.env.absent_names.pop(name, None)
        if shape is not None and self._values.maybe_unbound_read is None:
            self._renamed(name, shape.facts.which)
        self._state.env.assigned_names[name] = AssignedName(
            shape or Unknown(), certain=self._values.maybe_unbound_read is None
        )
        return shape

    def _parts(self, text: str, pointer: str) -> Iterator[str | frozenset[str]]:
        """Iterate over the parts of a name that is computed: texts, and the JSON types of what is put between them."""
        try:
            read = read_text(text)
        except ReferenceInvalid:
            return
        for part in read.parts if isinstance(read, Template) else (read,):
            if isinstance(part, str):
                yield part
            elif isinstance(part, Reference):
                content = self._values.content(part, self._state.env)
                is_known = isinstance(content, (str, bool, int, float))
                types = types_of(self._values.known_of(str(part)[1:], pointer, self._state.env))
                yield text_of(content) if is_known else types

    @staticmethod
    def _replaced_shape(shape: Shape, holders: Sequence[Shape]) -> Shape:
        """The result of a step that replaces: where kinds are one, that is who had the name."""
        same = len(holders) == 1 and holders[0].kinds == shape.kinds and is_itself(shape) and is_itself(holders[0])
        return with_identity(bare(shape), holders[0].facts.which if same else object())

    def _renamed(self, name: str, which: object) -> None:
        """What gets a name is known by no other that it had."""
        for other, assigned in list(self._state.env.assigned_names.items()):
            if other != name and assigned.certain and assigned.shape.facts.which is which:
                del self._state.env.assigned_names[other]
                self._state.env.absent_names[other] = self._state.env.loops
        if isinstance(which, str) and self._values.facts.holder(name) != which:
            self._state.env.renamed.add(which)

    def _holders(self, name: str) -> Iterator[Shape]:
        """Iterate over what may have a name: what earlier steps gave it to, also in branches beside; the space."""
        given = [
            assigned.shape
            for assigned in (self._state.env.assigned_names.get(name), self._state.env.sibling_names.get(name))
            if assigned is not None
        ]
        yield from (shape for shape in given if shape.facts.which not in self._state.env.deleted)
        known, which = self._values.facts.shape(name), self._values.facts.holder(name)
        if known is not None and which not in self._state.env.deleted:
            yield with_identity(self._values.changes.shape(name, known), which)
        elif name in self._state.env.existing_names:
            yield Unknown()

    def _report_name_taken(self, step: Step, name: str, pointer: str) -> None:
        holder = self._values.facts.holder(name)
        given = self._state.env.assigned_names.get(name) or self._state.env.sibling_names.get(name)
        # Whether the earlier holder is to be replaced, or another name was meant, only the author knows: no fix.
        hint = _name_taken_hint(step)
        if self._values.changes.deleted and (holder is not None or given is not None):
            message = f"the name {name!r} may be taken: {holder or 'an earlier step'} had it, and it may be free by now"
            self._problems.warn("name-taken", pointer, message, hint)
        elif given is not None and given.certain:
            self._problems.error("name-taken", pointer, f"the name {name!r} is taken: an earlier step gives it", hint)
        elif given is not None:
            message = f"the name {name!r} may be taken: an earlier step gives it on some path"
            self._problems.warn("name-taken", pointer, message, hint)
        elif holder is not None:
            self._problems.error("name-taken", pointer, f"the name {name!r} is taken: {holder} has it", hint)
        elif self._state.env.loops:
            self._report_taken_in_next_round(step, name, pointer)

    def _report_taken_in_next_round(self, step: Step, name: str, pointer: str) -> None:
        if self._state.env.min_rounds > 1 and not self._state.handled:
            self._state.given_by_round.append((name, partial(self._tell_next_round, step, name, pointer)))
        else:
            self._tell_next_round(step, name, pointer, certain=False)

    @contextmanager
    def one_round(self, env: Environment) -> Iterator[None]:
        """Check a round of a loop in an environment, and tell at its end which names the next one finds taken.

        It is not certain of those that the round has freed.
        """
        outer, self._state.given_by_round = self._state.given_by_round, []
        yield
        for name, tell in self._state.given_by_round:
            assigned = env.assigned_names.get(name)
            tell(assigned is not None and assigned.certain and assigned.shape.facts.which not in self._state.moved)
        self._state.given_by_round = outer

    def _tell_next_round(self, step: Step, name: str, pointer: str, certain: bool) -> None:
        message = f"from the second {'item' if certain else 'item or round'} on, the name {name!r} is taken"
        report = self._problems.error if certain else self._problems.warn
        own = "; `${item}` in it makes it each item's own" if step.type else ""
        report("name-taken", pointer, message, _name_taken_hint(step) + own)


def _name_taken_hint(step: Step) -> str:
    if not step.type:
        return "`for-each` with `${item}` in the name gives each item its own"
    return 'give another name; `"replace": true` takes it over'
