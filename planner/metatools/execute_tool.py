"""`execute_tool`: one call of a tool, as a run of a single step: approved, journalled and accounted for like any.

Who may be asked is asked as in any run: the run is suspended with its question, and answering it goes on with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from infospace.contract.arguments import ParseMode
from infospace.contract.decorator import Primitive
from infospace.core.clock import now
from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.core.tool import NotCalled, Tool
from infospace.data.paths import did_you_mean
from infospace.space import Space
from infospace.store.tool_records import RecordCall
from infospace.tools.builtin import SERVER
from infospace.tools.prompts_and_resources import resource_uri
from planner.execute.run import Run
from planner.execute.start import Prepared, Refused, prepare
from planner.journal.events import Emit
from planner.journal.result import RunResult
from planner.language.references import literal
from planner.metatools.arguments import LONGEST_MS, USUAL_MS, ExecuteOptions, ExecuteTool
from planner.metatools.call_result import answer_of, duration_ms_of
from planner.metatools.lookup import find_tool
from planner.parse.saved_plans import load_plan
from planner.parse.steps import SAVED

NAMING = ("name", "replace")
"""Fields of every step that a call of a primitive may have beside its arguments."""


@dataclass(frozen=True, slots=True)
class PreparedToolCall:
    """A call of a tool that may be made: what is called, how, and the plan that calls it."""

    tool: Tool
    options: ExecuteOptions
    prepared: Prepared
    longest_ms: int = LONGEST_MS
    """Milliseconds that it may last at most, whatever is asked for."""

    async def play(self, space: Space, emit: Emit, approve: Sequence[str] = ()) -> RunResult:
        """Make the call. The tools of `approve` are called without asking."""
        return await Run(space, self.prepared.plan, emit, self.prepared.warnings, approve).run(self.prepared.bound)

    def answer(self, space: Space, result: RunResult) -> dict[str, Any]:
        """Return what the meta-tool answers of a run that ended, or waits; what the space itself did is counted."""
        answered = answer_of(space, self.tool, self.options, result, self.longest_ms)
        if (
            self.tool.server == SERVER
            and space.tools.servers is not None
            and answered["status"] in ("success", "failed")
        ):
            took, well = round(duration_ms_of(result), 3), answered["status"] == "success"
            space.tools.servers.record(RecordCall(SERVER, self.tool.name, now(), took, well))
        return answered


async def execute_tool(space: Space, args: ExecuteTool, approve: Sequence[str] = ()) -> dict[str, Any]:
    """Call a tool and wait for its answer; cancelling breaks the call off.

    All content blocks are kept. What is long becomes a Note, of which the answer has a preview and the id. Raises,
    before the call, NotFound for a tool that is not there, is blocked or may not be known,
    NotCalled for a server that was never listed, Invalid with everything in which the arguments do not fit.
    """
    call = prepare_call(space, args)
    return call.answer(space, await call.play(space, lambda _event: None, approve))


def prepare_call(space: Space, args: ExecuteTool, longest_ms: int = LONGEST_MS) -> PreparedToolCall:
    """Find the tool and hold the arguments against its schema; raises what `execute_tool` does.

    It may last as long as the call says, else as its server's entry does, its start apart, or the budget of a saved
    plan; and `longest_ms` at most.
    """
    tool = find_tool(space, args.tool_name)
    if tool.needs:
        raise NotCalled(f"{tool.full_name} cannot be called yet", hint=tool.needs)
    by_entry = not args.has_timeout and tool.timeout_s is not None and tool.timeout_s * 1000 <= longest_ms
    options = args.options.model_copy(update={"timeout_ms": min(args.options.timeout_ms, longest_ms)})
    seconds = None if by_entry else options.timeout_ms / 1000
    document, inputs = _plan(space, tool, args, seconds, longest_ms / 1000)
    prepared = prepare(space, document, inputs)
    if isinstance(prepared, Refused):
        wrong = [problem for problem in prepared.problems if problem.severity == "error"]
        message = "; ".join(f"{problem.message}{f' ({problem.hint})' if problem.hint else ''}" for problem in wrong)
        raise Invalid(f"{tool.full_name} is not called so: {message}")
    return PreparedToolCall(tool, options, prepared, longest_ms)


def _plan(
    space: Space, tool: Tool, args: ExecuteTool, seconds: float | None, most: float
) -> tuple[JSON, Mapping[str, JSON]]:
    """Return the plan that makes the call, for so many seconds, None for as long as is usual for it, and its inputs."""
    if tool.server == SERVER and tool.name.startswith(SAVED):
        plan = load_plan(space, tool.name.removeprefix(SAVED))
        return _within(plan, seconds if args.has_timeout else None, most), args.arguments
    limit: Mapping[str, Any] = {} if seconds is None else {"timeout_s": seconds}
    if tool.server == SERVER:
        return _of({**_fields(space, tool, args.arguments), **limit}, tool.full_name), {}
    space.tools.validate_arguments(tool, args.arguments)
    step: dict[str, Any]
    match tool.kind:
        case "tool":
            step = {"type": tool.full_name, "arguments": literal(args.arguments)}
        case "prompt":
            step = {"type": "get-prompt", "prompt": tool.full_name, "arguments": literal(args.arguments)}
        case "resource":
            step = {"type": "read-resource", "resource": f"{tool.server}/{resource_uri(tool, args.arguments)}"}
    return _of({**step, **limit}, tool.full_name), {}


def _within(document: JSON, seconds: float | None, most: float) -> JSON:
    """Return a plan whose budget has so many seconds and no more, None for its own or the usual; `most` at most."""
    whole: dict[str, Any] = dict(document) if isinstance(document, Mapping) else {"steps": document}
    budget = whole.get("budget") or {}
    own = budget.get("seconds") if isinstance(budget, Mapping) else None
    expected = [one for one in (seconds, own) if isinstance(one, int | float)] or [USUAL_MS / 1000]
    return {**whole, "budget": {**budget, "seconds": min(*expected, most)}} if isinstance(budget, Mapping) else whole


def _of(step: JSON, what: str) -> JSON:
    return {"goal": f"call {what}", "steps": [step]}


def _fields(space: Space, tool: Tool, arguments: Mapping[str, JSON]) -> dict[str, Any]:
    """Return the step that calls a primitive; Invalid for what is no argument of it."""
    entry = space.catalogue.get(tool.name)
    known_names = [*entry.arguments, *NAMING]
    for key in arguments:
        if key not in known_names:
            hint = did_you_mean(key, known_names, f"it takes {', '.join(entry.arguments)}")
            raise Invalid(f"{tool.full_name} has no argument {key!r}", hint=hint)
    bound = {"out": "$result"} if entry.out == "required" else {}
    values = {key: _written(entry, key, value) for key, value in arguments.items()}
    return {**values, "type": entry.type, **bound}


def _written(entry: Primitive, key: str, value: JSON) -> JSON:
    """Return an argument as a step has it; a text with a `$` is no reference here."""
    argument = entry.arguments.get(key)
    values = (ParseMode.VALUE, ParseMode.ITEMS, ParseMode.TOOL_ARGUMENTS)
    return literal(value) if argument is not None and argument.reading in values else value
