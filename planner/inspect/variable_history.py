"""What every variable of a run was bound to at any moment of it, from the journal alone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from infospace.core.position import Part, Position, holds
from infospace.core.resources import Collection
from infospace.journal.rows import RunRow, StepRow
from infospace.store.protocol import Snapshot
from planner.language.plan import ForEach, Map, Plan
from planner.parse.positions import step_at

KEPT = 256
"""Moments between two that are kept, so that going back is quick."""

Members = Callable[[str, int], Sequence[str]]
"""Gives the ids of a Collection's items at a version."""
Scopes = dict[str, dict[str, "Binding"]]


@dataclass(frozen=True, slots=True)
class Binding:
    """A variable that is bound: to what, by which step (`input`, `item` where by none), and in which part.

    `version` is the one that the step gave or that was read, None where the journal does not tell.
    """

    name: str
    id: str
    version: int | None
    step: str
    scope: str


class VariableHistory:
    """The moments of a run: 0 is its beginning, `n` is when the n-th of its executions has ended."""

    def __init__(self, plan: Plan, run: RunRow, rows: Sequence[StepRow], members: Members) -> None:
        self.ended = list(by_end_time(rows))
        """The executions as they ended: what ran inside of a step before the step itself."""
        self._plan = plan
        self._members = members
        self._versions: dict[str, int] = {}
        self._decided: dict[str, Any] = {}
        for row in rows:
            self._decided |= row.frames
            for use in row.uses:
                self._versions.setdefault(use.id, use.version)
        first = {name: self._binding(name, identifier, "input", "") for name, identifier in run.inputs.items()}
        self._kept: list[tuple[int, Scopes]] = [(0, {"": first})]

    def __len__(self) -> int:
        """How many moments there are besides the beginning."""
        return len(self.ended)

    def after(self, moment: int) -> list[Binding]:
        """Return what was bound at a moment, by name, as the step that had just ended could see it."""
        position = self.ended[moment - 1].position if moment else ""
        return self._visible_bindings(position, self._scopes(moment))

    def before(self, position: str) -> list[Binding]:
        """Return what a step could see when it began."""
        return self._visible_bindings(position, self._scopes(self.moment_before(position)))

    def moment_of(self, position: str) -> int:
        """Return the moment at which an execution had ended; 0 where there was none."""
        return next((place for place, row in enumerate(self.ended, 1) if row.position == position), 0)

    def moment_before(self, position: str) -> int:
        """Return the moment at which an execution began, or would have."""
        for place, row in enumerate(self.ended):
            if row.position == position or holds(position, row.position):
                return place
        return len(self.ended)

    # Replaying

    def _scopes(self, moment: int) -> Scopes:
        """Return all scopes as they were at a moment."""
        place = bisect_right(self._kept, moment, key=lambda kept: kept[0]) - 1
        at, known = self._kept[place]
        scopes = {part: dict(names) for part, names in known.items()}
        for number in range(at, moment):
            self._apply_row(scopes, self.ended[number])
            if number + 1 == self._kept[-1][0] + KEPT:
                self._kept.append((number + 1, {part: dict(names) for part, names in scopes.items()}))
        return scopes

    def _apply_row(self, scopes: Scopes, row: StepRow) -> None:
        if row.status != "success":
            return
        around, scope = _scope_around(row.position), scope_of(row.position)
        if row.type == "parallel":
            for part in _branches(scopes, row.position):
                own = {name: replace(binding, scope=scope) for name, binding in scopes[part].items()}
                scopes.setdefault(scope, {}).update(own)
        for part in [part for part in scopes if holds(row.position, part)]:
            del scopes[part]
        if row.out is not None and row.resource is not None:
            bound = Binding(row.out, row.resource, row.version, row.position, scope)
            if around is not None and around.block == "do" and scope not in scopes:
                rounds = [part for part in scopes if part and _in_loop(part, around.holder)]
                for part in [part for part in rounds if not holds(scope, part)]:
                    del scopes[part]
            handler = _handler_around(row.position) if row.out == "error" else None
            scopes.setdefault(scope if handler is None else handler.text, {})[row.out] = bound

    # Looking

    def _visible_bindings(self, position: str, scopes: Scopes) -> list[Binding]:
        results: dict[str, Binding] = {}
        for part in _chain(position):
            results = self._own_bindings(part, scopes) | scopes.get(part, {}) | results
        return sorted(results.values(), key=lambda binding: binding.name)

    def _own_bindings(self, part: str, scopes: Scopes) -> dict[str, Binding]:
        """What a part binds by itself: the item of a loop, the inputs of a saved plan, the error that it handles."""
        at = Part.parse(part) if part else None
        if at is None:
            return {}
        if at.block == "on_fail":
            error = self._decided.get(f"{at.failed}.error")
            scope = scope_of(f"{at.prefix}1")
            return {"error": self._binding("error", error, at.failed.text, scope)} if isinstance(error, str) else {}
        loop = at.holder.text
        step = step_at(self._plan, loop) if at.block == "do" else None
        if step is not None and isinstance(step.form, (ForEach, Map)):
            through = self._decided.get(loop) or _bound_to(step.form.target, loop, scopes)
            identifier = self._item(through, at.number or 1)
            name = step.form.as_ if isinstance(step.form, ForEach) else "item"
            return {} if identifier is None else {name: self._binding(name, identifier, "item", part)}
        decided = self._decided.get(loop) if at.block == "plan" else None
        if isinstance(decided, Mapping):
            return {str(name): self._binding(str(name), str(one), "input", part) for name, one in decided.items()}
        return {}

    def _item(self, through: Any, number: int) -> str | None:
        if not (isinstance(through, list) and len(through) >= 2):
            return None
        members = self._members(str(through[0]), int(through[1]))
        return members[number - 1] if number <= len(members) else None

    def _binding(self, name: str, identifier: str, step: str, scope: str) -> Binding:
        return Binding(name, identifier, self._versions.get(identifier), step, scope)


