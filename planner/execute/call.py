"""What a step does outside of its computation: it calls, waits and asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from infospace.context.context import Context
from infospace.context.invoke import Outcome, call_guarded, perform
from infospace.contract.argument_errors import ArgumentsInvalid
from infospace.contract.decorator import Primitive
from infospace.core.errors import InputRequired, Invalid
from infospace.core.json_types import JSON
from infospace.core.resources import Resource
from infospace.journal.id_mapping import rename_ids
from infospace.schema.value_text import shown
from infospace.tools.call import call_tool
from planner.execute.arguments import Resolver
from planner.execute.step_state import StepState
from planner.execute.wait import run_wait
from planner.journal.suspension import Pending, Suspension
from planner.language.plan import Ask, Wait


class Effects(Protocol):
    """What one execution of a step does to the world: really, or in a dry run, which only says what it would do."""

    def __init__(self, state: StepState) -> None: ...

    async def perform(self, entry: Primitive, arguments: Mapping[str, Any], context: Context) -> Outcome:
        """Call a primitive with resolved arguments."""

    async def call_tool(self, context: Context, resolver: Resolver, tool: str, arguments: JSON) -> Outcome:
        """Call a tool with arguments that are resolved first. Raises Unbound, and what resolving raises."""

    async def wait(self, form: Wait) -> Outcome:
        """Wait as the form says. Raises Suspension where that takes long."""

    def ask(self, form: Ask) -> Outcome:
        """Return what was answered to the question of the form. Raises Suspension where nothing was."""

    def item_result(self, identifier: str) -> Resource | None:
        """Return what an item of a loop gave, for the Collection of all; None where it is not known."""

    def require_item_results(self) -> None:
        """Raise InputRequired where `item_result` did not know what an item gave."""

    def input_required(self, missing: InputRequired) -> Outcome:
        """Return what becomes of a step that needs what is not there yet, or raise it: the run then waits for it."""

    def succeeded(self, outcome: Outcome) -> Outcome:
        """Take note of a success, which has its name by now, before it is journalled."""


class StepEffects:
    """Calls, waits and asks in earnest."""

    def __init__(self, state: StepState) -> None:
        self._state = state

    async def perform(self, entry: Primitive, arguments: Mapping[str, Any], context: Context) -> Outcome:
        """Call a primitive with resolved arguments."""
        if not entry.may_wait:
            return await call_validated(entry, arguments, context)
        async with self._state.run.slot():
            return await call_validated(entry, arguments, context)

    async def call_tool(self, context: Context, resolver: Resolver, tool: str, arguments: JSON) -> Outcome:
        """Call a tool with arguments that are resolved first. Raises Unbound, and what resolving raises."""
        value = resolver.value(arguments)
        async with self._state.run.slot():
            return await call_guarded(tool, call_tool(context, context.space.tools.get(tool), value), context)

    async def wait(self, form: Wait) -> Outcome:
        """Wait as the form says. Raises Suspension where that takes long."""
        state = self._state
        return await run_wait(state.run, state.context, state.resolver, form, state.position, state.step.expect)

    def ask(self, form: Ask) -> Outcome:
        """Return what was answered to the question of the form. Raises Suspension where nothing was."""
        state = self._state
        question = question_to_ask(form, state.resolver)
        record = state.run.record or state.run.replayed
        if record is None or not record.answered(state.position):
            raise Suspension([Pending(state.position, "ask", question, form.schema)])
        value, ids = record.answer(state.position), state.run.meter.counterparts
        note = state.context.note(value if ids is None else rename_ids(value, ids.later))
        return Outcome("success", note, state.context.preview(note))

    def item_result(self, identifier: str) -> Resource:
        """Return what an item of a loop gave."""
        return self._state.context.get(identifier)

    def require_item_results(self) -> None:
        """Do nothing: whatever an item gave is in the space."""

    def input_required(self, missing: InputRequired) -> Outcome:
        """Raise it: the run waits for what is missing."""
        raise missing

    def succeeded(self, outcome: Outcome) -> Outcome:
        """Return the outcome as it is."""
        return outcome


def question_to_ask(form: Ask, resolver: Resolver) -> str:
    """Return what to ask. Raises Invalid for what is no text, and what resolving raises."""
    question = resolver.value(form.value)
    if not isinstance(question, str):
        raise Invalid(f"unchecked: the question is text, not {shown(question)}")
    return question


async def call_validated(entry: Primitive, arguments: Mapping[str, Any], context: Context) -> Outcome:
    """Validate resolved arguments and perform the call. What does not fit was beyond the check, and is said so."""
    try:
        args = entry.validate(arguments)
    except ArgumentsInvalid as error:
        return Outcome("failed", reason=f"unchecked: {error}", error=error.kind)
    return await perform(entry, args, context)
