"""How a step ends that did not end well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

TIMEOUT = "timeout"
"""The kind of failure of a step that took longer than its `timeout_s`."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A step that failed and was not handled: it stops what it stands in."""

    position: str
    type: str
    reason: str
    kind: str


class Halted(Exception):
    """A step of a branch is not begun, since another branch has failed."""


class Stopped(Exception):
    """A `stop` was reached: what it stands in ends with it."""

    def __init__(self, position: str, status: Literal["success", "failed"], resource: str | None) -> None:
        super().__init__(position)
        self.position = position
        self.status = status
        self.resource = resource
        """The id of the plan's answer."""

    def __str__(self) -> str:
        return f"step {self.position} stopped the plan"


def sentence(failure: Failure) -> str:
    """Say which step failed, and why."""
    return f"step {failure.position} ({failure.type}) failed: {failure.reason}"