def by_end_time(rows: Sequence[StepRow]) -> Iterator[StepRow]:
    """Iterate over executions as they ended one after the other: a form after what ran inside of it."""
    waiting: list[StepRow] = []
    for row in sorted(rows, key=lambda row: row.sequence):
        while waiting and not holds(waiting[-1].position, row.position):
            yield waiting.pop()
        waiting.append(row)
    yield from reversed(waiting)


def scope_of(position: str) -> str:
    """Return the part whose scope a step binds in, "" for that of the plan."""
    part = _scope_around(position)
    return "" if part is None else part.text


def _scope_around(position: str) -> Part | None:
    return next((scope for part in _parts(position) if (scope := _scope_in(part)) is not None), None)


def _scope_in(part: Part) -> Part | None:
    """The scope that what stands in a part binds in, None for that around it: of an item's handler the item's own."""
    if part.block == "on_fail" and part.number is not None:
        return part.holder.inside("do", part.number)
    return part if part.scoped else None


def _handler_around(position: str) -> Part | None:
    """The `on_fail` list that a step stands in, where it binds in the same scope: there `$error` ends with the list."""
    inner = next((part for part in _parts(position) if part.block == "on_fail" or part.scoped), None)
    return inner if inner is not None and inner.block == "on_fail" else None


def _parts(position: str) -> Iterator[Part]:
    return Position.parse(position).parts if position else iter(())


def _chain(position: str) -> Iterator[str]:
    """What a step sees the bindings of, the innermost first: scopes, and of lists that handle a failure the error.

    A saved plan sees nothing of the plan that runs it.
    """
    for part in _parts(position):
        if part.block == "on_fail":
            yield part.text
        scope = _scope_in(part)
        if scope is not None:
            yield scope.text
        if part.block == "plan":
            return
    yield ""


def _bound_to(target: Any, position: str, scopes: Scopes) -> list[Any] | None:
    """What a loop that has decided nothing yet will go through, by id and version, where that is a variable."""
    name = target[1:] if isinstance(target, str) and target.startswith("$") else ""
    for part in _chain(position):
        bound = scopes.get(part, {}).get(name)
        if bound is not None:
            return None if bound.version is None else [bound.id, bound.version]
    return None


def _branches(scopes: Iterable[str], position: str) -> list[str]:
    """The branches of a `parallel` that have bound something, in their order."""
    own = (Part.parse(part) for part in scopes if holds(position, part))
    branches = (part for part in own if part.block == "branches" and part.holder.text == position)
    return [part.text for part in sorted(branches, key=lambda part: part.number or 0)]


def _in_loop(part: str, loop: Position) -> bool:
    """Whether a part is a round of a loop, or lies in one."""
    return any(one.block == "do" and one.holder.text == loop.text for one in Part.parse(part).around)


def members_of(snapshot: Snapshot) -> Members:
    """Return what tells the items of Collections of a space."""
    known: dict[tuple[str, int], list[str]] = {}

    def members(identifier: str, version: int) -> list[str]:
        if (identifier, version) not in known:
            resource = snapshot.get(identifier, version)
            ids = [member.id for member in resource.members] if isinstance(resource, Collection) else []
            known[identifier, version] = ids
        return known[identifier, version]

    return members
