"""A call of a client: how often, which tool, what it may, and what is kept of it."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from infospace.core.errors import Conflict, InfospaceError, Invalid, NotFound
from infospace.core.json_types import JSON
from infospace.core.plural import pluralize
from infospace.core.tool import NotAllowed, Tool
from infospace.data.result import truncate
from infospace.journal.audit import AuditOutcome
from infospace.space import Space
from infospace.tools.injection_signs import injection_signs
from planner.journal.events import Emit
from planner.journal.result import RunResult
from planner.lifecycle.resume import answer as answer_run
from planner.metatools.arguments import ExecuteTool, GetSimilarTools, ListTools, SearchTools
from planner.metatools.audit import outcome_of, run_of, write_audit
from planner.metatools.execute_tool import PreparedToolCall, prepare_call
from planner.metatools.lookup import find_tool, known_tools
from planner.metatools.registry import META
from planner.parse.steps import SAVED
from planner.server.access import Access
from planner.server.approvals import call_for_people, question_of
from planner.server.arguments import WAIT
from planner.server.core.tools import CORE
from planner.server.live_runs import Playing, Tell
from planner.server.operations import Operations
from planner.server.question_forms import Question
from planner.server.read import is_there, without_place
from planner.server.run_json import find_run
from planner.server.tools import COMPAT, DISCOVER_NOTES, TOOLS, Answer, checked_size, discover_notes, shown
from planner.server.tools import answer as answer_of_tool
from planner.server.toolsets import names_in, operations_in
from planner.server.truncate import truncate_tools

EXECUTE: Final = "execute_tool"
OUT_OF_SCOPE: Final = "out of scope"
"""How the audit says that something is there, and not for who asked."""
ACTS: Final = ("run", "step", "follow", "run_plan", "run_steps", "answer_run", "cancel_run", EXECUTE)
"""Doors whose calls are kept, whatever comes of them."""
MAX_DESCRIPTION_CHARACTERS = 600
"""Characters of a proxy's description."""
SEPARATOR = "__"
LONGEST_NAME = 128
"""Characters of a tool's name, at most."""
_FOREIGN: Final = re.compile(r"[^A-Za-z0-9_.-]")


class RateLimited(Conflict):
    """More calls than a caller may make."""

    kind = "rate"


class NoSuchTool(NotFound):
    """A tool that is not listed, and about which nothing is said."""


def is_direct(name: str) -> bool:
    """Whether a name is not that of an operation or of a meta-tool."""
    return name not in CORE and name not in TOOLS and name not in COMPAT and name != DISCOVER_NOTES and name not in META


def listed_names(space: Space, access: Access) -> tuple[list[str], list[str]]:
    """Return the names that a caller is told of at first: of the doors, and of the tools that are listed themselves."""
    return names_in(access.tools), list(direct_tools(Operations(space, access)))


def direct_tools(operations: Operations) -> Mapping[str, Tool]:
    """Return the tools of servers that are listed by themselves, as `server__tool`; of two of one name, the first.

    What the protocol does not let stand in a tool's name is `_` there.
    """
    return {} if operations.access.hide_underlying_tools else _direct(operations.space)


def _direct(space: Space) -> Mapping[str, Tool]:
    results: dict[str, Tool] = {}
    for tool in sorted(space.tools, key=lambda tool: tool.full_name):
        if not tool.blocked:
            name = _FOREIGN.sub("_", f"{tool.server}{SEPARATOR}{tool.name}")[:LONGEST_NAME]
            results.setdefault(name, tool)
    return results


def tool_description(tool: Tool) -> str:
    """Return how a tool of a server is described to who may call it directly: as its server's word, with its signs."""
    message = truncate(tool.description or tool.title, MAX_DESCRIPTION_CHARACTERS)
    text = f"{tool.full_name}. Its server says: {message}" if message else tool.full_name
    instructs = injection_signs(tool)
    return f"{text} [Beware: this description {', and '.join(instructs)}.]" if instructs else text


async def answer(operations: Operations, name: str, values: Mapping[str, Any], tell: Tell) -> Answer:
    """Answer a call, and keep what came of it.

    Raises NoSuchTool for what is not listed, in the same words whether it is there or not; RateLimited; NotAllowed for
    a tool that is there and hidden; and InfospaceError for what else the caller can mend.
    """
    target = _target(name, values)
    try:
        _must_be_in_time(operations)
        answer = await _answered(operations, name, values, tell)
    except InfospaceError as error:
        _refused(operations, name, target, error, values)
        raise
    except asyncio.CancelledError:
        _count_and_audit(operations, name, target, "cancelled")
        raise
    outcome = outcome_of(answer) if isinstance(answer, dict) and "status" in answer else "success"
    run = run_of(answer) if isinstance(answer, dict) else None
    operations.counts[_counted(name), outcome] += 1
    if name in ACTS or is_direct(name):
        write_audit(operations.space, operations.access.caller, name, target, outcome, run=run)
    return answer


