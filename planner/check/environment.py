"""What the check knows of variables and names at a place in the plan."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from infospace.core.ids import Kind
from infospace.core.names import normalise
from infospace.schema.shapes import Schema, Shape, bare, union, with_identity


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: its shape, where it may have been bound, and whether it is bound on every path to here.

    `unbound_reason` says why it may be unbound, None when it is certain; `handled` tells the doubt that comes of an
    `on_fail`, at which the run skips a step, from that of a branch, which is an error.
    """

    shape: Shape
    places: tuple[str, ...] = ()
    unbound_reason: str | None = None
    handled: bool = False
    extra: Schema | None = None
    """What is known of the `extra` of the step that made what it is bound to."""


@dataclass(frozen=True, slots=True)
class AssignedName:
    """A name that earlier steps give, on every path or on some."""

    shape: Shape
    certain: bool = True


class ComputedNames:
    """Names that steps give and whose text only the run knows: `item ${n}`. A plan has one, in order of its steps.

    Which branch gives one is not kept: a name that may be there is never taken to be missing.
    """

    def __init__(self) -> None:
        self._forms: dict[str, re.Pattern[str]] = {}

    def add(self, text: str, parts: Iterable[str | frozenset[str]]) -> None:
        """Take a name as written. Each part is a text, or the JSON types of what is put there."""
        pattern = "".join(re.escape(normalise(part)) if isinstance(part, str) else _form_of(part) for part in parts)
        self._forms[text] = re.compile(pattern, re.DOTALL)

    def giving(self, name: str) -> str | None:
        """Return the first name as written that may become `name`, None where none can."""
        return next((text for text, form in self._forms.items() if form.fullmatch(normalise(name))), None)


_NUMBER = r"-?[0-9][0-9.eE+-]*"


def _form_of(types: frozenset[str]) -> str:
    """Return the form of the texts of values of some JSON types."""
    if types and types <= {"integer", "number"}:
        return _NUMBER
    return "(?:true|false)" if types == {"boolean"} else ".*"


