"""What every variable of a run was bound to at any moment of it, from the journal alone."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from infospace.memory.store import Snapshot
from infospace.resources import Collection
from infospace.runs.journal import RunRow, StepRow
from planner.outline import holder_of, holds, part_of
from planner.plan import ForEach, Plan
from planner.written import step_at

_APART = re.compile(r"(\.do\[\d+\]|\.branches\[\d+\]|/)$")
"""What has a scope of its own."""
_ITEM = re.compile(r"(.*)\.do\[(\d+)\]")
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


class Moments:
    """The moments of a run: 0 is its beginning, `n` is when the n-th of its executions has ended."""

    def __init__(self, plan: Plan, run: RunRow, rows: Sequence[StepRow], members: Members) -> None:
        self.ended = list(in_order(rows))
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
        return self._seen(position, self._scopes(moment))

    def before(self, position: str) -> list[Binding]:
        """Return what a step could see when it began."""
        return self._seen(position, self._scopes(self.moment_before(position)))

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
            self._take(scopes, self.ended[number])
            if number + 1 == self._kept[-1][0] + KEPT:
                self._kept.append((number + 1, {part: dict(names) for part, names in scopes.items()}))
        return scopes

    def _take(self, scopes: Scopes, row: StepRow) -> None:
        if row.status != "success":
            return
        scope = scope_of(row.position)
        if row.type == "parallel":
            branches = sorted((part for part in scopes if _branch(part, row.position)), key=_number)
            for part in branches:
                own = {name: replace(binding, scope=scope) for name, binding in scopes[part].items()}
                scopes.setdefault(scope, {}).update(own)
        for part in [part for part in scopes if holds(row.position, part)]:
            del scopes[part]
        if row.out is not None and row.resource is not None:
            bound = Binding(row.out, row.resource, row.version, row.position, scope)
            item = _ITEM.fullmatch(scope)
            if item is not None and scope not in scopes:
                for part in [part for part in scopes if part.startswith(f"{item[1]}.do[")]:
                    del scopes[part]
            scopes.setdefault(scope, {})[row.out] = bound

    # Looking

    def _seen(self, position: str, scopes: Scopes) -> list[Binding]:
        found: dict[str, Binding] = {}
        for part in _chain(position):
            for name, binding in (scopes.get(part, {}) | self._given(part, scopes)).items():
                found.setdefault(name, binding)
        if ".on_fail." in position:
            handler = position[: position.rindex(".on_fail.")]
            error = self._decided.get(f"{handler}.error")
            if isinstance(error, str):
                found["error"] = self._binding("error", error, handler, scope_of(position))
        return sorted(found.values(), key=lambda binding: binding.name)

    def _given(self, part: str, scopes: Scopes) -> dict[str, Binding]:
        """What a part binds by itself: the item of a loop, the inputs of a saved plan."""
        item = _ITEM.fullmatch(part)
        step = None if item is None else step_at(self._plan, item[1])
        if item is not None and step is not None and isinstance(step.form, ForEach):
            through = self._decided.get(item[1]) or _bound_to(step.form.target, item[1], scopes)
            identifier = self._item(through, int(item[2]))
            return {} if identifier is None else {step.form.as_: self._binding(step.form.as_, identifier, "item", part)}
        decided = self._decided.get(part[:-1]) if part.endswith("/") else None
        if isinstance(decided, Mapping):
            return {str(name): self._binding(str(name), str(one), "input", part) for name, one in decided.items()}
        return {}

    def _item(self, through: Any, number: int) -> str | None:
        if not (isinstance(through, list) and len(through) == 2):
            return None
        members = self._members(str(through[0]), int(through[1]))
        return members[number - 1] if number <= len(members) else None

    def _binding(self, name: str, identifier: str, step: str, scope: str) -> Binding:
        return Binding(name, identifier, self._versions.get(identifier), step, scope)


def in_order(rows: Sequence[StepRow]) -> Iterator[StepRow]:
    """Iterate over executions as they ended one after the other: a form after what ran inside of it."""
    waiting: list[StepRow] = []
    for row in sorted(rows, key=lambda row: row.sequence):
        while waiting and not holds(waiting[-1].position, row.position):
            yield waiting.pop()
        waiting.append(row)
    yield from reversed(waiting)


def scope_of(position: str) -> str:
    """Return the part whose scope a step binds in, "" for that of the plan."""
    part = part_of(position)
    while part and not _APART.search(part):
        part = part_of(holder_of(part))
    return part


def _chain(position: str) -> Iterator[str]:
    """The scopes that a step sees, its own first; a saved plan sees nothing of the plan that runs it."""
    scope = scope_of(position)
    while scope:
        yield scope
        if scope.endswith("/"):
            return
        scope = scope_of(holder_of(scope))
    yield ""


def _bound_to(target: Any, position: str, scopes: Scopes) -> list[Any] | None:
    """What a loop that has decided nothing yet will go through, by id and version, where that is a variable."""
    name = target[1:] if isinstance(target, str) and target.startswith("$") else ""
    for part in _chain(position):
        bound = scopes.get(part, {}).get(name)
        if bound is not None:
            return None if bound.version is None else [bound.id, bound.version]
    return None


def _branch(part: str, position: str) -> bool:
    return part.startswith(f"{position}.branches[") and part.endswith("]") and holder_of(part) == position


def _number(part: str) -> int:
    return int(part[part.rindex("[") + 1 : -1])


def members_of(snapshot: Snapshot) -> Members:
    """Return what tells the items of Collections of a space."""
    known: dict[tuple[str, int], list[str]] = {}

    def members(identifier: str, version: int) -> list[str]:
        if (identifier, version) not in known:
            found = snapshot.get(identifier, version)
            ids = [member.id for member in found.members] if isinstance(found, Collection) else []
            known[identifier, version] = ids
        return known[identifier, version]

    return members
