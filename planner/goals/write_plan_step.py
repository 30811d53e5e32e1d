"""`write-plan`: the planner's own step type, offered to the catalogue as other packages offer theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from infospace import Args, Context, Invalid, Note, Text, Value, primitive
from infospace.authoring.shapes import NO_METADATA, NoteShape


class WritePlan(Args):
    """Arguments of `write-plan`."""

    goal: Text = Field(description="What the plan is to reach, in plain words.")
    inputs: Value | None = Field(None, description='Inputs that the plan will have, by name, such as {"topic": "…"}.')
    mode: Literal["whole", "steps"] = Field(
        "whole", description="`whole` writes a plan for all of the goal, `steps` the next step alone, or a `stop`."
    )
    so_far: Text | None = Field(None, description="What was done of it already; the plan goes on from there.")
    bound: Value | None = Field(
        None, description="Ids of what is bound already, by variable name; the plan may use it."
    )
    budget: Value | None = Field(None, description='What is left to reach the goal with, such as {"turns": 5}.')
    known: Value | None = Field(
        None,
        description='A plan that went well: {"plan": …} for this goal, which is taken as long as it passes the check,'
        ' or {"example": …} for a goal like it, which the model is shown.',
    )
    model: Text | None = Field(None, description="Another model at the same endpoint than the one for plans.")
    max_repairs: int = Field(3, ge=0, le=10, description="How often the model is told what is wrong with its plan.")


@primitive(
    effect="calls",
    asks=True,
    result_shape=lambda _arguments, _shapes: NoteShape({"type": "object", "required": ["goal", "steps"]}, NO_METADATA),
    failures=[
        "No language model is configured, or it cannot be reached.",
        "`inputs`, `bound`, `budget` or `known` is not an object.",
        "No answer of the model is a plan that passes the check; `extra.attempts` says what was wrong with each.",
    ],
    examples=[
        {
            "type": "write-plan",
            "goal": "A report of all notes about ranking.",
            "out": "$plan",
        },
    ],
    avoid=["Expecting that the plan is run: it is a Note, for a person to look at or for `infospace run`."],
)
async def write_plan(args: WritePlan, context: Context) -> Note[Any]:
    """Let the language model write a plan for a goal.

    The plan is checked and corrected, and nothing of it is run. The model is told the language, the tools and saved
    plans nearest to the goal, and what the space holds. Errors are corrected by their fixes where they have one, else
    the model is told of them.
    """
    from planner.goals.prompt import GoalProgress
    from planner.goals.write import PlanWriter

    async def ask(messages: Sequence[Any], schema: Mapping[str, Any]) -> str:
        context.draft("")  # a new answer begins
        answer = await context.ask_model(
            messages, model=args.model, plans=True, constraint=schema, on_text=context.draft
        )
        return str(answer)

    inputs, bound, budget, known = (_object(args, name) for name in ("inputs", "bound", "budget", "known"))
    bound = {name: str(one) for name, one in bound.items()}
    progress = GoalProgress(args.so_far or "", bound, budget, args.mode, known.get("example") or {})
    writer = PlanWriter(context.space, ask, args.max_repairs)
    try:
        checked = writer.known(args.goal, known["plan"], progress) if "plan" in known else None
        if "plan" in known:
            context.extra["remembered"] = checked is not None
        checked = checked or await writer.write(args.goal, inputs, progress)
    finally:
        context.extra["attempts"] = [attempt.to_json() for attempt in writer.attempts]
    return context.note(checked.document)


def _object(args: WritePlan, name: str) -> Mapping[str, Any]:
    value = getattr(args, name)
    if value is not None and not isinstance(value, Mapping):
        raise Invalid(f"`{name}` is not an object", hint='{"topic": "ranking"}')
    return value or {}