async def answered_by_person(
    operations: Operations, name: str, values: Mapping[str, Any], question: Question, answer: JSON, tell: Tell
) -> Answer:
    """Answer a question that a call ended with, as the person behind the client said; return what the call answers.

    Raises InfospaceError, such as Conflict where somebody else answered meanwhile.
    """
    action, about, asked = "elicitation", question.tool or question.key, question.pending
    try:
        tool, args = _called(operations, name, values)
        if tool is None:
            seconds = args.get("wait_s", WAIT)
            document = await operations.answered_by_person(question.run, asked.step, answer, seconds, tell)
            operation = operations_in(operations.access.tools)[name]
            answered: Answer = await shown(operations, operation, operation.validate(values), document)
        else:
            answer_run(operations.space, question.run, asked.step, answer)
            answered = await _played(operations, tool, operations.resuming(question.run), tell)
    except InfospaceError as error:
        operations.counts[action, "refused"] += 1
        write_audit(operations.space, operations.access.caller, action, about, "refused", error.kind, question.run)
        raise
    approves = asked.kind == "approve"
    outcome: AuditOutcome = "refused" if approves and answer == "no" else "success"
    operations.counts[action, outcome] += 1
    write_audit(
        operations.space,
        operations.access.caller,
        action,
        about,
        outcome,
        str(answer) if approves else asked.kind,
        question.run,
    )
    return answered


def _called(
    operations: Operations, name: str, values: Mapping[str, Any]
) -> tuple[PreparedToolCall | None, Mapping[str, Any]]:
    """Return the call of a tool that is to be gone on with; None with the arguments of an operation that runs plans."""
    if name in operations_in(operations.access.tools):
        return None, values
    args = dict(values)
    if name != EXECUTE:
        args = {"tool_name": direct_tools(operations)[name].full_name, "arguments": args}
    return prepare_call(operations.space, META[EXECUTE].validate(args), operations.access.timeout_ms), values


def asks_people(operations: Operations, answer: Mapping[str, Any] | str) -> Question | None:
    """Return what the answer of a call leaves to people to say, where the tool in question may be known here."""
    waits = isinstance(answer, dict) and answer.get("status") in ("suspended", "approval_required", "waiting")
    run = run_of(answer) if waits and isinstance(answer, dict) else None
    if run is None:
        return None
    question = question_of(run, find_run(operations.space, run)[1], operations.access, operations.asked.passed)
    may_be_known = question is not None and (
        question.tool is None or operations.space.tools.find(question.tool) is not None
    )
    return question if may_be_known else None


def _must_be_in_time(operations: Operations) -> None:
    wait = operations.rate.acquire()
    if wait:
        access = operations.access
        message = f"{access.caller} may make {pluralize(access.rate_per_minute or 0, 'call')} in a minute"
        raise RateLimited(message, hint=f"again in {math.ceil(wait)} s")


async def _answered(operations: Operations, name: str, values: Mapping[str, Any], tell: Tell) -> Answer:
    names = names_in(operations.access.tools)
    if name in (doors := operations_in(operations.access.tools)):
        return await answer_of_tool(operations, doors[name], values, tell)
    if name == DISCOVER_NOTES and name in names:
        return await discover_notes(operations, values)
    checked_size(name, values)
    if name in META and name in names:
        args = _bounded(operations, META[name].validate(values))
        if name == EXECUTE:
            return await _executed(operations, args, tell)
        answer = await META[name].function(operations.space, args)
        if "similar" in answer:
            answer["similar"] = answer["similar"][: operations.access.results]
        return truncate_tools(answer) if "tools" in answer else answer
    tool = direct_tools(operations).get(name)
    if tool is not None:
        args = META[EXECUTE].validate({"tool_name": tool.full_name, "arguments": dict(values)})
        return await _executed(operations, _bounded(operations, args), tell)
    hidden = _named(operations.space, name)
    if hidden is not None:
        hint = f'execute_tool calls it: {{"tool_name": "{hidden.full_name}", "arguments": …}}'
        if EXECUTE not in names:
            hint = f'a step calls it: {{"type": "{hidden.full_name}", "arguments": …}}'
        raise NotAllowed(f"{name!r:.100} is not called directly here", hint=hint)
    known = ", ".join(names)
    raise NoSuchTool(f"there is no tool {name!r:.60}; there are {known}")


