"""The planning profile of a goal: the few verbs and tools that its plan may have, as a schema that endpoints enforce.

The grammar of all plans has open objects, optional keys and recursion, which decoding engines and the strict modes of
vendors refuse. A profile has none of them: each object is closed and has all of its keys, in the order of our examples;
a verb has a form for each set of arguments; blocks stand at most two deep. What a profile cannot say (objects with keys
of one's own, three loops in one another) is put otherwise, by `query` or by a step before. The check knows the whole
language all the same, and the last repair asks without a profile.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from infospace.contract.catalogue import Catalogue
from infospace.contract.decorator import Primitive
from infospace.core.json_types import JSON
from infospace.core.tool import Tool
from infospace.tools.builtin import SERVER
from planner.goals.profile_schemas import (
    TEXT,
    VALUE,
    VALUES,
    PlainSchema,
    argument_schema,
    closed,
    tool_arguments,
)

MAX_VERBS = 15
"""Verbs and tools of a profile."""
MAX_PROPERTIES = 100
"""Properties of all objects together: the lowest bound that a vendor has published for strict schemas."""
MAX_UNIONS = 16
"""Places where one of several types may stand: the lowest such bound."""
MAX_TOOLS = 5
"""Tools of a profile: those nearest to the goal."""
CORE = (
    "query",
    "filter-structured",
    "sort",
    "pluck",
    "compute",
    "size",
    "discover-notes",
    "create-note",
    "project",
)
"""Verbs that most goals need; they stand before those nearest to a goal."""
MORE = ("head", "load", "distinct", "group", "flatten")
"""Verbs that are taken where there is room after those nearest to a goal."""
_RARE = frozenset(("replace", "merge", "if_version", "threshold", "max_tokens", "keep"))
"""Arguments that few plans need: forms are taken without them."""
_CURSOR = re.compile(r"cursor|page|offset|token", re.IGNORECASE)

CALL_LEVELS = 2
"""Levels of objects of a call with plain arguments: the step, and its arguments."""
CALL: PlainSchema = {"$ref": "#/$defs/call"}


_STOPS = (
    closed({"type": {"const": "stop"}, "value": VALUE}),
    closed({"type": {"const": "stop"}, "status": {"const": "failed"}, "value": TEXT}),
)


@dataclass(frozen=True, slots=True)
class PlanningProfile:
    """The schema of the plans for one goal; `verbs` and `tools` are those that they may have.

    `optional` has the arguments of tools, by the tool's name, that are null where they are not given.
    """

    schema: PlainSchema
    verbs: tuple[str, ...]
    tools: tuple[str, ...]
    optional: Mapping[str, frozenset[str]]

    def without_nulls(self, document: JSON) -> JSON:
        """Return a plan without the arguments of tools that are null because the schema wants each key."""
        if isinstance(document, list):
            return [self.without_nulls(item) for item in document]
        if not isinstance(document, Mapping):
            return document
        results = {key: self.without_nulls(value) for key, value in document.items()}
        tool, arguments = results.get("tool", results.get("type")), results.get("arguments")
        if isinstance(tool, str) and isinstance(arguments, Mapping):
            absent = self.optional.get(tool, frozenset())
            results["arguments"] = {
                name: value for name, value in arguments.items() if value is not None or name not in absent
            }
        return results


def planning_profile(
    catalogue: Catalogue,
    verbs: Sequence[str],
    tools: Sequence[Tool],
    inputs: Sequence[str] = (),
    *,
    steps: bool = False,
) -> PlanningProfile | None:
    """Return the profile of a goal. `verbs` and `tools` are the nearest to it, the nearest first; `inputs` it has.

    With `steps` it is that of one step of many: a document of steps alone, among which may be a `stop`.
    None where the tool nearest to it cannot be said in one: nothing is to keep the model from calling that.
    """
    draft = _Draft(tuple(inputs), steps)
    for tool in tools[:MAX_TOOLS]:
        if not draft.add_tool(tool) and not draft.tools:
            return None
    more: dict[str, list[PlainSchema]] = {}
    for verb in dict.fromkeys([*CORE, *verbs, *MORE]):
        entry = catalogue.find(verb)
        forms = [] if entry is None else list(_forms(entry))
        if forms and draft.has_room(forms[:1]):
            draft.verbs.append(verb)
            draft.steps.append(forms[0])
            more[verb] = forms[1:]
    nearest = [verb for verb in verbs if verb in more]
    for form in chain.from_iterable(more[verb] for verb in dict.fromkeys([*nearest, *reversed(more)])):
        if draft.fits([form]):
            draft.steps.append(form)
    return PlanningProfile(draft.schema(), tuple(draft.verbs), tuple(draft.tools), draft.optional)


@dataclass(slots=True)
class _Draft:
    """A profile that takes up verbs and tools as long as the bounds allow."""

    inputs: tuple[str, ...]
    is_step: bool = False
    verbs: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    steps: list[PlainSchema] = field(default_factory=list)
    optional: dict[str, frozenset[str]] = field(default_factory=dict)

    def add_tool(self, tool: Tool) -> bool:
        """Take up a tool, and a walk over its pages where it has some. Returns whether it was taken up."""
        name = tool.name if tool.server == SERVER else tool.full_name
        results = tool_arguments(tool.input_schema)
        if results is None:
            return False
        arguments, optional = results
        step = closed({"type": {"const": name}, "arguments": arguments, "out": TEXT})
        if not self.has_room([step]):
            return False
        self.tools.append(name)
        self.steps.append(step)
        self.optional[name] = optional
        if any(_CURSOR.search(argument) for argument in arguments["properties"]):
            form = {"type": {"const": "pages"}, "tool": {"const": name}, "arguments": arguments}
            pages = closed({**form, "items": TEXT, "next": TEXT, "out": TEXT})
            if self.fits([pages]):
                self.steps.append(pages)
        return True

    def has_room(self, forms: Sequence[PlainSchema]) -> bool:
        """Whether one more verb or tool can be taken up, in these forms."""
        return len(self.verbs) + len(self.tools) < MAX_VERBS and self.fits(forms)

    def fits(self, forms: Sequence[PlainSchema]) -> bool:
        """Whether the schema keeps to the bounds with these forms."""
        properties, unions = measures(self.schema(forms))
        return properties <= MAX_PROPERTIES and unions <= MAX_UNIONS

    def schema(self, more: Sequence[PlainSchema] = ()) -> PlainSchema:
        """Return the schema of a document; its steps may stand in `for-each`, `while` and `if`.

        A `for-each` or an `if` may stand within these. Where arguments have objects in them, those inner ones are left
        out: vendors count levels of objects.
        """
        has_inputs = self.inputs and not self.is_step
        head = {"inputs": closed({name: closed({"type": TEXT}) for name in self.inputs})} if has_inputs else {}
        calls = [*self.steps, *more]
        in_block = {"type": "array", "items": CALL}
        inner = {"anyOf": [CALL, _if(in_block), _for_each(in_block)]}
        if any(_levels(call) > CALL_LEVELS for call in calls):
            inner = CALL
        block = {"type": "array", "items": {"$ref": "#/$defs/inner"}}
        loops = [_for_each(block), closed({"type": {"const": "while"}, "condition": TEXT, "body": block})]
        steps = {"steps": {"type": "array", "items": {"$ref": "#/$defs/step"}}}
        return {
            **closed({**head, **steps, **({} if self.is_step else {"result": TEXT})}),
            "$defs": {
                "value": VALUES,
                "call": {"anyOf": calls},
                "inner": inner,
                "step": {"anyOf": [CALL, *loops, _if(block), *(_STOPS if self.is_step else ())]},
            },
        }


def measures(schema: PlainSchema) -> tuple[int, int]:
    """Return how many properties and how many unions a schema has; a reference to a union of values is one."""
    properties = unions = 0
    for part in _parts(schema):
        properties += len(part.get("properties", {}))
        unions += isinstance(part.get("type"), list) or "anyOf" in part or part.get("$ref") == "#/$defs/value"
    return properties, unions


def _levels(schema: PlainSchema) -> int:
    """Return how many objects stand in one another."""
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), schema.get("items", {})]
    return (schema.get("type") == "object") + max(map(_levels, inner), default=0) if schema else 0


def _parts(part: Any) -> Iterator[Mapping[str, Any]]:
    """Yield all schemas that a schema is made of."""
    if isinstance(part, list):
        for item in part:
            yield from _parts(item)
    if not isinstance(part, Mapping):
        return
    yield part
    for key, value in part.items():
        if key in ("properties", "$defs"):
            for inner in value.values():
                yield from _parts(inner)
        elif key in ("items", "anyOf"):
            yield from _parts(value)


def _for_each(block: PlainSchema) -> PlainSchema:
    return closed({"type": {"const": "for-each"}, "target": TEXT, "as": TEXT, "do": block, "out": TEXT})


def _if(block: PlainSchema) -> PlainSchema:
    return closed({"type": {"const": "if"}, "condition": TEXT, "then": block, "else": block})


def _forms(entry: Primitive) -> Iterator[PlainSchema]:
    """Yield a verb as its examples have it, the shortest first, but for those that cannot be said."""
    seen = set()
    for example in sorted(entry.examples, key=len):
        keys = tuple(key for key in example if key != "type" and key not in _RARE)
        if keys in seen:
            continue
        seen.add(keys)
        results: dict[str, PlainSchema | None] = {"type": {"const": entry.type}}
        for key in keys:
            argument = entry.arguments.get(key)
            results[key] = TEXT if argument is None and key in ("out", "name") else None
            if argument is not None:
                results[key] = argument_schema(argument)
        plain = {key: schema for key, schema in results.items() if schema is not None}
        if len(plain) == len(results):
            yield closed(plain)
