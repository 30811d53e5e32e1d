"""Plans that went well, kept with their goals: for the same goal with other values, and as examples for near ones.

Each is a Note without a place in discovery, as saved plans are. It belongs to the scope in which it was written: the
tools and notes that somebody else may know of have no part in it. Where a scope limits the notes or runs that are seen
nothing is remembered.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from infospace.core.clock import now
from infospace.core.errors import NotFound
from infospace.core.ids import Kind, number_of
from infospace.core.json_types import JSON
from infospace.core.resources import CreatedBy, Note
from infospace.data.json_text import dump, same
from infospace.space import Space
from infospace.store.changes import Change, Delete, GiveName, MakeNote, Revise
from infospace.store.protocol import Snapshot
from infospace.tools.scoped_space import scope_of, sight_in
from planner.execute.start import check_plan
from planner.goals.goal_values import GoalValue, differing, split_goal, with_input

PREFIX = "_goal:"
"""What the name of a Note begins with that holds a plan and its goal: infrastructure, and left out of discovery."""
SWITCH = "_goals"
"""The name of the Note that says whether plans are remembered; without it they are."""
MAX_REMEMBERED = 200
"""Plans of a scope; the oldest give way."""
NEAR = 0.5
"""The share of words that two goals have in common where one's plan is shown as an example for the other."""
VALUE = "goal_value_"
"""What the names of inputs begin with that values of a goal became."""
MADE = CreatedBy(None, None, "goals")
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Remembered:
    """A plan that went well for a goal with its inputs. `general` reads inputs where the goal's values stood.

    `open` are the values, by their order in the goal, that became inputs: others have to be the same.
    """

    id: str
    goal: str
    inputs: Mapping[str, JSON]
    plan: JSON
    general: JSON
    open: tuple[int, ...]
    run: str
    at: str

    def to_json(self) -> dict[str, Any]:
        """Return it as people see it."""
        values = split_goal(self.goal)[1]
        return {
            "id": self.id,
            "goal": self.goal,
            "inputs": dict(self.inputs),
            "values": [values[number].text for number in self.open],
            "plan": self.plan,
            "run": self.run,
            "at": self.at,
        }


@dataclass(frozen=True, slots=True)
class RememberedPlanMatch:
    """A plan for a goal that needs no model, and where it was remembered from.

    The values of the goal are the defaults of its inputs: it runs as it is, wherever it is taken.
    """

    plan: JSON
    source: Remembered


def is_on(space: Space) -> bool:
    """Whether plans are remembered in a space."""
    with space.store.reading() as snapshot:
        content = _content(snapshot, snapshot.named(SWITCH))
    return not isinstance(content, Mapping) or content.get("on") is not False


def switch(space: Space, *, on: bool) -> None:
    """Remember plans in a space from now on, or no more; those that are remembered stay, and are not used."""
    with space.store.reading() as snapshot:
        known = snapshot.named(SWITCH)
    _keep(space, known, SWITCH, {"on": on})


def remembered(space: Space) -> list[Remembered]:
    """Return what is remembered in a space's scope, the latest first."""
    prefix = _prefix(space)
    if prefix is None:
        return []
    with space.store.reading() as snapshot:
        names = [name for name in snapshot.names() if name.startswith(prefix)]
        results = [_read(snapshot, snapshot.named(name)) for name in names]
    known = (plan for plan in results if plan is not None)
    return sorted(known, key=lambda plan: (plan.at, number_of(plan.id)), reverse=True)


def remember(space: Space, goal: str, inputs: Mapping[str, JSON], plan: JSON, run: str) -> None:
    """Remember a plan that went well for a goal, in the place of an earlier one. Nothing where that is switched off."""
    prefix = _prefix(space)
    if prefix is None or not is_on(space) or not isinstance(plan, Mapping):
        return
    template, values = split_goal(goal)
    name = prefix + hashlib.sha256(dump([template, sorted(inputs)]).encode()).hexdigest()[:20]
    general, opened = plan, list[int]()
    for number, value in enumerate(values):
        if [goal_value.text for goal_value in values].count(value.text) > 1:
            continue
        more = with_input(general, value, f"{VALUE}{number + 1}", space.catalogue)
        # The run has given its names by now, which the plan that is remembered would give as well.
        if more is not None and check_plan(space, more, run)[1].ok:
            general, opened = more, [*opened, number]  # type: ignore[assignment]
    content: dict[str, JSON] = {
        "goal": goal,
        "inputs": dict(inputs),
        "plan": dict(plan),
        "general": dict(general),
        "open": list(opened),
        "run": run,
        "at": now(),
    }
    with space.store.reading() as snapshot:
        known = snapshot.named(name)
    _keep(space, known, name, content)
    for one in remembered(space)[MAX_REMEMBERED:]:
        forget(space, one.id)


