"""Work beside the event loop's own: what it raises becomes a sentence, and it may be ended before it has begun."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from typing import Any, Protocol

from infospace.errors import InfospaceError


class Teller(Protocol):
    """Says what went wrong."""

    def complain(self, error: InfospaceError) -> None:
        """Say what somebody can do something about."""

    def confess(self, error: Exception) -> None:
        """Say that there is a bug."""


class Work:
    """Something for a worker to await."""

    def __init__(self, teller: Teller, work: Coroutine[Any, Any, None]) -> None:
        self._work = work
        self._guarded = _guarded(teller, work)

    def __await__(self) -> Generator[Any, Any, None]:
        return self._guarded.__await__()

    def __del__(self) -> None:
        self._guarded.close()
        self._work.close()


async def _guarded(teller: Teller, work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except InfospaceError as error:
        teller.complain(error)
    except Exception as error:  # noqa: BLE001 - a bug becomes a sentence, and the screen goes on
        teller.confess(error)