@dataclass(slots=True)
class Environment:
    """Variables and given names. A body's environment knows the outer one's; what it binds stays in it."""

    variables: dict[str, Variable] = field(default_factory=dict)
    assigned_names: dict[str, AssignedName] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    """Pointers of bindings that something reads; shared by all environments of a plan."""
    loops: int = 0
    changed: set[str] = field(default_factory=set)
    """Variables that were bound, or came to be known as bound, since this was copied from another."""
    unreachable: bool = False
    """Whether no path leads here, since the plan was stopped before."""
    min_rounds: int = 0
    """How often the block here is run at least, whatever becomes of what it stands in; a copy knows nothing of it."""
    sibling_names: dict[str, AssignedName] = field(default_factory=dict)
    """Names that branches beside this one give: taken, and not there to be looked up."""
    deleted: set[object] = field(default_factory=set)
    """Which resources were deleted on every path to here."""
    renamed: set[object] = field(default_factory=set)
    """Which resources of the space got another name on every path to here."""
    existing_names: set[str] = field(default_factory=set)
    """Names that the space is known to have here, since a `bound` said so."""
    absent_names: dict[str, int] = field(default_factory=dict)
    """Names that it is known not to have, and in how many loops that became known: a later round may have given one."""
    places: set[str] = field(default_factory=set)
    """Places in variables, as references, that are known to exist here, since a condition said so."""

    def copy(self, *, loop: bool = False) -> Environment:
        """Return an environment that starts with the same variables and names."""
        return Environment(
            dict(self.variables),
            dict(self.assigned_names),
            self.read,
            self.loops + loop,
            sibling_names=dict(self.sibling_names),
            deleted=set(self.deleted),
            renamed=set(self.renamed),
            existing_names=set(self.existing_names),
            absent_names=dict(self.absent_names),
            places=set(self.places),
        )

    def for_called_plan(self) -> Environment:
        """Return what a saved plan that is called here starts with: all that is known of the space, no variable."""
        return replace(self.copy(), variables={}, read=set())

    def has_place(self, reference: str) -> bool:
        """Whether a condition said that a place exists, or one inside it."""
        return any(
            place.startswith(reference) and place[len(reference) :][:1] in ("", ".", "[") for place in self.places
        )

    def update_from(self, after: Environment) -> None:
        """Become what a copy of this has become."""
        self.variables, self.places, self.unreachable = after.variables, after.places, after.unreachable
        self.changed |= after.changed
        self.update_space_from(after)

    def update_space_from(self, after: Environment) -> None:
        """Take over what is known of the space after what was run here; the variables stay as they are."""
        self.assigned_names, self.deleted, self.renamed = after.assigned_names, after.deleted, after.renamed
        self.existing_names, self.absent_names = after.existing_names, after.absent_names

    def add_branch(self, before: Environment, end: Environment) -> None:
        """Take over what one of several branches has bound, named and deleted, all of which are run."""
        for name in end.changed:
            self.bind(name, end.variables[name])
        given = {
            name: assigned
            for name, assigned in end.assigned_names.items()
            if assigned is not before.assigned_names.get(name)
        }
        lost = before.assigned_names.keys() - end.assigned_names.keys()
        absent = {name: end.absent_names[name] for name in lost & end.absent_names.keys()}
        no_longer = given.keys() | (before.absent_names.keys() - end.absent_names.keys())
        self.assigned_names = {name: one for name, one in self.assigned_names.items() if name not in lost} | given
        self.absent_names = {
            name: loops for name, loops in (self.absent_names | absent).items() if name not in no_longer
        }
        self.deleted |= end.deleted
        self.renamed |= end.renamed
        self.unreachable = self.unreachable or end.unreachable

    def add_names(self, body: Environment) -> None:
        """Take over which names a block gives that may have run, any number of times."""
        self.assigned_names = _joined_names(self.assigned_names, body.assigned_names)
        self.absent_names = _absent_in_both(self.absent_names, body.absent_names)

    def bind(self, name: str, variable: Variable) -> None:
        """Bind a variable from here on; a shape without an identity gets a new one."""
        if variable.shape.facts.which is None:
            variable = replace(variable, shape=with_identity(variable.shape, object()))
        self.variables[name] = variable
        self.changed.add(name)
        if self.places:
            self.places = {place for place in self.places if not re.match(rf"\${name}\b", place)}

    def find(self, name: str) -> Variable | None:
        """Return a variable and remember that it is read."""
        variable = self.variables.get(name)
        if variable is not None:
            self.read.update(variable.places)
        return variable

    def with_facts(self, names: set[str], *, loop: bool = False) -> Environment:
        """Return an environment, that of a round with `loop`, in which these variables are known to be bound.

        `'name` stands for a name that the space has, `!name` for one that it has not, `$name.key` for a place.
        """
        inner = self.copy(loop=loop)
        there, absent = ({name[1:] for name in names if name[0] == sign} for sign in "'!")
        inner.existing_names = (inner.existing_names | there) - absent
        known = inner.absent_names | dict.fromkeys(absent, inner.loops)
        inner.absent_names = {name: loops for name, loops in known.items() if name not in there}
        inner.places |= {name for name in names if name[0] == "$"}
        for name in names & inner.variables.keys():
            if inner.variables[name].unbound_reason is not None:
                inner.bind(name, replace(inner.variables[name], unbound_reason=None, handled=False))
        return inner

    def between_rounds(self, before: Environment, names: Iterable[str]) -> None:
        """Forget the identities of what a round of a loop binds and names: the next round makes other resources."""
        for name in names:
            if name in self.variables:
                variable = self.variables[name]
                self.bind(name, replace(variable, shape=bare(variable.shape)))
        for name, assigned in self.assigned_names.items():
            if assigned is not before.assigned_names.get(name):
                self.assigned_names[name] = replace(assigned, shape=bare(assigned.shape))

    def of_kind(self, kinds: frozenset[Kind]) -> Iterator[str]:
        """Iterate over the variables that are certain and whose kind fits."""
        for name, variable in self.variables.items():
            if variable.unbound_reason is None and variable.shape.kinds <= kinds:
                yield f"${name}"

    def join(self, one: Environment, other: Environment, doubts: tuple[str, str], *, handled: bool = False) -> None:
        """Take over what two branches bind and name: certain where both do, in doubt where one does.

        Both are copies of this, or of what this was before; what changed in neither is as it is here.
        `doubts` say why what only the one, or only the other, binds may be unbound; `handled` whether what
        only the one binds is then skipped rather than wrong.
        """
        self.unreachable = one.unreachable and other.unreachable
        if one.unreachable != other.unreachable:
            one = other = other if one.unreachable else one
        for name in one.changed | other.changed:
            left, right = one.variables.get(name), other.variables.get(name)
            if left is not None and right is not None:
                self.bind(name, left if left is right else _either(left, right))
            elif left is not None:
                self.bind(name, _doubted(left, doubts[0], handled=handled))
            elif right is not None:
                self.bind(name, _doubted(right, doubts[1], handled=False))
        self.assigned_names = _joined_names(one.assigned_names, other.assigned_names)
        self.deleted, self.renamed = one.deleted & other.deleted, one.renamed & other.renamed
        self.existing_names = one.existing_names & other.existing_names
        self.absent_names = _absent_in_both(one.absent_names, other.absent_names)
        self.places = one.places & other.places


def _either(left: Variable, right: Variable) -> Variable:
    doubt = left.unbound_reason or right.unbound_reason
    doubtful = [side for side in (left, right) if side.unbound_reason is not None]
    handled = doubt is not None and all(side.handled for side in doubtful)
    places = tuple(dict.fromkeys(left.places + right.places))
    extra = left.extra if left.extra == right.extra else None
    return Variable(union(left.shape, right.shape), places, doubt, handled, extra)


def _doubted(variable: Variable, doubt: str, *, handled: bool) -> Variable:
    if variable.unbound_reason is not None:
        return replace(variable, handled=variable.handled and handled)
    return replace(variable, unbound_reason=doubt, handled=handled)


def _absent_in_both(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Return the names that are absent on two paths, known in as many loops as on the one that knew it in fewer."""
    return {name: min(one[name], other[name]) for name in one.keys() & other.keys()}


def _joined_names(one: Mapping[str, AssignedName], other: Mapping[str, AssignedName]) -> dict[str, AssignedName]:
    """Return the names that are given after one of two branches was taken, the very same where neither gave one."""
    if one == other:
        return dict(one)
    results = {}
    for name in {**one, **other}:
        left, right = one.get(name), other.get(name)
        if left is not None and left is right:
            results[name] = left
        elif left is not None and right is not None:
            results[name] = AssignedName(union(left.shape, right.shape), left.certain and right.certain)
        else:
            only = left or right
            assert only is not None  # noqa: S101 - the name is of one of them
            results[name] = AssignedName(only.shape, certain=False)
    return results
