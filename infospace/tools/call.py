"""Calling a tool from a step: what its answer becomes in the space."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.core.resources import Collection, Note
from infospace.core.tool import NotAllowed, Tool, ToolAnswer, ToolFailed
from infospace.schema.validate import validate
from infospace.tools.answer_content import content_of
from infospace.tools.approvals import allowed, refuse_blocked
from infospace.tools.result_mapping import ResultMapping, as_results

if TYPE_CHECKING:
    from infospace.context.context import Context
    from infospace.tools.journalled_calls import ToolCalls


async def call_tool(context: Context, tool: Tool, arguments: JSON) -> Note[Any]:
    """Call a tool and make a Note of its answer; all content blocks go into the answer's `extra`.

    What does not fit the tool's output schema is kept, and told in `extra.misfits`. Raises what `call_for_step` does.
    """
    return context.note(await _call_and_record(context, tool, arguments))


async def find_by_tool(context: Context, tool: Tool, arguments: JSON, mapped: ResultMapping) -> Collection[Any]:
    """Call a tool that finds something, and make search results of its answer; all content blocks are kept as well.

    Raises what `call_for_step` and `as_results` do.
    """
    return as_results(context, tool, await _call_and_record(context, tool, arguments), mapped)


async def _call_and_record(context: Context, tool: Tool, arguments: JSON) -> JSON:
    answer = await call_for_step(context, tool, arguments)
    context.extra["content"] = [dict(block) for block in answer.blocks]
    if tool.output_schema is not None and answer.structured is not None:
        faults = validate(answer.structured, tool.output_schema)
        if faults:
            context.extra["misfits"] = faults
    content, how = content_of(tool, answer)
    context.extra.update(how)
    return content


async def call_for_step(context: Context, tool: Tool, arguments: JSON, *, reads: bool = False) -> ToolAnswer:
    """Call a tool for a step, which `extra.tool` then names; with `reads` only one that changes nothing.

    Whether it may be called, and whether the arguments fit, is asked once more where its server lists it in other
    words when it is started for the call.

    Raises, before the call, Invalid for arguments that do not fit, NotAllowed for a tool that is blocked or that
    somebody said no to, and InputRequired where somebody has to be asked first; outside of runs nobody can be. Raises
    ToolFailed where it says that it failed, or could not be reached.
    """
    context.extra["tool"] = tool.full_name
    refuse_blocked(tool)
    if not isinstance(arguments, Mapping):
        raise Invalid(f"unchecked: the arguments of {tool.full_name} are an object, not {arguments!r:.60}")
    tools = context.space.tools
    _must_fit(context, tool, arguments, reads=reads)

    async def current() -> Tool:
        current_tool = await tools.current(tool)
        if current_tool is not tool:
            _must_fit(context, current_tool, arguments, reads=reads)
        return current_tool

    def call(current_tool: Tool) -> Awaitable[ToolAnswer]:
        return tools.call(current_tool, arguments, context.timeout_s)

    calls = None if context.meter is None else context.meter.tools
    if calls is None:
        _must_be_allowed(context, tool)
        current_tool = await current()
        _must_be_allowed(context, current_tool, by_name=current_tool.digest == tool.digest)
        answer = await call(current_tool)
    else:
        answer = await calls.make(
            tool, arguments, context.created_by, _answering(context, calls, arguments, call), current
        )
        if answer.cached:
            context.extra["cached"] = True
    if answer.is_error:
        raise ToolFailed(f"{tool.full_name} failed: {answer.text or answer.content!r:.500}")
    return answer


def _answering(
    context: Context, calls: ToolCalls, arguments: Mapping[str, Any], call: Callable[[Tool], Awaitable[ToolAnswer]]
) -> Callable[[Tool], Awaitable[ToolAnswer]]:
    """Return what makes a call in which the server may ask back: what it asks is a question of the run."""
    # With them comes all that a call is journalled by, which a list of primitives does without.
    from infospace.tools.journalled_calls import digest_of
    from infospace.tools.mcp.dialogue.conversation import CONVERSATION, ToolInputRequired
    from infospace.tools.mcp.dialogue.step_conversation import StepConversation

    async def make(tool: Tool) -> ToolAnswer:
        conversation = StepConversation(context, tool, digest_of(tool, arguments), calls)
        token = CONVERSATION.set(conversation)
        try:
            return await call(tool)
        except ToolInputRequired as asks:
            raise conversation.required(asks.question) from None
        finally:
            CONVERSATION.reset(token)

    return make


def _must_fit(context: Context, tool: Tool, arguments: Mapping[str, Any], *, reads: bool) -> None:
    if reads and not tool.read_only:
        raise Invalid(f"unchecked: {tool.full_name} may change things, and a condition only reads")
    try:
        context.space.tools.validate_arguments(tool, arguments)
    except Invalid as error:
        raise Invalid(f"unchecked: {error.message}", hint=error.hint) from error


def _must_be_allowed(context: Context, tool: Tool, *, by_name: bool = True) -> None:
    if not allowed(context.space.store, tool, None, by_name=by_name):
        message = f"{tool.full_name} is asked about before it is called, and outside of a run nobody is asked"
        raise NotAllowed(message, hint="call it in a plan")
