"""What the check knows of variables at a place in the plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from infospace.ids import Kind
from infospace.kinds import CollectionShape, NoteShape, RelationShape, Shape, Unknown


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: its shape, where it was bound, and whether it is bound on every path to here.

    `doubt` says why it may be unbound, None when it is certain; `handled` tells the doubt that comes of an
    `on_fail`, at which the run skips a step, from that of a branch, which is an error.
    """

    shape: Shape
    pointer: str
    doubt: str | None = None
    handled: bool = False


@dataclass(slots=True)
class Environment:
    """Variables by name. A body's environment knows the outer one's; what it binds stays in it."""

    variables: dict[str, Variable] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    """Pointers of bindings that something reads; shared by all environments of a plan."""
    loops: int = 0

    def copy(self, *, loop: bool = False) -> Environment:
        """Return an environment that starts with the same variables."""
        return Environment(dict(self.variables), self.read, self.loops + loop)

    def bind(self, name: str, variable: Variable) -> None:
        """Bind a name."""
        self.variables[name] = variable

    def find(self, name: str) -> Variable | None:
        """Return a variable and remember that it is read."""
        found = self.variables.get(name)
        if found is not None:
            self.read.add(found.pointer)
        return found

    def certainly(self, names: set[str]) -> Environment:
        """Return an environment in which these variables are known to be bound."""
        inner = self.copy()
        for name in names & inner.variables.keys():
            inner.variables[name] = replace(inner.variables[name], doubt=None, handled=False)
        return inner

    def of_kind(self, kinds: frozenset[Kind]) -> Iterator[str]:
        """Iterate over the variables that are certain and whose kind fits."""
        for name, variable in self.variables.items():
            if variable.doubt is None and variable.shape.kinds <= kinds:
                yield f"${name}"

    def join(self, one: Environment, other: Environment, doubts: tuple[str, str]) -> None:
        """Take over what two branches bind: certain where both do, in doubt where one does."""
        for name in {**one.variables, **other.variables}:
            left, right = one.variables.get(name), other.variables.get(name)
            if left is not None and right is not None:
                doubt = left.doubt or right.doubt
                handled = left.handled or right.handled
                pointer = left.pointer if left != self.variables.get(name) else right.pointer
                self.variables[name] = Variable(union(left.shape, right.shape), pointer, doubt, handled)
            elif left is not None:
                self.variables[name] = replace(left, doubt=left.doubt or doubts[0])
            elif right is not None:
                self.variables[name] = replace(right, doubt=right.doubt or doubts[1])


def union(one: Shape, other: Shape) -> Shape:
    """Return what is known of a value that has one shape or the other."""
    match one, other:
        case _ if one == other:
            return one
        case NoteShape(), NoteShape():
            same = one.metadata == other.metadata
            content = one.content if one.content == other.content else None
            return NoteShape(content, one.metadata if same else None)
        case CollectionShape(), CollectionShape():
            return CollectionShape(union(one.item, other.item))
        case RelationShape(), RelationShape():
            return one
    return Unknown()
