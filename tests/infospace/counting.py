"""Work counted in steps of the interpreter, which no load of the machine changes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any


def calls(work: Callable[[], object]) -> int:
    """Return how many functions were called, those of C included, while `work` was done."""
    count = 0

    def counted(_frame: FrameType, event: str, _what: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def lines(module: ModuleType, work: Callable[[], object]) -> int:
    """Return how many lines of a module were executed while `work` was done."""
    count = 0

    def line(_frame: FrameType, event: str, _what: object) -> Any:
        nonlocal count
        count += event == "line"
        return line

    def call(frame: FrameType, _event: str, _what: object) -> Any:
        return line if frame.f_code.co_filename == module.__file__ else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
