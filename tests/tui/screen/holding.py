"""Work in a thread that is held until a story lets it go: what it read is old by then."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from staging import PATIENCE, Stage, gate


class Held:
    """The first call of a function, once it has done its work. Others are not held; `times` counts all of them."""

    def __init__(self, work: Callable[..., Any]) -> None:
        self._work = work
        self.times = 0
        self.begun = threading.Event()
        self.release = gate()

    def __call__(self, *given: Any, **more: Any) -> Any:
        """Do the work; the first time, wait with what came of it."""
        self.times += 1
        first = self.times == 1
        found = self._work(*given, **more)
        if first:
            self.begun.set()
            assert self.release.wait(PATIENCE), "nobody let it go"
        return found

    async def has_begun(self, stage: Stage) -> None:
        """Wait until the first call is held."""
        await stage.until(self.begun.is_set, "what is to be held")

    async def is_over(self, stage: Stage) -> None:
        """Let it go, and wait until all that was being done in the place, and in the app, is done."""
        self.release.set()
        await stage.until(lambda: all(worker.is_finished for worker in stage.app.workers), "the end of the work")
        await stage.pilot.pause()


def hold(patch: pytest.MonkeyPatch, module: Any, name: str) -> Held:
    """Hold the first call of a function of a module."""
    held = Held(getattr(module, name))
    patch.setattr(module, name, held)
    return held
