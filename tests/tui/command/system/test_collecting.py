"""Garbage is collected between what somebody does, and not while they do it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from tui.runtime import gc_control as collecting
from tui.runtime.gc_control import IdleGarbageCollector


class Knot:
    """An object that holds itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def nothing_frozen() -> Iterator[None]:
    """Objects that the tests' process has frozen are not so meanwhile."""
    gc.unfreeze()
    yield
    gc.collect()
    gc.freeze()


@pytest.mark.usefixtures("nothing_frozen")
def test_everything_is_collected_once_nobody_does_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute after the last time, and some seconds after the last key; then the collector is as it was."""
    clock = [1_000.0]
    monkeypatch.setattr(collecting.time, "monotonic", lambda: clock[0])
    usual = gc.get_threshold()
    one = IdleGarbageCollector()
    one.begin()
    try:
        assert gc.get_threshold() == collecting.SELDOM
        knot = weakref.ref(Knot())
        gc.freeze()
        one.collect_if_idle()
        assert knot() is not None
        clock[0] += collecting.AFTER + 1
        one.touched()
        one.collect_if_idle()
        assert knot() is not None
        clock[0] += collecting.IDLE_SECONDS + 1
        one.collect_if_idle()
        assert knot() is None
    finally:
        one.end()
    assert gc.get_threshold() == usual
    assert gc.get_freeze_count() == 0


def test_what_the_process_has_frozen_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python can unfreeze all or nothing: garbage is collected as ever, but of what was frozen before."""
    clock = [1_000.0]
    monkeypatch.setattr(collecting.time, "monotonic", lambda: clock[0])
    frozen = weakref.ref(Knot())
    gc.freeze()
    one = IdleGarbageCollector()
    one.begin()
    try:
        knot = weakref.ref(Knot())
        clock[0] += collecting.AFTER + 1
        one.collect_if_idle()
        assert knot() is None
    finally:
        one.end()
    gc.collect()
    assert frozen() is not None