def recall(space: Space, goal: str, inputs: Mapping[str, JSON]) -> RememberedPlanMatch | None:
    """Return the plan of the same goal, with the goal's values now; None where it is to be written.

    The goals differ in nothing but values that became inputs, and have inputs of the same names and types, of which
    the plan reads those that are not the same.
    """
    template, values = split_goal(goal)
    for plan in remembered(space) if is_on(space) else ():
        before, earlier = split_goal(plan.goal)
        if before != template or not _same_inputs(plan, inputs):
            continue
        changed = differing(earlier, values)
        if not changed:
            return RememberedPlanMatch(plan.plan, plan)
        if set(changed) <= set(plan.open):
            return RememberedPlanMatch(_with_values(plan, values), plan)
    return None


def _with_values(one: Remembered, values: Sequence[GoalValue]) -> JSON:
    """Return the plan of a goal with other values: its inputs have them as defaults, the names of its steps as such.

    So whoever is asked about the plan reads the names that it gives, and the check knows those that are taken.
    """
    general: Any = one.general
    texts = {f"{VALUE}{number + 1}": values[number].text for number in one.open}
    steps, names = _named(general["steps"], texts)
    inputs = {name: schema for name, schema in general["inputs"].items() if name not in names}
    for number in one.open:
        name = f"{VALUE}{number + 1}"
        if name in inputs:
            inputs[name] = {**inputs[name], "default": values[number].value}
    return {**general, "inputs": inputs, "steps": steps}


def _named(part: JSON, texts: Mapping[str, str]) -> tuple[JSON, set[str]]:
    """Return steps whose names have texts in the places of inputs, and which those were: each stands at one place."""
    results: set[str] = set()

    def name_of(match: re.Match[str]) -> str:
        results.add(match[1])
        return texts[match[1]].replace("$", "${$}")

    def walk(part: JSON) -> JSON:
        if isinstance(part, list):
            return [walk(inner) for inner in part]
        if not isinstance(part, Mapping):
            return part
        is_step = "type" in part and isinstance(part.get("name"), str)
        return {
            key: pattern.sub(name_of, str(inner)) if is_step and key == "name" else walk(inner)
            for key, inner in part.items()
        }

    pattern = re.compile(rf"\$\{{?({'|'.join(map(re.escape, texts))})\b\}}?")
    return walk(part), results


def nearest(space: Space, goal: str) -> Remembered | None:
    """Return what is remembered of the goal that has most words in common with this one, None where none is near."""
    words = _words(goal)
    best: tuple[float, Remembered | None] = (NEAR, None)
    for plan in remembered(space) if is_on(space) else ():
        others = _words(plan.goal)
        share = len(words & others) / max(1, len(words | others))
        if share > best[0] or (share == NEAR and best[1] is None):
            best = (share, plan)
    return best[1]


def forget(space: Space, identifier: str) -> None:
    """Forget a plan by its id. Raises NotFound where no such plan is remembered in the space's scope."""
    if identifier not in [plan.id for plan in remembered(space)]:
        raise NotFound(f"no plan {identifier!r} is remembered", hint="`infospace plans remembered` lists them")
    space.store.commit([Delete(identifier, MADE)])


def _same_inputs(one: Remembered, inputs: Mapping[str, JSON]) -> bool:
    if one.inputs.keys() != inputs.keys():
        return False
    text = dump(one.plan)
    declared = one.plan.get("inputs") if isinstance(one.plan, Mapping) else None
    for name, value in inputs.items():
        is_read = isinstance(declared, Mapping) and name in declared and re.search(rf"\${{?{re.escape(name)}\b", text)
        if not same(value, one.inputs[name]) and not (is_read and type(value) is type(one.inputs[name])):
            return False
    return True


def _words(goal: str) -> set[str]:
    return set(_WORDS.findall(goal.casefold()))


def _prefix(space: Space) -> str | None:
    """Return what the names of a scope's plans begin with, None where nothing is remembered."""
    if sight_in(space).limits:
        return None
    scope = scope_of(space)
    return f"{PREFIX}/" if scope is None else f"{PREFIX}{hashlib.sha256(dump(scope).encode()).hexdigest()[:12]}/"


def _content(snapshot: Snapshot, identifier: str | None) -> JSON:
    result = None if identifier is None else snapshot.get(identifier)
    return result.content if isinstance(result, Note) else None


def _read(snapshot: Snapshot, identifier: str | None) -> Remembered | None:
    content: Any = _content(snapshot, identifier)
    try:
        result = Remembered(str(identifier), **content)
    except TypeError:
        return None
    return replace(result, open=tuple(result.open))


def _keep(space: Space, known: str | None, name: str, content: JSON) -> None:
    if known is not None:
        space.store.commit([Revise(known, content, created_by=MADE)])
        return
    identifier = space.store.new_id(Kind.NOTE)
    changes: list[Change] = [MakeNote(identifier, content, kept=True, created_by=MADE), GiveName(identifier, name)]
    space.store.commit(changes)
