"""Whoever runs a step hears what it says, and how far it has come."""

from __future__ import annotations

from typing import Literal, Protocol

Speech = Literal["say", "think", "draft", "log"]
"""`draft` is a piece of what a model is writing, as it comes; an empty one says that another answer begins.

`log` is what a server tells while one of its tools is called.
"""


class Listener(Protocol):
    """Whoever runs the step: hears what it says while it runs."""

    def message(self, kind: Speech, text: str) -> None:
        """Take something said to the user, thought into the run's context, or drafted."""

    def progress(self, done: int, total: int, what: str) -> None:
        """Take how far long work has come; behind a `;` in `what` stands what it is at just now."""


class NullListener:
    """A listener that nobody listens behind."""

    def message(self, kind: Speech, text: str) -> None:
        """Ignore what a step says or thinks."""

    def progress(self, done: int, total: int, what: str) -> None:
        """Ignore how far a step has come."""
