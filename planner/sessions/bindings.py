"""What a run's own variables are bound to, found again in the journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from infospace.core.errors import NotFound
from infospace.core.position import Part, Position
from infospace.core.resources import Resource
from infospace.journal.rows import StepRow
from infospace.space import Space


def bindings_of(inputs: Mapping[str, str], rows: Iterable[StepRow]) -> dict[str, str]:
    """Return the ids by variable name, after the steps that ended well, in their order.

    What a branch of `parallel` binds counts once the whole `parallel` has ended well. `$error` is bound within an
    `on_fail` list alone, also where a step of the list binds it.
    """
    rows = list(rows)
    ended = {row.position: row.status for row in rows}
    bound = dict(inputs)
    for row in sorted(rows, key=lambda row: row.sequence):
        if row.out is None or row.resource is None or row.status != "success":
            continue
        if binds_for_all(row.position, row.out, ended):
            bound[row.out] = row.resource
    return bound


def binds_for_all(position: str, out: str, ended: Mapping[str, str]) -> bool:
    """Whether what a step at a position binds to a name is bound for what follows in the run, and not within a part.

    `ended` has the statuses of the steps by their positions.
    """
    parts = list(Position.parse(position).parts)
    if out == "error" and any(part.block == "on_fail" for part in parts):
        return False
    return all(_binds_around(part, ended) for part in parts)


def _binds_around(part: Part, ended: Mapping[str, str]) -> bool:
    """Whether what a part binds is bound around it too: what the part for an item, or a saved plan, binds is not."""
    if part.block == "branches":
        return ended.get(part.holder.text) == "success"
    return part.block not in ("do", "plan") and (part.block != "on_fail" or part.number is None)


def living_bindings(space: Space, bound: Mapping[str, str]) -> dict[str, Resource]:
    """Return the resources that variables are bound to; what was deleted since is left out."""
    results: dict[str, Resource] = {}
    with space.store.reading() as snapshot:
        for name, identifier in bound.items():
            try:
                results[name] = snapshot.get(identifier)
            except NotFound:
                continue
    return results