def _named(space: Space, name: str) -> Tool | None:
    """Return the tool that a direct call means: `server__tool`, or its full name."""
    tool = space.tools.find(name)
    return tool if tool is not None and not tool.blocked else _direct(space).get(name)


def _bounded(operations: Operations, args: Any) -> Any:
    """Hold a call to the limits of the caller: fewer results, and no longer calls. Raises Invalid for these."""
    access = operations.access
    match args:
        case SearchTools() | GetSimilarTools():
            return args.model_copy(update={"limit": min(args.limit, access.results)})
        case ListTools():
            return args.model_copy(update={"page_size": min(args.page_size, access.results)})
        case ExecuteTool() if args.has_timeout and args.options.timeout_ms > access.timeout_ms:
            message = f"`options.timeout_ms` is {args.options.timeout_ms:,}, and {access.caller} may give a call"
            raise Invalid(f"{message} {access.timeout_ms:,} at most")
    return args


async def _executed(operations: Operations, args: ExecuteTool, tell: Tell) -> dict[str, Any]:
    """Call a tool; who stops waiting breaks the call off."""
    call = prepare_call(operations.space, args, operations.access.timeout_ms)

    async def play(emit: Emit) -> RunResult:
        return await call.play(operations.space, emit, operations.access.approve)

    return await _played(operations, call, play, tell)


async def _played(operations: Operations, call: PreparedToolCall, play: Playing, tell: Tell) -> dict[str, Any]:
    live = operations.lives.start(play)
    try:
        while not await live.wait(60, tell):
            pass
        result = live.task.result()
    except asyncio.CancelledError:
        await operations.lives.cancel([live])
        raise
    return call_for_people(operations.space, call.answer(operations.space, result), operations.access)


# What is kept


def _target(name: str, values: Mapping[str, Any]) -> str:
    """Return what a call is for, as far as that says nothing but a name."""
    plan, tool = values.get("plan"), values.get("tool_name")
    if name in META and isinstance(tool, str):
        return tool
    if isinstance(plan, str) and plan.startswith(SAVED):
        return plan
    value = values.get("run", values.get("session", "")) if name in ACTS else ""
    return value if isinstance(value, str) else ""


def _refused(operations: Operations, name: str, target: str, error: InfospaceError, values: Mapping[str, Any]) -> None:
    """Keep a call that came to nothing: of an operation that acts, or for what is there and may not be known."""
    reason = _why(operations, name, target, error)
    operations.counts[_counted(name), "refused"] += 1
    hidden = first_hidden(operations, [values.get("run"), values.get("ref")]) if isinstance(error, NotFound) else None
    if hidden is not None:
        write_audit(operations.space, operations.access.caller, name, hidden, "refused", OUT_OF_SCOPE)
    elif reason is not None:
        write_audit(operations.space, operations.access.caller, name, target, "refused", reason)


def _why(operations: Operations, name: str, target: str, error: InfospaceError) -> str | None:
    """Return why a call was refused, in a word; None for what need not be kept."""
    if isinstance(error, RateLimited):
        return error.kind
    whole = operations.space.unscoped
    if is_direct(name):
        hidden = isinstance(error, NotAllowed)
        return "hidden" if hidden else OUT_OF_SCOPE if _named(whole, name) is not None else None
    if isinstance(error, NotFound) and _is_tool(whole, target):
        return OUT_OF_SCOPE
    return error.kind if name in ACTS else None


def first_hidden(operations: Operations, references: Iterable[object]) -> str | None:
    """Return the first of some references that lead to what is there, and not for this caller; None where none does.

    Of a place in a resource it is the resource.
    """
    if not operations.access.sight.limits:
        return None
    for reference in references:
        name = without_place(reference) if isinstance(reference, str) else ""
        if name and is_there(operations.space.unscoped, name) and not is_there(operations.space, name):
            return name
    return None


def keep_hidden(operations: Operations, name: str, reference: str) -> None:
    """Keep that something was asked for which is there, and not for this caller."""
    hidden = first_hidden(operations, [reference])
    if hidden is not None:
        write_audit(operations.space, operations.access.caller, name, hidden, "refused", OUT_OF_SCOPE)


def _is_tool(whole: Space, target: str) -> bool:
    try:
        return bool(target) and find_tool(whole, target) in known_tools(whole)
    except NotFound:
        return False


def _count_and_audit(operations: Operations, name: str, target: str, outcome: AuditOutcome) -> None:
    operations.counts[_counted(name), outcome] += 1
    if name in ACTS or is_direct(name):
        write_audit(operations.space, operations.access.caller, name, target, outcome)


def _counted(name: str) -> str:
    """Return under which name a call is counted: those of tools of servers together, whatever was asked for."""
    return "(direct)" if is_direct(name) else name
