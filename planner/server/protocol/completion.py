"""What a client is offered while its user writes: earlier goals for the prompt, names and ids for the resources."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from infospace.core.ids import Kind
from infospace.space import Space
from infospace.store.protocol import Snapshot
from planner.server.protocol.resources import SCHEME, TEMPLATES

MAX_VALUES: Final = 100
"""Values of one answer: what the protocol allows."""
LOOKED_AT: Final = 1_000
"""Runs whose goals, and resources whose names, are looked at."""


def complete_goal(space: Space, prefix: str) -> list[str]:
    """Return the goals of earlier runs that begin so, in small letters or capitals, the latest first."""
    with space.store.reading() as snapshot:
        goals = dict.fromkeys(row.goal for row in snapshot.runs(limit=LOOKED_AT) if row.goal)
    return [goal for goal in goals if goal.casefold().startswith(prefix.casefold())]


def complete_resource(space: Space, template: str, prefix: str) -> list[str]:
    """Return the names and ids of what a template reads that begin so; none for a template that is not there."""
    part = template.removeprefix(f"{SCHEME}://").partition("/")[0]
    if part not in TEMPLATES or template != f"{SCHEME}://{part}/{{id}}":
        return []
    with space.store.reading() as snapshot:
        fitting = (one for one in _known(snapshot, part) if one.casefold().startswith(prefix.casefold()))
        return list(islice(dict.fromkeys(fitting), MAX_VALUES + 1))


def _known(snapshot: Snapshot, part: str) -> Iterator[str]:
    if part == "run":
        yield from (row.run for row in snapshot.runs(limit=LOOKED_AT))
        return
    kind = Kind.COLLECTION if part == "collection" else Kind.NOTE
    for one in islice(snapshot.listing(kind), LOOKED_AT):
        # As in the list of resources: saved plans, sessions and the like are not offered, by their ids either.
        if (one.name or "").startswith("_"):
            continue
        if one.name:
            yield one.name
        yield one.id
