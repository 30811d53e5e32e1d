"""Work beside the event loop's own: what it raises becomes a sentence, and the screen goes on."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeAlias

from textual.dom import DOMNode
from textual.worker import Worker

from infospace.core.errors import InfospaceError

MAX_POLL_SECONDS = 15.0
"""Seconds from one look at what others do to the next, at most: one that took long says little of the next."""

Doing: TypeAlias = "Callable[[], Coroutine[Any, Any, None]]"
"""Something for a worker: begun by it, and so never begun where the worker is ended before."""


class ErrorReporter(Protocol):
    """Says what went wrong."""

    def report_error(self, error: InfospaceError) -> None:
        """Say what somebody can do something about."""

    def report_bug(self, error: Exception) -> None:
        """Say that there is a bug."""


def poll_delay(took: float, share: int) -> float:
    """Return the seconds until the next look, after one that took so many: `share` times as long."""
    return min(MAX_POLL_SECONDS, share * took)


def guarded(teller: ErrorReporter, work: Callable[..., Coroutine[Any, Any, Any]], *given: Any) -> Doing:
    """Return work that raises nothing."""

    async def done() -> None:
        try:
            await work(*given)
        except InfospaceError as error:
            teller.report_error(error)
        except Exception as error:  # noqa: BLE001 - a bug becomes a sentence, and the screen goes on
            teller.report_bug(error)

    return done


def begin(
    node: DOMNode,
    teller: ErrorReporter,
    work: Callable[..., Coroutine[Any, Any, Any]],
    *given: Any,
    group: str,
    exclusive: bool = True,
) -> Worker[None]:
    """Begin work of a dialog or a place, which ends with it; a later one of the same group ends it too."""
    return node.run_worker(guarded(teller, work, *given), group=group, exclusive=exclusive)
