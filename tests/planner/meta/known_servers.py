"""Spaces with servers of tools, and the meta-tools asked in few words."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "infospace" / "tools"))
from served import odd, synced, write

from infospace import Space
from infospace.tools.scope import Scope
from infospace.tools.scoped_space import ScopedSpace
from planner.metatools.registry import META

__all__ = ["ask", "narrowed", "odd", "synced", "twins", "write"]


def ask(space: Space, name: str, /, **given: Any) -> Any:
    """Call a meta-tool."""
    return asyncio.run(META[name].call(space, given))


def twins(space: Space, **two: Any) -> Space:
    """Put two servers of the same tools into a space, of which `two` is trusted."""
    folder = Path(space.store.address).parent
    write(
        folder,
        one=odd("plain", description="Says texts again."),
        two=odd("plain", description="Says texts again.", trusted=True, **two),
    )
    assert synced(space).failed == []
    return space


def narrowed(space: Space, **bounds: Any) -> Space:
    """Return a space for somebody who may not know everything."""
    return ScopedSpace(space, Scope.model_validate(bounds))
