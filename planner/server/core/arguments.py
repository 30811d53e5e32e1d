"""The arguments of the small door: few, closed and strict, each fault told at once."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from infospace.contract.arguments import Args
from planner.server.arguments import WAIT, RunId, Wait

MOST_FOUND = 20
"""Things of one kind that one search shows."""
NAMES = 30
"""Names that one call describes."""


class Find(Args):
    """Arguments of `find`: a query, names, a kind alone, or none of them."""

    query: str | None = Field(None, description="What it should do, in plain words; `;` between several.")
    names: Annotated[list[str], Field(max_length=NAMES)] = Field(
        default_factory=list,
        description="What to describe in full: tools, verbs, forms, `plan:NAME`, `conditions`, `language`.",
    )
    kind: Literal["tool", "verb", "plan", "note"] | None = Field(None, description="Only these.")
    limit: int = Field(3, ge=1, le=MOST_FOUND, description="Of each kind.")


class Run(Args):
    """Arguments of `run`."""

    plan: dict[str, Any] | list[Any] | str = Field(description="A plan, its steps, or `plan:NAME`.")
    inputs: dict[str, Any] | None = None
    check: bool = Field(default=False, description="Only check it.")
    wait_s: Wait = WAIT


class RunStep(Args):
    """Arguments of `step`."""

    session: str = Field(description="Any name; a new one opens a session.")
    steps: list[Any] = Field(default_factory=list, description="None: says what is bound.")
    wait_s: Wait = WAIT


class Follow(Args):
    """Arguments of `follow`."""

    run: RunId | None = Field(None, description="Such as run_7; without it, the latest runs.")
    do: Literal["look", "steps", "resume", "cancel", "fork"] = "look"
    step: str | None = Field(None, description="The step that asks, that `steps` is about, or to fork at.")
    value: Any = Field(None, description="The answer to what `step` asks.")
    patch: list[dict[str, Any]] = Field(default_factory=list, description="fork: JSON Patch of the plan.")
    after: Annotated[int, Field(ge=0)] = Field(0, description="`seen` of the last answer: only what is new.")
    wait_s: Wait = 0.0

    @property
    def waits(self) -> float:
        """How many seconds to wait for what goes on by this call."""
        return self.wait_s if "wait_s" in self.model_fields_set else WAIT

    @property
    def answers(self) -> bool:
        """Whether a value is given, which may be null."""
        return "value" in self.model_fields_set
