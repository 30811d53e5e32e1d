"""What a run came to, told so that two runs in two spaces can be compared."""

from __future__ import annotations

import re
from typing import Any

from infospace import Collection, Note, Relation, Space
from planner.journal.result import RunResult

IDS = re.compile(r"\b(Note|Collection|Relation)_\d+", re.IGNORECASE)
TIMES = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


def told(space: Space, result: RunResult) -> Any:
    """Return status, reason, answer, bindings, names and steps of a run, by content and without ids and times."""
    view = space.context()

    def content(identifier: str, depth: int = 0) -> Any:
        resource = view.get(identifier)
        match resource:
            case Note():
                return without_ids([resource.content, dict(resource.metadata)])
            case Collection():
                return [content(member.id, depth + 1) for member in resource.members] if depth < 4 else "…"
            case Relation():
                return [content(resource.source, 4), content(resource.target, 4), resource.relation]

    with space.store.reading() as snapshot:
        names = {name: content(str(snapshot.named(name))) for name in snapshot.names()}
    steps = [
        (row.position, row.type, row.status, without_ids(row.reason), bool(row.extra.get("handled")))
        for row in result.steps
        if not row.extra.get("ahead")
    ]
    answer = None if result.result is None else without_ids(result.result.data)
    bindings = {name: content(resource.id) for name, resource in result.bindings.items()}
    return result.status, without_ids(result.reason), answer, bindings, names, steps


def without_ids(value: Any) -> Any:
    """Return JSON in which every id is only its kind, and no time is told."""
    if isinstance(value, str):
        return TIMES.sub("then", IDS.sub(r"\1_", value))
    if isinstance(value, list):
        return [without_ids(item) for item in value]
    if isinstance(value, dict):
        return {without_ids(key): without_ids(item) for key, item in value.items()}
    return value
