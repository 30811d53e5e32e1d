"""Variables while a plan runs: names, the ids they are bound to, and why a name is not bound."""

from __future__ import annotations

from dataclasses import dataclass

from infospace.core.errors import InfospaceError

_UNBOUND, _SKIPPED = " is not bound", " was skipped, because "


@dataclass(frozen=True, slots=True)
class UnboundReason:
    """Why a name was not bound: the step that is to blame, what became of it, and the step skipped for it."""

    step: str
    message: str
    skipped: str | None = None

    def __str__(self) -> str:
        return self.message if self.skipped is None else f"step {self.skipped}{_SKIPPED}{self.message}"

    @classmethod
    def of_skipped(cls, position: str, step: str, reason: str) -> UnboundReason:
        """Return what `Unbound.passed_on` gave for a step that was skipped, from its journal: who is to blame, and why.

        The journal has the reason as `Unbound` says it, and the same message goes on to whoever reads the next name.
        """
        name, text, cause = reason.partition(f"{_UNBOUND}: ")
        if not name.startswith("$") or not (text or reason.endswith(_UNBOUND)):
            return cls(step, reason)
        earlier, skipped, message = cause.partition(_SKIPPED)
        return cls(step, message if skipped and earlier.startswith("step ") else cause or reason, position)


class Unbound(InfospaceError):
    """A variable that has no value because an earlier step failed, was skipped, or was not reached."""

    kind = "unbound"

    def __init__(self, name: str, cause: UnboundReason | None) -> None:
        super().__init__(f"${name}{_UNBOUND}" + (f": {cause}" if cause else ""))
        self.name = name
        self.cause = cause

    def passed_on(self, position: str) -> UnboundReason:
        """Return why what the step at a position binds is unbound: the step is skipped, as this is unbound."""
        if self.cause is None:
            return UnboundReason(position, f"${self.name}{_UNBOUND}", position)
        return UnboundReason(self.cause.step, self.cause.message, position)


class Scope:
    """A scope reads outer ones and binds only in itself."""

    def __init__(self, outer: Scope | None = None) -> None:
        self.outer = outer
        self.own: dict[str, str] = {}
        self.causes: dict[str, UnboundReason] = {}
        """Why a name was not bound by the step that should have bound it."""

    def bind(self, name: str, identifier: str) -> None:
        """Bind a name to a resource."""
        self.own[name] = identifier
        self.causes.pop(name, None)

    def restore(self, name: str, identifier: str | None) -> None:
        """Bind a name as it was before, or unbind it."""
        self.causes.pop(name, None)
        if identifier is None:
            self.own.pop(name, None)
        else:
            self.own[name] = identifier

    def mark_unbound(self, name: str, cause: UnboundReason) -> None:
        """Remember why a step did not bind a name. What the name was bound to before, it stays bound to."""
        self.causes[name] = cause

    def bound(self, name: str) -> str | None:
        """Return the id that a name is bound to, here or further out."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.own:
                return scope.own[name]
            scope = scope.outer
        return None

    def find(self, name: str) -> str:
        """Return the id that a name is bound to; raises Unbound with the cause where it is known."""
        scope: Scope | None = self
        cause: UnboundReason | None = None
        while scope is not None:
            if name in scope.own:
                return scope.own[name]
            cause = cause or scope.causes.get(name)
            scope = scope.outer
        raise Unbound(name, cause)
