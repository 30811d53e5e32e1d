"""The tools that the server offers: name, what it is for, its arguments, and who answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from infospace.contract.tool_signature import Signature, briefly, tersely, untitled
from infospace.core.errors import Invalid
from infospace.data.json_text import dump
from planner.metatools.arguments import ManageConnections
from planner.metatools.chaining.plan_tools import PLAN_TOOLS, SELECT_TOOL
from planner.metatools.compat.debug_list_tools import DEBUG_LIST_TOOLS
from planner.metatools.compat.discover import DISCOVER
from planner.metatools.compat.select_servers import SELECT_SERVERS
from planner.server import arguments
from planner.server import lookups as looking
from planner.server.approvals import for_people
from planner.server.live_runs import Tell
from planner.server.operations import Operations
from planner.server.truncate import truncate_check, truncate_run

Answer: TypeAlias = "dict[str, Any] | str"
"""A JSON object, or text."""

MAX_ARGUMENT_CHARACTERS = 1_000_000
"""Characters that the arguments of one call may have, as JSON."""


CHECKED: Final = frozenset({"ok", "problems"})
"""The keys of what a check answers."""


def _as_it_is(_operations: Operations, _args: Any, document: Any) -> Answer:
    shown: Answer = document
    return shown


@dataclass(frozen=True)
class Tool(Signature):
    """One tool. `answer` gives a JSON object, or Markdown; `show` makes of it what the planner reads.

    `terse`: its description says what its arguments are for, and its listed schema does not.
    """

    answer: Callable[[Operations, Any, Tell], Awaitable[Answer]]
    read_only: bool = False
    open_world: bool = False
    show: Callable[[Operations, Any, Any], Answer] = _as_it_is
    terse: bool = False

    @property
    def listed(self) -> dict[str, Any]:
        """The schema that `tools/list` gives."""
        return tersely(self.schema) if self.terse else self.brief


def _run_in_short(operations: Operations, args: Any, document: dict[str, Any]) -> Answer:
    """Return a run in the shape of `run --json`, cut to what a model can read."""
    first = args.first_step if isinstance(args, arguments.GetRun) else None
    return for_people(operations.space, truncate_run(document, first), operations.access)


def _check_in_short(_operations: Operations, _args: Any, document: dict[str, Any]) -> Answer:
    return truncate_check(document["ok"], document["problems"])


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "check_plan",
            "Say everything that is wrong with a plan, and run nothing: {ok, problems}. Each problem has a "
            "JSON pointer, what would fit, and often `fix`, a JSON Patch.",
            arguments.CheckPlan,
            Operations.check_plan,
            read_only=True,
            show=_check_in_short,
        ),
        Tool(
            "run_plan",
            "Check a plan and run it. A `refused` one has done nothing. After wait_s the status is `running`: it goes "
            "on, also when this call is cancelled; follow it with get_run. Long data is omitted: read it by its id.",
            arguments.RunPlan,
            Operations.run_plan,
            open_world=True,
            show=_run_in_short,
        ),
        Tool(
            "run_steps",
            "Run more steps in a session; its variables stay bound from call to call, over restarts. All are checked "
            "before the first runs: `refused` steps have done nothing. A `suspended` session takes no steps until "
            "answer_run has gone on with it.",
            arguments.RunSteps,
            Operations.run_steps,
            open_world=True,
            show=_run_in_short,
        ),
        Tool(
            "get_run",
            "Say how far a run is or how it ended, as run_plan answers; with wait_s wait for its end.",
            arguments.GetRun,
            Operations.get_run,
            read_only=True,
            show=_run_in_short,
        ),
        Tool(
            "answer_run",
            "Answer the question that a suspended run waits with (`pending`), and let it go on, unless it is "
            "`answered_by` people: tell them the `command`. At a `wait` no answer is wanted: it is looked at again.",
            arguments.AnswerRun,
            Operations.answer_run,
            open_world=True,
            show=_run_in_short,
        ),
        Tool(
            "cancel_run",
            "Cancel a run, or end a session. What it did stays.",
            arguments.CancelRun,
            Operations.cancel_run,
            show=_run_in_short,
        ),
        Tool(
            "read",
            "Read a resource, a place in one, or a run's record in pieces. `next` is the `slice` to go on with, null "
            "at the end. What alone exceeds max_chars is null, and told in `too_long` with the `ref` to read it by.",
            arguments.Read,
            looking.read,
            read_only=True,
        ),
        Tool(
            "list_bindings",
            "List what the variables of a session or a run are bound to: kind, id, size, how it begins.",
            arguments.ListBindings,
            Operations.list_bindings,
            read_only=True,
        ),
        Tool(
            "manage_connections",
            "Say how the servers of tools are connected, or connect one. Where somebody has to sign in, `initiate` "
            "answers a `connect_url` for your user.",
            ManageConnections,
            looking.manage_connections,
            open_world=True,
        ),
        Tool(
            "describe_primitives",
            "The plan language as Markdown: in short without names, else the contracts of these primitives and forms.",
            arguments.DescribePrimitives,
            looking.describe_primitives,
            read_only=True,
        ),
    )
}
"""Those of the set `full`: all but `discover_notes`, whose arguments are those of the primitive, and the meta-tools."""

COMPAT = {
    tool.name: tool
    for tool in (
        Tool(
            DISCOVER.name,
            DISCOVER.description,
            DISCOVER.model,
            looking.discover,
            read_only=True,
        ),
        Tool(
            SELECT_SERVERS.name,
            SELECT_SERVERS.description,
            SELECT_SERVERS.model,
            looking.choose_servers,
            read_only=True,
        ),
        Tool(
            SELECT_TOOL.name,
            SELECT_TOOL.description,
            SELECT_TOOL.model,
            looking.choose_tool,
            read_only=True,
        ),
        Tool(
            PLAN_TOOLS.name,
            PLAN_TOOLS.description,
            PLAN_TOOLS.model,
            looking.chain_tools,
            read_only=True,
        ),
        Tool(
            DEBUG_LIST_TOOLS.name,
            DEBUG_LIST_TOOLS.description,
            DEBUG_LIST_TOOLS.model,
            looking.list_services,
            read_only=True,
        ),
        TOOLS["manage_connections"],
    )
}
"""Those of the set `compat`: the doors of other systems."""

DISCOVER_NOTES = "discover_notes"
DISCOVER_SAYS = (
    "Find kept notes by meaning, by words, or both, nearest first; `extra.certificate` says how complete that is. "
    "Whole texts are left out where they are long."
)


async def answer(operations: Operations, tool: Tool, values: Mapping[str, Any], tell: Tell) -> Answer:
    """Answer a call of a tool. Raises InfospaceError for what the caller can mend."""
    checked_size(tool.name, values)
    args = tool.validate(values)
    return await shown(operations, tool, args, await tool.answer(operations, args, tell))


async def shown(operations: Operations, tool: Tool, args: Any, document: Any) -> Answer:
    """Return what a planner reads of an answer; off the loop, since some are long.

    Of what a check found a few problems are shown, however many there are: that takes no thread.
    """
    if tool.show is _as_it_is or document.keys() == CHECKED:
        return tool.show(operations, args, document)
    return await asyncio.to_thread(tool.show, operations, args, document)


async def discover_notes(operations: Operations, values: Mapping[str, Any]) -> Answer:
    """Answer a search for notes. Raises InfospaceError for what the caller can mend."""
    checked_size(DISCOVER_NOTES, values)
    return await looking.discover_notes(operations, dict(values))


def checked_size(name: str, values: Mapping[str, Any]) -> None:
    """Raise Invalid for arguments that are too long, whatever stands in them."""
    size = len(dump(dict(values)))
    if size > MAX_ARGUMENT_CHARACTERS:
        message = f"the arguments of {name} have {size:,} characters, and at most {MAX_ARGUMENT_CHARACTERS:,} are taken"
        raise Invalid(message, hint="a plan loads long texts from notes")


def discover_schema(operations: Operations) -> dict[str, Any] | None:
    """Return the JSON Schema of `discover_notes`: that of the primitive; None where that is out of scope."""
    entry = operations.space.catalogue.find(looking.DISCOVER)
    if entry is None:
        return None
    schema = briefly(untitled({key: value for key, value in entry.schema.items() if key != "description"}))
    # Whoever wants more asks describe_primitives; here each model reads all of it before its first step.
    for argument in schema["properties"].values():
        argument["description"] = f"{argument['description'].partition('. ')[0].rstrip('.')}."
    return schema
