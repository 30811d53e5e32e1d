"""Asking a space as a plan does, one search at a time, in one event loop."""

from __future__ import annotations

import asyncio
import os
from types import TracebackType
from typing import TYPE_CHECKING, Any

from infospace.context.invoke import call_directly

if TYPE_CHECKING:
    from infospace import Space


class Asking:
    """`discover-notes` of a space, called directly; use `with`.

    Its loop is not `asyncio.Runner`'s, which sets and unsets a handler of signals at each call.
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        self._entry = space.catalogue.get("discover-notes")
        self._loop = asyncio.new_event_loop()

    def __call__(self, query: str, limit: Any = 10, threshold: float | None = -1, **more: Any) -> dict[str, Any]:
        """Return the certificate; RuntimeError where the search failed."""
        arguments = {"query": query, "limit": limit, **more}
        if threshold is not None:
            arguments["threshold"] = threshold
        done = self._loop.run_until_complete(call_directly(self._entry, arguments, self._space.context(scratch=True)))
        if done.status != "success":
            raise RuntimeError(done.reason)
        found: Any = done.extra["certificate"]
        return dict(found)

    def __enter__(self) -> Asking:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


def choose(index: str) -> None:
    """Have searches from here on use an index: `auto`, `exact` or `hnsw`."""
    os.environ["INFOSPACE_INDEX"] = index
