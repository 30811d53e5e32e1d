"""The tools that the server offers: name, what it is for, its arguments, and who answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from infospace.argument import Args, Reading
from infospace.contract import Argument
from infospace.errors import Invalid
from infospace.faults import ArgumentsInvalid, faults_of
from infospace.jsontext import dump
from planner.serve import arguments, looking
from planner.serve.door import Door
from planner.serve.live import Tell

LONGEST = 1_000_000
"""Characters that the arguments of one call may have, as JSON."""


@dataclass(frozen=True)
class Tool:
    """One tool. `answer` gives a JSON object, or Markdown."""

    name: str
    description: str
    model: type[Args]
    answer: Callable[[Door, Any, Tell], Awaitable[dict[str, Any] | str]]
    read_only: bool = False
    open_world: bool = False

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments, closed."""
        return untitled({key: value for key, value in self.model.model_json_schema().items() if key != "description"})

    @cached_property
    def _arguments(self) -> Mapping[str, Argument]:
        found = {}
        for name, info in self.model.model_fields.items():
            schema = {**self.schema["properties"][name], "$defs": self.schema.get("$defs", {})}
            required = info.is_required()
            default = None if required else info.get_default(call_default_factory=True, validated_data={})
            description = info.description or ""
            found[name] = Argument(name, Reading.VALUE, frozenset(), schema, required, default, description)
        return found

    def validate(self, given: Mapping[str, Any]) -> Args:
        """Return the arguments as the tool wants them; raises ArgumentsInvalid with every fault."""
        try:
            return self.model.model_validate(dict(given))
        except ValidationError as error:
            details = error.errors(include_url=False)
        raise ArgumentsInvalid(faults_of(self.name, details, given, self._arguments))


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "check_plan",
            "Say everything that is wrong with a plan, and run nothing: {ok, problems}. Each problem has a "
            "JSON pointer, what would fit, and often `fix`, a JSON Patch that mends it.",
            arguments.CheckPlan,
            Door.check_plan,
            read_only=True,
        ),
        Tool(
            "run_plan",
            "Check a plan and run it. A `refused` one has done nothing. After wait_s the status is `running`: it goes "
            "on, also when this call is cancelled; follow it with get_run. Long data is omitted: read it by its id.",
            arguments.RunPlan,
            Door.run_plan,
            open_world=True,
        ),
        Tool(
            "run_steps",
            "Run more steps in a session; its variables stay bound from call to call, over restarts. All are checked "
            "before the first runs: `refused` steps have done nothing. A `suspended` session takes no steps until "
            "answer_run has gone on with it.",
            arguments.RunSteps,
            Door.run_steps,
            open_world=True,
        ),
        Tool(
            "get_run",
            "Say how far a run is or how it ended, as run_plan answers; with wait_s wait for its end.",
            arguments.GetRun,
            Door.get_run,
            read_only=True,
        ),
        Tool(
            "answer_run",
            "Answer the question that a suspended run waits with (`pending`), and let it go on. At a `wait` no "
            "answer is wanted: it is looked at again, whatever the value.",
            arguments.AnswerRun,
            Door.answer_run,
            open_world=True,
        ),
        Tool(
            "cancel_run",
            "Cancel a run, or end a session. What it did stays.",
            arguments.CancelRun,
            Door.cancel_run,
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
            Door.list_bindings,
            read_only=True,
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
"""All but `discover_notes`, whose arguments are those of the primitive."""

DISCOVER_NOTES = "discover_notes"
DISCOVER_SAYS = (
    "Find kept notes by meaning, by words, or both, nearest first; `extra.certificate` says how complete that is. "
    "Whole texts are left out where they are long."
)


async def answer(door: Door, name: str, given: Mapping[str, Any], tell: Tell) -> dict[str, Any] | str:
    """Answer a call of a tool that there is. Raises InfospaceError for what the caller can mend."""
    size = len(dump(dict(given)))
    if size > LONGEST:
        says = f"the arguments of {name} have {size:,} characters, and at most {LONGEST:,} are taken"
        raise Invalid(says, hint="add long texts as files with `infospace add`, and let the plan load them")
    if name == DISCOVER_NOTES:
        return await looking.discover_notes(door, dict(given))
    tool = TOOLS[name]
    return await tool.answer(door, tool.validate(given), tell)


def discover_schema(door: Door) -> dict[str, Any]:
    """Return the JSON Schema of `discover_notes`: that of the primitive."""
    schema = door.space.catalogue.get(looking.DISCOVER).schema
    return untitled({key: value for key, value in schema.items() if key != "description"})


def untitled(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without the titles that only say the names of its fields again."""
    return {key: _untitled(value) for key, value in schema.items() if not (key == "title" and isinstance(value, str))}


def _untitled(part: Any) -> Any:
    if isinstance(part, list):
        return [_untitled(item) for item in part]
    return untitled(part) if isinstance(part, dict) else part


def every_fault(error: Exception) -> str:
    """Say what is wrong: of arguments all of it, a sentence each."""
    if not isinstance(error, ArgumentsInvalid):
        return str(error)
    return "; ".join(f"{fault.says} ({fault.hint})" if fault.hint else fault.says for fault in error.faults)
