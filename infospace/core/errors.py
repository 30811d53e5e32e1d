"""Everything that infospace says went wrong.

InfospaceError
├── Invalid                a value, argument, path or condition that does not fit
│   ├── ExpressionInvalid  an expression that is not of the language
│   │   └── WhereInvalid   a `where` that is not
│   └── InvalidJSON        a document that could not be read
├── PathNotFound           a place in content that does not exist
├── NotFound               an id, a name or a file that does not exist
├── Conflict               a name that is taken, a version that has moved on
│   └── LeaseLost          a run that another process goes on with
├── StoreError             the space cannot be opened, read or written
├── ModelError             the embedding model or its weights
├── LanguageModelError     the language model
│   ├── NotConfigured      nobody said which one, or its client is not installed
│   ├── Unreachable        it did not answer, or would not now
│   ├── RequestRejected    its endpoint does not take the request
│   └── BadResponse        its answer cannot be used
├── BudgetExceeded         a run may not spend more
├── Unsupported            part of the language that this version does not run
├── NotRecorded            a call of which an earlier run has no record
└── ReplayedFailure        a call that failed in an earlier run
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Self


class InfospaceError(Exception):
    """One sentence for the reader: what is wrong, where, and in `hint` what would have fitted."""

    kind = "error"

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message

    def of(self, part: str) -> Self:
        """Return the same of a part of the whole, which is named first."""
        result = copy(self)
        result.message = f"{part}: {self.message}"
        return result


class Invalid(InfospaceError):
    """A value, argument, path or condition that does not fit its declaration.

    `suggestion` is the text that says the same in the language, where that is plain.
    """

    kind = "invalid"
    suggestion: str | None = None


class ExpressionInvalid(Invalid):
    """An expression that is not of the language; `position` is the 0-based character at fault, if known."""

    kind = "expression"

    def __init__(
        self, message: str, *, hint: str | None = None, position: int | None = None, suggestion: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.position = position
        self.suggestion = suggestion


class WhereInvalid(ExpressionInvalid):
    """A `where` that is not of the language."""

    kind = "where"


class InvalidJSON(Invalid):
    """A document that could not be read as JSON; `pointer` says where, `""` for all of it.

    `place` is where the reading broke off, as line and column (1-based), where it is the syntax that is wrong.
    """

    kind = "unreadable"

    def __init__(
        self, message: str, *, hint: str | None = None, pointer: str = "", place: tuple[int, int] | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.pointer = pointer
        self.place = place


class PathNotFound(InfospaceError):
    """A place in content that does not exist: a key, or an index out of range."""

    kind = "missing"


class NotFound(InfospaceError):
    """An id, a name or a file that does not exist."""

    kind = "not-found"


class Conflict(InfospaceError):
    """A name that somebody else has, or a version that has moved on."""

    kind = "conflict"


class LeaseLost(Conflict):
    """A run that another process goes on with by now: this one may write nothing more of it."""

    kind = "taken-over"

    def __init__(self, run: str, owner: str | None, former: str) -> None:
        super().__init__(
            f"another process has taken {run} over: it belongs to {owner!r} now, not to {former!r}",
            hint=f"`infospace show {run}` tells how far it is",
        )


class StoreError(InfospaceError):
    """The space cannot be opened, read or written."""

    kind = "store"


class ModelError(InfospaceError):
    """The embedding model or its weights are missing, damaged or not to be had."""

    kind = "model"


class LanguageModelError(InfospaceError):
    """The language model cannot do what was asked of it."""

    kind = "llm"


class NotConfigured(LanguageModelError):
    """Nobody said which language model to ask, or its client is not installed."""

    kind = "llm-not-configured"


class Unreachable(LanguageModelError):
    """The language model did not answer in time, broke off, or takes no requests now."""

    kind = "llm-unreachable"


class RequestRejected(LanguageModelError):
    """The language model's endpoint does not take the request: its key, the model's name, the size."""

    kind = "llm-declined"


class BadResponse(LanguageModelError):
    """What the language model answered is empty, cut off, a refusal, or does not fit what was asked."""

    kind = "llm-bad-answer"


class BudgetExceeded(InfospaceError):
    """A run may not spend more of something."""

    kind = "budget"


class Unsupported(InfospaceError):
    """Part of the language that this version reads and checks but does not run."""

    kind = "unsupported"


class NotRecorded(InfospaceError):
    """A call of which an earlier run has no record."""

    kind = "unrecorded"


class ReplayedFailure(InfospaceError):
    """A call failed in an earlier run, or an earlier part of this one: `kind` is that of its failure."""

    kind = "recalled"

    def __init__(self, message: str, kind: str = kind, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind


class ReplayInterrupted(BaseException):
    """A call was under way in an earlier run when its step was broken off, and is replayed: so it is here too."""


class InputRequired(Exception):
    """A call that cannot go on before something is answered: whoever runs it asks, and makes it again then.

    `kind` is `ask`, `approve` or `doubt`; `schema` is a JSON Schema of the answer, None for any. The answer is kept
    under `key`, else under the position; `about` says in JSON what else the answer depends on.
    """

    def __init__(
        self,
        position: str,
        kind: str,
        question: str,
        schema: object = None,
        *,
        key: str | None = None,
        about: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(question)
        self.position = position
        self.kind = kind
        self.question = question
        self.schema = schema
        self.key = key
        self.about = about
