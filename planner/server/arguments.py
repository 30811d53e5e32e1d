"""The arguments of the doors' tools: closed and strict, each fault told at once."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from infospace.contract.arguments import Args, Path, Slice
from infospace.schema.projection import Selection

LONGEST_WAIT = 600
"""Seconds that one call waits at most."""
WAIT = 20.0
"""Seconds that a call waits for a run when it does not say."""
PIECE = 4_000
"""Characters that one piece has when the call does not say."""
LONGEST_PIECE = 50_000
"""Characters that one piece has at most."""

Wait = Annotated[float, Field(ge=0, le=LONGEST_WAIT)]
RunId = Annotated[str, Field(pattern=r"^run_[1-9][0-9]{0,17}$")]
_WAIT = "Seconds to wait; the run goes on in any case."
_PLAN = "A plan object, a list of steps, or `plan:NAME` for a saved plan."


def _side_by_side(fields: list[Path]) -> list[Path]:
    Selection(fields)
    return fields


class CheckPlan(Args):
    """Arguments of `check_plan`."""

    plan: dict[str, Any] | list[Any] | str = Field(description=_PLAN)
    inputs: dict[str, Any] | None = Field(None, description="Values by input name, checked too where given.")


class RunPlan(Args):
    """Arguments of `run_plan`."""

    plan: dict[str, Any] | list[Any] | str = Field(description=_PLAN)
    inputs: dict[str, Any] = Field(
        default_factory=dict, description="Values by input name; of a `kind`, an id or name."
    )
    wait_s: Wait = Field(WAIT, description=_WAIT)


class RunSteps(Args):
    """Arguments of `run_steps`."""

    session: str = Field(description="Any name; a new one opens a session.")
    steps: list[Any] = Field(min_length=1, description="Steps that see what earlier ones of the session bound.")
    wait_s: Wait = Field(WAIT, description=_WAIT)


class GetRun(Args):
    """Arguments of `get_run`."""

    run: RunId = Field(description="Such as run_7.")
    wait_s: Wait = Field(0.0, description="Seconds to wait for its end.")
    first_step: Annotated[int, Field(ge=0)] | None = Field(
        None, description="How many of its step entries to pass over, 0 for all; without it not rounds that went well."
    )


class AnswerRun(Args):
    """Arguments of `answer_run`."""

    run: RunId = Field(description="The suspended run.")
    step: str = Field(description="The step that asks, as `pending` names it.")
    value: Any = Field(description="The answer; it has to fit the question's schema.")
    wait_s: Wait = Field(WAIT, description=_WAIT)


class CancelRun(Args):
    """Arguments of `cancel_run`."""

    run: RunId = Field(description="The run; of a session, all of it.")


class Read(Args):
    """Arguments of `read`."""

    ref: str = Field(
        min_length=1, description="An id, a name, a place (`Note_12.title`, `Collection_3[0]`), or a run's id."
    )
    slice: Slice | None = Field(None, description='Characters, elements or items: ":100", "-20:", or what `next` says.')
    fields: Annotated[list[Path], AfterValidator(_side_by_side)] | None = Field(
        None, description="Only these paths of each: `metadata.score`, `title`, `@metadata.tags`."
    )
    max_chars: Annotated[int, Field(ge=1, le=LONGEST_PIECE)] = Field(PIECE, description="Characters at most.")


class ListBindings(Args):
    """Arguments of `list_bindings`: one of the two."""

    session: str | None = Field(None, description="A session's name.")
    run: RunId | None = Field(None, description="A run's id.")


class DescribePrimitives(Args):
    """Arguments of `describe_primitives`."""

    names: list[str] = Field(
        default_factory=list, description="Primitives or forms to describe in full; none: the whole language in short."
    )
