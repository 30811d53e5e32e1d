"""What a run's own variables are bound to, found again in the journal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from infospace.errors import NotFound
from infospace.resources import Resource
from infospace.runs.journal import StepRow
from infospace.space import Space

_INNER = re.compile(r"\.do\[|/|\]\.on_fail\.")
"""What the position of a step in a scope of its own has: a body of `for-each`, a saved plan, an item's `on_fail`."""
_BRANCH = re.compile(r"\.branches\[\d+\]\.")


def bindings_of(inputs: Mapping[str, str], rows: Iterable[StepRow]) -> dict[str, str]:
    """Return the ids by variable name, after the steps that ended well, in their order.

    What a branch of `parallel` binds counts once the whole `parallel` has ended well.
    """
    rows = list(rows)
    ended = {row.position: row.status for row in rows}
    bound = dict(inputs)
    for row in sorted(rows, key=lambda row: row.sequence):
        if row.out is None or row.resource is None or row.status != "success":
            continue
        if _INNER.search(row.position):
            continue
        around = (row.position[: branch.start()] for branch in _BRANCH.finditer(row.position))
        if all(ended.get(position) == "success" for position in around):
            bound[row.out] = row.resource
    return bound


def living(space: Space, bound: Mapping[str, str]) -> dict[str, Resource]:
    """Return the resources that variables are bound to; what was deleted since is left out."""
    found: dict[str, Resource] = {}
    with space.store.reading() as snapshot:
        for name, identifier in bound.items():
            try:
                found[name] = snapshot.get(identifier)
            except NotFound:
                continue
    return found
