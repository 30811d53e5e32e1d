"""Garbage is collected between what somebody does, and not while they do it."""

from __future__ import annotations

import gc
import weakref

import pytest

from tui.runtime import gc_control as collecting
from tui.runtime.gc_control import IdleGarbageCollector


class Knot:
    """An object that holds itself."""

    def __init__(self) -> None:
        self.itself = self


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
