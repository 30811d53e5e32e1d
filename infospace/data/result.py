"""What a step answers: one shape, everywhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from infospace.core.json_types import JSON
from infospace.core.resources import Header, Note, text_of
from infospace.data.titles import beginning, title_of

Status: TypeAlias = Literal["success", "failed", "skipped", "suspended"]

PREVIEW = 500
"""Most characters of `value`."""
LABEL = 60
"""Most characters of a label, without a score."""
_TAIL = re.compile(r"… \[cut: [\d,]+ characters in all\]$")
"""What stands at the end of a text that was cut."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """The outcome of one step: `value` is a preview for reading, `data` the full content.

    `started_at` is ISO 8601 UTC, `duration_ms` milliseconds. `reason` says of a failure what was wrong,
    where, and what would have fitted; `error` is its kind.
    """

    status: Status
    resource_id: str | None = None
    value: str = ""
    data: JSON = None
    reason: str | None = None
    extra: Mapping[str, JSON] = field(default_factory=dict)
    started_at: str = ""
    duration_ms: float = 0.0
    error: str | None = None

    def to_json(self, *, data: bool = True) -> dict[str, Any]:
        """Return the documented JSON object; `data` false leaves the full content out."""
        shown: dict[str, Any] = {"status": self.status, "resource_id": self.resource_id, "value": self.value}
        if data:
            shown["data"] = self.data
        return shown | {
            "reason": self.reason,
            "extra": dict(self.extra),
            "started_at": self.started_at,
            "duration_ms": self.duration_ms,
        }


def truncate(text: str, most: int = PREVIEW) -> str:
    """Cut a text for reading, and say when and how much was cut; of one that was cut before, how much it had then."""
    if len(text) <= most:
        return text
    before = _TAIL.search(text)
    tail = before[0] if before else f"… [cut: {len(text):,} characters in all]"
    return text[: most - len(tail)].rstrip() + tail


def display_name(resource: Header) -> str:
    """Return a short name for a resource: its title, a found tool's full name, its name, or how its text begins."""
    metadata: Mapping[str, Any] = resource.metadata
    score = ""
    if isinstance(resource, Note):
        if resource.evidence and isinstance(resource.content, dict):
            metadata = resource.content["metadata"]
            score = "" if metadata["score"] is None else f" ({metadata['score']:.2f})"
            title = metadata.get("title") or metadata.get("tool") or resource.name
        else:
            value = None if isinstance(resource.content, str) else resource.content
            title = title_of(metadata, resource.name, value, resource.location)
        if not isinstance(title, str):
            text = text_of(resource.content)
            title = beginning(text, LABEL * 4) if isinstance(resource.content, str) else text
        return f"{_one_line(title)}{score}"
    title = metadata.get("title") or resource.name
    return _one_line(title) if isinstance(title, str) else resource.id


def _one_line(text: str) -> str:
    line = " ".join(text[: LABEL * 4].split())
    return line if len(line) <= LABEL else line[: LABEL - 1].rstrip() + "…"
