"""Saved plans: documents kept in the space as Notes that bear a name of their own, versions and all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from infospace.core.clock import now
from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.core.ids import Kind
from infospace.core.json_types import JSON
from infospace.core.names import name_error, normalise
from infospace.core.resources import CreatedBy, Note
from infospace.core.tool import Tool
from infospace.data.paths import nearest
from infospace.journal.rows import CloseRun, OpenRun
from infospace.space import Space
from infospace.store.changes import Change, Delete, GiveName, MakeNote, Revise
from infospace.store.protocol import Snapshot
from infospace.tools.builtin import SERVER
from planner.language.plan import SavedPlanCall, every_step
from planner.language.problems import Problems
from planner.parse.steps import SAVED

PREFIX = "_plan:"
"""What the name of the Note begins with that holds a saved plan: infrastructure, and so left out of discovery."""


def saved_plan(snapshot: Snapshot, name: str) -> JSON:
    """Return the document of a saved plan, None when there is none of that name."""
    identifier = snapshot.named(PREFIX + normalise(name))
    if identifier is None:
        return None
    note = snapshot.get(identifier)
    return note.content if isinstance(note, Note) else None


def saved_plans(snapshot: Snapshot) -> list[str]:
    """Return the names of all saved plans, sorted."""
    return sorted(name.removeprefix(PREFIX) for name in snapshot.names() if name.startswith(PREFIX))


def save_plan(space: Space, name: str, document: JSON, *, replace: bool = False) -> str:
    """Keep a plan that the check has passed, under a name; return the id of its Note. It is a run, to be undone.

    With `replace` a plan of that name gets a new version, without it is a Conflict. Raises Invalid for what
    cannot be a name, and for a plan that would run itself, directly or not.
    """
    fault = name_error(name)
    if fault is not None:
        raise Invalid(fault.message, hint=fault.hint)
    full = PREFIX + normalise(name)
    with space.store.reading() as snapshot:
        known = snapshot.named(full)
        chain = _cycle(snapshot, document, (normalise(name),), set())
    if chain is not None:
        raise Invalid(
            f"saved plans that run one another never end: {' → '.join(chain)}",
            hint="`while` and `for-each` repeat steps",
        )
    if known is not None and not replace:
        raise Conflict(f"there is a saved plan {name!r} already", hint="`--replace` makes this its next version")
    run = space.store.new_id("run")
    created_by = CreatedBy(run, None, "plans")
    identifier = known or space.store.new_id(Kind.NOTE)
    changes: list[Change] = [Revise(identifier, document, created_by=created_by)]
    if known is None:
        changes = [MakeNote(identifier, document, kept=True, created_by=created_by), GiveName(identifier, full)]
    _commit(space, run, f"plans save {name}", changes)
    return identifier


def _cycle(snapshot: Snapshot, document: JSON, calling: tuple[str, ...], seen: set[str]) -> tuple[str, ...] | None:
    """Return the names by which a plan comes to run the first of those it is called from, None where it does not."""
    from planner.parse.document import parse_plan

    for step in every_step(parse_plan(document, Problems()).steps):
        name = normalise(step.form.name) if isinstance(step.form, SavedPlanCall) else None
        if name is None or name in seen:
            continue
        if name == calling[0]:
            return (*calling, name)
        seen.add(name)
        results = _cycle(snapshot, saved_plan(snapshot, name), (*calling, name), seen)
        if results is not None:
            return results
    return None


def offer_plans(space: Space) -> None:
    """Have what looks for tools in a space find its saved plans too."""
    space.catalogue.listings["saved plans"] = plan_tools


def plan_tools(space: Space) -> list[Tool]:
    """Return the saved plans as tools: what each takes is what its inputs say."""
    with space.store.reading() as snapshot:
        plans = {name: saved_plan(snapshot, name) for name in saved_plans(snapshot)}
    return [_tool(name, plan) for name, plan in plans.items()]


def _tool(name: str, plan: JSON) -> Tool:
    document = plan if isinstance(plan, dict) else {}
    goal, inputs = document.get("goal"), document.get("inputs")
    declared = (
        {key: value for key, value in inputs.items() if isinstance(value, dict)} if isinstance(inputs, dict) else {}
    )
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {key: _argument(value) for key, value in declared.items()},
        "required": [key for key, value in declared.items() if "default" not in value],
        "additionalProperties": False,
    }
    described = goal if isinstance(goal, str) else ""
    return Tool(SERVER, f"{SAVED}{name}", described, schema, category="plans", server_title="the space itself")


def _argument(declared: Mapping[str, JSON]) -> Mapping[str, JSON]:
    kind = declared.get("kind")
    return {"type": "string", "description": f"The id or name of a {kind}."} if isinstance(kind, str) else declared


def load_plan(space: Space, name: str) -> JSON:
    """Return the document of a saved plan; NotFound says which is nearest."""
    with space.store.reading() as snapshot:
        value = saved_plan(snapshot, name)
        names = saved_plans(snapshot)
    if value is None:
        raise NotFound(f"there is no saved plan {name!r}", hint=unknown_plan(name, names))
    return value


def remove_plan(space: Space, name: str) -> str:
    """Delete a saved plan; return the id of its Note. It is a run, to be undone. NotFound says which is nearest."""
    with space.store.reading() as snapshot:
        identifier = snapshot.named(PREFIX + normalise(name))
        names = saved_plans(snapshot)
    if identifier is None:
        raise NotFound(f"there is no saved plan {name!r}", hint=unknown_plan(name, names))
    run = space.store.new_id("run")
    _commit(space, run, f"plans rm {name}", [Delete(identifier, CreatedBy(run, None, "plans"))])
    return identifier


def _commit(space: Space, run: str, goal: str, changes: Sequence[Change]) -> None:
    space.store.commit(changes, [OpenRun(run, "edit", goal, None, {}, now(), ""), CloseRun(run, "success", now())])


def unknown_plan(name: str, names: Sequence[str]) -> str:
    """Say which saved plan may have been meant."""
    near = nearest(name, names)
    if near is not None:
        return f"did you mean {near!r}?"
    return (
        "`infospace plans` lists them" if names else "none is saved yet; `infospace plans save NAME PLAN` can save one"
    )
