"""How a run comes to rest before its end: what it waits for, and how that is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from infospace.core.clock import later
from infospace.core.errors import InputRequired, InvalidJSON
from infospace.core.json_types import JSON
from infospace.data.json_text import read_json

PendingKind: TypeAlias = Literal["ask", "approve", "wait", "doubt"]


@dataclass(frozen=True, slots=True)
class Pending:
    """One thing that a suspended run waits for.

    `ask` wants an answer of `schema` (None takes any), `wait` a condition or the time `until` (ISO 8601, UTC),
    `approve` a word before a call is made, `doubt` one on a call that was begun and may have had its effect. The
    answer is kept under `key`, else under the step; `about` says which `tool` is called, and where that is to be
    approved, the `digest` of what it says of itself.
    """

    step: str
    kind: PendingKind
    question: str
    schema: Mapping[str, Any] | None = None
    until: str | None = None
    key: str | None = None
    about: Mapping[str, str] | None = None

    @property
    def answer_key(self) -> str:
        """What its answer is kept under."""
        return self.key or self.step

    def to_json(self) -> dict[str, Any]:
        """Return the documented object."""
        return {
            "step": self.step,
            "kind": self.kind,
            "question": self.question,
            "schema": None if self.schema is None else dict(self.schema),
            "until": self.until,
            "key": self.key,
            "about": None if self.about is None else dict(self.about),
        }

    @classmethod
    def to(cls, waiting: InputRequired) -> Pending:
        """Return what a call waits for."""
        kind: Any = waiting.kind
        schema = cast("Mapping[str, Any] | None", waiting.schema)
        return cls(waiting.position, kind, waiting.question, schema, key=waiting.key, about=waiting.about)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Pending:
        """Return what `to_json` said."""
        step, kind, question = document["step"], document["kind"], document["question"]
        return cls(
            step, kind, question, document["schema"], document["until"], document.get("key"), document.get("about")
        )


CONDITION_LOOK = 30.0
"""Seconds after which a worker looks again whether a condition holds that a run waits for."""


def due_of(pending: Sequence[Pending]) -> str | None:
    """Return when a run that waits may be gone on with, None where only an answer brings it on."""
    times = [one.until or later(CONDITION_LOOK) for one in pending if one.kind == "wait"]
    return min(times, default=None)


def read_answer(text: str, schema: Mapping[str, Any] | None) -> JSON:
    """Return an answer as its schema wants it: JSON where that fits, else text."""
    from infospace.schema.validate import first_violation

    try:
        read = read_json(text, what="the answer")
    except InvalidJSON:
        return text
    if schema is None:
        return text if isinstance(read, str) else read
    fits = first_violation(read, schema, formats=True) is None
    return text if not fits and first_violation(text, schema, formats=True) is None else read


class Suspension(Exception):
    """Nothing more can move here until something pending comes."""

    def __init__(self, pending: Sequence[Pending]) -> None:
        super().__init__(", ".join(one.step for one in pending))
        self.pending = tuple(pending)
