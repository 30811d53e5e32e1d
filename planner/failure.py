"""How a step ends that did not end well."""

from __future__ import annotations

from dataclasses import dataclass

from infospace.errors import InfospaceError


@dataclass(frozen=True, slots=True)
class Failure:
    """A step that failed and was not handled: it stops what it stands in."""

    position: str
    type: str
    reason: str
    kind: str


class Exhausted(InfospaceError):
    """The budget ran out."""

    kind = "budget"


def sentence(failure: Failure) -> str:
    """Say which step failed, and why."""
    return f"step {failure.position} ({failure.type}) failed: {failure.reason}"
