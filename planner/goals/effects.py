"""What a plan would do: what it writes, calls, and asks of a language model; shown before anything of it happens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from infospace.contract.catalogue import Catalogue
from infospace.core.json_types import JSON
from planner.language.plan import Map, Pages, Plan, SavedPlanCall, Step, ToolCall, every_step
from planner.order.dependencies import called_tool

EffectKind: TypeAlias = Literal["writes", "calls", "asks-model", "asks-person"]


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing that a step would do, as often as the step runs. `what` is a name, a tool or a type.

    `read_only` is the word of the tool's server; `known` says whether the tool is known at all.
    """

    pointer: str
    kind: EffectKind
    what: str
    read_only: bool = False
    known: bool = True

    def to_json(self) -> JSON:
        """Return it as JSON."""
        return {"pointer": self.pointer, "kind": self.kind, "what": self.what, "read_only": self.read_only}


def effects_of(plan: Plan, catalogue: Catalogue) -> list[Effect]:
    """Return all that a plan may do outside of itself, in document order; also what the saved plans in it do."""
    return list(_effects(plan, catalogue, frozenset()))


def needs_consent(effects: list[Effect]) -> bool:
    """Whether a person is asked first: where anything is written, or any tool is called.

    Also one that only reads, as its server says: what it is asked leaves the space, and an order in a text that the
    model obeys could send that text anywhere.
    """
    return any(effect.kind in ("writes", "calls") for effect in effects)


def tools_called(effects: list[Effect]) -> list[str]:
    """Return the tools that a plan calls by name, each once."""
    return list(dict.fromkeys(effect.what for effect in effects if effect.kind == "calls" and effect.known))


def _effects(plan: Plan, catalogue: Catalogue, within: frozenset[str]) -> Iterator[Effect]:
    for step in every_step(plan.steps):
        if isinstance(step.form, SavedPlanCall) and step.form.name in plan.plans and step.form.name not in within:
            yield from _effects(plan.plans[step.form.name], catalogue, within | {step.form.name})
        if step.name is not None:
            yield Effect(step.pointer, "writes", step.name)
        yield from _effects_of_step(step, catalogue)


def _effects_of_step(step: Step, catalogue: Catalogue) -> Iterator[Effect]:
    if step.type == "ask":
        yield Effect(step.pointer, "asks-person", "ask")
    form = step.form
    operation = form.operation if isinstance(form, Map) else step.type
    tool, entry = called_tool(step, catalogue), catalogue.find(operation)
    if tool is not None:
        yield Effect(step.pointer, "calls", tool.full_name, tool.read_only)
    elif isinstance(form, ToolCall | Pages):
        yield Effect(step.pointer, "calls", form.tool, known=False)
    elif "/" in operation or (entry is not None and entry.effect == "calls" and not entry.asks):
        yield Effect(step.pointer, "calls", operation, known=False)
    elif entry is not None and entry.asks:
        yield Effect(step.pointer, "asks-model", entry.type)
    elif entry is not None and entry.effect not in ("pure", "reads"):
        yield Effect(step.pointer, "writes", entry.type)
